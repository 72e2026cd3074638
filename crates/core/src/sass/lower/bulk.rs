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
use crate::kernel::{Address, AtomicFn, BulkCopy, BulkPlace, BulkSize, Op};

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
fn next_to(l: &mut Lowering<'_, '_>, i: usize, module: &Module<'_>) -> Result<Address, Missing> {
    let Some(&Operand::Address(first)) = l.text.operands.get(i) else {
        return Err(Missing::Operands);
    };
    let register = first.uniform.filter(|name| !name.is_zero()).ok_or(Missing::Operands)?;
    let next = RegisterName { number: register.number.saturating_add(1), ..register };
    l.text.operands[i] = Operand::Address(AddressText { uniform: Some(next), ..first });
    let object = address(l, i, Space::Shared, module);
    l.text.operands[i] = Operand::Address(first);
    object
}

#[cfg(test)]
mod tests {
    use super::super::{Lowering, Rows, lower};
    use super::*;
    use crate::kernel::{AddressBase, Row};
    use crate::sass::text;

    fn lowered(line: &str) -> Result<Op, Missing> {
        let mut rows = Rows::new(8, 16);
        let text = text::parse(line).expect("readable");
        let module = Module {
            count: 64,
            address: 0,
            start: 0,
            reserved_shared: 0,
            banks: &[],
            indirect: &[],
        };
        Ok(lower(&mut Lowering::new(text, 0, &mut rows), &module)?.op)
    }

    fn copied(line: &str) -> BulkCopy {
        match lowered(line).expect(line) {
            Op::BulkCopy(copy) => *copy,
            other => panic!("{line}: {other:?}"),
        }
    }

    /// Returns the uniform register of an address.
    fn register(address: Address) -> u16 {
        match address.base {
            AddressBase::Native(base) => base.uniform.map_or(u16::MAX, |Row(row)| row - 10),
            _ => u16::MAX,
        }
    }

    #[test]
    fn an_object_is_in_the_register_after_the_destination() {
        let copy = copied("UBLKCP.S.G [UR8], [UR10], UR4, desc[UR6]");
        let of = [copy.to.address, copy.from.address].map(register);
        assert_eq!((of, copy.object.map(register)), ([8, 10], Some(9)));
        assert_eq!(copy.size, BulkSize::Units(Row(14)));
        let copy = copied("UBLKCP.G.S [UR6], [UR5], UR4");
        let of = [copy.to.address, copy.from.address].map(register);
        assert_eq!((of, copy.object, copy.to.space), ([6, 5], None, Space::Global));
    }

    #[test]
    fn reductions_name_function_and_type() {
        for (words, f, ty) in [
            ("ADD", AtomicFn::Add, Type::U32),
            ("MIN.S64", AtomicFn::Min, Type::S64),
            ("ADD.BF16.RN", AtomicFn::Add, Type::BF16),
            ("XOR.U64", AtomicFn::Xor, Type::U64),
        ] {
            let copy = copied(&format!("UBLKRED.G.S.{words} [UR6], [UR5], UR4"));
            assert_eq!(copy.reduces, Some((f, ty)), "{words}");
        }
    }

    #[test]
    fn copies_between_blocks_are_refused() {
        let refused = |line| lowered(line).expect_err(line);
        let within = refused("UBLKCP.S.S [UR8], [UR5], UR6");
        assert_eq!(within, Missing::Modifier("S.S".to_owned()));
        assert_eq!(refused("UBLKCP [UR8], [UR5], UR6"), Missing::Operands);
    }
}
