//! Changes to executable graphs: parameters of a node, or all nodes after another graph.

use super::order;
use super::plan::{Plan, Step};
use crate::copy::{ARRAY, BlockCopy, End, HOST};
use crate::error::Error;
use crate::fill::Fill;
use crate::memory::AddressSpace;
use crate::operation::Operation;
use crate::state::Driver;
use crate::table::Handle;

/// Reasons why an update is refused, numbers of `CUgraphExecUpdateResult`.
pub(crate) const ERROR: u32 = 1;
const TOPOLOGY_CHANGED: u32 = 2;
const TYPE_CHANGED: u32 = 3;
const PARAMETERS_CHANGED: u32 = 5;

/// Reason of a refused update with the node of the new graph.
pub(crate) type Reason = (u32, Handle);

impl Driver {
    /// Gives the nodes of an executable graph the parameters of a graph that was made alike.
    ///
    /// # Errors
    /// The first difference that an update cannot have.
    pub(crate) fn update(&mut self, exec: Handle, graph: Handle) -> Result<(), Reason> {
        let new = self.plan(graph).map_err(|refused| (ERROR, refused.node))?;
        let mut plan = self.graphs.exec(exec).map_err(|_| (ERROR, 0))?.plan.clone();
        self.replace(&mut plan, new)?;
        self.graphs.exec(exec).map_err(|_| (ERROR, 0))?.plan = plan;
        Ok(())
    }

    fn replace(&self, old: &mut Plan, new: Plan) -> Result<(), Reason> {
        if old.steps.len() != new.steps.len() {
            return Err((TOPOLOGY_CHANGED, 0));
        }
        let (old_order, new_order) = (order::alike(&old.needs()), order::alike(&new.needs()));
        let mut places = vec![usize::MAX; new.steps.len()];
        for (&before, &after) in old_order.iter().zip(&new_order) {
            places[after] = before;
        }
        for (&before, &after) in old_order.iter().zip(&new_order) {
            let needs = new.steps[after].needs.iter().map(|(need, data)| (places[*need], *data));
            if !needs.eq(old.steps[before].needs.iter().copied()) {
                return Err((TOPOLOGY_CHANGED, new.steps[after].node));
            }
        }
        let mut steps: Vec<Option<Step>> = new.steps.into_iter().map(Some).collect();
        for (&before, &after) in old_order.iter().zip(&new_order) {
            let Some(new) = steps[after].take() else { continue };
            let step = &mut old.steps[before];
            self.allow(&step.operation, &new.operation).map_err(|reason| (reason, new.node))?;
            if step.inner.is_empty() {
                step.operation = new.operation;
            }
            for (old, new) in step.inner.iter_mut().zip(new.inner) {
                self.replace(old, new)?;
            }
        }
        Ok(())
    }

    /// Checks that a node of an executable graph may get another operation.
    fn allow(&self, old: &Operation, new: &Operation) -> Result<(), u32> {
        let allowed = match (old, new) {
            (Operation::Launch(old), Operation::Launch(new)) => old.cooperative == new.cooperative,
            (Operation::Copy(old), Operation::Copy(new)) => self.same_way(old, new),
            (Operation::Set(old), Operation::Set(new)) => same_form(old, new),
            (Operation::Allocate(old), Operation::Allocate(new)) => old.bytes == new.bytes,
            (Operation::Free(old), Operation::Free(new)) => old == new,
            (Operation::Choice(old), Operation::Choice(new)) => {
                (old.form, old.bodies.len()) == (new.form, new.bodies.len())
            }
            (old, new) if old.kind() == new.kind() => true,
            _ => return Err(TYPE_CHANGED),
        };
        if allowed { Ok(()) } else { Err(PARAMETERS_CHANGED) }
    }

    /// Returns true if two copies are between memory of the same kinds.
    fn same_way(&self, old: &BlockCopy, new: &BlockCopy) -> bool {
        let kind = |end: &End| match end.kind {
            ARRAY => (true, false),
            HOST => (false, AddressSpace::is_device(end.host)),
            _ => (false, AddressSpace::is_device(end.device)),
        };
        let has_rows = |copy: &BlockCopy| copy.size[1] > 1 || copy.size[2] > 1;
        [&old.to, &old.from].map(kind) == [&new.to, &new.from].map(kind)
            && (!has_rows(new) || has_rows(old))
    }

    /// Replaces the operation of a node of an executable graph.
    ///
    /// # Errors
    /// If it is none of the graph, or of another type, or the change is not possible.
    pub(crate) fn change(
        &mut self,
        exec: Handle,
        node: Handle,
        mut operation: Operation,
    ) -> Result<(), Error> {
        let step = self.graphs.exec(exec)?.plan.step(node)?;
        let (context, old) = (step.context, step.operation.clone());
        operation.keep_attributes(&old);
        self.check(context, &operation)?;
        self.allow(&old, &operation).map_err(|_| Error::INVALID_VALUE)?;
        self.graphs.exec(exec)?.plan.step(node)?.operation = operation;
        Ok(())
    }

    /// Gives a child graph of an executable graph the parameters of a graph that was made alike.
    ///
    /// # Errors
    /// If the node has no child graph, or the update is refused.
    pub(crate) fn change_child(
        &mut self,
        exec: Handle,
        node: Handle,
        graph: Handle,
    ) -> Result<(), Error> {
        let new = self.plan(graph).map_err(|refused| refused.error)?;
        let step = self.graphs.exec(exec)?.plan.step(node)?;
        if !matches!(step.operation, Operation::Graph(_)) {
            return Err(Error::INVALID_VALUE);
        }
        let mut inner = step.inner.first().cloned().ok_or(Error::INVALID_VALUE)?;
        self.replace(&mut inner, new).map_err(|_| Error::GRAPH_EXEC_UPDATE_FAILURE)?;
        self.graphs.exec(exec)?.plan.step(node)?.inner = vec![inner];
        Ok(())
    }
}

/// Returns true if two sets have as many dimensions.
fn same_form(old: &Fill, new: &Fill) -> bool {
    (old.rows > 1) == (new.rows > 1)
}
