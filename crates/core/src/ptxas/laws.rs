//! Properties of control flow in both modes.
//!
//! They are checked on all small graphs, and on samples of larger graphs and of structured
//! programs. Each program runs three times with the same choices: lane by lane on the instructions,
//! and as a warp on the stream of each mode. Every branch consumes a choice of its lane; a lane
//! without choices left takes the shortest path to an exit.

mod programs;

use std::collections::BTreeMap;

use super::barriers;
use super::place::{Step, Stream, place};
use crate::base::{LaneMask, Pc};
use crate::code::Scheme;
use crate::divergence::{Flow, SideOrder, WarpControl};
use crate::kernel::{ControlFlow, ConvergenceOp, Inst, Op};
use programs::{Random, graphs, insts_of_graph, registers, structured};

const SCHEMES: [Scheme; 2] = [Scheme::Stack, Scheme::Barriers];
const STEP_LIMIT: usize = 2000;

/// An analysed program.
struct Program {
    insts: Vec<Inst>,
    flow: ControlFlow,
    streams: [Stream; 2],
    /// True for each branch whose target is nearer to an exit than the fall-through.
    exits_by_target: Vec<bool>,
    exits: bool,
}

impl Program {
    fn new(insts: Vec<Inst>, merges: bool) -> Program {
        let flow = ControlFlow::build(&insts, &[], &registers());
        let streams = SCHEMES.map(|scheme| {
            let placed = barriers::place(&flow, merges);
            place(&insts, &[], &flow, &placed, scheme, true)
        });
        let distance = distances(&insts);
        let target =
            |i: &Inst| if let Op::Branch { target, .. } = i.op { target.index() } else { 0 };
        let nearer = |(n, i): (usize, &Inst)| {
            distance[target(i)] < distance.get(n + 1).copied().unwrap_or(u32::MAX)
        };
        let exits_by_target = insts.iter().enumerate().map(nearer).collect();
        let exits = distance[0] != u32::MAX;
        Program { insts, flow, streams, exits_by_target, exits }
    }

    /// Returns true if a lane branches at instruction `at`, and counts the choice as used.
    fn branches(&self, at: usize, choices: u32, length: u32, used: &mut u32) -> bool {
        let Some(_) = self.insts[at].guard else { return true };
        let taken =
            if *used < length { choices >> *used & 1 == 1 } else { self.exits_by_target[at] };
        *used += 1;
        taken
    }

    /// Returns the instructions that one lane executes alone; `None` if it does not end.
    fn alone(&self, choices: u32, length: u32) -> Option<Vec<u32>> {
        let (mut at, mut used, mut trace) = (0, 0, Vec::new());
        while trace.len() < STEP_LIMIT / 8 {
            trace.push(at as u32);
            at = match self.insts[at].op {
                Op::Exit => return Some(trace),
                Op::Branch { target, .. } if self.branches(at, choices, length, &mut used) => {
                    target.index()
                }
                _ => at + 1,
            };
        }
        None
    }
}

/// Returns the number of steps from each instruction to the nearest exit.
fn distances(insts: &[Inst]) -> Vec<u32> {
    let mut distance = vec![u32::MAX; insts.len()];
    for _ in 0..insts.len() {
        for (n, inst) in insts.iter().enumerate() {
            let onwards = |n: usize| distance.get(n).copied().unwrap_or(u32::MAX).saturating_add(1);
            distance[n] = match inst.op {
                Op::Exit => 0,
                Op::Branch { target, .. } if inst.guard.is_none() => onwards(target.index()),
                Op::Branch { target, .. } => onwards(target.index()).min(onwards(n + 1)),
                _ => onwards(n + 1),
            };
        }
    }
    distance
}

/// Number of issues of each instruction.
type Issues = BTreeMap<u32, u32>;

/// Runs a warp and checks every property that needs no second run.
fn run(
    p: &Program,
    mode: usize,
    order: SideOrder,
    lanes: &[(u32, u32)],
    alone: &[Vec<u32>],
) -> Result<Issues, String> {
    let all = LaneMask::first_n(lanes.len() as u32);
    let stream = &p.streams[mode];
    let mut warp = match SCHEMES[mode] {
        Scheme::Stack => WarpControl::stack(all, stream.entry, order),
        _ => WarpControl::independent(all, stream.entry, order),
    };
    let (mut used, mut done, mut gone) =
        (vec![0; lanes.len()], vec![0; lanes.len()], LaneMask::EMPTY);
    let mut issues = Issues::new();
    let bound = p.flow.branches().len() + lanes.len();
    for _ in 0..STEP_LIMIT {
        let Some((pc, active)) = warp.active() else {
            let finished = warp.live().is_empty()
                && done.iter().zip(alone).all(|(&n, trace)| n == trace.len());
            return if finished {
                Ok(issues)
            } else {
                Err(format!("stuck: {:?} {:?}", warp.groups(), warp.joins()))
            };
        };
        if active.intersects(gone) || active.is_empty() {
            return Err(format!("lanes {active} at {pc}, but {gone} have exited"));
        }
        let groups = warp.groups();
        let covered = groups.iter().fold(LaneMask::EMPTY, |sum, g| sum | g.lanes);
        let counted: u32 = groups.iter().map(|g| g.lanes.count()).sum();
        if covered != warp.live() || counted != covered.count() || covered != all - gone {
            return Err(format!("groups do not partition the live lanes: {groups:?}"));
        }
        if warp.depth() > bound {
            return Err(format!("depth {} over {bound}: {groups:?}", warp.depth()));
        }
        let step = &stream.steps[pc.index()];
        if let Some(source) = step.source {
            *issues.entry(source).or_default() += 1;
            for lane in active.lanes().map(|l| l as usize) {
                if alone[lane].get(done[lane]) != Some(&source) {
                    return Err(format!(
                        "lane {lane} executes {source}, expected {:?}",
                        alone[lane]
                    ));
                }
                done[lane] += 1;
            }
        }
        warp.advance(match step.inst.op {
            Op::Join(ConvergenceOp::Set(join)) => Flow::Set { join, next: step.next },
            Op::Join(ConvergenceOp::Sync(join)) => Flow::Sync { join, next: step.next },
            Op::Join(ConvergenceOp::Break(join)) => Flow::Break { join, next: step.next },
            Op::Join(ConvergenceOp::Yield) => Flow::Yield { next: step.next },
            Op::Exit => {
                gone |= active;
                Flow::Exit { lanes: active, next: step.next }
            }
            Op::Branch { target, .. } => {
                let at = step.source.map_or(0, |s| s as usize);
                let mut taken = LaneMask::EMPTY;
                for lane in active.lanes() {
                    let (choices, length) = lanes[lane as usize];
                    if p.branches(at, choices, length, &mut used[lane as usize]) {
                        taken |= LaneMask::lane(lane);
                    }
                }
                Flow::Branch { taken, target, next: step.next, reconverge: step.reconverge }
            }
            _ => Flow::Next { next: step.next },
        });
    }
    Err(format!("no end after {STEP_LIMIT} steps: {:?} {:?}", warp.groups(), warp.joins()))
}

fn check(p: &Program, order: SideOrder, lanes: &[(u32, u32)]) -> Option<[Issues; 2]> {
    let alone: Vec<Vec<u32>> = lanes.iter().map(|&(c, l)| p.alone(c, l)).collect::<Option<_>>()?;
    Some([0, 1].map(|mode| {
        run(p, mode, order, lanes, &alone).unwrap_or_else(|fault| {
            panic!("{:?}, {order:?}, choices {lanes:?}: {fault}\n{}", SCHEMES[mode], show(p, mode));
        })
    }))
}

fn show(p: &Program, mode: usize) -> String {
    let line = |(n, s): (usize, &Step)| {
        let op = match s.inst.op {
            Op::Branch { target, .. } => {
                format!("bra {target}{}", if s.inst.guard.is_some() { "?" } else { "" })
            }
            Op::Join(j) => format!("{j:?}"),
            Op::Exit => "exit".to_string(),
            _ => "work".to_string(),
        };
        format!(
            "{}: {op} -> {} join {:?} source {:?}\n",
            Pc(n as u32),
            s.next,
            s.reconverge,
            s.source
        )
    };
    let branches = p.flow.branches().iter().map(|b| format!("{b:?}\n"));
    let steps = p.streams[mode].steps.iter().enumerate().map(line);
    branches.chain(steps).chain([format!("entry {}", p.streams[mode].entry)]).collect()
}

const ORDERS: [SideOrder; 6] = [
    SideOrder::Fewer,
    SideOrder::Taken,
    SideOrder::FallThrough,
    SideOrder::More,
    SideOrder::Random(1),
    SideOrder::Random(2),
];

/// Returns all sets of three different lists of three choices.
fn triples() -> Vec<[(u32, u32); 3]> {
    let mut out = Vec::new();
    for a in 0..8 {
        for b in a + 1..8 {
            out.extend((b + 1..8).map(|c| [(a, 3), (b, 3), (c, 3)]));
        }
    }
    out
}

/// All graphs of up to four blocks, three lanes with different choices, all orders.
#[test]
fn all_small_graphs_keep_the_laws_in_every_order() {
    let (triples, mut programs, mut runs) = (triples(), [0; 4], 0);
    for blocks in 1..=4 {
        for graph in graphs(blocks) {
            for bare in [false, true] {
                let p = Program::new(insts_of_graph(&graph, bare), true);
                programs[blocks - 1] += usize::from(p.exits && bare);
                for lanes in triples.iter().filter(|_| p.exits) {
                    for order in ORDERS {
                        runs += usize::from(check(&p, order, lanes).is_some());
                    }
                }
            }
        }
    }
    // Counted independently: graphs with a reachable exit, all blocks reachable, up to renaming.
    assert_eq!(programs, [1, 4, 49, 948]);
    assert!(runs > 600_000, "{runs}");
}

#[test]
fn sampled_graphs_of_five_to_nine_blocks_keep_the_laws() {
    let (mut random, mut runs) = (Random(5), 0);
    for n in 0..6000 {
        let graph = programs::sample(&mut random, 5 + n % 5);
        let p = Program::new(insts_of_graph(&graph, n % 2 == 0), n % 4 < 2);
        for _ in 0..4 {
            let lanes: Vec<(u32, u32)> = (0..4).map(|_| (random.next() as u32, 12)).collect();
            runs += usize::from(check(&p, ORDERS[n % ORDERS.len()], &lanes).is_some());
        }
    }
    assert!(runs > 10_000, "{runs}");
}

/// Both modes issue every instruction of a structured program equally often.
///
/// The exception is a program whose lanes bypass a merge: barriers reconverge the other lanes
/// sooner than the stack. In both modes, instructions at the top level issue once, for all live
/// lanes.
#[test]
fn structured_programs_cost_the_same_in_both_modes() {
    let (mut random, mut runs) = (Random(11), 0);
    for n in 0..4000 {
        let (insts, top_level, text) = structured(&mut random, n % 3 != 0);
        let p = Program::new(insts, n % 2 == 0);
        for round in 0..4 {
            let lanes: Vec<(u32, u32)> = (0..4).map(|_| (random.next() as u32, 12)).collect();
            let order = ORDERS[(n + round) % ORDERS.len()];
            let Some([stack, barriers]) = check(&p, order, &lanes) else { continue };
            runs += 1;
            let bypasses = p.streams[1]
                .steps
                .iter()
                .any(|step| matches!(step.inst.op, Op::Join(ConvergenceOp::Break(_))));
            let no_more = || {
                barriers.iter().all(|(at, times)| stack.get(at).is_some_and(|known| times <= known))
            };
            let fits = if bypasses { no_more() } else { stack == barriers };
            assert!(fits, "\n{text}\n{order:?} {lanes:?}\n{}\n{}", show(&p, 0), show(&p, 1));
            // Threads that return early execute the last instruction, an exit, separately.
            let returns = usize::from(n % 3 != 0);
            for at in &top_level[..top_level.len() - returns] {
                let times = barriers.get(at).copied().unwrap_or(0);
                assert!(
                    times <= 1,
                    "{at} issued {times} times\n{text}\n{lanes:?}\n{}",
                    show(&p, 1)
                );
            }
        }
    }
    assert!(runs > 5000, "{runs}");
}
