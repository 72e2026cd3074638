//! Parses, checks and runs program texts.

use simt_core::base::BlockId;
use simt_core::checks::Checks;
use simt_core::diag::has_errors;
use simt_core::divergence::SideOrder;
use simt_core::kernel::{Inst, Kernel, LaneFn, LaneOp, Op, Special};
use simt_core::launch::{Launch, Overrides};
use simt_core::machine::{Finish, Options, Timing};
use simt_core::observe::Window;
use simt_core::ptxas;
use simt_core::spec::Target;
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program};
use simt_core::{oracle, ptx};
use simt_gpu::instrument::instrument;
use simt_report::annotate::{Source, annotate};
use simt_report::simulate;
use simt_report::timeline::{Axis, MapStyle, lane_map};
use simt_report::{self as report, Style};
use simt_teach::grade;

use super::{laws, text_of};

/// Maximum cycles of a run: enough for small programs, and quick for any program.
const MOST_CYCLES: u64 = 3_000;
/// Maximum threads of a launch.
const MOST_THREADS: u64 = 1 << 12;
/// Maximum total bytes of a launch's buffers.
const MOST_BYTES: u64 = 1 << 20;
/// Maximum bytes of memory that a program's text may declare.
const MOST_FOOTPRINT: u64 = 64 << 20;

/// Lexes, parses and prints; the printed text of a sound module must parse and print the same
/// again.
pub fn text(data: &[u8]) {
    let text = text_of(data);
    let (module, found) = ptx::parse(&text);
    laws::findings(&found, &text);
    let printed = ptx::print(&module);
    if has_errors(&found) {
        return;
    }
    let (again, found) = ptx::parse(&printed);
    assert!(!has_errors(&found), "the printed text has errors: {found:?}\n{printed}");
    assert_eq!(ptx::print(&again), printed, "printing is not settled");
}

/// Checks a program and analyses its control flow: a sound kernel lowers for every kind of machine,
/// its graph can be drawn, and the text with probes is also sound.
pub fn check(data: &[u8]) {
    let text = text_of(data);
    let program = Program::parse("fuzz.ir", &text);
    laws::findings(&program.findings, &text);
    if !program.is_sound() {
        return;
    }
    for kernel in program.kernels.iter().take(4) {
        let _ = report::cfg::dot(kernel, &report::cfg::texts(&program, kernel));
        for (spec, mode) in sites() {
            let _ = ptxas::compile(kernel, &Target::new(&spec, true), mode);
        }
    }
    let probed = instrument(&program.module, 32, None).text;
    assert!(Program::parse("probed.ptx", &probed).is_sound(), "unsound with probes\n{text}");
}

/// Returns the machines and modes that differ most.
fn sites() -> [(Machine, Mode); 3] {
    [("teaching", Mode::PreVolta), ("teaching", Mode::Volta), ("h200", Mode::Volta)]
        .map(|(name, mode)| (preset(name), mode))
}

pub(crate) fn preset(name: &str) -> Machine {
    Machine::preset_text(name).and_then(|text| Machine::parse(text).ok()).expect("a sound preset")
}

/// Runs a small launch in both modes, with checks, up to the reports. If the runs succeed without
/// findings and the program does not depend on thread order, memory must equal the scalar oracle's.
pub fn run(data: &[u8]) {
    let text = text_of(data);
    let program = Program::parse("fuzz.ir", &text);
    let Some(kernel) = program.kernels.first().filter(|_| program.is_sound()) else { return };
    // Smaller constants make large launches small.
    let small =
        [("n", "256"), ("block", "64")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let set =
        small.into_iter().filter(|(name, _)| program.plan.constants().any(|c| c == name)).collect();
    let overrides = Overrides { set, most_buffer_bytes: Some(MOST_BYTES), ..Overrides::default() };
    let launch = match program.launch(kernel, &overrides, &|_, _| Ok(vec![1, 2, 3, 4])) {
        Ok(launch) => launch,
        Err(found) => return laws::findings(&found, &text),
    };
    let threads = |extent: &[u32; 3]| extent.iter().map(|&n| u64::from(n)).product::<u64>();
    let threads = threads(&launch.grid).saturating_mul(threads(&launch.block));
    if threads > MOST_THREADS || grade::footprint(&program.module, threads) > MOST_FOOTPRINT {
        return;
    }
    let oracle = oracle::run(kernel, &launch, 40_000);
    for (spec, mode) in sites() {
        let options = Options {
            mode,
            order: SideOrder::Fewer,
            yields: true,
            max_cycles: MOST_CYCLES,
            max_issues: u64::MAX,
            timing: Timing::Cycles,
        };
        let clean = whole(&program, kernel, &launch, &spec, &options);
        if let (Some(after), Ok(expected)) = (clean, &oracle)
            && spec.warp_size == 32
            && is_settled(kernel)
        {
            let memory = after.buffers.iter().map(|buffer| &buffer.words);
            assert!(
                memory.eq(&expected.buffers),
                "{} differs from the oracle on\n{text}",
                mode.name()
            );
        }
    }
}

/// Runs with every check and every report; returns the final launch if there are no findings.
fn whole(
    program: &Program,
    kernel: &Kernel,
    launch: &Launch,
    spec: &Machine,
    options: &Options,
) -> Option<Launch> {
    let style = Style { width: 80, color: false };
    let checked = simulate::simulate_checked(
        Job::new(program, kernel, launch.clone(), spec, options.clone()),
        &(),
        Checks::ALL,
    )
    .ok()?;
    laws::findings(&checked.findings, &program.text);
    let simulation = checked.simulation;
    laws::harmless(&report::text(&simulation.run, style));
    let source = Source { name: program.name.clone(), text: Some(program.text.clone()) };
    laws::harmless(&annotate(&simulation.run, &[source], style));
    simulation.run.to_json().expect("a report can be written as JSON");

    let window = Window { block: BlockId(0), warps: 0..2, cycles: 0..MOST_CYCLES, limit: 50 };
    let recording = simulate::record(
        &Job::new(program, kernel, launch.clone(), spec, options.clone()),
        &window,
    )
    .ok()?;
    laws::harmless(&lane_map(&recording, MapStyle { style, axis: Axis::Cycle }));
    (matches!(simulation.finish, Finish::Ok) && checked.findings.is_empty())
        .then_some(simulation.launch)
}

/// Returns true if a race-free kernel's result depends neither on thread order nor on anything that
/// the oracle does not model: no atomics (the old value shows the order), clocks, warp collectives,
/// products that a machine may fuse with sums, or registers that name a location on the machine.
fn is_settled(kernel: &Kernel) -> bool {
    let ordered = |op: &Op| match op {
        // Strong accesses synchronize and do not race.
        Op::Load(load) => !load.access.strong(),
        Op::Store(store) => !store.access.strong(),
        op => matches!(
            op,
            Op::Lane(_)
                | Op::Setp(_)
                | Op::PredicateLogic { .. }
                | Op::Select { .. }
                | Op::Carry(_)
                | Op::Test { .. }
                | Op::Branch { .. }
                | Op::Switch(_)
                | Op::Call(_)
                | Op::Return
                | Op::ReadSlot(_)
                | Op::WriteSlot(_)
                | Op::Exit
                | Op::Barrier(_)
                | Op::WarpSync { .. }
        ),
    };
    let placed =
        |special: &Special| matches!(special, Special::Smid | Special::Nsmid | Special::Nwarpid);
    let fuses = |inst: &Inst| {
        inst.contracts && matches!(inst.op, Op::Lane(LaneOp { f: LaneFn::FMul(_), .. }))
    };
    kernel.insts.iter().all(|inst| ordered(&inst.op) && !fuses(inst))
        && !kernel.registers.specials.iter().any(|(_, s)| placed(s))
}
