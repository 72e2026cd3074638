//! PTX's fundamental types, their widths, and the modifier values that carry meaning.

use serde::Deserialize;

/// A PTX fundamental type (PTX ISA, "Fundamental Types").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are PTX's own: b = bits, u = unsigned, s = signed, f = IEEE float")]
pub enum Type {
    Pred,
    B8,
    B16,
    B32,
    B64,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F32,
    F64,
}

impl Type {
    /// Width in bits; a predicate has 1.
    pub const fn bits(self) -> u32 {
        match self {
            Type::Pred => 1,
            Type::B8 | Type::U8 | Type::S8 => 8,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 => 16,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 => 32,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 => 64,
        }
    }

    /// Size in memory, in bytes; predicates are not stored and have 0.
    pub const fn bytes(self) -> u32 {
        self.bits() / 8
    }

    /// Whether values of this type live in the 64-bit rows of the register file.
    pub const fn is_wide(self) -> bool {
        self.bits() == 64
    }

    /// `s8 .. s64`
    pub const fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }

    /// `f16 .. f64`
    pub const fn is_float(self) -> bool {
        matches!(self, Type::F16 | Type::F32 | Type::F64)
    }

    /// The type's name without the dot.
    pub const fn name(self) -> &'static str {
        match self {
            Type::Pred => "pred",
            Type::B8 => "b8",
            Type::B16 => "b16",
            Type::B32 => "b32",
            Type::B64 => "b64",
            Type::U8 => "u8",
            Type::U16 => "u16",
            Type::U32 => "u32",
            Type::U64 => "u64",
            Type::S8 => "s8",
            Type::S16 => "s16",
            Type::S32 => "s32",
            Type::S64 => "s64",
            Type::F16 => "f16",
            Type::F32 => "f32",
            Type::F64 => "f64",
        }
    }

    /// The type called `name` (without the dot).
    pub fn from_name(name: &str) -> Option<Type> {
        use Type::*;
        [Pred, B8, B16, B32, B64, U8, U16, U32, U64, S8, S16, S32, S64, F16, F32, F64]
            .into_iter()
            .find(|t| t.name() == name)
    }
}

/// Rounding of a floating-point result: `.rn .rz .rm .rp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Round {
    /// To nearest, ties to even.
    #[default]
    Nearest,
    /// Towards zero.
    Zero,
    /// Towards minus infinity.
    Down,
    /// Towards plus infinity.
    Up,
}

/// What modifiers say about a floating-point operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct FloatMode {
    /// Rounding of the result.
    pub round: Round,
    /// `.ftz`: subnormal f32 inputs and results become zeros of their sign.
    pub ftz: bool,
    /// `.sat`: the result is clamped to [0, 1], NaN becomes +0.
    pub sat: bool,
}

/// Comparison of `setp`, `set` and `slct`-like forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "PTX's own names; `..u` are true when an operand is NaN; lo/ls/hi/hs are unsigned")]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    /// Both operands are numbers.
    Num,
    /// One operand is NaN.
    Nan,
}

/// How `setp` combines its comparison with the predicate operand `c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "PTX's own names")]
pub enum BoolOp {
    And,
    Or,
    Xor,
}

/// A state space of PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// No space named: the address says which (windows, see `kernel::layout`).
    Generic,
    /// Device memory, shared by the grid.
    Global,
    /// The block's scratchpad.
    Shared,
    /// Private to the lane.
    Local,
    /// Read-only constants.
    Const,
    /// Kernel parameters.
    Param,
}

impl Space {
    /// The space's name without the dot.
    pub const fn name(self) -> &'static str {
        match self {
            Space::Generic => "generic",
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::Const => "const",
            Space::Param => "param",
        }
    }
}
