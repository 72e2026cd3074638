//! Handles: numbers that a table knows, never addresses.

use std::collections::BTreeMap;

use crate::error::Error;

/// Kind of an object, part of its handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Context = 1,
    Module,
    Function,
    Stream,
    Event,
    Link,
    Pool,
    Array,
    Reference,
    Graph,
    Node,
    GraphExec,
    UserObject,
}

/// Number that names an object to a program. 0 is no object.
pub(crate) type Handle = u64;

/// Objects of a kind by handle. No handle is used twice.
#[derive(Debug)]
pub(crate) struct Table<T> {
    kind: Kind,
    made: u64,
    objects: BTreeMap<Handle, T>,
}

impl<T> Table<T> {
    pub(crate) fn new(kind: Kind) -> Table<T> {
        Table { kind, made: 0, objects: BTreeMap::new() }
    }

    pub(crate) fn add(&mut self, object: T) -> Handle {
        self.made += 1;
        let handle = (self.kind as u64) << 36 | self.made << 4;
        self.objects.insert(handle, object);
        handle
    }

    pub(crate) fn get(&self, handle: Handle) -> Result<&T, Error> {
        self.objects.get(&handle).ok_or(Error::INVALID_HANDLE)
    }

    pub(crate) fn get_mut(&mut self, handle: Handle) -> Result<&mut T, Error> {
        self.objects.get_mut(&handle).ok_or(Error::INVALID_HANDLE)
    }

    pub(crate) fn remove(&mut self, handle: Handle) -> Result<T, Error> {
        self.objects.remove(&handle).ok_or(Error::INVALID_HANDLE)
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.objects.retain(|_, object| keep(object));
    }

    /// Changes every object.
    pub(crate) fn each(&mut self, change: impl FnMut(&mut T)) {
        self.objects.values_mut().for_each(change);
    }

    /// Iterates over handles and objects in the order of their creation.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Handle, &T)> {
        self.objects.iter().map(|(&handle, object)| (handle, object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_distinct_and_checked() {
        let (mut streams, mut events) = (Table::new(Kind::Stream), Table::new(Kind::Event));
        let (a, b, c) = (streams.add('a'), streams.add('b'), events.add('c'));
        assert!(a != b && a != c && b != c);
        assert_eq!(streams.get(a), Ok(&'a'));
        assert_eq!(streams.get(c), Err(Error::INVALID_HANDLE));
        assert_eq!(streams.remove(a), Ok('a'));
        assert_eq!(streams.remove(a), Err(Error::INVALID_HANDLE));
        assert!(streams.add('d') > b, "a handle is not used twice");
    }
}
