//! Lowering of moves and conversions.
//!
//! A row has the width of the register's declared type, and the type of a conversion may be
//! narrower. The source is then truncated first, and the result is extended by the sign of its type
//! (PTX: "the result is sign-extended or zero-extended to the width of the destination register").

use super::super::body::{Body, Origin};
use super::super::operands::{Arg, Args, space};
use super::{lane, rounding};
use crate::diag::Diagnostic;
use crate::isa::{Class, FormMatch, Space, Type};
use crate::kernel::{Convert, Fp8, LaneFn, Op, Register, Row, TensorConvert, Tf32Round, layout};
use crate::ptx::tree::Instruction;

/// Returns a conversion that changes only the integer width.
fn resize(from: Type) -> LaneFn {
    LaneFn::Cvt(Convert::from(from))
}

/// Returns the conversion to or from a small format of tensor cores.
pub(super) fn tensor(m: &FormMatch<'_>) -> TensorConvert {
    let relu = m.has("relu");
    let format = if m.has("e4m3x2") { Fp8::E4M3 } else { Fp8::E5M2 };
    if m.has("tf32") {
        let round = m.pick(&[("rna", Tf32Round::Away), ("rz", Tf32Round::Zero)]);
        let round = round.unwrap_or(Tf32Round::Nearest);
        return TensorConvert::ToTf32 { round, relu, satfinite: m.has("satfinite") };
    }
    if m.has("satfinite") {
        TensorConvert::ToFp8 { format, halves: m.has("f16x2"), relu }
    } else {
        TensorConvert::FromFp8 { format, relu }
    }
}

/// Returns the integer type of this width and sign.
fn integer(bits: u32, signed: bool) -> Type {
    match (bits, signed) {
        (8, false) => Type::U8,
        (8, true) => Type::S8,
        (16, false) => Type::U16,
        (16, true) => Type::S16,
        (32, false) => Type::U32,
        (32, true) => Type::S32,
        (_, false) => Type::U64,
        (_, true) => Type::S64,
    }
}

impl Body<'_> {
    /// Lowers `mov`: copies, clock reads, packing and unpacking.
    pub(super) fn mov(&mut self, m: &FormMatch<'_>, args: &Args, origin: Origin) {
        let ty = m.ty();
        let op = match (&args.args[0], &args.args[1]) {
            (Arg::Value(d), Arg::Value(a)) => lane(LaneFn::Mov, ty, d.row, &[a.row]),
            (Arg::Value(d), Arg::Clock(clock)) => {
                let clock = Op::Clock { d: d.row, clock: *clock };
                return self.emit(
                    Origin { class: Class::Clock, ..origin },
                    clock,
                    &args.reads,
                    &args.writes,
                );
            }
            (Arg::Value(d), Arg::FrameAddress(offset)) => {
                let Some(frame) = self.frame_pointer else {
                    unreachable!("only functions have such addresses")
                };
                lane(LaneFn::OffsetBy(*offset), Type::U64, d.row, &[frame])
            }
            (Arg::Value(d), Arg::WideSpecial(row)) => {
                lane(resize(Type::U32), Type::U64, d.row, &[*row])
            }
            (Arg::Value(d), Arg::Parts(parts, _)) => {
                let rows: Vec<Row> = parts.iter().flatten().map(|part| part.row).collect();
                lane(LaneFn::Pack { parts: rows.len() as u8 }, ty, d.row, &rows)
            }
            (Arg::Parts(parts, _), Arg::Value(a)) => {
                let count = parts.len() as u8;
                for (i, part) in parts.iter().enumerate() {
                    if let Some(part) = part {
                        let op = lane(
                            LaneFn::Unpack { parts: count, part: i as u8 },
                            ty,
                            part.row,
                            &[a.row],
                        );
                        let written: Vec<Register> = part.register.into_iter().collect();
                        self.emit(origin, op, &args.reads, &written);
                    }
                }
                return;
            }
            _ => {
                let message = "invalid operands of `mov` with braces";
                let error = Diagnostic::error("operand-kind", origin.span, message);
                return self
                    .report(error.help("move through a register: pack into it, then unpack it"));
            }
        };
        self.emit(origin, op, &args.reads, &args.writes);
    }

    /// Lowers `cvt`, with additional steps for wider registers.
    pub(super) fn cvt(&mut self, m: &FormMatch<'_>, args: &Args, origin: Origin) {
        let (to, from) = (m.ty(), m.second_type());
        let (d, a) = (args.value(0), args.value(1));
        let integral = ["rni", "rzi", "rmi", "rpi"].into_iter().any(|word| m.has(word));
        let convert = Convert {
            from,
            round: rounding(m),
            integral,
            ftz: m.has("ftz"),
            sat: m.has("sat"),
            relu: m.has("relu"),
            satfinite: m.has("satfinite"),
        };
        if to.half().is_some() {
            let op = lane(LaneFn::CvtPair(convert), to, d.row, &[a.row, args.row(2)]);
            return self.emit(origin, op, &args.reads, &args.writes);
        }
        // A 64-bit register with a narrower source type: take its low word first.
        let (source, reads) = if a.ty.is_wide() && !from.is_wide() {
            let (row, register) = self.rows.scratch(false);
            self.emit(
                origin,
                lane(resize(Type::U64), Type::U32, row, &[a.row]),
                &args.reads,
                &[register],
            );
            (row, vec![register])
        } else {
            (a.row, args.reads.clone())
        };
        let target = d.ty.bits();
        if target <= to.bits() || to.is_float() {
            return self.emit(
                origin,
                lane(LaneFn::Cvt(convert), to, d.row, &[source]),
                &reads,
                &args.writes,
            );
        }
        let extended = integer(target, to.is_signed());
        if !from.is_float() && !convert.sat && to.bits() <= from.bits() && !from.is_wide() {
            // Truncating to `to` and extending is one conversion from `to`.
            return self.emit(
                origin,
                lane(resize(to), extended, d.row, &[source]),
                &reads,
                &args.writes,
            );
        }
        let (row, register) = self.rows.scratch(false);
        self.emit(origin, lane(LaneFn::Cvt(convert), to, row, &[source]), &reads, &[register]);
        self.emit(origin, lane(resize(to), extended, d.row, &[row]), &[register], &args.writes);
    }

    /// Lowers `cvta`: offsets addresses of shared, local and parameter memory, copies others.
    pub(super) fn cvta(
        &mut self,
        inst: &Instruction,
        m: &FormMatch<'_>,
        args: &Args,
    ) -> Option<Op> {
        if let (Some(Arg::Value(d)), Some(Arg::FrameAddress(offset)), Some(frame)) =
            (args.args.first(), args.args.get(1), self.frame_pointer)
        {
            let by = offset.wrapping_add(layout::LOCAL_WINDOW as i64);
            return Some(lane(LaneFn::OffsetBy(by), Type::U64, d.row, &[frame]));
        }
        let (Some(Arg::Value(d)), Some(Arg::Value(a))) = (args.args.first(), args.args.get(1))
        else {
            let message = "expected register or variable for `cvta`";
            self.report(Diagnostic::error("operand-kind", inst.span, message));
            return None;
        };
        let window = match space(m) {
            Space::Shared => layout::SHARED_WINDOW as i64,
            Space::Local => layout::LOCAL_WINDOW as i64,
            Space::Param => layout::PARAMETERS as i64,
            _ => return Some(lane(LaneFn::Mov, Type::U64, d.row, &[a.row])),
        };
        let offset = if m.has("to") { -window } else { window };
        Some(lane(LaneFn::OffsetBy(offset), Type::U64, d.row, &[a.row]))
    }
}
