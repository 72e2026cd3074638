//! Asynchronous copies and barrier objects (`mbarrier`) without time: a copy arrives at once.

use super::warp::{Issue, Runner};
use crate::base::{LaneMask, MAX_LANES, Pc, WarpId};
use crate::divergence::Flow;
use crate::event::{Event, Observer};
use crate::exec::{self, CopyArrival, Effect, MemoryAccess};
use crate::machine::bulk::{bulk_traffic, show_bulk, show_source};
use crate::machine::issue::{fails, written};
use crate::machine::memsys::CopyStore;
use crate::machine::verdict::FaultReport;
use crate::machine::warp::Warp;

impl<O: Observer> Runner<'_, O> {
    /// Executes a step of an asynchronous copy, or an operation on a barrier object.
    #[inline(never)]
    pub(super) fn start(
        &mut self,
        warp: &mut Warp,
        issue: &Issue<'_>,
    ) -> Result<(), Box<FaultReport>> {
        let &Issue { lanes, step, .. } = issue;
        match self.execute(warp, issue).map_err(|f| self.fault(f, warp, issue))? {
            Effect::Copy(access) => self.copy(warp, issue, access),
            Effect::WaitCopies { lanes, groups } => self.land(warp, issue, lanes, groups),
            Effect::BulkCopies => self.bulk_copies(warp, issue),
            Effect::WaitBulk { lanes, groups } => {
                let slot = WarpId(issue.w as u32);
                for copy in warp.registers.copies.take_bulk(lanes, groups) {
                    show_source(&copy, slot, &mut self.observer);
                    self.pace.progress();
                }
            }
            Effect::Access(access) => self.object(warp, issue, access),
            Effect::ArriveByCopies(access) => {
                let addresses = *self.addresses;
                self.land(warp, issue, access.lanes, None);
                self.object(warp, issue, access);
                let shared = &mut self.blocks[warp.block].shared;
                for lane in access.lanes.lanes() {
                    let address = addresses[lane as usize % MAX_LANES];
                    exec::arrive_by_copies(shared, CopyArrival::of(&step.inst.op, address));
                }
            }
            _ => {}
        }
        if self.cx.kernel.native.is_some() && fails(&step.inst.op, lanes, &warp.registers) {
            // Machine code has no YIELD in the loop.
            warp.control.advance(Flow::Yield { next: step.next });
        } else {
            warp.control.go(step.next);
        }
        Ok(())
    }

    /// Reports the latest copy of the warp, whose source access is `access`.
    fn copy(&mut self, warp: &mut Warp, issue: &Issue<'_>, access: MemoryAccess) {
        let Some(data) = warp.registers.copies.latest() else { return };
        let banks = self.cx.memory.shared_banks;
        let traffic = CopyStore::new(data, access, &self.addresses, banks).traffic();
        if !access.lanes.is_empty() {
            self.access(warp, issue, access);
        }
        let Some(data) = warp.registers.copies.latest() else { return };
        let (cycle, sm, warp, pc) = (0, self.id, WarpId(issue.w as u32), issue.pc);
        if !O::FOLDS {
            self.observer.access(warp, pc, &written(data));
        }
        self.observer.on(Event::Memory { cycle, sm, warp, pc, traffic });
        self.observer.addresses(warp, pc, &traffic, &data.to);
    }

    /// Reports the bulk copies that the step has started, and lets them land.
    fn bulk_copies(&mut self, warp: &mut Warp, issue: &Issue<'_>) {
        let &Issue { w, pc, .. } = issue;
        let (cycle, sm, slot) = (0, self.id, WarpId(w as u32));
        for data in std::mem::take(&mut self.system.bulk) {
            show_bulk(&data, slot, &mut self.observer);
            for (traffic, address) in bulk_traffic(&data, &self.cx.memory) {
                if O::FOLDS {
                    self.observer.accesses(pc, &traffic, 1);
                    continue;
                }
                self.observer.on(Event::Memory { cycle, sm, warp: slot, pc, traffic });
                self.observer.addresses(slot, pc, &traffic, &[address; MAX_LANES]);
            }
            if data.object.is_none() {
                warp.registers.copies.add_bulk(&data, 0);
            }
            exec::land_bulk(&mut self.blocks[warp.block].shared, &data);
            self.pace.progress();
        }
    }

    /// Reports an operation on barrier objects.
    fn object(&mut self, warp: &mut Warp, issue: &Issue<'_>, access: MemoryAccess) {
        if access.changed {
            self.pace.progress();
        }
        self.access(warp, issue, access);
    }

    /// Writes copies that lanes wait for to shared memory.
    fn land(&mut self, warp: &mut Warp, issue: &Issue<'_>, lanes: LaneMask, groups: Option<u32>) {
        let shared = &mut self.blocks[warp.block].shared;
        let landed = exec::land_copies(&mut warp.registers, shared, lanes, groups);
        if !landed.is_empty() {
            self.pace.progress();
        }
        if !O::FOLDS {
            for data in &landed {
                self.observer.access(WarpId(issue.w as u32), Pc(data.pc), &written(data));
            }
        }
    }
}
