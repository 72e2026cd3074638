//! Registers that an instruction reads.
//!
//! They include special registers and immediates, which `Inst::reads` omits.

use crate::isa::Type;
use crate::kernel::*;

/// Returns the number of operands of `LaneOp::s` that a function reads.
const fn arity(f: LaneFn) -> usize {
    use LaneFn::*;
    match f {
        Mov
        | OffsetBy(_)
        | Abs
        | Neg
        | Popc
        | Clz
        | Bfind { .. }
        | Brev
        | Not
        | Cnot
        | PendingCount => 1,
        Rcp(_) | Sqrt(_) | Approximate { .. } => 1,
        Tensor(convert) => convert.sources(),
        FNeg { .. } | FAbs { .. } | Cvt(_) | Unpack { .. } => 1,
        Pack { parts } => parts as usize,
        Add { .. }
        | Sub { .. }
        | MulLo
        | MulHi
        | MulWide
        | Mul24 { .. }
        | Div
        | Rem
        | Min { .. }
        | Max { .. } => 2,
        And
        | Or
        | Xor
        | Shl
        | Shr
        | FAdd(_)
        | FSub(_)
        | FMul(_)
        | FDiv(_)
        | DivApprox { .. }
        | FMin { .. }
        | FMax { .. } => 2,
        CopySign | Set { .. } | CvtPair(_) | Szext { .. } | Bmsk { .. } => 2,
        MadLo
        | MadHi { .. }
        | MadWide
        | Mad24 { .. }
        | Sad
        | Bfe
        | Prmt(_)
        | Lop3(_)
        | Dp4a { .. }
        | Dp2a { .. }
        | AbsDiff4 { .. }
        | PackSaturated(_)
        | Fns
        | Shf { .. }
        | Fma(_)
        | FusedProduct { .. }
        | FusedQuotient { .. } => 3,
        Slct { .. } => 3,
        Bfi => 4,
    }
}

/// Returns true if operand `n` of the operation is in a 64-bit register.
pub(crate) fn is_wide(op: &LaneOp, n: usize) -> bool {
    match (op.f, n) {
        (LaneFn::OffsetBy(_), _) => true,
        (LaneFn::MadWide, 2) => op.ty.bits() == 32,
        (LaneFn::Bfe, 1..)
        | (LaneFn::Bfi, 2..)
        | (LaneFn::Shl | LaneFn::Shr, 1)
        | (LaneFn::Slct { .. }, 2) => false,
        (LaneFn::Prmt(_) | LaneFn::Shf { .. } | LaneFn::Pack { .. }, _) => false,
        (LaneFn::Cvt(convert) | LaneFn::CvtPair(convert), _) => convert.from.is_wide(),
        _ => op.ty.is_wide(),
    }
}

/// Calls `visit` for every register that the instruction reads, including the guard.
///
/// A register may be visited twice.
pub(super) fn operands(inst: &Inst, mut visit: impl FnMut(Register)) {
    let row = |row, wide| if wide { Register::Wide(row) } else { Register::Narrow(row) };
    let typed = |r, ty: Type| row(r, ty.is_wide());
    let narrow = |r| row(r, false);
    let predicate = |p: PredicateUse| Register::Predicate(p.predicate);
    let address = |a: &Address| match a.base {
        AddressBase::Zero => None,
        AddressBase::Narrow(r) => Some(Register::Narrow(r)),
        AddressBase::Wide(r) => Some(Register::Wide(r)),
        // Of machine code: its instructions list what they read.
        AddressBase::Native(_) => None,
    };
    let handle = |handle: Handle| match handle {
        Handle::Wide(r) => Some(Register::Wide(r)),
        Handle::Narrow(r) => Some(Register::Narrow(r)),
        Handle::Reference(_) => None,
    };
    if inst.form == MACHINE_FORM {
        // Rows of special registers are not listed. Row 0 is R0 or an unused source.
        if let Op::Native(op) = &inst.op {
            op.s.iter().map(|s| s.row).filter(|r| r.0 > 0).for_each(|r| visit(narrow(r)));
        }
        return inst.reads.iter().copied().for_each(visit);
    }
    inst.guard.map(predicate).into_iter().for_each(&mut visit);
    match &inst.op {
        Op::Native(_) | Op::Jump(_) => {}
        Op::BranchTogether { .. } | Op::BranchByConvergence { .. } => {}
        Op::EndCollective | Op::Together => {}
        Op::Lane(op) => (0..arity(op.f)).for_each(|n| visit(row(op.s[n], is_wide(op, n)))),
        Op::Setp(op) => {
            [typed(op.a, op.ty), typed(op.b, op.ty)].into_iter().for_each(&mut visit);
            op.combine.map(|(_, p)| predicate(p)).into_iter().for_each(visit);
        }
        Op::PredicateLogic { a, b, .. } => [*a, *b].map(predicate).into_iter().for_each(visit),
        Op::Select { ty, a, b, c, .. } => {
            [typed(*a, *ty), typed(*b, *ty), predicate(*c)].into_iter().for_each(visit)
        }
        Op::Carry(op) => {
            let sources = if matches!(op.f, CarryFn::Add | CarryFn::Sub) { 2 } else { 3 };
            op.s[..sources].iter().map(|&r| typed(r, op.ty)).for_each(&mut visit);
            op.carry_in.map(Register::Predicate).into_iter().for_each(visit);
        }
        Op::Test { ty, a, .. } => visit(typed(*a, *ty)),
        Op::Load(load) | Op::ReadSlot(load) => address(&load.address).into_iter().for_each(visit),
        Op::Store(store) | Op::WriteSlot(store) => {
            address(&store.address).into_iter().for_each(&mut visit);
            let count = usize::from(store.access.count).min(store.s.len());
            store.s[..count].iter().map(|&r| row(r, store.access.wide)).for_each(visit);
        }
        Op::AtomicVector(op) => {
            address(&op.first.address).into_iter().for_each(&mut visit);
            visit(typed(op.first.b, op.first.ty));
            op.others.iter().for_each(|(_, b)| visit(typed(*b, op.first.ty)));
            let swaps = op.first.f == AtomicFn::Cas;
            let upper = op.joint.filter(|_| swaps).map(|c| [op.first.c, c]);
            upper.into_iter().flatten().for_each(|c| visit(typed(c, op.first.ty)));
        }
        Op::Atomic(op) => {
            address(&op.address).into_iter().for_each(&mut visit);
            visit(typed(op.b, op.ty));
            if op.f == AtomicFn::Cas {
                visit(typed(op.c, op.ty));
            }
        }
        Op::Barrier(op) => {
            visit(narrow(op.id));
            op.count.map(narrow).into_iter().for_each(&mut visit);
            if let BarrierKind::Red { p, .. } = op.kind {
                visit(predicate(p));
            }
        }
        Op::WarpSync { mask } | Op::Gather { mask, .. } => visit(narrow(mask.row)),
        Op::Shuffle(op) => [op.a, op.b, op.c, op.mask.row].map(narrow).into_iter().for_each(visit),
        Op::Vote(op) => {
            op.p.map(predicate).into_iter().chain([narrow(op.mask.row)]).for_each(visit)
        }
        Op::Hint { address: hinted } => {
            hinted.as_ref().and_then(address).into_iter().for_each(visit)
        }
        Op::Match(op) => [typed(op.a, op.ty), narrow(op.mask.row)].into_iter().for_each(visit),
        Op::Redux(op) => [op.a, op.mask.row].map(narrow).into_iter().for_each(visit),
        Op::Sleep { t } => visit(narrow(*t)),
        Op::Switch(op) => visit(narrow(op.index)),
        Op::Call(op) => match op.callee {
            Callee::Indirect { address, .. } => visit(row(address, true)),
            Callee::Direct(_) => {}
        },
        Op::System(op) => visit(row(op.frame_pointer, true)),
        // The frame pointer and the bytes on top of the frame are no registers of the author.
        Op::Stack(op) if op.f == StackFn::Save => {}
        Op::Stack(op) => visit(row(op.a, op.wide)),
        Op::Clock { .. }
        | Op::Branch { .. }
        | Op::Return
        | Op::Exit
        | Op::Trap
        | Op::ActiveMask { .. } => {}
        Op::Video(op) => op.s.iter().copied().map(narrow).for_each(visit),
        Op::AsyncCopy(op) => {
            [op.to, op.from].iter().filter_map(address).for_each(&mut visit);
            if let ValidBytes::First(bytes) = op.valid {
                visit(narrow(bytes));
            }
            op.ignore.map(predicate).into_iter().for_each(visit);
        }
        Op::BulkCopy(op) => {
            let addresses = [Some(&op.to.address), Some(&op.from.address), op.object.as_ref()];
            addresses.into_iter().flatten().filter_map(address).for_each(&mut visit);
            match &op.shape {
                BulkShape::Bytes(size, _) | BulkShape::Units(size, _) => visit(narrow(*size)),
                BulkShape::Tile(at) => at.rows().iter().copied().map(narrow).for_each(visit),
            }
        }
        Op::MBarrier(op) => {
            address(&op.address).into_iter().for_each(&mut visit);
            op.a.map(|r| row(r, op.f.takes_state())).into_iter().for_each(visit);
        }
        Op::Mma(op) => {
            let wide = op.sum == SumType::F64;
            let rows = op.a.iter().chain(&op.b).chain(&op.c);
            rows.for_each(|&r| visit(row(r, wide)));
        }
        Op::GroupMma(op) => {
            let descriptor = |d: Descriptor| {
                let rows: [_; 2] = std::array::from_fn(|i| Row(d.row.0 + i as u16));
                let words = rows.into_iter().filter(move |_| d.pair).map(narrow);
                words.chain((!d.pair).then(|| row(d.row, true)))
            };
            match &op.a {
                GroupFactor::Registers(rows) => rows.iter().for_each(|&r| visit(narrow(r))),
                GroupFactor::Shared(a) => descriptor(*a).for_each(&mut visit),
            }
            descriptor(op.b).for_each(&mut visit);
            if let Accumulate::If(p) = op.adds {
                visit(predicate(p));
            }
            op.c.iter().for_each(|&r| visit(narrow(r)));
        }
        Op::MatrixAccess(op) => {
            address(&op.address).into_iter().for_each(&mut visit);
            if op.direction == MatrixMove::Store {
                op.rows.iter().flatten().map(|&r| narrow(r)).for_each(visit);
            }
        }
        Op::MatrixTranspose { a, .. } => visit(narrow(*a)),
        Op::Texture(op) => {
            handle(op.handle).into_iter().for_each(&mut visit);
            op.place.rows().chain(op.unused.iter().copied()).map(narrow).for_each(visit);
        }
        Op::Surface(op) => {
            handle(op.handle).into_iter().for_each(&mut visit);
            op.place.rows().map(narrow).for_each(&mut visit);
            match op.direction {
                SurfaceMove::Load(_) => {}
                SurfaceMove::Store(s) | SurfaceMove::Texel(s) => {
                    let count = usize::from(op.count).min(s.len());
                    s[..count].iter().map(|&r| row(r, op.wide)).for_each(visit);
                }
                SurfaceMove::Reduce(_, b) => visit(typed(b, op.ty)),
            }
        }
        Op::ImageQuery(op) => handle(op.handle).into_iter().for_each(visit),
        Op::CopyGroups(_) | Op::GroupSync(_) | Op::Fence(_) | Op::Spill(_) | Op::Join(_) => {}
    }
}

/// Consecutive numbers of registers, so that sets of them are [`super::Bits`].
#[derive(Clone, Copy)]
pub(super) struct Numbering {
    narrow: usize,
    wide: usize,
    predicates: usize,
}

impl Numbering {
    pub(super) fn new(registers: &Registers) -> Numbering {
        Numbering {
            narrow: registers.narrow.into(),
            wide: registers.wide.into(),
            predicates: registers.predicates.into(),
        }
    }

    /// Returns one past the highest number.
    pub(super) fn len(self) -> usize {
        self.narrow + self.wide + self.predicates
    }

    pub(super) fn number(self, register: Register) -> usize {
        match register {
            Register::Narrow(Row(r)) => usize::from(r),
            Register::Wide(Row(r)) => self.narrow + usize::from(r),
            Register::Predicate(Predicate(p)) => self.narrow + self.wide + usize::from(p),
        }
    }

    /// Returns the register with a number.
    pub(super) fn register(self, number: usize) -> Register {
        match number {
            n if n < self.narrow => Register::Narrow(Row(n as u16)),
            n if n < self.narrow + self.wide => Register::Wide(Row((n - self.narrow) as u16)),
            n => Register::Predicate(Predicate((n - self.narrow - self.wide) as u16)),
        }
    }

    /// Returns the number of 32-bit registers that a register occupies.
    ///
    /// Predicates have a register file of their own.
    pub(super) fn cost(self, number: usize) -> u32 {
        match number {
            n if n < self.narrow => 1,
            n if n < self.narrow + self.wide => 2,
            _ => 0,
        }
    }
}
