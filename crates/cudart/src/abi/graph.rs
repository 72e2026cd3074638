//! Graphs: creation, edges, instantiation and launch. The driver has all of it.

use super::context::{self, current, version, with_device};
use super::{api, forward};
use crate::props::Version;
use crate::registry::Handle;

/// Returns annotations of edges and a count from the last arguments of a call: before CUDA 13, the
/// function without `_v2` in its name takes no annotations.
fn annotated(third: usize, fourth: usize) -> (usize, usize) {
    if version() == Version::V13 { (third, fourth) } else { (0, third) }
}

forward! {
    cudaGraphCreate = cuGraphCreate(graph: usize, flags: u32);
    cudaGraphDestroy = cuGraphDestroy(graph: Handle);
    cudaGraphClone = cuGraphClone(clone: usize, graph: Handle);
    cudaGraphNodeFindInClone = cuGraphNodeFindInClone(found: usize, node: Handle, clone: Handle);
    cudaGraphNodeGetType = cuGraphNodeGetType(node: Handle, kind: usize);
    cudaGraphGetNodes = cuGraphGetNodes(graph: Handle, nodes: usize, count: usize);
    cudaGraphGetRootNodes = cuGraphGetRootNodes(graph: Handle, nodes: usize, count: usize);
    cudaGraphGetEdges_v2 = cuGraphGetEdges_v2(graph: Handle, from: usize, to: usize,
        edges: usize, count: usize);
    cudaGraphNodeGetDependencies_v2 = cuGraphNodeGetDependencies_v2(node: Handle, nodes: usize,
        edges: usize, count: usize);
    cudaGraphNodeGetDependentNodes_v2 = cuGraphNodeGetDependentNodes_v2(node: Handle,
        nodes: usize, edges: usize, count: usize);
    cudaGraphAddDependencies_v2 = cuGraphAddDependencies_v2(graph: Handle, from: usize, to: usize,
        edges: usize, count: usize);
    cudaGraphRemoveDependencies_v2 = cuGraphRemoveDependencies_v2(graph: Handle, from: usize,
        to: usize, edges: usize, count: usize);
    cudaGraphDestroyNode = cuGraphDestroyNode(node: Handle);
    cudaGraphDebugDotPrint = cuGraphDebugDotPrint(graph: Handle, path: usize, flags: u32);
    cudaGraphInstantiateWithFlags = cuGraphInstantiateWithFlags(exec: usize, graph: Handle,
        flags: u64);
    cudaGraphExecGetFlags = cuGraphExecGetFlags(exec: Handle, flags: usize);
    cudaGraphExecDestroy = cuGraphExecDestroy(exec: Handle);
    cudaGraphNodeSetEnabled = cuGraphNodeSetEnabled(exec: Handle, node: Handle, enabled: u32);
    cudaGraphNodeGetEnabled = cuGraphNodeGetEnabled(exec: Handle, node: Handle, enabled: usize);
    cudaUserObjectCreate = cuUserObjectCreate(object: usize, data: usize, end: usize, count: u32,
        flags: u32);
    cudaUserObjectRetain = cuUserObjectRetain(object: Handle, count: u32);
    cudaUserObjectRelease = cuUserObjectRelease(object: Handle, count: u32);
    cudaGraphRetainUserObject = cuGraphRetainUserObject(graph: Handle, object: Handle, count: u32,
        flags: u32);
    cudaGraphReleaseUserObject = cuGraphReleaseUserObject(graph: Handle, object: Handle,
        count: u32);
}

api! {
    cudaGraphGetEdges(graph: Handle, from: usize, to: usize, third: usize, fourth: usize) {
        let (edges, count) = annotated(third, fourth);
        current()?.cuGraphGetEdges_v2(graph, from, to, edges, count)
    }

    cudaGraphNodeGetDependencies(node: Handle, nodes: usize, third: usize, fourth: usize) {
        let (edges, count) = annotated(third, fourth);
        current()?.cuGraphNodeGetDependencies_v2(node, nodes, edges, count)
    }

    cudaGraphNodeGetDependentNodes(node: Handle, nodes: usize, third: usize, fourth: usize) {
        let (edges, count) = annotated(third, fourth);
        current()?.cuGraphNodeGetDependentNodes_v2(node, nodes, edges, count)
    }

    cudaGraphAddDependencies(graph: Handle, from: usize, to: usize, third: usize, fourth: usize) {
        let (edges, count) = annotated(third, fourth);
        current()?.cuGraphAddDependencies_v2(graph, from, to, edges, count)
    }

    cudaGraphRemoveDependencies(
        graph: Handle, from: usize, to: usize, third: usize, fourth: usize,
    ) {
        let (edges, count) = annotated(third, fourth);
        current()?.cuGraphRemoveDependencies_v2(graph, from, to, edges, count)
    }

    // CUDA 11 has a place for a node and a log where CUDA 12 has flags.
    cudaGraphInstantiate(exec: usize, graph: Handle, third: u64, log: usize, size: usize) {
        let driver = current()?;
        match version() {
            Version::V11 => driver.cuGraphInstantiate_v2(exec, graph, third as usize, log, size),
            _ => driver.cuGraphInstantiateWithFlags(exec, graph, third),
        }
    }

    cudaGraphInstantiateWithParams [cudaGraphInstantiateWithParams_ptsz] (
        exec: usize, graph: Handle, parameters: usize,
    ) {
        current()?.cuGraphInstantiateWithParams(exec, graph, parameters)
    }

    // CUDA 11 has two places for the result.
    cudaGraphExecUpdate(exec: Handle, graph: Handle, third: usize, fourth: usize) {
        let driver = current()?;
        match version() {
            Version::V11 => driver.cuGraphExecUpdate(exec, graph, third, fourth),
            _ => driver.cuGraphExecUpdate_v2(exec, graph, third),
        }
    }

    cudaGraphUpload [cudaGraphUpload_ptsz] (exec: Handle, stream: Handle) {
        current()?.cuGraphUpload(exec, context::stream(stream))
    }

    cudaGraphLaunch [cudaGraphLaunch_ptsz] (exec: Handle, stream: Handle) {
        current()?.cuGraphLaunch(exec, context::stream(stream))
    }

    cudaDeviceGetGraphMemAttribute(device: i32, attribute: u32, value: usize) {
        with_device(device)?.cuDeviceGetGraphMemAttribute(device, attribute, value)
    }

    cudaDeviceSetGraphMemAttribute(device: i32, attribute: u32, value: usize) {
        with_device(device)?.cuDeviceSetGraphMemAttribute(device, attribute, value)
    }

    cudaDeviceGraphMemTrim(device: i32) {
        with_device(device)?.cuDeviceGraphMemTrim(device)
    }
}
