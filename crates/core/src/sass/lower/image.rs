//! Textures and surfaces.
//!
//! Seen in code of nvcc 13. Of the four results, the ones that the mask names are in two vectors:
//! the first two in the second operand, the others in the first. The object is in a uniform
//! register (sm_90), in constant bank 0 (`0x0, 0x58` is c[0x0][0x160]), or in a thread register,
//! which follows the coordinates (`.B`). Coordinates are one vector and the object and level
//! another; with `.SCR` all of them are halved between two vectors. The layer of a texture comes
//! first, that of a surface and of a fetch with gradients last.

use super::super::text::Operand;
use super::memory::{order, width};
use super::{Lowered, Lowering, Missing, Width, record};
use crate::isa::Type;
use crate::kernel::{
    AtomicFn, Geometry, Handle, ImageProperty, ImageQuery, Op, Outside, Place, Register, Row,
    Surface, SurfaceMove, Texture,
};

/// Lowers an instruction of the family; `Ok(None)` for others.
pub(super) fn lower(l: &mut Lowering<'_, '_>) -> Result<Option<Lowered>, Missing> {
    let op = match l.text.name {
        "TEX" | "TLD" | "TLD4" | "TXD" => texture(l)?,
        "TXQ" => query(l)?,
        "SULD" | "SUST" | "SURED" => surface(l)?,
        _ => return Ok(None),
    };
    Ok(Some(Lowered::of(op)))
}

/// Returns the object at operand `at`: a uniform register, a place in a constant bank, a register.
fn object(l: &mut Lowering<'_, '_>, at: usize) -> Result<Handle, Missing> {
    let second = l.text.operands.get(at + 1);
    let row = match (l.text.operands.get(at), second) {
        (Some(&Operand::Register(name, _)), _) => l.read(name, Width::Word)?,
        (Some(&Operand::Integer(bank)), Some(&Operand::Integer(word))) => {
            let (bank, word) = (u8::try_from(bank), u32::try_from(word));
            let (Ok(bank), Ok(word)) = (bank, word) else { return Err(Missing::Operands) };
            let offset = word.checked_mul(4).ok_or(Missing::Operands)?;
            l.rows.constant(bank, offset, 1)
        }
        _ => return Err(Missing::Operands),
    };
    Ok(Handle::Narrow(row))
}

/// Returns the first operand from `from` on that names a geometry.
fn geometry(l: &Lowering<'_, '_>, from: usize) -> Result<(usize, Geometry), Missing> {
    let words = l.text.operands.iter().enumerate().skip(from);
    let mut found = words.filter_map(|(i, operand)| match operand {
        Operand::Word(word) => Some((i, Geometry::from_name(word)?)),
        _ => None,
    });
    found.next().ok_or(Missing::Operands)
}

/// Returns the results that a mask names.
fn results(l: &mut Lowering<'_, '_>, mask: u32) -> Result<[Option<Row>; 4], Missing> {
    let count = mask.count_ones() as u8;
    let low = l.results(1, count.clamp(1, 2))?;
    let high = if count > 2 { l.results(0, count - 2)? } else { None };
    let mut d = [None; 4];
    let named = d.iter_mut().enumerate().filter(|(i, _)| mask >> i & 1 == 1);
    for ((_, d), n) in named.zip(0u16..) {
        let first = if n < 2 { low } else { high };
        *d = first.map(|row| Row(row.0 + n % 2));
    }
    Ok(d)
}

/// Returns the mask of results, which is all if none is written.
fn mask(l: &Lowering<'_, '_>, at: usize) -> u32 {
    match l.text.operands.get(at) {
        Some(Operand::Integer(mask)) => *mask as u32 & 15,
        _ => 15,
    }
}

/// TEX.LL RZ, R5, R8, R0, UR6, 0x0, 2D, 0x1 or TEX.SCR.B.LL RZ, R5, R8, R6, 2D, 0x1
fn texture(l: &mut Lowering<'_, '_>) -> Result<Op, Missing> {
    let name = l.text.name;
    let gather = if name == "TLD4" { Some(component(l)?) } else { None };
    let has_level = l.text.take("LL") || l.text.take("LB");
    ["LZ", "NDV"].iter().for_each(|word| _ = l.text.take(word));
    let (scattered, bindless) = (l.text.take("SCR"), l.text.take("B"));
    let (shape_at, geometry) = geometry(l, 3)?;
    let mask = mask(l, shape_at + 1);
    let object_at = if bindless { shape_at } else { shape_at - 2 };
    let places = geometry.coordinates() + usize::from(geometry.layered());
    let others = usize::from(bindless) + usize::from(has_level);
    let gradients = name == "TXD";
    let counts = match () {
        () if gradients => [places + usize::from(bindless), 2 * geometry.coordinates()],
        () if scattered => [(places + others).div_ceil(2), (places + others) / 2],
        () => [places, others],
    };
    let mut rows = Vec::new();
    for (i, count) in (2..object_at).zip(counts).filter(|(_, count)| *count > 0) {
        let vector = l.sources(i, u8::try_from(count).unwrap_or(4).min(4))?;
        rows.extend(vector.into_iter().take(count));
    }
    let mut rows = rows.into_iter();
    let mut next = || rows.next().ok_or(Missing::Operands);
    // With gradients the object comes first and the layer last.
    let mut handle = None;
    if gradients && bindless {
        handle = Some(Handle::Narrow(next()?));
    }
    let mut layer = if geometry.layered() && !gradients { Some(next()?) } else { None };
    let mut at = [Row(0); 3];
    for place in at.iter_mut().take(geometry.coordinates()) {
        *place = next()?;
    }
    if geometry.layered() && gradients {
        layer = Some(next()?);
    }
    if bindless && !gradients {
        handle = Some(Handle::Narrow(next()?));
    }
    let unused = rows.collect();
    let handle = handle.map_or_else(|| object(l, object_at), Ok)?;
    let d = results(l, mask)?;
    Ok(Op::Texture(Box::new(Texture {
        handle,
        place: Place { geometry, layer, at },
        integer: name == "TLD",
        gather,
        d,
        unused,
    })))
}

/// Takes the component of TLD4, which comes before `.B`.
fn component(l: &mut Lowering<'_, '_>) -> Result<u8, Missing> {
    const COMPONENTS: [&str; 4] = ["R", "G", "B", "A"];
    let of = |word: &str| COMPONENTS.iter().position(|name| *name == word);
    let found = l.text.modifiers.iter().find_map(|word| Some((*word, of(word)?)));
    let (word, component) = found.ok_or(Missing::Operands)?;
    l.text.take(word);
    Ok(component as u8)
}

/// TXQ RZ, R19, R19, TEX_HEADER_DIMENSION, UR4, 0x0, 0x2 or TXQ.B RZ, R0, R4, .., 0x1
fn query(l: &mut Lowering<'_, '_>) -> Result<Op, Missing> {
    if l.text.operands.get(3) != Some(&Operand::Word("TEX_HEADER_DIMENSION")) {
        return Err(Missing::Operands);
    }
    let bindless = l.text.take("B");
    let property = match mask(l, if bindless { 4 } else { 6 }) {
        1 => ImageProperty::Width,
        2 => ImageProperty::Height,
        4 => ImageProperty::Depth,
        8 => ImageProperty::Levels,
        _ => return Err(Missing::Operands),
    };
    // The object, if it is here, and the level, of which there is one.
    let rows = l.sources(2, if bindless { 2 } else { 1 })?;
    let handle = if bindless { Handle::Narrow(rows[0]) } else { object(l, 4)? };
    let d = l.results(1, 1)?.ok_or(Missing::Operands)?;
    Ok(Op::ImageQuery(ImageQuery { handle, surface: false, property, d }))
}

/// SULD.D.BA.2D.STRONG.SM.TRAP R14, [R2], UR8, 0x0
fn surface(l: &mut Lowering<'_, '_>) -> Result<Op, Missing> {
    let (loads, reduces) = (l.text.name == "SULD", l.text.name == "SURED");
    // `.P` stores texels: all four channels, or the first ones.
    let texel = l.text.name == "SUST" && l.text.take("P");
    let channels = match () {
        () if l.text.take("R") => 1,
        () if l.text.take("RG") => 2,
        () => 4,
    };
    let bytes = l.text.take("D") & l.text.take("BA");
    // A reduction without `.BA` counts elements.
    if !reduces && texel == bytes {
        return Err(Missing::Operands);
    }
    let names = ["1D", "2D", "3D", "1D_ARRAY", "2D_ARRAY"];
    let shape = names.into_iter().find(|name| l.text.take(name)).ok_or(Missing::Operands)?;
    let geometry = Geometry::from_name(shape).ok_or(Missing::Operands)?;
    let outside = match (l.text.take("IGN"), l.text.take("TRAP")) {
        (true, _) => Outside::Zero,
        (_, true) => Outside::Trap,
        _ => Outside::Clamp,
    };
    let functions = [
        ("ADD", AtomicFn::Add),
        ("MIN", AtomicFn::Min),
        ("MAX", AtomicFn::Max),
        ("AND", AtomicFn::And),
        ("OR", AtomicFn::Or),
    ];
    let f = functions.into_iter().filter(|_| reduces).find(|(name, _)| l.text.take(name));
    let (mut ty, mut count) = match () {
        () if reduces => (Type::U32, 1),
        () if texel => (Type::B32, channels),
        () => width(l),
    };
    let types = [
        ("S32", Type::S32),
        ("U64", Type::U64),
        ("S64", Type::S64),
        ("64", Type::U64),
        ("SD32", Type::U32),
        ("SD64", Type::U64),
    ];
    for (name, known) in types {
        if reduces && l.text.take(name) {
            ty = known;
        }
    }
    order(l);
    let address = usize::from(loads);
    let Some(&Operand::Address(text)) = l.text.operands.get(address) else {
        return Err(Missing::Operands);
    };
    let register = text.register.filter(|_| text.uniform.is_none() && text.offset == 0);
    let register = register.ok_or(Missing::Operands)?;
    let words = geometry.coordinates() + usize::from(geometry.layered());
    let first = if register.is_zero() {
        return Err(Missing::Operands);
    } else {
        l.range(register, words as u8)?
    };
    let rows: Vec<Row> = (0..words as u16).map(|i| Row(first.0 + i)).collect();
    rows.iter().for_each(|row| record(&mut l.reads, Register::Narrow(*row)));
    let layer = if geometry.layered() { rows.last().copied() } else { None };
    let mut at = [Row(0); 3];
    at.iter_mut().zip(&rows).for_each(|(place, row)| *place = *row);
    let handle = object(l, 2)?;
    let direction = if loads {
        let first = l.results(0, count)?;
        let mut d = [None; 4];
        for (d, i) in d.iter_mut().zip(0..u16::from(count)) {
            *d = first.map(|row| Row(row.0 + i));
        }
        SurfaceMove::Load(d)
    } else if let Some((_, f)) = f {
        let width = if ty.is_wide() { Width::Pair } else { Width::Word };
        count = 1;
        SurfaceMove::Reduce(f, l.plain(1, width)?)
    } else if reduces {
        return Err(Missing::Opcode);
    } else if texel {
        SurfaceMove::Texel(l.sources(1, count)?)
    } else {
        SurfaceMove::Store(l.sources(1, count)?)
    };
    Ok(Op::Surface(Box::new(Surface {
        handle,
        place: Place { geometry, layer, at },
        direction,
        ty,
        count,
        wide: false,
        pairs: ty.is_wide(),
        scaled: !bytes,
        outside,
    })))
}
