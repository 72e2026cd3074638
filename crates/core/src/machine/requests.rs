//! Queues of a scheduler's requests to units of the SM, for machine code.
//!
//! A load, a shuffle or an LDC does not wait at issue until its unit is free: the scheduler has a
//! queue for each kind of unit, and stalls only when it is full. Depths and rates were measured on
//! an H200 with up to 64 requests in sequence (docs/calibration.md).

use super::scheduler::Port;
use crate::base::Cycle;

/// Longest queue.
const MOST: usize = 32;

/// Requests of one scheduler to one kind of unit, or of all to the load/store unit.
#[derive(Clone, Copy, Default)]
pub(super) struct Requests {
    /// Service of the last requests, a ring.
    starts: [Cycle; MOST],
    /// Number of requests.
    count: usize,
    /// Cycle from which the scheduler's side of the unit takes the next one.
    pub free: Cycle,
}

impl Requests {
    /// Adds a request that is served at `start`. Returns when a queue of `depth` has room again.
    #[inline]
    pub(super) fn add(&mut self, start: Cycle, depth: u32) -> Cycle {
        self.starts[self.count % MOST] = start;
        self.count += 1;
        let depth = (depth as usize).clamp(1, MOST - 1);
        self.starts[(self.count + MOST - depth) % MOST]
    }
}

/// Number of queues of a scheduler.
pub(super) const QUEUES: usize = 5;
/// Queue of loads of constants.
pub(super) const CONSTANTS: usize = 2;
/// Queue of the texture unit, which PTX has, too.
pub(super) const TEXTURES: usize = 4;

/// Returns the queue of a port; `None` for those that instructions do not queue for.
#[inline]
pub(super) fn queue_of(port: Port) -> Option<usize> {
    match port {
        Port::Lsu => Some(0),
        Port::Global => Some(1),
        Port::Constant => Some(CONSTANTS),
        Port::Special => Some(3),
        Port::Texture => Some(TEXTURES),
        _ => None,
    }
}

/// Request that is being issued.
#[derive(Clone, Copy, Default)]
pub(super) struct Request {
    /// Earliest service.
    pub from: Cycle,
    /// Service of an access to memory.
    pub start: Option<Cycle>,
    /// Cycles for which it occupies the scheduler's side of the unit.
    pub cycles: u32,
    /// Cycles for which it stays in the scheduler's queue once the unit has taken it.
    pub read: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_has_room_when_its_oldest_request_is_served() {
        let mut requests = Requests::default();
        let room: Vec<Cycle> = (0..6).map(|i| requests.add(100 + 4 * i, 3)).collect();
        assert_eq!(room, [0, 0, 100, 104, 108, 112]);
    }
}
