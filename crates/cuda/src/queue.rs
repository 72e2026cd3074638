//! Work that the program has asked for and that is not done: launches and records of events.
//!
//! One thread of the driver does it in the order of the calls, whatever the streams, so results do
//! not depend on timing. The host goes on meanwhile. A call that needs the results waits for all
//! work ([`state::driver`]); what launches leave for the program, printed text and faults, arrives
//! with the next such call.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, MutexGuard, PoisonError};
use std::thread;

use crate::abi::output;
use crate::error::Error;
use crate::launch::Ready;
use crate::state::{self, Driver};
use crate::table::Handle;

/// Work that may be waiting; a call that asks for more waits.
const MOST_WORK: usize = 1024;
/// Stack of the working thread, in bytes.
const STACK: usize = 16 << 20;

/// Signals that work ended.
static ENDED: Condvar = Condvar::new();

/// Something that a stream does.
pub(crate) enum Work {
    /// A launch that was admitted.
    Launch(Box<Ready>),
    /// Record of an event on a device.
    Record(Handle, usize),
}

/// Something that a launch leaves for the program.
pub(crate) enum Left {
    /// Bytes that a kernel printed.
    Printed(Vec<u8>),
    /// Lines for standard error.
    Said(String),
}

/// Work in order, and what it left.
#[derive(Default)]
pub(crate) struct Queue {
    waiting: VecDeque<Work>,
    /// True while a thread is at work.
    at_work: bool,
    left: Vec<Left>,
}

impl Queue {
    /// Returns true if work is not done.
    pub(crate) fn is_busy(&self) -> bool {
        self.at_work
    }

    /// Keeps something for the program until it waits.
    pub(crate) fn leave(&mut self, left: Left) {
        self.left.push(left);
    }
}

impl Driver {
    /// Hands over what finished work left: printed text, explanations, faults.
    pub(crate) fn arrive(&mut self) {
        for left in std::mem::take(&mut self.queue.left) {
            match left {
                Left::Printed(bytes) => output::print(&bytes),
                Left::Said(text) => self.reports.tell(&text),
            }
        }
        self.contexts.each(|context| context.fault = context.fault.or(context.failed));
    }
}

/// Waits until all work is done.
pub(crate) fn finish(mut driver: MutexGuard<'static, Driver>) -> MutexGuard<'static, Driver> {
    while driver.queue.at_work {
        driver = ENDED.wait(driver).unwrap_or_else(PoisonError::into_inner);
    }
    driver.arrive();
    driver
}

/// Adds work and lets a thread do it.
pub(crate) fn submit(mut driver: MutexGuard<'static, Driver>, work: Work) {
    if driver.queue.waiting.len() >= MOST_WORK {
        driver = finish(driver);
    }
    driver.queue.waiting.push_back(work);
    if std::mem::replace(&mut driver.queue.at_work, true) {
        return;
    }
    drop(driver);
    let worker = thread::Builder::new().name("simt-sim".to_owned()).stack_size(STACK);
    if worker.spawn(work_off).is_err() {
        work_off(); // without a thread, the caller does it
    }
}

/// Does all work, and ends.
fn work_off() {
    while let Ok(mut driver) = state::at_once() {
        match driver.queue.waiting.pop_front() {
            None => {
                driver.queue.at_work = false;
                ENDED.notify_all();
                return;
            }
            Some(Work::Record(event, device)) => driver.record(event, device),
            Some(Work::Launch(ready)) => {
                let context = ready.context;
                // The guard is dropped on the way; a panic would be a bug.
                let run = AssertUnwindSafe(|| launch(driver, *ready));
                if catch_unwind(run).is_err()
                    && let Ok(mut driver) = state::at_once()
                {
                    driver.memory.take_back(Vec::new());
                    let said = "simt-sim: a launch failed; this is a bug of simt-sim\n";
                    driver.queue.leave(Left::Said(said.to_owned()));
                    driver.fail(context, Error::UNKNOWN);
                }
            }
        }
    }
}

/// Runs a launch while the driver is free for other calls.
fn launch(mut driver: MutexGuard<'static, Driver>, ready: Ready) {
    let Some(running) = driver.begin(ready) else {
        return;
    };
    drop(driver);
    let ended = running.run();
    if let Ok(mut driver) = state::at_once() {
        driver.settle(ended);
    }
}
