//! Graphs: operations that depend on each other, made node by node or by capture, launched as one.

pub(crate) mod capture;
pub(crate) mod dot;
pub(crate) mod objects;
mod order;
pub(crate) mod plan;
pub(crate) mod update;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::Error;
use crate::operation::{Choice, Form, Operation};
use crate::state::Driver;
use crate::table::{Handle, Kind, Table};
use capture::Captures;
use objects::{References, UserObject};
use plan::Exec;

/// Annotation of an edge, `CUgraphEdgeData`; zeros for an ordinary one.
pub(crate) type EdgeData = [u8; 8];

/// Value of an attribute of a kernel node.
pub(crate) type Attribute = [u32; 16];

/// Edge to a node, kept with that node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) from: Handle,
    pub(crate) data: EdgeData,
}

impl Edge {
    /// Returns an ordinary edge.
    pub(crate) fn plain(from: Handle) -> Edge {
        Edge { from, data: EdgeData::default() }
    }
}

/// A graph.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// Nodes in the order of their creation.
    pub(crate) nodes: Vec<Handle>,
    /// Node whose child graph it is; 0 for a graph of the program.
    pub(crate) owner: Handle,
    /// Graph of which it is a clone, or 0.
    original: Handle,
    /// Objects of the program that live as long as the graph.
    pub(crate) objects: References,
    /// Addresses of the values that choose between graphs, with those that launches begin with.
    pub(crate) values: BTreeMap<u64, Option<u32>>,
}

/// A node of a graph.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) graph: Handle,
    pub(crate) context: Handle,
    pub(crate) operation: Operation,
    /// Edges from the nodes that it depends on, in the order in which they were added.
    pub(crate) edges: Vec<Edge>,
    /// Nodes that depend on it, in the order in which their edges were added.
    after: Vec<Handle>,
    /// Node of which it is a clone, or 0.
    original: Handle,
    /// Attributes of a kernel node that the program set.
    pub(crate) attributes: BTreeMap<u32, Attribute>,
    /// Parameters of a kernel node as the program may read them, once it has asked.
    pub(crate) shown: Shown,
}

/// A block of parameters, and a list with the address of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    block: Box<[u8]>,
    places: Box<[usize]>,
}

impl Shown {
    /// Copies a block whose parameters begin at the offsets.
    pub(crate) fn new(block: &[u8], offsets: impl Iterator<Item = usize>) -> Shown {
        let block: Box<[u8]> = block.into();
        let base = block.as_ptr().expose_provenance();
        // An offset past the end, which no kernel has, would be shown as the end.
        let places = offsets.map(|offset| base + offset.min(block.len())).collect();
        Shown { block, places }
    }

    /// Returns the address of the list; 0 if there are no parameters.
    pub(crate) fn address(&self) -> usize {
        if self.block.is_empty() { 0 } else { self.places.as_ptr().expose_provenance() }
    }
}

/// All graphs of a process.
pub(crate) struct Graphs {
    pub(crate) graphs: Table<Graph>,
    pub(crate) nodes: Table<Node>,
    pub(crate) execs: Table<Exec>,
    pub(crate) objects: Table<UserObject>,
    pub(crate) captures: Captures,
    /// Memory that launches of graphs allocate and do not free.
    pub(crate) unfreed: BTreeSet<u64>,
}

impl Graphs {
    pub(crate) fn new() -> Graphs {
        Graphs {
            graphs: Table::new(Kind::Graph),
            nodes: Table::new(Kind::Node),
            execs: Table::new(Kind::GraphExec),
            objects: Table::new(Kind::UserObject),
            captures: Captures::default(),
            unfreed: BTreeSet::new(),
        }
    }

    /// Makes an empty graph.
    pub(crate) fn create(&mut self) -> Handle {
        self.graphs.add(Graph::default())
    }

    /// Returns a graph. Wild handles are invalid values here, as in the driver.
    pub(crate) fn graph(&self, graph: Handle) -> Result<&Graph, Error> {
        self.graphs.get(graph).map_err(|_| Error::INVALID_VALUE)
    }

    pub(crate) fn graph_mut(&mut self, graph: Handle) -> Result<&mut Graph, Error> {
        self.graphs.get_mut(graph).map_err(|_| Error::INVALID_VALUE)
    }

    pub(crate) fn node(&self, node: Handle) -> Result<&Node, Error> {
        self.nodes.get(node).map_err(|_| Error::INVALID_VALUE)
    }

    pub(crate) fn node_mut(&mut self, node: Handle) -> Result<&mut Node, Error> {
        self.nodes.get_mut(node).map_err(|_| Error::INVALID_VALUE)
    }

    /// Checks that edges come from different nodes of a graph.
    pub(crate) fn check_edges(&self, graph: Handle, edges: &[Edge]) -> Result<(), Error> {
        self.graph(graph)?;
        let mut seen = BTreeSet::new();
        for edge in edges {
            let of = self.node(edge.from)?.graph;
            if of != graph || !seen.insert(edge.from) {
                return Err(Error::INVALID_VALUE);
            }
        }
        Ok(())
    }

    /// Adds a node whose operation was checked.
    ///
    /// # Errors
    /// If the graph is none, or an edge does not come from one of its nodes.
    pub(crate) fn add(
        &mut self,
        graph: Handle,
        edges: &[Edge],
        context: Handle,
        operation: Operation,
    ) -> Result<Handle, Error> {
        self.check_edges(graph, edges)?;
        let node = self.nodes.add(Node {
            graph,
            context,
            operation,
            edges: edges.to_vec(),
            after: Vec::new(),
            original: 0,
            attributes: BTreeMap::new(),
            shown: Shown::default(),
        });
        for edge in edges {
            self.node_mut(edge.from)?.after.push(node);
        }
        self.graph_mut(graph)?.nodes.push(node);
        Ok(node)
    }

    /// Adds a node with a copy of a graph, or with the graph itself if it moves there.
    ///
    /// # Errors
    /// As for [`Graphs::add`], and if the graph is that of the node, or cannot be copied or moved.
    pub(crate) fn add_child(
        &mut self,
        graph: Handle,
        edges: &[Edge],
        context: Handle,
        child: Handle,
        moves: bool,
    ) -> Result<Handle, Error> {
        self.check_edges(graph, edges)?;
        if child == graph || moves && self.graph(child)?.owner != 0 {
            return Err(Error::INVALID_VALUE);
        }
        let inner = if moves { child } else { self.copy(child)? };
        let node = self.add(graph, edges, context, Operation::Graph(inner))?;
        self.graph_mut(inner)?.owner = node;
        Ok(node)
    }

    /// Adds a node that chooses between new graphs, and returns it with them.
    ///
    /// # Errors
    /// As for [`Graphs::add`], and if the value is none of the graph.
    pub(crate) fn add_choice(
        &mut self,
        graph: Handle,
        edges: &[Edge],
        context: Handle,
        (value, form, count): (u64, Form, usize),
    ) -> Result<(Handle, Arc<[Handle]>), Error> {
        self.check_edges(graph, edges)?;
        if !self.graph(graph)?.values.contains_key(&value) {
            return Err(Error::INVALID_VALUE);
        }
        let bodies: Arc<[Handle]> = (0..count).map(|_| self.create()).collect();
        let choice = Choice { value, form, bodies: Arc::clone(&bodies) };
        let node = self.add(graph, edges, context, Operation::Choice(choice))?;
        for body in bodies.iter() {
            self.graph_mut(*body)?.owner = node;
        }
        Ok((node, bodies))
    }

    /// Copies a graph with the graphs inside of it.
    ///
    /// # Errors
    /// If it allocates or frees memory, since two copies would have one address, or has a node that
    /// chooses between graphs.
    pub(crate) fn copy(&mut self, graph: Handle) -> Result<Handle, Error> {
        let nodes = self.graph(graph)?.nodes.clone();
        let objects = self.graph(graph)?.objects.clone();
        if self.has_memory(graph) {
            return Err(Error::NOT_SUPPORTED);
        }
        let copy = self.create();
        let mut places = BTreeMap::new();
        for original in nodes {
            let node = self.node(original)?.clone();
            if let Operation::Choice(_) = node.operation {
                return Err(Error::NOT_SUPPORTED);
            }
            let inner = match node.operation {
                Operation::Graph(inner) => Some(self.copy(inner)?),
                _ => None,
            };
            let operation = inner.map_or(node.operation, Operation::Graph);
            let shown = Shown::default();
            let new = self.nodes.add(Node { graph: copy, operation, original, shown, ..node });
            if let Some(inner) = inner {
                self.graph_mut(inner)?.owner = new;
            }
            places.insert(original, new);
            self.graph_mut(copy)?.nodes.push(new);
        }
        // An edge may come from a node that was created later.
        for new in places.values() {
            let node = self.node_mut(*new)?;
            let ends = node.edges.iter_mut().map(|edge| &mut edge.from).chain(&mut node.after);
            for end in ends {
                *end = places.get(end).copied().unwrap_or(0);
            }
        }
        self.retain_all(&objects);
        let made = self.graph_mut(copy)?;
        (made.original, made.objects) = (graph, objects);
        Ok(copy)
    }

    /// Finds the node of a clone that stands for a node of its original.
    pub(crate) fn find_in_clone(&self, node: Handle, clone: Handle) -> Result<Handle, Error> {
        let found = self.graph(clone)?;
        if found.original == 0 || found.original != self.node(node)?.graph {
            return Err(Error::INVALID_VALUE);
        }
        let is_it = |new: &&Handle| self.node(**new).is_ok_and(|new| new.original == node);
        found.nodes.iter().find(is_it).copied().ok_or(Error::INVALID_VALUE)
    }

    /// Returns true if a node of a graph allocates or frees memory.
    pub(crate) fn has_memory(&self, graph: Handle) -> bool {
        let nodes = self.graphs.get(graph).map_or(&[][..], |graph| &graph.nodes);
        nodes.iter().any(|node| match self.nodes.get(*node).map(|node| &node.operation) {
            Ok(Operation::Allocate(_) | Operation::Free(_)) => true,
            Ok(other) => other.graphs().iter().any(|inner| self.has_memory(*inner)),
            Err(_) => false,
        })
    }

    /// Removes a graph with its nodes, and returns the functions that end its objects.
    ///
    /// # Errors
    /// If it is no graph of the program.
    pub(crate) fn destroy(&mut self, graph: Handle) -> Result<Vec<Operation>, Error> {
        if self.graph(graph)?.owner != 0 {
            return Err(Error::INVALID_VALUE);
        }
        Ok(self.end(graph))
    }

    fn end(&mut self, graph: Handle) -> Vec<Operation> {
        let Ok(old) = self.graphs.remove(graph) else { return Vec::new() };
        let mut ends = self.release_all(&old.objects);
        for node in old.nodes {
            let inner = self.nodes.remove(node).map(|node| node.operation.graphs().to_vec());
            for inner in inner.unwrap_or_default() {
                ends.extend(self.end(inner));
            }
        }
        ends
    }

    /// Removes a node with its edges.
    ///
    /// # Errors
    /// If the graph allocates or frees memory.
    pub(crate) fn destroy_node(&mut self, node: Handle) -> Result<Vec<Operation>, Error> {
        let Node { graph, operation, .. } = self.node(node)?;
        let (graph, inner) = (*graph, operation.graphs().to_vec());
        if self.has_memory(graph) {
            return Err(Error::NOT_SUPPORTED);
        }
        let _ = self.nodes.remove(node);
        let graph = self.graph_mut(graph)?;
        graph.nodes.retain(|other| *other != node);
        for other in graph.nodes.clone() {
            let other = self.node_mut(other)?;
            other.edges.retain(|edge| edge.from != node);
            other.after.retain(|after| *after != node);
        }
        Ok(inner.into_iter().flat_map(|inner| self.end(inner)).collect())
    }

    /// Returns the nodes that depend on a node, with the annotations of the edges.
    pub(crate) fn dependents(&self, node: Handle) -> Result<Vec<Edge>, Error> {
        let edge = |after: &Handle| {
            let data = self.node(*after)?.edges.iter().find(|edge| edge.from == node);
            Ok(Edge { from: *after, data: data.map_or_else(EdgeData::default, |edge| edge.data) })
        };
        self.node(node)?.after.iter().map(edge).collect()
    }

    /// Returns all edges of a graph, each with the node that it leads to.
    pub(crate) fn edges(&self, graph: Handle) -> Result<Vec<(Edge, Handle)>, Error> {
        let mut found = Vec::new();
        for &from in &self.graph(graph)?.nodes {
            let to = self.dependents(from)?.into_iter();
            found.extend(to.map(|to| (Edge { from, data: to.data }, to.from)));
        }
        Ok(found)
    }

    /// Adds edges between nodes of a graph: all of them or none.
    pub(crate) fn connect(&mut self, graph: Handle, new: &[(Edge, Handle)]) -> Result<(), Error> {
        self.graph(graph)?;
        for (i, (edge, to)) in new.iter().enumerate() {
            let (from, node) = (self.node(edge.from)?, self.node(*to)?);
            let is_there = |other: &Edge| other.from == edge.from;
            let repeated =
                new[..i].iter().any(|(other, other_to)| is_there(other) && other_to == to);
            if from.graph != graph || node.graph != graph || edge.from == *to || repeated {
                return Err(Error::INVALID_VALUE);
            }
            if node.edges.iter().any(is_there) {
                return Err(Error::INVALID_VALUE);
            }
        }
        for (edge, to) in new {
            self.node_mut(*to)?.edges.push(*edge);
            self.node_mut(edge.from)?.after.push(*to);
        }
        Ok(())
    }

    /// Removes edges between nodes of a graph: all of them or none. Annotations need not be those
    /// of the edges unless `exact`.
    pub(crate) fn disconnect(
        &mut self,
        graph: Handle,
        old: &[(Edge, Handle)],
        exact: bool,
    ) -> Result<(), Error> {
        self.graph(graph)?;
        if self.has_memory(graph) {
            return Err(Error::NOT_SUPPORTED);
        }
        for (edge, to) in old {
            let node = self.node(*to)?;
            let is_it = |own: &Edge| own.from == edge.from && (!exact || own.data == edge.data);
            if node.graph != graph || !node.edges.iter().any(is_it) {
                return Err(Error::INVALID_VALUE);
            }
        }
        for (edge, to) in old {
            self.node_mut(*to)?.edges.retain(|other| other.from != edge.from);
            self.node_mut(edge.from)?.after.retain(|after| after != to);
        }
        Ok(())
    }
}

impl Driver {
    /// Checks that a graph may free memory: one allocates it, and this one does not free it yet.
    pub(crate) fn check_free(&self, graph: Handle, address: u64) -> Result<(), Error> {
        let frees = |node: &Handle| {
            let node = self.graphs.node(*node).map(|node| &node.operation);
            matches!(node, Ok(Operation::Free(freed)) if *freed == address)
        };
        let is_freed = self.graphs.graph(graph)?.nodes.iter().any(frees);
        if is_freed || !self.memory.graphs.begins(address) {
            return Err(Error::INVALID_VALUE);
        }
        Ok(())
    }

    /// Adds a node after a check of its operation.
    ///
    /// # Errors
    /// Those of the operation, the graph and the edges.
    pub(crate) fn add_node(
        &mut self,
        graph: Handle,
        edges: &[Edge],
        context: Handle,
        operation: Operation,
    ) -> Result<Handle, Error> {
        self.check(context, &operation)?;
        self.graphs.add(graph, edges, context, operation)
    }
}
