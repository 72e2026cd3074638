//! Record of executed steps: the last step and memory access of each warp, and recent remarks.
//!
//! It is part of every checkpoint, so it stays correct after going back.

use std::collections::VecDeque;

use crate::base::{BlockId, Cycle, LaneMask, Pc, SmId, WarpId};
use crate::event::{Event, MemoryKind};
use crate::machine::{Access, Session};

/// Number of remarks kept.
const REMARKS: usize = 64;

/// Step: an issue of a warp and its consequences.
#[derive(Clone, Debug, PartialEq)]
pub struct StepNote {
    /// Issue cycle.
    pub cycle: Cycle,
    /// SM of the warp.
    pub sm: SmId,
    /// Warp slot.
    pub slot: WarpId,
    /// Block of the warp.
    pub block: BlockId,
    /// Warp index in the block.
    pub warp: u32,
    /// PC of the issued step.
    pub pc: Pc,
    /// Active mask.
    pub active: LaneMask,
    /// Active lanes whose guard is true.
    pub lanes: LaneMask,
    /// For a conditional branch: the lanes that took it.
    pub taken: Option<LaneMask>,
    /// Lanes active after reconvergence, if more than before.
    pub met: Option<LaneMask>,
    /// True if the warp arrived at a block barrier.
    pub arrived: bool,
    /// Number of the block's warps released by a barrier.
    pub released: u32,
    /// Bytes that each lane printed, in order.
    pub printed: Vec<(u32, Vec<u8>)>,
}

impl StepNote {
    /// Returns true for a divergent branch.
    pub fn diverges(&self) -> bool {
        self.taken.is_some_and(|taken| !taken.is_empty() && taken != self.active)
    }
}

/// Remark on an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remark {
    /// Cycle of the event.
    pub cycle: Cycle,
    /// Block of the warp.
    pub block: BlockId,
    /// Warp index in the block.
    pub warp: u32,
    /// Event.
    pub what: Happening,
}

/// Event of a warp that deserves a remark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Happening {
    /// Divergence at a branch.
    Diverged {
        /// PC of the branch.
        pc: Pc,
        /// Lanes that take the branch.
        taken: LaneMask,
        /// Lanes that fall through.
        others: LaneMask,
    },
    /// Reconvergence of lanes.
    Met {
        /// Step after which they are reconverged.
        pc: Pc,
        /// Lanes that continue together.
        lanes: LaneMask,
    },
    /// Arrival at a block barrier.
    Arrived {
        /// PC of the barrier.
        pc: Pc,
    },
    /// Completion of a barrier, which releases warps.
    Released {
        /// Number of released warps.
        warps: u32,
    },
    /// Exit of its last lane.
    WarpEnded,
    /// End of its block.
    BlockEnded,
    /// Start of a block.
    BlockStarted,
    /// Change of a register by the user.
    Changed {
        /// Changed lanes.
        lanes: LaneMask,
    },
}

/// Record of the steps up to a position.
#[derive(Clone, Default)]
pub(super) struct StepLog {
    /// Last step.
    pub last: Option<StepNote>,
    /// Last step and last memory access of each resident warp, by SM and slot.
    slots: Vec<Vec<Slot>>,
    pub remarks: VecDeque<Remark>,
}

#[derive(Clone, Default)]
struct Slot {
    /// Block of the warp, and its index in it.
    warp: Option<(BlockId, u32)>,
    /// True if lanes waited at a barrier after the last step that concerned its block.
    waited: bool,
    last: Option<StepNote>,
    access: Option<Box<(Cycle, Access)>>,
}

impl StepLog {
    /// Creates a record with the warps resident at the start.
    pub(super) fn new(session: &Session<'_>) -> StepLog {
        let mut notes = StepLog::default();
        for sm in 0..session.sms().count() {
            for warp in session.warps(sm, 0) {
                notes.slot(sm, warp.slot).warp = Some((warp.block, warp.index));
            }
        }
        notes
    }

    /// Returns the last step of the warp in a slot.
    pub(super) fn last_of(&self, sm: usize, slot: WarpId) -> Option<&StepNote> {
        self.slots.get(sm)?.get(slot.index())?.last.as_ref()
    }

    /// Returns the last memory access of the warp in a slot, with its cycle.
    pub(super) fn access_of(&self, sm: usize, slot: WarpId) -> Option<&(Cycle, Access)> {
        self.slots.get(sm)?.get(slot.index())?.access.as_deref()
    }

    /// Adds a remark. Edits of several lanes at one position merge into one.
    pub(super) fn remark(&mut self, mut remark: Remark) {
        if let Some(&before) = self.remarks.back()
            && (before.cycle, before.block, before.warp)
                == (remark.cycle, remark.block, remark.warp)
            && let (Happening::Changed { lanes: a }, Happening::Changed { lanes: b }) =
                (before.what, remark.what)
        {
            self.remarks.pop_back();
            remark.what = Happening::Changed { lanes: a | b };
        }
        if self.remarks.len() == REMARKS {
            self.remarks.pop_front();
        }
        self.remarks.push_back(remark);
    }

    fn slot(&mut self, sm: usize, slot: WarpId) -> &mut Slot {
        if self.slots.len() <= sm {
            self.slots.resize_with(sm + 1, Vec::new);
        }
        let slots = &mut self.slots[sm];
        if slots.len() <= slot.index() {
            slots.resize_with(slot.index() + 1, Slot::default);
        }
        &mut slots[slot.index()]
    }

    /// Records the step that the session has just executed.
    pub(super) fn take(&mut self, session: &Session<'_>) {
        let sm = session.last_sm();
        self.last = None;
        let Some(mut note) = self.first_issue(session) else { return };
        let (block, warp) = (note.block, note.warp);
        note.printed = session.printed().to_vec();
        for event in session.events() {
            let (cycle, what) = match *event {
                Event::Branch { cycle, pc, active, taken, .. } => {
                    note.taken = Some(taken);
                    if !note.diverges() {
                        continue;
                    }
                    (cycle, Happening::Diverged { pc, taken, others: active - taken })
                }
                Event::Barrier { cycle, pc, .. } => {
                    note.arrived = true;
                    (cycle, Happening::Arrived { pc })
                }
                Event::WarpEnd { cycle, .. } => (cycle, Happening::WarpEnded),
                Event::BlockEnd { cycle, .. } => (cycle, Happening::BlockEnded),
                Event::BlockStart { cycle, block, .. } => {
                    self.remark(Remark { cycle, block, warp: 0, what: Happening::BlockStarted });
                    continue;
                }
                Event::WarpStart { warp, block, index, .. } => {
                    *self.slot(sm, warp) = Slot { warp: Some((block, index)), ..Slot::default() };
                    continue;
                }
                _ => continue,
            };
            self.remark(Remark { cycle, block, warp, what });
        }
        let here = |who: Option<(BlockId, u32)>| who == Some((block, warp));
        let itself = session
            .warp(sm, note.slot, note.cycle)
            .filter(|now| here(Some((now.block, now.index))));
        let live = itself.as_ref().map_or(LaneMask::EMPTY, |now| now.control.live());
        if let Some((_, after)) = itself.and_then(|now| now.control.active()) {
            let before = note.active & live;
            note.met =
                (!before.is_empty() && before.is_subset(after) && before != after).then_some(after);
        }
        // Only arrivals and exited lanes can open a barrier.
        if note.arrived || !note.active.is_subset(live) {
            for other in session.warps(sm, note.cycle).filter(|other| other.block == block) {
                let waits = other.at_barrier;
                let slot = self.slot(sm, other.slot);
                let came = note.arrived && other.slot == note.slot;
                note.released += u32::from((slot.waited || came) && !waits);
                slot.waited = waits;
            }
        }
        let remark = |what| Remark { cycle: note.cycle, block, warp, what };
        let remarks = [
            note.met.map(|lanes| remark(Happening::Met { pc: note.pc, lanes })),
            (note.released > 0).then(|| remark(Happening::Released { warps: note.released })),
        ];
        remarks.into_iter().flatten().for_each(|remark| self.remark(remark));
        // The slot may already hold the first warp of the next block.
        let slot = self.slot(sm, note.slot);
        if here(slot.warp) {
            slot.last = Some(note.clone());
            // Constants and parameters use no banks or sectors.
            if let Some(access) = session.access().filter(|a| a.traffic.memory != MemoryKind::Const)
            {
                slot.access = Some(Box::new((note.cycle, access.clone())));
            }
        }
        self.last = Some(note);
    }

    /// Returns the issue of the step; free steps follow it.
    fn first_issue(&self, session: &Session<'_>) -> Option<StepNote> {
        session.events().iter().find_map(|event| match *event {
            Event::Issue { cycle, sm, warp: slot, pc, active, lanes, .. } => {
                let (block, warp) = self.slots.get(session.last_sm())?.get(slot.index())?.warp?;
                let (taken, met, arrived, released) = (None, None, false, 0);
                Some(StepNote {
                    cycle,
                    sm,
                    slot,
                    block,
                    warp,
                    pc,
                    active,
                    lanes,
                    taken,
                    met,
                    arrived,
                    released,
                    printed: Vec::new(),
                })
            }
            _ => None,
        })
    }
}
