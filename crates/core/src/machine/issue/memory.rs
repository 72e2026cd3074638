//! Accesses of a step to memory: what observers see, the service, the load/store unit.

use super::super::atomics::Weight;
use super::super::fences;
use super::super::memsys::{Fetch, Served, Texels};
use super::super::partitions::{Partitions, Reached};
use super::super::pricing::Visibility;
use super::super::requests::Request;
use super::super::shares::Reader;
use super::super::warp::{Until, Warp};
use super::{Issue, Issuer, split};
use crate::base::{Cycle, LaneMask, MAX_LANES, Pc, WarpId};
use crate::event::{AccessWay, Cells, Event, LaneAccess, MemoryKind, Observer, Stall};
use crate::exec::{self, AccessKind, MemoryAccess, RegisterFile};
use crate::isa::Space;
use crate::kernel::{AtomicFn, Op, Scope};
use crate::spec::Policy;

impl<O: Observer> Issuer<'_, O> {
    /// Executes a load or store of shared memory whose addresses differ from those of the step's
    /// last one by a constant only. Returns the access, or `None` if it does nothing.
    ///
    /// [`Issuer::addresses`] are not set: the observer must not look at them.
    #[inline(always)]
    pub(super) fn repeat(&mut self, warp: &mut Warp, issue: &Issue<'_>) -> Option<MemoryAccess> {
        let &Issue { pc, lanes, cost, step, .. } = issue;
        if !O::FOLDS || !cost.repeats {
            return None;
        }
        let shape = self.memory.last_shape(pc)?;
        let (pattern, access) = (shape.pattern(), shape.access());
        let (registers, shared) = (&mut warp.registers, &mut self.blocks[warp.block].shared);
        let changed =
            exec::repeat(&step.inst.op, lanes, pattern, registers, self.cx.global, shared)?;
        self.memory.has_last_shape = true;
        Some(MemoryAccess { changed, ..access })
    }

    /// Shows an access to observers and transfers it.
    #[inline(always)]
    pub(super) fn access(
        &mut self,
        warp: &mut Warp,
        issue: &Issue<'_>,
        access: MemoryAccess,
    ) -> Served {
        let asked = asked(&issue.step.inst.op, access, &self.addresses, &warp.registers);
        self.observer.access(WarpId(issue.w as u32), issue.pc, &asked);
        self.transfer(warp, issue, access)
    }

    /// Shows the parts of an access to several memories and transfers them one after the other.
    ///
    /// Returns the cycle from which a dependent may issue.
    #[inline(never)]
    pub(super) fn accesses(
        &mut self,
        warp: &mut Warp,
        issue: &Issue<'_>,
        parts: &[MemoryAccess],
    ) -> Cycle {
        let (mut done, mut port, mut request) = (issue.now, 0, None::<Request>);
        for &part in parts {
            let served = self.access(warp, issue, part);
            (done, port) = (done.max(served.done), port + served.port);
            // The scheduler hands the instruction over once.
            let taken = self.request;
            let first = request.get_or_insert(taken);
            first.cycles = first.cycles.max(taken.cycles);
        }
        self.request = request.unwrap_or(self.request);
        if !self.native {
            self.shared.occupy_lsu(issue.now + port);
        }
        done
    }

    /// Serves an access and reports its traffic.
    #[inline(always)]
    pub(super) fn transfer(
        &mut self,
        warp: &mut Warp,
        issue: &Issue<'_>,
        access: MemoryAccess,
    ) -> Served {
        let &Issue { w, pc, now, cost, step, .. } = issue;
        let (sm, slot, price) = (self.id, WarpId(w as u32), Cycle::from(cost.latency));
        let served = self.serve(warp, (pc, &step.inst.op), access, (slot.0, price), now);
        let traffic = served.traffic;
        self.observer.on(Event::Memory { cycle: now, sm, warp: slot, pc, traffic });
        self.observer.addresses(slot, pc, &traffic, &self.addresses);
        served
    }

    /// Shows an access to a texture or surface to observers and transfers it.
    pub(super) fn image(
        &mut self,
        warp: &mut Warp,
        issue: &Issue<'_>,
        access: MemoryAccess,
    ) -> Served {
        let &Issue { w, pc, now, step, .. } = issue;
        let asked = asked(&step.inst.op, access, &self.addresses, &warp.registers);
        let memory = asked.memory;
        let (sm, slot) = (self.id, WarpId(w as u32));
        self.observer.access(slot, pc, &asked);
        let price = self.cx.spec.price(step.inst.class);
        let taps = std::mem::take(&mut self.system.taps);
        let (group, one_by_one) = (self.system.group, self.system.one_by_one);
        let texels = Texels { first: &self.addresses, taps: &taps, group, one_by_one };
        let direct = match &step.inst.op {
            Op::Texture(fetch) => fetch.integer,
            _ => true,
        };
        let fetch = Fetch { memory, direct, price, quads: self.cx.spec.warp_size.div_ceil(4) };
        let served = self.memory.image(self.request.from, access, texels, fetch);
        self.shared.queue_accepts(self.memory.accepts_at());
        self.request.start = Some(served.taken);
        self.request.cycles = 1;
        if access.kind != AccessKind::Read {
            warp.sent = warp.sent.max(served.begins);
        }
        let traffic = served.traffic;
        self.observer.on(Event::Memory { cycle: now, sm, warp: slot, pc, traffic });
        self.observer.addresses(slot, pc, &traffic, &self.addresses);
        served
    }

    /// Serves an access and makes the load/store unit busy.
    ///
    /// A step of machine code has been given the start of its [`Request`].
    fn serve(
        &mut self,
        warp: &mut Warp,
        (pc, op): (Pc, &Op),
        access: MemoryAccess,
        (slot, price): (u32, Cycle),
        now: Cycle,
    ) -> Served {
        let cx = self.cx;
        let weight = match access.kind {
            AccessKind::Atomic => Weight::of(op),
            _ => Weight::Plain,
        };
        let atomics = (weight, cx.atomics.as_ref());
        let native = cx.kernel.native.is_some();
        let from = if native { self.request.from } else { now };
        if native {
            let (block, since) = (warp.block_id.0.into(), warp.since);
            self.memory.reader = Reader { block, warp: warp.index, pc, since };
        }
        let mut served =
            self.memory.serve((now, from), (pc, access), &mut self.addresses, slot, price, atomics);
        if native && access.space == Space::Global {
            let times = [served.begins, served.done];
            served.done += self.further_in_l2(pc, access, times);
        }
        self.shared.queue_accepts(self.memory.accepts_at());
        if native {
            self.request.start = Some(served.taken);
            self.request.cycles = match (access.space, access.kind, op) {
                (_, _, Op::AsyncCopy(_)) => 6,
                (_, AccessKind::Read, _) => 2,
                (Space::Shared, AccessKind::Atomic, Op::Atomic(atomic)) => {
                    2 + 2 * atomic.operand_registers()
                }
                (_, AccessKind::Write, _) => 4,
                _ => 6,
            };
        } else {
            self.shared.occupy_lsu(now + served.port);
        }
        if let (Some(times), Some(_)) = (&cx.spec.sass, &cx.kernel.native) {
            let stored = access.kind == AccessKind::Write && access.space != Space::Shared;
            if access.kind != AccessKind::Read {
                let sent = match stored {
                    true => {
                        self.memory.stores_sent().max(served.begins + Cycle::from(times.stored))
                    }
                    // A compare-and-swap has an answer, which a warp waits for.
                    false if compares(op) => served.done,
                    false => served.begins,
                };
                warp.sent = warp.sent.max(sent);
            } else if matches!(access.space, Space::Const | Space::Param) {
                let far = access.space == Space::Const;
                let lanes = access.lanes.lanes();
                let addresses = lanes.map(|lane| self.addresses[lane as usize % MAX_LANES]);
                let load = self.constants.load(from, addresses, far);
                self.request.start = Some(load.taken);
                self.request.cycles = 4;
                self.request.read = times.constant_loads.read;
                served.done += load.begins - from + Cycle::from(times.constant_loads.register);
            }
        }
        served
    }

    /// Returns the cycles by which L2 delays an access of machine code to global memory.
    ///
    /// An access may go to the other partition, and a load waits for atomics in its unit. Without
    /// these it begins and ends at `times`.
    #[inline(always)]
    fn further_in_l2(&mut self, pc: Pc, access: MemoryAccess, times: [Cycle; 2]) -> Cycle {
        let cx = self.cx;
        if cx.program.has_fence {
            let reached = cx
                .partitions
                .as_ref()
                .map_or(Reached::NEAR, |all| all.reached(self.id, access.lanes, &self.addresses));
            self.reached = self.reached.with(reached);
        }
        let ordered = match self.costs[pc.index()].visibility {
            Visibility::Private | Visibility::Plain => return 0,
            Visibility::Reduction => false,
            Visibility::Ordered => cx.program.orders_atomics,
        };
        let delay = cx.partitions.as_ref().map_or(0, |partitions| {
            partitions.delay(self.id, access, &self.addresses, times, ordered)
        });
        // For stores and atomics only a fence waits.
        let reads = access.kind == AccessKind::Read;
        let Some(units) =
            cx.atomics.as_ref().filter(|_| ordered && (reads || cx.program.has_fence))
        else {
            return delay;
        };
        let waits = units.wait(access.lanes, &self.addresses, times[0]);
        if reads {
            return waits + delay;
        }
        self.behind_atomics = self.behind_atomics.max(times[0] + waits);
        delay
    }

    /// Returns the end of a fence of machine code at `now`, if it takes longer than its stall
    /// count.
    pub(super) fn fence(&mut self, warp: &Warp, scope: Scope, now: Cycle) -> Until {
        let times = self.cx.spec.sass.as_ref().filter(|_| self.native);
        let Some(times) = times.and_then(|times| times.fences) else { return Until::default() };
        let sent = self.memory.stores_sent().max(warp.sent).max(self.behind_atomics);
        let end = match scope {
            Scope::Block => return Until::default(),
            Scope::Gpu => {
                let reached = std::mem::take(&mut self.reached);
                let far = self.cx.partitions.as_ref().map_or(0, Partitions::far);
                let alone = reached.fence([times.gpu, times.accessed].map(Cycle::from), far);
                self.fences.gpu(now, alone, sent)
            }
            Scope::System => fences::system(&times, now, sent),
        };
        Until::new(end, Stall::Membar)
    }

    /// Lets the active lanes go on to `next` after an access.
    ///
    /// An adversarial schedule may part them here.
    #[inline]
    pub(super) fn proceed(&self, warp: &mut Warp, active: LaneMask, next: Pc) {
        match self.cx.spec.policy {
            Policy::Adversarial { seed } => {
                split(&mut warp.control, seed ^ u64::from(warp.index), active, next)
            }
            _ => warp.control.go(next),
        }
    }
}

/// Returns true for a compare-and-swap.
fn compares(op: &Op) -> bool {
    op.atomic().is_some_and(|atomic| atomic.f == AtomicFn::Cas)
}

/// Describes an access for observers.
#[inline(always)]
pub(in crate::machine) fn asked<'a>(
    op: &Op,
    access: MemoryAccess,
    addresses: &'a [u64; MAX_LANES],
    registers: &'a RegisterFile,
) -> LaneAccess<'a> {
    let mut stored = [None; 4];
    if let Op::Store(store) = op {
        for (cells, row) in stored.iter_mut().zip(store.s).take(store.access.count.into()) {
            let row = usize::from(row.0);
            let wide = store.access.wide;
            *cells = Some(if wide {
                Cells::Wide(&registers.wide[row])
            } else {
                Cells::Narrow(&registers.narrow[row])
            });
        }
    }
    let memory = match access.space {
        _ if matches!(op, Op::Texture(_)) => MemoryKind::Texture,
        _ if matches!(op, Op::Surface(_)) => MemoryKind::Surface,
        Space::Shared => MemoryKind::Shared,
        Space::Local => MemoryKind::Local,
        Space::Param | Space::Const => MemoryKind::Const,
        Space::Global | Space::Generic => MemoryKind::Global,
    };
    let way = match access.kind {
        AccessKind::Read => AccessWay::Load,
        AccessKind::Write => AccessWay::Store,
        AccessKind::Atomic => AccessWay::Atomic,
    };
    LaneAccess { memory, way, lanes: access.lanes, bytes: access.bytes.into(), addresses, stored }
}
