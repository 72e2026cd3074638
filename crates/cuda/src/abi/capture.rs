//! Capture of streams.

use super::entry_points;
use super::graphs::{PLAIN, edges};
use super::pointer::{In, Out};
use crate::error::Error;
use crate::graph::EdgeData;
use crate::graph::capture::{Info, exchange_mode};
use crate::state::{Driver, at_once};
use crate::table::Handle;

/// Refuses a question about the legacy default stream while it waits for a captured one.
fn refuse(driver: &mut Driver, stream: Handle) -> Result<(), Error> {
    let captured = driver.implied(stream)?;
    if captured.is_empty() { Ok(()) } else { Err(Error::STREAM_CAPTURE_IMPLICIT) }
}

/// Returns facts about a stream that may be captured.
fn info(stream: Handle, status: Out<u32>) -> Result<Option<Info>, Error> {
    let mut driver = at_once()?;
    driver.stream(stream)?;
    refuse(&mut driver, stream)?;
    let info = driver.graphs.captures.info(stream);
    status.set(info.map_or(0, |info| info.status))?;
    // Of a capture that a call invalidated, only the state is told.
    Ok(info.filter(|info| info.status == 1))
}

fn update(
    stream: Handle,
    nodes: In<Handle>,
    data: In<EdgeData>,
    count: usize,
    flags: u32,
) -> Result<(), Error> {
    let mut driver = at_once()?;
    driver.stream(stream)?;
    if flags > 1 {
        return Err(Error::INVALID_VALUE);
    }
    let tips = edges(&driver, nodes, data, count)?;
    driver.set_tips(stream, &tips, flags == 1)
}

entry_points! {
    fn cuStreamBeginCapture(stream: Handle) {
        at_once()?.begin_capture(stream, 0, None)
    }

    fn cuStreamBeginCapture_v2(stream: Handle, mode: u32) {
        at_once()?.begin_capture(stream, mode, None)
    }

    fn cuStreamBeginCaptureToGraph(
        stream: Handle, graph: Handle, nodes: In<Handle>, data: In<EdgeData>, count: usize,
        mode: u32,
    ) {
        let mut driver = at_once()?;
        let tips = edges(&driver, nodes, data, count)?;
        driver.begin_capture(stream, mode, Some((graph, tips)))
    }

    fn cuStreamEndCapture(stream: Handle, graph: Out<Handle>) {
        let mut driver = at_once()?;
        match driver.end_capture(stream) {
            Ok(made) => graph.set_if(made),
            Err(error) => {
                graph.set_if(0)?;
                Err(error)
            }
        }
    }

    fn cuStreamIsCapturing(stream: Handle, status: Out<u32>) {
        let mut driver = at_once()?;
        driver.stream(stream)?;
        refuse(&mut driver, stream)?;
        status.set(driver.graphs.captures.status(stream))
    }

    fn cuStreamGetCaptureInfo(stream: Handle, status: Out<u32>, id: Out<u64>) {
        match info(stream, status)? {
            Some(info) => id.set_if(info.id),
            None => Ok(()),
        }
    }

    fn cuStreamGetCaptureInfo_v2(
        stream: Handle, status: Out<u32>, id: Out<u64>, graph: Out<Handle>, nodes: Out<usize>,
        count: Out<usize>,
    ) {
        let Some(info) = info(stream, status)? else { return Ok(()) };
        if !info.is_plain && !nodes.is_null() {
            return Err(Error::LOSSY_QUERY);
        }
        id.set_if(info.id)?;
        graph.set_if(info.graph)?;
        nodes.set_if(info.nodes)?;
        count.set_if(info.count)
    }

    fn cuStreamGetCaptureInfo_v3(
        stream: Handle, status: Out<u32>, id: Out<u64>, graph: Out<Handle>, nodes: Out<usize>,
        edges: Out<usize>, count: Out<usize>,
    ) {
        let Some(info) = info(stream, status)? else { return Ok(()) };
        if !info.is_plain && !nodes.is_null() && edges.is_null() {
            return Err(Error::LOSSY_QUERY);
        }
        id.set_if(info.id)?;
        graph.set_if(info.graph)?;
        nodes.set_if(info.nodes)?;
        edges.set_if(info.edges)?;
        count.set_if(info.count)
    }

    fn cuStreamUpdateCaptureDependencies(
        stream: Handle, nodes: In<Handle>, count: usize, flags: u32,
    ) {
        update(stream, nodes, PLAIN, count, flags)
    }

    fn cuStreamUpdateCaptureDependencies_v2(
        stream: Handle, nodes: In<Handle>, data: In<EdgeData>, count: usize, flags: u32,
    ) {
        update(stream, nodes, data, count, flags)
    }

    fn cuThreadExchangeStreamCaptureMode(mode: In<u32>) {
        let before = exchange_mode(mode.get()?);
        mode.overwrite(before)
    }
}
