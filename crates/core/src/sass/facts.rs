//! Facts of a module that the listing does not show: sizes, parameters, constants, source lines.
//!
//! They come from the ELF sections of a cubin and stand in the `//@` lines of a `.sass` file.

use serde::{Deserialize, Serialize};

/// Facts of one cubin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "Module", deny_unknown_fields)]
pub struct ModuleFacts {
    /// Architecture number: 90 for sm_90.
    pub arch: u32,
    /// Entry kernels in the order of the listing.
    pub kernels: Vec<KernelFacts>,
    /// Variables in global memory (`.nv.global`, `.nv.global.init`) and in constant bank 3.
    #[serde(default)]
    pub variables: Vec<VariableFacts>,
}

/// Facts of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "Kernel", deny_unknown_fields)]
pub struct KernelFacts {
    /// Name, mangled as in the listing.
    pub name: String,
    /// Registers per thread (EIATTR_REGCOUNT).
    pub registers: u32,
    /// Static shared memory in bytes, without the reserved part.
    #[serde(default)]
    pub shared: u32,
    /// Shared memory that the system reserves below the kernel's own, in bytes (1,024 on sm_90).
    #[serde(default)]
    pub reserved_shared: u32,
    /// Local memory per thread in bytes: the stack that c[0x0][0x28] points to the end of
    /// (EIATTR_MIN_STACK_SIZE, or EIATTR_FRAME_SIZE of the kernel if that is larger).
    #[serde(default)]
    pub stack: u32,
    /// Block barriers used (EIATTR_NUM_BARRIERS).
    #[serde(default)]
    pub barriers: u32,
    /// Offset of the first parameter in constant bank 0 (EIATTR_PARAM_CBANK; 0x210 on sm_90).
    pub params_at: u32,
    /// Parameters in order.
    #[serde(default)]
    pub params: Vec<ParameterFacts>,
    /// Constant banks other than 0 that only this kernel has (bank 2: jump tables).
    #[serde(default)]
    pub banks: Vec<BankFacts>,
    /// Targets of indirect branches (EIATTR_INDIRECT_BRANCH_TARGETS): address of the branch, and
    /// addresses of its targets.
    #[serde(default)]
    pub indirect: Vec<(u32, Vec<u32>)>,
    /// Required block shape (EIATTR_REQNTID), or maximum one (EIATTR_MAX_THREADS); true if required.
    #[serde(default)]
    pub block_limit: Option<([u32; 3], bool)>,
    /// Name of the CUDA source file, without its folder.
    #[serde(default)]
    pub source: Option<String>,
    /// Source line by address, ascending: each line holds from its address on (`.debug_line`).
    #[serde(default)]
    pub lines: Vec<(u32, u32)>,
    /// PTX line by address, as `lines` (`.nv_debug_line_sass`).
    #[serde(default)]
    pub ptx_lines: Vec<(u32, u32)>,
}

/// Facts of one parameter (EIATTR_KPARAM_INFO).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Parameter", deny_unknown_fields)]
pub struct ParameterFacts {
    /// Byte offset from the first parameter.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
}

/// Contents of one constant bank.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Bank", deny_unknown_fields)]
pub struct BankFacts {
    /// Bank number.
    pub bank: u8,
    /// Contents as hexadecimal digits, two a byte.
    pub bytes: String,
    /// 64-bit addresses in the bank: byte offset, name of the variable or function, addend.
    #[serde(default)]
    pub addresses: Vec<(u32, String, u64)>,
}

/// A variable of the module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Variable", deny_unknown_fields)]
pub struct VariableFacts {
    /// Name, mangled.
    pub name: String,
    /// True for constant bank 3, false for global memory.
    #[serde(default)]
    pub constant: bool,
    /// Byte offset in its section.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// Initial contents as hexadecimal digits, two a byte; the rest is zero.
    #[serde(default)]
    pub bytes: String,
    /// 64-bit addresses in the variable: byte offset, name, addend.
    #[serde(default)]
    pub addresses: Vec<(u32, String, u64)>,
}
