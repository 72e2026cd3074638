//! Laws that hold for every structured program, held against generated ones (`generator`), and
//! against the smallest programs that once broke one of them (`tests/regressions`), and those that
//! call functions (`tests/calls`).
//!
//! For each program: it parses and checks without an error; printing and parsing it gives the same
//! tree; on every machine, in both modes and for several side orders, it ends well with the memory
//! of the scalar oracle, every thread executes exactly the oracle's instructions in the oracle's
//! order, and every issue slot and every warp cycle is accounted for once; both modes issue the
//! same number of instructions, volta mode fewer where lanes turn away from a merge; and no figure
//! depends on the number of host threads. Where lanes wait for atomics, the instructions of a
//! thread depend on who comes first: of such a program all but these are compared. Run as machine
//! instructions (`ptxas::compile`), it ends with the same memory, and the books add up as well.

mod ledger;
mod walks;

use std::cell::Cell;

use proptest::prelude::Strategy;
use proptest::test_runner::{TestCaseError, TestRunner};
use simt_core::code::Code;
use simt_core::divergence::SideOrder;
use simt_core::kernel::{ConvergenceOp, Kernel, Op};
use simt_core::launch::{Launch, Overrides};
use simt_core::machine::Host;
use simt_core::machine::{self, Finish, Options};
use simt_core::observe::{Counts, Totals};
use simt_core::ptxas;
use simt_core::spec::{Lowering, Target};
use simt_core::spec::{Machine, Mode};
use simt_core::{oracle, ptx};

use super::generator::{Program, any_program, program_in_parts, program_with_copies};
use super::support;
use ledger::Ledger;
use walks::{Walk, Walks};

/// More cycles than any generated program takes.
const MAX_CYCLES: u64 = 50_000_000;

/// What is compared of a run.
#[derive(Debug, PartialEq)]
struct Seen {
    memory: Vec<Vec<u32>>,
    totals: Totals,
    ledger: Ledger,
    walks: Walks,
}

/// What a correct run leaves behind.
struct Expected {
    memory: Vec<Vec<u32>>,
    walks: Vec<Walk>,
}

/// Holds `cases` programs against the laws. The first ones are the same for every number.
fn hold(cases: u32, programs: &impl Strategy<Value = Program>) {
    hold_every(1, 0, cases, programs);
}

/// Holds one in `step` of `cases` programs against the laws, from program `first` on: tests that
/// run side by side share the programs.
fn hold_every(step: u32, first: u32, cases: u32, programs: &impl Strategy<Value = Program>) {
    let config = support::cases(cases);
    let (cases, drawn, failed) = (config.cases, Cell::new(0), Cell::new(false));
    let result = TestRunner::new(config).run(programs, |program| {
        // Smaller forms of a program that failed are not counted.
        if !failed.get() && drawn.replace(drawn.get() + 1) % step != first {
            return Ok(());
        }
        prove("generated", &program.print()).map_err(|failure| {
            failed.set(true);
            TestCaseError::fail(failure)
        })
    });
    assert!(failed.get() || drawn.get() == cases, "{} programs of {cases}", drawn.get());
    if let Err(failure) = result {
        panic!("{failure}\nto keep it, save the program under tests/regressions/");
    }
}

#[test]
fn generated_programs_obey_the_laws() {
    hold(20, &any_program());
}

#[test]
#[ignore = "long: every second of 100 programs"]
fn long_generated_programs_obey_the_laws() {
    hold_every(2, 0, 100, &any_program());
}

#[test]
#[ignore = "long: the others of 100 programs"]
fn long_other_generated_programs_obey_the_laws() {
    hold_every(2, 1, 100, &any_program());
}

#[test]
fn programs_that_synchronise_in_parts_obey_the_laws() {
    hold(6, &program_in_parts());
}

#[test]
#[ignore = "long: 24 programs"]
fn long_programs_that_synchronise_in_parts_obey_the_laws() {
    hold(24, &program_in_parts());
}

#[test]
fn programs_with_asynchronous_copies_obey_the_laws() {
    hold(4, &program_with_copies());
}

#[test]
#[ignore = "long: 24 programs"]
fn long_programs_with_asynchronous_copies_obey_the_laws() {
    hold(24, &program_with_copies());
}

#[test]
fn every_program_that_broke_a_law_obeys_it_now() {
    super::enter_repository();
    let mut broken = Vec::new();
    for path in support::programs("tests/regressions") {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        if let Err(failure) = prove(&path.display().to_string(), &text) {
            broken.push(format!("{}: {failure}", path.display()));
        }
    }
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn programs_with_calls_obey_the_laws() {
    super::enter_repository();
    let programs = support::programs("tests/calls");
    assert!(!programs.is_empty());
    for path in programs {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        prove(&path.display().to_string(), &text)
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
}

/// Several host threads, each with every n-th task.
struct Threads(u32);

impl Host for Threads {
    fn each(&self, n: u32, task: &(dyn Fn(u32) + Sync)) {
        std::thread::scope(|scope| {
            for first in 0..self.0.min(n) {
                scope.spawn(move || (first..n).step_by(self.0 as usize).for_each(task));
            }
        });
    }
}

/// A warp that names `groups` different masks at a `.sync` instruction, all of it together.
fn masks(groups: u32) -> String {
    format!(
        "//! grid = 1
//! block = 32
//! buffer out: u32[32]
//! arg out = out
.visible .entry masks(.param .u64 out)
{{
    .reg .b32 %lane, %label, %mates, %sum;
    .reg .b64 %out;
    mov.u32 %lane, %laneid;
    and.b32 %label, %lane, {};
    match.any.sync.b32 %mates, %label, 0xffffffff;
    redux.sync.add.u32 %sum, %lane, %mates;
    ld.param.u64 %out, [out];
    mad.wide.u32 %out, %lane, 4, %out;
    st.global.u32 [%out], %sum;
    ret;
}}
",
        groups - 1
    )
}

#[test]
fn a_sync_instruction_is_issued_once_for_each_mask() {
    let spec = support::machine("h200");
    for mode in support::MODES {
        let issued = |groups| {
            let program = simt_core::Program::parse("masks", &masks(groups));
            let (kernel, launch) =
                support::launch(&program, &Overrides::default()).expect("a sound program");
            let options = support::options(mode, SideOrder::Fewer, MAX_CYCLES);
            run(&as_written(kernel, &spec, &options), &launch, &spec, &options, false)
                .expect("it ends")
                .totals
                .inst_executed
        };
        let one = issued(1);
        for groups in [2, 8, 32] {
            assert_eq!(
                issued(groups),
                one + u64::from(groups) - 1,
                "{groups} masks, {}",
                mode.name()
            );
        }
    }
}

/// One issue for each instruction.
fn as_written(kernel: &Kernel, spec: &Machine, options: &Options) -> Code {
    let spec = spec.lowered(Lowering::AsWritten);
    ptxas::compile(kernel, &Target::new(&spec, options.yields), options.mode)
}

/// Holds one program against every law.
fn prove(name: &str, text: &str) -> Result<(), String> {
    // Blocks can be seen to communicate, so that a machine runs its SMs interleaved.
    let atomic = |word: &str| word.starts_with("red.global") || word.starts_with("atom.global");
    let communicates = text.split_whitespace().any(atomic);
    // What an atomic brings back depends on who came first, and so does the way of its lane; and a
    // loop that waits at a barrier object ends when the others have arrived.
    let ordered = !text.contains("atom.") && !text.contains("_wait.");
    let program = simt_core::Program::parse(name, text);
    let (kernel, launch) = support::launch(&program, &Overrides::default())?;
    round_trip(&program)?;
    let orders = [SideOrder::Fewer, SideOrder::Taken, SideOrder::Random(0xbeef)];
    for preset in support::machines() {
        // Whatever is said of a program must hold on a machine with odd warps as well.
        let warp_sizes: &[u32] = if preset.name == "teaching" { &[8, 5] } else { &[32] };
        // The count of a barrier is one of whole warps, and generated programs count warps of 32.
        let fits = |size: &&u32| **size == 32 || !text.contains("bar.arrive");
        for &warp_size in warp_sizes.iter().filter(fits) {
            let spec = support::changed(&preset, |spec| {
                spec.warp_size = warp_size;
                spec.max_warps = spec.max_warps.max(32); // 96 threads are 20 warps of five
            });
            let expected = expect(kernel, &launch, warp_size)?;
            for order in orders {
                compare_modes(kernel, &launch, &spec, order, &expected, (communicates, ordered))
                    .map_err(|e| {
                        format!("on {} with {warp_size} lanes, {order:?}: {e}", spec.name)
                    })?;
            }
        }
    }
    Ok(())
}

fn round_trip(program: &simt_core::Program) -> Result<(), String> {
    let printed = ptx::print(&program.module);
    let (again, findings) = ptx::parse(&printed);
    if !findings.is_empty() || ptx::print(&again) != printed {
        return Err(format!("does not survive print and parse: {findings:?}\n{printed}"));
    }
    Ok(())
}

/// What the scalar oracle makes of the launch.
fn expect(kernel: &Kernel, launch: &Launch, warp_size: u32) -> Result<Expected, String> {
    let extent = launch.grid.iter().chain(&launch.block);
    let traced = (0..extent.map(|&n| u64::from(n)).product()).collect();
    let settings = oracle::Settings { max_steps: MAX_CYCLES, warp_size, traced };
    let outcome =
        oracle::run_with(kernel, launch, &settings).map_err(|e| format!("the oracle: {e}"))?;
    let walk = |trace: &Vec<u32>| {
        let mut walk = Walk::default();
        trace.iter().for_each(|&source| walk.step(source));
        walk
    };
    Ok(Expected { memory: outcome.buffers, walks: outcome.traces.iter().map(walk).collect() })
}

fn compare_modes(
    kernel: &Kernel,
    launch: &Launch,
    spec: &Machine,
    order: SideOrder,
    expected: &Expected,
    (communicates, ordered): (bool, bool),
) -> Result<(), String> {
    let mut issued = Vec::new();
    for mode in support::MODES {
        let options = support::options(mode, order, MAX_CYCLES);
        let prove = |code: &Code| {
            let seen = run(code, launch, spec, &options, communicates)?;
            let seen = judge(seen, spec, launch, expected, ordered && !code.is_machine_code())?;
            if order == SideOrder::Fewer {
                for jobs in [1, 2, 4] {
                    let again = run_on(&Threads(jobs), code, launch, spec, &options, communicates)?;
                    if again != seen {
                        return Err(format!("another run, with {jobs} jobs, differs"));
                    }
                }
            }
            Ok(seen)
        };
        let seen = prove(&as_written(kernel, spec, &options))
            .map_err(|e| format!("{}: {e}", mode.name()))?;
        let lowered = ptxas::compile(kernel, &Target::new(spec, true), mode);
        if lowered.is_machine_code() {
            prove(&lowered).map_err(|e| format!("{}, machine instructions: {e}", mode.name()))?;
        }
        issued.push((seen.totals.steps_executed, seen.totals.inst_executed));
    }
    if !ordered {
        return Ok(());
    }
    let code = as_written(kernel, spec, &support::options(Mode::Volta, order, MAX_CYCLES));
    let has = |such: fn(ConvergenceOp) -> bool| {
        code.ops().iter().any(|s| matches!(s.inst.op, Op::Join(op) if such(op)))
    };
    if has(|op| op == ConvergenceOp::Yield) {
        // Nobody waits for those that yield: the law is about the same code without.
        let options = Options { yields: false, ..support::options(Mode::Volta, order, MAX_CYCLES) };
        let code = as_written(kernel, spec, &options);
        let seen =
            judge(run(&code, launch, spec, &options, communicates)?, spec, launch, expected, true)?;
        issued[1] = (seen.totals.steps_executed, seen.totals.inst_executed);
    }
    let [(steps, insts), (volta_steps, volta_insts)] = [issued[0], issued[1]];
    // Where lanes turn away from a place at which others meet, volta mode brings these together
    // sooner.
    let turns = has(|op| matches!(op, ConvergenceOp::Break(_)));
    let fits =
        if turns { volta_steps <= steps && volta_insts <= insts } else { issued[0] == issued[1] };
    if !fits {
        return Err(format!(
            "(steps, machine instructions) issued: {:?} pre-volta, {:?} volta",
            issued[0], issued[1]
        ));
    }
    Ok(())
}

fn run(
    code: &Code,
    launch: &Launch,
    spec: &Machine,
    options: &Options,
    communicates: bool,
) -> Result<Seen, String> {
    run_on(&(), code, launch, spec, options, communicates)
}

fn run_on(
    host: &dyn Host,
    code: &Code,
    launch: &Launch,
    spec: &Machine,
    options: &Options,
    communicates: bool,
) -> Result<Seen, String> {
    let blocks = launch.grid.iter().product();
    let threads = launch.block.iter().product();
    let observers = || {
        let books =
            (Ledger::new(spec.schedulers), Walks::new(code, spec.warp_size, blocks, threads));
        (Counts::of_code(code, spec.warp_size), books)
    };
    let outcome = machine::run(code, launch.clone(), spec, options, host, observers)
        .map_err(|e| e.to_string())?;
    if !matches!(outcome.finish, Finish::Ok) {
        return Err(format!("the run ends in {:?}", outcome.finish));
    }
    if outcome.interleaved != (communicates && outcome.active_sms > 1) {
        return Err(format!("interleaved: {}, communicates: {communicates}", outcome.interleaved));
    }
    let (counts, (ledger, walks)) = outcome.observer;
    let memory = outcome.launch.buffers.into_iter().map(|b| b.words).collect();
    Ok(Seen { memory, totals: counts.finish(), ledger, walks })
}

/// Holds one run against the oracle and the books. `walked`: it numbers instructions as the oracle
/// does.
fn judge(
    seen: Seen,
    spec: &Machine,
    launch: &Launch,
    expected: &Expected,
    walked: bool,
) -> Result<Seen, String> {
    for ((buffer, found), wanted) in launch.buffers.iter().zip(&seen.memory).zip(&expected.memory) {
        if let Some(i) = (0..wanted.len()).find(|&i| found.get(i) != wanted.get(i)) {
            return Err(format!(
                "{}[{i}] is {:?}, the oracle's is {:?}",
                buffer.name,
                found.get(i),
                wanted.get(i)
            ));
        }
    }
    let threads: u32 = launch.block.iter().product();
    for (i, (found, wanted)) in seen.walks.all().iter().zip(&expected.walks).enumerate() {
        if walked && found != wanted {
            let (block, thread) = (i as u32 / threads, i as u32 % threads);
            return Err(format!(
                "thread {thread} of block {block} walked {found:?}, the oracle {wanted:?}"
            ));
        }
    }
    if let Some(fault) = seen.ledger.faults().first() {
        return Err(format!("the books do not add up: {fault}"));
    }
    let totals = &seen.totals;
    let warps = u64::from(threads.div_ceil(spec.warp_size))
        * launch.grid.iter().map(|&n| u64::from(n)).product::<u64>();
    let sums = [
        ("slots", totals.slots_total(), totals.active_cycles * u64::from(spec.schedulers)),
        ("warp cycles", totals.slots_used + totals.stalled_total(), totals.resident_warp_cycles),
        ("warps started", totals.warps, warps),
        ("warps ended", seen.ledger.ended(), warps),
    ];
    for (what, found, wanted) in sums {
        if found != wanted {
            return Err(format!("{what}: the sum is {found}, not {wanted}"));
        }
    }
    Ok(seen)
}
