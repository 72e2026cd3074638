//! Streams and events. A stream is a name: all work is done in the order of the calls.

use crate::state::Driver;
use crate::table::Handle;

/// A stream.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) context: Handle,
    pub(crate) flags: u32,
    pub(crate) priority: i32,
}

/// An event.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) context: Handle,
    pub(crate) flags: u32,
    /// Cycles of the device when it was recorded.
    pub(crate) recorded: Option<u64>,
    /// Records that are not done.
    pub(crate) pending: u32,
}

/// Flag of an event without a time.
pub(crate) const DISABLE_TIMING: u32 = 2;
/// All flags of events.
pub(crate) const EVENT_FLAGS: u32 = 7;
/// Lowest and highest priority of a stream.
pub(crate) const PRIORITIES: [i32; 2] = [0, -5];

impl Driver {
    /// Records an event with the cycles of a device. An event that was destroyed is left out.
    pub(crate) fn record(&mut self, event: Handle, device: usize) {
        let now = self.devices.get(device).map(|device| device.cycles);
        if let Ok(event) = self.events.get_mut(event) {
            event.recorded = now;
            event.pending = event.pending.saturating_sub(1);
        }
    }
}
