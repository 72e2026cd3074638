//! Float functions and conversions of machine code (SASS).

use crate::isa::{BoolOp, Compare, FloatMode, Type};
use crate::kernel::Convert;

/// Function of a float or conversion instruction.
///
/// A type is `F32`, `F64`, `F16x2` or `BF16x2`, unless a variant says otherwise. 64-bit sources and
/// results are row pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FloatFn {
    /// `d = a + b` (FADD, DADD, HADD2).
    Add(Type, FloatMode),
    /// `d = a * b * 2^scale`, rounded once (FMUL, DMUL, HMUL2); only f32 has a scale.
    Mul(Type, FloatMode, i8),
    /// `d = a * b + c`, rounded once (FFMA, DFMA, HFMA2).
    Fma(Type, FloatMode),
    /// `d = a + b` in f32; the operands are the low halves, f16 (HADD2.F32).
    AddHalves {
        /// `.SAT`
        sat: bool,
    },
    /// `d = q ? a : b` (FSEL).
    Select {
        /// `.FTZ`
        ftz: bool,
    },
    /// `d = q ? min(a, b) : max(a, b)` (FMNMX, HMNMX2).
    MinMax {
        /// Type of the operands.
        ty: Type,
        /// `.FTZ`
        ftz: bool,
        /// `.NAN`: a NaN operand makes the result NaN.
        nan: bool,
        /// `.XORSIGN`: magnitudes are compared, and the result has the product of the signs.
        xorsign: bool,
    },
    /// `d = q ? min(a, b, c) : max(a, b, c)` of the halves (VHMNMX).
    MinMaxOfThree {
        /// Type of the operands.
        ty: Type,
        /// `.FTZ`
        ftz: bool,
        /// `.NAN`: a NaN operand makes the result NaN.
        nan: bool,
    },
    /// `p = (a compare b) combine q` (FSETP, DSETP, HSETP2).
    ///
    /// The second predicate uses the complement of the comparison, or of pairs the high halves.
    SetPredicate {
        /// Type of the operands.
        ty: Type,
        /// Comparison.
        compare: Compare,
        /// Combination with the predicate.
        combine: BoolOp,
        /// `.FTZ`
        ftz: bool,
    },
    /// `p = a is the smaller, or larger, operand` and `p = both are NaN` (DSETP.MIN, DSETP.MAX).
    ///
    /// A selection by the first predicate follows, and the second one makes its result quiet.
    Choose {
        /// True for the larger operand.
        larger: bool,
    },
    /// `d = (a compare b) combine q ? truth : 0` (FSET, HSET2).
    Set {
        /// Type of the operands.
        ty: Type,
        /// Comparison.
        compare: Compare,
        /// Combination with the predicate.
        combine: BoolOp,
        /// `.FTZ`
        ftz: bool,
        /// Value for true; of pairs, the half of it for each half.
        truth: u32,
    },
    /// `p = a / b needs the slow path` (FCHK).
    DivideCheck,
    /// `d = f(a)`, approximated; subnormal operands and results are flushed (MUFU).
    ///
    /// The type is `F32`, `F16` or `BF16`.
    Approximate(Approximation, Type),
    /// `d = a`, converted to the type `to` (F2F, F2I, I2F, I2FP, FRND).
    Convert {
        /// Source type and modifiers.
        convert: Convert,
        /// Result type. A narrow integer result is extended to 32 bits.
        to: Type,
        /// `.NTZ`: a NaN becomes 0; otherwise it becomes the highest bit of the result type.
        nan_to_zero: bool,
    },
    /// `d = {a, b}` or `d = {c, a, b}`: `a` and `b` are converted and packed (F2FP, F2IP).
    ///
    /// `b` gets the lowest bits. The selected half of `c` fills the high half above two bytes.
    Pack {
        /// Source type and modifiers.
        convert: Convert,
        /// Type of each part: 8 or 16 bits.
        to: Type,
    },
    /// Conversion to or from a small format of tensor cores (F2FP): of `a` and `b`, or of `b`
    /// alone.
    ///
    /// The low half of `c` fills the upper half above two 8-bit results.
    Tensor(crate::kernel::TensorConvert),
    /// `d = {half of c, b}`: `b` is converted to 16 bits (F2FP.MERGE_C).
    Merge {
        /// Source type and modifiers.
        convert: Convert,
        /// Type of the low half.
        to: Type,
    },
}

/// Function of MUFU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approximation {
    /// `1 / a`
    Reciprocal,
    /// `1 / sqrt(a)`
    ReciprocalRoot,
    /// `sqrt(a)`
    Root,
    /// `2^a`
    Exponential,
    /// `log2(a)`
    Logarithm,
    /// `sin(2 pi a)`
    Sine,
    /// `cos(2 pi a)`
    Cosine,
    /// `tanh(a)`
    Tangent,
    /// High word of `1 / a` of an f64 with the high word `a` (RCP64H).
    HighReciprocal,
    /// High word of `1 / sqrt(a)` of an f64 with the high word `a` (RSQ64H).
    HighReciprocalRoot,
}
