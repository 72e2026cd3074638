//! Operations: what a stream or a node of a graph does, as values with their arguments.
//!
//! A call makes an operation first. It is done in the order of the calls, or becomes a node if its
//! stream is captured.

use std::sync::Arc;

use crate::copy::BlockCopy;
use crate::error::Error;
use crate::fill::Fill;
use crate::launch::Request;
use crate::queue::{self, Task, Work};
use crate::state::{self, Driver, at_once};
use crate::table::Handle;

/// Function of the host that a stream calls.
pub(crate) type HostFunction = extern "C" fn(usize);

/// Something that a stream or a node of a graph does.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Launch(Request),
    Copy(BlockCopy),
    Set(Fill),
    /// Call of a function with its argument.
    Call(HostFunction, usize),
    /// Nodes of another graph.
    Graph(Handle),
    Empty,
    /// Wait for an event.
    Wait(Handle),
    /// Record of an event.
    Record(Handle),
    /// Allocation of memory of a graph.
    Allocate(Allocation),
    /// End of memory of a graph, by address.
    Free(u64),
    /// Graphs of which a value chooses.
    Choice(Choice),
}

/// Choice between graphs by a value that kernels set.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    /// Address of the value, which is the conditional handle.
    pub(crate) value: u64,
    pub(crate) form: Form,
    /// Graphs in memory of their own, which the program may read.
    pub(crate) bodies: Arc<[Handle]>,
}

/// Form of a choice, a number of `CUgraphConditionalNodeType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The first graph unless the value is 0, else the second, if there is one.
    If,
    /// The graph again and again until the value is 0.
    While,
    /// The graph with the number.
    Switch,
}

impl Choice {
    /// Returns the number of the graph that a value chooses.
    pub(crate) fn of(&self, value: u32) -> Option<usize> {
        let number = match self.form {
            Form::If => usize::from(value == 0),
            Form::While if value == 0 => return None,
            Form::While => 0,
            Form::Switch => value as usize,
        };
        (number < self.bodies.len()).then_some(number)
    }
}

/// Memory that a node allocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allocation {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) device: i32,
}

impl Operation {
    /// Returns the number of the node type in `cuda.h`.
    pub(crate) fn kind(&self) -> u32 {
        match self {
            Operation::Launch(_) => 0,
            Operation::Copy(_) => 1,
            Operation::Set(_) => 2,
            Operation::Call(..) => 3,
            Operation::Graph(_) => 4,
            Operation::Empty => 5,
            Operation::Wait(_) => 6,
            Operation::Record(_) => 7,
            Operation::Allocate(_) => 10,
            Operation::Free(_) => 11,
            Operation::Choice(_) => 13,
        }
    }
}

impl Operation {
    /// Returns true if a graph that a value chooses may have it.
    pub(crate) fn is_of_device(&self) -> bool {
        use Operation::{Choice, Copy, Empty, Graph, Launch, Set};
        matches!(self, Launch(_) | Copy(_) | Set(_) | Graph(_) | Empty | Choice(_))
    }

    /// Returns the graphs inside of a node.
    pub(crate) fn graphs(&self) -> &[Handle] {
        match self {
            Operation::Graph(inner) => std::slice::from_ref(inner),
            Operation::Choice(choice) => &choice.bodies,
            _ => &[],
        }
    }

    /// Keeps what the parameters of a node leave out: attributes of a launch.
    pub(crate) fn keep_attributes(&mut self, old: &Operation) {
        if let (Operation::Launch(new), Operation::Launch(old)) = (self, old) {
            new.cooperative = old.cooperative;
        }
    }
}

/// Does an operation in the order of a stream; one of a captured stream becomes a node.
///
/// # Errors
/// Those of its arguments, of its context, and of a capture that does not allow it.
pub(crate) fn on_stream(stream: Handle, operation: Operation) -> Result<(), Error> {
    let mut driver = at_once()?;
    driver.context()?;
    driver.stream(stream)?;
    if driver.captured(stream)?.is_some() {
        return driver.capture(stream, operation).map(|_| ());
    }
    driver.refuse_implicit(stream)?;
    match operation {
        Operation::Launch(request) => {
            let (context, _) = driver.context()?;
            let ready = driver.admitted(context, &request)?;
            let blocks = driver.options.blocking;
            queue::submit(driver, [Work::Launch(Box::new(ready))]);
            if blocks { state::driver()?.context().map(|_| ()) } else { Ok(()) }
        }
        Operation::Call(function, data) => {
            drop(queue::finish(driver));
            // All work before it is done; the driver is not locked, as it may be called.
            function(data);
            Ok(())
        }
        operation => {
            let mut driver = queue::finish(driver);
            let (context, _) = driver.context()?;
            driver.check(context, &operation)?;
            driver.perform(&Task { context, operation })
        }
    }
}

impl Driver {
    /// Checks the arguments of an operation.
    ///
    /// # Errors
    /// The error that CUDA has for the operation.
    pub(crate) fn check(&mut self, context: Handle, operation: &Operation) -> Result<(), Error> {
        match operation {
            Operation::Launch(request) => self.admitted(context, request).map(|_| ()),
            Operation::Copy(copy) => self.check_copy(copy),
            Operation::Set(fill) => self.check_fill(fill),
            Operation::Wait(event) | Operation::Record(event) => {
                self.events.get(*event).map(|_| ())
            }
            Operation::Free(address) if !self.memory.graphs.begins(*address) => {
                Err(Error::INVALID_VALUE)
            }
            _ => Ok(()),
        }
    }

    /// Does an operation on memory, which no launch has.
    ///
    /// # Errors
    /// If memory is gone since the check.
    pub(crate) fn perform(&mut self, task: &Task) -> Result<(), Error> {
        let context = task.context;
        let device = self.contexts.get(context).map_err(|_| Error::CONTEXT_IS_DESTROYED)?.device;
        match &task.operation {
            Operation::Copy(copy) if !copy.is_empty() => self.copy(copy, device),
            Operation::Set(fill) if !fill.is_empty() => self.fill(fill, device),
            Operation::Allocate(memory) => self.memory.provide(memory.address, context),
            Operation::Free(address) => self.memory.free_device(*address),
            _ => Ok(()),
        }
    }
}
