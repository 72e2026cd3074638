//! Executable graphs: instantiation, changes and launches.

use super::copy::Volume;
use super::entry_points;
use super::graphs::end_objects;
use super::node_params::{self, Call, Described, Kernel, KernelIn, Set};
use super::nodes::changed;
use super::pointer::{In, Out};
use crate::error::Error;
use crate::graph::plan::{Refused, UPLOAD};
use crate::graph::update::Reason;
use crate::operation::Operation;
use crate::queue;
use crate::state::{self, Driver, at_once, driver};
use crate::table::Handle;

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Instantiation {
    flags: u64,
    stream: Handle,
    node: Handle,
    result: u32,
}

/// `CUgraphExecUpdateResultInfo`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Update {
    result: u32,
    node: Handle,
    from: Handle,
}

fn instantiate(out: Out<Handle>, graph: Handle, flags: u64) -> Result<(), Refused> {
    let refused = |error| Refused::other(error, 0);
    let mut driver = at_once().map_err(refused)?;
    out.check().map_err(refused)?;
    driver.context().map_err(refused)?;
    driver.refuse_captures().map_err(refused)?;
    let exec = driver.instantiate(graph, flags)?;
    out.set(exec).map_err(refused)
}

/// Instantiates as older versions do, with a log of errors.
fn instantiate_logged(
    out: Out<Handle>,
    graph: Handle,
    node: Out<Handle>,
    log: Out<u8>,
    size: usize,
) -> Result<(), Error> {
    if !log.is_null() && size > 0 {
        log.set(0)?;
    }
    instantiate(out, graph, 0).map_err(|refused| {
        let _ = node.set_if(refused.node);
        refused.error
    })
}

/// Does all nodes of an executable graph, in the order of the calls.
fn launch(exec: Handle, stream: Handle) -> Result<(), Error> {
    let mut driver = at_once()?;
    driver.context()?;
    driver.stream(stream)?;
    driver.refuse_on(stream)?;
    driver.refuse_implicit(stream)?;
    let work = driver.work_of(exec)?;
    let blocks = driver.options.blocking;
    queue::submit(driver, work);
    if blocks { state::driver()?.context().map(|_| ()) } else { Ok(()) }
}

fn update(exec: Handle, graph: Handle) -> Result<(), (Error, Reason)> {
    let other = |error| (error, (crate::graph::update::ERROR, 0));
    let mut driver = at_once().map_err(other)?;
    driver.graphs.exec(exec).map_err(other)?;
    driver.graphs.graph(graph).map_err(other)?;
    driver.update(exec, graph).map_err(|reason| (Error::GRAPH_EXEC_UPDATE_FAILURE, reason))
}

/// Gives a node of an executable graph the operation that `describe` reads.
fn change(
    exec: Handle,
    node: Handle,
    describe: impl FnOnce(&Driver) -> Result<Described, Error>,
) -> Result<(), Error> {
    let mut driver = at_once()?;
    driver.graphs.exec(exec)?;
    match describe(&driver)? {
        Described::Child(graph, false) => driver.change_child(exec, node, graph),
        described => {
            let operation = changed(described)?;
            driver.change(exec, node, operation)
        }
    }
}

entry_points! {
    fn cuGraphInstantiate(
        out: Out<Handle>, graph: Handle, node: Out<Handle>, log: Out<u8>, size: usize,
    ) {
        instantiate_logged(out, graph, node, log, size)
    }

    fn cuGraphInstantiate_v2(
        out: Out<Handle>, graph: Handle, node: Out<Handle>, log: Out<u8>, size: usize,
    ) {
        instantiate_logged(out, graph, node, log, size)
    }

    fn cuGraphInstantiateWithFlags(out: Out<Handle>, graph: Handle, flags: u64) {
        if flags & UPLOAD != 0 {
            return Err(Error::INVALID_VALUE); // it has no stream
        }
        instantiate(out, graph, flags).map_err(|refused| refused.error)
    }

    fn cuGraphInstantiateWithParams(out: Out<Handle>, graph: Handle, params: usize) {
        let place = Out::<Instantiation>::at_address(params);
        let given = In::<Instantiation>::at_address(params).get()?;
        if given.flags & UPLOAD != 0 {
            at_once()?.stream(given.stream)?;
        }
        match instantiate(out, graph, given.flags) {
            Ok(()) => place.set(Instantiation { node: 0, result: 0, ..given }),
            Err(Refused { error, result, node }) => {
                place.set(Instantiation { node, result, ..given })?;
                Err(error)
            }
        }
    }

    fn cuGraphExecGetFlags(exec: Handle, flags: Out<u64>) {
        let found = at_once()?.graphs.exec(exec)?.flags;
        flags.set(found)
    }

    fn cuGraphLaunch(exec: Handle, stream: Handle) {
        launch(exec, stream)
    }

    fn cuGraphUpload(exec: Handle, stream: Handle) {
        let mut driver = at_once()?;
        driver.context()?;
        driver.stream(stream)?;
        driver.refuse_on(stream)?;
        driver.graphs.exec(exec).map(|_| ())
    }

    fn cuGraphExecDestroy(exec: Handle) {
        let mut driver = at_once()?;
        driver.graphs.exec(exec)?;
        driver.refuse_captures()?;
        let ends = driver.graphs.destroy_exec(exec)?;
        end_objects(driver, ends);
        Ok(())
    }

    fn cuGraphExecUpdate(
        exec: Handle, graph: Handle, node: Out<Handle>, result: Out<u32>,
    ) {
        let done = update(exec, graph);
        let (error_result, error_node) = done.map_or_else(|(_, reason)| reason, |()| (0, 0));
        node.set_if(error_node)?;
        result.set_if(error_result)?;
        done.map_err(|(error, _)| error)
    }

    fn cuGraphExecUpdate_v2(exec: Handle, graph: Handle, info: Out<Update>) {
        let done = update(exec, graph);
        let (result, node) = done.map_or_else(|(_, reason)| reason, |()| (0, 0));
        info.set_if(Update { result, node, from: 0 })?;
        done.map_err(|(error, _)| error)
    }

    fn cuGraphExecNodeSetParams(exec: Handle, node: Handle, params: usize) {
        change(exec, node, |driver| node_params::any(driver, params))
    }

    fn cuGraphExecKernelNodeSetParams(exec: Handle, node: Handle, params: In<Kernel>) {
        change(exec, node, |driver| KernelIn::of(params.get()?).operation(driver))
    }

    fn cuGraphExecKernelNodeSetParams_v2(exec: Handle, node: Handle, params: In<KernelIn>) {
        change(exec, node, |driver| params.get()?.operation(driver))
    }

    fn cuGraphExecMemcpyNodeSetParams(
        exec: Handle, node: Handle, params: In<Volume>, context: Handle,
    ) {
        change(exec, node, |_| node_params::copy(params.get()?.copy(), context))
    }

    fn cuGraphExecMemsetNodeSetParams(
        exec: Handle, node: Handle, params: In<Set>, context: Handle,
    ) {
        change(exec, node, |_| params.get()?.operation(context))
    }

    fn cuGraphExecHostNodeSetParams(exec: Handle, node: Handle, params: In<Call>) {
        change(exec, node, |_| params.get()?.operation())
    }

    fn cuGraphExecChildGraphNodeSetParams(exec: Handle, node: Handle, graph: Handle) {
        change(exec, node, |_| Ok(Described::Child(graph, false)))
    }

    fn cuGraphExecEventRecordNodeSetEvent(exec: Handle, node: Handle, event: Handle) {
        change(exec, node, |_| Ok(Described::Operation(0, Operation::Record(event))))
    }

    fn cuGraphExecEventWaitNodeSetEvent(exec: Handle, node: Handle, event: Handle) {
        change(exec, node, |_| Ok(Described::Operation(0, Operation::Wait(event))))
    }

    fn cuGraphNodeSetEnabled(exec: Handle, node: Handle, enabled: u32) {
        let mut driver = at_once()?;
        let step = driver.graphs.exec(exec)?.plan.step(node)?;
        if step.operation.kind() > 2 {
            return Err(Error::INVALID_VALUE); // kernels, copies and sets can be left out
        }
        step.is_enabled = enabled != 0;
        Ok(())
    }

    fn cuGraphNodeGetEnabled(exec: Handle, node: Handle, enabled: Out<u32>) {
        let mut driver = at_once()?;
        let step = driver.graphs.exec(exec)?.plan.step(node)?;
        if step.operation.kind() > 2 {
            return Err(Error::INVALID_VALUE);
        }
        enabled.set(u32::from(step.is_enabled))
    }

    fn cuDeviceGetGraphMemAttribute(device: i32, attribute: u32, value: Out<u64>) {
        let mut driver = driver()?;
        driver.device(device)?;
        // Memory in use, and memory that is kept for it: the same, as on an H200.
        let [now, most] = driver.memory.graphs.reserved;
        match attribute {
            0 | 2 => value.set(now),
            1 | 3 => value.set(most),
            _ => Err(Error::INVALID_VALUE),
        }
    }

    fn cuDeviceSetGraphMemAttribute(device: i32, attribute: u32, value: In<u64>) {
        let mut driver = driver()?;
        driver.device(device)?;
        if !matches!(attribute, 1 | 3) || value.get()? != 0 {
            return Err(Error::INVALID_VALUE);
        }
        driver.memory.graphs.reserved[1] = driver.memory.graphs.reserved[0];
        Ok(())
    }

    fn cuDeviceGraphMemTrim(device: i32) {
        let mut driver = driver()?;
        driver.device(device)?;
        driver.memory.graphs.trim();
        Ok(())
    }
}
