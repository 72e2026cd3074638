//! What the steps did, as far as someone who looks at a place wants to know: the last step of each warp and its last memory
//! access, and the last remarks. Part of every checkpoint, so that they are right after going back.

use std::collections::VecDeque;

use crate::base::{BlockId, Cycle, LaneMask, Pc, SmId, WarpId};
use crate::event::{Event, MemoryKind};
use crate::machine::{Access, Session};

/// Remarks kept.
const REMARKS: usize = 64;

/// One step: an issue of a warp, and what followed from it.
#[derive(Clone, Debug, PartialEq)]
pub struct StepNote {
    /// When.
    pub cycle: Cycle,
    /// Where.
    pub sm: SmId,
    /// The warp's slot.
    pub slot: WarpId,
    /// Its block.
    pub block: BlockId,
    /// Its index in the block.
    pub warp: u32,
    /// What was issued.
    pub pc: Pc,
    /// The active mask.
    pub active: LaneMask,
    /// The active lanes whose guard held.
    pub lanes: LaneMask,
    /// For a conditional branch: the lanes that branched.
    pub taken: Option<LaneMask>,
    /// The lanes that go on together now, where these are more than were active: lanes have met.
    pub met: Option<LaneMask>,
    /// Whether the warp arrived at a block barrier.
    pub arrived: bool,
    /// Warps of the block that a barrier let go.
    pub released: u32,
}

impl StepNote {
    /// Whether it is a branch whose lanes part.
    pub fn diverges(&self) -> bool {
        self.taken.is_some_and(|taken| !taken.is_empty() && taken != self.active)
    }
}

/// Something worth telling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remark {
    /// When.
    pub cycle: Cycle,
    /// The block.
    pub block: BlockId,
    /// The warp's index in it.
    pub warp: u32,
    /// What.
    pub what: Happening,
}

/// What can happen to a warp that is worth telling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Happening {
    /// Its lanes part at a branch.
    Diverged {
        /// The branch.
        pc: Pc,
        /// The lanes that branch.
        taken: LaneMask,
        /// The others.
        others: LaneMask,
    },
    /// Lanes of it meet.
    Met {
        /// The step behind which they do.
        pc: Pc,
        /// Those that go on together.
        lanes: LaneMask,
    },
    /// It arrives at a block barrier.
    Arrived {
        /// The barrier.
        pc: Pc,
    },
    /// It completes a barrier, which lets warps go.
    Released {
        /// How many.
        warps: u32,
    },
    /// Its last lane ends.
    WarpEnded,
    /// Its block ends.
    BlockEnded,
    /// A block begins.
    BlockStarted,
    /// A register of it was changed from outside.
    Changed {
        /// The lanes.
        lanes: LaneMask,
    },
}

/// What is remembered at a place.
#[derive(Clone, Default)]
pub(super) struct Notes {
    /// The last step.
    pub last: Option<StepNote>,
    /// By SM and slot: the last step, and the last memory access, of the warp that is there.
    slots: Vec<Vec<Slot>>,
    pub remarks: VecDeque<Remark>,
}

#[derive(Clone, Default)]
struct Slot {
    /// Block and index of the warp.
    warp: Option<(BlockId, u32)>,
    /// Whether lanes of it waited at a barrier after the last step that concerned its block.
    waited: bool,
    last: Option<StepNote>,
    access: Option<Box<(Cycle, Access)>>,
}

impl Notes {
    /// Before the first step: who is there.
    pub(super) fn new(session: &Session<'_>) -> Notes {
        let mut notes = Notes::default();
        for sm in 0..session.sms().count() {
            for warp in session.warps(sm, 0) {
                notes.slot(sm, warp.slot).warp = Some((warp.block, warp.index));
            }
        }
        notes
    }

    /// The last step of the warp in a slot.
    pub(super) fn last_of(&self, sm: usize, slot: WarpId) -> Option<&StepNote> {
        self.slots.get(sm)?.get(slot.index())?.last.as_ref()
    }

    /// The last memory access of the warp in a slot, and when.
    pub(super) fn access_of(&self, sm: usize, slot: WarpId) -> Option<&(Cycle, Access)> {
        self.slots.get(sm)?.get(slot.index())?.access.as_deref()
    }

    /// Adds a remark; changes of several lanes at one place are one.
    pub(super) fn remark(&mut self, mut remark: Remark) {
        if let Some(&before) = self.remarks.back()
            && (before.cycle, before.block, before.warp) == (remark.cycle, remark.block, remark.warp)
            && let (Happening::Changed { lanes: a }, Happening::Changed { lanes: b }) = (before.what, remark.what)
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

    /// Takes note of the step that the session has just made.
    pub(super) fn take(&mut self, session: &Session<'_>) {
        let sm = session.last_sm();
        self.last = None;
        let Some(mut note) = self.first_issue(session) else { return };
        let (block, warp) = (note.block, note.warp);
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
        let itself = session.warp(sm, note.slot, note.cycle).filter(|now| here(Some((now.block, now.index))));
        let live = itself.as_ref().map_or(LaneMask::EMPTY, |now| now.control.live());
        if let Some((_, after)) = itself.and_then(|now| now.control.active()) {
            let before = note.active & live;
            note.met = (!before.is_empty() && before.is_subset(after) && before != after).then_some(after);
        }
        // Only arrivals, and lanes that ended, can open a barrier.
        if note.arrived || !note.active.is_subset(live) {
            for other in session.warps(sm, note.cycle).filter(|other| other.block == block) {
                let waits = other.at_barrier;
                let slot = self.slot(sm, other.slot);
                let came = note.arrived && other.slot == note.slot;
                note.released += u32::from((slot.waited || came) && !waits);
                slot.waited = waits;
            }
        }
        let told = |what| Remark { cycle: note.cycle, block, warp, what };
        let remarks = [
            note.met.map(|lanes| told(Happening::Met { pc: note.pc, lanes })),
            (note.released > 0).then(|| told(Happening::Released { warps: note.released })),
        ];
        remarks.into_iter().flatten().for_each(|remark| self.remark(remark));
        // Its slot may hold the first warp of the next block by now.
        let slot = self.slot(sm, note.slot);
        if here(slot.warp) {
            slot.last = Some(note.clone());
            // Constants and parameters ask nothing of banks and sectors.
            if let Some(access) = session.access().filter(|a| a.traffic.memory != MemoryKind::Const) {
                slot.access = Some(Box::new((note.cycle, access.clone())));
            }
        }
        self.last = Some(note);
    }

    /// The issue that the step consists of; the free ones follow it.
    fn first_issue(&self, session: &Session<'_>) -> Option<StepNote> {
        session.events().iter().find_map(|event| match *event {
            Event::Issue { cycle, sm, warp: slot, pc, active, lanes, .. } => {
                let (block, warp) = self.slots.get(session.last_sm())?.get(slot.index())?.warp?;
                let (taken, met, arrived, released) = (None, None, false, 0);
                Some(StepNote { cycle, sm, slot, block, warp, pc, active, lanes, taken, met, arrived, released })
            }
            _ => None,
        })
    }
}
