//! Lowering of matrix products of warpgroups.

use super::super::body::{Body, Origin};
use super::super::operands::{Arg, Args, Product, Value};
use super::matrix::fragment;
use crate::diag::Diagnostic;
use crate::isa::FormMatch;
use crate::kernel::{
    Accumulate, Combine, Descriptor, GroupFactor, GroupMma, GroupSync, Op, Register, Row, Special,
};
use crate::ptx::tree::{Instruction, Operand};

/// Returns the descriptor in a 64-bit register or literal.
fn descriptor(value: Value) -> Descriptor {
    Descriptor { row: value.row, pair: false }
}

impl Body<'_> {
    /// Lowers `wgmma.mma_async`, or reports an error.
    pub(super) fn group_mma(
        &mut self,
        inst: &Instruction,
        m: &FormMatch<'_>,
        args: &Args,
        origin: Origin,
    ) {
        let product = Product::of(m);
        let d = fragment(args, 0);
        let mut reads = Vec::new();
        let a = match args.args.get(1) {
            Some(Arg::Value(value)) => {
                reads.extend(value.register);
                GroupFactor::Shared(descriptor(*value))
            }
            _ => {
                let held = fragment(args, 1);
                reads.extend(held.iter().filter_map(|value| value.register));
                let row = |i: usize| held.get(i).map_or(Row(0), |value| value.row);
                GroupFactor::Registers([row(0), row(1), row(2), row(3)])
            }
        };
        let b = args.value(2);
        reads.extend(b.register);
        let adds = match args.args.get(3) {
            Some(Arg::Predicate(p)) => {
                reads.push(Register::Predicate(p.predicate));
                Accumulate::If(*p)
            }
            Some(Arg::Truth(false)) => Accumulate::Never,
            _ => Accumulate::Always,
        };
        // With a predicate, C need not be set.
        if adds == Accumulate::Always {
            reads.extend(d.iter().filter_map(|value| value.register));
        }
        // The factors of A and B, then whether they are transposed: of A only if it is in memory.
        let mut flags = [false; 4];
        let held = matches!(a, GroupFactor::Registers(_));
        let places: &[usize] = if held { &[0, 1, 3] } else { &[0, 1, 2, 3] };
        for (i, arg) in args.args.iter().enumerate().skip(4) {
            let &Arg::Immediate(value) = arg else { break };
            let Some(&place) = places.get(i - 4) else { return self.superfluous(inst, i) };
            flags[place] = match (place < 2, value) {
                (true, 1) | (false, 0) => false,
                (true, -1) | (false, 1) => true,
                (signs, _) => {
                    let span = inst.operands.get(i).map_or(inst.span, Operand::span);
                    let allowed = if signs { "1 or -1" } else { "0 or 1" };
                    let message = format!("expected {allowed}, found {value}");
                    return self.report(Diagnostic::error("literal-range", span, message));
                }
            };
        }
        let [negated_a, negated_b, transposed_a, transposed_b] = flags;
        let rows: Vec<Row> = d.iter().map(|value| value.row).collect();
        let op = GroupMma {
            columns: product.shape[1] as u16,
            factors: product.factors,
            sum: product.sums[0],
            combine: if m.has("popc") { Combine::AndPopc } else { Combine::Multiply },
            saturates: m.has("satfinite"),
            a,
            b: descriptor(b),
            negated: [negated_a, negated_b],
            transposed: [transposed_a, transposed_b],
            adds,
            c: rows.clone(),
            d: rows,
            shared_base: 0,
            place: self.rows.special(Special::Warpgroup),
            commits: false,
        };
        self.emit(origin, Op::GroupMma(Box::new(op)), &reads, &args.writes);
    }

    fn superfluous(&mut self, inst: &Instruction, i: usize) {
        let span = inst.operands.get(i).map_or(inst.span, Operand::span);
        let message = "one operand too many: A in registers is not transposed";
        self.report(Diagnostic::error("operand-count", span, message));
    }

    /// Lowers `wgmma.fence`, `wgmma.commit_group` and `wgmma.wait_group`; `None` after reporting
    /// an error.
    pub(super) fn group_sync(
        &mut self,
        inst: &Instruction,
        m: &FormMatch<'_>,
        args: &Args,
    ) -> Option<Op> {
        if m.has("fence") {
            return Some(Op::GroupSync(GroupSync::Fence));
        }
        let Some(Arg::Immediate(_)) = args.args.first() else {
            return Some(Op::GroupSync(GroupSync::Commit));
        };
        self.groups(inst, args).map(|groups| Op::GroupSync(GroupSync::Wait(groups)))
    }
}
