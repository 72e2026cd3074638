//! Matrix products of warpgroups against what an H200 did
//! (`tests/observations/h200/warpgroups.txt`).

use std::fmt::Write as _;

use simt_core::base::LaneMask;
use simt_core::exec::FaultKind;
use simt_core::isa::Space;
use simt_core::launch::{Launch, Overrides};
use simt_core::machine::{Finish, Options, Outcome, Timing};
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program, oracle};

use super::support;
use super::tensor::{hash, mix};

const RECORD: &str = include_str!("../../../../tests/observations/h200/warpgroups.txt");
/// Words of shared memory.
const WORDS: usize = 1 << 14;
/// Threads of a warpgroup.
const THREADS: usize = 128;

/// Recorded instruction.
struct Form {
    mnemonic: &'static str,
    columns: u32,
    /// Types of D, A and B.
    types: [&'static str; 3],
    /// True if registers hold A.
    held: bool,
    /// Operands after B.
    operands: &'static str,
    /// Hash of the results by draw.
    hashes: Vec<u32>,
}

fn forms() -> Vec<Form> {
    let mut all: Vec<Form> = Vec::new();
    for line in RECORD.lines().filter(|line| !line.starts_with('#')) {
        if let (true, Some(form)) = (line.starts_with(' '), all.last_mut()) {
            let hashes = line.split_whitespace().map(|word| u32::from_str_radix(word, 16));
            form.hashes.extend(hashes.map(|hash| hash.expect("a hash")));
            continue;
        }
        let [mnemonic, a, operands] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let words: Vec<&str> = mnemonic.split('.').collect();
        let columns = words[4].split(['n', 'k']).nth(1).and_then(|n| n.parse().ok());
        all.push(Form {
            mnemonic,
            columns: columns.expect("columns"),
            types: [words[5], words[6], words[7]],
            held: a == "registers",
            operands,
            hashes: Vec::new(),
        });
    }
    assert!(all.len() >= 40 && all.iter().all(|form| form.hashes.len() == 8));
    all
}

impl Form {
    /// Returns the registers of D.
    fn sums(&self) -> usize {
        self.columns as usize / if self.types[0] == "f16" { 4 } else { 2 }
    }

    /// Returns the source of a kernel that adds one product to C; the H200 ran this text, too.
    ///
    /// After C come the descriptors of A and B, relative to shared memory, and whether C is added.
    fn source(&self, name: &str) -> String {
        let n = self.sums();
        let d: Vec<String> = (0..n).map(|i| format!("%d{i}")).collect();
        let mut loads = String::new();
        let mut stores = String::new();
        for i in 0..n {
            let _ = writeln!(loads, "    ld.global.b32 %d{i}, [%c+{}];", 4 * i);
            let _ = writeln!(stores, "    st.global.b32 [%out+{}], %d{i};", 4 * i);
        }
        let ty = match self.types[0] {
            "f16" => "b32",
            other => other,
        };
        format!(
            "//! grid = 1
//! block = {THREADS}
//! shared = {bytes}
//! buffer image: u32[{WORDS}]
//! buffer c: u32[{words} + 5]
//! buffer out: u32[{words}]
//! arg image = image
//! arg c = c
//! arg out = out
.target sm_90a
.extern .shared .align 1024 .b8 matrices[];
.visible .entry {name}(.param .u64 image, .param .u64 c, .param .u64 out)
{{
    .reg .{ty} %d<{n}>;
    .reg .b32 %a<4>, %v<4>, %t, %i, %at, %base, %add;
    .reg .b64 %image, %c, %out, %x, %da, %db;
    .reg .pred %p, %q;
    mov.u32 %t, %tid.x;
    mov.u32 %base, matrices;
    ld.param.u64 %image, [image];
    mul.wide.u32 %x, %t, 16;
    add.u64 %image, %image, %x;
    ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%image];
    shl.b32 %i, %t, 4;
FILL:
    ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%image];
    add.u32 %at, %base, %i;
    st.shared.v4.b32 [%at], {{%v0, %v1, %v2, %v3}};
    add.u32 %i, %i, {step};
    add.u64 %image, %image, {step};
    setp.lt.u32 %q, %i, {bytes};
    @%q bra FILL;
    fence.proxy.async;
    bar.sync 0;
    ld.param.u64 %c, [c];
    ld.global.u32 %add, [%c+{tail}+16];
    ld.global.v2.u32 {{%v0, %v1}}, [%c+{tail}];
    ld.global.v2.u32 {{%v2, %v3}}, [%c+{tail}+8];
    mov.b64 %da, {{%v0, %v1}};
    mov.b64 %db, {{%v2, %v3}};
    mul.wide.u32 %x, %t, {own};
    add.u64 %c, %c, %x;
    ld.param.u64 %out, [out];
    add.u64 %out, %out, %x;
{loads}    shr.u32 %at, %base, 4;
    cvt.u64.u32 %x, %at;
    add.u64 %da, %da, %x;
    add.u64 %db, %db, %x;
    setp.ne.u32 %p, %add, 0;
    wgmma.fence.sync.aligned;
    {mnemonic} {{{d}}}, {a}, %db, {operands};
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
{stores}    ret;
}}
",
            bytes = 4 * WORDS,
            words = n * THREADS,
            step = 16 * THREADS,
            own = 4 * n,
            tail = 4 * n * THREADS,
            mnemonic = self.mnemonic,
            d = d.join(", "),
            a = if self.held { "{%a0, %a1, %a2, %a3}" } else { "%da" },
            operands = self.operands,
        )
    }

    /// Returns the words of shared memory, or with `of_c` of C: hashes. Draws 0 to 5 have no
    /// infinities, because the highest bit of each exponent is 0.
    fn words(&self, draw: u64, of_c: bool) -> Vec<u32> {
        let ty = self.types[if of_c { 0 } else { 1 }];
        let finite = match ty {
            "f16" | "bf16" => 0xbfff_bfff,
            "f32" | "tf32" => 0xbfff_ffff,
            "e4m3" | "e5m2" => 0xbfbf_bfbf,
            _ => u32::MAX,
        };
        let mask = if draw < 6 { finite } else { u32::MAX };
        let (from, count) = if of_c { (1 << 20, self.sums() * THREADS) } else { (0, WORDS) };
        (0..count as u64).map(|i| mix(draw << 32 | from | i) as u32 & mask).collect()
    }

    /// Returns the words after C: the descriptors of A and B, and whether C is added.
    fn arguments(draw: u64) -> [u32; 5] {
        let random = |i: u64, count: u64| mix(draw << 32 | 1 << 24 | i) % count;
        let descriptor = |i: u64| {
            let [start, leading, stride] =
                [(0, 512), (1, 128), (2, 64)].map(|(j, n)| random(i + j, n));
            let base = if random(i + 3, 4) == 0 { random(i + 4, 8) } else { 0 };
            random(i + 5, 4) << 62 | base << 49 | stride << 32 | leading << 16 | start
        };
        let [a, b] = [descriptor(0), descriptor(8)];
        let add = random(16, 4).min(1) as u32;
        [a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32, add]
    }
}

/// Returns the program of a form and its launch with the operands of a draw.
fn launch(form: &Form, draw: u64) -> (Program, Launch) {
    let program = Program::parse("k.ir", &form.source("k"));
    let (_, mut launch) = support::launch(&program, &Overrides::default())
        .unwrap_or_else(|e| panic!("{}: {e}", form.mnemonic));
    launch.buffers[0].words = form.words(draw, false);
    let mut c = form.words(draw, true);
    c.extend(Form::arguments(draw));
    launch.buffers[1].words = c;
    (program, launch)
}

#[test]
fn products_of_warpgroups_are_an_h200s() {
    let mut wrong = Vec::new();
    for form in forms() {
        for (draw, &recorded) in (0..).zip(&form.hashes) {
            let (program, launch) = launch(&form, draw);
            let kernel = program.kernel(None).expect("one kernel");
            let outcome = oracle::run(kernel, &launch, 1 << 24);
            let buffers = outcome.unwrap_or_else(|e| panic!("{}: {e:?}", form.mnemonic)).buffers;
            if hash(&buffers[2]) != recorded {
                wrong.push(format!("{} {} draw {draw}", form.mnemonic, form.operands));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Runs a program on `h200`, with its clock or without it.
fn finish(program: &Program, launch: Launch, mode: Mode, timed: bool) -> Outcome<()> {
    let kernel = program.kernel(None).expect("one kernel");
    let machine = Machine::preset("h200").expect("a preset");
    let timing = if timed { Timing::Cycles } else { Timing::Off };
    let options = Options { timing, ..Options::of(&machine, mode) };
    Job::new(program, kernel, launch, &machine, options).execute(&()).expect("fits")
}

#[test]
fn machines_compute_the_oracles_sums() {
    for (i, form) in forms().iter().enumerate() {
        let draw = i as u64 % 8;
        for mode in [Mode::Volta, Mode::PreVolta] {
            let (program, launch) = launch(form, draw);
            let done = finish(&program, launch, mode, i % 2 == 0);
            assert!(matches!(done.finish, Finish::Ok), "{mode:?}: {:?}", done.finish);
            let found = hash(&done.launch.buffers[2].words);
            assert_eq!(found, form.hashes[draw as usize], "{mode:?}: {}", form.mnemonic);
        }
    }
}

/// Returns the fault of a product whose source is changed.
fn fault(change: impl Fn(String) -> String, arguments: [u32; 5]) -> FaultKind {
    let all = forms();
    let program = Program::parse("k.ir", &change(all[0].source("k")));
    let (_, mut launch) = support::launch(&program, &Overrides::default()).expect("sound");
    let after_c = all[0].sums() * THREADS;
    launch.buffers[1].words[after_c..after_c + 5].copy_from_slice(&arguments);
    match finish(&program, launch, Mode::Volta, true).finish {
        Finish::Fault(report) => report.fault.kind,
        other => panic!("{other:?}"),
    }
}

#[test]
fn incomplete_warpgroups_and_wild_descriptors_are_faults() {
    // A at the last 128 bytes of shared memory, which an H200 refuses (CUDA error 700).
    let end = (4 * WORDS as u32 - 128) >> 4;
    let inside = [8 << 16, 16, 8 << 16, 16, 1];
    let outside = [end | 8 << 16, 16, 8 << 16, 16, 1];
    let same = |source: String| source;
    assert!(matches!(
        fault(same, outside),
        FaultKind::OutOfBounds { space: Space::Shared, bytes: 16, .. }
    ));
    // Of five warps the last one is in no warpgroup (CUDA error 715 on an H200).
    for threads in [32, 96, 160] {
        let block = |source: String| {
            let source = source.replace("block = 128", &format!("block = {threads}"));
            source.replace("u32[1024 + 5]", "u32[2048]").replace("u32[1024]", "u32[2048]")
        };
        assert_eq!(fault(block, inside), FaultKind::MissingWarps, "{threads}");
    }
    let guarded = |source: String| {
        let source = source.replace("    wgmma.mma_async", "    @%q wgmma.mma_async");
        source.replace("    wgmma.fence", "    setp.ne.u32 %q, %t, 3;\n    wgmma.fence")
    };
    let missing = fault(guarded, inside);
    assert_eq!(missing, FaultKind::MissingLanes { lanes: LaneMask(1 << 3) });
}

#[test]
fn operands_out_of_range_are_errors() {
    let all = forms();
    let errors = |change: [(&str, &str); 1]| {
        let [(from, to)] = change;
        let source = all[0].source("k").replace(from, to);
        Program::parse("k.ir", &source).findings.iter().map(|d| d.message.clone()).collect()
    };
    let operands = "%db, %p, 1, 1, 0, 0;";
    assert!(all[0].source("k").contains(operands));
    for (to, expected) in [
        ("%db, %p, 2, 1, 0, 0;", "expected 1 or -1, found 2"),
        ("%db, %p, 1, 1, 0, -1;", "expected 0 or 1, found -1"),
    ] {
        let found: Vec<String> = errors([(operands, to)]);
        assert_eq!(found, [expected]);
    }
    let held: Vec<String> = errors([("%da, %db, %p", "{%a0, %a1, %a2, %a3}, %db, %p")]);
    assert_eq!(held, ["one operand too many: A in registers is not transposed"]);
}
