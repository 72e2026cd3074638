//! Fetches from textures, as the CUDA C++ Programming Guide defines them ("Texture Fetching").
//!
//! Where the guide leaves bits open, a GPU decides: 406 experiments, most of 4,096 fetches,
//! recorded in `tests/observations/h200/textures.txt`. `filter` has the arithmetic of the linear
//! filter.

mod filter;
mod query;

pub(super) use query::query;

use super::arith::half::{Half, Short};
use super::image::{AddressMode, Channel, Image, ImageShape};
use super::memory::{GlobalMemory, Words};
use super::{AccessKind, Effect, Env, Fault, FaultKind, MemoryAccess, RegisterFile, access};
use crate::base::{LaneMask, MAX_LANES};
use crate::isa::Space;
use crate::kernel::{Geometry, Handle, Place, Row, Texture};
use filter::{Corner, Pass};

/// Coordinates of a texel; the last one is the slice, layer or face.
type Texel = [i64; 3];

/// Nearest texels along one axis, and the weight of the second in 256ths.
#[derive(Clone, Copy)]
struct Axis {
    first: i64,
    weight: i64,
}

/// Returns the object that a handle has in a lane.
pub(super) fn object(
    handle: Handle,
    lane: usize,
    registers: &RegisterFile,
    memory: &GlobalMemory,
) -> u64 {
    let value = match handle {
        Handle::Wide(row) => registers.wide[usize::from(row.0)][lane],
        Handle::Narrow(row) => registers.narrow[usize::from(row.0)][lane].into(),
        Handle::Reference(address) => address,
    };
    // The address of a reference, which holds the object.
    match memory.segment(value).filter(|s| s.holds(value, 8)) {
        Some(segment) => memory.view(segment).load(lane, value).into(),
        None => value,
    }
}

/// Returns the image of a lane's object.
pub(super) fn image(
    handle: Handle,
    surface: bool,
    lane: u32,
    registers: &RegisterFile,
    env: &Env<'_>,
) -> Result<Image, Fault> {
    let object = object(handle, lane as usize % MAX_LANES, registers, env.global);
    match Image::of(object, env.global) {
        Some(image) if image.surface == surface => Ok(image),
        found => {
            let other = found.is_some();
            Err(Fault { lane, kind: FaultKind::BadImage { object, surface, other } })
        }
    }
}

/// Checks that an instruction's geometry suits the image.
pub(super) fn suits(geometry: Geometry, image: &Image, lane: u32) -> Result<(), Fault> {
    let suits = match (geometry, image.shape) {
        (Geometry::D1, shape) => matches!(shape, ImageShape::D1 | ImageShape::Buffer),
        (Geometry::D2, shape) => shape == ImageShape::D2,
        (Geometry::D3, shape) => shape == ImageShape::D3,
        (Geometry::A1, shape) => shape == ImageShape::A1,
        (Geometry::A2, shape) => match image.surface {
            // A surface has the faces of cubes as layers.
            true => matches!(shape, ImageShape::A2 | ImageShape::Cube | ImageShape::ACube),
            false => shape == ImageShape::A2,
        },
        (Geometry::Cube, shape) => shape == ImageShape::Cube,
        (Geometry::ACube, shape) => shape == ImageShape::ACube,
    };
    if suits {
        return Ok(());
    }
    Err(Fault { lane, kind: FaultKind::WrongGeometry { geometry, shape: image.shape } })
}

/// Returns the geometry of a fetch. Machine code fetches from a texture of one dimension as from
/// one of two, with 0 as the second coordinate.
fn geometry_for(op: &Texture, image: &Image) -> Geometry {
    match (op.handle, op.place.geometry, image.shape) {
        (Handle::Narrow(_), Geometry::D2, ImageShape::D1) => Geometry::D1,
        (_, geometry, _) => geometry,
    }
}

/// Executes `tex` and `tld4`.
pub(super) fn fetch(
    op: &Texture,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<Effect, Fault> {
    if lanes.is_empty() {
        return Ok(Effect::Done);
    }
    let mut results = [[0u32; MAX_LANES]; 4];
    let mut taps: Vec<[u64; MAX_LANES]> = Vec::new();
    let mut known: Option<(u64, Image, Place)> = None;
    for lane in lanes.lanes() {
        let l = lane as usize % MAX_LANES;
        let object = object(op.handle, l, registers, env.global);
        let (image, place) = match &known {
            Some((number, image, place)) if *number == object => (image, place),
            _ => {
                let image = image(op.handle, false, lane, registers, env)?;
                let place = Place { geometry: geometry_for(op, &image), ..op.place };
                suits(place.geometry, &image, lane)?;
                let (_, image, place) = known.insert((object, image, place));
                (&*image, &*place)
            }
        };
        let linear = image.linear && !op.integer || op.gather.is_some();
        let sampler = Sampler { image, memory: env.global, linear, integer: op.integer };
        let (texels, layer) = sampler.place(place, l, registers);
        let mut touched = Vec::new();
        let values = match op.gather {
            Some(component) => sampler.gather(texels, layer, component, &mut touched),
            None => sampler.sample(texels, layer, &mut touched),
        };
        let values = values.map_err(|address| Fault {
            lane,
            kind: FaultKind::OutOfBounds {
                space: Space::Global,
                address,
                bytes: image.texel_bytes() as u32,
            },
        })?;
        results.iter_mut().zip(values).for_each(|(row, value)| row[l] = value);
        for (i, &address) in touched.iter().enumerate() {
            if taps.len() <= i {
                // Lanes with fewer texels repeat their first one.
                taps.push(taps.first().copied().unwrap_or([0; MAX_LANES]));
            }
            taps[i][l] = address;
        }
        for row in taps.iter_mut().skip(touched.len().max(1)) {
            row[l] = touched.first().copied().unwrap_or(0);
        }
    }
    for (d, row) in op.d.iter().zip(&results) {
        if let Some(d) = *d {
            access::put(registers, d, false, lanes, |lane| row[lane].into());
        }
    }
    let bytes = known.as_ref().map_or(4, |(_, image, _)| image.texel_bytes()) as u8;
    if taps.is_empty() {
        return Ok(Effect::Done);
    }
    // Lanes that read the border alone touch what the lowest lane touches.
    let anywhere = |row: &[u64; MAX_LANES]| {
        lanes.lanes().map(|l| row[l as usize % MAX_LANES]).find(|&a| a != 0)
    };
    let some = taps.iter().find_map(anywhere).unwrap_or(0);
    for row in &mut taps {
        row.iter_mut().filter(|address| **address == 0).for_each(|address| *address = some);
    }
    *env.addresses = taps[0];
    env.system.taps = taps.split_off(1);
    // Quads; eight lanes of linear memory (counted on an H200).
    let (linear, filters) = known.map_or((false, false), |(_, image, _)| {
        (image.shape == ImageShape::Buffer, image.linear && !op.integer)
    });
    env.system.group = if linear { 8 } else { 4 };
    env.system.one_by_one = filters && bytes == 16;
    Ok(Effect::Image(MemoryAccess {
        space: Space::Global,
        kind: AccessKind::Read,
        lanes,
        bytes,
        bypass_l1: false,
        changed: false,
        row: false,
    }))
}

/// A texture and the memory with its texels.
struct Sampler<'a> {
    image: &'a Image,
    memory: &'a GlobalMemory,
    /// True if a coordinate lies between two texels.
    linear: bool,
    /// True for coordinates that count texels.
    integer: bool,
}

impl Sampler<'_> {
    /// Returns the place of a lane along each axis, and its layer or face.
    fn place(&self, place: &Place, lane: usize, registers: &RegisterFile) -> ([Axis; 3], i64) {
        let bits = |row: Row| registers.narrow[usize::from(row.0)][lane];
        let layers = i64::from(self.image.size[2]);
        let layer = |row: Row| i64::from(bits(row));
        let count = place.geometry.coordinates();
        let mut axes = [Axis { first: 0, weight: 0 }; 3];
        if matches!(place.geometry, Geometry::Cube | Geometry::ACube) {
            let (face, s, t) = face(place.at.map(|row| f32::from_bits(bits(row))));
            let cube = place.layer.map_or(0, layer).min(layers / 6 - 1).max(0);
            for (axis, value) in [s, t].into_iter().enumerate() {
                axes[axis] = self.between(axis, value * f64::from(self.image.size[axis]));
            }
            return (axes, cube * 6 + face);
        }
        for (axis, row) in place.at.iter().copied().enumerate().take(count) {
            axes[axis] = if self.integer {
                Axis { first: i64::from(bits(row) as i32), weight: 0 }
            } else {
                self.axis(axis, f32::from_bits(bits(row)))
            };
        }
        if self.is_flat() && self.linear && !self.integer {
            axes[1] = Axis { first: -1, weight: 128 };
        }
        let layer = place.layer.map_or(0, |row| match self.integer {
            true => i64::from(bits(row) as i32),
            false => layer(row).min(layers - 1),
        });
        (axes, layer)
    }

    /// Returns true for a texture of one dimension, which is one of two dimensions and height 1
    /// whose second coordinate is 0. The filter sees it if the second coordinate has a border.
    fn is_flat(&self) -> bool {
        self.image.shape == ImageShape::D1 && self.image.modes[1] == AddressMode::Border
    }

    /// Returns the nearest texels of a coordinate.
    ///
    /// Normalized coordinates have 21 bits after the point. If they repeat, infinity is 0.
    fn axis(&self, axis: usize, at: f32) -> Axis {
        const STEPS: f64 = (1 << 21) as f64;
        let at = if at.is_nan() { 0.0 } else { f64::from(at) };
        if !self.image.normalized {
            return self.between(axis, at);
        }
        let repeats = matches!(self.image.modes[axis], AddressMode::Wrap | AddressMode::Mirror);
        let at = match repeats {
            true if at.is_infinite() => 0.0,
            true => at.rem_euclid(2.0),
            false => at,
        };
        self.between(axis, (at * STEPS).floor() / STEPS * f64::from(self.image.size[axis]))
    }

    /// Returns the nearest texels of a coordinate in texels, whose centres are halves.
    fn between(&self, axis: usize, at: f64) -> Axis {
        if !self.linear {
            return Axis { first: at.floor() as i64, weight: 0 };
        }
        let fixed = ((at - 0.5) * 256.0 + 0.5).floor() as i64;
        let (first, weight) = (fixed >> 8, fixed & 255);
        // A clamped coordinate is that of a texel's centre.
        let last = i64::from(self.image.size[axis]) - 1;
        let outside = !(0..last).contains(&first);
        Axis { first, weight: if self.clamps(axis) && outside { 0 } else { weight } }
    }

    /// Returns true if coordinates outside are those of the nearest texel.
    ///
    /// Without normalized coordinates, wrap and mirror are clamp.
    fn clamps(&self, axis: usize) -> bool {
        match self.image.modes[axis] {
            AddressMode::Border => false,
            AddressMode::Clamp => true,
            AddressMode::Wrap | AddressMode::Mirror => !self.image.normalized,
        }
    }

    /// Returns the index of a texel on an axis; `None` for the border.
    fn index(&self, axis: usize, i: i64) -> Option<i64> {
        let size = i64::from(self.image.size[axis]);
        let inside = (0..size).contains(&i);
        // An array of one dimension has no texels for integers.
        if self.integer && self.image.shape == ImageShape::D1 {
            return None;
        }
        if self.image.shape == ImageShape::Buffer || self.integer {
            return inside.then_some(i);
        }
        match self.image.modes[axis] {
            AddressMode::Border => inside.then_some(i),
            _ if self.clamps(axis) => Some(i.clamp(0, size - 1)),
            AddressMode::Mirror => {
                let i = i.rem_euclid(2 * size);
                Some(if i < size { i } else { 2 * size - 1 - i })
            }
            _ => Some(i.rem_euclid(size)),
        }
    }

    /// Returns the axes that have texels to choose from.
    fn axes(&self) -> usize {
        match self.image.shape {
            ImageShape::D1 if self.is_flat() && self.linear => 2,
            ImageShape::Buffer | ImageShape::D1 | ImageShape::A1 => 1,
            ImageShape::D2 | ImageShape::A2 | ImageShape::Cube | ImageShape::ACube => 2,
            ImageShape::D3 => 3,
        }
    }

    /// Returns the channels of a texel as they are stored; absent ones are 0.
    fn texel(&self, at: Texel, layer: i64, touched: &mut Vec<u64>) -> Result<[u32; 4], u64> {
        if !(0..i64::from(self.image.size[2])).contains(&layer) {
            return Ok([0; 4]);
        }
        let mut place = [0u64, 0, layer as u64];
        for (axis, at) in at.into_iter().enumerate().take(self.axes()) {
            match self.index(axis, at) {
                Some(i) => place[axis] = i as u64,
                None => return Ok(self.outside()),
            }
        }
        let bytes = self.image.texel_bytes();
        let offset = self.image.offset(place[0] * bytes, place[1], place[2]);
        let address = self.image.address.wrapping_add(offset);
        let Some(segment) = self.memory.segment(address).filter(|s| s.holds(address, bytes)) else {
            return Err(address);
        };
        touched.push(address);
        let view = self.memory.view(segment);
        let bits = self.image.channel.bits();
        let mut channels = [0; 4];
        for (i, channel) in (0..).zip(&mut channels[..self.image.channels as usize % 5]) {
            let at = address + u64::from(i * bits / 8);
            let word = view.load(0, at) >> (8 * (at & 3));
            *channel = if bits == 32 { word } else { word & ((1 << bits) - 1) };
        }
        Ok(channels)
    }

    /// Returns the channels outside: those of the border colour as a texel has them.
    fn outside(&self) -> [u32; 4] {
        let mut channels = [0; 4];
        if self.image.shape != ImageShape::Buffer && !self.integer {
            let colours = self.image.border.into_iter().take(self.image.channels as usize);
            channels.iter_mut().zip(colours).for_each(|(c, colour)| *c = self.stored(colour));
        }
        channels
    }

    /// Converts a colour of the border to the bits of a channel.
    fn stored(&self, colour: f32) -> u32 {
        // Halves go down.
        let ratio = |least: f32, most: u32| {
            let scaled = f64::from(colour.clamp(least, 1.0)) * f64::from(most);
            (scaled - 0.5).ceil() as i64 as u32
        };
        let bits = match (self.image.channel, self.image.as_float) {
            (Channel::F32, _) => colour.to_bits(),
            (Channel::F16, _) => return u32::from(Half::narrow(colour.into()).0),
            (Channel::U8, true) => ratio(0.0, 255),
            (Channel::U16, true) => ratio(0.0, 65535),
            (Channel::S8, true) => ratio(-1.0, 127),
            (Channel::S16, true) => ratio(-1.0, 32767),
            _ => colour.to_bits(),
        };
        match self.image.channel.bits() {
            32 => bits,
            narrow => bits & ((1 << narrow) - 1),
        }
    }

    /// Converts a channel to the bits of a result.
    fn value(&self, bits: u32) -> u32 {
        let ratio = |value: i32, most: i32| (value as f32 / most as f32).max(-1.0).to_bits();
        match (self.image.channel, self.image.as_float) {
            (Channel::F32 | Channel::U32 | Channel::S32, _) => bits,
            (Channel::F16, _) => half(bits as u16).to_bits(),
            (Channel::U8, true) => ratio(bits as i32, 255),
            (Channel::U16, true) => ratio(bits as i32, 65535),
            (Channel::S8, true) => ratio((bits as i8).into(), 127),
            (Channel::S16, true) => ratio((bits as i16).into(), 32767),
            (Channel::U8 | Channel::U16, false) => bits,
            (Channel::S8, false) => i32::from(bits as i8) as u32,
            (Channel::S16, false) => i32::from(bits as i16) as u32,
        }
    }

    /// Converts the channels that the texture has; others are 0.
    fn values(&self, channels: [u32; 4]) -> [u32; 4] {
        let has = self.image.channels as usize;
        std::array::from_fn(|i| if i < has { self.value(channels[i]) } else { 0 })
    }

    /// Fetches a texel, or filters the nearest ones.
    fn sample(&self, axes: [Axis; 3], layer: i64, touched: &mut Vec<u64>) -> Result<[u32; 4], u64> {
        if !self.linear {
            return Ok(self.values(self.texel(axes.map(|axis| axis.first), layer, touched)?));
        }
        let weights = filter::weights(axes.map(|axis| axis.weight));
        let mut texels = [[0; 4]; 8];
        let mut corners = [Corner::default(); 8];
        for (i, weight) in weights.into_iter().enumerate() {
            let far = |axis: usize| i64::from(i >> axis & 1 == 1);
            // A texel beside one that the coordinate meets is not read.
            if (0..3).any(|axis| far(axis) == 1 && axes[axis].weight == 0) {
                continue;
            }
            let at = std::array::from_fn(|axis| axes[axis].first + far(axis));
            texels[i] = self.texel(at, layer, touched)?;
            corners[i] = Corner { weight, read: true };
        }
        let mut results = [0; 4];
        for (c, result) in results.iter_mut().enumerate().take(self.image.channels as usize) {
            let of = texels.map(|texel| texel[c]);
            *result = match self.image.channel {
                Channel::F32 => filter::floats(&corners, &of.map(single), Pass::SINGLE),
                Channel::F16 => {
                    filter::floats(&corners, &of.map(|bits| half(bits as u16).into()), Pass::HALF)
                }
                channel => filter::ratio(&corners, &of, channel),
            };
        }
        Ok(results)
    }

    /// Gathers one component of four neighbours, from the lower left counter-clockwise.
    fn gather(
        &self,
        axes: [Axis; 3],
        layer: i64,
        component: u8,
        touched: &mut Vec<u64>,
    ) -> Result<[u32; 4], u64> {
        let mut result = [0; 4];
        for (value, (x, y)) in result.iter_mut().zip([(0, 1), (1, 1), (1, 0), (0, 0)]) {
            let at = [axes[0].first + x, axes[1].first + y, 0];
            let channels = self.values(self.texel(at, layer, touched)?);
            *value = channels[usize::from(component) % 4];
        }
        Ok(result)
    }
}

/// Returns the face that a direction meets, with coordinates from 0 to 1 on it.
fn face([x, y, z]: [f32; 3]) -> (i64, f64, f64) {
    let [ax, ay, az] = [x.abs(), y.abs(), z.abs()];
    let (face, s, t, most) = if ax >= ay && ax >= az {
        if x >= 0.0 { (0, -z, -y, ax) } else { (1, z, -y, ax) }
    } else if ay >= az {
        if y >= 0.0 { (2, x, z, ay) } else { (3, x, -z, ay) }
    } else if z >= 0.0 {
        (4, x, -y, az)
    } else {
        (5, -x, -y, az)
    };
    let on = |value: f32| {
        if most == 0.0 { 0.5 } else { (f64::from(value) / f64::from(most) + 1.0) / 2.0 }
    };
    (face, on(s), on(t))
}

/// Returns the value of a half.
fn half(bits: u16) -> f32 {
    Half(bits).widen() as f32
}

/// Returns the value of an f32; the filter flushes subnormals.
fn single(bits: u32) -> f64 {
    let value = f32::from_bits(bits);
    f64::from(if value.is_subnormal() { 0f32.copysign(value) } else { value })
}
