//! Lowering of fetches from textures and of accesses to surfaces.

use super::super::operands::{Arg, Args, Value, vector_length};
use crate::isa::{FormMatch, Sem};
use crate::kernel::{
    AtomicFn, Handle, ImageProperty, ImageQuery, Op, Outside, Place, Row, Surface, SurfaceMove,
    Texture,
};

fn image(args: &Args, i: usize) -> (Handle, Option<Place>) {
    match args.args.get(i) {
        Some(Arg::Image(handle, place)) => (*handle, *place),
        other => unreachable!("isa/ptx.ron: operand {i}: expected image, found {other:?}"),
    }
}

fn placed(args: &Args, i: usize) -> (Handle, Place) {
    match image(args, i) {
        (handle, Some(place)) => (handle, place),
        (_, None) => unreachable!("only a query has no coordinates"),
    }
}

fn values(args: &Args, i: usize) -> (&[Option<Value>], bool) {
    match args.args.get(i) {
        Some(Arg::Parts(parts, wide)) => (parts, *wide),
        other => unreachable!("isa/ptx.ron: operand {i}: expected vector, found {other:?}"),
    }
}

/// Lowers `tex` and `tld4`.
pub(super) fn texture(m: &FormMatch<'_>, args: &Args) -> Op {
    let (results, _) = values(args, 0);
    let (handle, place) = placed(args, 1);
    let mut d = [None; 4];
    d.iter_mut().zip(results).for_each(|(place, value)| *place = value.map(|value| value.row));
    let gathers = m.form.opcode == "tld4";
    let unused = args.args[2..].iter().flat_map(|arg| match arg {
        Arg::Value(value) => vec![value.row],
        Arg::Parts(parts, _) => parts.iter().flatten().map(|value| value.row).collect(),
        _ => Vec::new(),
    });
    Op::Texture(Box::new(Texture {
        handle,
        place,
        integer: !m.second_type().is_float(),
        gather: m.pick(&[("r", 0), ("g", 1), ("b", 2), ("a", 3)]).filter(|_| gathers),
        d,
        unused: unused.collect(),
    }))
}

/// Lowers `txq` and `suq`.
pub(super) fn query(m: &FormMatch<'_>, args: &Args) -> Op {
    let property = m.pick(&[
        ("height", ImageProperty::Height),
        ("depth", ImageProperty::Depth),
        ("array_size", ImageProperty::ArraySize),
        ("num_mipmap_levels", ImageProperty::Levels),
        ("channel_data_type", ImageProperty::ChannelDataType),
        ("channel_order", ImageProperty::ChannelOrder),
        ("normalized_coords", ImageProperty::NormalizedCoords),
    ]);
    Op::ImageQuery(ImageQuery {
        handle: image(args, 1).0,
        surface: m.form.opcode == "suq",
        property: property.unwrap_or(ImageProperty::Width),
        d: args.row(0),
    })
}

/// Lowers `suld`, `sust` and `sured`.
pub(super) fn surface(m: &FormMatch<'_>, args: &Args) -> Op {
    let load = m.form.sem == Sem::SurfaceLoad;
    let (handle, place) = placed(args, usize::from(load));
    let scaled = m.words.iter().flatten().any(|word| *word == "p");
    let (direction, wide) = match m.form.sem {
        Sem::SurfaceLoad => {
            let (results, wide) = values(args, 0);
            let mut d = [None; 4];
            d.iter_mut().zip(results).for_each(|(place, v)| *place = v.map(|v| v.row));
            (SurfaceMove::Load(d), wide)
        }
        Sem::SurfaceStore => {
            let (sources, wide) = values(args, 1);
            let mut s = [Row(0); 4];
            s.iter_mut().zip(sources.iter().flatten()).for_each(|(place, v)| *place = v.row);
            (if scaled { SurfaceMove::Texel(s) } else { SurfaceMove::Store(s) }, wide)
        }
        _ => {
            let f = m.pick(&[
                ("min", AtomicFn::Min),
                ("max", AtomicFn::Max),
                ("and", AtomicFn::And),
                ("or", AtomicFn::Or),
            ]);
            (SurfaceMove::Reduce(f.unwrap_or(AtomicFn::Add), args.row(1)), m.ty().is_wide())
        }
    };
    let outside = m.pick(&[("clamp", Outside::Clamp), ("zero", Outside::Zero)]);
    Op::Surface(Box::new(Surface {
        handle,
        place,
        direction,
        ty: m.ty(),
        count: vector_length(m),
        wide,
        pairs: false,
        scaled,
        outside: outside.unwrap_or(Outside::Trap),
    }))
}
