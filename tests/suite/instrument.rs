//! Probes: the simulator's own counts of every branch and block equal those of the probes in the
//! program's text, for every program of the repository in both modes, in numbers and in the order
//! of sides.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::test_runner::{TestCaseError, TestRunner};
use simt_core::Program;
use simt_core::divergence::SideOrder;
use simt_core::launch::Overrides;
use simt_core::machine::Finish;
use simt_core::spec::{Machine, Mode};
use simt_gpu::crosscheck::suite::leaves_stamps;
use simt_gpu::instrument::{Log, instrument, measure, witness};
use simt_gpu::{DivergenceRecord, Explanations};

use super::generated::any_program;
use super::support::{self, MODES, cases, changed, launch, machine, options};

/// Size of the log: enough to show the order in several blocks.
const LOG: Log = Log { warps: 8, events: 100 };

/// What a GPU counted.
const RECORDS: &str = "crates/gpu/observations/h200/divergence";

/// Returns every program under a folder, sorted, without those of `calibrate` and those that leave
/// clock stamps: probes change what the clock says.
fn programs(folder: &str) -> Vec<PathBuf> {
    let mut found = support::texts(folder);
    found.retain(|path| !path.starts_with("programs/calibrate") && !leaves_stamps(path));
    found
}

/// Programs whose lanes leave a compare-and-swap loop one after another: the winner of a round
/// depends on arrival times, and probes take time.
const CONTENDED: [&str; 2] = ["arrive_and_leave.ir", "labeled_partition_after_a_loop.ir"];

/// Programs with a `.sync` in a branch that names both sides: a probe between them decides which
/// side is first.
const PARTED: [&str; 2] = ["shuffle_partial.ir", "shuffles_in_both_arms.ir"];

/// Returns launch options that make large programs small.
fn small(program: &Program) -> Overrides {
    let large =
        program.plan.constants().any(|name| name == "n") && program.text.contains("n = 1 <<");
    let set = if large { vec![("n".to_string(), "1 << 13".to_string())] } else { Vec::new() };
    Overrides { set, ..Overrides::default() }
}

/// Describes the difference between the two counts of a program; adds the compared branches to
/// `branches`.
fn disagreement(
    program: &Program,
    spec: &Machine,
    mode: Mode,
    branches: &mut usize,
) -> Result<(), String> {
    let (kernel, launch) = launch(program, &small(program))?;
    let options = options(mode, spec.side_order(), 20_000_000);
    let probes = instrument(&program.module, spec.warp_size, Some(LOG));
    let own =
        witness(kernel, launch.clone(), spec, &options, &probes).map_err(|e| e.to_string())?;
    if !matches!(own.finish, Finish::Ok) {
        return Ok(()); // hangs are not proved while probes count
    }
    let probed = measure(kernel, launch, spec, &options, &probes).map_err(|e| e.to_string())?;
    *branches += own.divergence.branches.len();
    if own.divergence == probed.divergence && own.sequences == probed.sequences {
        return Ok(());
    }
    let mut wrong = vec![format!(
        "{} {} {}: ends {:?}",
        program.name,
        spec.name,
        mode.name(),
        probed.finish.name()
    )];
    let (a, b) = (&own.divergence, &probed.divergence);
    let branches = a.branches.iter().zip(&b.branches).filter(|(a, b)| a != b);
    wrong.extend(branches.map(|(a, b)| format!("  {a:?}\n  {b:?}")));
    let blocks = a.blocks.iter().zip(&b.blocks).filter(|(a, b)| a != b);
    wrong.extend(blocks.map(|(a, b)| format!("  {a:?}\n  {b:?}")));
    Err(wrong.join("\n"))
}

#[test]
#[ignore = "long: every program"]
fn long_probes_count_what_the_simulator_counts() {
    let (mut wrong, mut branches) = (Vec::new(), 0);
    for path in ["programs", "tests/calls", "tests/regressions"].into_iter().flat_map(programs) {
        // How often a barrier of the grid is tested depends on time.
        let spins = path.ends_with("reduce_grid.ptx");
        if spins || CONTENDED.iter().chain(&PARTED).any(|name| path.ends_with(name)) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a readable file");
        let program = Program::parse(&path.display().to_string(), &text);
        for mode in MODES {
            wrong.extend(
                disagreement(&program, &machine(mode.default_machine()), mode, &mut branches)
                    .map_err(|e| format!("{}: {e}", path.display()))
                    .err(),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(branches > 150, "only {branches} branches were compared");
}

#[test]
fn probes_count_what_the_simulator_counts_of_generated_programs() {
    generated_programs(10);
}

#[test]
#[ignore = "long: 60 programs"]
fn long_probes_count_what_the_simulator_counts_of_generated_programs() {
    generated_programs(60);
}

fn generated_programs(number: u32) {
    let result = TestRunner::new(cases(number)).run(&any_program(), |generated| {
        let program = Program::parse("generated", &generated.print());
        for mode in MODES {
            let narrow = changed(&machine("teaching"), |m| (m.warp_size, m.max_warps) = (5, 32));
            for spec in [machine(mode.default_machine()), narrow] {
                disagreement(&program, &spec, mode, &mut 0).map_err(TestCaseError::fail)?;
            }
        }
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

/// Names, scopes and branches that could break a pass.
#[test]
fn probes_keep_out_of_the_way() {
    let text = "//! grid = 1
//! block = 32
//! buffer out: u32[32]
//! arg out = out
.func (.param .u32 r) probe_f(.param .u32 a)
{
    .reg .pred %probe_lead; .reg .u32 %a;
    ld.param.u32 %a, [a];
    st.param.u32 [r], %a;
    setp.lt.u32 %probe_lead, %a, 5;
    @%probe_lead ret;
    add.u32 %a, %a, 1;
    st.param.u32 [r], %a;
    ret;
}
.entry k(.param .u64 out)
{
    .reg .pred %p; .reg .u32 %i, %r; .reg .u64 %out;
    .param .u32 a, b;
    mov.u32 %i, %tid.x;
    st.param.u32 [a], %i;
    call.uni (b), probe_f, (a);
    ld.param.u32 %r, [b];
Again:
    { .reg .pred %p; setp.gt.u32 %p, %r, 20; @!%p bra Over; sub.u32 %r, %r, 1; setp.gt.u32 %p, %r, 25; @%p bra Again; }
Over:
    ld.param.u64 %out, [out];
    mad.wide.u32 %out, %i, 4, %out;
    st.global.u32 [%out], %r;
    setp.eq.u32 %p, %i, 3;
    @%p exit;
    ret;
}
";
    let program = Program::parse("names.ir", text);
    let mut branches = 0;
    for mode in MODES {
        disagreement(&program, &machine(mode.default_machine()), mode, &mut branches)
            .expect("agreement");
    }
    assert_eq!(branches, 6, "the guarded `ret` of the function and two branches, in each mode");
}

/// Returns the lines whose counts on the GPU differ from the simulator's.
fn differing(path: &Path, record: &DivergenceRecord) -> Result<Vec<u32>, String> {
    let text = fs::read_to_string(path).map_err(|e| e.to_string())?;
    let program = Program::parse(&path.display().to_string(), &text);
    let known: Vec<&str> = program.plan.constants().collect();
    let constants = record.constants.iter().filter(|(name, _)| known.contains(&name.as_str()));
    let set = constants.map(|(name, value)| (name.clone(), value.to_string())).collect();
    let (kernel, launch) = launch(&program, &Overrides { set, ..Overrides::default() })?;
    record
        .is_of(&text, &launch)
        .map_err(|e| format!("{e}: record it with `simt-sim crosscheck --divergence --record`"))?;
    let spec = machine("h200");
    let options = options(Mode::Volta, SideOrder::Fewer, 20_000_000);
    let (warps, events) = record.log;
    let probes = instrument(&program.module, spec.warp_size, Some(Log { warps, events }));
    let own = witness(kernel, launch, &spec, &options, &probes).map_err(|e| e.to_string())?;
    Ok(record.differing(matches!(own.finish, Finish::Ok).then_some(&own.divergence)))
}

#[test]
fn the_gpu_counts_what_the_simulator_counts_or_the_difference_is_explained() {
    let read = |path: &Path| {
        fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    let explained = Explanations::parse(&read(&Path::new(RECORDS).join("explained.ron")))
        .expect("explanations");
    let (mut wrong, mut names) = (Vec::new(), Vec::new());
    for path in programs("programs") {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_string();
        let record =
            DivergenceRecord::parse(&read(&Path::new(RECORDS).join(format!("{name}.ron"))));
        match record.and_then(|record| differing(&path, &record)) {
            Err(e) => wrong.push(format!("{name}: {e}")),
            Ok(lines) => {
                let judged = explained.judge(&name, &lines);
                if !judged.unexplained.is_empty() {
                    wrong.push(format!(
                        "{name}: lines {:?} differ, unexplained",
                        judged.unexplained
                    ));
                }
                if !judged.needless.is_empty() {
                    wrong.push(format!(
                        "{name}: lines {:?} no longer differ; drop the explanation",
                        judged.needless
                    ));
                }
            }
        }
        names.push(name);
    }
    for explanation in explained.0.iter().filter(|e| !names.contains(&e.program)) {
        wrong.push(format!("{}: explained, and there is no such program", explanation.program));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
