//! Errors of the reader.

/// Reason why a cubin cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CubinError {
    /// The file is no ELF file.
    #[error(
        "expected a cubin, found a file of another kind; make one with `nvcc -cubin -arch=sm_90`"
    )]
    NotElf,
    /// The file is a fat binary, or a host program or object that holds fat binaries.
    #[error("this is {0}; extract its cubins with `cuobjdump -xelf all FILE`")]
    Container(&'static str),
    /// The ELF file is for another machine.
    #[error("expected a cubin, found an ELF file for machine {0}")]
    Machine(u16),
    /// The cubin has code that has not been linked.
    #[error("this cubin is relocatable; compile it without `-rdc=true`, or link it with `nvlink`")]
    Relocatable,
    /// The same, of a kernel that launches others.
    #[error(
        "this cubin launches kernels from the device (dynamic parallelism, `{0}`), which the \
         simulator does not do; launch them from the host, one launch after another, and compile \
         without `-rdc=true`"
    )]
    DeviceLaunch(String),
    /// A structure of the file is damaged.
    #[error("the cubin is truncated or damaged: {0}")]
    Damaged(String),
    /// The code needs something that is not simulated.
    #[error("{0}")]
    Unsupported(String),
    /// The listing does not belong to the cubin.
    #[error("the listing does not match the cubin: {0}")]
    Listing(String),
}

impl CubinError {
    /// Creates an error about a damaged structure.
    pub(crate) fn damaged(what: impl std::fmt::Display) -> CubinError {
        CubinError::Damaged(what.to_string())
    }
}
