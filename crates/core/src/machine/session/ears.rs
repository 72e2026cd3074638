//! Listener of a session: records the events of one step and the addresses of its access.

use super::PAGE;
use crate::base::{MAX_LANES, Pc, WarpId};
use crate::event::{AccessWay, Event, MemoryKind, Observer, Printed, Traffic};

/// Memory access with its addresses.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// Warp slot.
    pub slot: WarpId,
    /// PC of the access.
    pub pc: Pc,
    /// Traffic in the memory system.
    pub traffic: Traffic,
    /// Byte address of each lane, as in [`Observer::addresses`].
    pub addresses: [u64; MAX_LANES],
}

/// Events since the last clear.
#[derive(Clone, Default)]
pub(super) struct Listener {
    events: Vec<Event>,
    /// In order; an instruction may access several memories.
    accesses: Vec<Access>,
    printed: Vec<(u32, Vec<u8>)>,
}

impl Listener {
    pub(super) fn clear(&mut self) {
        self.events.clear();
        self.accesses.clear();
        self.printed.clear();
    }

    pub(super) fn events(&self) -> &[Event] {
        &self.events
    }

    /// Returns the last access.
    pub(super) fn access(&self) -> Option<&Access> {
        self.accesses.last()
    }

    /// Returns what lanes printed, with the lane, in order.
    pub(super) fn printed(&self) -> &[(u32, Vec<u8>)] {
        &self.printed
    }

    /// Returns true for a step that takes an issue slot. Free steps follow another step or its last
    /// micro-op.
    pub(super) fn has_issue(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::Issue { slots: 1.., .. }))
    }

    /// Returns global bytes that lanes may have changed, at least one of each page.
    pub(super) fn changed_addresses(&self) -> impl Iterator<Item = u64> + '_ {
        let global = |a: &&Access| {
            a.traffic.memory == MemoryKind::Global && a.traffic.kind != AccessWay::Load
        };
        self.accesses.iter().filter(global).flat_map(|a| {
            let last = u64::from(a.traffic.bytes_per_lane().max(1)) - 1;
            a.traffic.lanes.lanes().flat_map(move |lane| {
                let first = a.addresses[lane as usize % MAX_LANES];
                (first..first + last).step_by(4 * PAGE).chain([first + last])
            })
        })
    }
}

impl Observer for Listener {
    fn on(&mut self, event: Event) {
        self.events.push(event);
    }

    fn addresses(&mut self, slot: WarpId, pc: Pc, traffic: &Traffic, addresses: &[u64; MAX_LANES]) {
        self.accesses.push(Access { slot, pc, traffic: *traffic, addresses: *addresses });
    }

    fn printed(&mut self, printed: &Printed<'_>) {
        self.printed.push((printed.lane, printed.text.to_vec()));
    }

    fn merge(&mut self, _: Listener) {}
}
