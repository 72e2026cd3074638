//! Element-wise operations: what one lane does with its own registers.
//!
//! Which sources count and how wide they are follows from the function; `exec::alu` gives each its meaning. "Narrow" means:
//! lives in a 32-bit row.

use super::{Predicate, Row};
use crate::isa::{Compare, FloatMode, Round, Space, Type};

/// An element-wise operation. Which sources count, and their widths, follow from `f` (see each function's doc).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneOp {
    /// The function.
    pub f: LaneFn,
    /// The instruction type: of sources `a`, `b` (and `c`) unless `f` says otherwise.
    pub ty: Type,
    /// The result.
    pub d: Row,
    /// Up to four sources; unused ones are row 0 and never read.
    pub s: [Row; 4],
}

/// Element-wise functions. `d`, `a`, `b`, `c`, `e` are the PTX operands in order; widths are those of `LaneOp::ty`
/// unless said otherwise. "narrow" = lives in a 32-bit row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LaneFn {
    /// `a` (mov, cvta that changes nothing).
    Mov,
    /// `a + offset` in 64 bits (cvta between a space and generic).
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
    /// Full product of 16- or 32-bit `a * b`; `d` has twice the width (32 for u16/s16, 64 for u32/s32).
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
        /// Whether the bytes of `a` and of `b` have a sign.
        signed: [bool; 2],
    },
    /// Two products of a 16-bit half of `a` with a byte of `b`, plus `c`.
    Dp2a {
        /// Whether the parts of `a` and of `b` have a sign.
        signed: [bool; 2],
        /// `.hi`: the upper two bytes of `b`.
        hi: bool,
    },
    /// The absolute differences of the four bytes of `a` and `b` side by side, or, with `add`, summed up and added to `c`.
    AbsDiff4 {
        /// Whether the bytes of `a` and of `b` have a sign.
        signed: [bool; 2],
        /// `.add`
        add: bool,
    },
    /// Position of the `c`th set bit of `a` from bit `b` on (`fns`).
    Fns,
    /// The low `b` bits of `a`, extended by their sign for s32.
    Szext {
        /// `.wrap` (width modulo 32), otherwise `.clamp`
        wrap: bool,
    },
    /// `b` ones from bit `a` up.
    Bmsk {
        /// `.wrap` (position and width modulo 32), otherwise `.clamp`
        wrap: bool,
    },
    /// Integer division. By zero: all ones (what NVIDIA GPUs give; PTX leaves it open).
    Div,
    /// Integer remainder. By zero: `a`'s bits for unsigned and signed alike (machine-specific in PTX).
    Rem,
    /// `|a|`, wrapping at the minimum.
    Abs,
    /// `-a`, wrapping.
    Neg,
    /// The smaller; with `relu` 0 for negative results.
    Min {
        /// `.relu`
        relu: bool,
    },
    /// The larger; with `relu` 0 for negative results.
    Max {
        /// `.relu`
        relu: bool,
    },
    /// Ones in `a`; `d` is narrow for b64 too.
    Popc,
    /// Leading zeros of `a`; `d` is narrow for b64 too.
    Clz,
    /// Position of the most significant non-sign bit (`bfind`), all ones when none; `shift`: the left shift that brings it to the top. `d` narrow.
    Bfind {
        /// `.shiftamt`
        shift: bool,
    },
    /// Bit reversal.
    Brev,
    /// Bit field of `a` at position `b`, length `c` (both narrow, low 8 bits count), sign-extended for signed types.
    Bfe,
    /// `a`'s low bits inserted in `b` at position `c`, length `e` (both narrow).
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
    /// Three-input logic by truth table.
    Lop3(u8),
    /// `a << b`, `b` narrow and unsigned; amounts past the width give 0.
    Shl,
    /// `a >> b`, `b` narrow and unsigned; amounts past the width give the sign fill (signed) or 0.
    Shr,
    /// Funnel shift of `{b, a}` by `c` (all narrow): left gives the upper, right the lower word.
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
    /// Float division, IEEE-rounded. `div.approx`/`div.full` use `Nearest`: within their documented error.
    FDiv(FloatMode),
    /// Approximate float quotient, `.ftz`.
    DivApprox {
        /// Subnormals are zeros.
        ftz: bool,
    },
    /// `1 / a`, IEEE-rounded (`rcp.approx` uses `Nearest`).
    Rcp(FloatMode),
    /// Square root, IEEE-rounded (`sqrt.approx` uses `Nearest`).
    Sqrt(FloatMode),
    /// `1 / sqrt(a)` (approximation).
    Rsqrt {
        /// `.ftz`
        ftz: bool,
    },
    /// Sine of `a` radians (approximation).
    Sin {
        /// `.ftz`
        ftz: bool,
    },
    /// Cosine of `a` radians (approximation).
    Cos {
        /// `.ftz`
        ftz: bool,
    },
    /// `2^a` (approximation).
    Ex2 {
        /// `.ftz`
        ftz: bool,
    },
    /// `log2(a)` (approximation).
    Lg2 {
        /// `.ftz`
        ftz: bool,
    },
    /// `tanh(a)` (approximation).
    Tanh,

    /// Float minimum; NaN loses unless `nan`.
    FMin {
        /// `.ftz`
        ftz: bool,
        /// `.NaN`: a NaN operand wins (canonical NaN).
        nan: bool,
        /// `.xorsign.abs`: of the magnitudes, with the product of the signs.
        xorsign: bool,
    },
    /// Float maximum; NaN loses unless `nan`.
    FMax {
        /// `.ftz`
        ftz: bool,
        /// `.NaN`: a NaN operand wins (canonical NaN).
        nan: bool,
        /// `.xorsign.abs`: of the magnitudes, with the product of the signs.
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
    /// The magnitude of `b` with the sign of `a`.
    CopySign,
    /// `a` compared with `b`: `truth` where it holds and 0 elsewhere; for pairs each half for itself. `d` is narrow.
    Set {
        /// The comparison.
        compare: Compare,
        /// What stands for true: all ones of the result's width, or 1.0.
        truth: u32,
        /// `.ftz`
        ftz: bool,
    },
    /// `c >= 0 ? a : b` (`slct`); `c` is s32 or, with `float`, f32 (NaN selects `b`).
    Slct {
        /// `c` is f32.
        float: bool,
        /// `.ftz`
        ftz: bool,
    },
    /// Conversion of `a` from `from` to `LaneOp::ty`.
    Cvt(Convert),
    /// Conversion of `a` to the upper and of `b` to the lower half of `LaneOp::ty`.
    CvtPair(Convert),
    /// `mov.ty d, {..}`: 2 or 4 narrow sources side by side, the first lowest, each `ty`'s width divided by `parts`.
    Pack {
        /// How many sources: 2 or 4.
        parts: u8,
    },
    /// `mov.ty {..}, a`: part `part` of `a` when it is cut into `parts` equal ones, the lowest first; `d` is narrow.
    Unpack {
        /// How many parts: 2 or 4.
        parts: u8,
        /// Which one, from 0.
        part: u8,
    },
}

/// `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`: a link of a carry chain.
///
/// The condition code is one bit a lane, so it is a predicate that the author cannot name: the scoreboard, liveness and
/// divergence treat it as they treat every other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carry {
    /// The function.
    pub f: CarryFn,
    /// u32, s32, u64 or s64; the sign matters to the high half of a product only.
    pub ty: Type,
    /// The result.
    pub d: Row,
    /// The sources; the third counts for products only.
    pub s: [Row; 3],
    /// The carry added; without it, a sum adds 0 and a difference 1.
    pub carry_in: Option<Predicate>,
    /// Where the new one goes.
    pub carry_out: Option<Predicate>,
}

/// What a link of a carry chain computes, the carry aside.
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

/// Questions about one value, answered by a predicate.
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
    /// `testp.normal`: finite, and not zero or subnormal.
    Normal,
    /// `testp.subnormal`: not zero, and below the least normal number.
    Subnormal,
    /// `isspacep`: whether the generic address is in that space.
    In(Space),
}

/// `cvt`'s modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convert {
    /// The source type.
    pub from: Type,
    /// `.rn/.rz/.rm/.rp`, and `.rni/.rzi/.rmi/.rpi` (with `integral`). Truncation is the default for float to integer.
    pub round: Round,
    /// Round to an integral value (`.rni ..`): float to float of the same width, or float to integer.
    pub integral: bool,
    /// `.ftz`
    pub ftz: bool,
    /// `.sat`: clamp to the range of the result (integers) or to [0, 1] (floats). Float to integer always clamps.
    pub sat: bool,
    /// `.relu`: a negative result becomes +0; NaN stays.
    pub relu: bool,
    /// `.satfinite`: what is beyond the largest number, infinities too, becomes that number with its sign.
    pub satfinite: bool,
}

impl Convert {
    /// From `from`, rounded to nearest, without modifiers.
    pub const fn from(from: Type) -> Convert {
        let round = Round::Nearest;
        Convert { from, round, integral: false, ftz: false, sat: false, relu: false, satfinite: false }
    }
}

/// `prmt`'s modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "PTX's own names: forward/backward 4 extract, replicate 8, edge clamp left/right, replicate 16"
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
