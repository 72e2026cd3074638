//! State of a process's driver: devices, contexts and objects. One lock protects it.
//!
//! Most calls wait until all launches have ended ([`driver`]); those that need none of their
//! results do not ([`at_once`]).

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use simt_core::exec::Heap;
use simt_core::kernel::layout::Bases;

use crate::abi;
use crate::device::Device;
use crate::error::Error;
use crate::graph::Graphs;
use crate::image::{Array, Object, Reference};
use crate::link::Link;
use crate::memory::AddressSpace;
use crate::module::{Function, Module};
use crate::options::Options;
use crate::pool::Pools;
use crate::queue::{self, Queue};
use crate::report::Reports;
use crate::stream::{Event, Stream};
use crate::table::{Handle, Kind, Table};

/// A context: the state of a device for a program.
#[derive(Debug)]
pub(crate) struct Context {
    /// Index of its device.
    pub(crate) device: usize,
    pub(crate) flags: u32,
    pub(crate) is_primary: bool,
    /// Error of a launch, which every later call returns.
    pub(crate) fault: Option<Error>,
    /// The same before the program has waited for the launch.
    pub(crate) failed: Option<Error>,
    /// Limits that the program set, by number of `CUlimit`.
    pub(crate) limits: BTreeMap<u32, u64>,
    /// Preference between L1 and shared memory that the program set; it has no effect.
    pub(crate) cache_config: u32,
    /// Heap of `malloc` in kernels, once a kernel used it.
    pub(crate) heap: Option<Heap>,
}

/// All state.
pub(crate) struct Driver {
    pub(crate) options: Options,
    pub(crate) devices: Vec<Device>,
    pub(crate) memory: AddressSpace,
    pub(crate) contexts: Table<Context>,
    pub(crate) modules: Table<Module>,
    pub(crate) functions: Table<Function>,
    pub(crate) streams: Table<Stream>,
    pub(crate) events: Table<Event>,
    pub(crate) links: Table<Link>,
    pub(crate) pools: Pools,
    pub(crate) arrays: Table<Array>,
    /// Textures and surfaces: object `n` is at `n - 1`.
    pub(crate) images: Vec<Option<Object>>,
    /// References to textures and surfaces in modules.
    pub(crate) references: Table<Reference>,
    pub(crate) reports: Reports,
    pub(crate) queue: Queue,
    pub(crate) graphs: Graphs,
    /// Modules loaded so far.
    pub(crate) loaded: u64,
    /// Addresses for the variables of the next module.
    pub(crate) bases: Bases,
}

/// The driver, once `cuInit` made it, and the process that did; an error if the options have none.
static DRIVER: OnceLock<(u32, Result<Mutex<Driver>, ()>)> = OnceLock::new();

thread_local! {
    /// Stack of current contexts of the thread, which is never freed: destructors of the program
    /// may call when those of the thread have run.
    static CURRENT: Cell<Option<&'static RefCell<Vec<Handle>>>> = const { Cell::new(None) };
}

fn stack() -> &'static RefCell<Vec<Handle>> {
    CURRENT.get().unwrap_or_else(|| {
        let made = &*Box::leak(Box::default());
        CURRENT.set(Some(made));
        made
    })
}

/// Makes the driver.
///
/// # Errors
/// If an option has no meaning; the reason goes to standard error. As for [`at_once`] in a child
/// process.
pub(crate) fn initialize() -> Result<(), Error> {
    DRIVER.get_or_init(|| {
        let made = match Options::read() {
            Ok(options) => Ok(Mutex::new(Driver::new(options))),
            Err(reason) => {
                crate::say(&format!("error: {reason}\n"));
                Err(())
            }
        };
        (std::process::id(), made)
    });
    abi::at_exit();
    made().map(|_| ())
}

/// Returns the driver's lock.
///
/// # Errors
/// As for [`at_once`], and in a function that a graph calls.
fn made() -> Result<&'static Mutex<Driver>, Error> {
    if queue::calls_back() {
        return Err(Error::NOT_PERMITTED);
    }
    match DRIVER.get() {
        Some((process, Ok(driver))) if *process == std::process::id() => Ok(driver),
        _ => Err(Error::NOT_INITIALIZED),
    }
}

/// Returns the driver once all launches have ended.
///
/// # Errors
/// As for [`at_once`].
pub(crate) fn driver() -> Result<MutexGuard<'static, Driver>, Error> {
    Ok(queue::finish(at_once()?))
}

/// Returns the driver, which may be at work: contents of memory are then elsewhere.
///
/// # Errors
/// If it has not been made, or if a parent process made it: as on a GPU, a child of `fork` cannot
/// go on with CUDA, and its copy of the lock may never be free.
pub(crate) fn at_once() -> Result<MutexGuard<'static, Driver>, Error> {
    let driver = made()?;
    // A call that panicked may have left an object half made; its handle is then unknown.
    Ok(driver.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns the thread's current context; 0 if it has none.
pub(crate) fn current() -> Handle {
    stack().borrow().last().copied().unwrap_or(0)
}

/// Replaces the thread's current context; 0 removes it.
pub(crate) fn set_current(context: Handle) {
    let mut stack = stack().borrow_mut();
    stack.pop();
    if context != 0 {
        stack.push(context);
    }
}

/// Makes a context current on top of the others.
pub(crate) fn push_current(context: Handle) {
    stack().borrow_mut().push(context);
}

/// Removes the current context and returns it.
pub(crate) fn pop_current() -> Result<Handle, Error> {
    stack().borrow_mut().pop().ok_or(Error::INVALID_CONTEXT)
}

impl Driver {
    fn new(mut options: Options) -> Driver {
        let (arch, memory) = (options.arch, options.memory);
        let machines = std::mem::take(&mut options.machines);
        let reports = Reports::new(&options);
        let tracks = options.checks.is_some_and(|checks| checks.init);
        Driver {
            devices: machines.into_iter().map(|m| Device::new(m, arch, memory)).collect(),
            memory: AddressSpace::new(memory).tracking(tracks),
            contexts: Table::new(Kind::Context),
            modules: Table::new(Kind::Module),
            functions: Table::new(Kind::Function),
            streams: Table::new(Kind::Stream),
            events: Table::new(Kind::Event),
            links: Table::new(Kind::Link),
            pools: Pools::new(),
            arrays: Table::new(Kind::Array),
            images: Vec::new(),
            references: Table::new(Kind::Reference),
            reports,
            queue: Queue::default(),
            graphs: Graphs::new(),
            loaded: 0,
            bases: Bases::default(),
            options,
        }
    }

    /// Returns the device with an ordinal.
    pub(crate) fn device(&mut self, ordinal: i32) -> Result<&mut Device, Error> {
        let index = usize::try_from(ordinal).map_err(|_| Error::INVALID_DEVICE)?;
        self.devices.get_mut(index).ok_or(Error::INVALID_DEVICE)
    }

    /// Returns the thread's current context.
    ///
    /// # Errors
    /// If there is none, if it was destroyed, or if a launch in it failed.
    pub(crate) fn context(&mut self) -> Result<(Handle, &mut Context), Error> {
        let handle = match current() {
            0 => return Err(Error::INVALID_CONTEXT),
            handle => handle,
        };
        let context = self.contexts.get_mut(handle).map_err(|_| Error::CONTEXT_IS_DESTROYED)?;
        match context.fault {
            Some(fault) => Err(fault),
            None => Ok((handle, context)),
        }
    }

    /// Returns the device of the thread's current context.
    pub(crate) fn current_device(&mut self) -> Result<usize, Error> {
        self.context().map(|(_, context)| context.device)
    }

    /// Makes a context.
    pub(crate) fn create_context(&mut self, device: usize, flags: u32, primary: bool) -> Handle {
        self.contexts.add(Context {
            device,
            flags,
            is_primary: primary,
            fault: None,
            failed: None,
            limits: BTreeMap::new(),
            cache_config: 0,
            heap: None,
        })
    }

    /// Returns the primary context of a device, which it makes first.
    pub(crate) fn primary(&mut self, ordinal: i32) -> Result<Handle, Error> {
        let device = self.device(ordinal)?;
        let flags = device.flags;
        if let Some(primary) = device.primary {
            return Ok(primary);
        }
        let made = self.create_context(ordinal as usize, flags, true);
        self.device(ordinal)?.primary = Some(made);
        Ok(made)
    }

    /// Ends a context with everything in it.
    pub(crate) fn end_context(&mut self, handle: Handle) -> Result<(), Error> {
        if !self.contexts.remove(handle)?.is_primary {
            self.memory.disown(handle, |address| self.pools.hold(address));
        }
        self.memory.free_of(handle);
        let of_context: Vec<Handle> = self
            .modules
            .iter()
            .filter_map(|(module, m)| (m.context == handle).then_some(module))
            .collect();
        for module in of_context {
            self.unload(module)?;
        }
        self.forget_captures_of(handle);
        self.arrays.retain(|array| array.context != handle);
        self.streams.retain(|stream| stream.context != handle);
        self.events.retain(|event| event.context != handle);
        for device in &mut self.devices {
            if device.primary == Some(handle) {
                device.primary = None;
                device.retained = 0;
            }
        }
        Ok(())
    }

    /// Lets memory pools give back what they need not keep, after a synchronization.
    pub(crate) fn trim_pools(&mut self) {
        let memory = &self.memory;
        self.pools.synchronize(|address| memory.find(address).is_some());
    }

    /// Removes a module with its functions and variables.
    pub(crate) fn unload(&mut self, module: Handle) -> Result<(), Error> {
        let module = self.modules.remove(module)?;
        for (_, function) in &module.functions {
            let _ = self.functions.remove(*function);
        }
        for address in &module.variables {
            self.memory.release(*address);
        }
        Ok(())
    }

    /// Checks that a stream exists. 0, 1 and 2 are the default streams.
    pub(crate) fn stream(&self, stream: Handle) -> Result<(), Error> {
        if stream <= 2 { Ok(()) } else { self.streams.get(stream).map(|_| ()) }
    }
}
