//! Branches, calls, convergence barriers, exits.

use super::super::text::Operand;
use super::{Lowered, Lowering, Missing, Module, Width};
use crate::base::{JoinId, Pc};
use crate::kernel::{
    ConvergenceOp, INSTRUCTION_BYTES, Jump, JumpKind, JumpTarget, Meeting, Native, NativeFn, Op,
    Row, Source, SystemFn,
};

/// Lowers a control-flow instruction; `Ok(None)` if the opcode is of another family.
pub(super) fn lower(
    l: &mut Lowering<'_, '_>,
    module: &Module<'_>,
) -> Result<Option<Lowered>, Missing> {
    let lowered = match l.text.name {
        "BRA" | "JMP" => branch(l, module)?,
        "CALL" => jump(l, module, JumpKind::Call)?,
        "RET" => jump(l, module, JumpKind::Return)?,
        "BRX" | "BRXU" | "JMX" => jump(l, module, JumpKind::Branch)?,
        "EXIT" => {
            l.text.take("KEEPREFCOUNT");
            // EXIT P1: the second predicate of the lanes that end.
            let also = l.is_predicate(0).then(|| l.predicate(0)).transpose()?;
            Lowered { also, ..Lowered::of(Op::Exit) }
        }
        // KILL is of shaders: a GPU ends a kernel with it as with BPT.TRAP (illegal instruction).
        "BPT" | "KILL" => {
            l.text.modifiers.clear();
            Lowered::of(Op::Trap)
        }
        "LEPC" => address_of_code(l, module)?,
        "NOP" => Lowered::of(Op::Together),
        "PMTRIG" => Lowered::of(Op::Hint { address: None }),
        "WARPSYNC" => warp_sync(l, module)?,
        "ENDCOLLECTIVE" => Lowered::of(Op::EndCollective),
        "YIELD" => Lowered::of(Op::Join(ConvergenceOp::Yield)),
        "BSSY" => {
            l.text.take("RECONVERGENT");
            Lowered::of(Op::Join(ConvergenceOp::Set(barrier(l, 0)?)))
        }
        "BSYNC" => {
            l.text.take("RECONVERGENT");
            Lowered::of(Op::Join(ConvergenceOp::Sync(barrier(l, 0)?)))
        }
        "BREAK" => leave(l)?,
        "BMOV" => moved(l)?,
        "DEPBAR" => depbar(l)?,
        _ => return Ok(None),
    };
    Ok(Some(lowered))
}

/// BRA 0x100, BRA P1, 0x100, BRA.U 0x100, BRA.U UP0, 0x100 or BRA.U.ANY 0x100.
fn branch(l: &mut Lowering<'_, '_>, module: &Module<'_>) -> Result<Lowered, Missing> {
    let together = l.text.take("U");
    for (name, converged) in [("DIV", false), ("CONV", true)] {
        if l.text.take(name) {
            return by_convergence(l, module, converged);
        }
    }
    let mut also = None;
    let mut at = 0;
    if l.is_predicate(at) {
        also = Some(l.predicate(at)?);
        at += 1;
    }
    let target = fixed(l, at, module)?;
    if also.is_none() && together {
        let any = l.text.take("ANY");
        return Ok(Lowered::of(Op::BranchTogether { target, any }));
    }
    Ok(Lowered { also, ..Lowered::of(Op::Branch { target, uniform: false }) })
}

/// BRA.DIV 0x100, BRA.DIV UR4, 0x100 or BRA.CONV ~URZ, 0x100.
///
/// The register holds the lanes that the next instructions need; without one it is all lanes.
fn by_convergence(
    l: &mut Lowering<'_, '_>,
    module: &Module<'_>,
    converged: bool,
) -> Result<Lowered, Missing> {
    let all = l.rows.immediate(u32::MAX);
    let (mask, at) = match l.text.operands.first() {
        Some(Operand::Integer(_)) => (all, 0),
        _ => {
            let named = l.source(0, Width::Word)?;
            match named {
                _ if named == Source::of(named.row) => (named.row, 1),
                _ if named.invert && named.row == l.rows.immediate(0) => (all, 1),
                _ => return Err(Missing::Operands),
            }
        }
    };
    let target = fixed(l, at, module)?;
    Ok(Lowered::of(Op::BranchByConvergence { target, mask, converged }))
}

/// WARPSYNC.ALL, WARPSYNC R0, WARPSYNC 0xffff, WARPSYNC.EXCLUSIVE R0, WARPSYNC.COLLECTIVE R0, 0x100
/// or WARPSYNC.COLLECTIVE.ALL 0x100.
fn warp_sync(l: &mut Lowering<'_, '_>, module: &Module<'_>) -> Result<Lowered, Missing> {
    let together = l.text.take("COLLECTIVE");
    let all = l.text.take("ALL");
    let mask = if all { l.rows.immediate(u32::MAX) } else { l.plain(0, Width::Word)? };
    let meeting = if together {
        Meeting::Collective { end: fixed(l, usize::from(!all), module)? }
    } else if l.text.take("EXCLUSIVE") {
        Meeting::Exclusive
    } else if all {
        Meeting::Aligned
    } else {
        Meeting::Common
    };
    Ok(Lowered::of(Op::Gather { mask: mask.into(), meeting }))
}

/// Returns the target of operand `i`.
fn fixed(l: &Lowering<'_, '_>, i: usize, module: &Module<'_>) -> Result<Pc, Missing> {
    match l.text.operands.get(i) {
        Some(&Operand::Integer(address)) => module.pc(address).ok_or(Missing::Operands),
        _ => Err(Missing::Operands),
    }
}

/// CALL.REL.NOINC 0x100, CALL.REL.NOINC R8 0x0, RET.REL.NODEC R20 0x0, BRX R2 -0x140, BRXU UR4
/// -0x140.
fn jump(l: &mut Lowering<'_, '_>, module: &Module<'_>, kind: JumpKind) -> Result<Lowered, Missing> {
    let absolute = l.text.take("ABS") || l.text.name == "JMX";
    ["REL", "NOINC", "NODEC", "INC"].iter().for_each(|word| _ = l.text.take(word));
    let target = match l.text.operands.first() {
        Some(&Operand::Register(name, _)) => {
            let row: Row = l.read(name, Width::Word)?;
            let offset = match l.text.operands.get(1) {
                Some(&Operand::Integer(offset)) => offset,
                None => 0,
                _ => return Err(Missing::Operands),
            };
            // BRX counts from the next instruction, CALL.REL and RET.REL from the function's start.
            let relative = matches!(l.text.name, "BRX" | "BRXU");
            let from = match () {
                () if relative => i64::from(module.address) + 16,
                () if absolute => 0,
                () => i64::from(module.start),
            };
            JumpTarget::Register {
                row,
                offset: offset + from,
                end: Pc(module.count),
                targets: module.targets(),
            }
        }
        Some(&Operand::Integer(address)) => match module.pc(address) {
            Some(pc) => JumpTarget::Fixed(pc),
            None => system(l, module, address).ok_or(Missing::Operands)?,
        },
        _ => return Err(Missing::Operands),
    };
    Ok(Lowered::of(Op::Jump(Jump { kind, target })))
}

/// Returns the target of a call of the runtime system.
fn system(l: &mut Lowering<'_, '_>, module: &Module<'_>, address: i64) -> Option<JumpTarget> {
    let address = u32::try_from(address + i64::from(module.start)).ok()?;
    SystemFn::at_native_address(address)?;
    let row = l.rows.immediate_pair(address.into());
    Some(JumpTarget::Register { row, offset: 0, end: Pc(module.count), targets: Vec::new() })
}

/// LEPC R20, 0x80 (the return address of a call), or LEPC R8 (its own address).
fn address_of_code(l: &mut Lowering<'_, '_>, module: &Module<'_>) -> Result<Lowered, Missing> {
    let address = match l.text.operands.get(1) {
        None => u64::from(module.address),
        Some(&Operand::Integer(address)) => (address as u64).wrapping_add(module.start.into()),
        _ => return Err(Missing::Operands),
    };
    let d = l.result(0, Width::Pair)?;
    let s = [Source::of(l.rows.immediate_pair(address)), Source::default(), Source::default()];
    let op = Native { f: NativeFn::MovPair, d, s, ..super::integer::native(false) };
    Ok(Lowered::of(Op::Native(Box::new(op))))
}

fn barrier(l: &Lowering<'_, '_>, i: usize) -> Result<JoinId, Missing> {
    match l.text.operands.get(i) {
        Some(&Operand::Barrier(number)) => Ok(JoinId(number.into())),
        _ => Err(Missing::Operands),
    }
}

/// BREAK B0 or BREAK P1, B0.
fn leave(l: &mut Lowering<'_, '_>) -> Result<Lowered, Missing> {
    l.text.take("RELIABLE");
    let mut also = None;
    let mut at = 0;
    if l.is_predicate(at) {
        also = Some(l.predicate(at)?);
        at += 1;
    }
    let op = Op::Join(ConvergenceOp::Break(barrier(l, at)?));
    Ok(Lowered { also, ..Lowered::of(op) })
}

/// BMOV.32.CLEAR R4, B0 or BMOV.32 B0, R4.
fn moved(l: &mut Lowering<'_, '_>) -> Result<Lowered, Missing> {
    l.text.take("32");
    l.text.take("PQUAD");
    let clear = l.text.take("CLEAR");
    let op = match l.text.operands.first() {
        Some(&Operand::Barrier(number)) => {
            let s = l.plain(1, Width::Word)?;
            ConvergenceOp::Restore { join: JoinId(number.into()), s }
        }
        _ => {
            let d = l.result(0, Width::Word)?;
            ConvergenceOp::Save { join: barrier(l, 1)?, d, clear }
        }
    };
    Ok(Lowered::of(Op::Join(op)))
}

/// DEPBAR.LE SB0, 0x2 or DEPBAR {4,3}.
fn depbar(l: &mut Lowering<'_, '_>) -> Result<Lowered, Missing> {
    l.text.take("LE");
    let falls_to = match (l.text.operands.first(), l.text.operands.get(1)) {
        (Some(&Operand::Counter(counter)), Some(&Operand::Integer(left))) => {
            Some((counter, u8::try_from(left).map_err(|_| Missing::Operands)?))
        }
        (Some(&Operand::Counter(counter)), None) => Some((counter, 0)),
        _ => None,
    };
    Ok(Lowered { falls_to, ..Lowered::of(Op::Hint { address: None }) })
}

impl Module<'_> {
    /// Returns the PC of an address; `None` if there is no instruction.
    fn pc(&self, address: i64) -> Option<Pc> {
        let address = address.checked_add(self.start.into())?;
        let number = u32::try_from(address / INSTRUCTION_BYTES as i64).ok()?;
        let aligned = address % INSTRUCTION_BYTES as i64 == 0;
        (aligned && number < self.count).then_some(Pc(number))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Lowering, Rows, lower};
    use super::*;
    use crate::sass::text;

    fn lowered(line: &str) -> Result<(Op, Rows), Missing> {
        let mut rows = Rows::new(8, 8);
        let text = text::parse(line).expect("readable");
        let module = Module {
            count: 64,
            address: 0,
            start: 0,
            reserved_shared: 0,
            banks: &[],
            indirect: &[],
        };
        let op = lower(&mut Lowering::new(text, 0, &mut rows), &module)?.op;
        Ok((op, rows))
    }

    #[test]
    fn exits_have_a_second_predicate() {
        let mut rows = Rows::new(8, 8);
        let module = Module {
            count: 64,
            address: 0,
            start: 0,
            reserved_shared: 0,
            banks: &[],
            indirect: &[],
        };
        for (line, expected) in
            [("@P0 EXIT", None), ("@P0 EXIT P1", Some(false)), ("EXIT !P1", Some(true))]
        {
            let text = text::parse(line).expect("readable");
            let lowered = lower(&mut Lowering::new(text, 0, &mut rows), &module).expect(line);
            assert_eq!(lowered.also.map(|also| also.negated), expected, "{line}");
        }
    }

    #[test]
    fn a_nop_keeps_its_lanes_together() {
        for line in ["NOP", "@P0 NOP"] {
            assert_eq!(lowered(line).expect(line).0, Op::Together, "{line}");
        }
    }

    #[test]
    fn a_kernel_that_kills_its_lanes_traps() {
        for line in ["KILL", "@!P0 KILL", "BPT.TRAP 0x1"] {
            assert_eq!(lowered(line).expect(line).0, Op::Trap, "{line}");
        }
    }

    #[test]
    fn a_branch_of_all_lanes_looks_for_any_or_for_all() {
        for (line, any) in [("@P1 BRA.U.ANY 0x100", true), ("@P1 BRA.U 0x100", false)] {
            let (op, _) = lowered(line).expect("supported");
            assert_eq!(op, Op::BranchTogether { target: Pc(16), any }, "{line}");
        }
        assert!(lowered("@P1 BRA.U.ANY P0, 0x100").is_err());
    }

    #[test]
    fn branches_by_convergence_have_a_mask_and_a_direction() {
        for (line, expected) in [
            ("BRA.DIV 0x100", false),
            ("BRA.DIV ~URZ, 0x100", false),
            ("BRA.CONV ~URZ, 0x100", true),
        ] {
            let (op, mut rows) = lowered(line).expect(line);
            let mask = rows.immediate(u32::MAX);
            let target = Pc(16);
            assert_eq!(op, Op::BranchByConvergence { target, mask, converged: expected }, "{line}");
        }
        let (op, rows) = lowered("BRA.CONV UR4, 0x100").expect("supported");
        let mask = rows.row(text::RegisterName { number: 4, uniform: true });
        assert_eq!(op, Op::BranchByConvergence { target: Pc(16), mask, converged: true });
        assert_eq!(lowered("BRA.CONV ~UR4, 0x100").err(), Some(Missing::Operands));
    }
}
