//! Lowering of asynchronous copies.

use super::super::body::Body;
use super::super::operands::{Arg, Args};
use crate::diag::Diagnostic;
use crate::isa::FormMatch;
use crate::kernel::{AsyncCopy, CopyGroups, Op, ValidBytes};
use crate::ptx::tree::{Instruction, Operand};

impl Body<'_> {
    /// Lowers `cp.async`; `None` after reporting an error.
    pub(super) fn async_copy(
        &mut self,
        inst: &Instruction,
        m: &FormMatch<'_>,
        args: &Args,
    ) -> Option<Op> {
        let bypass_l1 = m.has("cg");
        let (sizes, list): (&[i64], _) =
            if bypass_l1 { (&[16], "16") } else { (&[4, 8, 16], "4, 8 or 16") };
        let Some(Arg::Immediate(bytes)) = args.args.get(2) else { return None };
        if !sizes.contains(bytes) {
            let span = inst.operands.get(2).map_or(inst.span, Operand::span);
            let message = format!("`{}` copies {list} bytes, not {bytes}", inst.mnemonic.text);
            self.report(
                Diagnostic::error("literal-range", span, message).help(format!("use {list}")),
            );
            return None;
        }
        let (valid, ignore) = match args.args.get(3) {
            Some(Arg::Value(value)) => (ValidBytes::First(value.row), None),
            Some(Arg::Predicate(predicate)) => (ValidBytes::All, Some(*predicate)),
            _ => (ValidBytes::All, None),
        };
        Some(Op::AsyncCopy(Box::new(AsyncCopy {
            to: args.address(0),
            from: args.address(1),
            bytes: *bytes as u8,
            valid,
            ignore,
            bypass_l1,
        })))
    }

    /// Lowers `cp.async.commit_group`, `wait_group` and `wait_all`; `None` after reporting an
    /// error.
    pub(super) fn copy_groups(
        &mut self,
        inst: &Instruction,
        m: &FormMatch<'_>,
        args: &Args,
    ) -> Option<Op> {
        let Some(Arg::Immediate(_)) = args.args.first() else {
            let wait = m.has("wait_all");
            return Some(Op::CopyGroups(if wait {
                CopyGroups::WaitAll
            } else {
                CopyGroups::Commit
            }));
        };
        self.groups(inst, args).map(|groups| Op::CopyGroups(CopyGroups::Wait(groups)))
    }

    /// Returns the number of groups that the first operand names; `None` after reporting an error.
    pub(super) fn groups(&mut self, inst: &Instruction, args: &Args) -> Option<u32> {
        let Some(Arg::Immediate(groups)) = args.args.first() else { return None };
        let groups = u32::try_from(*groups).map_err(|_| {
            let span = inst.operands.first().map_or(inst.span, Operand::span);
            let message = format!("{groups} is no number of groups");
            Diagnostic::error("literal-range", span, message).help("use 0 to wait for all groups")
        });
        self.ok(groups)
    }
}
