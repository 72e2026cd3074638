//! Findings as diagnostics: message, both places and a remedy.

use std::collections::BTreeMap;

use super::bounds;
use super::finding::{Does, Finding, Kind, Place};
use crate::base::LaneMask;
use crate::code::MicroOp;
use crate::diag::{Diagnostic, Severity, Span};
use crate::exec::Fault;
use crate::kernel::{INSTRUCTION_BYTES, Inst, Kernel, Op, Register};
use crate::launch::Launch;
use crate::ptx::Locations;

/// Inputs for the wording of findings.
pub struct Account<'a> {
    /// Kernel that ran.
    pub kernel: &'a Kernel,
    /// Steps of its stream, indexed by the PCs of places.
    pub steps: &'a [MicroOp],
    /// Launch of the run.
    pub launch: &'a Launch,
    /// Source locations of the text, such as CUDA lines.
    pub locations: &'a Locations<'a>,
    /// True in pre-Volta mode.
    pub lock_step: bool,
}

/// Converts a run's findings to diagnostics, each with its number of occurrences.
///
/// Errors come first, then text order. `fault` is the fault that ended the run, with its
/// instruction, block and warp.
pub fn judge(
    account: &Account<'_>,
    findings: &[Finding],
    fault: Option<(&Fault, &Inst, u32, u32)>,
) -> Vec<(Diagnostic, u64)> {
    let mut said: Vec<_> = findings.iter().map(|f| (account.say(f), f.times)).collect();
    if let Some((fault, inst, block, warp)) = fault
        && let Some((code, message, help)) = bounds::fault(account.kernel, account.launch, fault)
        // An absent lane was reported when it was missed.
        && !said.iter().any(|(d, _)| d.code == code && d.labels.first().is_some_and(|l| l.span == inst.span))
    {
        let mut same = account.kernel.insts.iter().enumerate().filter(|(_, other)| *other == inst);
        let at = same.next().filter(|_| same.next().is_none()).map(|(at, _)| at);
        let place = format!(
            "block {block} warp {warp} lane {}{}",
            fault.lane,
            account.origin(inst.span, at)
        );
        said.push((finding(Severity::Error, code, inst.span, message).label(place).help(help), 1));
    }
    said.sort_by_key(|(d, _)| (d.severity, d.labels.first().map(|l| l.span)));
    merge(said)
}

/// Merges findings of one kind at the same places, such as the copies of an unrolled line.
///
/// The first one stands for all.
fn merge(said: Vec<(Diagnostic, u64)>) -> Vec<(Diagnostic, u64)> {
    let places = |d: &Diagnostic| {
        let mut spans: Vec<Span> = d.labels.iter().map(|l| l.span).collect();
        spans.sort();
        spans.dedup();
        spans
    };
    let mut merged: Vec<(Diagnostic, u64)> = Vec::new();
    let mut known: BTreeMap<(&'static str, Vec<Span>), usize> = BTreeMap::new();
    for (finding, times) in said {
        let next = merged.len();
        match *known.entry((finding.code, places(&finding))).or_insert(next) {
            at if at < next => merged[at].1 += times,
            _ => merged.push((finding, times)),
        }
    }
    merged
}

fn finding(severity: Severity, code: &'static str, span: Span, message: String) -> Diagnostic {
    Diagnostic { severity, ..Diagnostic::warning(code, span, message) }
}

impl Account<'_> {
    fn span(&self, place: &Place) -> Span {
        self.steps.get(place.pc.index()).map_or(Span::default(), |step| step.inst.span)
    }

    /// Returns the source location of an instruction's span as the end of a phrase.
    fn origin(&self, span: Span, inst: Option<usize>) -> String {
        let from = self.locations.at(span.end.saturating_sub(1));
        let line = from.map(|from| format!("{}:{}", from.file, from.line));
        match (line, self.address(inst)) {
            (None, None) => String::new(),
            (Some(place), None) | (None, Some(place)) => format!(" ({place})"),
            (Some(line), Some(address)) => format!(" ({line}, {address})"),
        }
    }

    /// Returns the address of a machine instruction; `None` in PTX.
    fn address(&self, inst: Option<usize>) -> Option<String> {
        self.kernel.native.as_ref()?;
        Some(format!("0x{:04x}", inst? as u64 * INSTRUCTION_BYTES))
    }

    fn say(&self, f: &Finding) -> Diagnostic {
        let at =
            f.at.map(|(memory, address)| bounds::name(self.kernel, self.launch, memory, address));
        let at = at.unwrap_or_default();
        let (message, here, there, help) = match f.kind {
            Kind::RaceShared | Kind::RaceGlobal | Kind::RaceSameValue => return self.race(f, &at),
            Kind::UnsetRegister => (
                format!("uninitialized read of {}", f.detail),
                "",
                "",
                "assign it on every path that leads here",
            ),
            Kind::UnsetShared => (
                format!("uninitialized read of shared memory: `{at}`"),
                "",
                "",
                "write it first, then `bar.sync 0` (__syncthreads()): shared memory starts with \
                 arbitrary content",
            ),
            Kind::UnsetLocal => (
                format!("uninitialized read of a local array: {at}"),
                "",
                "",
                "write each element before reading it",
            ),
            Kind::UnsetGlobal => (
                format!("uninitialized read of device memory: `{at}`"),
                "",
                "",
                "write it first, by cudaMemset(), a copy or a kernel: cudaMalloc() leaves arbitrary \
                 content",
            ),
            Kind::BarrierInParts => (
                format!("block barrier in divergent code: lanes {} do not reach it", f.detail),
                "",
                "",
                "move the barrier out of the branch so that all threads of the block reach it",
            ),
            Kind::BarrierMixed => (
                "threads of a block arrive at one barrier from two instructions".to_owned(),
                "",
                " arrived here",
                "let all threads of the block execute the same barrier; to synchronize only some \
                 of them, use another barrier number and a thread count",
            ),
            Kind::BarrierCount => (
                format!("wrong thread count at a barrier: {}", f.detail),
                "",
                " arrived here",
                "pass the number of threads that arrive, the same at every arrival",
            ),
            Kind::BarrierAfterExit => (
                format!(
                    "block barrier after threads of the block have exited ({} so far)",
                    f.detail
                ),
                "",
                " exited here",
                "keep every thread until the last barrier and put its work in a branch: pre-Volta \
                 GPUs count whole warps, and CUDA requires all threads of the block to arrive",
            ),
            Kind::MaskAbsent => (
                format!("the mask names lanes that do not execute this instruction: {}", f.detail),
                "",
                "",
                "name only lanes that execute it: compute the mask with `__ballot_sync` before the \
                 branch",
            ),
            Kind::MaskWithoutSelf => (
                format!("the mask does not name lanes that execute this instruction: {}", f.detail),
                "",
                "",
                "name every lane that executes the instruction, itself included",
            ),
            Kind::UndefinedShuffle => (
                format!("`shfl` reads inactive lane {}: the value is undefined", f.detail),
                "",
                "",
                "let the source lane execute the same shuffle, or read another lane",
            ),
            Kind::MaskEnded => (
                format!("the mask names lanes that have exited: {}", f.detail),
                "",
                " exited here",
                "name live lanes only, or keep all lanes until the last exchange",
            ),
        };
        self.diagnostic(f, message, here, there).help(help)
    }

    fn diagnostic(&self, f: &Finding, message: String, here: &str, there: &str) -> Diagnostic {
        let span = self.span(&f.here);
        let here = if here.is_empty() { does(&f.here) } else { here };
        let words = format!("{}{here}{}", who(&f.here), self.origin(span, self.source(&f.here)));
        let said = finding(f.kind.severity(), f.kind.code(), span, message).label(words);
        match &f.there {
            None => said,
            Some(place) => {
                let span = self.span(place);
                let there = if there.is_empty() { does(place) } else { there };
                said.also(
                    span,
                    format!("{}{there}{}", who(place), self.origin(span, self.source(place))),
                )
            }
        }
    }

    fn race(&self, f: &Finding, at: &str) -> Diagnostic {
        let Some(there) = f.there else {
            return self.diagnostic(f, "data race".to_owned(), "", "");
        };
        let same_block = f.here.block == there.block;
        let same_warp = same_block && f.here.warp == there.warp;
        let together = same_warp && f.here.pc == there.pc;
        let accesses = if f.kind == Kind::RaceSameValue {
            "writes of the same value"
        } else {
            accesses(f.here.does, there.does)
        };
        let message = format!("data race on `{at}`: unsynchronized {accesses}");
        let help = if self.copies(&f.here) || self.copies(&there) {
            "wait for the copy first: `cp.async.wait_all` (__pipeline_wait_prior(0)) in the thread \
             that started it, then `bar.sync 0` (__syncthreads()) for the others"
        } else if self.releases_lock(f, &there) {
            "release the lock with an atomic: `atom.exch` after `membar.gl` (__threadfence(); \
             atomicExch(p, 0)), or `st.release`"
        } else if f.kind == Kind::RaceSameValue {
            "let one thread write it; writing the same value is harmless on existing GPUs"
        } else if self.updates_without_atomic(f, &there) {
            "use an atomic such as `atom.add` (atomicAdd()): a separate load and store lose updates"
        } else if together {
            "let one lane write, give each lane its own element, or use an atomic"
        } else if same_warp && self.lock_step {
            "let one lane write, or use an atomic"
        } else if same_warp {
            "put `bar.warp.sync` (__syncwarp()) between the two accesses: since Volta, the lanes \
             of a warp do not run in lock-step"
        } else if same_block {
            "put `bar.sync 0` (__syncthreads()) between the two accesses"
        } else if f.here.does == Does::Updates || there.does == Does::Updates {
            "use atomics in all threads, or a second kernel: blocks run in any order"
        } else {
            "use an atomic, one element per block, a flag written after `membar.gl` \
             (__threadfence()), or one kernel per step: blocks run in any order"
        };
        self.diagnostic(f, message, "", "").help(help)
    }

    /// Returns true if the place is an asynchronous copy.
    fn copies(&self, place: &Place) -> bool {
        let inst = self.source(place).and_then(|source| self.kernel.insts.get(source));
        inst.is_some_and(|inst| matches!(inst.op, Op::AsyncCopy(_)))
    }

    /// Returns true if a plain store follows an atomic, as in a lock's release.
    fn releases_lock(&self, f: &Finding, there: &Place) -> bool {
        let (atomic, store) = match (f.here.does, there.does) {
            (Does::Updates, Does::Writes) => (&f.here, there),
            (Does::Writes, Does::Updates) => (there, &f.here),
            (Does::Writes, Does::Writes) => {
                return self.source(there).is_some_and(|store| self.follows_atomic(store));
            }
            _ => return false,
        };
        // A store before the atomic sets an initial value; its remedy is a barrier.
        self.source(atomic).zip(self.source(store)).is_some_and(|(atomic, store)| atomic < store)
    }

    /// Returns true if an atomic on the same address precedes the store.
    fn follows_atomic(&self, store: usize) -> bool {
        let insts = &self.kernel.insts;
        let Op::Store(written) = &insts[store].op else { return false };
        insts[..store]
            .iter()
            .any(|inst| matches!(&inst.op, Op::Atomic(atomic) if atomic.address == written.address))
    }

    /// Returns true if the race is a non-atomic read-modify-write.
    ///
    /// One access stores a value computed from a load of the same address; the other access is that
    /// load or a store.
    fn updates_without_atomic(&self, f: &Finding, there: &Place) -> bool {
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

    /// Returns the index of a place's instruction in the kernel.
    fn source(&self, place: &Place) -> Option<usize> {
        self.steps.get(place.pc.index())?.source.map(|source| source as usize)
    }
}

/// Returns true if the last instruction reads a value derived from the first one.
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
    // The address is the load's own; only the stored value counts.
    let Op::Store(store) = &last.op else { return false };
    store.s.iter().take(usize::from(store.access.count)).any(|&row| {
        derived.contains(&if store.access.wide {
            Register::Wide(row)
        } else {
            Register::Narrow(row)
        })
    })
}

/// Formats a place as `block 0 warp 1 lane 3`.
fn who(place: &Place) -> String {
    let Place { block, warp, lanes, .. } = *place;
    let plural = if lanes.count() == 1 { "" } else { "s" };
    format!("block {block} warp {warp} lane{plural} {}", LaneMask::list(lanes))
}

/// Returns the action of a place's lanes, as the end of a sentence.
const fn does(place: &Place) -> &'static str {
    match (place.does, place.lanes.count()) {
        (Does::Reads, 1) => " reads",
        (Does::Reads, _) => " read",
        (Does::Writes, 1) => " writes",
        (Does::Writes, _) => " write",
        (Does::Updates, 1) => " updates atomically",
        (Does::Updates, _) => " update atomically",
        (Does::Is, _) => "",
        (Does::Ends, _) => " exited",
    }
}

/// Names two unsynchronized accesses.
const fn accesses(here: Does, there: Does) -> &'static str {
    match (here, there) {
        (Does::Writes, Does::Writes) => "writes",
        (Does::Updates, _) | (_, Does::Updates) => "atomic and plain accesses",
        _ => "read and write",
    }
}
