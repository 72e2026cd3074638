//! Streams and events. A stream is a name: all work is done in the order of the calls.

use std::time::Instant;

use crate::error::Error;
use crate::graph::capture::Point;
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
#[derive(Debug, Default)]
pub(crate) struct Event {
    pub(crate) context: Handle,
    pub(crate) flags: u32,
    /// Cycles of the device when it was recorded.
    pub(crate) recorded: Option<u64>,
    /// Time of the host when it was recorded, if the device was idle.
    pub(crate) idle: Option<Instant>,
    /// Records that are not done.
    pub(crate) pending: u32,
    /// Point of a capture, if it was last recorded in one.
    pub(crate) captured: Option<Point>,
}

/// Flag of an event without a time.
pub(crate) const DISABLE_TIMING: u32 = 2;
/// Flag of an event that other processes may wait for.
pub(crate) const INTERPROCESS: u32 = 4;
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
            event.idle = None;
            event.captured = None;
            event.pending = event.pending.saturating_sub(1);
        }
    }

    /// Records an event on a device that has nothing to do.
    pub(crate) fn record_idle(&mut self, event: Handle, device: usize) {
        self.record(event, device);
        if let Ok(event) = self.events.get_mut(event) {
            event.idle = Some(Instant::now());
        }
    }

    /// Returns the milliseconds from one event to another: simulated time, or that of the host if
    /// the device was idle from the first to the second.
    ///
    /// # Errors
    /// If an event has no time, was not recorded, or waits for work.
    pub(crate) fn elapsed(&mut self, start: Handle, end: Handle) -> Result<f64, Error> {
        let device = self.current_device()?;
        let (start, end) = (self.events.get(start)?, self.events.get(end)?);
        if (start.flags | end.flags) & DISABLE_TIMING != 0 {
            return Err(Error::INVALID_HANDLE);
        }
        if start.pending + end.pending > 0 {
            return Err(Error::NOT_READY);
        }
        let (Some(from), Some(to)) = (start.recorded, end.recorded) else {
            return Err(Error::INVALID_HANDLE);
        };
        if let (true, Some(from), Some(to)) = (from == to, start.idle, end.idle) {
            let forward = to.saturating_duration_since(from).as_secs_f64();
            return Ok((forward - from.saturating_duration_since(to).as_secs_f64()) * 1e3);
        }
        let device = &self.devices[device];
        Ok(device.milliseconds(to) - device.milliseconds(from))
    }
}
