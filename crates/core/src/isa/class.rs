//! Instruction classes: the link between the ISA and the costs in the machine file.

use serde::{Deserialize, Serialize};

/// Execution unit of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Unit {
    /// Integer and logic.
    Alu,
    /// Single-precision multiply-add.
    Fma,
    /// Double precision.
    Fp64,
    /// Special functions: approximations, conversions, bit counts.
    Sfu,
    /// Memory pipe: loads, stores, atomics, shuffles.
    Lsu,
    /// Constant cache: loads of parameters and constants.
    Constant,
    /// Branches, barriers, joins, exit.
    Branch,
    /// Tensor core: matrix products of a warp.
    Tensor,
}

macro_rules! classes {
    ($($(#[doc = $doc:literal])* $name:ident => $unit:ident),+ $(,)?) => {
        /// Class of an instruction, which has costs in the machine file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Class { $($(#[doc = $doc])* $name),+ }

        impl Class {
            /// Every class, in declaration order; `class as usize` is its index here.
            pub const ALL: &'static [Class] = &[$(Class::$name),+];

            /// Returns the name of the class in machine files.
            pub const fn name(self) -> &'static str {
                match self { $(Class::$name => stringify!($name)),+ }
            }

            /// Returns the execution unit of the class.
            pub const fn unit(self) -> Unit {
                match self { $(Class::$name => Unit::$unit),+ }
            }

            /// Returns the description of the class for the reference page.
            pub const fn doc(self) -> &'static str {
                match self { $(Class::$name => concat!($($doc),+)),+ }
            }
        }
    };
}

classes! {
    /// Register moves, selects, and address conversions that cost a move.
    Move => Alu,
    /// Integer add, subtract, compare-free min/max/abs/neg.
    IntAdd => Alu,
    /// Bitwise logic.
    Logic => Alu,
    /// Shifts and bit-field moves.
    Shift => Alu,
    /// Comparisons that write a predicate or a mask.
    Compare => Alu,
    /// Low product and multiply-add of up to 32 bits.
    IntMul => Alu,
    /// High and widening products, and 64-bit products.
    IntMulHi => Alu,
    /// 32-bit and narrower integer division and remainder.
    IntDiv => Alu,
    /// 64-bit integer division and remainder.
    IntDiv64 => Alu,
    /// Bit counts and reversals: popc, clz, brev.
    BitCount => Sfu,
    /// Conversions between integer and float, and between float widths.
    Convert => Sfu,
    /// Single-precision add, multiply, fma, min, max, neg, abs.
    Float32 => Fma,
    /// Single-precision division, reciprocal and square root with IEEE rounding.
    Float32Div => Fma,
    /// Double-precision add, multiply, fma, min, max, neg, abs.
    Float64 => Fp64,
    /// Double-precision division, reciprocal and square root.
    Float64Div => Fp64,
    /// Single-precision approximations: sin, cos, ex2, lg2, rsqrt, rcp.approx, sqrt.approx.
    Special => Sfu,
    /// Matrix products of 1,024 f16 multiply-adds (m16n8k8), of 2,048 int8, or less.
    MatrixShort => Tensor,
    /// Matrix products of 2,048 f16 multiply-adds (m16n8k16), or of 4,096 int8.
    MatrixLong => Tensor,
    /// Matrix products of a warpgroup; the interval is that of eight columns.
    MatrixGroup => Tensor,
    /// Double-precision matrix products of 8 rows and 4 columns of A.
    MatrixDouble => Tensor,
    /// Double-precision matrix products of 16 rows and 4 columns of A.
    MatrixDouble4 => Tensor,
    /// Double-precision matrix products of 8 columns of A.
    MatrixDouble8 => Tensor,
    /// Double-precision matrix products of 16 columns of A.
    MatrixDouble16 => Tensor,
    /// Warp shuffles.
    Shuffle => Lsu,
    /// Votes and activemask.
    Vote => Alu,
    /// match and redux.
    WarpReduce => Lsu,
    /// Parameter and constant loads.
    LoadConst => Constant,
    /// Global loads.
    LoadGlobal => Lsu,
    /// Shared loads.
    LoadShared => Lsu,
    /// Local loads.
    LoadLocal => Lsu,
    /// Global stores.
    StoreGlobal => Lsu,
    /// Shared stores.
    StoreShared => Lsu,
    /// Local stores.
    StoreLocal => Lsu,
    /// Global atomics and reductions.
    AtomicGlobal => Lsu,
    /// Shared atomics and reductions.
    AtomicShared => Lsu,
    /// Fetches from textures, and loads from surfaces.
    Texture => Lsu,
    /// Stores and reductions to surfaces.
    Surface => Lsu,
    /// Memory fences.
    Fence => Lsu,
    /// Branches.
    Branch => Branch,
    /// ret, exit and trap.
    Exit => Branch,
    /// Block barriers.
    Barrier => Branch,
    /// bar.warp.sync.
    WarpSync => Branch,
    /// nanosleep.
    Sleep => Branch,
    /// Reads of clock and clock64.
    Clock => Alu,
    /// Joins of the independent mode: set, sync, yield. Inserted, and counted apart.
    Join => Branch,
}
