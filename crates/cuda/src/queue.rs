//! Work that the program has asked for and that is not done: launches, records of events, and the
//! nodes of graphs.
//!
//! One thread of the driver does it in the order of the calls, whatever the streams, so results do
//! not depend on timing. The host goes on meanwhile. A call that needs the results waits for all
//! work ([`state::driver`]); what launches leave for the program, printed text and faults, arrives
//! with the next such call.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, MutexGuard, PoisonError};
use std::thread;

use crate::abi::output;
use crate::error::Error;
use crate::graph::plan::Branch;
use crate::launch::Ready;
use crate::operation::{Form, Operation};
use crate::state::{self, Driver};
use crate::table::Handle;

/// Work that may be waiting; a call that asks for more waits.
const MOST_WORK: usize = 1024;
/// Stack of the working thread, in bytes.
const STACK: usize = 16 << 20;

/// Signals that work ended.
static ENDED: Condvar = Condvar::new();

thread_local! {
    /// True in the thread that does the work while it calls a function of the program.
    static CALLS_BACK: Cell<bool> = const { Cell::new(false) };
}

/// Something that a stream does.
pub(crate) enum Work {
    /// A launch that was admitted.
    Launch(Box<Ready>),
    /// Record of an event on a device.
    Record(Handle, usize),
    /// Node of a graph that is no launch.
    Node(Box<Task>),
    /// Graphs of which a value chooses.
    Branch(Box<Branch>),
}

/// An operation in a context.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) context: Handle,
    pub(crate) operation: Operation,
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

/// Returns true in a function of the program that a graph calls: it must not call the driver, since
/// work waits for its end.
pub(crate) fn calls_back() -> bool {
    CALLS_BACK.get()
}

/// Adds work, all of it without other work in between, and lets a thread do it.
pub(crate) fn submit(
    mut driver: MutexGuard<'static, Driver>,
    work: impl IntoIterator<Item = Work>,
) {
    if driver.queue.waiting.len() >= MOST_WORK {
        driver = finish(driver);
    }
    driver.queue.waiting.extend(work);
    if driver.queue.waiting.is_empty() || std::mem::replace(&mut driver.queue.at_work, true) {
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
            Some(Work::Node(task)) => {
                let context = task.context;
                safely(context, "a node of a graph", || node(driver, &task));
            }
            Some(Work::Branch(branch)) => {
                let context = branch.context;
                safely(context, "a choice between graphs", || choose(driver, branch));
            }
            Some(Work::Launch(ready)) => {
                let context = ready.context;
                safely(context, "a launch", || launch(driver, *ready));
            }
        }
    }
}

/// Does work; a panic, which would be a bug, fails the context. The guard is dropped on the way.
fn safely(context: Handle, what: &str, work: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(work)).is_err()
        && let Ok(mut driver) = state::at_once()
    {
        driver.memory.take_back(Vec::new());
        let said = format!("simt-sim: {what} failed; this is a bug of simt-sim\n");
        driver.queue.leave(Left::Said(said));
        driver.fail(context, Error::UNKNOWN);
    }
}

/// Does a node of a graph that is no launch, unless its context is gone or had a fault.
fn node(mut driver: MutexGuard<'static, Driver>, task: &Task) {
    let Ok(context) = driver.contexts.get(task.context) else { return };
    if context.failed.is_some() {
        return;
    }
    if let Operation::Call(function, data) = task.operation {
        drop(driver);
        CALLS_BACK.set(true);
        function(data);
        CALLS_BACK.set(false);
        return;
    }
    if let Err(error) = driver.perform(task) {
        let said = format!(
            "simt-sim: a node of a graph failed: {} (memory that it uses was freed?)\n",
            crate::error::name(error.0).unwrap_or("unknown error"),
        );
        driver.queue.leave(Left::Said(said));
        driver.fail(task.context, Error::ILLEGAL_ADDRESS);
    }
}

/// Puts the work of the graph that a value chooses in front; a loop puts itself behind it.
fn choose(mut driver: MutexGuard<'static, Driver>, branch: Box<Branch>) {
    let Ok(context) = driver.contexts.get(branch.context) else { return };
    if context.failed.is_some() {
        return;
    }
    match driver.chosen(&branch) {
        Ok(mut work) => {
            if !work.is_empty() && branch.choice.form == Form::While {
                work.push(Work::Branch(branch));
            }
            work.into_iter().rev().for_each(|item| driver.queue.waiting.push_front(item));
        }
        Err(error) => driver.fail(branch.context, error),
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
