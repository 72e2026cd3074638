//! Textures and surfaces.
//!
//! Seen in code of nvcc 13 for sm_90: a uniform register holds the object. Of the four results, the
//! ones that the mask names are in two vectors: the first two in the second operand, the others in the
//! first. Coordinates are one vector; the layer of a texture comes first, that of a surface last.

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

/// Returns the position of the object, the first uniform register from operand `from` on.
fn object(l: &mut Lowering<'_, '_>, from: usize) -> Result<(usize, Handle), Missing> {
    let operands = l.text.operands.iter().enumerate().skip(from);
    let mut found = operands.filter_map(|(i, operand)| match operand {
        Operand::Register(name, _) if name.uniform => Some((i, *name)),
        _ => None,
    });
    let (at, name) = found.next().ok_or(Missing::Operands)?;
    Ok((at, Handle::Narrow(l.read(name, Width::Word)?)))
}

/// Returns the geometry that a word after the object names.
fn geometry(l: &Lowering<'_, '_>, object: usize) -> Result<(usize, Geometry), Missing> {
    let words = l.text.operands.iter().enumerate().skip(object + 1);
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

/// TEX.LL RZ, R5, R8, R0, UR6, 0x0, 2D, 0x1
fn texture(l: &mut Lowering<'_, '_>) -> Result<Op, Missing> {
    let name = l.text.name;
    ["LL", "LZ", "LB", "SCR"].iter().for_each(|word| _ = l.text.take(word));
    let (at, handle) = object(l, 3)?;
    let (shape_at, geometry) = geometry(l, at)?;
    let mask = mask(l, shape_at + 1);
    let components = [("R", 0), ("G", 1), ("B", 2), ("A", 3)];
    let gather = match name {
        "TLD4" => {
            let found = components.into_iter().find(|(word, _)| l.text.take(word));
            Some(found.ok_or(Missing::Operands)?.1)
        }
        _ => None,
    };
    let count = geometry.coordinates() + usize::from(geometry.layered());
    let rows = l.sources(2, count as u8)?;
    let mut rows = rows.into_iter();
    let layer = if geometry.layered() { rows.next() } else { None };
    let mut coordinates = [Row(0); 3];
    coordinates.iter_mut().zip(rows).for_each(|(place, row)| *place = row);
    let mut unused = Vec::new();
    for i in 3..at {
        // Gradients are two for each coordinate.
        let count = if name == "TXD" { 2 * geometry.coordinates() as u8 } else { 1 };
        let Some(&Operand::Register(register, _)) = l.text.operands.get(i) else {
            return Err(Missing::Operands);
        };
        if register.is_zero() {
            continue;
        }
        let first = l.range(register, count)?;
        for k in 0..u16::from(count) {
            let row = Row(first.0 + k);
            record(&mut l.reads, Register::Narrow(row));
            unused.push(row);
        }
    }
    let d = results(l, mask)?;
    Ok(Op::Texture(Box::new(Texture {
        handle,
        place: Place { geometry, layer, at: coordinates },
        integer: name == "TLD",
        gather,
        d,
        unused,
    })))
}

/// TXQ RZ, R19, R19, TEX_HEADER_DIMENSION, UR4, 0x0, 0x2
fn query(l: &mut Lowering<'_, '_>) -> Result<Op, Missing> {
    let (at, handle) = object(l, 3)?;
    if l.text.operands.get(at - 1) != Some(&Operand::Word("TEX_HEADER_DIMENSION")) {
        return Err(Missing::Operands);
    }
    let mask = mask(l, at + 2);
    let property = match mask {
        1 => ImageProperty::Width,
        2 => ImageProperty::Height,
        4 => ImageProperty::Depth,
        8 => ImageProperty::Levels,
        _ => return Err(Missing::Operands),
    };
    let d = l.results(1, 1)?.ok_or(Missing::Operands)?;
    // The level, of which there is one.
    l.sources(2, 1)?;
    Ok(Op::ImageQuery(ImageQuery { handle, surface: false, property, d }))
}

/// SULD.D.BA.2D.STRONG.SM.TRAP R14, [R2], UR8, 0x0
fn surface(l: &mut Lowering<'_, '_>) -> Result<Op, Missing> {
    let (loads, reduces) = (l.text.name == "SULD", l.text.name == "SURED");
    // Accesses by element type (`.P`) are not supported.
    if !l.text.take("D") || !l.text.take("BA") {
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
    let (mut ty, mut count) = if reduces { (Type::U32, 1) } else { width(l) };
    let types = [("S32", Type::S32), ("U64", Type::U64), ("S64", Type::S64), ("64", Type::U64)];
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
    let (_, handle) = object(l, if loads { 2 } else { 1 })?;
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
        outside,
    })))
}
