//! Streams and events.

use std::sync::MutexGuard;
use std::thread;
use std::time::Duration;

use super::entry_points;
use super::pointer::Out;
use crate::error::Error;
use crate::operation::Operation;
use crate::queue::{self, Work};
use crate::state::{self, Driver, at_once, driver};
use crate::stream::{DISABLE_TIMING, EVENT_FLAGS, Event, INTERPROCESS, PRIORITIES, Stream};
use crate::table::Handle;

/// Function of the host that a stream calls with stream, status and data.
pub(super) type Callback = extern "C" fn(Handle, u32, usize);

/// Flag of a record or a wait: one that is a node if the stream is captured.
const EXTERNAL: u32 = 1;
/// Time before a caller hears that work is not done.
const POLL: Duration = Duration::from_micros(20);

fn create(out: Out<Handle>, flags: u32, priority: i32) -> Result<(), Error> {
    let mut driver = at_once()?;
    let (context, _) = driver.context()?;
    out.check()?;
    if flags > 1 {
        return Err(Error::INVALID_VALUE);
    }
    let priority = priority.clamp(PRIORITIES[1], PRIORITIES[0]);
    let stream = driver.streams.add(Stream { context, flags, priority });
    out.set(stream)
}

/// Waits for a stream and checks that its context is sound.
fn synchronize(stream: Handle) -> Result<(), Error> {
    let mut driver = at_once()?;
    driver.stream(stream)?;
    driver.refuse_waiting(stream)?;
    driver = queue::finish(driver);
    driver.trim_pools();
    driver.context().map(|_| ())
}

/// Reports that work is not done. Callers ask again and again, so it gives way to others.
fn not_ready(driver: MutexGuard<'static, Driver>) -> Result<(), Error> {
    drop(driver);
    thread::sleep(POLL);
    Err(Error::NOT_READY)
}

fn record(event: Handle, stream: Handle, external: bool) -> Result<(), Error> {
    let mut driver = at_once()?;
    let device = driver.current_device()?;
    driver.stream(stream)?;
    if driver.captured(stream)?.is_some() {
        if external {
            return driver.capture(stream, Operation::Record(event)).map(|_| ());
        }
        let point = driver.point(stream);
        driver.events.get_mut(event)?.captured = point;
        return Ok(());
    }
    driver.refuse_implicit(stream)?;
    if driver.events.get(event)?.flags & INTERPROCESS != 0 {
        driver = queue::finish(driver);
    }
    let found = driver.events.get_mut(event)?;
    found.pending += 1;
    found.captured = None;
    if driver.queue.is_busy() {
        queue::submit(driver, [Work::Record(event, device)]);
        return Ok(());
    }
    driver.record_idle(event, device);
    Ok(())
}

fn elapsed(milliseconds: Out<f32>, start: Handle, end: Handle) -> Result<(), Error> {
    let mut driver = at_once()?;
    driver.context()?;
    milliseconds.check()?;
    driver.refuse_captured_event(start)?;
    driver.refuse_captured_event(end)?;
    milliseconds.set(driver.elapsed(start, end)? as f32)
}

entry_points! {
    fn cuStreamCreate(stream: Out<Handle>, flags: u32) {
        create(stream, flags, 0)
    }

    fn cuStreamCreateWithPriority(stream: Out<Handle>, flags: u32, priority: i32) {
        create(stream, flags, priority)
    }

    fn cuStreamDestroy_v2(stream: Handle) {
        let mut driver = at_once()?;
        driver.forget_captured(stream);
        driver.streams.remove(stream)?;
        driver.context().map(|_| ())
    }

    fn cuStreamQuery(stream: Handle) {
        if queue::calls_back() {
            return Err(Error::NOT_READY); // of all calls, a function of a graph may make this one
        }
        let mut driver = at_once()?;
        driver.stream(stream)?;
        driver.refuse_waiting(stream)?;
        if driver.queue.is_busy() {
            return not_ready(driver);
        }
        driver.arrive();
        driver.context().map(|_| ())
    }

    fn cuStreamSynchronize(stream: Handle) {
        synchronize(stream)
    }

    fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32) {
        let mut driver = at_once()?;
        driver.stream(stream)?;
        driver.events.get(event)?;
        if flags > 1 {
            return Err(Error::INVALID_VALUE);
        }
        if flags == EXTERNAL && driver.captured(stream)?.is_some() {
            return driver.capture(stream, Operation::Wait(event)).map(|_| ());
        }
        if !driver.wait_captured(stream, event)? {
            driver.refuse_implicit(stream)?;
        }
        Ok(())
    }

    fn cuStreamAddCallback(
        stream: Handle, callback: Option<Callback>, data: usize, flags: u32,
    ) {
        let callback = callback.ok_or(Error::INVALID_VALUE)?;
        if flags != 0 {
            return Err(Error::INVALID_VALUE);
        }
        at_once()?.refuse_on(stream)?;
        // The program's thread calls it, after all work before it.
        let status = match synchronize(stream) {
            Err(Error::INVALID_HANDLE) => return Err(Error::INVALID_HANDLE),
            other => other.err().map_or(0, |error| error.0),
        };
        callback(stream, status, data);
        Ok(())
    }

    fn cuStreamAttachMemAsync(stream: Handle, address: u64, _bytes: usize, _flags: u32) {
        let mut driver = driver()?;
        driver.stream(stream)?;
        driver.refuse_on(stream)?;
        driver.memory.find(address).map(|_| ()).ok_or(Error::INVALID_VALUE)
    }

    fn cuStreamGetCtx(stream: Handle, context: Out<Handle>) {
        let driver = at_once()?;
        driver.stream(stream)?;
        let own = driver.streams.get(stream).map(|stream| stream.context);
        context.set(own.unwrap_or_else(|_| state::current()))
    }

    fn cuStreamGetDevice(stream: Handle, device: Out<i32>) {
        let mut driver = at_once()?;
        driver.stream(stream)?;
        let own = driver.streams.get(stream).map(|stream| stream.context);
        let found = match own {
            Ok(context) => driver.contexts.get(context)?.device,
            Err(_) => driver.current_device()?,
        };
        device.set(found as i32)
    }

    fn cuStreamGetFlags(stream: Handle, flags: Out<u32>) {
        let driver = at_once()?;
        driver.stream(stream)?;
        flags.set(driver.streams.get(stream).map_or(0, |stream| stream.flags))
    }

    fn cuStreamGetPriority(stream: Handle, priority: Out<i32>) {
        let driver = at_once()?;
        driver.stream(stream)?;
        priority.set(driver.streams.get(stream).map_or(0, |stream| stream.priority))
    }

    fn cuStreamGetId(stream: Handle, id: Out<u64>) {
        at_once()?.stream(stream)?;
        id.set(stream)
    }

    fn cuEventCreate(event: Out<Handle>, flags: u32) {
        let mut driver = at_once()?;
        let (context, _) = driver.context()?;
        event.check()?;
        let is_timed = flags & DISABLE_TIMING == 0;
        if flags & !EVENT_FLAGS != 0 || flags & INTERPROCESS != 0 && is_timed {
            return Err(Error::INVALID_VALUE);
        }
        let made = driver.events.add(Event { context, flags, ..Event::default() });
        event.set(made)
    }

    fn cuEventDestroy_v2(event: Handle) {
        at_once()?.events.remove(event).map(|_| ())
    }

    fn cuEventRecord(event: Handle, stream: Handle) {
        record(event, stream, false)
    }

    fn cuEventRecordWithFlags(event: Handle, stream: Handle, flags: u32) {
        if flags > 1 {
            return Err(Error::INVALID_VALUE);
        }
        record(event, stream, flags == EXTERNAL)
    }

    fn cuEventQuery(event: Handle) {
        let mut driver = at_once()?;
        driver.context()?;
        driver.refuse_captured_event(event)?;
        driver.refuse_captures()?;
        if driver.events.get(event)?.pending > 0 {
            return not_ready(driver);
        }
        if !driver.queue.is_busy() {
            driver.arrive();
        }
        driver.context().map(|_| ())
    }

    fn cuEventSynchronize(event: Handle) {
        let mut driver = at_once()?;
        driver.context()?;
        driver.refuse_captured_event(event)?;
        driver.refuse_captures()?;
        let mut driver = queue::finish(driver);
        driver.trim_pools();
        driver.context()?;
        driver.events.get(event).map(|_| ())
    }

    fn cuEventElapsedTime(milliseconds: Out<f32>, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }

    fn cuEventElapsedTime_v2(milliseconds: Out<f32>, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }
}
