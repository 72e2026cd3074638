//! Bulk copies.
//!
//! Seen in code of nvcc 13 for sm_90: UBLKCP names by its modifiers where it writes and reads, and
//! UBLKRED further what it does with which elements. A destination in shared memory is a pair of
//! uniform registers, whose second one has the address of the barrier object. The size is in units
//! of 16 bytes in the lower half of its register. A warp executes the instruction once: where lanes
//! may differ, ELECT selects them one by one in a loop.

use super::super::text::{AddressText, Operand, RegisterName};
use super::memory::address;
use super::{Lowering, Missing, Module, Width};
use crate::isa::{Space, Type};
use crate::kernel::{AtomicFn, BulkCopy, BulkPlace, BulkSize, Op};

/// UBLKCP.S.G [UR8], [UR10], UR4, desc[UR6]; UBLKRED.G.S.ADD.F16.RN [UR6], [UR5], UR4.
pub(super) fn copy(l: &mut Lowering<'_, '_>, module: &Module<'_>) -> Result<Op, Missing> {
    let [to, from] = match l.text.modifiers[..] {
        ["S", "G", ..] => [Space::Shared, Space::Global],
        ["G", "S", ..] => [Space::Global, Space::Shared],
        // Between blocks of a cluster; without one an H200 finds the instruction illegal.
        ["S", "S", ..] => return Err(Missing::Modifier("S.S".to_owned())),
        _ => return Err(Missing::Operands),
    };
    l.text.modifiers.drain(..2);
    let reduces = if l.text.name == "UBLKRED" { Some(reduction(l)?) } else { None };
    let object = match to {
        Space::Shared => Some(next_to(l, 0, module)?),
        _ => None,
    };
    let mut place =
        |i, space| Ok::<_, Missing>(BulkPlace { space, address: address(l, i, space, module)? });
    let (to, from) = (place(0, to)?, place(1, from)?);
    let size = BulkSize::Units(l.plain(2, Width::Word)?);
    Ok(Op::BulkCopy(Box::new(BulkCopy { to, from, size, object, reduces, together: true })))
}

/// UBLKPF.L2 [UR6], UR4
pub(super) fn prefetch(l: &mut Lowering<'_, '_>, module: &Module<'_>) -> Result<Op, Missing> {
    if !l.text.take("L2") {
        return Err(Missing::Operands);
    }
    address(l, 0, Space::Global, module)?;
    l.plain(1, Width::Word)?;
    Ok(Op::Hint { address: None })
}

/// Returns the function and the type of a reduction.
fn reduction(l: &mut Lowering<'_, '_>) -> Result<(AtomicFn, Type), Missing> {
    const FUNCTIONS: [(&str, AtomicFn); 8] = [
        ("ADD", AtomicFn::Add),
        ("MIN", AtomicFn::Min),
        ("MAX", AtomicFn::Max),
        ("INC", AtomicFn::Inc),
        ("DEC", AtomicFn::Dec),
        ("AND", AtomicFn::And),
        ("OR", AtomicFn::Or),
        ("XOR", AtomicFn::Xor),
    ];
    const TYPES: [(&str, Type); 7] = [
        ("S32", Type::S32),
        ("U64", Type::U64),
        ("S64", Type::S64),
        ("F16", Type::F16),
        ("BF16", Type::BF16),
        ("F32", Type::F32),
        ("F64", Type::F64),
    ];
    let function = FUNCTIONS.into_iter().find(|(name, _)| l.text.take(name));
    let (_, f) = function.ok_or(Missing::Operands)?;
    let ty = TYPES.into_iter().find(|(name, _)| l.text.take(name));
    l.text.take("RN");
    Ok((f, ty.map_or(Type::U32, |(_, ty)| ty)))
}

/// Returns the address in the uniform register after that of operand `i`.
fn next_to(
    l: &mut Lowering<'_, '_>,
    i: usize,
    module: &Module<'_>,
) -> Result<crate::kernel::Address, Missing> {
    let Some(Operand::Address(text)) = l.text.operands.get_mut(i) else {
        return Err(Missing::Operands);
    };
    let before = *text;
    let AddressText { uniform: Some(RegisterName { number, .. }), .. } = text else {
        return Err(Missing::Operands);
    };
    *number += 1;
    let object = address(l, i, Space::Shared, module);
    l.text.operands[i] = Operand::Address(before);
    object
}
