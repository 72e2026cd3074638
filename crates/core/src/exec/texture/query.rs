//! Properties of textures and surfaces.

use super::super::image::{Channel, Image, ImageShape};
use super::super::{Env, Fault, FaultKind, RegisterFile, access};
use super::object;
use crate::base::{LaneMask, MAX_LANES};
use crate::kernel::{ImageProperty, ImageQuery};

/// Executes `txq` and `suq`.
pub(in crate::exec) fn query(
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
