//! Lowering of asynchronous copies.

use super::super::body::Body;
use super::super::operands::{Arg, Args};
use super::memory::atomic_fn;
use crate::diag::Diagnostic;
use crate::isa::{FormMatch, Sem, Space, Type};
use crate::kernel::{AsyncCopy, BulkCopy, BulkPlace, BulkShape, CopyGroups, Op, ValidBytes};
use crate::ptx::tree::{Instruction, Operand};

/// Lowers `cp.async.bulk`, `cp.async.bulk.tensor` and their reductions.
pub(super) fn bulk_copy(m: &FormMatch<'_>, args: &Args) -> Op {
    let counts = m.has("mbarrier::complete_tx::bytes");
    let [to, from] = match counts {
        true => [Space::Shared, Space::Global],
        false => [Space::Global, Space::Shared],
    };
    let reduces = (m.form.sem == Sem::BulkReduce).then(|| atomic_fn(m));
    let place = |i, space| match args.args.get(i) {
        Some(&Arg::Tile(address, at)) => (BulkPlace { space, address }, Some(at)),
        _ => (BulkPlace { space, address: args.address(i) }, None),
    };
    let ((to, written), (from, read)) = (place(0, to), place(1, from));
    let (shape, object) = match written.or(read) {
        Some(at) => (BulkShape::Tile(at), 2),
        None => {
            let ty = if reduces.is_some() { m.ty() } else { Type::B32 };
            (BulkShape::Bytes(args.row(2), ty), 3)
        }
    };
    let object = counts.then(|| args.address(object));
    Op::BulkCopy(Box::new(BulkCopy { to, from, shape, object, reduces, together: false }))
}

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
        let bulk = m.has("bulk");
        let Some(Arg::Immediate(_)) = args.args.first() else {
            return Some(Op::CopyGroups(match m.has("wait_all") {
                true => CopyGroups::WaitAll,
                false if bulk => CopyGroups::CommitBulk,
                false => CopyGroups::Commit,
            }));
        };
        let wait = if bulk { CopyGroups::WaitBulk } else { CopyGroups::Wait };
        self.groups(inst, args).map(|groups| Op::CopyGroups(wait(groups)))
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
