//! Accesses to surfaces, bit for bit as a GPU made them, in PTX and in machine code.
//!
//! Each line of `tests/observations/h200/surfaces.txt` is an experiment: a surface, an instruction,
//! and the kinds of coordinates and values, all drawn from a fixed sequence; and a hash of what a
//! load gave or of the surface after stores, or the driver's error.

use std::fs;

use simt_core::Program;
use simt_core::exec::{Channel, FaultKind, Image, ImageShape};
use simt_core::isa::Type;

use super::texels::{SPECIAL_FLOATS, fnv, mix, run_with};

/// An experiment.
struct Experiment<'a> {
    line: &'a str,
    seed: u64,
    op: &'a str,
    geometry: &'a str,
    size: [u64; 3],
    channel: Channel,
    channels: u32,
    /// Vector and type (`v2b32`), or function and type of a reduction (`add.u32`).
    access: &'a str,
    outside: &'a str,
    coordinates: u32,
    values: u32,
    count: u64,
    /// Hash, or error of the driver.
    expected: Result<u64, u32>,
}

impl<'a> Experiment<'a> {
    fn parse(line: &'a str) -> Experiment<'a> {
        let (seed, rest) = line.split_once(' ').expect("a seed");
        let find = |name: &str| {
            let mut words = rest.split(' ');
            words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
        };
        let field = |name: &str| find(name).unwrap_or_else(|| panic!("{name}: {line}"));
        let mut size = field("size").split('x').map(|n| n.parse::<u64>().expect("a size").max(1));
        let ty = field("type");
        let (name, channels) = ty.split_at(ty.len() - 1);
        let hash = find("hash").map(|hash| u64::from_str_radix(hash, 16).expect("a hash"));
        Experiment {
            line,
            seed: seed.parse().expect("a seed"),
            op: field("op"),
            geometry: field("geometry"),
            size: [(); 3].map(|()| size.next().expect("three sizes")),
            channel: Channel::of(Type::from_name(name).expect("a type")).expect("a channel"),
            channels: channels.parse().expect("a number of channels"),
            access: field("access"),
            outside: field("outside"),
            coordinates: field("coords").parse().expect("a kind"),
            values: find("values").map_or(0, |kind| kind.parse().expect("a kind")),
            count: field("n").parse().expect("a number"),
            expected: hash.ok_or_else(|| field("error").parse().expect("an error")),
        }
    }

    fn texel_bytes(&self) -> u64 {
        u64::from(self.channel.bits() / 8 * self.channels)
    }

    /// Returns the elements of an access and the bits of each.
    fn elements(&self) -> (usize, u64) {
        let (count, bits) = match self.access.strip_prefix('v') {
            Some(vector) => vector.split_at(1),
            None => ("1", self.access),
        };
        let bits = bits.trim_start_matches(|c: char| !c.is_ascii_digit());
        (count.parse().expect("a number"), bits.parse().expect("bits"))
    }

    /// Returns the step of the first coordinate, and the number of steps.
    fn steps(&self) -> (u64, u64) {
        let (count, bits) = self.elements();
        match self.op.ends_with(".p") {
            true => (1, self.size[0]),
            false => {
                let bytes = count as u64 * bits / 8;
                (bytes, (self.size[0] * self.texel_bytes()).div_ceil(bytes))
            }
        }
    }

    /// Returns the coordinates and the layer of an access.
    fn place(&self, i: u64) -> [u32; 4] {
        const INTEGERS: [u32; 8] = [0x7fff_ffff, 0x8000_0000, !0, 0, 1, 2, 0x10000, 0xffff_0000];
        let (step, steps) = self.steps();
        let [_, height, depth] = self.size;
        let axes = [(steps, step), (height, 1), (depth, 1), (depth, 1)];
        std::array::from_fn(|axis| {
            let r = mix(self.seed + 100_000, 4 * i + axis as u64);
            let (size, step) = axes[axis];
            match self.coordinates {
                1 if axis == 0 => ((r >> 8) % (size * step + 64)).wrapping_sub(32) as u32,
                2 if r & 3 == 0 => INTEGERS[(r >> 20) as usize & 7],
                5 if axis == 0 => ((r >> 8) % (size - 1) * step + 1) as u32,
                0 | 1 => ((r >> 8) % (size + 8)).wrapping_sub(4).wrapping_mul(step) as u32,
                _ => ((r >> 8) % size * step) as u32,
            }
        })
    }

    /// Returns a word of the value of an access.
    fn value(&self, i: u64, word: u64) -> u32 {
        let r = mix(self.seed + 200_000, 4 * i + word);
        let w = (r >> 32) as u32;
        match self.values {
            0 => w,
            1 => (w as i32 >> (r & 31)) as u32,
            2 => SPECIAL_FLOATS[w as usize & 15],
            _ => w & 0x807f_ffff | (97 + (r & 0xffff) as u32 % 50) << 23,
        }
    }

    fn loads(&self) -> bool {
        self.op == "suld.b"
    }

    /// Returns the name of the kernel with the instruction.
    fn kernel(&self) -> String {
        let access = self.access.replace('.', "");
        format!("{}_{}_{access}_{}", self.op.replace('.', "_"), self.geometry, self.outside)
    }

    /// Returns the instruction in PTX, with the load of its value or the store of its result.
    fn instructions(&self) -> String {
        let Experiment { op, geometry, access, outside, .. } = self;
        let place = match *geometry {
            "1d" => "{%i1}",
            "2d" => "{%i1,%i2}",
            "3d" => "{%i1,%i2,%i3,%i3}",
            "a1d" => "{%i4,%i1}",
            _ => "{%i4,%i1,%i2,%i2}",
        };
        let (count, bits) = self.elements();
        let register = match bits {
            8 | 16 => "%h",
            64 => "%d",
            _ => "%r",
        };
        let named: Vec<String> = (1..=count).map(|i| format!("{register}{i}")).collect();
        let named = format!("{{{}}}", named.join(","));
        let vector = if count > 1 { format!(".v{count}") } else { String::new() };
        let (load, at) = ("ld.global", format!("[%t,{place}]"));
        match *op {
            "suld.b" => format!(
                "suld.b.{geometry}{vector}.b{bits}.{outside} {named},{at};
    st.global{vector}.b{bits} [%o],{named};"
            ),
            "sust.b" | "sust.p" => format!(
                "{load}{vector}.b{bits} {named},[%v];
    {op}.{geometry}{vector}.b{bits}.{outside} {at},{named};"
            ),
            _ => {
                let (function, ty) = access.split_once('.').expect("a function");
                format!(
                    "{load}.b{bits} {register}1,[%v];
    {op}.{function}.{geometry}.{ty}.{outside} {at},{register}1;"
                )
            }
        }
    }

    fn directives(&self, words: u64) -> String {
        let (grid, block) = if self.loads() { (self.count / 64, 64) } else { (1, 1) };
        let rows = 4 * self.count;
        format!(
            "//! kernel {}
//! grid = {grid}
//! block = {block}
//! buffer texels: u32[{words}]
//! buffer places: u32[{rows}]
//! buffer values: u32[{rows}]
//! buffer out: u32[{rows}]
//! arg 0 = 1
//! arg 1 = places
//! arg 2 = values
//! arg 3 = out
//! arg 4 = texels
//! arg 5 = {}
",
            self.kernel(),
            self.count
        )
    }

    /// Returns a program of PTX with the instruction.
    fn ptx(&self) -> String {
        format!(
            ".entry {}(.param .u64 t, .param .u64 p, .param .u64 v, .param .u64 o, .param .u64 x,
    .param .u32 n)
{{
    .reg .u64 %t, %p, %v, %o, %d<3>; .reg .u32 %n, %m, %s, %e, %r<5>; .reg .s32 %i<5>;
    .reg .b16 %h<5>; .reg .pred %more;
    ld.param.u64 %t, [t];
    ld.param.u32 %e, [n];
    mov.u32 %n, %ctaid.x;
    mov.u32 %s, %ntid.x;
    mov.u32 %m, %tid.x;
    mad.lo.u32 %n, %n, %s, %m;
    mov.u32 %m, %nctaid.x;
    mul.lo.u32 %s, %s, %m;
next:
    ld.param.u64 %p, [p];
    ld.param.u64 %v, [v];
    ld.param.u64 %o, [o];
    mad.wide.u32 %p, %n, 16, %p;
    mad.wide.u32 %v, %n, 16, %v;
    mad.wide.u32 %o, %n, 16, %o;
    ld.global.v4.s32 {{%i1,%i2,%i3,%i4}}, [%p];
    {}
    add.u32 %n, %n, %s;
    setp.lt.u32 %more, %n, %e;
    @%more bra next;
}}
",
            self.kernel(),
            self.instructions()
        )
    }

    fn image(&self) -> Image {
        let shape = match self.geometry {
            "1d" => ImageShape::D1,
            "2d" => ImageShape::D2,
            "3d" => ImageShape::D3,
            "a1d" => ImageShape::A1,
            _ => ImageShape::A2,
        };
        let flat = matches!(shape, ImageShape::D1 | ImageShape::A1);
        Image {
            surface: true,
            shape,
            channel: self.channel,
            channels: self.channels,
            size: self.size.map(|size| size as u32),
            address: 0,
            pitch: (self.size[0] * self.texel_bytes()).next_multiple_of(32),
            tiled: !flat,
            linear: false,
            modes: [simt_core::exec::AddressMode::Clamp; 3],
            normalized: false,
            as_float: false,
            border: [0.0; 4],
        }
    }

    /// Returns where each byte of the texels lies, row by row.
    fn offsets(&self, image: &Image) -> Vec<u64> {
        let [width, height, depth] = self.size;
        let rows = (0..depth).flat_map(|z| (0..height).map(move |y| (z, y)));
        let bytes = width * self.texel_bytes();
        rows.flat_map(|(z, y)| (0..bytes).map(move |x| (x, y, z)))
            .map(|(x, y, z)| image.offset(x, y, z))
            .collect()
    }

    /// Runs the experiment; `code` is machine code, if PTX is not wanted.
    fn run(&self, code: Option<&str>) -> Result<u64, u32> {
        let image = self.image();
        let offsets = self.offsets(&image);
        let mut texels = vec![0u32; image.bytes().div_ceil(4) as usize];
        for (i, at) in (0..).zip(&offsets) {
            let byte = mix(self.seed, i / 8) >> (8 * (i % 8)) & 0xff;
            texels[*at as usize / 4] |= (byte as u32) << (8 * (at % 4));
        }
        let directives = self.directives(texels.len() as u64);
        let program = match code {
            Some(code) => Program::parse("surfaces.sass", &(directives + code)),
            None => Program::parse("surfaces.ir", &(directives + &self.ptx())),
        };
        let places = (0..self.count).flat_map(|i| self.place(i)).collect();
        let values = (0..self.count).flat_map(|i| (0..4).map(move |word| (i, word)));
        let values = values.map(|(i, word)| self.value(i, word)).collect();
        let contents = vec![("texels", texels), ("places", places), ("values", values)];
        match run_with(&program, image, contents) {
            Ok(done) if self.loads() => Ok(fnv(done["out"].iter().flat_map(|w| w.to_le_bytes()))),
            Ok(done) => {
                let texels = &done["texels"];
                let byte = |&at: &u64| (texels[at as usize / 4] >> (8 * (at % 4))) as u8;
                Ok(fnv(offsets.iter().map(byte)))
            }
            Err(FaultKind::OutsideSurface { .. }) => Err(700),
            Err(FaultKind::Misaligned { .. }) => Err(716),
            Err(other) => panic!("{}: {other}", self.line),
        }
    }
}

/// Compares the experiments that have machine code, if it is given, else all.
fn compare(code: Option<&str>) -> usize {
    let text = fs::read_to_string("tests/observations/h200/surfaces.txt").expect("the records");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let experiments = lines.map(Experiment::parse);
    let there = |e: &Experiment<'_>| code.is_none_or(|code| code.contains(&e.kernel()));
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for experiment in experiments.filter(there) {
        if experiment.run(code) != experiment.expected {
            wrong.push(experiment.line);
        }
        seen += 1;
    }
    assert!(wrong.is_empty(), "{} of {seen} differ:\n{}", wrong.len(), wrong.join("\n"));
    seen
}

#[test]
fn ptx_leaves_the_surfaces_of_a_gpu() {
    assert_eq!(compare(None), 344);
}

#[test]
fn machine_code_leaves_the_surfaces_of_a_gpu() {
    let code = fs::read_to_string("tests/sass/surfaces.sass").expect("machine code");
    assert!(compare(Some(&code)) > 30);
}
