//! Reports of texts that ask for too much; the core's own tests have most of them
//! (`crates/core/tests/model/limits.rs`).

use std::fs;

use simt_core::launch::Overrides;
use simt_core::machine::{Options, Timing};
use simt_core::spec::Mode;
use simt_core::{Job, Program};
use simt_report::simulate;
use simt_threads::Threads;

use super::support;

/// Returns a kernel with these statements, whose lanes diverge by `%p`.
fn kernel(statements: &str) -> String {
    format!(
        "//! grid = 1\n//! block = 32\n.visible .entry k()\n{{\n.reg .pred %p;\n.reg .u32 %r<4>;\n.reg .u64 %d<2>;\n\
        mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p, %r1, 7;\n{statements}\nret;\n}}\n"
    )
}

fn many(n: usize, piece: impl Fn(usize) -> String) -> String {
    (0..n).map(piece).collect()
}

/// Each step told the whole of its line: what 10,000 instructions on one line took grew with their
/// square.
#[test]
fn a_line_may_hold_many_instructions() {
    let report = |between: &str| {
        let text = kernel(&many(4_000, |_| format!("add.u32 %r0, %r1, 1;{between}")));
        let program = Program::parse("line.ir", &text);
        let (kernel, launch) =
            support::launch(&program, &Overrides::default()).expect("a sound program");
        let machine = support::machine("teaching");
        let options =
            support::options(Mode::Volta, simt_core::divergence::SideOrder::Fewer, 1_000_000);
        let run =
            simulate::simulate(Job::new(&program, kernel, launch, &machine, options.clone()), &())
                .expect("it fits")
                .run;
        let texts = run.instructions.iter().map(|row| row.text.clone()).collect::<Vec<_>>();
        (texts, run.to_json().expect("JSON").len())
    };
    let ((on_one_line, one), (on_many, many)) = (report(" "), report("\n"));
    assert_eq!(on_one_line, on_many);
    assert!(one < many + many / 10, "{one} bytes of report, and {many} with a line each");
}

/// A loop that writes memory proves nothing: it ends at an instruction limit, the same on every
/// host.
#[test]
fn an_endless_loop_is_given_up() {
    let text = fs::read_to_string("tests/inputs/endless_writes.ir").expect("a program");
    let program = Program::parse("endless_writes.ir", &text);
    let overrides = Overrides { grid: Some([200, 1, 1]), ..Overrides::default() };
    let (kernel, launch) = support::launch(&program, &overrides).expect("a sound program");
    let ended = |jobs| {
        let options = Options {
            max_issues: 100_000,
            timing: Timing::Cycles,
            ..support::options(Mode::Volta, simt_core::divergence::SideOrder::Fewer, u64::MAX)
        };
        let machine = support::machine("h200");
        let job = Job::new(&program, kernel, launch.clone(), &machine, options);
        let done = simulate::simulate(job, &Threads::new(jobs));
        let run = done.expect("it fits").run;
        let verdict = run.verdict.clone().expect("a verdict");
        assert!(
            verdict.message.starts_with("gave up after 758 instructions issued on sm"),
            "{}",
            verdict.message
        );
        assert!(verdict.help.expect("help").contains("--max-cycles"));
        (run.finish, run.to_json().expect("JSON"))
    };
    let alone = ended(1);
    assert_eq!(alone.0, simt_report::Ending::CycleLimit);
    assert!(alone == ended(2), "another number of jobs gives another report");
}
