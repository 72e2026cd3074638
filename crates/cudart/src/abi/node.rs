//! Nodes of graphs. The driver takes other parameters for kernels and copies; those of the other
//! types it shares with the runtime.

use super::context::{current, version};
use super::copy::{from_symbol, line, to_symbol};
use super::copy3d::{Copy3d, Parameters, box_of, described};
use super::driver::{AnyNode, KernelNode};
use super::register::{kernel, stub};
use super::{In, Out, api, forward};
use crate::errors::Result;
use crate::props::Version;
use crate::registry::Handle;

/// `cudaKernelNodeParams`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Kernel {
    function: usize,
    /// Grid and block.
    shape: [u32; 6],
    /// Dynamic shared memory in bytes.
    shared: u32,
    arguments: usize,
    extra: usize,
}

impl Kernel {
    /// Returns the parameters with the driver's kernel.
    fn of_driver(self) -> Result<KernelNode> {
        let Kernel { function, shape, shared, arguments, extra } = self;
        let kernel = kernel(function)?;
        Ok(KernelNode { function: 0, shape, shared, arguments, extra, kernel, context: 0 })
    }

    /// Returns the parameters with the program's function.
    fn of_program(node: KernelNode) -> Kernel {
        let KernelNode { function, shape, shared, arguments, extra, kernel, .. } = node;
        let function = stub(if function == 0 { kernel } else { function });
        Kernel { function, shape, shared, arguments, extra }
    }
}

/// Place of the union in a node of any type, and of a copy in it, in words of 64 bits.
const UNION: usize = 2;
const COPY: usize = UNION + 2;
/// Words of the memory of a node, with its address at the end.
const MEMORY_WORDS: usize = 15;
/// Types of nodes.
const KERNEL: u64 = 0;
const MEMCPY: u64 = 1;
const MEMSET: u64 = 2;
const ALLOCATION: u64 = 10;
const CONDITIONAL: u64 = 13;

/// Node of any type, `cudaGraphNodeParams`, in words of 64 bits.
type Any = [u64; 32];

/// Returns the driver's description of a node.
fn any(given: &Any) -> Result<AnyNode> {
    let mut node = AnyNode(*given);
    match given[0] & 0xffff_ffff {
        KERNEL => {
            let own = In((&raw const given[UNION]).cast::<Kernel>()).get()?;
            node.put(UNION, own.of_driver()?);
        }
        MEMCPY => {
            // The runtime has no context in front of the copy, but as many bytes.
            let own = In((&raw const given[COPY]).cast::<Parameters>()).get()?;
            node.put(COPY, box_of(current()?, &own)?);
        }
        // The current context.
        MEMSET => node.0[UNION + 5] = 0,
        CONDITIONAL => node.0[UNION + 3] = 0,
        _ => {}
    }
    Ok(node)
}

/// Adds a node of any type.
fn add_any(
    out: usize,
    graph: Handle,
    nodes: usize,
    (edges, count): (usize, usize),
    given: Out<Any>,
) -> Result<()> {
    let words = In(given.0.cast_const()).get()?;
    let mut node = any(&words)?;
    current()?.cuGraphAddNode_v2(out, graph, nodes, edges, count, &raw mut node)?;
    // The driver's answer: an address, or a list of graphs.
    let answer = match words[0] & 0xffff_ffff {
        ALLOCATION => UNION + MEMORY_WORDS - 1,
        CONDITIONAL => UNION + 2,
        _ => return Ok(()),
    };
    let mut words = words;
    words[answer] = node.0[answer];
    given.set(words)
}

/// A new node: its place, its graph, the nodes before it and their number.
#[derive(Clone, Copy)]
struct New(usize, Handle, usize, usize);

impl New {
    fn kernel(self, parameters: &In<Kernel>) -> Result<()> {
        let (New(out, graph, nodes, count), node) = (self, parameters.get()?.of_driver()?);
        current()?.cuGraphAddKernelNode_v2(out, graph, nodes, count, &raw const node)
    }

    fn copy(self, copy: Copy3d) -> Result<()> {
        let New(out, graph, nodes, count) = self;
        current()?.cuGraphAddMemcpyNode(out, graph, nodes, count, &raw const copy, 0)
    }
}

/// Gives a node another copy.
fn set_copy(node: Handle, copy: Copy3d) -> Result<()> {
    current()?.cuGraphMemcpyNodeSetParams(node, &raw const copy)
}

/// Gives a node of an executable graph another copy.
fn set_step(exec: Handle, node: Handle, copy: Copy3d) -> Result<()> {
    current()?.cuGraphExecMemcpyNodeSetParams(exec, node, &raw const copy, 0)
}

/// Returns the driver's copy of a box.
fn boxed(parameters: &In<Parameters>) -> Result<Copy3d> {
    box_of(current()?, &parameters.get()?)
}

forward! {
    cudaGraphHostNodeGetParams = cuGraphHostNodeGetParams(node: Handle, parameters: usize);
    cudaGraphHostNodeSetParams = cuGraphHostNodeSetParams(node: Handle, parameters: usize);
    cudaGraphAddHostNode = cuGraphAddHostNode(out: usize, graph: Handle, nodes: usize,
        count: usize, parameters: usize);
    cudaGraphExecHostNodeSetParams = cuGraphExecHostNodeSetParams(exec: Handle, node: Handle,
        parameters: usize);
    cudaGraphMemsetNodeGetParams = cuGraphMemsetNodeGetParams(node: Handle, parameters: usize);
    cudaGraphMemsetNodeSetParams = cuGraphMemsetNodeSetParams(node: Handle, parameters: usize);
    cudaGraphAddChildGraphNode = cuGraphAddChildGraphNode(out: usize, graph: Handle, nodes: usize,
        count: usize, child: Handle);
    cudaGraphChildGraphNodeGetGraph = cuGraphChildGraphNodeGetGraph(node: Handle, graph: usize);
    cudaGraphExecChildGraphNodeSetParams = cuGraphExecChildGraphNodeSetParams(exec: Handle,
        node: Handle, child: Handle);
    cudaGraphAddEmptyNode = cuGraphAddEmptyNode(out: usize, graph: Handle, nodes: usize,
        count: usize);
    cudaGraphAddEventRecordNode = cuGraphAddEventRecordNode(out: usize, graph: Handle,
        nodes: usize, count: usize, event: Handle);
    cudaGraphEventRecordNodeGetEvent = cuGraphEventRecordNodeGetEvent(node: Handle, event: usize);
    cudaGraphEventRecordNodeSetEvent = cuGraphEventRecordNodeSetEvent(node: Handle, event: Handle);
    cudaGraphExecEventRecordNodeSetEvent = cuGraphExecEventRecordNodeSetEvent(exec: Handle,
        node: Handle, event: Handle);
    cudaGraphAddEventWaitNode = cuGraphAddEventWaitNode(out: usize, graph: Handle, nodes: usize,
        count: usize, event: Handle);
    cudaGraphEventWaitNodeGetEvent = cuGraphEventWaitNodeGetEvent(node: Handle, event: usize);
    cudaGraphEventWaitNodeSetEvent = cuGraphEventWaitNodeSetEvent(node: Handle, event: Handle);
    cudaGraphExecEventWaitNodeSetEvent = cuGraphExecEventWaitNodeSetEvent(exec: Handle,
        node: Handle, event: Handle);
    cudaGraphAddMemAllocNode = cuGraphAddMemAllocNode(out: usize, graph: Handle, nodes: usize,
        count: usize, parameters: usize);
    cudaGraphMemAllocNodeGetParams = cuGraphMemAllocNodeGetParams(node: Handle, parameters: usize);
    cudaGraphAddMemFreeNode = cuGraphAddMemFreeNode(out: usize, graph: Handle, nodes: usize,
        count: usize, pointer: usize);
    cudaGraphMemFreeNodeGetParams = cuGraphMemFreeNodeGetParams(node: Handle, pointer: usize);
    cudaGraphKernelNodeCopyAttributes = cuGraphKernelNodeCopyAttributes(to: Handle, from: Handle);
    cudaGraphKernelNodeGetAttribute = cuGraphKernelNodeGetAttribute(node: Handle, number: u32,
        value: usize);
    cudaGraphKernelNodeSetAttribute = cuGraphKernelNodeSetAttribute(node: Handle, number: u32,
        value: usize);
}

api! {
    // Before CUDA 13, the function of this name takes no annotations of edges.
    cudaGraphAddNode(
        out: usize, graph: Handle, nodes: usize, fourth: usize, fifth: usize, sixth: usize,
    ) {
        match version() {
            Version::V13 => add_any(out, graph, nodes, (fourth, fifth), Out(sixth as *mut Any)),
            _ => add_any(out, graph, nodes, (0, fourth), Out(fifth as *mut Any)),
        }
    }

    cudaGraphAddNode_v2(
        out: usize, graph: Handle, nodes: usize, edges: usize, count: usize, given: Out<Any>,
    ) {
        add_any(out, graph, nodes, (edges, count), given)
    }

    cudaGraphConditionalHandleCreate(out: usize, graph: Handle, default: u32, flags: u32) {
        current()?.cuGraphConditionalHandleCreate(out, graph, 0, default, flags)
    }

    cudaGraphConditionalHandleCreate_v2(
        out: usize, graph: Handle, context: Handle, default: u32, flags: u32,
    ) {
        current()?.cuGraphConditionalHandleCreate(out, graph, context, default, flags)
    }

    cudaGraphNodeSetParams(node: Handle, given: In<Any>) {
        let mut changed = any(&given.get()?)?;
        current()?.cuGraphNodeSetParams(node, &raw mut changed)
    }

    cudaGraphExecNodeSetParams(exec: Handle, node: Handle, given: In<Any>) {
        let mut changed = any(&given.get()?)?;
        current()?.cuGraphExecNodeSetParams(exec, node, &raw mut changed)
    }

    cudaGraphAddKernelNode(
        out: usize, graph: Handle, nodes: usize, count: usize, parameters: In<Kernel>,
    ) {
        New(out, graph, nodes, count).kernel(&parameters)
    }

    cudaGraphKernelNodeGetParams(node: Handle, parameters: Out<Kernel>) {
        let mut found = KernelNode::default();
        current()?.cuGraphKernelNodeGetParams_v2(node, &raw mut found)?;
        parameters.set(Kernel::of_program(found))
    }

    cudaGraphKernelNodeSetParams(node: Handle, parameters: In<Kernel>) {
        let changed = parameters.get()?.of_driver()?;
        current()?.cuGraphKernelNodeSetParams_v2(node, &raw const changed)
    }

    cudaGraphExecKernelNodeSetParams(exec: Handle, node: Handle, parameters: In<Kernel>) {
        let changed = parameters.get()?.of_driver()?;
        current()?.cuGraphExecKernelNodeSetParams_v2(exec, node, &raw const changed)
    }

    cudaGraphAddMemcpyNode(
        out: usize, graph: Handle, nodes: usize, count: usize, parameters: In<Parameters>,
    ) {
        New(out, graph, nodes, count).copy(boxed(&parameters)?)
    }

    cudaGraphAddMemcpyNode1D(
        out: usize, graph: Handle, nodes: usize, count: usize, to: usize, from: usize,
        bytes: usize, kind: u32,
    ) {
        New(out, graph, nodes, count).copy(line(to, from, bytes, kind)?)
    }

    cudaGraphAddMemcpyNodeToSymbol(
        out: usize, graph: Handle, nodes: usize, count: usize, symbol: usize, from: usize,
        bytes: usize, offset: usize, kind: u32,
    ) {
        let (to, kind) = to_symbol(symbol, from, bytes, offset, kind)?;
        New(out, graph, nodes, count).copy(line(to, from, bytes, kind)?)
    }

    cudaGraphAddMemcpyNodeFromSymbol(
        out: usize, graph: Handle, nodes: usize, count: usize, to: usize, symbol: usize,
        bytes: usize, offset: usize, kind: u32,
    ) {
        let (from, kind) = from_symbol(to, symbol, bytes, offset, kind)?;
        New(out, graph, nodes, count).copy(line(to, from, bytes, kind)?)
    }

    cudaGraphMemcpyNodeGetParams(node: Handle, parameters: Out<Parameters>) {
        let (driver, mut found) = (current()?, Copy3d::default());
        driver.cuGraphMemcpyNodeGetParams(node, &raw mut found)?;
        parameters.set(described(driver, &found)?)
    }

    cudaGraphMemcpyNodeSetParams(node: Handle, parameters: In<Parameters>) {
        set_copy(node, boxed(&parameters)?)
    }

    cudaGraphMemcpyNodeSetParams1D(
        node: Handle, to: usize, from: usize, bytes: usize, kind: u32,
    ) {
        set_copy(node, line(to, from, bytes, kind)?)
    }

    cudaGraphMemcpyNodeSetParamsToSymbol(
        node: Handle, symbol: usize, from: usize, bytes: usize, offset: usize, kind: u32,
    ) {
        let (to, kind) = to_symbol(symbol, from, bytes, offset, kind)?;
        set_copy(node, line(to, from, bytes, kind)?)
    }

    cudaGraphMemcpyNodeSetParamsFromSymbol(
        node: Handle, to: usize, symbol: usize, bytes: usize, offset: usize, kind: u32,
    ) {
        let (from, kind) = from_symbol(to, symbol, bytes, offset, kind)?;
        set_copy(node, line(to, from, bytes, kind)?)
    }

    cudaGraphExecMemcpyNodeSetParams(exec: Handle, node: Handle, parameters: In<Parameters>) {
        set_step(exec, node, boxed(&parameters)?)
    }

    cudaGraphExecMemcpyNodeSetParams1D(
        exec: Handle, node: Handle, to: usize, from: usize, bytes: usize, kind: u32,
    ) {
        set_step(exec, node, line(to, from, bytes, kind)?)
    }

    cudaGraphExecMemcpyNodeSetParamsToSymbol(
        exec: Handle, node: Handle, symbol: usize, from: usize, bytes: usize, offset: usize,
        kind: u32,
    ) {
        let (to, kind) = to_symbol(symbol, from, bytes, offset, kind)?;
        set_step(exec, node, line(to, from, bytes, kind)?)
    }

    cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        exec: Handle, node: Handle, to: usize, symbol: usize, bytes: usize, offset: usize,
        kind: u32,
    ) {
        let (from, kind) = from_symbol(to, symbol, bytes, offset, kind)?;
        set_step(exec, node, line(to, from, bytes, kind)?)
    }

    cudaGraphAddMemsetNode(
        out: usize, graph: Handle, nodes: usize, count: usize, parameters: usize,
    ) {
        current()?.cuGraphAddMemsetNode(out, graph, nodes, count, parameters, 0)
    }

    cudaGraphExecMemsetNodeSetParams(exec: Handle, node: Handle, parameters: usize) {
        current()?.cuGraphExecMemsetNodeSetParams(exec, node, parameters, 0)
    }
}
