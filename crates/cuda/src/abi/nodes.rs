//! Nodes of graphs: made, read and changed by type.

use super::copy::Volume;
use super::entry_points;
use super::graphs::{PLAIN, edges};
use super::node_params::{self, Call, Described, Kernel, KernelIn, Memory, Set};
use super::pointer::{In, Out};
use crate::error::Error;
use crate::graph::{Attribute, EdgeData};
use crate::operation::Operation;
use crate::queue;
use crate::state::{Driver, at_once};
use crate::table::Handle;

/// Attributes of kernel nodes: all blocks resident at once, blocks of a cluster; the number of all.
const COOPERATIVE: u32 = 2;
const CLUSTER: u32 = 4;
const ATTRIBUTES: u32 = 17;

/// Flag of a conditional handle: each launch begins with its default.
const ASSIGN_DEFAULT: u32 = 1;

/// A new node's place, graph and edges.
struct New {
    out: Out<Handle>,
    graph: Handle,
    nodes: In<Handle>,
    data: In<EdgeData>,
    count: usize,
}

impl New {
    fn plain(out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize) -> New {
        New { out, graph, nodes, data: PLAIN, count }
    }

    /// Adds the node that `describe` reads.
    fn add(
        self,
        describe: impl FnOnce(&mut Driver) -> Result<Described, Error>,
    ) -> Result<(), Error> {
        let New { out, graph, nodes, data, count } = self;
        let mut driver = at_once()?;
        let (current, _) = driver.context()?;
        out.check()?;
        driver.graphs.graph(graph)?;
        let described = describe(&mut driver)?;
        let edges = edges(&driver, nodes, data, count)?;
        let node = match described {
            Described::Child(child, moves) => {
                driver.graphs.add_child(graph, &edges, current, child, moves)?
            }
            Described::Memory(memory, address) => {
                driver.graphs.check_edges(graph, &edges)?;
                address.check()?;
                let memory = memory.allocation(&mut driver)?;
                address.set(memory.address)?;
                driver.add_node(graph, &edges, current, Operation::Allocate(memory))?
            }
            Described::Choice(choice, list) => {
                list.check()?;
                let (node, bodies) = driver.graphs.add_choice(graph, &edges, current, choice)?;
                list.set(bodies.as_ptr().expose_provenance())?;
                node
            }
            Described::Operation(context, operation) => {
                if let Operation::Free(address) = operation {
                    driver.check_free(graph, address)?;
                }
                let context = if context == 0 { current } else { context };
                driver.add_node(graph, &edges, context, operation)?
            }
        };
        out.set(node)
    }
}

/// Returns the operation of a description that changes a node or a step.
pub(super) fn changed(described: Described) -> Result<Operation, Error> {
    match described {
        Described::Operation(_, Operation::Free(_)) => Err(Error::INVALID_VALUE),
        Described::Operation(_, operation) => Ok(operation),
        _ => Err(Error::INVALID_VALUE),
    }
}

/// Gives a node another operation of its type.
fn change(
    node: Handle,
    describe: impl FnOnce(&Driver) -> Result<Described, Error>,
) -> Result<(), Error> {
    let mut driver = at_once()?;
    let mut operation = changed(describe(&driver)?)?;
    let found = driver.graphs.node(node)?;
    if found.operation.kind() != operation.kind() {
        return Err(Error::INVALID_VALUE);
    }
    let context = found.context;
    operation.keep_attributes(&found.operation);
    driver.check(context, &operation)?;
    driver.graphs.node_mut(node)?.operation = operation;
    Ok(())
}

/// Returns what `choose` reads from the operation of a node.
fn of<T>(node: Handle, choose: impl FnOnce(&Operation) -> Option<T>) -> Result<T, Error> {
    let driver = at_once()?;
    choose(&driver.graphs.node(node)?.operation).ok_or(Error::INVALID_VALUE)
}

/// Sets an attribute of a kernel node.
fn set_attribute(
    driver: &mut Driver,
    node: Handle,
    number: u32,
    value: Attribute,
) -> Result<(), Error> {
    let found = driver.graphs.node_mut(node)?;
    let Operation::Launch(request) = &mut found.operation else {
        return Err(Error::INVALID_VALUE);
    };
    match number {
        COOPERATIVE => request.cooperative = value[0] != 0,
        CLUSTER if value[..3].iter().any(|&n| n > 1) => return Err(Error::NOT_SUPPORTED),
        1..=ATTRIBUTES => {}
        _ => return Err(Error::INVALID_VALUE),
    }
    found.attributes.insert(number, value);
    Ok(())
}

entry_points! {
    fn cuGraphAddNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: usize,
    ) {
        New::plain(out, graph, nodes, count).add(|driver| node_params::any(driver, params))
    }

    fn cuGraphAddNode_v2(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, data: In<EdgeData>, count: usize,
        params: usize,
    ) {
        New { out, graph, nodes, data, count }.add(|driver| node_params::any(driver, params))
    }

    fn cuGraphAddKernelNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<Kernel>,
    ) {
        let new = New::plain(out, graph, nodes, count);
        new.add(|driver| KernelIn::of(params.get()?).operation(driver))
    }

    fn cuGraphAddKernelNode_v2(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<KernelIn>,
    ) {
        New::plain(out, graph, nodes, count).add(|driver| params.get()?.operation(driver))
    }

    fn cuGraphAddMemcpyNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<Volume>,
        context: Handle,
    ) {
        let new = New::plain(out, graph, nodes, count);
        new.add(|_| node_params::copy(params.get()?.copy(), context))
    }

    fn cuGraphAddMemsetNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<Set>,
        context: Handle,
    ) {
        New::plain(out, graph, nodes, count).add(|_| params.get()?.operation(context))
    }

    fn cuGraphAddHostNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<Call>,
    ) {
        New::plain(out, graph, nodes, count).add(|_| params.get()?.operation())
    }

    fn cuGraphAddChildGraphNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, child: Handle,
    ) {
        New::plain(out, graph, nodes, count).add(|_| Ok(Described::Child(child, false)))
    }

    fn cuGraphAddEmptyNode(out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize) {
        let new = New::plain(out, graph, nodes, count);
        new.add(|_| Ok(Described::Operation(0, Operation::Empty)))
    }

    fn cuGraphAddEventRecordNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, event: Handle,
    ) {
        let new = New::plain(out, graph, nodes, count);
        new.add(|_| Ok(Described::Operation(0, Operation::Record(event))))
    }

    fn cuGraphAddEventWaitNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, event: Handle,
    ) {
        let new = New::plain(out, graph, nodes, count);
        new.add(|_| Ok(Described::Operation(0, Operation::Wait(event))))
    }

    fn cuGraphAddMemAllocNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: usize,
    ) {
        let new = New::plain(out, graph, nodes, count);
        new.add(|_| {
            let memory = In::<Memory>::at_address(params).get()?;
            Ok(Described::Memory(memory, Memory::address_at(params)))
        })
    }

    fn cuGraphAddMemFreeNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, address: u64,
    ) {
        let new = New::plain(out, graph, nodes, count);
        new.add(|_| Ok(Described::Operation(0, Operation::Free(address))))
    }

    fn cuGraphConditionalHandleCreate(
        out: Out<u64>, graph: Handle, context: Handle, default: u32, flags: u32,
    ) {
        let mut driver = at_once()?;
        let (current, _) = driver.context()?;
        out.check()?;
        driver.graphs.graph(graph)?;
        if flags > ASSIGN_DEFAULT {
            return Err(Error::INVALID_VALUE);
        }
        let context = if context == 0 { current } else { context };
        driver.contexts.get(context).map_err(|_| Error::INVALID_CONTEXT)?;
        // Kernels set the value by its address; no launch may have the memory now.
        let mut driver = queue::finish(driver);
        let value = driver.memory.allocate(4, context)?;
        let first = (flags == ASSIGN_DEFAULT).then_some(default);
        driver.graphs.graph_mut(graph)?.values.insert(value, first);
        out.set(value)
    }

    fn cuGraphKernelNodeGetParams(node: Handle, params: Out<Kernel>) {
        let found = node_params::kernel(&mut *at_once()?, node)?;
        params.set(found.first())
    }

    fn cuGraphKernelNodeGetParams_v2(node: Handle, params: Out<KernelIn>) {
        let found = node_params::kernel(&mut *at_once()?, node)?;
        params.set(found)
    }

    fn cuGraphMemcpyNodeGetParams(node: Handle, params: Out<Volume>) {
        params.set(of(node, |operation| match operation {
            Operation::Copy(copy) => Some(Volume::of(copy)),
            _ => None,
        })?)
    }

    fn cuGraphMemsetNodeGetParams(node: Handle, params: Out<Set>) {
        params.set(of(node, |operation| match operation {
            Operation::Set(fill) => Some(Set::of(fill)),
            _ => None,
        })?)
    }

    fn cuGraphHostNodeGetParams(node: Handle, params: Out<Call>) {
        params.set(of(node, |operation| match operation {
            Operation::Call(function, data) => Some(Call::of(*function, *data)),
            _ => None,
        })?)
    }

    fn cuGraphChildGraphNodeGetGraph(node: Handle, graph: Out<Handle>) {
        graph.set(of(node, |operation| match operation {
            Operation::Graph(inner) => Some(*inner),
            _ => None,
        })?)
    }

    fn cuGraphEventRecordNodeGetEvent(node: Handle, event: Out<Handle>) {
        event.set(of(node, |operation| match operation {
            Operation::Record(event) => Some(*event),
            _ => None,
        })?)
    }

    fn cuGraphEventWaitNodeGetEvent(node: Handle, event: Out<Handle>) {
        event.set(of(node, |operation| match operation {
            Operation::Wait(event) => Some(*event),
            _ => None,
        })?)
    }

    fn cuGraphMemAllocNodeGetParams(node: Handle, params: Out<Memory>) {
        params.set(of(node, |operation| match operation {
            Operation::Allocate(memory) => Some(Memory::of(*memory)),
            _ => None,
        })?)
    }

    fn cuGraphMemFreeNodeGetParams(node: Handle, address: Out<u64>) {
        address.set(of(node, |operation| match operation {
            Operation::Free(address) => Some(*address),
            _ => None,
        })?)
    }

    fn cuGraphNodeSetParams(node: Handle, params: usize) {
        change(node, |driver| node_params::any(driver, params))
    }

    fn cuGraphKernelNodeSetParams(node: Handle, params: In<Kernel>) {
        change(node, |driver| KernelIn::of(params.get()?).operation(driver))
    }

    fn cuGraphKernelNodeSetParams_v2(node: Handle, params: In<KernelIn>) {
        change(node, |driver| params.get()?.operation(driver))
    }

    fn cuGraphMemcpyNodeSetParams(node: Handle, params: In<Volume>) {
        change(node, |_| node_params::copy(params.get()?.copy(), 0))
    }

    fn cuGraphMemsetNodeSetParams(node: Handle, params: In<Set>) {
        change(node, |_| params.get()?.operation(0))
    }

    fn cuGraphHostNodeSetParams(node: Handle, params: In<Call>) {
        change(node, |_| params.get()?.operation())
    }

    fn cuGraphEventRecordNodeSetEvent(node: Handle, event: Handle) {
        change(node, |_| Ok(Described::Operation(0, Operation::Record(event))))
    }

    fn cuGraphEventWaitNodeSetEvent(node: Handle, event: Handle) {
        change(node, |_| Ok(Described::Operation(0, Operation::Wait(event))))
    }

    fn cuGraphKernelNodeSetAttribute(node: Handle, number: u32, value: In<Attribute>) {
        set_attribute(&mut *at_once()?, node, number, value.get()?)
    }

    fn cuGraphKernelNodeGetAttribute(node: Handle, number: u32, value: Out<Attribute>) {
        let driver = at_once()?;
        let found = driver.graphs.node(node)?;
        let Operation::Launch(request) = &found.operation else {
            return Err(Error::INVALID_VALUE);
        };
        let mut set = found.attributes.get(&number).copied().unwrap_or_default();
        match number {
            COOPERATIVE => set[0] = u32::from(request.cooperative),
            1..=ATTRIBUTES => {}
            _ => return Err(Error::INVALID_VALUE),
        }
        value.set(set)
    }

    fn cuGraphKernelNodeCopyAttributes(to: Handle, from: Handle) {
        let mut driver = at_once()?;
        let all = driver.graphs.node(from)?.attributes.clone();
        all.into_iter().try_for_each(|(number, value)| set_attribute(&mut driver, to, number, value))
    }
}
