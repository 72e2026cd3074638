//! Streams and events. Both are names: work is done when the call that asks for it returns.

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
}

/// Flag of an event without a time.
pub(crate) const DISABLE_TIMING: u32 = 2;
/// All flags of events.
pub(crate) const EVENT_FLAGS: u32 = 7;
/// Lowest and highest priority of a stream.
pub(crate) const PRIORITIES: [i32; 2] = [0, -5];
