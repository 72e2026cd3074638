//! Fetches from textures, bit for bit as a GPU gave them.
//!
//! Each line of `tests/observations/h200/textures.txt` is an experiment: a texture, its sampler and
//! the kinds of texels and coordinates, all drawn from a fixed sequence; and hashes of the results,
//! four words for each fetch. `but` names fetches that are left out because the simulator differs.

use std::collections::BTreeMap;
use std::fs;

use simt_core::divergence::SideOrder;
use simt_core::exec::{AddressMode, Channel, FaultKind, Image, ImageShape};
use simt_core::isa::Type;
use simt_core::kernel::layout::IMAGE_TABLE;
use simt_core::launch::{Buffer, Overrides};
use simt_core::machine::Finish;
use simt_core::oracle::{self, OracleError};
use simt_core::spec::Mode;
use simt_core::{Job, Program};
use simt_report::simulate::simulate;

use super::support;

/// Fetches of an experiment in the short test.
const FEW: usize = 256;

/// Bits of special values of f32.
pub(super) const SPECIAL_FLOATS: [u32; 16] = [
    0,
    0x8000_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7f80_0001,
    1,
    0x807f_ffff,
    0x0080_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0xffff_ffff,
    0x0040_0000,
    0x7e80_0000,
];

/// Returns element `i` of a sequence (splitmix64).
pub(super) fn mix(seed: u64, i: u64) -> u64 {
    let z = seed.wrapping_add(i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// An experiment.
struct Experiment {
    number: u64,
    op: String,
    size: [usize; 3],
    channel: Channel,
    channels: usize,
    linear: bool,
    modes: [AddressMode; 3],
    normalized: bool,
    as_float: bool,
    /// Kinds of coordinates and texels.
    coordinates: u32,
    texels: u32,
    count: usize,
    /// 0: array; 1: linear memory; 2: pitched memory.
    memory: u32,
    first: u64,
    all: u64,
    but: Vec<usize>,
}

impl Experiment {
    fn parse(line: &str) -> Experiment {
        let mut words = line.split_whitespace();
        let number = words.next().and_then(|n| n.parse().ok()).expect("a number");
        let words: Vec<&str> = words.collect();
        let field = |name: &str| {
            let found = words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
            found.unwrap_or_default()
        };
        let integer = |name: &str| field(name).parse::<u32>().unwrap_or_default();
        let mut size = field("size").split('x').map(|n| n.parse().expect("a size"));
        let ty = field("type");
        let (name, channels) = ty.split_at(ty.len() - 1);
        let mut modes = field("addr").chars().map(|c| match c {
            '0' => AddressMode::Wrap,
            '1' => AddressMode::Clamp,
            '2' => AddressMode::Mirror,
            _ => AddressMode::Border,
        });
        let hash = |name: &str| u64::from_str_radix(field(name), 16).expect("a hash");
        Experiment {
            number,
            op: field("op").to_owned(),
            size: [(); 3].map(|()| size.next().expect("three sizes")),
            channel: Channel::of(Type::from_name(name).expect("a type")).expect("a channel"),
            channels: channels.parse().expect("a number of channels"),
            linear: words.contains(&"linear"),
            modes: [(); 3].map(|()| modes.next().expect("three modes")),
            normalized: words.contains(&"norm"),
            as_float: words.contains(&"nfloat"),
            coordinates: integer("coords"),
            texels: integer("texels"),
            count: integer("n") as usize,
            memory: integer("mem"),
            first: hash("first"),
            all: hash("all"),
            but: field("but").split(',').filter_map(|n| n.parse().ok()).collect(),
        }
    }

    fn seed(&self) -> u64 {
        1000 + self.number
    }

    /// Returns a channel of a texel.
    fn texel(&self, i: u64) -> u32 {
        let r = mix(self.seed(), i);
        let w = (r >> 32) as u32;
        match (self.channel, self.texels) {
            (Channel::F32, 0) => ((w >> 8) as f32 * f32::powi(2.0, -24)).to_bits(),
            (Channel::F32, 1) => w & 0x807f_ffff | (100 + (r & 0xffff) as u32 % 50) << 23,
            (Channel::F32, 2) => SPECIAL_FLOATS[w as usize & 15],
            (Channel::F32, 3) => ((w & 255) as f32).to_bits(),
            (Channel::F32, _) => ((i & 1) as f32).to_bits(),
            (Channel::F16, 0) => w & 0x83ff | (8 + (w >> 16) % 12) << 10,
            (Channel::F16, 1) if w & 0x7c00 == 0x7c00 => w & 0xbfff,
            (Channel::F16, 4) => (i & 1) as u32 * 0x3c00,
            (Channel::F16, _) => w & 0xffff,
            (channel, texels) => {
                let most = u32::MAX >> (32 - channel.bits());
                let signed = matches!(channel, Channel::S8 | Channel::S16 | Channel::S32);
                match texels {
                    4 if i & 1 == 0 => 0,
                    4 => most >> u32::from(signed),
                    _ => w & most,
                }
            }
        }
    }

    /// Returns a coordinate along an axis of `size` texels.
    fn coordinate(&self, seed: u64, i: u64, size: usize) -> f32 {
        const SPECIAL: [u32; 32] = [
            0,
            0x8000_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0x4b80_0000,
            0xcb80_0000,
            0x6000_0000,
            0xe000_0000,
            0x0000_0001,
            0x3f7f_ffff,
            0xbf80_0000,
            0x3f80_0000,
            0x4000_0000,
            0x4f00_0000,
            0xcf00_0000,
            0x4100_0000,
            0xc100_0000,
            0xb380_0000,
            0x3380_0000,
            0x3f00_0000,
            0x3eff_ffff,
            0x3f00_0001,
            0xbf00_0000,
            0x5f00_0000,
            0x7f7f_ffff,
            0x40a0_0000,
            0x47c3_5000,
            0xc7c3_5000,
            0x4eff_ffff,
            0x4600_0000,
            0xc600_0000,
        ];
        const INTEGERS: [u32; 8] = [0x7fff_ffff, 0x8000_0000, !0, 0, 1, 2, 0x10000, 0xffff_0000];
        let r = mix(seed, i);
        let (fine, size64) = (r >> 8, size as u64);
        match (self.coordinates, self.normalized) {
            (0, true) => (fine % (1 << 24)) as f32 * f32::powi(2.0, -21) - 4.0,
            (0, false) => ((fine % ((size64 + 2) << 12)) as f32 - 4096.0) / 4096.0,
            (1, true) => (fine & 0xff_ffff) as f32 * f32::powi(2.0, -24),
            (1, false) => (fine % (size64 << 14)) as f32 / 16384.0,
            (2, normalized) => i as f32 / 4096.0 / if normalized { size as f32 } else { 1.0 },
            (3, _) => f32::from_bits(SPECIAL[if i < 32 { i } else { r & 31 } as usize]),
            (4, _) => f32::from_bits(((fine % (size64 + 8)) as i32 - 4) as u32),
            (5, _) => f32::from_bits(INTEGERS[(r >> 20) as usize & 7]),
            _ => ((fine & 0xff_ffff) as i32 - (1 << 23)) as f32 * f32::powi(2.0, -22),
        }
    }

    /// Returns the coordinates and the fourth operand of a fetch.
    fn place(&self, i: u64) -> [u32; 4] {
        let [w, h, d] = self.size.map(|size| size.max(1));
        let seed = self.seed() + 100_000;
        let x = match self.coordinates {
            2 => self.coordinate(0, i, w),
            3 if i < 32 => self.coordinate(0, i, w),
            _ => self.coordinate(seed, i * 4, w),
        };
        let y = match self.coordinates {
            2 => self.coordinate(seed, i * 7 % (h as u64 * 4096), h),
            _ => self.coordinate(seed, i * 4 + 1, h),
        };
        let z = if self.coordinates == 2 { y } else { self.coordinate(seed, i * 4 + 2, d) };
        let r = mix(seed, i * 4 + 3) >> 9;
        let fourth = if self.op.starts_with('a') {
            ((r % (d as u64 + 6)) as i32 - 3) as u32
        } else if self.op.starts_with("level") {
            ((r % 9) as f32 - 4.0).to_bits()
        } else {
            ((r % 9) as f32 * 0.25).to_bits()
        };
        [x.to_bits(), y.to_bits(), z.to_bits(), fourth]
    }

    /// Returns the fetch instruction.
    fn instruction(&self) -> String {
        let d = "{%r1,%r2,%r3,%r4}";
        let (op, kind) = self.op.split_once('.').unwrap_or((&self.op, ""));
        let (name, ty, x) = match kind {
            "s32" => (op, "s32", ["%i1", "%i2", "%i3"]),
            _ => (op, "f32", ["%f1", "%f2", "%f3"]),
        };
        let [x, y, z] = x;
        let (d2, d3) = (format!("[%t,{{{x},{y}}}]"), format!("[%t,{{{x},{y},{z},{z}}}]"));
        match name {
            "1d" => format!("tex.1d.v4.u32.{ty} {d},[%t,{{{x}}}];"),
            "2d" => format!("tex.2d.v4.u32.{ty} {d},{d2};"),
            "3d" => format!("tex.3d.v4.u32.{ty} {d},{d3};"),
            "a1d" => format!("tex.a1d.v4.u32.{ty} {d},[%t,{{%i4,{x}}}];"),
            "a2d" => format!("tex.a2d.v4.u32.{ty} {d},[%t,{{%i4,{x},{y},{y}}}];"),
            "cube" => format!("tex.cube.v4.u32.f32 {d},{d3};"),
            "acube" => format!("tex.acube.v4.u32.f32 {d},[%t,{{%i4,{x},{y},{z}}}];"),
            "tld4" => format!("tld4.{kind}.2d.v4.u32.f32 {d},{d2};"),
            "level" if kind == "2d" => format!("tex.level.2d.v4.u32.f32 {d},{d2},%f4;"),
            "level" => format!("tex.level.3d.v4.u32.f32 {d},{d3},%f4;"),
            "grad" => format!("tex.grad.2d.v4.u32.f32 {d},{d2},{{{z},%f4}},{{%f4,{z}}};"),
            other => panic!("{other}"),
        }
    }

    fn program(&self, count: usize, words: usize) -> Program {
        let text = format!(
            "//! grid = {count} / 64
//! block = 64
//! buffer texels: u32[{words}]
//! buffer places: u32[{}]
//! buffer out: u32[{0}]
//! arg t = 1
//! arg texels = texels
//! arg places = places
//! arg out = out
.entry k(.param .u64 t, .param .u64 texels, .param .u64 places, .param .u64 out)
{{
    .reg .u64 %t, %a, %b; .reg .u32 %r<5>, %n, %m; .reg .s32 %i<5>; .reg .f32 %f<5>;
    ld.param.u64 %t, [t];
    ld.param.u64 %a, [places];
    ld.param.u64 %b, [out];
    mov.u32 %n, %ctaid.x;
    mov.u32 %m, %tid.x;
    mad.lo.u32 %n, %n, 64, %m;
    mad.wide.u32 %a, %n, 16, %a;
    mad.wide.u32 %b, %n, 16, %b;
    ld.global.v4.s32 {{%i1,%i2,%i3,%i4}}, [%a];
    ld.global.v4.f32 {{%f1,%f2,%f3,%f4}}, [%a];
    {}
    st.global.v4.u32 [%b], {{%r1,%r2,%r3,%r4}};
}}
",
            4 * count,
            self.instruction()
        );
        Program::parse("texels.ir", &text)
    }

    fn image(&self) -> Image {
        let [w, h, d] = self.size;
        let shape = match (self.memory, self.op.split('.').next().unwrap_or_default()) {
            (1, _) => ImageShape::Buffer,
            (_, "a1d") => ImageShape::A1,
            (_, "a2d") => ImageShape::A2,
            (_, "cube") => ImageShape::Cube,
            (_, "acube") => ImageShape::ACube,
            _ if d > 0 => ImageShape::D3,
            _ if h > 0 => ImageShape::D2,
            _ => ImageShape::D1,
        };
        let border = if self.texels == 2 { [0.25, -2.0, 3.0, 0.5] } else { [0.0; 4] };
        let mut image = Image {
            surface: false,
            shape,
            channel: self.channel,
            channels: self.channels as u32,
            size: [w, h.max(1), d.max(1)].map(|size| size as u32),
            address: 0,
            pitch: 0,
            tiled: self.memory == 0 && h > 0,
            linear: self.linear,
            modes: self.modes,
            normalized: self.normalized,
            as_float: self.as_float,
            border,
        };
        image.pitch = (w as u64 * image.texel_bytes()).next_multiple_of(32);
        image
    }

    /// Runs the first fetches and returns their results.
    fn run(&self, count: usize) -> Vec<u32> {
        let image = self.image();
        let words = image.bytes().div_ceil(4) as usize;
        let program = self.program(count, words);
        let texels = self.memory(&image, words);
        let places = (0..count as u64).flat_map(|i| self.place(i)).collect();
        let done = run_with(&program, image, vec![("texels", texels), ("places", places)]);
        done.unwrap_or_else(|e| panic!("{e}")).remove("out").expect("results")
    }

    fn memory(&self, image: &Image, words: usize) -> Vec<u32> {
        let mut memory = vec![0; words];
        let (bits, [w, h, d]) = (self.channel.bits(), self.size.map(|size| size.max(1)));
        let bytes = u64::from(bits / 8);
        let mut i = 0;
        for (z, y) in (0..d as u64).flat_map(|z| (0..h as u64).map(move |y| (z, y))) {
            for x in 0..(w * self.channels) as u64 {
                let at = image.offset(x * bytes, y, z);
                memory[at as usize / 4] |= self.texel(i) << (8 * (at % 4));
                i += 1;
            }
        }
        memory
    }
}

/// Runs a program whose object 1 is `image`, with texels in the buffer of that name, and returns
/// what its buffers hold afterwards.
pub(super) fn run_with(
    program: &Program,
    mut image: Image,
    contents: Vec<(&str, Vec<u32>)>,
) -> Result<BTreeMap<String, Vec<u32>>, FaultKind> {
    let (kernel, mut launch) =
        support::launch(program, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    for (name, words) in contents {
        let buffer = launch.buffers.iter_mut().find(|b| b.name == name).expect("a buffer");
        if name == "texels" {
            image.address = buffer.address;
        }
        buffer.words = words;
    }
    let table = Image::table([Some(&image)].into_iter());
    launch.buffers.push(Buffer {
        name: "(textures)".to_owned(),
        address: IMAGE_TABLE,
        bytes: 4 * table.len() as u64,
        reach: 4 * table.len() as u64,
        element: Type::B32,
        words: table,
        lent: None,
        unset: None,
        mapped: true,
        writable: false,
    });
    launch.buffers.sort_by_key(|buffer| buffer.address);
    let names: Vec<String> = launch.buffers.iter().map(|buffer| buffer.name.clone()).collect();
    let buffers = if kernel.native.is_some() {
        let options = support::options(Mode::Volta, SideOrder::Fewer, 100_000_000);
        let machine = support::machine("h200");
        let job = Job::new(program, kernel, launch, &machine, options);
        let done = simulate(job, &()).unwrap_or_else(|e| panic!("{e}"));
        if let Finish::Fault(report) = done.finish {
            return Err(report.fault.kind);
        }
        done.launch.buffers.into_iter().map(|buffer| buffer.words).collect()
    } else {
        match oracle::run(kernel, &launch, u64::MAX) {
            Ok(done) => done.buffers,
            Err(OracleError::Fault { fault, .. }) => return Err(fault.kind),
            Err(other) => panic!("{other}"),
        }
    };
    Ok(names.into_iter().zip(buffers).collect())
}

/// FNV-1a over bytes.
pub(super) fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Hashes the results without the fetches that are left out.
fn hash(results: &[u32], but: &[usize]) -> u64 {
    let rows = results.chunks(4).enumerate().filter(|(i, _)| !but.contains(i));
    fnv(rows.flat_map(|(_, row)| row.iter().flat_map(|word| word.to_le_bytes())))
}

fn compare(whole: bool) {
    let text = fs::read_to_string("tests/observations/h200/textures.txt").expect("the records");
    let lines = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for line in lines {
        let experiment = Experiment::parse(line);
        let count = if whole { experiment.count } else { FEW };
        let expected = if whole { experiment.all } else { experiment.first };
        if hash(&experiment.run(count), &experiment.but) != expected {
            wrong.push(line);
        }
        seen += 1;
    }
    assert!(wrong.is_empty(), "{} of {seen} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(seen > 400, "only {seen} experiments");
}

#[test]
fn fetches_give_the_bits_of_a_gpu() {
    compare(false);
}

#[test]
#[ignore = "long: a million fetches"]
fn long_fetches_give_the_bits_of_a_gpu() {
    compare(true);
}
