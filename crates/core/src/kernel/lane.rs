//! Element-wise operations on the registers of a lane.
//!
//! The function determines the number and widths of its sources; `exec::alu` implements it. A
//! "narrow" value is in a 32-bit row.

use super::{Approximation, Predicate, Row};
use crate::isa::{Compare, FloatMode, Round, Space, Type};

/// Integer type that a value is clamped to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Narrow {
    /// Number of bits: 2, 4, 8 or 16.
    pub bits: u8,
    /// True for two's complement.
    pub signed: bool,
}

/// Element-wise operation. `f` determines the number and widths of its sources.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneOp {
    /// Function.
    pub f: LaneFn,
    /// Type of the instruction, and of its sources unless `f` specifies another.
    pub ty: Type,
    /// Result.
    pub d: Row,
    /// Up to four sources; unused ones are row 0 and never read.
    pub s: [Row; 4],
}

/// Sum with an operand `c` that a product or quotient `x` is fused with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FusedSum {
    /// `x + c`
    Add,
    /// `x - c`
    Sub,
    /// `c - x`
    From,
}

/// Element-wise function.
///
/// `d`, `a`, `b`, `c`, `e` are the PTX operands in order. They have the width of `LaneOp::ty`
/// unless specified otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LaneFn {
    /// `a` (mov, and cvta of global or constant addresses).
    Mov,
    /// `a + offset` in 64 bits (cvta between a state space and generic).
    OffsetBy(i64),
    /// Integer `a + b`; `sat` (s32 only) clamps.
    Add {
        /// `.sat`
        sat: bool,
    },
    /// Integer `a - b`; `sat` (s32 only) clamps.
    Sub {
        /// `.sat`
        sat: bool,
    },
    /// Low half of `a * b`.
    MulLo,
    /// High half of `a * b`.
    MulHi,
    /// Full product of 16- or 32-bit `a * b`.
    ///
    /// `d` has twice the width (32 for u16/s16, 64 for u32/s32).
    MulWide,
    /// Low half of `a * b`, plus `c`.
    MadLo,
    /// High half of `a * b`, plus `c`; `sat` (s32 only) clamps.
    MadHi {
        /// `.sat`
        sat: bool,
    },
    /// Full product plus `c`; `c` and `d` have twice the width.
    MadWide,
    /// 24-bit product, low 32 bits (mul24.lo) or bits 16..48 (mul24.hi).
    Mul24 {
        /// `.hi`
        hi: bool,
    },
    /// 24-bit product plus `c`.
    Mad24 {
        /// `.hi`
        hi: bool,
    },
    /// `|a - b| + c`
    Sad,
    /// Sum of the products of the four bytes of `a` and `b`, plus `c`.
    Dp4a {
        /// True if the bytes of `a` and of `b` are signed.
        signed: [bool; 2],
    },
    /// Two products of a 16-bit half of `a` with a byte of `b`, plus `c`.
    Dp2a {
        /// True if the elements of `a` and of `b` are signed.
        signed: [bool; 2],
        /// `.hi`: the upper two bytes of `b`.
        hi: bool,
    },
    /// Absolute differences of the four bytes of `a` and `b`, packed.
    ///
    /// With `add`, their sum plus `c`.
    AbsDiff4 {
        /// True if the bytes of `a` and of `b` are signed.
        signed: [bool; 2],
        /// `.add`
        add: bool,
    },
    /// `a` and `b` clamped, below `c` (`cvt.pack`).
    PackSaturated(Narrow),
    /// Position of the `c`th set bit of `a` from bit `b` on (`fns`).
    Fns,
    /// Low `b` bits of `a`, sign-extended for s32.
    Szext {
        /// `.wrap` (width modulo 32), otherwise `.clamp`
        wrap: bool,
    },
    /// Mask of `b` ones from bit `a` up.
    Bmsk {
        /// `.wrap` (position and width modulo 32), otherwise `.clamp`
        wrap: bool,
    },
    /// Integer quotient. By zero: all ones, as on NVIDIA GPUs (undefined in PTX).
    Div,
    /// Integer remainder. By zero: `a`, unsigned and signed (machine-specific in PTX).
    Rem,
    /// `|a|`, wrapping at the minimum.
    Abs,
    /// `-a`, wrapping.
    Neg,
    /// Minimum; with `relu` 0 for negative results.
    Min {
        /// `.relu`
        relu: bool,
    },
    /// Maximum; with `relu` 0 for negative results.
    Max {
        /// `.relu`
        relu: bool,
    },
    /// Number of ones in `a`; `d` is narrow for b64 too.
    Popc,
    /// Number of leading zeros of `a`; `d` is narrow for b64 too.
    Clz,
    /// Position of the most significant non-sign bit (`bfind`).
    ///
    /// All ones if there is none. With `shift`, the left shift that moves the bit to the top. `d`
    /// is narrow.
    Bfind {
        /// `.shiftamt`
        shift: bool,
    },
    /// Bit reversal.
    Brev,
    /// Bit field of `a` at position `b`, length `c` (both narrow, low 8 bits used).
    ///
    /// Sign-extended for signed types.
    Bfe,
    /// Low bits of `a` inserted in `b` at position `c`, length `e` (both narrow).
    Bfi,
    /// Byte permutation of `{b, a}` by selector `c` in the given mode.
    Prmt(PrmtMode),
    /// `a & b`
    And,
    /// `a | b`
    Or,
    /// `a ^ b`
    Xor,
    /// `!a`
    Not,
    /// `a == 0 ? 1 : 0`
    Cnot,
    /// Pending arrivals of a state of an `mbarrier`.
    PendingCount,
    /// Three-input logic by truth table.
    Lop3(u8),
    /// `a << b`, `b` narrow and unsigned; amounts above the width give 0.
    Shl,
    /// `a >> b`, `b` narrow and unsigned.
    ///
    /// Amounts above the width give the sign fill (signed) or 0.
    Shr,
    /// Funnel shift of `{b, a}` by `c` (all narrow).
    ///
    /// A left shift gives the upper word, a right shift the lower one.
    Shf {
        /// `.l`, otherwise `.r`
        left: bool,
        /// `.wrap` (amount modulo 32), otherwise `.clamp` (amounts above 32 act as 32)
        wrap: bool,
    },
    /// Float `a + b`.
    FAdd(FloatMode),
    /// Float `a - b`.
    FSub(FloatMode),
    /// Float `a * b`.
    FMul(FloatMode),
    /// Float `a * b + c`, rounded once.
    Fma(FloatMode),
    /// Float product `a * b` and a difference with `c`, which the compiler has fused: rounded once.
    FusedProduct {
        /// Modifiers of the difference.
        mode: FloatMode,
        /// The difference. (A sum is an [`Fma`](LaneFn::Fma).)
        sum: FusedSum,
    },
    /// Float quotient, IEEE-rounded.
    FDiv(FloatMode),
    /// `1 / a`, IEEE-rounded.
    Rcp(FloatMode),
    /// Square root, IEEE-rounded.
    Sqrt(FloatMode),
    /// Approximate float quotient.
    DivApprox {
        /// `div.full`, not `div.approx`
        full: bool,
        /// `.ftz`
        ftz: bool,
    },
    /// Approximate float quotient `a / b` and a sum with `c`, which the compiler has fused.
    FusedQuotient {
        /// `div.full`, not `div.approx`
        full: bool,
        /// Modifiers of the sum.
        mode: FloatMode,
        /// The sum.
        sum: FusedSum,
    },
    /// Approximate function of a float; sines and cosines are those of radians.
    Approximate {
        /// Function.
        f: Approximation,
        /// `.ftz`
        ftz: bool,
    },
    /// Conversion to or from a small format of tensor cores.
    Tensor(super::TensorConvert),

    /// Float minimum; ignores NaN operands unless `nan`.
    FMin {
        /// `.ftz`
        ftz: bool,
        /// `.NaN`: a NaN operand gives the canonical NaN.
        nan: bool,
        /// `.xorsign.abs`: minimum of the magnitudes, with the product of the signs.
        xorsign: bool,
    },
    /// Float maximum; ignores NaN operands unless `nan`.
    FMax {
        /// `.ftz`
        ftz: bool,
        /// `.NaN`: a NaN operand gives the canonical NaN.
        nan: bool,
        /// `.xorsign.abs`: maximum of the magnitudes, with the product of the signs.
        xorsign: bool,
    },
    /// `-a`
    FNeg {
        /// `.ftz`
        ftz: bool,
    },
    /// `|a|`
    FAbs {
        /// `.ftz`
        ftz: bool,
    },
    /// Magnitude of `b` with the sign of `a`.
    CopySign,
    /// Comparison of `a` with `b`: `truth` if it holds, else 0; per half for pairs.
    ///
    /// `d` is narrow.
    Set {
        /// Comparison.
        compare: Compare,
        /// Bits of true: all ones of the result's width, or 1.0.
        truth: u32,
        /// `.ftz`
        ftz: bool,
    },
    /// `c >= 0 ? a : b` (`slct`); `c` is s32 or, with `float`, f32 (NaN selects `b`).
    Slct {
        /// True if `c` is f32.
        float: bool,
        /// `.ftz`
        ftz: bool,
    },
    /// Conversion of `a` from `from` to `LaneOp::ty`.
    Cvt(Convert),
    /// Conversion of `a` to the upper and of `b` to the lower half of `LaneOp::ty`.
    CvtPair(Convert),
    /// `mov.ty d, {..}`: packs 2 or 4 narrow sources of equal width, the first lowest.
    Pack {
        /// Number of sources: 2 or 4.
        parts: u8,
    },
    /// `mov.ty {..}, a`: extracts one of 2 or 4 parts of equal width; `d` is narrow.
    Unpack {
        /// Number of parts: 2 or 4.
        parts: u8,
        /// Index of the extracted part; 0 is the lowest.
        part: u8,
    },
}

/// Link of a carry chain: `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`.
///
/// The condition code is one bit per lane, so it is an unnamed predicate, which the scoreboard and
/// the analyses treat like any other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carry {
    /// Function.
    pub f: CarryFn,
    /// Type: u32, s32, u64 or s64.
    ///
    /// The sign matters only for the high half of a product.
    pub ty: Type,
    /// Result.
    pub d: Row,
    /// Sources; only products have the third.
    pub s: [Row; 3],
    /// Carry in; without it, a sum adds 0 and a difference 1.
    pub carry_in: Option<Predicate>,
    /// Carry out.
    pub carry_out: Option<Predicate>,
}

/// Function of a link of a carry chain, without the carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CarryFn {
    /// `a + b`
    Add,
    /// `a - b`, as `a + ~b` plus the carry; the carry out is *not borrow*.
    Sub,
    /// Low half of `a * b`, plus `c`.
    MadLo,
    /// High half of `a * b`, plus `c`.
    MadHi,
}

/// Tests of one value, with a predicate as result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestFn {
    /// `testp.finite`: neither infinite nor NaN.
    Finite,
    /// `testp.infinite`
    Infinite,
    /// `testp.number`: not NaN.
    Number,
    /// `testp.notanumber`
    NotANumber,
    /// `testp.normal`: finite, and neither zero nor subnormal.
    Normal,
    /// `testp.subnormal`: not zero, and below the smallest normal number.
    Subnormal,
    /// `isspacep`: the generic address is in this state space.
    In(Space),
}

/// Source type and modifiers of `cvt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convert {
    /// Source type.
    pub from: Type,
    /// Rounding mode: `.rn/.rz/.rm/.rp`, or `.rni/.rzi/.rmi/.rpi` with `integral`.
    ///
    /// Truncation is the default for float to integer.
    pub round: Round,
    /// True for rounding to an integral value (`.rni ..`), also from float to float.
    pub integral: bool,
    /// `.ftz`
    pub ftz: bool,
    /// `.sat`: clamps to the range of the result (integers) or to [0, 1] (floats).
    ///
    /// Float to integer always clamps.
    pub sat: bool,
    /// `.relu`: a negative result becomes +0; NaN stays.
    pub relu: bool,
    /// `.satfinite`: clamps to the largest finite number, with the sign.
    pub satfinite: bool,
}

impl Convert {
    /// Returns a conversion from `from`, rounded to nearest, without modifiers.
    pub const fn from(from: Type) -> Convert {
        let round = Round::Nearest;
        Convert {
            from,
            round,
            integral: false,
            ftz: false,
            sat: false,
            relu: false,
            satfinite: false,
        }
    }
}

/// Modes of `prmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "PTX names: forward/backward extract, replicate 8/16, edge clamp left/right"
)]
pub enum PrmtMode {
    Index,
    F4e,
    B4e,
    Rc8,
    Ecl,
    Ecr,
    Rc16,
}
