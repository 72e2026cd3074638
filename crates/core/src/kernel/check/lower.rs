//! Instruction lowering: from a form and its operands to operations.
//!
//! Most source instructions become one [`crate::kernel::Inst`]. An unpacking `mov`, a `set` with a
//! predicate, and a conversion with a register wider than its type become several.

mod convert;
mod copies;
mod fragment;
mod image;
mod matrix;
mod mbarrier;
mod memory;
mod stack;
pub(super) mod video;
mod warp;
mod warpgroup;

use super::body::{Body, Origin};
use super::operands::{Arg, Args};
use crate::base::Pc;
use crate::diag::Diagnostic;
use crate::isa::{BoolOp, Class, Compare, FloatMode, FormMatch, Round, Sem, Type};
use crate::kernel::{
    Approximation, Carry, CarryFn, LaneFn, LaneOp, Narrow, Op, PredicateFn, PredicateUse, PrmtMode,
    Register, Row, Scope, Setp, TestFn,
};
use crate::ptx::tree::Instruction;

/// Returns the rounding mode (`.rn .rz .rm .rp`, `.rni` ..).
///
/// Nearest if there is none.
fn rounding(m: &FormMatch<'_>) -> Round {
    m.pick(&[
        ("rz", Round::Zero),
        ("rm", Round::Down),
        ("rp", Round::Up),
        ("rzi", Round::Zero),
        ("rmi", Round::Down),
        ("rpi", Round::Up),
    ])
    .unwrap_or(Round::Nearest)
}

/// Returns true for a sum, difference, product or approximate quotient of floats that does not name
/// its rounding.
pub(super) fn contracts(m: &FormMatch<'_>) -> bool {
    matches!(m.form.sem, Sem::FAdd | Sem::FSub | Sem::FMul | Sem::FDiv)
        && !["rn", "rz", "rm", "rp"].into_iter().any(|rounding| m.has(rounding))
}

fn float_mode(m: &FormMatch<'_>) -> FloatMode {
    let [ftz, sat, relu, oob] = ["ftz", "sat", "relu", "oob"].map(|word| m.has(word));
    FloatMode { round: rounding(m), ftz, sat, relu, oob }
}

fn comparison(m: &FormMatch<'_>) -> Compare {
    m.pick(&[
        ("ne", Compare::Ne),
        ("lt", Compare::Lt),
        ("lo", Compare::Lt),
        ("le", Compare::Le),
        ("ls", Compare::Le),
        ("gt", Compare::Gt),
        ("hi", Compare::Gt),
        ("ge", Compare::Ge),
        ("hs", Compare::Ge),
        ("equ", Compare::Equ),
        ("neu", Compare::Neu),
        ("ltu", Compare::Ltu),
        ("leu", Compare::Leu),
        ("gtu", Compare::Gtu),
        ("geu", Compare::Geu),
        ("num", Compare::Num),
        ("nan", Compare::Nan),
    ])
    .unwrap_or(Compare::Eq)
}

fn bool_op(m: &FormMatch<'_>) -> BoolOp {
    m.pick(&[("or", BoolOp::Or), ("xor", BoolOp::Xor)]).unwrap_or(BoolOp::And)
}

fn prmt_mode(m: &FormMatch<'_>) -> PrmtMode {
    m.pick(&[
        ("f4e", PrmtMode::F4e),
        ("b4e", PrmtMode::B4e),
        ("rc8", PrmtMode::Rc8),
        ("ecl", PrmtMode::Ecl),
        ("ecr", PrmtMode::Ecr),
        ("rc16", PrmtMode::Rc16),
    ])
    .unwrap_or(PrmtMode::Index)
}

fn test_fn(m: &FormMatch<'_>) -> TestFn {
    m.pick(&[
        ("infinite", TestFn::Infinite),
        ("number", TestFn::Number),
        ("notanumber", TestFn::NotANumber),
        ("normal", TestFn::Normal),
        ("subnormal", TestFn::Subnormal),
    ])
    .unwrap_or(TestFn::Finite)
}

/// Returns the function of an element-wise form; `None` for all others.
fn lane_fn(m: &FormMatch<'_>) -> Option<LaneFn> {
    let approximate = m.has("approx") || m.has("full");
    let (sat, hi, ftz, wrap) = (m.has("sat"), m.has("hi"), m.has("ftz"), m.has("wrap"));
    let (nan, xorsign, relu) = (m.has("NaN"), m.has("xorsign"), m.has("relu"));
    // For `dp4a` and `dp2a`, the second type is that of `b`.
    let signed = [m.ty() == Type::S32, m.second_type() == Type::S32];
    Some(match m.form.sem {
        Sem::Add => LaneFn::Add { sat },
        Sem::Sub => LaneFn::Sub { sat },
        Sem::MulLo => LaneFn::MulLo,
        Sem::MulHi => LaneFn::MulHi,
        Sem::MulWide => LaneFn::MulWide,
        Sem::MadLo => LaneFn::MadLo,
        Sem::MadHi => LaneFn::MadHi { sat },
        Sem::MadWide => LaneFn::MadWide,
        Sem::Mul24 => LaneFn::Mul24 { hi },
        Sem::Mad24 => LaneFn::Mad24 { hi },
        Sem::Sad => LaneFn::Sad,
        Sem::Dp4a => LaneFn::Dp4a { signed },
        Sem::Dp2a => LaneFn::Dp2a { signed, hi },
        Sem::AbsDiff4 => LaneFn::AbsDiff4 {
            signed: [m.second_type(), m.third_type()].map(Type::is_signed),
            add: m.has("add"),
        },
        Sem::CvtPack => {
            let unsigned = m.pick(&[("u16", 16), ("u8", 8), ("u4", 4), ("u2", 2)]);
            let signed = m.pick(&[("s16", 16), ("s8", 8), ("s4", 4)]);
            let bits = unsigned.or(signed).unwrap_or(2);
            LaneFn::PackSaturated(Narrow { bits, signed: unsigned.is_none() })
        }
        Sem::Fns => LaneFn::Fns,
        Sem::Szext => LaneFn::Szext { wrap },
        Sem::Bmsk => LaneFn::Bmsk { wrap },
        Sem::Div => LaneFn::Div,
        Sem::Rem => LaneFn::Rem,
        Sem::Abs => LaneFn::Abs,
        Sem::Neg => LaneFn::Neg,
        Sem::Min => LaneFn::Min { relu },
        Sem::Max => LaneFn::Max { relu },
        Sem::Popc => LaneFn::Popc,
        Sem::Clz => LaneFn::Clz,
        Sem::Bfind => LaneFn::Bfind { shift: m.has("shiftamt") },
        Sem::Brev => LaneFn::Brev,
        Sem::Bfe => LaneFn::Bfe,
        Sem::Bfi => LaneFn::Bfi,
        Sem::Prmt => LaneFn::Prmt(prmt_mode(m)),
        Sem::And => LaneFn::And,
        Sem::Or => LaneFn::Or,
        Sem::Xor => LaneFn::Xor,
        Sem::Not => LaneFn::Not,
        Sem::Cnot => LaneFn::Cnot,
        Sem::Shl => LaneFn::Shl,
        Sem::Shr => LaneFn::Shr,
        Sem::Shf => LaneFn::Shf { left: m.has("l"), wrap },
        Sem::FAdd => LaneFn::FAdd(float_mode(m)),
        Sem::FSub => LaneFn::FSub(float_mode(m)),
        Sem::FMul => LaneFn::FMul(float_mode(m)),
        Sem::Fma => LaneFn::Fma(float_mode(m)),
        Sem::FDiv if approximate => LaneFn::DivApprox { full: m.has("full"), ftz },
        Sem::FDiv => LaneFn::FDiv(float_mode(m)),
        Sem::Rcp if !approximate => LaneFn::Rcp(float_mode(m)),
        Sem::Sqrt if !approximate => LaneFn::Sqrt(float_mode(m)),
        Sem::Rcp => LaneFn::Approximate { f: Approximation::Reciprocal, ftz },
        Sem::Sqrt => LaneFn::Approximate { f: Approximation::Root, ftz },
        Sem::Rsqrt => LaneFn::Approximate { f: Approximation::ReciprocalRoot, ftz },
        Sem::Sin => LaneFn::Approximate { f: Approximation::Sine, ftz },
        Sem::CvtTensor => LaneFn::Tensor(convert::tensor(m)),
        Sem::Cos => LaneFn::Approximate { f: Approximation::Cosine, ftz },
        Sem::Ex2 => LaneFn::Approximate { f: Approximation::Exponential, ftz },
        Sem::Lg2 => LaneFn::Approximate { f: Approximation::Logarithm, ftz },
        Sem::Tanh => LaneFn::Approximate { f: Approximation::Tangent, ftz },
        Sem::FMin => LaneFn::FMin { ftz, nan, xorsign },
        Sem::FMax => LaneFn::FMax { ftz, nan, xorsign },
        Sem::FNeg => LaneFn::FNeg { ftz },
        Sem::FAbs => LaneFn::FAbs { ftz },
        Sem::CopySign => LaneFn::CopySign,
        Sem::Set => LaneFn::Set { compare: comparison(m), truth: m.ty().truth(), ftz },
        Sem::Slct => LaneFn::Slct { float: m.second_type() == Type::F32, ftz },
        _ => return None,
    })
}

/// Returns a cache policy, with the bits that CUTLASS has for whole ranges.
fn policy(m: &FormMatch<'_>) -> u64 {
    let named = [
        ("L2::evict_last", 0x14f0_0000_0000_0000),
        ("L2::evict_first", 0x12f0_0000_0000_0000),
        ("L2::evict_unchanged", 0x16f0_0000_0000_0000),
    ];
    m.pick(&named).unwrap_or(0x10f0_0000_0000_0000)
}

/// Returns an element-wise operation on the operands in order.
fn lane(f: LaneFn, ty: Type, d: Row, sources: &[Row]) -> Op {
    let mut s = [Row(0); 4];
    s.iter_mut().zip(sources).for_each(|(place, row)| *place = *row);
    Op::Lane(LaneOp { f, ty, d, s })
}

impl Body<'_> {
    /// Lowers a source instruction.
    pub(super) fn lower(
        &mut self,
        inst: &Instruction,
        m: &FormMatch<'_>,
        args: &Args,
        parts: &video::Named,
        mut origin: Origin,
    ) {
        if args.slot {
            origin.class = Class::Move;
        }
        let op = if let Some(f) = lane_fn(m) {
            // `set` compares operands of its second type; all others use their first.
            let ty = match m.form.sem {
                Sem::Set => m.second_type(),
                // All its values are in 32-bit rows.
                Sem::CvtTensor => Type::B32,
                _ => m.ty(),
            };
            let sources: Vec<Row> = (1..args.args.len()).map(|i| args.row(i)).collect();
            lane(f, ty, args.row(0), &sources)
        } else {
            match m.form.sem {
                Sem::Lop3 => match self.truth_table(inst, args) {
                    Some(table) => lane(
                        LaneFn::Lop3(table),
                        m.ty(),
                        args.row(0),
                        &[args.row(1), args.row(2), args.row(3)],
                    ),
                    None => return,
                },
                Sem::Video => match self.video(m, args, parts) {
                    Some(op) => op,
                    None => return,
                },
                Sem::Setp => setp(m, args),
                Sem::SetBool => return self.set_bool(m, args, origin),
                Sem::Selp => Op::Select {
                    ty: m.ty(),
                    d: args.row(0),
                    a: args.row(1),
                    b: args.row(2),
                    c: args.predicate(3),
                },
                Sem::AddCarry => return self.carry(CarryFn::Add, m, args, origin),
                Sem::SubCarry => return self.carry(CarryFn::Sub, m, args, origin),
                Sem::MadCarry if m.has("hi") => return self.carry(CarryFn::MadHi, m, args, origin),
                Sem::MadCarry => return self.carry(CarryFn::MadLo, m, args, origin),
                Sem::Hint => {
                    let address =
                        matches!(args.args.first(), Some(Arg::Address(_))).then(|| args.address(0));
                    Op::Hint { address }
                }
                Sem::Isspacep => Op::Test {
                    f: TestFn::In(super::operands::space(m)),
                    ty: Type::U64,
                    p: args.predicate(0).predicate,
                    a: args.row(1),
                },
                Sem::Testp => Op::Test {
                    f: test_fn(m),
                    ty: m.ty(),
                    p: args.predicate(0).predicate,
                    a: args.row(1),
                },
                Sem::PredicateMov => self.predicate_mov(args),
                Sem::PredicateNot => predicates(PredicateFn::Not, args),
                Sem::PredicateAnd => predicates(PredicateFn::And, args),
                Sem::PredicateOr => predicates(PredicateFn::Or, args),
                Sem::PredicateXor => predicates(PredicateFn::Xor, args),
                Sem::Mov => return self.mov(m, args, origin),
                Sem::Cvt => return self.cvt(m, args, origin),
                Sem::Cvta => match self.cvta(inst, m, args) {
                    Some(op) => op,
                    None => return,
                },
                Sem::Load => memory::load(m, args),
                Sem::Store => memory::store(m, args),
                Sem::Atomic | Sem::AtomicVector => memory::atomic(m, args),
                Sem::Branch => {
                    if let Some(Arg::Label(name)) = args.args.first() {
                        self.branches.push((self.insts.len(), name.clone(), self.scopes.current()));
                    }
                    Op::Branch { target: Pc(0), uniform: m.has("uni") }
                }
                Sem::BarrierSync | Sem::BarrierArrive | Sem::BarrierRed => {
                    match self.barrier(inst, m, args) {
                        Some(op) => op,
                        None => return,
                    }
                }
                Sem::WarpSync => Op::WarpSync { mask: args.members(0) },
                Sem::Shuffle => warp::shuffle(m, args),
                Sem::Vote | Sem::Elect => warp::vote(m, args),
                Sem::ActiveMask => Op::ActiveMask { d: args.row(0) },
                Sem::Match => warp::lanes_equal(m, args),
                Sem::Redux => warp::redux(m, args),
                // Proxies and new objects concern the block.
                Sem::Fence if m.has("proxy") || m.has("mbarrier_init") => Op::Fence(Scope::Block),
                Sem::Fence => Op::Fence(memory::scope(m)),
                Sem::Policy => {
                    let row = match args.args.get(1) {
                        Some(Arg::Value(value)) if m.has("cvt") => value.row,
                        _ => self.rows.constant(policy(m), true),
                    };
                    lane(LaneFn::Mov, Type::B64, args.row(0), &[row])
                }
                Sem::AsyncCopy => match self.async_copy(inst, m, args) {
                    Some(op) => op,
                    None => return,
                },
                Sem::BulkCopy | Sem::BulkReduce => copies::bulk_copy(m, args),
                Sem::CopyGroups => match self.copy_groups(inst, m, args) {
                    Some(op) => op,
                    None => return,
                },
                Sem::Mma => return self.mma(m, args, origin),
                Sem::FragmentLoad | Sem::FragmentStore => {
                    return self.fragment_access(m, args, origin);
                }
                Sem::GroupMma => return self.group_mma(inst, m, args, origin),
                Sem::GroupSync => match self.group_sync(inst, m, args) {
                    Some(op) => op,
                    None => return,
                },
                Sem::MatrixLoad | Sem::MatrixStore => matrix::access(m, args),
                Sem::MatrixTranspose => {
                    Op::MatrixTranspose { d: Some(args.row(0)), a: args.row(1) }
                }
                Sem::MBarrier => mbarrier::mbarrier(m, args),
                Sem::PendingCount => mbarrier::pending_count(args),
                Sem::Texture => image::texture(m, args),
                Sem::ImageQuery => image::query(m, args),
                Sem::SurfaceLoad | Sem::SurfaceStore | Sem::SurfaceReduce => {
                    image::surface(m, args)
                }
                Sem::Sleep => Op::Sleep { t: args.row(0) },
                Sem::BranchIndex => {
                    if let Some(Arg::Label(table)) = args.args.get(1) {
                        self.branch_by_index(m, args, table, origin);
                    }
                    return;
                }
                Sem::StackSave | Sem::StackRestore | Sem::Alloca => {
                    return self.stack(inst, m, args, origin);
                }
                Sem::Return if self.signature.is_some() => return self.ret(m, origin),
                Sem::Exit | Sem::Return => Op::Exit,
                Sem::Trap => Op::Trap,
                other => unreachable!("{other:?} is in the table of lane functions"),
            }
        };
        self.emit(origin, op, &args.reads, &args.writes);
    }

    /// Lowers a link of a carry chain; the condition code is a register.
    fn carry(&mut self, f: CarryFn, m: &FormMatch<'_>, args: &Args, origin: Origin) {
        let code = self.rows.condition_code();
        let (mut reads, mut writes) = (args.reads.clone(), args.writes.clone());
        let flag = |there: bool, list: &mut Vec<Register>| {
            there.then(|| {
                list.push(Register::Predicate(code));
                code
            })
        };
        let carry_in = flag(m.form.opcode.ends_with('c'), &mut reads);
        let carry_out = flag(m.has("cc"), &mut writes);
        let c = if args.args.len() > 3 { args.row(3) } else { Row(0) };
        let s = [args.row(1), args.row(2), c];
        let op = Op::Carry(Carry { f, ty: m.ty(), d: args.row(0), s, carry_in, carry_out });
        self.emit(origin, op, &reads, &writes);
    }

    fn truth_table(&mut self, inst: &Instruction, args: &Args) -> Option<u8> {
        let Some(Arg::Immediate(value)) = args.args.get(4) else { return None };
        let table = u8::try_from(*value).map_err(|_| {
            let span = inst.operands.get(4).map_or(inst.span, |operand| operand.span());
            Diagnostic::error("literal-range", span, format!("truth table {value} out of range"))
                .help("use 0 to 255: the function applied to 0xF0, 0xCC and 0xAA")
        });
        self.ok(table)
    }

    /// Lowers `set.CMP.BOOL` to a comparison into a predicate and a select.
    fn set_bool(&mut self, m: &FormMatch<'_>, args: &Args, origin: Origin) {
        let (p, zero) = (self.rows.predicate(), self.rows.constant(0, false));
        let pair = m.second_type().half().is_some();
        let q = pair.then(|| self.rows.predicate());
        let compare = Setp {
            compare: comparison(m),
            ty: m.second_type(),
            ftz: m.has("ftz"),
            p: Some(p),
            q,
            a: args.row(1),
            b: args.row(2),
            combine: Some((bool_op(m), args.predicate(3))),
        };
        let of = |p| Register::Predicate(p);
        let written: Vec<Register> = [Some(p), q].into_iter().flatten().map(of).collect();
        self.emit(origin, Op::Setp(compare), &args.reads, &written);
        // Each half of a pair has its own predicate.
        let truth = u64::from(m.ty().truth());
        let low = self.rows.constant(if pair { truth & 0xffff } else { truth }, false);
        let select = |d, a, b, p| Op::Select {
            ty: Type::B32,
            d,
            a,
            b,
            c: PredicateUse { predicate: p, negated: false },
        };
        let Some(q) = q else {
            return self.emit(origin, select(args.row(0), low, zero, p), &[of(p)], &args.writes);
        };
        let high = self.rows.constant(truth & 0xffff_0000, false);
        let [(upper, upper_register), (lower, lower_register)] =
            [(); 2].map(|()| self.rows.scratch(false));
        self.emit(origin, select(upper, high, zero, q), &[of(q)], &[upper_register]);
        self.emit(origin, select(lower, low, zero, p), &[of(p)], &[lower_register]);
        let both = lane(LaneFn::Or, Type::B32, args.row(0), &[upper, lower]);
        self.emit(origin, both, &[upper_register, lower_register], &args.writes);
    }

    /// Lowers `mov.pred` to a copy, or for a constant to a comparison of 0 with itself.
    fn predicate_mov(&mut self, args: &Args) -> Op {
        let Some(Arg::Truth(truth)) = args.args.get(1) else {
            return predicates(PredicateFn::Mov, args);
        };
        let zero = self.rows.constant(0, false);
        Op::Setp(Setp {
            compare: if *truth { Compare::Eq } else { Compare::Ne },
            ty: Type::U32,
            ftz: false,
            p: Some(args.predicate(0).predicate),
            q: None,
            a: zero,
            b: zero,
            combine: None,
        })
    }
}

fn predicates(f: PredicateFn, args: &Args) -> Op {
    let a = args.predicate(1);
    let b = if args.args.len() > 2 { args.predicate(2) } else { a };
    Op::PredicateLogic { f, d: args.predicate(0).predicate, a, b }
}

fn setp(m: &FormMatch<'_>, args: &Args) -> Op {
    let (p, q) = match args.args.first() {
        Some(Arg::Pair(p, q)) => (*p, *q),
        other => unreachable!("isa/ptx.ron: the result of setp is {other:?}"),
    };
    let combine = (args.args.len() > 3).then(|| (bool_op(m), args.predicate(3)));
    let (a, b) = (args.row(1), args.row(2));
    Op::Setp(Setp { compare: comparison(m), ty: m.ty(), ftz: m.has("ftz"), p, q, a, b, combine })
}
