//! Loads, stores, atomics, fences.

use super::super::text::{AddressText, Operand};
use super::integer::ZERO;
use super::{Lowered, Lowering, Missing, Module, Width};
use crate::isa::{Space, Type};
use crate::kernel::{
    Access, Address, AddressBase, Atomic, AtomicFn, AtomicForm, AtomicVector, Load, MemoryOrder,
    Native, NativeAddress, NativeFn, Op, Register, Row, Scope, Source, Store,
};

/// Lowers a memory instruction; `Ok(None)` if the opcode is of another family.
pub(super) fn lower(
    l: &mut Lowering<'_, '_>,
    module: &Module<'_>,
) -> Result<Option<Lowered>, Missing> {
    let space = match l.text.name {
        "LDG" | "STG" | "ATOMG" | "REDG" | "RED" => Space::Global,
        "LD" | "ST" | "ATOM" => Space::Generic,
        "LDS" | "STS" | "ATOMS" => Space::Shared,
        "LDL" | "STL" => Space::Local,
        "LDC" | "ULDC" => return constant(l, module).map(Some),
        "QSPC" => return in_space(l, module).map(Some),
        "MEMBAR" => return Ok(Some(Lowered::of(fence(l)))),
        "ERRBAR" | "CGAERRBAR" => return Ok(Some(Lowered::of(Op::Hint { address: None }))),
        "CCTL" | "CCTLL" => return cache_control(l).map(Some),
        _ => return Ok(None),
    };
    let space = if space == Space::Global && l.text.name == "RED" && !l.text.has("E") {
        Space::Generic
    } else {
        space
    };
    let op = match l.text.name {
        "LDG" | "LD" | "LDS" | "LDL" => Op::Load(load(l, space, module)?),
        "STG" | "ST" | "STS" | "STL" => Op::Store(store(l, space, module)?),
        _ => match vector(l) {
            Some((ty, count)) => {
                let first = atomic(l, space, module, Some((ty, count)))?;
                let after = |row: Row, i: u8| Row(row.0 + u16::from(i));
                let others = (1..count).map(|i| (first.d.map(|d| after(d, i)), after(first.b, i)));
                let others = others.collect();
                Op::AtomicVector(Box::new(AtomicVector { first, others, joint: None }))
            }
            None if l.text.take("128") => {
                let first = atomic(l, space, module, Some((Type::U64, 4)))?;
                let upper = |row: Row| Row(row.0 + 2);
                let others = vec![(first.d.map(upper), upper(first.b))];
                let joint = Some(upper(first.c));
                Op::AtomicVector(Box::new(AtomicVector { first, others, joint }))
            }
            None => Op::Atomic(atomic(l, space, module, None)?),
        },
    };
    Ok(Some(Lowered::of(op)))
}

/// Reads the width of an access: element type and count of registers.
pub(super) fn width(l: &mut Lowering<'_, '_>) -> (Type, u8) {
    for (name, ty) in [("U8", Type::U8), ("S8", Type::S8), ("U16", Type::U16), ("S16", Type::S16)] {
        if l.text.take(name) {
            return (ty, 1);
        }
    }
    if l.text.take("64") {
        return (Type::B32, 2);
    }
    if l.text.take("128") {
        return (Type::B32, 4);
    }
    (Type::B32, 1)
}

/// Reads memory order and scope, and drops hints to the caches.
pub(super) fn order(l: &mut Lowering<'_, '_>) -> (MemoryOrder, Scope, bool) {
    // LDS.U stands in code for sm_75 and has the result of LDS.
    const HINTS: [&str; 14] = [
        "E", "CONSTANT", "EF", "EL", "LU", "EU", "NA", "LTC64B", "LTC128B", "LTC256B", "WEAK",
        "PRIVATE", "32", "U",
    ];
    HINTS.iter().for_each(|hint| _ = l.text.take(hint));
    // An access to a device's registers is one to memory here.
    let strong = l.text.take("STRONG") || l.text.take("MMIO");
    let scope = scope(l);
    let block = scope == Scope::Block;
    let order = if strong { MemoryOrder::Relaxed } else { MemoryOrder::Weak };
    (order, scope, strong && !block)
}

fn load(l: &mut Lowering<'_, '_>, space: Space, module: &Module<'_>) -> Result<Load, Missing> {
    let (ty, count) = width(l);
    let (order, scope, bypass_l1) = order(l);
    let first = l.results(0, count)?;
    let mut d = [None; 4];
    for (i, d) in d.iter_mut().enumerate().take(count.into()) {
        *d = first.map(|row| Row(row.0 + i as u16));
    }
    let address = address(l, 1, space, module)?;
    let access = Access { space, ty, count, wide: false, order, scope, bypass_l1 };
    Ok(Load { access, d, uniform: false, address })
}

fn store(l: &mut Lowering<'_, '_>, space: Space, module: &Module<'_>) -> Result<Store, Missing> {
    let (ty, count) = width(l);
    let (order, scope, bypass_l1) = order(l);
    let address = address(l, 0, space, module)?;
    let s = l.sources(1, count)?;
    let access = Access { space, ty, count, wide: false, order, scope, bypass_l1 };
    Ok(Store { access, s, address })
}

/// Reads the type of a vector atomic: elements in registers, and how many.
fn vector(l: &mut Lowering<'_, '_>) -> Option<(Type, u8)> {
    const TYPES: [(&str, Type, u8); 6] = [
        ("F32x2", Type::F32, 2),
        ("F32x4", Type::F32, 4),
        ("F16x4", Type::F16x2, 2),
        ("F16x8", Type::F16x2, 4),
        ("BF16x4", Type::BF16x2, 2),
        ("BF16x8", Type::BF16x2, 4),
    ];
    let found = TYPES.into_iter().find(|(name, ..)| l.text.take(name));
    found.map(|(_, ty, count)| (ty, count))
}

/// Lowers an atomic, or the first element of one on a vector of `elements`.
fn atomic(
    l: &mut Lowering<'_, '_>,
    space: Space,
    module: &Module<'_>,
    elements: Option<(Type, u8)>,
) -> Result<Atomic, Missing> {
    let reduces = matches!(l.text.name, "REDG" | "RED");
    // POPC.INC adds the number of lanes at each word, which is one for each lane.
    let form = if l.text.take("POPC") && l.text.take("INC") {
        AtomicForm::Count
    } else if l.text.take("CAST") && l.text.take("SPIN") {
        AtomicForm::Cast
    } else {
        AtomicForm::Usual
    };
    let functions = [
        ("ADD", AtomicFn::Add),
        ("MIN", AtomicFn::Min),
        ("MAX", AtomicFn::Max),
        ("AND", AtomicFn::And),
        ("OR", AtomicFn::Or),
        ("XOR", AtomicFn::Xor),
        ("INC", AtomicFn::Inc),
        ("DEC", AtomicFn::Dec),
        ("EXCH", AtomicFn::Exch),
        ("CAS", AtomicFn::Cas),
    ];
    let mut f = match form {
        AtomicForm::Count => Some(AtomicFn::Add),
        AtomicForm::Cast => Some(AtomicFn::Cas),
        AtomicForm::Usual => None,
    };
    for (name, function) in functions {
        if f.is_none() && l.text.take(name) {
            f = Some(function);
        }
    }
    let f = f.ok_or(Missing::Opcode)?;
    let (order, scope, _) = order(l);
    let types = [
        ("S32", Type::S32),
        ("S64", Type::S64),
        ("F32", Type::F32),
        ("F64", Type::F64),
        ("F16x2", Type::F16x2),
        ("BF16x2", Type::BF16x2),
        ("BF16_V2", Type::BF16x2),
        ("64", Type::U64),
        ("U32", Type::U32),
        ("U64", Type::U64),
    ];
    let (mut ty, count) = elements.unwrap_or((Type::U32, 1));
    for (name, known) in types {
        if l.text.take(name) {
            ty = known;
        }
    }
    ["FTZ", "RN"].iter().for_each(|word| _ = l.text.take(word));
    let mut at = 0;
    let mut reached = None;
    if l.is_predicate(at) {
        reached = l.result_predicate(at)?;
        at += 1;
    }
    if reached.is_some() && space != Space::Generic {
        return Err(Missing::Operands);
    }
    let words = if ty.is_wide() { Width::Pair } else { Width::Word };
    let mut d = None;
    if !reduces {
        d = if count > 1 { l.results(at, count)? } else { l.result(at, words)? };
        at += 1;
    }
    let address = address(l, at, space, module)?;
    let (b, c) = if form == AtomicForm::Count {
        (l.rows.immediate(1), Row(0))
    } else {
        let b = if count > 1 { l.sources(at + 1, count)?[0] } else { l.plain(at + 1, words)? };
        let c = match f {
            AtomicFn::Cas if count > 1 => l.sources(at + 2, count)?[0],
            AtomicFn::Cas => l.plain(at + 2, words)?,
            _ => Row(0),
        };
        (b, c)
    };
    // An atomic is strong at least within its block.
    let order = if order == MemoryOrder::Weak { MemoryOrder::Relaxed } else { order };
    let scope = if space == Space::Shared { Scope::Block } else { scope };
    Ok(Atomic { space, f, ty, order, scope, d, address, b, c, pairs: true, form, reached })
}

/// Reads the address of operand `i`.
pub(super) fn address(
    l: &mut Lowering<'_, '_>,
    i: usize,
    space: Space,
    module: &Module<'_>,
) -> Result<Address, Missing> {
    let Some(&Operand::Address(text)) = l.text.operands.get(i) else {
        return Err(Missing::Operands);
    };
    let AddressText { register, suffix, uniform, offset, .. } = text;
    let global = matches!(space, Space::Global | Space::Generic);
    let (pair, shift) = match suffix {
        Some("64") => (true, 0),
        Some("U32") => (false, 0),
        Some("X4") => (false, 2),
        Some("X8") => (false, 3),
        Some("X16") => (false, 4),
        // Atomics without a descriptor print no `.64`.
        None => (global && register.is_some(), 0),
        Some(other) => return Err(Missing::Modifier(other.to_owned())),
    };
    let width = |pair| if pair { Width::Pair } else { Width::Word };
    let register = register.filter(|name| !name.is_zero());
    let uniform = uniform.filter(|name| !name.is_zero());
    let row = register.map(|name| l.read(name, width(pair))).transpose()?;
    let uniform_pair = global;
    let uniform = uniform.map(|name| l.read(name, width(uniform_pair))).transpose()?;
    // The kernel's own shared memory follows the system's.
    let reserved = if space == Space::Shared { i64::from(module.reserved_shared) } else { 0 };
    let base = NativeAddress { row, shift, pair, uniform, uniform_pair, wide: global };
    Ok(Address { base: AddressBase::Native(base), offset: offset - reserved })
}

/// QSPC.E.G P0, RZ, [R8]: true if the generic address is in the space.
fn in_space(l: &mut Lowering<'_, '_>, module: &Module<'_>) -> Result<Lowered, Missing> {
    l.text.take("E");
    // .D is shared memory of the cluster: a block is a cluster of its own.
    let spaces =
        [("G", Space::Global), ("S", Space::Shared), ("D", Space::Shared), ("L", Space::Local)];
    let (_, space) =
        spaces.into_iter().find(|(name, _)| l.text.take(name)).ok_or(Missing::Operands)?;
    let p = l.result_predicate(0)?;
    let no_register = l.result(1, Width::Word)?.is_none();
    let Address { base: AddressBase::Native(base), offset } =
        address(l, 2, Space::Generic, module)?
    else {
        return Err(Missing::Operands);
    };
    let (None, true) = (base.uniform, no_register) else { return Err(Missing::Operands) };
    let row = base.row.unwrap_or_else(|| l.rows.row(ZERO));
    let offset = i32::try_from(offset).map_err(|_| Missing::Operands)?;
    let f = NativeFn::InSpace { space, offset };
    let s = [Source::of(row), Source::default(), Source::default()];
    let native = Native { f, s, p: [p, None], ..super::integer::native(false) };
    Ok(Lowered::of(Op::Native(Box::new(native))))
}

/// Lowers LDC and ULDC. A constant at a fixed offset has a row of its own.
fn constant(l: &mut Lowering<'_, '_>, module: &Module<'_>) -> Result<Lowered, Missing> {
    let (ty, count) = width(l);
    let Some(&Operand::Constant { bank, index, offset, .. }) = l.text.operands.get(1) else {
        return Err(Missing::Operands);
    };
    let uniform = l.text.name == "ULDC";
    if let Some(index) = index {
        let base = match bank {
            0 => 0,
            bank => module.bank(bank).ok_or(Missing::Operands)?,
        };
        if count > 2 {
            return Err(Missing::Operands);
        }
        let row = l.read(index, Width::Word)?;
        let first = l.results(0, count)?;
        let mut d = [None; 4];
        for (i, d) in d.iter_mut().enumerate().take(count.into()) {
            *d = first.map(|row| Row(row.0 + i as u16));
        }
        let native = NativeAddress {
            row: Some(row),
            shift: 0,
            pair: false,
            uniform: None,
            uniform_pair: false,
            wide: true,
        };
        let access = Access {
            space: if bank == 0 { Space::Param } else { Space::Const },
            ty,
            count,
            wide: false,
            order: MemoryOrder::Weak,
            scope: Scope::Gpu,
            bypass_l1: false,
        };
        let address = Address { base: AddressBase::Native(native), offset: base as i64 + offset };
        return Ok(Lowered::of(Op::Load(Load { access, d, uniform, address })));
    }
    let offset = u32::try_from(offset).map_err(|_| Missing::Operands)?;
    let bytes = ty.bytes() as u8;
    let source = match count {
        1 if bytes < 4 => l.rows.constant_part(bank, offset, bytes, ty.is_signed()),
        count => l.rows.constant(bank, offset, count.into()),
    };
    let (f, width) = match count {
        1 => (NativeFn::Mov, Width::Word),
        2 => (NativeFn::MovPair, Width::Pair),
        _ => return Err(Missing::Operands),
    };
    let d = l.result(0, width)?;
    let s = [Source::of(source), Source::default(), Source::default()];
    let q = [super::predicate_never(); 2];
    let native = Native { f, d, p: [None; 2], s, q, uniform };
    Ok(Lowered::of(Op::Native(Box::new(native))))
}

fn fence(l: &mut Lowering<'_, '_>) -> Op {
    let scope = scope(l);
    l.text.modifiers.clear();
    Op::Fence(scope)
}

/// Takes the scope from the modifiers; the GPU if they name none.
fn scope(l: &mut Lowering<'_, '_>) -> Scope {
    const SCOPES: [(&str, Scope); 4] =
        [("CTA", Scope::Block), ("SM", Scope::Block), ("GPU", Scope::Gpu), ("SYS", Scope::System)];
    let taken = SCOPES.iter().filter(|(name, _)| l.text.take(name));
    taken.map(|(_, scope)| *scope).last().unwrap_or(Scope::Gpu)
}

fn cache_control(l: &mut Lowering<'_, '_>) -> Result<Lowered, Missing> {
    let invalidates_l1 = l.text.take("IVALL");
    if !invalidates_l1 {
        // Other forms are hints about single lines.
        l.text.modifiers.clear();
    }
    Ok(Lowered { invalidates_l1, ..Lowered::of(Op::Hint { address: None }) })
}

impl Lowering<'_, '_> {
    /// Returns the first of `count` result rows of operand `i`; `None` for RZ.
    pub(super) fn results(&mut self, i: usize, count: u8) -> Result<Option<Row>, Missing> {
        let Some(&Operand::Register(name, _)) = self.text.operands.get(i) else {
            return Err(Missing::Operands);
        };
        if name.is_zero() {
            return Ok(None);
        }
        let row = self.range(name, count)?;
        for i in 0..u16::from(count) {
            super::record(&mut self.writes, Register::Narrow(Row(row.0 + i)));
        }
        Ok(Some(row))
    }

    /// Returns the rows of a vector source.
    pub(super) fn sources(&mut self, i: usize, count: u8) -> Result<[Row; 4], Missing> {
        let Some(&Operand::Register(name, _)) = self.text.operands.get(i) else {
            return Err(Missing::Operands);
        };
        if name.is_zero() {
            return Ok([self.rows.row(name); 4]);
        }
        let row = self.range(name, count)?;
        let mut rows = [row; 4];
        for (i, at) in rows.iter_mut().enumerate().take(count.into()) {
            *at = Row(row.0 + i as u16);
            super::record(&mut self.reads, Register::Narrow(*at));
        }
        Ok(rows)
    }

    /// Returns the row of an unmodified source.
    pub(super) fn plain(&mut self, i: usize, width: Width) -> Result<Row, Missing> {
        let source = self.source(i, width)?;
        let plain = source == Source::of(source.row);
        if plain { Ok(source.row) } else { Err(Missing::Operands) }
    }
}
