//! Who listens to a session: keeps the events of one step, and the addresses of its access.

use crate::base::{MAX_LANES, Pc, WarpId};
use crate::event::{AccessWay, Event, MemoryKind, Observer, Traffic};

/// A memory access, with its addresses.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// The warp slot.
    pub slot: WarpId,
    /// The step.
    pub pc: Pc,
    /// What it did to the memory system.
    pub traffic: Traffic,
    /// The byte address of each lane, as [`Observer::addresses`] shows it.
    pub addresses: [u64; MAX_LANES],
}

/// What was heard since it was cleared.
#[derive(Clone, Default)]
pub(super) struct Ears {
    events: Vec<Event>,
    access: Option<Access>,
}

impl Ears {
    pub(super) fn clear(&mut self) {
        self.events.clear();
        self.access = None;
    }

    pub(super) fn events(&self) -> &[Event] {
        &self.events
    }

    pub(super) fn access(&self) -> Option<&Access> {
        self.access.as_ref()
    }

    /// Of a step that takes a slot: free ones follow another, or the last part of another.
    pub(super) fn heard_issue(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::Issue { slots: 1.., .. }))
    }

    /// The first and the last byte of global memory that each lane may have changed: an access of up to 16 bytes lies in at
    /// most two pages.
    pub(super) fn changed_addresses(&self) -> impl Iterator<Item = u64> + '_ {
        let global = |a: &&Access| a.traffic.memory == MemoryKind::Global && a.traffic.kind != AccessWay::Load;
        self.access.iter().filter(global).flat_map(|a| {
            let last = u64::from(a.traffic.bytes_per_lane().max(1)) - 1;
            a.traffic.lanes.lanes().flat_map(move |lane| {
                let first = a.addresses[lane as usize % MAX_LANES];
                [first, first + last]
            })
        })
    }
}

impl Observer for Ears {
    fn on(&mut self, event: Event) {
        self.events.push(event);
    }

    fn addresses(&mut self, slot: WarpId, pc: Pc, traffic: &Traffic, addresses: &[u64; MAX_LANES]) {
        self.access = Some(Access { slot, pc, traffic: *traffic, addresses: *addresses });
    }

    fn merge(&mut self, _: Ears) {}
}
