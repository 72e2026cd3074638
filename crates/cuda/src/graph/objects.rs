//! Objects of the program that live as long as the graphs that refer to them.

use std::collections::BTreeMap;

use super::Graphs;
use crate::error::Error;
use crate::operation::{HostFunction, Operation};
use crate::table::Handle;

/// References to objects, by handle.
pub(crate) type References = BTreeMap<Handle, u32>;

/// An object with a function that ends it.
#[derive(Debug)]
pub(crate) struct UserObject {
    pub(crate) end: HostFunction,
    pub(crate) data: usize,
    /// References to it; the last one ends it.
    pub(crate) references: u32,
}

impl Graphs {
    fn object(&mut self, object: Handle) -> Result<&mut UserObject, Error> {
        self.objects.get_mut(object).map_err(|_| Error::INVALID_VALUE)
    }

    /// Adds references to an object.
    pub(crate) fn retain(&mut self, object: Handle, count: u32) -> Result<(), Error> {
        let object = self.object(object)?;
        let more = object.references.checked_add(count).filter(|_| count > 0);
        object.references = more.ok_or(Error::INVALID_VALUE)?;
        Ok(())
    }

    /// Removes references to an object, and returns the function that ends it after the last.
    pub(crate) fn release(
        &mut self,
        object: Handle,
        count: u32,
    ) -> Result<Option<Operation>, Error> {
        let found = self.object(object)?;
        let left = found.references.checked_sub(count).filter(|_| count > 0);
        found.references = left.ok_or(Error::INVALID_VALUE)?;
        let end = Operation::Call(found.end, found.data);
        if found.references > 0 {
            return Ok(None);
        }
        let _ = self.objects.remove(object);
        Ok(Some(end))
    }

    /// Adds the references of a copy.
    pub(super) fn retain_all(&mut self, references: &References) {
        for (object, count) in references {
            let _ = self.retain(*object, *count);
        }
    }

    /// Removes the references of a graph that ends.
    pub(crate) fn release_all(&mut self, references: &References) -> Vec<Operation> {
        let released = references.iter().map(|(object, count)| self.release(*object, *count));
        released.filter_map(|end| end.ok().flatten()).collect()
    }

    /// Gives a graph references to an object, new ones or those of the caller.
    pub(crate) fn retain_in(
        &mut self,
        graph: Handle,
        object: Handle,
        count: u32,
        moves: bool,
    ) -> Result<(), Error> {
        self.graph(graph)?;
        let held = self.object(object)?.references;
        if !moves {
            self.retain(object, count)?;
        } else if count == 0 || held < count {
            return Err(Error::INVALID_VALUE);
        }
        *self.graph_mut(graph)?.objects.entry(object).or_default() += count;
        Ok(())
    }

    /// Takes references to an object from a graph.
    pub(crate) fn release_in(
        &mut self,
        graph: Handle,
        object: Handle,
        count: u32,
    ) -> Result<Option<Operation>, Error> {
        let references = &mut self.graph_mut(graph)?.objects;
        let held = references.get_mut(&object).ok_or(Error::INVALID_VALUE)?;
        *held = held.checked_sub(count).ok_or(Error::INVALID_VALUE)?;
        if *held == 0 {
            references.remove(&object);
        }
        self.release(object, count)
    }
}
