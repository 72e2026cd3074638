//! Parameters of nodes in the layouts of `cuda.h`, read as operations and written back.

use super::copy::Volume;
use super::launch::{Shape, request};
use super::pointer::{In, Out};
use crate::copy::BlockCopy;
use crate::error::Error;
use crate::fill::Fill;
use crate::graph::Shown;
use crate::launch::Request;
use crate::operation::{Allocation, Form, HostFunction, Operation};
use crate::state::Driver;
use crate::table::Handle;

/// `CUDA_KERNEL_NODE_PARAMS_v1`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Kernel {
    function: Handle,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    params: In<usize>,
    extra: In<usize>,
}

/// `CUDA_KERNEL_NODE_PARAMS_v2`, and `_v3`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct KernelIn {
    first: Kernel,
    kernel: Handle,
    context: Handle,
}

/// `CUDA_MEMSET_NODE_PARAMS`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Set {
    address: u64,
    pitch: usize,
    value: u32,
    element: u32,
    width: usize,
    height: usize,
}

/// `CUDA_MEMSET_NODE_PARAMS_v2`.
#[derive(Clone, Copy)]
#[repr(C)]
struct SetIn {
    set: Set,
    context: Handle,
}

/// `CUDA_MEMCPY_NODE_PARAMS`.
#[derive(Clone, Copy)]
#[repr(C)]
struct CopyIn {
    flags: u32,
    reserved: u32,
    context: Handle,
    copy: Volume,
}

/// `CUDA_HOST_NODE_PARAMS`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Call {
    function: Option<HostFunction>,
    data: usize,
}

/// `CUDA_CHILD_GRAPH_NODE_PARAMS`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Child {
    graph: Handle,
    ownership: u32,
}

/// `CUDA_MEM_ALLOC_NODE_PARAMS`, with `CUmemPoolProps` in front.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Memory {
    kind: u32,
    handles: u32,
    place: u32,
    device: i32,
    security: usize,
    most: usize,
    rest: [u64; 7],
    access: usize,
    access_count: usize,
    bytes: usize,
    address: u64,
}

/// `CUDA_CONDITIONAL_NODE_PARAMS` without the context.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Conditional {
    handle: u64,
    form: u32,
    count: u32,
    bodies: usize,
}

/// Kinds of an allocation and of a place: pinned memory, a device.
const PINNED: u32 = 1;
const ON_DEVICE: u32 = 1;

/// Place of the union in `CUgraphNodeParams`, in bytes.
const UNION: usize = 16;
/// Most graphs that a node chooses between.
const MOST_BODIES: u32 = 1 << 16;

/// A node that a program describes.
pub(super) enum Described {
    /// Operation in a context; 0 is the current one.
    Operation(Handle, Operation),
    /// Copy of a graph, or the graph itself if it moves.
    Child(Handle, bool),
    /// Memory whose address is chosen, and the place for the address.
    Memory(Memory, Out<u64>),
    /// Value, form and number of graphs of a choice, and the place for their list.
    Choice((u64, Form, usize), Out<usize>),
}

impl Conditional {
    fn choice(self, params: usize) -> Result<Described, Error> {
        let Conditional { handle, form, count, .. } = self;
        let form = match (form, count) {
            (0, 1 | 2) => Form::If,
            (1, 1) => Form::While,
            (2, 1..=MOST_BODIES) => Form::Switch,
            _ => return Err(Error::INVALID_VALUE),
        };
        let place = params.wrapping_add(std::mem::offset_of!(Conditional, bodies));
        Ok(Described::Choice((handle, form, count as usize), Out::at_address(place)))
    }
}

impl KernelIn {
    /// Completes parameters without kernel and context.
    pub(super) fn of(first: Kernel) -> KernelIn {
        KernelIn { first, kernel: 0, context: 0 }
    }

    pub(super) fn operation(self, driver: &Driver) -> Result<Described, Error> {
        let Kernel { function, grid, block, shared, params, extra } = self.first;
        let (function, context) = match function {
            0 => (self.kernel, self.context),
            function => (function, 0),
        };
        let shape = Shape { grid, block, shared, cooperative: false };
        let request = request(driver, function, shape, params, extra)?;
        Ok(Described::Operation(context, Operation::Launch(request)))
    }
}

impl Set {
    pub(super) fn operation(self, context: Handle) -> Result<Described, Error> {
        let Set { address, pitch, value, element, width, height } = self;
        let (pitch, columns, rows) = (pitch as u64, width as u64, height as u64);
        let fill = Fill { address, pitch, element, value, columns, rows };
        if !matches!(element, 1 | 2 | 4) || fill.is_empty() {
            return Err(Error::INVALID_VALUE);
        }
        Ok(Described::Operation(context, Operation::Set(fill)))
    }

    pub(super) fn of(fill: &Fill) -> Set {
        let Fill { address, value, element, .. } = *fill;
        let [pitch, width, height] = [fill.pitch, fill.columns, fill.rows].map(|n| n as usize);
        Set { address, pitch, value, element, width, height }
    }
}

/// Returns the node of a copy, which must move something.
pub(super) fn copy(copy: BlockCopy, context: Handle) -> Result<Described, Error> {
    if copy.is_empty() {
        return Err(Error::INVALID_VALUE);
    }
    Ok(Described::Operation(context, Operation::Copy(copy)))
}

impl Call {
    pub(super) fn operation(self) -> Result<Described, Error> {
        let function = self.function.ok_or(Error::INVALID_VALUE)?;
        Ok(Described::Operation(0, Operation::Call(function, self.data)))
    }

    pub(super) fn of(function: HostFunction, data: usize) -> Call {
        Call { function: Some(function), data }
    }
}

impl Memory {
    /// Chooses the address of the memory.
    pub(super) fn allocation(self, driver: &mut Driver) -> Result<Allocation, Error> {
        if self.kind != PINNED || self.place != ON_DEVICE {
            return Err(Error::INVALID_VALUE);
        }
        driver.device(self.device).map_err(|_| Error::INVALID_VALUE)?;
        let bytes = self.bytes as u64;
        let address = driver.memory.reserve(bytes)?;
        Ok(Allocation { address, bytes, device: self.device })
    }

    pub(super) fn of(memory: Allocation) -> Memory {
        let Allocation { address, bytes, device } = memory;
        let (kind, place, bytes) = (PINNED, ON_DEVICE, bytes as usize);
        Memory { kind, place, device, bytes, address, ..Memory::default() }
    }

    /// Returns where the address of an allocation is written, by the place of the parameters.
    pub(super) fn address_at(params: usize) -> Out<u64> {
        Out::at_address(params.wrapping_add(std::mem::offset_of!(Memory, address)))
    }
}

/// Reads a node of any type, `CUgraphNodeParams`.
pub(super) fn any(driver: &Driver, params: usize) -> Result<Described, Error> {
    let kind = In::<u32>::at_address(params).get()?;
    let inner = params.wrapping_add(UNION);
    let handle = || In::<Handle>::at_address(inner).get();
    match kind {
        0 => In::<KernelIn>::at_address(inner).get()?.operation(driver),
        1 => {
            let CopyIn { flags, reserved, context, copy: volume } = In::at_address(inner).get()?;
            if flags != 0 || reserved != 0 {
                return Err(Error::INVALID_VALUE);
            }
            copy(volume.copy(), context)
        }
        2 => {
            let SetIn { set, context } = In::at_address(inner).get()?;
            set.operation(context)
        }
        3 => In::<Call>::at_address(inner).get()?.operation(),
        4 => {
            let Child { graph, ownership } = In::at_address(inner).get()?;
            if ownership > 1 {
                return Err(Error::INVALID_VALUE);
            }
            Ok(Described::Child(graph, ownership == 1))
        }
        5 => Ok(Described::Operation(0, Operation::Empty)),
        6 => Ok(Described::Operation(0, Operation::Wait(handle()?))),
        7 => Ok(Described::Operation(0, Operation::Record(handle()?))),
        10 => {
            let memory = In::<Memory>::at_address(inner).get()?;
            Ok(Described::Memory(memory, Memory::address_at(inner)))
        }
        11 => Ok(Described::Operation(0, Operation::Free(handle()?))),
        13 => In::<Conditional>::at_address(inner).get()?.choice(inner),
        8 | 9 | 12 => {
            let what = if kind == 12 { "memory operations" } else { "external semaphores" };
            crate::say(&format!("simt-sim: nodes of {what} of graphs are not simulated\n"));
            Err(Error::NOT_SUPPORTED)
        }
        _ => Err(Error::INVALID_VALUE),
    }
}

/// Returns the parameters of a kernel node; pointers stay valid until the node changes or ends.
pub(super) fn kernel(driver: &mut Driver, node: Handle) -> Result<KernelIn, Error> {
    let found = driver.graphs.node(node)?;
    let Operation::Launch(launch) = &found.operation else { return Err(Error::INVALID_VALUE) };
    let Request { function, grid, block, shared, .. } = *launch;
    let context = found.context;
    let (offsets, _) = driver.parameters(function)?;
    let shown = Shown::new(&launch.params, offsets.iter().map(|(offset, _)| *offset as usize));
    let params = shown.address();
    driver.graphs.node_mut(node)?.shown = shown;
    let (params, extra) = (In::at_address(params), In::at_address(0));
    let first = Kernel { function, grid, block, shared, params, extra };
    Ok(KernelIn { first, kernel: 0, context })
}

impl KernelIn {
    /// Returns the first version of the parameters.
    pub(super) fn first(self) -> Kernel {
        self.first
    }
}
