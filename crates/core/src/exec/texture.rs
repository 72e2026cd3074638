//! Fetches from textures, as the CUDA C++ Programming Guide defines them ("Texture Fetching").
//!
//! A linear filter weighs the nearest texels by fractions of 8 bits, rounded to nearest; their sum
//! is rounded once. The guide leaves rounding open.

use super::arith::half::{Half, Short};
use super::image::{AddressMode, Channel, Image, ImageShape};
use super::memory::{GlobalMemory, Words};
use super::{AccessKind, Effect, Env, Fault, FaultKind, MemoryAccess, RegisterFile, access};
use crate::base::{LaneMask, MAX_LANES};
use crate::isa::Space;
use crate::kernel::{Geometry, Handle, ImageProperty, ImageQuery, Place, Row, Texture};

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
    let mut known: Option<(u64, Image)> = None;
    for lane in lanes.lanes() {
        let l = lane as usize % MAX_LANES;
        let object = object(op.handle, l, registers, env.global);
        let image = match &known {
            Some((number, image)) if *number == object => image,
            _ => {
                let image = image(op.handle, false, lane, registers, env)?;
                suits(op.place.geometry, &image, lane)?;
                &known.insert((object, image)).1
            }
        };
        let sampler = Sampler { image, memory: env.global };
        let (texels, layer) = sampler.place(&op.place, op.integer, l, registers);
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
    let bytes = known.map_or(4, |(_, image)| image.texel_bytes()) as u8;
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
}

impl Sampler<'_> {
    /// Returns the place of a lane along each axis, and its layer or face.
    fn place(
        &self,
        place: &Place,
        integer: bool,
        lane: usize,
        registers: &RegisterFile,
    ) -> ([Axis; 3], i64) {
        let bits = |row: Row| registers.narrow[usize::from(row.0)][lane];
        let layers = i64::from(self.image.size[2]);
        let layer = |row: Row| i64::from(bits(row));
        let count = place.geometry.coordinates();
        let mut axes = [Axis { first: 0, weight: 0 }; 3];
        if matches!(place.geometry, Geometry::Cube | Geometry::ACube) {
            let (face, s, t) = face(place.at.map(|row| f32::from_bits(bits(row))));
            let cube = place.layer.map_or(0, layer).min(layers / 6 - 1).max(0);
            for (axis, value) in [s, t].into_iter().enumerate() {
                axes[axis] = self.axis(value * f64::from(self.image.size[axis]));
            }
            return (axes, cube * 6 + face);
        }
        for (axis, row) in place.at.iter().copied().enumerate().take(count) {
            axes[axis] = if integer {
                Axis { first: i64::from(bits(row) as i32), weight: 0 }
            } else {
                let value = f64::from(f32::from_bits(bits(row)));
                let scale = if self.image.normalized { self.image.size[axis] } else { 1 };
                self.axis(value * f64::from(scale))
            };
        }
        (axes, place.layer.map_or(0, |row| layer(row).min(layers - 1)))
    }

    /// Returns the nearest texels of a coordinate in texels.
    fn axis(&self, at: f64) -> Axis {
        if !self.image.linear {
            return Axis { first: at.floor() as i64, weight: 0 };
        }
        nearest_two(at)
    }

    /// Returns the index of a texel on an axis; `None` for the border.
    fn index(&self, axis: usize, i: i64) -> Option<i64> {
        let size = i64::from(self.image.size[axis]);
        let inside = (0..size).contains(&i);
        if self.image.shape == ImageShape::Buffer {
            return inside.then_some(i);
        }
        match self.image.modes[axis] {
            AddressMode::Border => inside.then_some(i),
            AddressMode::Wrap if self.image.normalized => Some(i.rem_euclid(size)),
            AddressMode::Mirror if self.image.normalized => {
                let i = i.rem_euclid(2 * size);
                Some(if i < size { i } else { 2 * size - 1 - i })
            }
            // Without normalized coordinates, wrap and mirror are clamp.
            _ => Some(i.clamp(0, size - 1)),
        }
    }

    /// Returns the axes that have texels to choose from.
    fn axes(&self) -> usize {
        match self.image.shape {
            ImageShape::Buffer | ImageShape::D1 | ImageShape::A1 => 1,
            ImageShape::D2 | ImageShape::A2 | ImageShape::Cube | ImageShape::ACube => 2,
            ImageShape::D3 => 3,
        }
    }

    /// Returns the channels of a texel as they are stored, or as bits of the border colour.
    fn texel(&self, at: Texel, layer: i64, touched: &mut Vec<u64>) -> Result<[u32; 4], u64> {
        let mut place = [0u64, 0, layer as u64];
        for (axis, at) in at.into_iter().enumerate().take(self.axes()) {
            match self.index(axis, at) {
                Some(i) => place[axis] = i as u64,
                None => return Ok(self.border()),
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
        let mut channels = [0, 0, 0, self.one()];
        for (i, channel) in (0..).zip(&mut channels[..self.image.channels as usize % 5]) {
            let at = address + u64::from(i * bits / 8);
            let word = view.load(0, at) >> (8 * (at & 3));
            *channel = self.value(if bits == 32 { word } else { word & ((1 << bits) - 1) });
        }
        Ok(channels)
    }

    /// Returns the value of an absent fourth channel.
    fn one(&self) -> u32 {
        if self.image.gives_floats() { 1f32.to_bits() } else { 1 }
    }

    fn border(&self) -> [u32; 4] {
        let floats = self.image.gives_floats();
        self.image.border.map(|c| if floats { c.to_bits() } else { c as i32 as u32 })
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

    /// Fetches a texel, or filters the nearest ones.
    fn sample(&self, axes: [Axis; 3], layer: i64, touched: &mut Vec<u64>) -> Result<[u32; 4], u64> {
        if axes.iter().all(|axis| axis.weight == 0) {
            return self.texel(axes.map(|axis| axis.first), layer, touched);
        }
        let mut sums = [0f64; 4];
        for corner in 0..8 {
            let far = |axis: usize| i64::from(corner >> axis & 1);
            let weights: [i64; 3] = std::array::from_fn(|axis| match far(axis) {
                0 => 256 - axes[axis].weight,
                _ => axes[axis].weight,
            });
            let weight = weights.iter().map(|&w| w as f64 / 256.0).product::<f64>();
            if weight == 0.0 {
                continue;
            }
            let at = std::array::from_fn(|axis| axes[axis].first + far(axis));
            let channels = self.texel(at, layer, touched)?;
            for (sum, bits) in sums.iter_mut().zip(channels) {
                *sum += weight * f64::from(f32::from_bits(bits));
            }
        }
        Ok(sums.map(|sum| (sum as f32).to_bits()))
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
            *value = self.texel(at, layer, touched)?[usize::from(component) % 4];
        }
        Ok(result)
    }
}

/// Returns the texels around a coordinate in texels, whose centres are halves.
fn nearest_two(at: f64) -> Axis {
    let fixed = ((at - 0.5) * 256.0 + 0.5).floor() as i64;
    Axis { first: fixed >> 8, weight: fixed & 255 }
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

/// Executes `txq` and `suq`.
pub(super) fn query(
    op: &ImageQuery,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    env: &Env<'_>,
) -> Result<(), Fault> {
    let mut row = [0; MAX_LANES];
    for lane in lanes.lanes() {
        let l = lane as usize % MAX_LANES;
        let object = object(op.handle, l, registers, env.global);
        let Some(image) = Image::of(object, env.global) else {
            let kind = FaultKind::BadImage { object, surface: op.surface, other: false };
            return Err(Fault { lane, kind });
        };
        row[l] = property(op.property, &image);
    }
    access::put(registers, op.d, false, lanes, |lane| row[lane].into());
    Ok(())
}

fn property(property: ImageProperty, image: &Image) -> u32 {
    let [width, height, depth] = image.size;
    let layered = matches!(
        image.shape,
        ImageShape::A1 | ImageShape::A2 | ImageShape::Cube | ImageShape::ACube
    );
    let flat = matches!(image.shape, ImageShape::Buffer | ImageShape::D1 | ImageShape::A1);
    match property {
        ImageProperty::Width => width,
        ImageProperty::Height => {
            if flat {
                0
            } else {
                height
            }
        }
        ImageProperty::Depth => {
            if image.shape == ImageShape::D3 {
                depth
            } else {
                0
            }
        }
        ImageProperty::ArraySize => {
            if layered {
                depth
            } else {
                0
            }
        }
        ImageProperty::Levels => 1,
        ImageProperty::NormalizedCoords => image.normalized.into(),
        ImageProperty::ChannelOrder => match image.channels {
            1 => 0x10b0,
            2 => 0x10b2,
            _ => 0x10b5,
        },
        ImageProperty::ChannelDataType => match (image.channel, image.as_float) {
            (Channel::S8, true) => 0x10d0,
            (Channel::S16, true) => 0x10d1,
            (Channel::U8, true) => 0x10d2,
            (Channel::U16, true) => 0x10d3,
            (Channel::S8, _) => 0x10d7,
            (Channel::S16, _) => 0x10d8,
            (Channel::S32, _) => 0x10d9,
            (Channel::U8, _) => 0x10da,
            (Channel::U16, _) => 0x10db,
            (Channel::U32, _) => 0x10dc,
            (Channel::F16, _) => 0x10dd,
            (Channel::F32, _) => 0x10de,
        },
    }
}
