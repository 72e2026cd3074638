//! Bulk copies.
//!
//! Seen in code of nvcc 13 for sm_90: UBLKCP names by its modifiers where it writes and reads, and
//! UBLKRED further what it does with which elements. A destination in shared memory is a pair of
//! uniform registers, whose second one has the address of the barrier object. The size is in units
//! of 16 bytes in the lower half of its register. A warp executes the instruction once: where lanes
//! may differ, ELECT selects them one by one in a loop.
//!
//! UTMALDG, UTMASTG and UTMAREDG copy tiles of tensors. Their first operand is the first of
//! consecutive uniform registers: address in shared memory, address of the barrier object (UTMALDG
//! alone), coordinates. The second one is a pair with the address of the tensor map.

use super::super::text::{AddressText, Operand, RegisterName};
use super::memory::address;
use super::{Lowering, Missing, Module, Width};
use crate::isa::{Space, Type};
use crate::kernel::{
    Address, AddressBase, AtomicFn, BulkCopy, BulkPlace, BulkShape, MAX_RANK, Op, Row, TileAt,
};

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
        Space::Shared => Some(after(l, 0, 1, module)?),
        _ => None,
    };
    let mut place =
        |i, space| Ok::<_, Missing>(BulkPlace { space, address: address(l, i, space, module)? });
    let (to, from) = (place(0, to)?, place(1, from)?);
    let ty = reduces.map_or(Type::B32, |(_, ty)| ty);
    let (shape, reduces) =
        (BulkShape::Units(l.plain(2, Width::Word)?, ty), reduces.map(|(f, _)| f));
    Ok(Op::BulkCopy(Box::new(BulkCopy { to, from, shape, object, reduces, together: true })))
}

/// UTMALDG.2D [UR8], [UR4], desc[UR6]; UTMASTG.2D [UR8], [UR6]; UTMAREDG.2D.ADD [UR8], [UR6].
pub(super) fn tile(l: &mut Lowering<'_, '_>, module: &Module<'_>) -> Result<Op, Missing> {
    let rank = rank(l)?;
    let loads = l.text.name == "UTMALDG";
    let reduces = if l.text.name == "UTMAREDG" { Some(function(l)?) } else { None };
    let shared = BulkPlace { space: Space::Shared, address: address(l, 0, Space::Shared, module)? };
    let map = BulkPlace { space: Space::Global, address: address(l, 1, Space::Global, module)? };
    let object = if loads { Some(after(l, 0, 1, module)?) } else { None };
    let mut coordinates = [Row(0); MAX_RANK];
    for (i, row) in coordinates.iter_mut().enumerate().take(rank) {
        *row = register_after(l, 0, i as u8 + if loads { 2 } else { 1 }, module)?;
    }
    let shape = BulkShape::Tile(TileAt { coordinates, rank: rank as u8 });
    let (to, from) = if loads { (shared, map) } else { (map, shared) };
    Ok(Op::BulkCopy(Box::new(BulkCopy { to, from, shape, object, reduces, together: true })))
}

/// UTMAPF.L2.2D [UR4], [UR6]; UTMACCTL.PF [UR6], UTMACCTL.IV [UR6].
pub(super) fn cached(l: &mut Lowering<'_, '_>, module: &Module<'_>) -> Result<Op, Missing> {
    let fetches_tile = l.text.name == "UTMAPF";
    let known = match fetches_tile {
        true => l.text.take("L2") && rank(l).is_ok(),
        false => l.text.take("PF") || l.text.take("IV"),
    };
    if !known {
        return Err(Missing::Operands);
    }
    let map = usize::from(fetches_tile);
    address(l, map, Space::Global, module)?;
    Ok(Op::Hint { address: None })
}

/// Returns the number of dimensions.
fn rank(l: &mut Lowering<'_, '_>) -> Result<usize, Missing> {
    let names = ["1D", "2D", "3D", "4D", "5D"];
    let found = names.iter().position(|name| l.text.take(name));
    found.map(|found| found + 1).ok_or(Missing::Operands)
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
    const TYPES: [(&str, Type); 7] = [
        ("S32", Type::S32),
        ("U64", Type::U64),
        ("S64", Type::S64),
        ("F16", Type::F16),
        ("BF16", Type::BF16),
        ("F32", Type::F32),
        ("F64", Type::F64),
    ];
    let f = function(l)?;
    let ty = TYPES.into_iter().find(|(name, _)| l.text.take(name));
    l.text.take("RN");
    Ok((f, ty.map_or(Type::U32, |(_, ty)| ty)))
}

/// Returns the function of a reduction.
fn function(l: &mut Lowering<'_, '_>) -> Result<AtomicFn, Missing> {
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
    let function = FUNCTIONS.into_iter().find(|(name, _)| l.text.take(name));
    function.map(|(_, f)| f).ok_or(Missing::Operands)
}

/// Returns the address in shared memory that is in the `n`th uniform register after that of operand
/// `i`.
fn after(
    l: &mut Lowering<'_, '_>,
    i: usize,
    n: u8,
    module: &Module<'_>,
) -> Result<Address, Missing> {
    let Some(&Operand::Address(first)) = l.text.operands.get(i) else {
        return Err(Missing::Operands);
    };
    let register = first.uniform.filter(|name| !name.is_zero()).ok_or(Missing::Operands)?;
    let next = RegisterName { number: register.number.saturating_add(n), ..register };
    l.text.operands[i] = Operand::Address(AddressText { uniform: Some(next), ..first });
    let found = address(l, i, Space::Shared, module);
    l.text.operands[i] = Operand::Address(first);
    found
}

/// Returns the `n`th uniform register after that of operand `i`.
fn register_after(
    l: &mut Lowering<'_, '_>,
    i: usize,
    n: u8,
    module: &Module<'_>,
) -> Result<Row, Missing> {
    match after(l, i, n, module)?.base {
        AddressBase::Native(base) => base.uniform.ok_or(Missing::Operands),
        _ => Err(Missing::Operands),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Lowering, Rows, lower};
    use super::*;
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
        assert_eq!(copy.shape, BulkShape::Units(Row(14), Type::B32));
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
            assert_eq!(copy.reduces, Some(f), "{words}");
            assert_eq!(copy.shape, BulkShape::Units(Row(14), ty), "{words}");
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
