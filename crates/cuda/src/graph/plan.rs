//! Executable graphs: the nodes of a graph in the order in which a launch does them.

use std::collections::BTreeSet;

use super::objects::References;
use super::{EdgeData, Graphs, order};
use crate::error::Error;
use crate::fill::Fill;
use crate::operation::{Choice, Operation};
use crate::queue::{Task, Work};
use crate::state::Driver;
use crate::table::Handle;

/// Flags of an instantiation: memory that a launch left is freed by the next one; upload with the
/// instantiation; launch by kernels; priorities of nodes.
pub(crate) const AUTO_FREE: u64 = 1;
pub(crate) const UPLOAD: u64 = 2;
pub(crate) const DEVICE_LAUNCH: u64 = 4;
pub(crate) const FLAGS: u64 = 15;

/// A node of an executable graph.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Node of the graph that it was made of.
    pub(crate) node: Handle,
    pub(crate) context: Handle,
    pub(crate) operation: Operation,
    /// Places in the plan of the nodes that it depends on, with the annotations of the edges.
    pub(crate) needs: Vec<(usize, EdgeData)>,
    /// False if launches leave it out.
    pub(crate) is_enabled: bool,
    /// Nodes of its child graph, or of the graphs that it chooses between.
    pub(crate) inner: Vec<Plan>,
}

/// Nodes of a graph.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// In the order of their creation.
    pub(crate) steps: Vec<Step>,
    /// Order in which a launch does them.
    order: Vec<usize>,
}

/// An executable graph.
#[derive(Debug)]
pub(crate) struct Exec {
    pub(crate) plan: Plan,
    pub(crate) flags: u64,
    /// Graph that it was made of.
    graph: Handle,
    /// Objects of the program that live as long as it.
    objects: References,
    /// Values that launches begin with, by address.
    values: Vec<(u64, u32)>,
}

/// Graphs of which a value chooses when it is their turn.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) context: Handle,
    pub(crate) choice: Choice,
    plans: Vec<Plan>,
}

/// Reason why a graph cannot be instantiated, as `CUDA_GRAPH_INSTANTIATE_PARAMS` has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused {
    pub(crate) error: Error,
    /// Number of `CUgraphInstantiateResult`.
    pub(crate) result: u32,
    pub(crate) node: Handle,
}

impl Refused {
    /// Returns a reason that is not one of the structure.
    pub(crate) fn other(error: Error, node: Handle) -> Refused {
        Refused { error, result: 1, node }
    }
}

impl Plan {
    /// Returns for each node the nodes that it depends on.
    pub(crate) fn needs(&self) -> Vec<Vec<usize>> {
        self.steps.iter().map(|step| step.needs.iter().map(|(need, _)| *need).collect()).collect()
    }

    /// Returns the node of a plan, or of the plans inside of it, that was made of a node.
    pub(crate) fn step(&mut self, node: Handle) -> Result<&mut Step, Error> {
        self.find(node).ok_or(Error::INVALID_VALUE)
    }

    fn find(&mut self, node: Handle) -> Option<&mut Step> {
        if let Some(own) = self.steps.iter().position(|step| step.node == node) {
            return self.steps.get_mut(own);
        }
        let mut inner = self.steps.iter_mut().flat_map(|step| &mut step.inner);
        inner.find_map(|plan| plan.find(node))
    }

    /// Returns the steps of a launch, with those of plans inside, as far as they are enabled.
    fn in_order(&self) -> Vec<&Step> {
        let mut all = Vec::new();
        for step in self.order.iter().filter_map(|at| self.steps.get(*at)) {
            match step.operation {
                _ if !step.is_enabled => {}
                Operation::Graph(_) => all.extend(step.inner.iter().flat_map(Plan::in_order)),
                _ => all.push(step),
            }
        }
        all
    }

    /// Returns the memory that a launch allocates, and that which it frees.
    fn memory(&self) -> [BTreeSet<u64>; 2] {
        let mut memory = [BTreeSet::new(), BTreeSet::new()];
        for step in self.in_order() {
            match step.operation {
                Operation::Allocate(allocation) => {
                    memory[0].insert(allocation.address);
                }
                Operation::Free(address) => {
                    memory[1].insert(address);
                }
                _ => {}
            }
        }
        memory
    }
}

impl Graphs {
    /// Returns an executable graph. Wild handles are invalid values here, as in the driver.
    pub(crate) fn exec(&mut self, exec: Handle) -> Result<&mut Exec, Error> {
        self.execs.get_mut(exec).map_err(|_| Error::INVALID_VALUE)
    }

    /// Removes an executable graph, and returns the functions that end its objects.
    pub(crate) fn destroy_exec(&mut self, exec: Handle) -> Result<Vec<Operation>, Error> {
        let old = self.execs.remove(exec).map_err(|_| Error::INVALID_VALUE)?;
        Ok(self.release_all(&old.objects))
    }
}

impl Driver {
    /// Returns the plan of a graph, whose operations it checks.
    pub(crate) fn plan(&mut self, graph: Handle) -> Result<Plan, Refused> {
        let found = self.graphs.graph(graph).map_err(|error| Refused::other(error, 0))?;
        let nodes = found.nodes.clone();
        let mut steps = Vec::with_capacity(nodes.len());
        let places: std::collections::BTreeMap<Handle, usize> =
            nodes.iter().enumerate().map(|(at, node)| (*node, at)).collect();
        for &node in &nodes {
            let refused = |error| Refused::other(error, node);
            let found = self.graphs.node(node).map_err(refused)?.clone();
            self.check(found.context, &found.operation).map_err(refused)?;
            let inner = found.operation.graphs().to_vec().into_iter();
            let inner: Vec<Plan> = inner.map(|inner| self.plan(inner)).collect::<Result<_, _>>()?;
            if let Operation::Choice(_) = found.operation {
                let mut all = inner.iter().flat_map(Plan::in_order);
                if let Some(step) = all.find(|step| !step.operation.is_of_device()) {
                    return Err(Refused::other(Error::NOT_SUPPORTED, step.node));
                }
            }
            let need = |edge: &super::Edge| Some((*places.get(&edge.from)?, edge.data));
            steps.push(Step {
                node,
                context: found.context,
                operation: found.operation,
                needs: found.edges.iter().filter_map(need).collect(),
                is_enabled: true,
                inner,
            });
        }
        let mut plan = Plan { steps, order: Vec::new() };
        let needs = plan.needs();
        plan.order = order::topological(&needs).ok_or_else(|| {
            let node = nodes.iter().zip(&needs).find(|(_, needs)| !needs.is_empty());
            let node = node.map_or(0, |(node, _)| *node);
            Refused { error: Error::INVALID_VALUE, result: 2, node }
        })?;
        Ok(plan)
    }

    /// Makes an executable graph.
    ///
    /// # Errors
    /// If nodes depend on each other in a circle, if the graph allocates memory and has another
    /// executable graph, or if an operation is refused.
    pub(crate) fn instantiate(&mut self, graph: Handle, flags: u64) -> Result<Handle, Refused> {
        let refused = |error| Refused::other(error, 0);
        if flags & !FLAGS != 0 || flags & (AUTO_FREE | DEVICE_LAUNCH) == AUTO_FREE | DEVICE_LAUNCH {
            return Err(refused(Error::INVALID_VALUE));
        }
        if flags & DEVICE_LAUNCH != 0 {
            crate::say("simt-sim: launches of graphs by kernels are not simulated\n");
            return Err(refused(Error::NOT_SUPPORTED));
        }
        let found = self.graphs.graph(graph).map_err(refused)?;
        if found.owner != 0 {
            return Err(refused(Error::NOT_SUPPORTED));
        }
        let objects = found.objects.clone();
        let values = found.values.iter().filter_map(|(at, value)| Some((*at, (*value)?))).collect();
        let is_other = |(_, exec): (Handle, &Exec)| exec.graph == graph;
        if self.graphs.has_memory(graph) && self.graphs.execs.iter().any(is_other) {
            return Err(refused(Error::NOT_SUPPORTED));
        }
        let plan = self.plan(graph)?;
        self.graphs.retain_all(&objects);
        Ok(self.graphs.execs.add(Exec { plan, flags, graph, objects, values }))
    }

    /// Returns the work of a launch of an executable graph.
    ///
    /// # Errors
    /// If memory that the last launch allocated is not freed, or a node cannot be done any more.
    pub(crate) fn work_of(&mut self, exec: Handle) -> Result<Vec<Work>, Error> {
        let Exec { plan, flags, values, .. } = self.graphs.exec(exec)?;
        let (plan, flags, values) = (plan.clone(), *flags, values.clone());
        let [allocated, freed] = plan.memory();
        let left: Vec<u64> =
            allocated.iter().copied().filter(|a| self.graphs.unfreed.contains(a)).collect();
        if !left.is_empty() && flags & AUTO_FREE == 0 {
            return Err(Error::INVALID_VALUE);
        }
        let (context, _) = self.context()?;
        let first = |operation| Work::Node(Box::new(Task { context, operation }));
        let mut work: Vec<Work> = left.into_iter().map(Operation::Free).map(first).collect();
        work.extend(values.into_iter().map(|(address, value)| {
            let fill = Fill { address, pitch: 0, element: 4, value, columns: 1, rows: 1 };
            first(Operation::Set(fill))
        }));
        work.extend(self.work_in(&plan)?);
        // Nothing fails from here on.
        for item in &work {
            if let Work::Record(event, _) = item
                && let Ok(event) = self.events.get_mut(*event)
            {
                event.pending += 1;
                event.captured = None;
            }
        }
        self.graphs.unfreed.extend(allocated);
        self.graphs.unfreed.retain(|address| !freed.contains(address));
        Ok(work)
    }

    /// Returns the work of the nodes of a plan.
    fn work_in(&mut self, plan: &Plan) -> Result<Vec<Work>, Error> {
        let mut work = Vec::new();
        for step in plan.in_order() {
            let context = step.context;
            work.push(match &step.operation {
                Operation::Launch(request) => {
                    Work::Launch(Box::new(self.admitted(context, request)?))
                }
                Operation::Record(event) => {
                    let device = self.contexts.get(context)?.device;
                    self.events.get(*event)?;
                    Work::Record(*event, device)
                }
                Operation::Choice(choice) => {
                    let (choice, plans) = (choice.clone(), step.inner.clone());
                    Work::Branch(Box::new(Branch { context, choice, plans }))
                }
                Operation::Wait(_) | Operation::Empty => continue,
                operation => Work::Node(Box::new(Task { context, operation: operation.clone() })),
            });
        }
        Ok(work)
    }

    /// Returns the work of the graph that the value chooses now; none if it chooses none.
    pub(crate) fn chosen(&mut self, branch: &Branch) -> Result<Vec<Work>, Error> {
        let value = self.memory.device_bytes(branch.choice.value, 4)?;
        let value = value.first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        match branch.choice.of(value).and_then(|number| branch.plans.get(number)) {
            Some(plan) => self.work_in(plan),
            None => Ok(Vec::new()),
        }
    }
}
