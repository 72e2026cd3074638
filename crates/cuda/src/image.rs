//! CUDA arrays, textures and surfaces, and the table in memory that kernels find them by.

use simt_core::exec::{AddressMode, Channel, HEADER_BYTES, Image, ImageShape};
use simt_core::kernel::layout::IMAGE_TABLE;

use crate::error::Error;
use crate::memory::Use;
use crate::state::Driver;
use crate::table::Handle;

/// Flags of an array: layers, six faces of a cube.
pub(crate) const LAYERED: u32 = 1;
pub(crate) const CUBEMAP: u32 = 4;
/// Flags of a texture: integers as they are, coordinates from 0 to 1, sRGB.
pub(crate) const READ_AS_INTEGER: u32 = 1;
pub(crate) const NORMALIZED_COORDINATES: u32 = 2;
pub(crate) const SRGB: u32 = 16;
/// Most channels of a texel.
const MOST_CHANNELS: u32 = 4;
/// Bytes to which rows of an array that is not tiled are rounded up.
const ROW: u64 = 32;

/// A CUDA array.
#[derive(Debug)]
pub(crate) struct Array {
    pub(crate) image: Image,
    pub(crate) context: Handle,
    /// Width, height and depth, as the program gave them.
    pub(crate) size: [usize; 3],
    pub(crate) format: u32,
    pub(crate) flags: u32,
}

/// A texture or surface object, with the descriptors that made it.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) image: Image,
    pub(crate) resource: [u64; 18],
    pub(crate) sampler: [u32; 26],
}

/// A reference of a module to a texture or surface.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    /// Object that stands at the reference's address.
    pub(crate) object: usize,
    pub(crate) surface: bool,
    pub(crate) array: Handle,
    /// Address, width, height and pitch of linear memory; the height is 0 in one dimension.
    pub(crate) linear: Option<[u64; 4]>,
    pub(crate) format: u32,
    pub(crate) channels: u32,
    pub(crate) modes: [u32; 3],
    pub(crate) filter: u32,
    pub(crate) flags: u32,
}

/// Returns the channel type of a `CUarray_format`.
pub(crate) fn channel(format: u32) -> Result<Channel, Error> {
    Ok(match format {
        1 => Channel::U8,
        2 => Channel::U16,
        3 => Channel::U32,
        8 => Channel::S8,
        9 => Channel::S16,
        10 => Channel::S32,
        16 => Channel::F16,
        32 => Channel::F32,
        _ => return Err(Error::NOT_SUPPORTED),
    })
}

/// Says what is not simulated, and the way out.
pub(crate) fn unsimulated(what: &str, help: &str) -> Error {
    crate::say(&format!("simt-sim: {what} not simulated; {help}\n"));
    Error::NOT_SUPPORTED
}

fn mode(number: u32) -> Result<AddressMode, Error> {
    let modes = [AddressMode::Wrap, AddressMode::Clamp, AddressMode::Mirror, AddressMode::Border];
    modes.get(number as usize).copied().ok_or(Error::INVALID_VALUE)
}

/// Returns an image without memory.
pub(crate) fn plain(
    shape: ImageShape,
    format: u32,
    channels: u32,
    size: [u64; 3],
) -> Result<Image, Error> {
    if !matches!(channels, 1 | 2 | MOST_CHANNELS) {
        return Err(Error::INVALID_VALUE);
    }
    let size = size.map(|n| u32::try_from(n.max(1)));
    let [Ok(width), Ok(height), Ok(depth)] = size else { return Err(Error::INVALID_VALUE) };
    let channel = channel(format)?;
    Ok(Image {
        surface: false,
        shape,
        channel,
        channels,
        size: [width, height, depth],
        address: 0,
        pitch: u64::from(width) * u64::from(channel.bits() / 8 * channels),
        tiled: false,
        linear: false,
        modes: [AddressMode::Clamp; 3],
        normalized: false,
        as_float: false,
        border: [0.0; 4],
    })
}

/// Applies a sampler: address modes, filter, flags, border colour.
pub(crate) fn sampled(
    image: Image,
    modes: [u32; 3],
    filter: u32,
    flags: u32,
    border: [f32; 4],
) -> Result<Image, Error> {
    if flags & SRGB != 0 {
        return Err(unsimulated("sRGB in textures is", "convert colours in the kernel"));
    }
    let [x, y, z] = modes;
    let image = Image {
        modes: [mode(x)?, mode(y)?, mode(z)?],
        linear: filter == 1,
        normalized: flags & NORMALIZED_COORDINATES != 0,
        as_float: flags & READ_AS_INTEGER == 0 && image.channel.bits() < 32,
        border,
        ..image
    };
    let fetched_only = image.shape == ImageShape::Buffer;
    // The hardware filters floats alone. Linear memory in one dimension is fetched by index.
    if image.linear && !image.gives_floats() && !fetched_only {
        return Err(Error::INVALID_VALUE);
    }
    Ok(if fetched_only { Image { linear: false, normalized: false, ..image } } else { image })
}

impl Driver {
    /// Makes an array.
    pub(crate) fn create_array(
        &mut self,
        size: [usize; 3],
        format: u32,
        channels: u32,
        flags: u32,
    ) -> Result<Handle, Error> {
        let (context, _) = self.context()?;
        let [width, height, depth] = size.map(|n| n as u64);
        let shape = match (flags & LAYERED != 0, flags & CUBEMAP != 0, height, depth) {
            (_, _, _, _) if width == 0 => return Err(Error::INVALID_VALUE),
            (false, true, side, 6) if side == width => ImageShape::Cube,
            (true, true, side, n) if side == width && n % 6 == 0 && n > 0 => ImageShape::ACube,
            (_, true, ..) => return Err(Error::INVALID_VALUE),
            (true, _, 0, n) if n > 0 => ImageShape::A1,
            (true, _, _, n) if n > 0 => ImageShape::A2,
            (true, ..) => return Err(Error::INVALID_VALUE),
            (_, _, 0, 0) => ImageShape::D1,
            (_, _, _, 0) => ImageShape::D2,
            (_, _, 0, _) => return Err(Error::INVALID_VALUE),
            _ => ImageShape::D3,
        };
        let image = plain(shape, format, channels, [width, height, depth])?;
        let pitch = image.pitch.next_multiple_of(ROW);
        let mut image = Image { tiled: height > 0, pitch, ..image };
        let rows = u128::from(image.size[1].next_multiple_of(8)) * u128::from(image.size[2]);
        if rows * u128::from(pitch + 64) > u128::from(u64::MAX / 2) {
            return Err(Error::OUT_OF_MEMORY);
        }
        image.address = self.memory.allocate(image.bytes(), context)?;
        Ok(self.arrays.add(Array { image, context, size, format, flags }))
    }

    /// Frees an array.
    pub(crate) fn destroy_array(&mut self, array: Handle) -> Result<(), Error> {
        self.context()?;
        let array = self.arrays.remove(array)?;
        self.memory.free(array.image.address, &[Use::Device])
    }

    /// Adds a texture or surface and returns its object.
    pub(crate) fn add_object(&mut self, object: Object) -> u64 {
        self.images.push(Some(object));
        self.update_table();
        self.images.len() as u64
    }

    /// Removes an object.
    pub(crate) fn remove_object(&mut self, object: u64, surface: bool) -> Result<(), Error> {
        self.object(object, surface)?;
        self.images[object as usize - 1] = None;
        self.update_table();
        Ok(())
    }

    /// Returns an object.
    pub(crate) fn object(&self, object: u64, surface: bool) -> Result<&Object, Error> {
        let index = usize::try_from(object).ok().and_then(|n| n.checked_sub(1));
        let found = index.and_then(|index| self.images.get(index)).and_then(Option::as_ref);
        found.filter(|found| found.image.surface == surface).ok_or(Error::INVALID_VALUE)
    }

    /// Writes the table of headers. No launch runs.
    fn update_table(&mut self) {
        let images = self.images.iter().map(|object| object.as_ref().map(|o| &o.image));
        let words = Image::table(images);
        let bytes = HEADER_BYTES * (self.images.len() as u64 + 1);
        self.memory.hold((IMAGE_TABLE, bytes, words, false), "textures".to_owned());
    }

    /// Returns a new reference to the texture or surface variable of a module.
    pub(crate) fn reference(
        &mut self,
        module: Handle,
        name: &str,
        surface: bool,
    ) -> Result<Handle, Error> {
        let (address, bytes) = self.variable(module, name)?;
        if bytes != 8 {
            return Err(Error::NOT_FOUND);
        }
        self.images.push(None);
        let object = self.images.len();
        self.update_table();
        let number = (object as u64).to_le_bytes();
        self.memory.device_bytes(address, 8)?.copy_from_slice(&number);
        Ok(self.references.add(Reference {
            object,
            surface,
            array: 0,
            linear: None,
            format: 32,
            channels: 1,
            modes: [1; 3],
            filter: 0,
            flags: 0,
        }))
    }

    /// Changes a reference and what it is bound to.
    pub(crate) fn rebind(
        &mut self,
        reference: Handle,
        change: impl FnOnce(&mut Reference),
    ) -> Result<(), Error> {
        self.context()?;
        let mut bound = self.references.get(reference)?.clone();
        change(&mut bound);
        let image = match (bound.array, bound.linear) {
            (0, None) => None,
            (0, Some([address, width, height, pitch])) => {
                let shape = if height == 0 { ImageShape::Buffer } else { ImageShape::D2 };
                let plain = plain(shape, bound.format, bound.channels, [width, height, 1])?;
                let pitch = if pitch == 0 { plain.pitch } else { pitch };
                Some(Image { address, pitch, ..plain })
            }
            (array, _) => Some(self.arrays.get(array)?.image.clone()),
        };
        let image = match image {
            Some(image) if bound.surface => Some(Image { surface: true, ..image }),
            Some(image) => Some(sampled(image, bound.modes, bound.filter, bound.flags, [0.0; 4])?),
            None => None,
        };
        let object = image.map(|image| Object { image, resource: [0; 18], sampler: [0; 26] });
        self.images[bound.object - 1] = object;
        self.update_table();
        *self.references.get_mut(reference)? = bound;
        Ok(())
    }
}
