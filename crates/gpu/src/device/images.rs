//! Textures and surfaces of a launch on the device: arrays with the texels of buffers.
//!
//! A program file shapes a buffer as a texture or surface, and its kernel takes the object. Here an
//! array receives the buffer's texels before the launch, and a surface's array gives them back. A
//! texture in linear memory is the buffer itself.

use super::super::DeviceError;
use super::{Allocation, refused};
use cudarc::driver::sys;
use simt_core::exec::{AddressMode, Channel, HEADER_BYTES, Image, ImageShape};
use simt_core::kernel::layout::IMAGE_TABLE;
use simt_core::launch::Launch;
use std::ptr::{null, null_mut};

/// The array, the object and the place of the texels of one texture or surface.
struct Shaped {
    /// Null for linear memory.
    array: sys::CUarray,
    object: u64,
    surface: bool,
    /// Index of the buffer.
    buffer: usize,
    copy: sys::CUDA_MEMCPY3D,
}

/// Textures and surfaces of a launch, in the order of their objects, which count from 1.
pub(super) struct Images(Vec<Shaped>);

impl Images {
    /// Makes the textures and surfaces whose headers are in the launch's table.
    pub(super) fn of(launch: &Launch, memory: &[Allocation]) -> Result<Images, DeviceError> {
        let mut images = Images(Vec::new());
        let table = launch.buffers.iter().find(|buffer| buffer.address == IMAGE_TABLE);
        let words = table.map_or(&[][..], |table| &table.words);
        for header in words.chunks(HEADER_BYTES as usize / 4).skip(1) {
            let step = "reading a texture";
            let lacks = |reason: &str| DeviceError::Refused {
                step,
                reason: reason.to_owned(),
                log: String::new(),
            };
            let image = Image::decode(header).ok_or_else(|| lacks("its header is damaged"))?;
            let named = |buffer: &simt_core::launch::Buffer| buffer.address == image.address;
            let buffer = launch.buffers.iter().position(named);
            let buffer = buffer.ok_or_else(|| lacks("it has no buffer"))?;
            images.0.push(Shaped::new(&image, buffer, &memory[buffer])?);
        }
        Ok(images)
    }

    /// Returns the device's object for a program's; `None` if `object` is no object.
    pub(super) fn object(&self, object: u64) -> Option<u64> {
        let index = usize::try_from(object.checked_sub(1)?).ok()?;
        self.0.get(index).map(|shaped| shaped.object)
    }

    /// Copies what kernels wrote to surfaces back to their buffers.
    pub(super) fn give_back(&self, memory: &[Allocation]) -> Result<(), DeviceError> {
        for shaped in self.0.iter().filter(|shaped| shaped.surface) {
            let there = &shaped.copy;
            let back = sys::CUDA_MEMCPY3D {
                srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_ARRAY,
                srcDevice: 0,
                srcArray: shaped.array,
                srcPitch: 0,
                srcHeight: 0,
                dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
                dstDevice: memory[shaped.buffer].address,
                dstArray: null_mut(),
                dstPitch: there.srcPitch,
                dstHeight: there.srcHeight,
                ..*there
            };
            // SAFETY: the array is alive, and the buffer is as large as its texels.
            unsafe { sys::cuMemcpy3D_v2(&back) }
                .result()
                .map_err(refused("copying a surface to its buffer"))?;
        }
        Ok(())
    }
}

impl Shaped {
    fn new(image: &Image, buffer: usize, from: &Allocation) -> Result<Shaped, DeviceError> {
        if image.shape == ImageShape::Buffer {
            return Shaped::linear(image, buffer, from);
        }
        let [width, height, depth] = image.size.map(|size| size as usize);
        let layered = matches!(image.shape, ImageShape::A1 | ImageShape::A2);
        let flat = matches!(image.shape, ImageShape::D1 | ImageShape::A1);
        let flags = if layered { sys::CUDA_ARRAY3D_LAYERED } else { 0 }
            | if image.surface { sys::CUDA_ARRAY3D_SURFACE_LDST } else { 0 };
        let shape = sys::CUDA_ARRAY3D_DESCRIPTOR {
            Width: width,
            Height: if flat { 0 } else { height },
            Depth: if layered || image.shape == ImageShape::D3 { depth } else { 0 },
            Format: format(image.channel),
            NumChannels: image.channels,
            Flags: flags,
        };
        let mut array = null_mut();
        // SAFETY: both pointers are valid for the call.
        unsafe { sys::cuArray3DCreate_v2(&mut array, &shape) }
            .result()
            .map_err(refused("making an array"))?;
        let copy = sys::CUDA_MEMCPY3D {
            srcXInBytes: 0,
            srcY: 0,
            srcZ: 0,
            srcLOD: 0,
            srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcHost: null(),
            srcDevice: from.address,
            srcArray: null_mut(),
            reserved0: null_mut(),
            srcPitch: image.pitch as usize,
            srcHeight: height,
            dstXInBytes: 0,
            dstY: 0,
            dstZ: 0,
            dstLOD: 0,
            dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_ARRAY,
            dstHost: null_mut(),
            dstDevice: 0,
            dstArray: array,
            reserved1: null_mut(),
            dstPitch: 0,
            dstHeight: 0,
            WidthInBytes: image.pitch as usize,
            Height: height,
            Depth: depth,
        };
        let mut shaped = Shaped { array, object: 0, surface: image.surface, buffer, copy };
        // SAFETY: the array was just made in the size that is copied; the buffer is as large.
        unsafe { sys::cuMemcpy3D_v2(&copy) }
            .result()
            .map_err(refused("copying texels to an array"))?;
        let what = sys::CUDA_RESOURCE_DESC {
            resType: sys::CUresourcetype::CU_RESOURCE_TYPE_ARRAY,
            res: sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1 {
                array: sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_1 { hArray: array },
            },
            flags: 0,
        };
        shaped.describe(&what, image)?;
        Ok(shaped)
    }

    /// Makes a texture of the buffer as it is.
    fn linear(image: &Image, buffer: usize, from: &Allocation) -> Result<Shaped, DeviceError> {
        // SAFETY: all fields are numbers or pointers, for which zero is valid.
        let (copy, mut what) =
            unsafe { (std::mem::zeroed(), std::mem::zeroed::<sys::CUDA_RESOURCE_DESC>()) };
        what.resType = sys::CUresourcetype::CU_RESOURCE_TYPE_LINEAR;
        what.res.linear = sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_3 {
            devPtr: from.address,
            format: format(image.channel),
            numChannels: image.channels,
            sizeInBytes: image.bytes() as usize,
        };
        let mut shaped = Shaped { array: null_mut(), object: 0, surface: false, buffer, copy };
        shaped.describe(&what, image)?;
        Ok(shaped)
    }

    /// Makes the object.
    fn describe(
        &mut self,
        what: &sys::CUDA_RESOURCE_DESC,
        image: &Image,
    ) -> Result<(), DeviceError> {
        let sampler = sampler(image);
        // SAFETY: the descriptions are complete and valid for the calls.
        let made = unsafe {
            if image.surface {
                sys::cuSurfObjectCreate(&mut self.object, what)
            } else {
                sys::cuTexObjectCreate(&mut self.object, what, &sampler, null())
            }
        };
        made.result().map_err(refused("making a texture"))
    }
}

impl Drop for Shaped {
    fn drop(&mut self) {
        // SAFETY: both were made once; an object of 0 and no array are refused.
        unsafe {
            let _ = if self.surface {
                sys::cuSurfObjectDestroy(self.object)
            } else {
                sys::cuTexObjectDestroy(self.object)
            };
            let _ = sys::cuArrayDestroy(self.array);
        }
    }
}

fn format(channel: Channel) -> sys::CUarray_format {
    use sys::CUarray_format::*;
    match channel {
        Channel::U8 => CU_AD_FORMAT_UNSIGNED_INT8,
        Channel::S8 => CU_AD_FORMAT_SIGNED_INT8,
        Channel::U16 => CU_AD_FORMAT_UNSIGNED_INT16,
        Channel::S16 => CU_AD_FORMAT_SIGNED_INT16,
        Channel::U32 => CU_AD_FORMAT_UNSIGNED_INT32,
        Channel::S32 => CU_AD_FORMAT_SIGNED_INT32,
        Channel::F16 => CU_AD_FORMAT_HALF,
        Channel::F32 => CU_AD_FORMAT_FLOAT,
    }
}

fn sampler(image: &Image) -> sys::CUDA_TEXTURE_DESC {
    let integer = !image.gives_floats();
    sys::CUDA_TEXTURE_DESC {
        addressMode: image.modes.map(|mode| match mode {
            AddressMode::Wrap => sys::CUaddress_mode::CU_TR_ADDRESS_MODE_WRAP,
            AddressMode::Clamp => sys::CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP,
            AddressMode::Mirror => sys::CUaddress_mode::CU_TR_ADDRESS_MODE_MIRROR,
            AddressMode::Border => sys::CUaddress_mode::CU_TR_ADDRESS_MODE_BORDER,
        }),
        filterMode: if image.linear {
            sys::CUfilter_mode::CU_TR_FILTER_MODE_LINEAR
        } else {
            sys::CUfilter_mode::CU_TR_FILTER_MODE_POINT
        },
        flags: if integer { sys::CU_TRSF_READ_AS_INTEGER } else { 0 }
            | if image.normalized { sys::CU_TRSF_NORMALIZED_COORDINATES } else { 0 },
        maxAnisotropy: 0,
        mipmapFilterMode: sys::CUfilter_mode::CU_TR_FILTER_MODE_POINT,
        mipmapLevelBias: 0.0,
        minMipmapLevelClamp: 0.0,
        maxMipmapLevelClamp: 0.0,
        borderColor: image.border,
        reserved: [0; 12],
    }
}
