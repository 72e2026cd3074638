//! Fundamental types of PTX, rounding modes, comparisons and state spaces.

use serde::Deserialize;

/// A PTX fundamental type (PTX ISA, "Fundamental Types").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(
    missing_docs,
    reason = "PTX names: b = bits, u = unsigned, s = signed, f = float, bf = upper half of f32"
)]
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
    BF16,
    F16x2,
    BF16x2,
    U16x2,
    S16x2,
}

impl Type {
    /// Every type.
    const ALL: [Type; 21] = {
        use Type::*;
        [
            Pred, B8, B16, B32, B64, U8, U16, U32, U64, S8, S16, S32, S64, F16, F32, F64, BF16,
            F16x2, BF16x2, U16x2, S16x2,
        ]
    };

    /// Returns the width in bits; 1 for a predicate.
    pub const fn bits(self) -> u32 {
        match self {
            Type::Pred => 1,
            Type::B8 | Type::U8 | Type::S8 => 8,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::BF16 => 16,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 => 32,
            Type::F16x2 | Type::BF16x2 | Type::U16x2 | Type::S16x2 => 32,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 => 64,
        }
    }

    /// Returns the size in memory, in bytes; 0 for a predicate.
    pub const fn bytes(self) -> u32 {
        self.bits() / 8
    }

    /// Returns true if values of this type are in 64-bit rows of the register file.
    pub const fn is_wide(self) -> bool {
        self.bits() == 64
    }

    /// Returns true for `s8 .. s64`.
    pub const fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }

    /// Returns true for `f16 .. f64`, `bf16`, and pairs of them.
    pub const fn is_float(self) -> bool {
        matches!(self, Type::F16 | Type::F32 | Type::F64 | Type::BF16 | Type::F16x2 | Type::BF16x2)
    }

    /// Returns the element type of a `..x2` type; the first element is in the low half.
    pub const fn half(self) -> Option<Type> {
        match self {
            Type::F16x2 => Some(Type::F16),
            Type::BF16x2 => Some(Type::BF16),
            Type::U16x2 => Some(Type::U16),
            Type::S16x2 => Some(Type::S16),
            _ => None,
        }
    }

    /// Returns the bits that `set` writes for true: 1.0 for floats, else all ones.
    pub const fn truth(self) -> u32 {
        match self {
            Type::F16 => 0x3c00,
            Type::BF16 => 0x3f80,
            Type::F16x2 => 0x3c00_3c00,
            Type::BF16x2 => 0x3f80_3f80,
            Type::F32 => 0x3f80_0000,
            _ if self.bits() == 16 => 0xffff,
            _ => u32::MAX,
        }
    }

    /// Returns the name of the type without the dot.
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
            Type::BF16 => "bf16",
            Type::F16x2 => "f16x2",
            Type::BF16x2 => "bf16x2",
            Type::U16x2 => "u16x2",
            Type::S16x2 => "s16x2",
        }
    }

    /// Finds a type by name (without the dot).
    pub fn from_name(name: &str) -> Option<Type> {
        Type::ALL.into_iter().find(|t| t.name() == name)
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

/// Modifiers of a floating-point operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct FloatMode {
    /// Rounding of the result.
    pub round: Round,
    /// `.ftz`: subnormal f32 inputs and results become zeros of their sign.
    pub ftz: bool,
    /// `.sat`: the result is clamped to [0, 1], NaN becomes +0.
    pub sat: bool,
    /// `.relu`: a negative result becomes +0; NaN stays.
    pub relu: bool,
    /// `.oob`: the result is +0 if a factor is the NaN of an access out of bounds, `0x7ff7` with
    /// either sign.
    pub oob: bool,
}

impl FloatMode {
    /// Rounding to nearest, without modifiers.
    pub const PLAIN: FloatMode =
        FloatMode { round: Round::Nearest, ftz: false, sat: false, relu: false, oob: false };
    /// The same with `.ftz`.
    pub const FLUSHING: FloatMode = FloatMode { ftz: true, ..FloatMode::PLAIN };
}

/// Comparison of `setp`, `set` and `slct`-like forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    missing_docs,
    reason = "PTX names; `..u` are true when an operand is NaN; lo/ls/hi/hs are unsigned"
)]
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

/// Combination of the comparison of `setp` with the predicate operand `c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "PTX names")]
pub enum BoolOp {
    And,
    Or,
    Xor,
}

/// PTX state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Unnamed space; the address selects a window (see `kernel::layout`).
    Generic,
    /// Device memory, shared by the grid.
    Global,
    /// Memory of the block.
    Shared,
    /// Private to the lane.
    Local,
    /// Read-only constants.
    Const,
    /// Kernel parameters.
    Param,
}

impl Space {
    /// Returns the name of the space without the dot.
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
