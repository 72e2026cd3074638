//! Findings as diagnostics: what, where both places are, what would mend it.

use super::bounds;
use super::finding::{Does, Finding, Kind, Place};
use crate::base::LaneMask;
use crate::code::MicroOp;
use crate::diag::{Diagnostic, Severity, Span};
use crate::exec::Fault;
use crate::kernel::{Inst, Kernel, Op, Register};
use crate::launch::Launch;
use crate::ptx::Locations;

/// What the words are taken from.
pub struct Account<'a> {
    /// The kernel as it ran.
    pub kernel: &'a Kernel,
    /// Its steps, which places name.
    pub steps: &'a [MicroOp],
    /// The launch.
    pub launch: &'a Launch,
    /// Where the text was compiled from.
    pub locations: &'a Locations<'a>,
    /// Whether the mode is that before Volta.
    pub lock_step: bool,
}

/// The findings of a run as diagnostics, errors first, each in the order of the text, with how often each came. `fault`: what
/// ended it, where, with block and warp.
pub fn judge(
    account: &Account<'_>,
    findings: &[Finding],
    fault: Option<(&Fault, &Inst, u32, u32)>,
) -> Vec<(Diagnostic, u64)> {
    let mut said: Vec<_> = findings.iter().map(|f| (account.say(f), f.times)).collect();
    if let Some((fault, inst, block, warp)) = fault
        && let Some((code, message, help)) = bounds::fault(account.kernel, account.launch, fault)
        // An absent lane has been told of already, when it was missed.
        && !said.iter().any(|(d, _)| d.code == code && d.labels.first().is_some_and(|l| l.span == inst.span))
    {
        let place = format!("block {block} warp {warp} lane {}{}", fault.lane, account.origin(inst.span));
        said.push((finding(Severity::Error, code, inst.span, message).label(place).help(help), 1));
    }
    said.sort_by_key(|(d, _)| (d.severity, d.labels.first().map(|l| l.span)));
    said
}

fn finding(severity: Severity, code: &'static str, span: Span, message: String) -> Diagnostic {
    Diagnostic { severity, ..Diagnostic::warning(code, span, message) }
}

impl Account<'_> {
    fn span(&self, place: &Place) -> Span {
        self.steps.get(place.pc.index()).map_or(Span::default(), |step| step.inst.span)
    }

    /// The line that the text at a place was compiled from, as the end of a phrase.
    fn origin(&self, span: Span) -> String {
        let from = self.locations.at(span.end.saturating_sub(1));
        from.map_or_else(String::new, |from| format!(" ({}:{})", from.file, from.line))
    }

    fn say(&self, f: &Finding) -> Diagnostic {
        let at = f.at.map(|(memory, address)| bounds::name(self.kernel, self.launch, memory, address));
        let at = at.unwrap_or_default();
        let (message, here, there, help) = match f.kind {
            Kind::RaceShared | Kind::RaceGlobal | Kind::RaceSameValue => return self.race(f, &at),
            Kind::UnsetRegister => (
                format!("`{}` is read before anything has been written to it", f.detail),
                "",
                "",
                "give it a value on every way that leads here",
            ),
            Kind::UnsetShared => (
                format!("shared memory is read before anything has been written to it: `{at}`"),
                "",
                "",
                "let some thread write it first, then `bar.sync 0` (__syncthreads()); shared memory starts with any content",
            ),
            Kind::UnsetLocal => (
                format!("a local array is read before anything has been written to it: `{at}`"),
                "",
                "",
                "write each element before it is read",
            ),
            Kind::BarrierInParts => (
                format!("a branch keeps lanes of a warp from a block barrier: lanes {} are elsewhere", f.detail),
                "",
                "",
                "move the barrier out of the branch, to where all threads of the block come",
            ),
            Kind::BarrierMixed => (
                "threads of a block meet at one barrier from two instructions".to_owned(),
                "",
                " came here",
                "let all threads of the block execute the same barrier; those who are to wait for each other only take a \
                 barrier number and count of their own",
            ),
            Kind::BarrierCount => (
                format!("the thread count of a barrier is wrong: {}", f.detail),
                "",
                " came here",
                "let all who meet at a barrier name the number of threads that come to it",
            ),
            Kind::BarrierAfterExit => (
                format!("a block barrier after some of the block's threads have ended ({} so far)", f.detail),
                "",
                " ended here",
                "let every thread stay until the last barrier, with its work in a branch: machines before Volta count whole \
                 warps, and CUDA asks that all threads of the block come",
            ),
            Kind::MaskAbsent => (
                format!("the mask names lanes that do not execute this instruction: {}", f.detail),
                "",
                "",
                "name the lanes that come here, no others: compute the mask before the branch, with `__ballot_sync`",
            ),
            Kind::UndefinedShuffle => (
                format!("shfl reads lane {}, which does not take part: the value is undefined", f.detail),
                "",
                "",
                "let the lane that is read execute the same shuffle, or read another one",
            ),
            Kind::MaskEnded => (
                format!("the mask names lanes that have ended: {}", f.detail),
                "",
                " ended here",
                "name live lanes only, or let all stay until the last exchange",
            ),
        };
        self.diagnostic(f, message, here, there).help(help)
    }

    fn diagnostic(&self, f: &Finding, message: String, here: &str, there: &str) -> Diagnostic {
        let span = self.span(&f.here);
        let here = if here.is_empty() { does(&f.here) } else { here };
        let words = format!("{}{here}{}", who(&f.here), self.origin(span));
        let said = finding(f.kind.severity(), f.kind.code(), span, message).label(words);
        match &f.there {
            None => said,
            Some(place) => {
                let span = self.span(place);
                let there = if there.is_empty() { does(place) } else { there };
                said.also(span, format!("{}{there}{}", who(place), self.origin(span)))
            }
        }
    }

    fn race(&self, f: &Finding, at: &str) -> Diagnostic {
        let Some(there) = f.there else { return self.diagnostic(f, "two accesses race".to_owned(), "", "") };
        let same_block = f.here.block == there.block;
        let same_warp = same_block && f.here.warp == there.warp;
        let together = same_warp && f.here.pc == there.pc;
        let who = if together {
            "two lanes of a warp in one instruction"
        } else if same_warp {
            "two lanes of a warp"
        } else if same_block {
            "two warps of a block"
        } else {
            "two blocks"
        };
        let message = if f.kind == Kind::RaceSameValue {
            format!("`{at}` is written by {who}, with the same value, and nothing orders the two")
        } else {
            format!("`{at}` is {} by {who}, and nothing orders the two", how(f.here.does, there.does))
        };
        let help = if self.releases_lock(f, &there) {
            "release it with an atomic: `atom.exch` after `membar.gl` (__threadfence(); atomicExch(p, 0)), or `st.release`"
        } else if f.kind == Kind::RaceSameValue {
            "let one thread write it; that all write the same is harmless on the machines that there are"
        } else if self.updates_in_parts(f, &there) {
            "the two load, compute and store: an update of one lane is lost; use an atomic, as `atom.add` (atomicAdd())"
        } else if together {
            "let one lane write, give each its own place, or use an atomic"
        } else if same_warp && self.lock_step {
            "let one lane write, or use an atomic"
        } else if same_warp {
            "put `bar.warp.sync` (__syncwarp()) between the two: from Volta on the lanes of a warp are not in lock-step"
        } else if same_block {
            "put `bar.sync 0` (__syncthreads()) between the two"
        } else if f.here.does == Does::Updates || there.does == Does::Updates {
            "let all threads use atomics for it, or wait for the end of the kernel; blocks run in any order"
        } else {
            "blocks run in any order: use an atomic, a place for each block, a flag behind `membar.gl` (__threadfence()), or \
             a kernel for each step"
        };
        self.diagnostic(f, message, "", "").help(help)
    }

    /// Whether one of the two is a plain store after an atomic on the same place, as of a lock that is given back.
    fn releases_lock(&self, f: &Finding, there: &Place) -> bool {
        let (atomic, store) = match (f.here.does, there.does) {
            (Does::Updates, Does::Writes) => (&f.here, there),
            (Does::Writes, Does::Updates) => (there, &f.here),
            (Does::Writes, Does::Writes) => return self.source(there).is_some_and(|store| self.follows_atomic(store)),
            _ => return false,
        };
        // A store before the atomic is an initial value, for which a barrier is the remedy.
        self.source(atomic).zip(self.source(store)).is_some_and(|(atomic, store)| atomic < store)
    }

    /// Whether an atomic on the same address comes before the store.
    fn follows_atomic(&self, store: usize) -> bool {
        let insts = &self.kernel.insts;
        let Op::Store(written) = &insts[store].op else { return false };
        insts[..store].iter().any(|inst| matches!(&inst.op, Op::Atomic(atomic) if atomic.address == written.address))
    }

    /// Whether one of the two is a store of what was computed from a load of the same place, written with the same address,
    /// and the other is that load or that store.
    fn updates_in_parts(&self, f: &Finding, there: &Place) -> bool {
        let insts = &self.kernel.insts;
        let stores = [&f.here, there].into_iter().filter(|place| place.does == Does::Writes);
        let mut stores = stores.filter_map(|place| self.source(place));
        let other = |store: usize| {
            let others = [&f.here, there].into_iter().filter_map(|place| self.source(place));
            others.filter(|&at| at != store).max_by_key(|&at| at < store)
        };
        stores.any(|store| match &insts[store].op {
            Op::Store(written) => (0..store).rev().any(|load| {
                let is_other =
                    other(store).is_none_or(|other| other == load || matches!(insts[other].op, Op::Store(_)));
                matches!(&insts[load].op, Op::Load(read) if is_other && read.address == written.address)
                    && depends(&insts[load..=store])
            }),
            _ => false,
        })
    }

    /// The instruction at a place, by its number in the kernel.
    fn source(&self, place: &Place) -> Option<usize> {
        self.steps.get(place.pc.index())?.source.map(|source| source as usize)
    }
}

/// Whether the last instruction reads what is computed from the first, with nothing that changes it in between.
fn depends(insts: &[Inst]) -> bool {
    let Some((first, rest)) = insts.split_first() else { return false };
    let Some((last, between)) = rest.split_last() else { return false };
    let mut derived = first.writes.clone();
    for inst in between {
        let is_derived = inst.reads.iter().any(|register| derived.contains(register));
        derived.retain(|register| !inst.writes.contains(register) || inst.guard.is_some());
        if is_derived {
            derived.extend(&inst.writes);
        }
    }
    // The address is the load's own; what counts is the value.
    let Op::Store(store) = &last.op else { return false };
    store
        .s
        .iter()
        .take(usize::from(store.access.count))
        .any(|&row| derived.contains(&if store.access.wide { Register::Wide(row) } else { Register::Narrow(row) }))
}

/// `block 0 warp 1 lane 3`
fn who(place: &Place) -> String {
    let Place { block, warp, lanes, .. } = *place;
    let plural = if lanes.count() == 1 { "" } else { "s" };
    format!("block {block} warp {warp} lane{plural} {}", LaneMask::list(lanes))
}

/// What the lanes of a place do, as the end of a sentence that they begin.
const fn does(place: &Place) -> &'static str {
    match (place.does, place.lanes.count()) {
        (Does::Reads, 1) => " reads",
        (Does::Reads, _) => " read",
        (Does::Writes, 1) => " writes",
        (Does::Writes, _) => " write",
        (Does::Updates, 1) => " updates atomically",
        (Does::Updates, _) => " update atomically",
        (Does::Is, _) => "",
        (Does::Ends, _) => " ended",
    }
}

/// What two accesses do to a place, the later first.
const fn how(here: Does, there: Does) -> &'static str {
    match (here, there) {
        (Does::Writes, Does::Writes) => "written twice",
        (Does::Updates, _) | (_, Does::Updates) => "accessed by an atomic and without one",
        _ => "read and written",
    }
}
