//! Textures and surfaces in memory: what their objects name, and where a texel lies.
//!
//! An object is the number of a header in a table at [`IMAGE_TABLE`], as in hardware. A CUDA array
//! of two or three dimensions is tiled as hardware tiles it: blocks of 64 bytes in 8 rows, whose
//! 32-byte sectors hold 16 bytes of 2 rows (open-source drivers document this; NVIDIA does not).

use super::memory::{GlobalMemory, Words};
use crate::isa::Type;
use crate::kernel::layout::{IMAGE_TABLE, IMAGES};

/// Bytes of a header.
pub const HEADER_BYTES: u64 = 128;
/// First word of a header.
const MARK: u32 = 0x4547_414d;

/// Shape of a texture or surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are PTX's; a buffer is linear memory")]
pub enum ImageShape {
    Buffer,
    D1,
    D2,
    D3,
    A1,
    A2,
    Cube,
    ACube,
}

impl ImageShape {
    const ALL: [ImageShape; 8] = {
        use ImageShape::*;
        [Buffer, D1, D2, D3, A1, A2, Cube, ACube]
    };
}

/// Type of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "names of types")]
pub enum Channel {
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
    F16,
    F32,
}

impl Channel {
    const ALL: [Channel; 8] = {
        use Channel::*;
        [U8, S8, U16, S16, U32, S32, F16, F32]
    };

    /// Returns the width in bits.
    pub const fn bits(self) -> u32 {
        match self {
            Channel::U8 | Channel::S8 => 8,
            Channel::U16 | Channel::S16 | Channel::F16 => 16,
            Channel::U32 | Channel::S32 | Channel::F32 => 32,
        }
    }

    /// Returns true for floats.
    pub const fn is_float(self) -> bool {
        matches!(self, Channel::F16 | Channel::F32)
    }

    /// Returns true for integers with a sign.
    pub const fn is_signed(self) -> bool {
        matches!(self, Channel::S8 | Channel::S16 | Channel::S32)
    }

    /// Returns the channel type of a buffer's elements, if it has one.
    pub const fn of(ty: Type) -> Option<Channel> {
        Some(match ty {
            Type::U8 | Type::B8 => Channel::U8,
            Type::S8 => Channel::S8,
            Type::U16 | Type::B16 => Channel::U16,
            Type::S16 => Channel::S16,
            Type::U32 | Type::B32 => Channel::U32,
            Type::S32 => Channel::S32,
            Type::F16 => Channel::F16,
            Type::F32 => Channel::F32,
            _ => return None,
        })
    }
}

/// Treatment of coordinates outside of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "CUDA's names")]
pub enum AddressMode {
    Wrap,
    Clamp,
    Mirror,
    Border,
}

impl AddressMode {
    const ALL: [AddressMode; 4] =
        [AddressMode::Wrap, AddressMode::Clamp, AddressMode::Mirror, AddressMode::Border];
}

/// Header: a texture or surface with its memory and its sampler.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// True for a surface.
    pub surface: bool,
    /// Shape.
    pub shape: ImageShape,
    /// Type of a channel.
    pub channel: Channel,
    /// Channels of a texel: 1, 2 or 4.
    pub channels: u32,
    /// Width, height and depth, or number of layers (faces of all cubes), in texels; at least 1.
    pub size: [u32; 3],
    /// Address of the first texel.
    pub address: u64,
    /// Bytes from row to row, if the memory is not tiled.
    pub pitch: u64,
    /// True for the tiled memory of a CUDA array.
    pub tiled: bool,
    /// True for linear filtering.
    pub linear: bool,
    /// Treatment of each coordinate outside.
    pub modes: [AddressMode; 3],
    /// True if float coordinates run from 0 to 1.
    pub normalized: bool,
    /// True if integers are read as floats from 0 or -1 to 1.
    pub as_float: bool,
    /// Colour outside, with [`AddressMode::Border`].
    pub border: [f32; 4],
}

impl Image {
    /// Returns the bytes of a texel.
    pub fn texel_bytes(&self) -> u64 {
        u64::from(self.channel.bits() / 8 * self.channels)
    }

    /// Returns true if a fetch gives floats.
    pub fn gives_floats(&self) -> bool {
        self.channel.is_float() || self.as_float && self.channel.bits() < 32
    }

    /// Returns the bytes from one slice or layer to the next.
    pub fn slice_bytes(&self) -> u64 {
        let rows = u64::from(self.size[1]);
        if self.tiled { self.tiles() * 512 * rows.div_ceil(8) } else { self.pitch * rows }
    }

    /// Returns the bytes of all texels in memory.
    pub fn bytes(&self) -> u64 {
        self.slice_bytes() * u64::from(self.size[2])
    }

    /// Returns the tiles of a row.
    fn tiles(&self) -> u64 {
        (u64::from(self.size[0]) * self.texel_bytes()).div_ceil(64)
    }

    /// Returns the offset of byte `x` of row `y` of slice `z`.
    pub fn offset(&self, x: u64, y: u64, z: u64) -> u64 {
        let slice = z * self.slice_bytes();
        if !self.tiled {
            return slice + y * self.pitch + x;
        }
        let tile = (y / 8 * self.tiles() + x / 64) * 512;
        let half = x % 64 / 32 * 256 + y % 8 / 2 * 64;
        slice + tile + half + x % 32 / 16 * 32 + y % 2 * 16 + x % 16
    }

    /// Returns the header's words.
    pub fn encode(&self) -> Vec<u32> {
        let mut words = vec![
            MARK,
            u32::from(self.surface),
            self.shape as u32,
            self.channel as u32,
            self.channels,
            u32::from(self.tiled),
            u32::from(self.linear),
            u32::from(self.normalized),
            u32::from(self.as_float),
        ];
        words.extend(self.size);
        words.extend(self.modes.map(|mode| mode as u32));
        words.extend(self.border.map(f32::to_bits));
        for long in [self.address, self.pitch] {
            words.extend([long as u32, (long >> 32) as u32]);
        }
        words.resize((HEADER_BYTES / 4) as usize, 0);
        words
    }

    /// Reads a header; `None` if the words are none.
    pub fn decode(words: &[u32]) -> Option<Image> {
        let word = |i: usize| words.get(i).copied();
        if word(0)? != MARK {
            return None;
        }
        let long = |i: usize| Some(u64::from(word(i + 1)?) << 32 | u64::from(word(i)?));
        let mode = |i: usize| AddressMode::ALL.get(word(i)? as usize).copied();
        let flag = |i: usize| word(i).map(|word| word != 0);
        let colour = |i: usize| word(i).map(f32::from_bits);
        Some(Image {
            surface: flag(1)?,
            shape: *ImageShape::ALL.get(word(2)? as usize)?,
            channel: *Channel::ALL.get(word(3)? as usize)?,
            channels: word(4)?.clamp(1, 4),
            tiled: flag(5)?,
            linear: flag(6)?,
            normalized: flag(7)?,
            as_float: flag(8)?,
            size: [word(9)?.max(1), word(10)?.max(1), word(11)?.max(1)],
            modes: [mode(12)?, mode(13)?, mode(14)?],
            border: [colour(15)?, colour(16)?, colour(17)?, colour(18)?],
            address: long(19)?,
            pitch: long(21)?,
        })
    }

    /// Returns the words of the table of these images, whose objects are 1, 2 and so on.
    ///
    /// `None` is an object that was destroyed.
    pub fn table<'a>(images: impl Iterator<Item = Option<&'a Image>>) -> Vec<u32> {
        let none = || vec![0; (HEADER_BYTES / 4) as usize];
        let headers = images.map(|image| image.map_or_else(none, Image::encode));
        std::iter::once(none()).chain(headers).flatten().collect()
    }

    /// Returns the image of an object.
    pub(super) fn of(object: u64, memory: &GlobalMemory) -> Option<Image> {
        if object == 0 || object >= IMAGES {
            return None;
        }
        let address = IMAGE_TABLE + object * HEADER_BYTES;
        let segment = memory.segment(address).filter(|s| s.holds(address, HEADER_BYTES))?;
        let view = memory.view(segment);
        let words: Vec<u32> =
            (0..HEADER_BYTES / 4).map(|i| view.load(0, address + 4 * i)).collect();
        Image::decode(&words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(tiled: bool) -> Image {
        Image {
            surface: false,
            shape: ImageShape::D3,
            channel: Channel::U16,
            channels: 2,
            size: [37, 19, 3],
            address: 0x7_0000_0000,
            pitch: 148,
            tiled,
            linear: true,
            modes: [AddressMode::Wrap, AddressMode::Border, AddressMode::Mirror],
            normalized: true,
            as_float: true,
            border: [0.5, -1.0, 0.0, 2.0],
        }
    }

    #[test]
    fn headers_keep_everything() {
        for tiled in [false, true] {
            assert_eq!(Image::decode(&image(tiled).encode()), Some(image(tiled)));
        }
        assert_eq!(Image::decode(&[0; 32]), None);
    }

    #[test]
    fn every_byte_has_a_place_of_its_own() {
        for tiled in [false, true] {
            let image = image(tiled);
            let mut seen = vec![false; image.bytes() as usize];
            for z in 0..3 {
                for y in 0..19 {
                    for x in 0..148 {
                        let at = image.offset(x, y, z) as usize;
                        assert!(!std::mem::replace(&mut seen[at], true), "{x} {y} {z}");
                    }
                }
            }
        }
        // A sector of tiled memory has 16 bytes of two rows.
        let image = image(true);
        let sector = |x, y| image.offset(x, y, 0) / 32;
        assert_eq!(sector(0, 0), sector(15, 1));
        assert_ne!(sector(0, 0), sector(16, 0));
        assert_ne!(sector(0, 0), sector(0, 2));
    }
}
