//! Meanings of instruction forms; every row of `isa/ptx.ron` names one.
//!
//! A meaning is coarser than a form: `kernel::check` refines it by modifiers (`.sat`, `.ftz`,
//! rounding, scope ..) and types when it lowers an instruction. `exec` implements the operations.

use serde::Deserialize;

macro_rules! meanings {
    ($($(#[doc = $doc:literal])* $name:ident),+ $(,)?) => {
        /// Meaning of an instruction form.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
        pub enum Sem { $($(#[doc = $doc])* $name),+ }

        impl Sem {
            /// Every meaning, in declaration order.
            pub const ALL: &'static [Sem] = &[$(Sem::$name),+];
        }
    };
}

meanings! {
    /// Integer sum, optionally saturating.
    Add,
    /// Integer difference, optionally saturating.
    Sub,
    /// Low half of an integer product.
    MulLo,
    /// High half of an integer product.
    MulHi,
    /// Full integer product in twice the width.
    MulWide,
    /// Low half of a product plus an addend.
    MadLo,
    /// High half of a product plus an addend, optionally saturating.
    MadHi,
    /// Full product plus an addend of twice the width.
    MadWide,
    /// Integer sum with carry in, carry out or both.
    AddCarry,
    /// Integer difference with carry (*not borrow*) in, carry out or both.
    SubCarry,
    /// Half of a product plus an addend, with carry in, carry out or both.
    MadCarry,
    /// 24-bit product, low or high part.
    Mul24,
    /// 24-bit product plus an addend.
    Mad24,
    /// Sum of absolute differences.
    Sad,
    /// Dot product of packed bytes plus an addend.
    Dp4a,
    /// Dot product of packed halves with bytes plus an addend.
    Dp2a,
    /// Absolute differences of packed bytes.
    AbsDiff4,
    /// Two integers clamped to a narrower type, packed.
    CvtPack,
    /// Position of the n-th set bit.
    Fns,
    /// Extension of a value of any width.
    Szext,
    /// Mask of adjacent ones.
    Bmsk,
    /// Integer quotient.
    Div,
    /// Integer remainder.
    Rem,
    /// Integer absolute value.
    Abs,
    /// Integer negation.
    Neg,
    /// Integer minimum.
    Min,
    /// Integer maximum.
    Max,
    /// Number of ones.
    Popc,
    /// Number of leading zeros.
    Clz,
    /// Position of the most significant non-sign bit.
    Bfind,
    /// Bit reversal.
    Brev,
    /// Bit-field extract.
    Bfe,
    /// Bit-field insert.
    Bfi,
    /// Byte permutation.
    Prmt,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Bitwise complement.
    Not,
    /// Logical negation: 1 for zero, 0 for everything else.
    Cnot,
    /// Three-input logic by truth table.
    Lop3,
    /// Left shift.
    Shl,
    /// Right shift.
    Shr,
    /// Funnel shift.
    Shf,
    /// Float sum.
    FAdd,
    /// Float difference.
    FSub,
    /// Float product.
    FMul,
    /// Float multiply-add, rounded once.
    Fma,
    /// Float quotient.
    FDiv,
    /// Float reciprocal.
    Rcp,
    /// Float square root.
    Sqrt,
    /// Float reciprocal square root.
    Rsqrt,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Power of two.
    Ex2,
    /// Binary logarithm.
    Lg2,
    /// Hyperbolic tangent.
    Tanh,
    /// Float minimum.
    FMin,
    /// Float maximum.
    FMax,
    /// Float negation.
    FNeg,
    /// Float absolute value.
    FAbs,
    /// Magnitude of one operand, sign of the other.
    CopySign,
    /// Test of the kind of a float, into a predicate.
    Testp,
    /// Comparison into predicates, optionally combined with a third predicate.
    Setp,
    /// Comparison into a register.
    Set,
    /// Comparison combined with a predicate, into a register.
    SetBool,
    /// Select by predicate.
    Selp,
    /// Select by sign.
    Slct,
    /// Copy, address of a variable, packing and unpacking.
    Mov,
    /// Predicate copy.
    PredicateMov,
    /// Predicate and.
    PredicateAnd,
    /// Predicate or.
    PredicateOr,
    /// Predicate exclusive or.
    PredicateXor,
    /// Predicate complement.
    PredicateNot,
    /// Conversion between types.
    Cvt,
    /// Conversion to or from 8-bit floats, or to tf32.
    CvtTensor,
    /// Conversion of an address between a state space and generic.
    Cvta,
    /// Test of a generic address for a state space.
    Isspacep,
    /// Hint to caches or profilers, without effect on results.
    Hint,
    /// Load.
    Load,
    /// Store.
    Store,
    /// Atomic read-modify-write, with or without result.
    Atomic,
    /// Atomic read-modify-write of each element of a vector.
    AtomicVector,
    /// Arithmetic on selected bytes or halves.
    Video,
    /// A cache policy.
    Policy,
    /// Asynchronous copy from global to shared memory.
    AsyncCopy,
    /// Start of a group of asynchronous copies, or wait for groups.
    CopyGroups,
    /// Bulk copy between global and shared memory: of consecutive bytes or of a tile.
    BulkCopy,
    /// Reduction of shared memory to global memory: of consecutive bytes or of a tile.
    BulkReduce,
    /// Operation on a barrier object in shared memory.
    MBarrier,
    /// Pending arrivals of a state of a barrier object.
    PendingCount,
    /// Load of a fragment of a matrix (`wmma.load`).
    FragmentLoad,
    /// Store of a fragment of a matrix (`wmma.store`).
    FragmentStore,
    /// Matrix product of a warp (`wmma.mma`, `mma`).
    Mma,
    /// Matrix product of a warpgroup (`wgmma.mma_async`).
    GroupMma,
    /// Synchronization with products of a warpgroup (`wgmma.fence`, `wgmma.commit_group`,
    /// `wgmma.wait_group`).
    GroupSync,
    /// Load of 8x8 matrices from shared memory (`ldmatrix`).
    MatrixLoad,
    /// Store of 8x8 matrices to shared memory (`stmatrix`).
    MatrixStore,
    /// Transposition of an 8x8 matrix (`movmatrix`).
    MatrixTranspose,
    /// Fetch from a texture.
    Texture,
    /// Property of a texture or surface.
    ImageQuery,
    /// Load from a surface.
    SurfaceLoad,
    /// Store to a surface.
    SurfaceStore,
    /// Reduction to a surface.
    SurfaceReduce,
    /// Branch.
    Branch,
    /// Block barrier: arrive and wait.
    BarrierSync,
    /// Block barrier: arrive without waiting.
    BarrierArrive,
    /// Block barrier with a reduction of a predicate.
    BarrierRed,
    /// Warp barrier.
    WarpSync,
    /// Exchange of values between lanes.
    Shuffle,
    /// Vote of the lanes on a predicate.
    Vote,
    /// Election of one lane of a mask.
    Elect,
    /// The active mask.
    ActiveMask,
    /// Lanes that hold equal values.
    Match,
    /// Reduction over the lanes of a mask.
    Redux,
    /// Memory fence.
    Fence,
    /// Pause.
    Sleep,
    /// Branch to one of several labels.
    BranchIndex,
    /// Call of a function.
    Call,
    /// End of the thread's stack (`stacksave`).
    StackSave,
    /// Memory freed from the thread's stack (`stackrestore`).
    StackRestore,
    /// Memory on the thread's stack (`alloca`).
    Alloca,
    /// End of a function.
    Return,
    /// End of the thread.
    Exit,
    /// Program fault.
    Trap,
}
