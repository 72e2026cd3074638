//! Modules, kernels and variables that a program registers when it starts.
//!
//! A program knows a kernel by the address of its host stub and a variable by the address of its
//! shadow. A driver knows both by name, in a library that is loaded at first use.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, CString};

/// Handle of the driver: an address or number that only it can read.
pub type Handle = usize;

/// A fat binary of the program.
#[derive(Debug)]
struct Module {
    /// Address of its wrapper.
    image: usize,
    /// Library that the driver made of it.
    library: Option<Handle>,
}

/// A registered name and its module.
#[derive(Clone, Debug)]
pub struct Entry {
    module: usize,
    name: CString,
    /// Kernel that the driver gave for the name; variables have none.
    kernel: Option<Handle>,
}

impl Entry {
    /// Name in the module.
    pub fn name(&self) -> &CStr {
        &self.name
    }

    /// Kernel, if it was asked for before.
    pub fn kernel(&self) -> Option<Handle> {
        self.kernel
    }
}

/// A managed variable: host code reads it through a pointer.
#[derive(Clone, Debug)]
pub struct Managed {
    /// Address of the program's pointer.
    pub pointer: usize,
    /// Module of the variable.
    pub module: usize,
    /// Name in the module.
    pub name: CString,
}

/// A reference to a texture or surface, as programs of CUDA 11 have them.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Module of the reference.
    pub module: usize,
    /// Name in the module.
    pub name: CString,
    /// True if integers are read as floats.
    pub normalizes: bool,
    /// Reference that the driver gave for the name.
    pub handle: Option<Handle>,
}

/// Everything that the programs of a process registered.
#[derive(Debug, Default)]
pub struct Registry {
    modules: BTreeMap<usize, Module>,
    last: usize,
    kernels: BTreeMap<usize, Entry>,
    variables: BTreeMap<usize, Entry>,
    references: BTreeMap<usize, Reference>,
    /// Managed variables whose pointers are not set yet.
    managed: Vec<Managed>,
    /// Kernels whose handles the program has.
    given: BTreeSet<Handle>,
}

impl Registry {
    /// Returns an empty registry.
    pub const fn new() -> Registry {
        Registry {
            modules: BTreeMap::new(),
            last: 0,
            kernels: BTreeMap::new(),
            variables: BTreeMap::new(),
            references: BTreeMap::new(),
            managed: Vec::new(),
            given: BTreeSet::new(),
        }
    }

    /// Adds a fat binary by the address of its wrapper and returns its module.
    pub fn add(&mut self, image: usize) -> usize {
        // Handles look like addresses: aligned, never null.
        self.last += 16;
        self.modules.insert(self.last, Module { image, library: None });
        self.last
    }

    /// Removes a module with its kernels and variables; an unknown one is ignored.
    pub fn remove(&mut self, module: usize) {
        self.modules.remove(&module);
        self.kernels.retain(|_, entry| entry.module != module);
        self.variables.retain(|_, entry| entry.module != module);
        self.references.retain(|_, reference| reference.module != module);
        self.managed.retain(|managed| managed.module != module);
    }

    /// Adds a kernel of a module by the address of its host stub.
    pub fn add_kernel(&mut self, module: usize, stub: usize, name: CString) {
        self.kernels.insert(stub, Entry { module, name, kernel: None });
    }

    /// Adds a variable of a module by the address of its shadow.
    pub fn add_variable(&mut self, module: usize, shadow: usize, name: CString) {
        self.variables.insert(shadow, Entry { module, name, kernel: None });
    }

    /// Adds a reference by the address of the program's description of it.
    pub fn add_reference(&mut self, host: usize, reference: Reference) {
        self.references.insert(host, reference);
    }

    /// Returns the host stub of a kernel of the driver.
    pub fn stub(&self, kernel: Handle) -> Option<usize> {
        let mut all = self.kernels.iter();
        all.find_map(|(stub, entry)| (entry.kernel == Some(kernel)).then_some(*stub))
    }

    /// Returns the reference with a description.
    pub fn reference(&self, host: usize) -> Option<&Reference> {
        self.references.get(&host)
    }

    /// Notes the driver's reference.
    pub fn set_reference(&mut self, host: usize, handle: Handle) {
        if let Some(reference) = self.references.get_mut(&host) {
            reference.handle = Some(handle);
        }
    }

    /// Adds a managed variable by the address of the program's pointer to it.
    pub fn add_managed(&mut self, module: usize, pointer: usize, name: CString) {
        self.managed.push(Managed { pointer, module, name });
    }

    /// Returns the kernel with a host stub.
    pub fn kernel(&self, stub: usize) -> Option<&Entry> {
        self.kernels.get(&stub)
    }

    /// Notes the driver's kernel for a host stub.
    pub fn set_kernel(&mut self, stub: usize, kernel: Handle) {
        if let Some(entry) = self.kernels.get_mut(&stub) {
            entry.kernel = Some(kernel);
            self.given.insert(kernel);
        }
    }

    /// Notes a kernel that the program looked up by name.
    pub fn add_given(&mut self, kernel: Handle) {
        self.given.insert(kernel);
    }

    /// Returns true if the program has a kernel by the driver's handle.
    pub fn has_kernel(&self, kernel: Handle) -> bool {
        self.given.contains(&kernel)
    }

    /// Returns the variable with a shadow.
    pub fn variable(&self, shadow: usize) -> Option<&Entry> {
        self.variables.get(&shadow)
    }

    /// Returns the module of an entry.
    pub fn module_of(&self, entry: &Entry) -> usize {
        entry.module
    }

    /// Takes the managed variables whose pointers are to be set.
    pub fn take_managed(&mut self) -> Vec<Managed> {
        std::mem::take(&mut self.managed)
    }

    /// Returns the driver's library of a module, loading it with `load` at first use.
    ///
    /// `load` gets the address of the fat binary's wrapper. An unknown module is `None`.
    ///
    /// # Errors
    /// Returns the error of `load`; the next call tries again.
    pub fn library<E>(
        &mut self,
        module: usize,
        load: impl FnOnce(usize) -> Result<Handle, E>,
    ) -> Option<Result<Handle, E>> {
        let module = self.modules.get_mut(&module)?;
        if let Some(library) = module.library {
            return Some(Ok(library));
        }
        let library = load(module.image);
        module.library = library.as_ref().ok().copied();
        Some(library)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_loaded_once_and_tried_again_after_an_error() {
        let mut registry = Registry::new();
        let module = registry.add(0x1000);
        assert_eq!(registry.library(module, |_| Err(7)), Some(Err(7)));
        assert_eq!(registry.library(module, |image| Ok::<_, u8>(image + 1)), Some(Ok(0x1001)));
        assert_eq!(registry.library(module, |_| Err(7)), Some(Ok(0x1001)));
        assert_eq!(registry.library(module + 1, |_| Err(7)), None);
    }

    #[test]
    fn a_removed_module_takes_its_kernels_and_variables_along() {
        let mut registry = Registry::new();
        let (first, second) = (registry.add(1), registry.add(2));
        registry.add_kernel(first, 10, c"a".into());
        registry.add_kernel(second, 20, c"b".into());
        registry.set_kernel(20, 99);
        registry.add_variable(first, 30, c"v".into());
        registry.add_managed(first, 40, c"m".into());
        registry.remove(first);
        assert!(registry.kernel(10).is_none() && registry.variable(30).is_none());
        assert!(registry.take_managed().is_empty());
        assert!(registry.has_kernel(99) && !registry.has_kernel(98));
        assert_eq!(registry.kernel(20).map(Entry::name), Some(c"b"));
    }
}
