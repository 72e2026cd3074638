//! Graphs: creation, copies, nodes and edges.

use std::sync::MutexGuard;

use super::entry_points;
use super::pointer::{In, Out};
use crate::error::Error;
use crate::graph::{Edge, EdgeData};
use crate::operation::Operation;
use crate::state::{Driver, at_once};
use crate::table::Handle;

/// List without annotations of edges.
pub(super) const PLAIN: In<EdgeData> = In::at_address(0);
const NO_EDGES: Out<EdgeData> = Out::at_address(0);

/// Calls the functions that end objects of the program.
pub(super) fn end_objects(driver: MutexGuard<'static, Driver>, ends: Vec<Operation>) {
    drop(driver);
    for end in ends {
        if let Operation::Call(function, data) = end {
            function(data);
        }
    }
}

/// Reads an annotation of an edge.
fn annotation(list: In<EdgeData>, index: usize) -> Result<EdgeData, Error> {
    if list.is_null() {
        return Ok(EdgeData::default());
    }
    let data = list.at(index)?;
    // Ports 0 to 2 and types 0 and 1 exist; the rest is reserved.
    let [from_port, to_port, kind, reserved @ ..] = data;
    if from_port > 2 || to_port != 0 || kind > 1 || reserved != [0; 5] {
        return Err(Error::INVALID_VALUE);
    }
    Ok(data)
}

/// Reads the edges of a new node.
pub(super) fn edges(
    driver: &Driver,
    nodes: In<Handle>,
    data: In<EdgeData>,
    count: usize,
) -> Result<Vec<Edge>, Error> {
    let mut edges = Vec::new();
    for i in 0..count {
        let edge = Edge { from: nodes.at(i)?, data: annotation(data, i)? };
        driver.graphs.node(edge.from)?;
        edges.push(edge);
    }
    Ok(edges)
}

/// Reads edges between nodes that exist.
fn pairs(
    driver: &Driver,
    from: In<Handle>,
    to: In<Handle>,
    data: In<EdgeData>,
    count: usize,
) -> Result<Vec<(Edge, Handle)>, Error> {
    let mut pairs = Vec::new();
    for i in 0..count {
        let to = to.at(i)?;
        let edge = Edge { from: from.at(i)?, data: annotation(data, i)? };
        for node in [edge.from, to] {
            driver.graphs.node(node)?;
        }
        pairs.push((edge, to));
    }
    Ok(pairs)
}

/// Writes a list as far as there is room, nulls after it, and its length.
///
/// `lists` are the places of the list and of those that accompany it; without a first one, only the
/// length is written.
fn list(
    count: In<usize>,
    nodes: &[(Out<Handle>, Vec<Handle>)],
    edges: Out<EdgeData>,
    annotations: &[EdgeData],
) -> Result<(), Error> {
    let room = count.get()?;
    let Some((first, all)) = nodes.first() else { return Ok(()) };
    if first.is_null() {
        return count.overwrite(all.len());
    }
    let there = all.len().min(room);
    let is_plain = |data: &EdgeData| *data == EdgeData::default();
    if edges.is_null() && !annotations.iter().take(there).all(is_plain) {
        return Err(Error::LOSSY_QUERY);
    }
    for (out, values) in nodes {
        for (i, value) in values.iter().take(there).enumerate() {
            out.set_at(i, *value)?;
        }
        for i in there..room {
            out.set_at(i, 0)?;
        }
    }
    for (i, data) in annotations.iter().take(there).enumerate() {
        if !edges.is_null() {
            edges.set_at(i, *data)?;
        }
    }
    count.overwrite(there)
}

fn all_edges(
    graph: Handle,
    from: Out<Handle>,
    to: Out<Handle>,
    data: Out<EdgeData>,
    count: In<usize>,
) -> Result<(), Error> {
    let found = at_once()?.graphs.edges(graph)?;
    if from.is_null() != to.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    let annotations: Vec<EdgeData> = found.iter().map(|(edge, _)| edge.data).collect();
    let (starts, ends) = found.iter().map(|(edge, to)| (edge.from, *to)).unzip();
    list(count, &[(from, starts), (to, ends)], data, &annotations)
}

/// Writes the other ends of edges of a node.
fn neighbours(
    found: &[Edge],
    nodes: Out<Handle>,
    data: Out<EdgeData>,
    count: In<usize>,
) -> Result<(), Error> {
    let annotations: Vec<EdgeData> = found.iter().map(|edge| edge.data).collect();
    list(count, &[(nodes, found.iter().map(|edge| edge.from).collect())], data, &annotations)
}

fn dependencies(
    node: Handle,
    nodes: Out<Handle>,
    data: Out<EdgeData>,
    count: In<usize>,
) -> Result<(), Error> {
    let found = at_once()?.graphs.node(node)?.edges.clone();
    neighbours(&found, nodes, data, count)
}

fn dependents(
    node: Handle,
    nodes: Out<Handle>,
    data: Out<EdgeData>,
    count: In<usize>,
) -> Result<(), Error> {
    let found = at_once()?.graphs.dependents(node)?;
    neighbours(&found, nodes, data, count)
}

/// Adds edges between nodes, or removes them.
fn change_edges(
    graph: Handle,
    lists: [In<Handle>; 2],
    data: In<EdgeData>,
    count: usize,
    adds: bool,
) -> Result<(), Error> {
    let mut driver = at_once()?;
    let pairs = pairs(&driver, lists[0], lists[1], data, count)?;
    match adds {
        true => driver.graphs.connect(graph, &pairs),
        false => driver.graphs.disconnect(graph, &pairs, !data.is_null()),
    }
}

entry_points! {
    fn cuGraphCreate(out: Out<Handle>, flags: u32) {
        let mut driver = at_once()?;
        out.check()?;
        if flags != 0 {
            return Err(Error::INVALID_VALUE);
        }
        out.set(driver.graphs.create())
    }

    fn cuGraphDestroy(graph: Handle) {
        let mut driver = at_once()?;
        let ends = driver.graphs.destroy(graph)?;
        end_objects(driver, ends);
        Ok(())
    }

    fn cuGraphClone(out: Out<Handle>, graph: Handle) {
        let mut driver = at_once()?;
        out.check()?;
        out.set(driver.graphs.copy(graph)?)
    }

    fn cuGraphNodeFindInClone(out: Out<Handle>, node: Handle, clone: Handle) {
        let found = at_once()?.graphs.find_in_clone(node, clone)?;
        out.set(found)
    }

    fn cuGraphNodeGetType(node: Handle, kind: Out<u32>) {
        let found = at_once()?.graphs.node(node)?.operation.kind();
        kind.set(found)
    }

    fn cuGraphGetNodes(graph: Handle, nodes: Out<Handle>, count: In<usize>) {
        let found = at_once()?.graphs.graph(graph)?.nodes.clone();
        list(count, &[(nodes, found)], NO_EDGES, &[])
    }

    fn cuGraphGetRootNodes(graph: Handle, nodes: Out<Handle>, count: In<usize>) {
        let driver = at_once()?;
        let all = driver.graphs.graph(graph)?.nodes.iter().rev().copied(); // as on an H200
        let is_root = |node: &Handle| driver.graphs.node(*node).is_ok_and(|n| n.edges.is_empty());
        list(count, &[(nodes, all.filter(is_root).collect())], NO_EDGES, &[])
    }

    fn cuGraphGetEdges(graph: Handle, from: Out<Handle>, to: Out<Handle>, count: In<usize>) {
        all_edges(graph, from, to, NO_EDGES, count)
    }

    fn cuGraphGetEdges_v2(
        graph: Handle, from: Out<Handle>, to: Out<Handle>, data: Out<EdgeData>, count: In<usize>,
    ) {
        all_edges(graph, from, to, data, count)
    }

    fn cuGraphNodeGetDependencies(node: Handle, nodes: Out<Handle>, count: In<usize>) {
        dependencies(node, nodes, NO_EDGES, count)
    }

    fn cuGraphNodeGetDependencies_v2(
        node: Handle, nodes: Out<Handle>, data: Out<EdgeData>, count: In<usize>,
    ) {
        dependencies(node, nodes, data, count)
    }

    fn cuGraphNodeGetDependentNodes(node: Handle, nodes: Out<Handle>, count: In<usize>) {
        dependents(node, nodes, NO_EDGES, count)
    }

    fn cuGraphNodeGetDependentNodes_v2(
        node: Handle, nodes: Out<Handle>, data: Out<EdgeData>, count: In<usize>,
    ) {
        dependents(node, nodes, data, count)
    }

    fn cuGraphAddDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) {
        change_edges(graph, [from, to], PLAIN, count, true)
    }

    fn cuGraphAddDependencies_v2(
        graph: Handle, from: In<Handle>, to: In<Handle>, data: In<EdgeData>, count: usize,
    ) {
        change_edges(graph, [from, to], data, count, true)
    }

    fn cuGraphRemoveDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) {
        change_edges(graph, [from, to], PLAIN, count, false)
    }

    fn cuGraphRemoveDependencies_v2(
        graph: Handle, from: In<Handle>, to: In<Handle>, data: In<EdgeData>, count: usize,
    ) {
        change_edges(graph, [from, to], data, count, false)
    }

    fn cuGraphDestroyNode(node: Handle) {
        let mut driver = at_once()?;
        let ends = driver.graphs.destroy_node(node)?;
        end_objects(driver, ends);
        Ok(())
    }

    fn cuGraphDebugDotPrint(graph: Handle, path: In<u8>, flags: u32) {
        let driver = at_once()?;
        driver.graphs.graph(graph)?;
        let picture = driver.dot(graph, flags);
        std::fs::write(path.text()?, picture).map_err(|_| Error::OPERATING_SYSTEM)
    }
}
