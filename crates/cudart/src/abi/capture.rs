//! Capture of streams.

use super::context::{self, current, version};
use super::driver::Facts;
use super::{Out, api, forward};
use crate::errors::Result;
use crate::props::Version;
use crate::registry::Handle;

/// Returns what the driver knows about the capture of a stream, by places that may be null.
fn info(stream: Handle, status: Out<u32>, facts: Facts) -> Result<()> {
    let Facts { id, graph, nodes, edges, count } = facts;
    let (driver, mut found) = (current()?, 0);
    let stream = context::stream(stream);
    driver.cuStreamGetCaptureInfo_v3(stream, &raw mut found, id, graph, nodes, edges, count)?;
    status.set(found)
}

fn update(stream: Handle, nodes: usize, edges: usize, count: usize, flags: u32) -> Result<()> {
    let stream = context::stream(stream);
    current()?.cuStreamUpdateCaptureDependencies_v2(stream, nodes, edges, count, flags)
}

forward! {
    cudaThreadExchangeStreamCaptureMode = cuThreadExchangeStreamCaptureMode(mode: usize);
}

api! {
    cudaStreamBeginCapture [cudaStreamBeginCapture_ptsz] (stream: Handle, mode: u32) {
        current()?.cuStreamBeginCapture_v2(context::stream(stream), mode)
    }

    cudaStreamBeginCaptureToGraph [cudaStreamBeginCaptureToGraph_ptsz] (
        stream: Handle, graph: Handle, nodes: usize, edges: usize, count: usize, mode: u32,
    ) {
        let stream = context::stream(stream);
        current()?.cuStreamBeginCaptureToGraph(stream, graph, nodes, edges, count, mode)
    }

    cudaStreamEndCapture [cudaStreamEndCapture_ptsz] (stream: Handle, graph: usize) {
        current()?.cuStreamEndCapture(context::stream(stream), graph)
    }

    cudaStreamIsCapturing [cudaStreamIsCapturing_ptsz] (stream: Handle, status: usize) {
        current()?.cuStreamIsCapturing(context::stream(stream), status)
    }

    // Before CUDA 13, the function of this name has three arguments.
    cudaStreamGetCaptureInfo [cudaStreamGetCaptureInfo_ptsz] (
        stream: Handle, status: Out<u32>, id: usize, graph: usize, nodes: usize, edges: usize,
        count: usize,
    ) {
        let facts = match version() {
            Version::V13 => Facts { id, graph, nodes, edges, count },
            _ => Facts { id, ..Facts::default() },
        };
        info(stream, status, facts)
    }

    cudaStreamGetCaptureInfo_v2 [cudaStreamGetCaptureInfo_v2_ptsz] (
        stream: Handle, status: Out<u32>, id: usize, graph: usize, nodes: usize, count: usize,
    ) {
        info(stream, status, Facts { id, graph, nodes, edges: 0, count })
    }

    cudaStreamGetCaptureInfo_v3 [cudaStreamGetCaptureInfo_v3_ptsz] (
        stream: Handle, status: Out<u32>, id: usize, graph: usize, nodes: usize, edges: usize,
        count: usize,
    ) {
        info(stream, status, Facts { id, graph, nodes, edges, count })
    }

    // Before CUDA 13, the function of this name takes no annotations of edges.
    cudaStreamUpdateCaptureDependencies [cudaStreamUpdateCaptureDependencies_ptsz] (
        stream: Handle, nodes: usize, third: usize, fourth: usize, flags: u32,
    ) {
        match version() {
            Version::V13 => update(stream, nodes, third, fourth, flags),
            _ => update(stream, nodes, 0, third, fourth as u32),
        }
    }

    cudaStreamUpdateCaptureDependencies_v2 [cudaStreamUpdateCaptureDependencies_v2_ptsz] (
        stream: Handle, nodes: usize, edges: usize, count: usize, flags: u32,
    ) {
        update(stream, nodes, edges, count, flags)
    }
}
