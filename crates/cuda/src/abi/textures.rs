//! Texture and surface objects, and references to them.

use simt_core::exec::{Image, ImageShape};

use super::entry_points;
use super::pointer::{In, Out};
use crate::error::Error;
use crate::image::{Object, plain, sampled, unsimulated};
use crate::state::{Driver, driver};
use crate::table::Handle;

/// `CUDA_RESOURCE_DESC` in words of 64 bits.
type Resource = [u64; 18];
/// `CUDA_TEXTURE_DESC` in words of 32 bits.
type Sampler = [u32; 26];

/// Kinds of `CUDA_RESOURCE_DESC`.
const ARRAY: u32 = 0;
const MIPMAPPED: u32 = 1;
const LINEAR: u32 = 2;
const PITCHED: u32 = 3;

/// Returns the texels that a resource names.
fn texels(driver: &Driver, resource: &Resource) -> Result<Image, Error> {
    let [kind, first, format, third, fourth, fifth] = resource[..6] else {
        return Err(Error::INVALID_VALUE);
    };
    let (format, channels) = (format as u32, (format >> 32) as u32);
    match kind as u32 {
        ARRAY => Ok(driver.arrays.get(first)?.image.clone()),
        LINEAR => {
            let one = plain(ImageShape::Buffer, format, channels, [1; 3])?;
            let width = third / one.texel_bytes();
            let image = plain(ImageShape::Buffer, format, channels, [width, 1, 1])?;
            Ok(Image { address: first, ..image })
        }
        PITCHED => {
            let image = plain(ImageShape::D2, format, channels, [third, fourth, 1])?;
            if fifth < image.pitch {
                return Err(Error::INVALID_VALUE);
            }
            Ok(Image { address: first, pitch: fifth, ..image })
        }
        MIPMAPPED => Err(unsimulated("mipmapped arrays are", "make an array, which has one level")),
        _ => Err(Error::INVALID_VALUE),
    }
}

fn texture(
    out: Out<u64>,
    resource: In<Resource>,
    sampler: In<Sampler>,
    view: usize,
) -> Result<(), Error> {
    let mut driver = driver()?;
    driver.context()?;
    out.check()?;
    let (resource, sampler) = (resource.get()?, sampler.get()?);
    if view != 0 {
        return Err(unsimulated("views of resources are", "make the texture without a view"));
    }
    let [x, y, z, filter, flags] = sampler[..5] else { return Err(Error::INVALID_VALUE) };
    let border = [10, 11, 12, 13].map(|i: usize| f32::from_bits(sampler[i]));
    let image = sampled(texels(&driver, &resource)?, [x, y, z], filter, flags, border)?;
    out.set(driver.add_object(Object { image, resource, sampler }))
}

/// Changes a reference.
fn rebind(
    reference: Handle,
    change: impl FnOnce(&mut crate::image::Reference),
) -> Result<(), Error> {
    driver()?.rebind(reference, change)
}

entry_points! {
    fn cuTexObjectCreate(
        out: Out<u64>, resource: In<Resource>, sampler: In<Sampler>, view: usize,
    ) {
        texture(out, resource, sampler, view)
    }

    fn cuTexObjectDestroy(object: u64) {
        driver()?.remove_object(object, false)
    }

    fn cuTexObjectGetResourceDesc(out: Out<Resource>, object: u64) {
        out.set(driver()?.object(object, false)?.resource)
    }

    fn cuTexObjectGetTextureDesc(out: Out<Sampler>, object: u64) {
        out.set(driver()?.object(object, false)?.sampler)
    }

    fn cuSurfObjectCreate(out: Out<u64>, resource: In<Resource>) {
        let mut driver = driver()?;
        driver.context()?;
        out.check()?;
        let resource = resource.get()?;
        if resource[0] as u32 != ARRAY {
            return Err(Error::INVALID_VALUE);
        }
        let image = Image { surface: true, ..texels(&driver, &resource)? };
        out.set(driver.add_object(Object { image, resource, sampler: [0; 26] }))
    }

    fn cuSurfObjectDestroy(object: u64) {
        driver()?.remove_object(object, true)
    }

    fn cuSurfObjectGetResourceDesc(out: Out<Resource>, object: u64) {
        out.set(driver()?.object(object, true)?.resource)
    }

    fn cuModuleGetTexRef(out: Out<Handle>, module: Handle, name: In<u8>) {
        let mut driver = driver()?;
        out.check()?;
        out.set(driver.reference(module, &name.text()?, false)?)
    }

    fn cuModuleGetSurfRef(out: Out<Handle>, module: Handle, name: In<u8>) {
        let mut driver = driver()?;
        out.check()?;
        out.set(driver.reference(module, &name.text()?, true)?)
    }

    fn cuTexRefSetArray(reference: Handle, array: Handle, _flags: u32) {
        rebind(reference, |r| (r.array, r.linear) = (array, None))
    }

    fn cuSurfRefSetArray(reference: Handle, array: Handle, _flags: u32) {
        rebind(reference, |r| (r.array, r.linear) = (array, None))
    }

    fn cuTexRefSetAddress_v2(offset: Out<usize>, reference: Handle, address: u64, bytes: usize) {
        let texel = {
            let driver = driver()?;
            let r = driver.references.get(reference)?;
            plain(ImageShape::Buffer, r.format, r.channels, [1; 3])?.texel_bytes()
        };
        let linear = [address, bytes as u64 / texel, 0, 0];
        rebind(reference, |r| (r.array, r.linear) = (0, Some(linear)))?;
        offset.set_if(0)
    }

    fn cuTexRefSetAddress2D_v3(
        reference: Handle, descriptor: In<[u64; 3]>, address: u64, pitch: usize,
    ) {
        let [width, height, format] = descriptor.get()?;
        rebind(reference, |r| {
            (r.format, r.channels) = (format as u32, (format >> 32) as u32);
            (r.array, r.linear) = (0, Some([address, width, height, pitch as u64]));
        })
    }

    fn cuTexRefSetFormat(reference: Handle, format: u32, channels: i32) {
        rebind(reference, |r| (r.format, r.channels) = (format, channels as u32))
    }

    fn cuTexRefSetAddressMode(reference: Handle, axis: i32, mode: u32) {
        let axis = usize::try_from(axis).ok().filter(|axis| *axis < 3);
        let axis = axis.ok_or(Error::INVALID_VALUE)?;
        rebind(reference, |r| r.modes[axis] = mode)
    }

    fn cuTexRefSetFilterMode(reference: Handle, filter: u32) {
        rebind(reference, |r| r.filter = filter)
    }

    fn cuTexRefSetFlags(reference: Handle, flags: u32) {
        rebind(reference, |r| r.flags = flags)
    }

    fn cuTexRefGetArray(out: Out<Handle>, reference: Handle) {
        let array = driver()?.references.get(reference)?.array;
        if array == 0 { Err(Error::INVALID_VALUE) } else { out.set(array) }
    }

    fn cuTexRefGetAddressMode(out: Out<u32>, reference: Handle, axis: i32) {
        let modes = driver()?.references.get(reference)?.modes;
        let found = usize::try_from(axis).ok().and_then(|axis| modes.get(axis).copied());
        out.set(found.ok_or(Error::INVALID_VALUE)?)
    }

    fn cuTexRefGetFilterMode(out: Out<u32>, reference: Handle) {
        out.set(driver()?.references.get(reference)?.filter)
    }

    fn cuTexRefGetFlags(out: Out<u32>, reference: Handle) {
        out.set(driver()?.references.get(reference)?.flags)
    }

    fn cuTexRefGetFormat(format: Out<u32>, channels: Out<i32>, reference: Handle) {
        let driver = driver()?;
        let r = driver.references.get(reference)?;
        format.set_if(r.format)?;
        channels.set_if(r.channels as i32)
    }
}
