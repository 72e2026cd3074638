//! How many registers a thread holds at once.

use super::graph::{blocks, successors};
use super::operands::Numbering;
use super::{BasicBlock, Bits};
use crate::kernel::{Inst, Op, Register, Registers};

/// The largest number of 32-bit registers that are live at once (a 64-bit row counts two, a predicate none).
///
/// A guarded write keeps the old value alive; a result that nobody reads still needs a register when it is written. A compiler
/// needs a few more (addresses, copies) or fewer (rematerialisation): this is an estimate for occupancy, not ptxas's figure.
/// Immediates and special registers do not count.
pub fn register_pressure(insts: &[Inst], registers: &Registers) -> u32 {
    Liveness::new(insts, registers).pressure
}

/// What is live where in a function, as far as others must know.
#[derive(Clone, Debug, Default)]
pub(in crate::kernel) struct Liveness {
    /// What [`register_pressure`] says.
    pub(in crate::kernel) pressure: u32,
    /// Registers that may be read before they are written.
    pub(in crate::kernel) at_entry: Vec<Register>,
    /// For each call: its instruction, the registers that are read after it, and what they cost.
    pub(in crate::kernel) across: Vec<(usize, Vec<Register>, u32)>,
}

impl Liveness {
    /// Backward data-flow over the basic blocks of one function; targets count from its first instruction.
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
        let mut changed = true;
        while changed {
            changed = false;
            for block in blocks.iter().rev() {
                let mut live = live_out(&live_in, block);
                for i in block.range().rev() {
                    step_back(&insts[i], numbering, &mut live);
                }
                changed |= live_in[block.id.index()].union(&live);
            }
        }
        let cost = |live: &Bits| live.iter().map(|n| numbering.cost(n)).sum::<u32>();
        let list = |live: &Bits| live.iter().map(|n| numbering.register(n)).collect::<Vec<_>>();
        let mut out = Liveness { at_entry: live_in.first().map(list).unwrap_or_default(), ..Liveness::default() };
        for block in blocks.iter().filter(|b| b.reachable) {
            let mut live = live_out(&live_in, block);
            for i in block.range().rev() {
                if matches!(insts[i].op, Op::Call(_)) {
                    out.across.push((i, list(&live), cost(&live)));
                }
                let mut with_results = live.clone();
                for &register in &insts[i].writes {
                    with_results.insert(numbering.number(register));
                }
                step_back(&insts[i], numbering, &mut live);
                out.pressure = out.pressure.max(cost(&with_results)).max(cost(&live));
            }
        }
        out
    }
}

/// From what is live behind an instruction to what is live before it.
fn step_back(inst: &Inst, numbering: Numbering, live: &mut Bits) {
    if inst.guard.is_none() {
        for &register in &inst.writes {
            live.remove(numbering.number(register));
        }
    }
    for &register in &inst.reads {
        live.insert(numbering.number(register));
    }
}
