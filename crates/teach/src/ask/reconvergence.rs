//! Where the lanes of a branch meet again, read from bundled machine code.
//!
//! BSSY names a barrier and the address behind its BSYNC. Its branch is the first one behind it
//! that is not between an inner BSSY and BSYNC; the immediate post-dominator of that branch is the
//! first point that all its lanes reach. Functions and regions with a call are left out: the paths
//! through a function lead back to every caller.

use super::AskError;
use simt_core::Program;
use simt_core::base::BasicBlockId;
use simt_core::kernel::{ConvergenceOp, INSTRUCTION_BYTES, JumpKind, Kernel, Op};

/// BSSY instructions by the place of their BSYNC: their number, and the number of their kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reconvergence {
    /// At the immediate post-dominator.
    pub(super) at_once: (u64, u64),
    /// In a later post-dominator: deferred.
    pub(super) deferred: (u64, u64),
    /// Before it: the other lanes leave by BREAK.
    pub(super) early: (u64, u64),
    /// Without a branch, with a call before the BSYNC, or in a function.
    pub(super) other: (u64, u64),
}

/// Place of a BSYNC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Once,
    Later,
    Early,
    Other,
}

/// Examines every BSSY of the bundled listings.
///
/// # Errors
/// If a listing cannot be read: an internal error.
pub(super) fn of_listings() -> Result<Reconvergence, AskError> {
    let mut found = Reconvergence::default();
    let listings = simt_programs::SASS.iter().chain(simt_programs::UNSEEN);
    for (path, text) in listings.filter(|(path, _)| path.ends_with(".sass")) {
        let program = Program::parse(path, text);
        if program.kernels.is_empty() {
            let program = (*path).to_owned();
            return Err(AskError::Missing { program, what: "kernel".to_owned() });
        }
        for kernel in &program.kernels {
            let places = of_kernel(kernel, text);
            for (counted, wanted) in [
                (&mut found.at_once, At::Once),
                (&mut found.deferred, At::Later),
                (&mut found.early, At::Early),
                (&mut found.other, At::Other),
            ] {
                let number = places.iter().filter(|&&at| at == wanted).count() as u64;
                counted.0 += number;
                counted.1 += u64::from(number > 0);
            }
        }
    }
    Ok(found)
}

/// Places of the BSYNCs of a kernel, in the order of their BSSYs.
fn of_kernel(kernel: &Kernel, text: &str) -> Vec<At> {
    let all = 0..kernel.insts.len();
    all.filter_map(|set| Some(place(kernel, text, set, sync_of(kernel, text, set)?))).collect()
}

/// Index of the BSYNC of the BSSY at an index; `None` for other instructions.
fn sync_of(kernel: &Kernel, text: &str, set: usize) -> Option<usize> {
    let inst = kernel.insts.get(set)?;
    let Op::Join(ConvergenceOp::Set(join)) = inst.op else { return None };
    let line = text.get(inst.span.start as usize..inst.span.end as usize)?;
    let address = line.split_once("0x")?.1;
    let end = address.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(address.len());
    let behind = usize::from_str_radix(address.get(..end)?, 16).ok()?;
    let behind = behind / INSTRUCTION_BYTES as usize;
    let is_sync = |at: &usize| {
        kernel.insts.get(*at).is_some_and(|i| i.op == Op::Join(ConvergenceOp::Sync(join)))
    };
    [behind.checked_sub(1)?, behind].into_iter().find(is_sync)
}

fn place(kernel: &Kernel, text: &str, set: usize, sync: usize) -> At {
    let calls = |op: &Op| matches!(op, Op::Jump(jump) if jump.kind != JumpKind::Branch);
    let region = kernel.insts.get(set..sync).unwrap_or_default();
    let branch = branch_of(kernel, text, set).filter(|_| !region.iter().any(|i| calls(&i.op)));
    let (Some(branch), Some(meet)) = (branch, kernel.flow.block_of(sync)) else {
        return At::Other;
    };
    let after = |&block: &BasicBlockId| kernel.flow.immediate_post_dominator(block);
    // In a function, whose ends lead to every caller, there is none.
    let Some(first) = after(&branch) else { return At::Other };
    let mut points = std::iter::successors(Some(first), after).take(kernel.insts.len());
    match points.position(|block| block == meet) {
        Some(0) => At::Once,
        Some(_) => At::Later,
        None => At::Early,
    }
}

/// Block of the branch of the BSSY at an index.
fn branch_of(kernel: &Kernel, text: &str, set: usize) -> Option<BasicBlockId> {
    let mut at = set + 1;
    // A walk visits no instruction twice: without a choice it would go on for ever.
    for _ in &kernel.insts {
        let block = kernel.flow.blocks().get(kernel.flow.block_of(at)?.index())?;
        if let Some(sync) = sync_of(kernel, text, at) {
            at = sync + 1;
        } else if at < block.last() {
            at += 1;
        } else {
            match block.successors.as_slice() {
                [only] => at = kernel.flow.blocks().get(only.index())?.first as usize,
                [] => return None,
                _ => return Some(block.id),
            }
        }
    }
    None
}
