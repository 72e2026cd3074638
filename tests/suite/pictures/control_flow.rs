//! Pictures of the control-flow graph, compared with the counters of the branches.

use simt_core::base::BlockId;
use simt_core::divergence::SideOrder;
use simt_core::launch::Overrides;
use simt_core::observe::Window;
use simt_core::spec::Mode;
use simt_core::{Job, Program};
use simt_report::plot::{self, Walk};
use simt_report::simulate::{simulate, walk};

use super::{LIMIT, number, read, rows};
use crate::support::{MODES, launch, machine, options, programs};

fn walked(program: &Program, mode: Mode, overrides: &Overrides, window: Option<&Window>) -> Walk {
    let spec = machine(mode.default_machine());
    let (kernel, launch) = launch(program, overrides).expect("a launch");
    let options = options(mode, SideOrder::Taken, LIMIT);
    walk(Job::new(program, kernel, launch, &spec, options), window, &()).expect("a block that fits")
}

/// Blocks entered and edges taken agree: lanes enter a block along an edge or by launch, and
/// branches diverge as often as the counters state.
#[test]
fn lanes_are_not_lost_in_the_graph() {
    let mut compared = 0;
    for path in programs("programs/small") {
        let program = read(path.to_str().expect("a name"));
        for mode in MODES {
            let (kernel, resolved) = launch(&program, &Overrides::default()).expect("a launch");
            let spec = machine(mode.default_machine());
            let threads: u64 =
                resolved.grid.iter().chain(&resolved.block).map(|&n| u64::from(n)).product();
            let run = simulate(
                Job::new(&program, kernel, resolved, &spec, options(mode, SideOrder::Taken, LIMIT)),
                &(),
            );
            let run = run.expect("a block that fits").run;
            // A stuck lane has left its block and arrived nowhere; functions are not entered along
            // edges.
            if run.finish.name() != "ok" || !kernel.functions.is_empty() {
                continue;
            }
            let walk = walked(&program, mode, &Overrides::default(), None);
            let table = plot::data_of_flows(std::slice::from_ref(&walk));
            let rows = rows(&table);
            let (blocks, edges): (Vec<_>, Vec<_>) =
                rows.iter().partition(|row| row["of"] == "block");
            let place = format!("{} {}", program.name, mode.name());
            for block in &blocks {
                let came = edges.iter().filter(|edge| edge["to"] == block["from"]);
                let came: u64 = came.map(|edge| number(edge, "lanes")).sum();
                let launched = if block["from"] == "bb0" { threads } else { 0 };
                assert_eq!(number(block, "lanes"), came + launched, "{place}: {}", block["from"]);
            }
            // Branches through a table do not have two sides.
            if !program.text.contains("brx.idx") {
                let metric = |name: &str| run.metric(name).map_or(0, |v| v.as_f64() as u64);
                let sum =
                    |column: &str| blocks.iter().map(|block| number(block, column)).sum::<u64>();
                assert_eq!(sum("diverged"), metric("divergent_branch"), "{place}");
                assert_eq!(sum("branched"), metric("conditional_branches"), "{place}");
            }
            compared += 1;
        }
    }
    assert!(compared > 60, "only {compared} graphs were compared");
}

/// 95 of 144 executions of the branch diverge in each block of 512 threads, and 511 additions are
/// made.
#[test]
fn a_window_of_the_graph_is_one_block_of_the_whole() {
    let program = read("programs/reduce_neighbored.ir");
    let set = Overrides { set: vec![("n".to_owned(), "4096".to_owned())], ..Overrides::default() };
    let window = Window { block: BlockId(3), warps: 0..16, cycles: 0..u64::MAX, limit: 1 };
    for (window, blocks) in [(Some(&window), 1), (None, 8)] {
        let walk = walked(&program, Mode::Volta, &set, window);
        let loop_head =
            walk.visits.iter().find(|visits| visits.diverged > 0).expect("a branch that parts");
        assert_eq!((loop_head.branched, loop_head.diverged), (144 * blocks, 95 * blocks));
        assert_eq!(loop_head.entered.lanes, 9 * 512 * blocks);
        let bodies = walk.passages.iter().filter(|passage| passage.lanes == 511 * blocks);
        assert_eq!(bodies.count(), 2, "into the body and out of it");
    }
}

/// ptxas pads its code, and guards exits instead of branching around the rest.
#[test]
fn machine_code_shows_its_exits_and_no_padding() {
    let file = "programs/sass/even_odd.sass";
    let graph = crate::cli::good(&["cfg", file, "--dot"]);
    assert!(graph.contains("unreachable"), "the code has padding: {graph}");
    let drawn = crate::cli::good(&["plot", "cfg", file]);
    assert!(drawn.contains("entered by 256 lanes in 8 warps; 128 lanes exit before its end"));
    assert!(!drawn.contains("unreachable"), "{drawn}");
}
