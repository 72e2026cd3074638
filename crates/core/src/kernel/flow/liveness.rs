//! Liveness analysis and register pressure.

use super::BasicBlock;
use super::blocks::{blocks, successors};
use super::operands::Numbering;
use crate::graph::Bits;
use crate::kernel::{Inst, Op, Register, Registers};

/// Returns the maximum number of 32-bit registers live at once.
///
/// A 64-bit register counts two, a predicate none. A guarded write keeps the old value alive. An
/// unread result still needs a register when it is written. Immediates and special registers do not
/// count. A compiler needs a few more (addresses, copies) or fewer (rematerialisation): this is an
/// estimate for occupancy, not ptxas's figure.
pub fn register_pressure(insts: &[Inst], registers: &Registers) -> u32 {
    Liveness::new(insts, registers).pressure
}

/// Liveness facts of a function.
#[derive(Clone, Debug, Default)]
pub(in crate::kernel) struct Liveness {
    /// Result of [`register_pressure`].
    pub(in crate::kernel) pressure: u32,
    /// Registers that may be read before they are written.
    pub(in crate::kernel) at_entry: Vec<Register>,
    /// Instruction of each call, with the registers read after it and their cost.
    pub(in crate::kernel) across: Vec<(usize, Vec<Register>, u32)>,
    /// Maximum cost, at any one point, of values in registers that some call must preserve.
    pub(in crate::kernel) held: u32,
}

impl Liveness {
    /// Analyses one function backwards; targets count from its first instruction.
    pub(in crate::kernel) fn new(insts: &[Inst], registers: &Registers) -> Liveness {
        let (blocks, _) = blocks(insts);
        let graph = successors(&blocks);
        let numbering = Numbering::new(registers);
        let mut live_in = vec![Bits::new(numbering.len()); blocks.len()];
        let live_out = |live_in: &[Bits], block: &BasicBlock| {
            let mut live = Bits::new(numbering.len());
            for &next in &graph[block.id.index()] {
                live.union(&live_in[next]);
            }
            live
        };
        // Starts with the last block, and repeats predecessors when more becomes live.
        let mut open: Vec<usize> = (0..blocks.len()).collect();
        let mut queued: Bits = open.iter().copied().collect();
        while let Some(b) = open.pop() {
            queued.remove(b);
            let mut live = live_out(&live_in, &blocks[b]);
            for i in blocks[b].range().rev() {
                step_back(&insts[i], numbering, &mut live);
            }
            if live_in[b].union(&live) {
                open.extend(
                    blocks[b].predecessors.iter().map(|p| p.index()).filter(|&p| queued.insert(p)),
                );
            }
        }
        let cost = |live: &Bits| live.iter().map(|n| numbering.cost(n)).sum::<u32>();
        let list = |live: &Bits| live.iter().map(|n| numbering.register(n)).collect::<Vec<_>>();
        let mut out = Liveness {
            at_entry: live_in.first().map(list).unwrap_or_default(),
            ..Liveness::default()
        };
        for block in blocks.iter().filter(|b| b.reachable) {
            let mut live = live_out(&live_in, block);
            let mut held = cost(&live);
            for i in block.range().rev() {
                if matches!(insts[i].op, Op::Call(_)) {
                    out.across.push((i, list(&live), held));
                }
                let results = insts[i].writes.iter().map(|&register| numbering.number(register));
                let unread =
                    results.filter(|&n| !live.contains(n)).map(|n| numbering.cost(n)).sum::<u32>();
                let with_results = held + unread;
                let (born, dead) = step_back(&insts[i], numbering, &mut live);
                held = held + born - dead;
                out.pressure = out.pressure.max(with_results).max(held);
            }
        }
        let kept: Bits =
            out.across.iter().flat_map(|(_, live, _)| live).map(|&r| numbering.number(r)).collect();
        let kept_cost = |live: &Bits| {
            live.iter().filter(|&n| kept.contains(n)).map(|n| numbering.cost(n)).sum::<u32>()
        };
        for block in blocks.iter().filter(|b| b.reachable && !out.across.is_empty()) {
            let mut live = live_out(&live_in, block);
            out.held = out.held.max(kept_cost(&live));
            for i in block.range().rev() {
                step_back(&insts[i], numbering, &mut live);
                out.held = out.held.max(kept_cost(&live));
            }
        }
        out
    }
}

/// Steps liveness back over an instruction.
///
/// Returns the cost of values live only before it, and of values live only after it.
fn step_back(inst: &Inst, numbering: Numbering, live: &mut Bits) -> (u32, u32) {
    let (mut born, mut dead) = (0, 0);
    if inst.guard.is_none() {
        for n in inst.writes.iter().map(|&register| numbering.number(register)) {
            if live.contains(n) {
                live.remove(n);
                dead += numbering.cost(n);
            }
        }
    }
    for n in inst.reads.iter().map(|&register| numbering.number(register)) {
        if live.insert(n) {
            born += numbering.cost(n);
        }
    }
    (born, dead)
}
