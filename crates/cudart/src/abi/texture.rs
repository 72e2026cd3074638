//! Texture and surface objects.

use super::array::Channels;
use super::context::current;
use super::{In, Out, api};
use crate::errors::{Error, Result};

/// Start of `cudaResourceDesc`, which is longer in later versions.
#[repr(C)]
#[derive(Clone, Copy)]
struct Resource {
    kind: u32,
    /// Array, or address of memory.
    first: u64,
    channels: Channels,
    /// Bytes of linear memory; width, height and pitch of pitched memory.
    sizes: [usize; 3],
}

/// Start of `cudaTextureDesc`, which is longer in later versions.
#[repr(C)]
#[derive(Clone, Copy)]
struct Sampler {
    modes: [u32; 3],
    filter: u32,
    normalizes: u32,
    srgb: u32,
    border: [u32; 4],
    normalized_coordinates: u32,
}

/// `cudaTextureDesc` of CUDA 11.0, without `seamlessCubemap`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Described {
    sampler: Sampler,
    /// Anisotropy and levels, all 0: textures have one level.
    rest: [u32; 6],
}

/// Kinds of resources.
const ARRAY: u32 = 0;
const MIPMAPPED: u32 = 1;
const LINEAR: u32 = 2;
const PITCHED: u32 = 3;

/// Flags of the driver: integers as they are, coordinates from 0 to 1, sRGB.
pub(super) const READ_AS_INTEGER: u32 = 1;
pub(super) const NORMALIZED_COORDINATES: u32 = 2;
pub(super) const SRGB: u32 = 16;

/// Returns `CUDA_RESOURCE_DESC` of a resource.
fn resource(given: &Resource) -> Result<[u64; 18]> {
    let mut words = [0; 18];
    (words[0], words[1]) = (given.kind.into(), given.first);
    match given.kind {
        // The driver refuses mipmapped arrays.
        ARRAY | MIPMAPPED => {}
        LINEAR | PITCHED => {
            let (format, channels) = given.channels.format()?;
            words[2] = u64::from(channels) << 32 | u64::from(format);
            for (word, size) in words[3..6].iter_mut().zip(given.sizes) {
                *word = size as u64;
            }
        }
        _ => return Err(Error::INVALID_VALUE),
    }
    Ok(words)
}

/// Returns the resource of a `CUDA_RESOURCE_DESC`.
fn given(words: &[u64; 18]) -> Resource {
    let (format, channels) = (words[2] as u32, (words[2] >> 32) as u32);
    let kind = words[0] as u32;
    let (format, sizes) = match kind {
        ARRAY => (0, [0; 3]),
        _ => (format, [words[3], words[4], words[5]].map(|size| size as usize)),
    };
    Resource { kind, first: words[1], channels: Channels::of(format, channels), sizes }
}

/// Returns the texture description of an object.
fn described(object: u64) -> Result<Described> {
    let mut words = [0; 26];
    current()?.cuTexObjectGetTextureDesc(&raw mut words, object)?;
    let flag = |flag: u32| u32::from(words[4] & flag != 0);
    Ok(Described {
        sampler: Sampler {
            modes: [words[0], words[1], words[2]],
            filter: words[3],
            normalizes: 1 - flag(READ_AS_INTEGER),
            srgb: flag(SRGB),
            border: [words[10], words[11], words[12], words[13]],
            normalized_coordinates: flag(NORMALIZED_COORDINATES),
        },
        rest: [0; 6],
    })
}

fn texture(out: Out<u64>, from: &In<Resource>, sampler: &In<Sampler>, view: usize) -> Result<()> {
    let driver = current()?;
    let (resource, given) = (resource(&from.get()?)?, sampler.get()?);
    let flag = |holds: bool, flag: u32| if holds { flag } else { 0 };
    let flags = flag(given.normalizes == 0, READ_AS_INTEGER)
        | flag(given.normalized_coordinates != 0, NORMALIZED_COORDINATES)
        | flag(given.srgb != 0, SRGB);
    let mut words = [0; 26];
    words[..3].copy_from_slice(&given.modes);
    (words[3], words[4]) = (given.filter, flags);
    words[10..14].copy_from_slice(&given.border);
    let mut object = 0;
    driver.cuTexObjectCreate(&raw mut object, &raw const resource, &raw const words, view)?;
    out.set(object)
}

api! {
    cudaCreateTextureObject(
        out: Out<u64>, from: In<Resource>, sampler: In<Sampler>, view: usize,
    ) {
        texture(out, &from, &sampler, view)
    }

    cudaCreateTextureObject_v2(
        out: Out<u64>, from: In<Resource>, sampler: In<Sampler>, view: usize,
    ) {
        texture(out, &from, &sampler, view)
    }

    cudaDestroyTextureObject(object: u64) {
        current()?.cuTexObjectDestroy(object)
    }

    cudaCreateSurfaceObject(out: Out<u64>, from: In<Resource>) {
        let driver = current()?;
        let resource = resource(&from.get()?)?;
        let mut object = 0;
        driver.cuSurfObjectCreate(&raw mut object, &raw const resource)?;
        out.set(object)
    }

    cudaDestroySurfaceObject(object: u64) {
        current()?.cuSurfObjectDestroy(object)
    }

    cudaGetTextureObjectResourceDesc(out: Out<Resource>, object: u64) {
        let mut words = [0; 18];
        current()?.cuTexObjectGetResourceDesc(&raw mut words, object)?;
        out.set(given(&words))
    }

    cudaGetTextureObjectTextureDesc(out: Out<Described>, object: u64) {
        out.set(described(object)?)
    }

    cudaGetTextureObjectTextureDesc_v2(out: Out<Described>, object: u64) {
        out.set(described(object)?)
    }

    cudaGetSurfaceObjectResourceDesc(out: Out<Resource>, object: u64) {
        let mut words = [0; 18];
        current()?.cuSurfObjectGetResourceDesc(&raw mut words, object)?;
        out.set(given(&words))
    }

    cudaDeviceGetTexture1DLinearMaxWidth(out: Out<usize>, channels: In<Channels>, _device: i32) {
        current()?;
        channels.get()?.format()?;
        out.set(1 << 28)
    }
}
