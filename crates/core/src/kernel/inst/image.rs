//! Textures and surfaces.

use super::{AtomicFn, Row};
use crate::isa::Type;

/// Shape of a texture or surface, as an instruction names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Geometry {
    /// `.1d`
    D1,
    /// `.2d`
    D2,
    /// `.3d`
    D3,
    /// `.a1d`: layers of one dimension.
    A1,
    /// `.a2d`: layers of two dimensions.
    A2,
    /// `.cube`
    Cube,
    /// `.acube`: layers of cubes.
    ACube,
}

impl Geometry {
    /// Returns the geometry of a word of a mnemonic.
    pub fn from_name(name: &str) -> Option<Geometry> {
        Some(match name {
            "1d" | "1D" => Geometry::D1,
            "2d" | "2D" => Geometry::D2,
            "3d" | "3D" => Geometry::D3,
            "a1d" | "ARRAY_1D" | "1D_ARRAY" => Geometry::A1,
            "a2d" | "ARRAY_2D" | "2D_ARRAY" => Geometry::A2,
            "cube" | "CUBE" => Geometry::Cube,
            "acube" | "ARRAY_CUBE" => Geometry::ACube,
            _ => return None,
        })
    }

    /// Returns the number of coordinates, without the layer.
    pub const fn coordinates(self) -> usize {
        match self {
            Geometry::D1 | Geometry::A1 => 1,
            Geometry::D2 | Geometry::A2 => 2,
            Geometry::D3 | Geometry::Cube | Geometry::ACube => 3,
        }
    }

    /// Returns true if the first coordinate is a layer.
    pub const fn layered(self) -> bool {
        matches!(self, Geometry::A1 | Geometry::A2 | Geometry::ACube)
    }

    /// Returns the name in PTX.
    pub const fn name(self) -> &'static str {
        match self {
            Geometry::D1 => "1d",
            Geometry::D2 => "2d",
            Geometry::D3 => "3d",
            Geometry::A1 => "a1d",
            Geometry::A2 => "a2d",
            Geometry::Cube => "cube",
            Geometry::ACube => "acube",
        }
    }
}

/// Operand that names a texture or surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handle {
    /// Object in a 64-bit row.
    Wide(Row),
    /// Low half of an object in a 32-bit row (machine code).
    Narrow(Row),
    /// Reference at this address: a `.texref` or `.surfref`, which holds an object.
    Reference(u64),
}

/// Layer and coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Geometry.
    pub geometry: Geometry,
    /// Layer, if the geometry has layers.
    pub layer: Option<Row>,
    /// Coordinates; the first [`Geometry::coordinates`] are valid.
    pub at: [Row; 3],
}

impl Place {
    /// Returns the rows read.
    pub fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        self.layer.into_iter().chain(self.at[..self.geometry.coordinates()].iter().copied())
    }
}

/// `tex`, `tex.level`, `tex.grad` and `tld4`: a fetch from a texture.
///
/// Textures have one level, so level and gradients choose nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// Texture.
    pub handle: Handle,
    /// Layer and coordinates.
    pub place: Place,
    /// True for integer coordinates, which count texels.
    pub integer: bool,
    /// Component of four neighbours (`tld4`); `None` for a fetch.
    pub gather: Option<u8>,
    /// Results (narrow); `None` for an unused one.
    pub d: [Option<Row>; 4],
    /// Level and gradients (narrow), read and without effect.
    pub unused: Vec<Row>,
}

/// Effect of an access outside of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// The program faults.
    Trap,
    /// The nearest place inside is accessed.
    Clamp,
    /// A load gives 0, a store has no effect.
    Zero,
}

/// Direction of an access to a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SurfaceMove {
    /// `suld.b`, with results; `None` for an unused one.
    Load([Option<Row>; 4]),
    /// `sust.b`, with values.
    Store([Row; 4]),
    /// `sust.p`, with channels, which are converted to those of the surface.
    Texel([Row; 4]),
    /// `sured`, with the operand. `.p` compares as the channels of the surface.
    Reduce(AtomicFn, Row),
}

/// `suld`, `sust` and `sured`.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Surface.
    pub handle: Handle,
    /// Layer and coordinates.
    pub place: Place,
    /// Load, store or reduction.
    pub direction: SurfaceMove,
    /// Type of an element.
    pub ty: Type,
    /// Elements per lane.
    pub count: u8,
    /// True if the elements are in 64-bit rows.
    pub wide: bool,
    /// True if 64-bit elements are in pairs of 32-bit rows (machine code).
    pub pairs: bool,
    /// True if the first coordinate counts elements or texels (`.p`), not bytes.
    pub scaled: bool,
    /// Effect of an access outside.
    pub outside: Outside,
}

/// Property of a texture or surface (`txq`, `suq`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageProperty {
    /// Width in texels.
    Width,
    /// Height in texels; 0 of one dimension.
    Height,
    /// Depth in texels; 0 of one and two dimensions.
    Depth,
    /// Number of layers.
    ArraySize,
    /// Number of levels: 1.
    Levels,
    /// Type of a channel, as a number of OpenCL.
    ChannelDataType,
    /// Channels, as a number of OpenCL.
    ChannelOrder,
    /// 1 if coordinates are normalized.
    NormalizedCoords,
}

/// `txq` and `suq`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageQuery {
    /// Texture or surface.
    pub handle: Handle,
    /// True for `suq`, which asks about a surface.
    pub surface: bool,
    /// Property.
    pub property: ImageProperty,
    /// Result (narrow).
    pub d: Row,
}
