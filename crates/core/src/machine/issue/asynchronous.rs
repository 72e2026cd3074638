//! Asynchronous copies and barrier objects (`mbarrier`).
//!
//! A copy is priced at its issue: as a global load with the passes over the banks that its store to
//! shared memory needs. The cycle at which its data are in shared memory is its mark; a wait
//! resumes at the latest mark of the copies that it waits for. Checks see the store to shared
//! memory twice, at the issue and at the wait, because it may happen at any time in between. Copies
//! arrive at an object at their mark, noticed at the block's next operation on an object. Before
//! sm_90 the arriving warp waits for that cycle. Bulk copies land at their objects in the same way;
//! those to global memory have a mark, too.

use super::{After, Issue, Issuer, Times};
use crate::base::{Cycle, LaneMask, MAX_LANES, Pc, WarpId};
use crate::divergence::Flow;
use crate::event::{AccessWay, Cells, Event, LaneAccess, MemoryKind, Observer, Stall};
use crate::exec::{self, CopiedData, CopyArrival, Effect, MemoryAccess, RegisterFile};
use crate::isa::Space;
use crate::kernel::{CopyGroups, ObjectLayout, Op, Register};
use crate::machine::block::Block;
use crate::machine::bulk::{show_bulk, show_source};
use crate::machine::memsys::CopyStore;
use crate::machine::shares::Reader;
use crate::machine::verdict::FaultReport;
use crate::machine::warp::{Until, Warp};

impl<O: Observer> Issuer<'_, O> {
    /// Executes a step of an asynchronous copy.
    #[inline(never)]
    pub(super) fn start(
        &mut self,
        warp: &mut Warp,
        issue: &Issue<'_>,
        times: &mut Times,
    ) -> Result<After, Box<FaultReport>> {
        let &Issue { pc, active, lanes, now, step, .. } = issue;
        let is_object = matches!(step.inst.op, Op::MBarrier(_));
        if is_object || matches!(step.inst.op, Op::BulkCopy(_)) {
            self.blocks[warp.block].land(now);
        }
        let effect = self
            .execute(warp, step, pc, lanes, active, now)
            .map_err(|fault| self.fault(fault, warp, issue))?;
        // Of the lowest lane; mostly all lanes wait at one object.
        let awaited = match (&step.inst.op, lanes.lowest()) {
            (Op::MBarrier(op), Some(lane)) if op.suspends => {
                Some(self.addresses[lane as usize % MAX_LANES])
            }
            _ => None,
        };
        match effect {
            Effect::Copy(access) => self.copy(warp, issue, access, times),
            Effect::WaitCopies { lanes, groups } => {
                let here = self.land(warp, WarpId(issue.w as u32), lanes, groups);
                times.resume = times.resume.max(Until::new(here, Stall::LongScoreboard));
            }
            Effect::BulkCopies => self.bulk_copies(warp, issue),
            Effect::WaitBulk { lanes, groups } => {
                let slot = WarpId(issue.w as u32);
                for copy in warp.registers.copies.take_bulk(lanes, groups) {
                    show_source(&copy, slot, &mut self.observer);
                    times.resume = times.resume.max(Until::new(copy.mark, Stall::LongScoreboard));
                    self.watch.progress();
                }
            }
            Effect::Access(access) => self.object(warp, issue, access, times),
            Effect::ArriveByCopies(access) => {
                let addresses = *self.addresses;
                let at = self.land(warp, WarpId(issue.w as u32), access.lanes, None).max(now);
                self.object(warp, issue, access, times);
                let of =
                    |lane| CopyArrival::of(&step.inst.op, addresses[lane as usize % MAX_LANES]);
                let arrivals = access.lanes.lanes().map(of);
                let Block { late, shared, .. } = &mut self.blocks[warp.block];
                if access.lanes.lanes().any(|lane| of(lane).layout == ObjectLayout::Words) {
                    // Plain loads test such objects: they would miss an arrival to come.
                    times.resume = times.resume.max(Until::new(at, Stall::LongScoreboard));
                    arrivals.for_each(|arrival| exec::arrive_by_copies(shared, arrival));
                } else {
                    late.extend(arrivals.map(|arrival| (at, arrival)));
                }
            }
            // A dependence counter of machine code counts the groups (LDGDEPBAR).
            _ if step.inst.op == Op::CopyGroups(CopyGroups::Commit) => {
                times.done = times.done.max(warp.registers.copies.latest_mark());
            }
            _ => {}
        }
        if is_object && self.blocks[warp.block].awaits_copies() {
            // A copy will arrive: to wait for it is no livelock.
            self.watch.progress();
        }
        if let Some(address) = awaited
            && fails(&step.inst.op, lanes, &warp.registers)
            && let Some(at) = self.blocks[warp.block].next_bytes(address)
        {
            times.resume = times.resume.max(Until::new(at, Stall::LongScoreboard));
        }
        if self.cx.kernel.native.is_some() && fails(&step.inst.op, lanes, &warp.registers) {
            // Machine code has no YIELD in the loop.
            warp.control.advance(Flow::Yield { next: step.next });
        } else {
            self.proceed(warp, active, step.next);
        }
        Ok(After::Nothing)
    }

    /// Prices the latest copy of the warp, whose source access is `access`.
    fn copy(
        &mut self,
        warp: &mut Warp,
        issue: &Issue<'_>,
        access: MemoryAccess,
        times: &mut Times,
    ) {
        let Some(data) = warp.registers.copies.latest() else { return };
        let banks = self.cx.spec.memory.shared_banks;
        let store = CopyStore::new(data, access, &self.addresses, banks);
        let (sm, slot, pc, now) = (self.id, WarpId(issue.w as u32), issue.pc, issue.now);
        let reads = !access.lanes.is_empty();
        if reads {
            self.memory.copying = Some(store.passes);
            times.done = self.access(warp, issue, access).done;
        }
        let Some(data) = warp.registers.copies.latest() else { return };
        self.observer.access(slot, pc, &written(data));
        *self.addresses = data.to;
        let arrives = if reads {
            let traffic = store.traffic();
            self.observer.on(Event::Memory { cycle: now, sm, warp: slot, pc, traffic });
            self.observer.addresses(slot, pc, &traffic, &self.addresses);
            times.done
        } else {
            times.done = now + Cycle::from(issue.cost.latency);
            times.done + self.transfer(warp, issue, store.access).port
        };
        warp.registers.copies.mark(arrives);
    }

    /// Prices the bulk copies that the step has started.
    fn bulk_copies(&mut self, warp: &mut Warp, issue: &Issue<'_>) {
        let &Issue { w, pc, now, .. } = issue;
        let (sm, slot) = (self.id, WarpId(w as u32));
        if self.native {
            let (block, since) = (warp.block_id.0.into(), warp.since);
            self.memory.reader = Reader { block, warp: warp.index, pc, since };
        }
        for data in std::mem::take(&mut self.system.bulk) {
            show_bulk(&data, slot, &mut self.observer);
            let (traffic, done) = self.memory.bulk(now, &data);
            for (traffic, address) in traffic {
                self.observer.on(Event::Memory { cycle: now, sm, warp: slot, pc, traffic });
                let addresses = [address; MAX_LANES];
                self.observer.addresses(slot, pc, &traffic, &addresses);
            }
            if data.changed || data.to == Space::Shared {
                self.watch.progress();
            }
            if data.object.is_none() {
                warp.registers.copies.add_bulk(&data, done);
            }
            if data.to == Space::Shared {
                self.blocks[warp.block].bulk.push((done, data));
            }
        }
    }

    /// Prices an operation on barrier objects.
    fn object(
        &mut self,
        warp: &mut Warp,
        issue: &Issue<'_>,
        access: MemoryAccess,
        times: &mut Times,
    ) {
        if access.changed {
            self.watch.progress();
        }
        times.done = self.access(warp, issue, access).done;
    }

    /// Writes copies that lanes wait for to shared memory. Returns the cycle of the last one.
    fn land(
        &mut self,
        warp: &mut Warp,
        slot: WarpId,
        lanes: LaneMask,
        groups: Option<u32>,
    ) -> Cycle {
        let shared = &mut self.blocks[warp.block].shared;
        let landed = exec::land_copies(&mut warp.registers, shared, lanes, groups);
        if !landed.is_empty() {
            self.watch.progress();
        }
        for data in &landed {
            self.observer.access(slot, Pc(data.pc), &written(data));
        }
        landed.iter().map(|data| data.mark).max().unwrap_or(0)
    }
}

/// Returns true if the operation tests an object whose phase has not ended, in any lane.
pub(in crate::machine) fn fails(op: &Op, lanes: LaneMask, registers: &RegisterFile) -> bool {
    let Op::MBarrier(op) = op else { return false };
    let holds = |lane| op.p.is_some_and(|p| registers.get(Register::Predicate(p), lane) != 0);
    op.f.tests() && !lanes.lanes().all(holds)
}

/// Describes the store of a copy to shared memory.
pub(in crate::machine) fn written(data: &CopiedData) -> LaneAccess<'_> {
    let mut stored = [None; 4];
    let rows = data.words.iter().take(usize::from(data.bytes) / 4);
    stored.iter_mut().zip(rows).for_each(|(cells, row)| *cells = Some(Cells::Narrow(row)));
    LaneAccess {
        memory: MemoryKind::Shared,
        way: AccessWay::Store,
        lanes: data.lanes,
        bytes: data.bytes.into(),
        addresses: &data.to,
        stored,
    }
}
