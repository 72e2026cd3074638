//! Copies between any two places: device memory, memory of the process, arrays.

use super::entry_points;
use super::pointer::In;
use crate::copy::{BlockCopy, DEVICE, End, HOST, UNIFIED};
use crate::error::Error;
use crate::operation::{Operation, on_stream};
use crate::state::driver;
use crate::table::Handle;

/// `CUDA_MEMCPY2D`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Plane {
    src_x: usize,
    src_y: usize,
    src_type: u32,
    src_host: u64,
    src_device: u64,
    src_array: u64,
    src_pitch: usize,
    dst_x: usize,
    dst_y: usize,
    dst_type: u32,
    dst_host: u64,
    dst_device: u64,
    dst_array: u64,
    dst_pitch: usize,
    width: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Volume {
    src_x: usize,
    src_y: usize,
    src_z: usize,
    src_lod: usize,
    src_type: u32,
    src_host: u64,
    src_device: u64,
    src_array: u64,
    reserved0: u64,
    src_pitch: usize,
    src_height: usize,
    dst_x: usize,
    dst_y: usize,
    dst_z: usize,
    dst_lod: usize,
    dst_type: u32,
    dst_host: u64,
    dst_device: u64,
    dst_array: u64,
    reserved1: u64,
    dst_pitch: usize,
    dst_height: usize,
    width: usize,
    height: usize,
    depth: usize,
}

/// Returns numbers of an end as the driver counts them.
fn end(
    kind: u32,
    [host, device, array]: [u64; 3],
    at: [usize; 3],
    [pitch, height]: [usize; 2],
) -> End {
    let (pitch, height) = (pitch as u64, height as u64);
    End { kind, host, device, array, at: at.map(|n| n as u64), pitch, height }
}

impl Plane {
    fn copy(self) -> BlockCopy {
        let from = [self.src_host, self.src_device, self.src_array];
        let to = [self.dst_host, self.dst_device, self.dst_array];
        BlockCopy {
            to: end(self.dst_type, to, [self.dst_x, self.dst_y, 0], [self.dst_pitch, 0]),
            from: end(self.src_type, from, [self.src_x, self.src_y, 0], [self.src_pitch, 0]),
            size: [self.width as u64, self.height as u64, 1],
        }
    }
}

impl Volume {
    pub(super) fn copy(self) -> BlockCopy {
        let from = [self.src_host, self.src_device, self.src_array];
        let from_at = [self.src_x, self.src_y, self.src_z];
        let to = [self.dst_host, self.dst_device, self.dst_array];
        let to_at = [self.dst_x, self.dst_y, self.dst_z];
        BlockCopy {
            to: end(self.dst_type, to, to_at, [self.dst_pitch, self.dst_height]),
            from: end(self.src_type, from, from_at, [self.src_pitch, self.src_height]),
            size: [self.width, self.height, self.depth].map(|n| n as u64),
        }
    }

    /// Returns the description of a copy.
    pub(super) fn of(copy: &BlockCopy) -> Volume {
        let BlockCopy { to, from, size } = copy;
        let [[src_x, src_y, src_z], [dst_x, dst_y, dst_z], [width, height, depth]] =
            [from.at, to.at, *size].map(|numbers| numbers.map(|n| n as usize));
        Volume {
            src_x,
            src_y,
            src_z,
            src_type: from.kind,
            src_host: from.host,
            src_device: from.device,
            src_array: from.array,
            src_pitch: from.pitch as usize,
            src_height: from.height as usize,
            dst_x,
            dst_y,
            dst_z,
            dst_type: to.kind,
            dst_host: to.host,
            dst_device: to.device,
            dst_array: to.array,
            dst_pitch: to.pitch as usize,
            dst_height: to.height as usize,
            width,
            height,
            depth,
            ..Volume::default()
        }
    }
}

/// Copies and waits for the end.
pub(super) fn and_wait(copy: BlockCopy) -> Result<(), Error> {
    on_stream(0, Operation::Copy(copy))
}

/// Copies in the order of a stream.
pub(super) fn in_order(stream: Handle, copy: BlockCopy) -> Result<(), Error> {
    on_stream(stream, Operation::Copy(copy))
}

/// Copies bytes between memory of two kinds and waits for the end.
fn bytes(to: (u64, u32), from: (u64, u32), count: usize) -> Result<(), Error> {
    and_wait(BlockCopy::bytes(to, from, count as u64))
}

/// Copies bytes between memory of two kinds in the order of a stream.
fn bytes_on(stream: Handle, to: (u64, u32), from: (u64, u32), count: usize) -> Result<(), Error> {
    in_order(stream, BlockCopy::bytes(to, from, count as u64))
}

entry_points! {
    fn cuMemcpy(to: u64, from: u64, count: usize) {
        bytes((to, UNIFIED), (from, UNIFIED), count)
    }

    fn cuMemcpyAsync(to: u64, from: u64, count: usize, stream: Handle) {
        bytes_on(stream, (to, UNIFIED), (from, UNIFIED), count)
    }

    fn cuMemcpyHtoD_v2(to: u64, from: u64, count: usize) {
        bytes((to, DEVICE), (from, HOST), count)
    }

    fn cuMemcpyHtoDAsync_v2(to: u64, from: u64, count: usize, stream: Handle) {
        bytes_on(stream, (to, DEVICE), (from, HOST), count)
    }

    fn cuMemcpyDtoH_v2(to: u64, from: u64, count: usize) {
        bytes((to, HOST), (from, DEVICE), count)
    }

    fn cuMemcpyDtoHAsync_v2(to: u64, from: u64, count: usize, stream: Handle) {
        bytes_on(stream, (to, HOST), (from, DEVICE), count)
    }

    fn cuMemcpyDtoD_v2(to: u64, from: u64, count: usize) {
        bytes((to, DEVICE), (from, DEVICE), count)
    }

    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, count: usize, stream: Handle) {
        bytes_on(stream, (to, DEVICE), (from, DEVICE), count)
    }

    fn cuMemcpyPeer(to: u64, to_context: Handle, from: u64, from_context: Handle, count: usize) {
        peers(to_context, from_context)?;
        bytes((to, DEVICE), (from, DEVICE), count)
    }

    fn cuMemcpyPeerAsync(
        to: u64, to_context: Handle, from: u64, from_context: Handle, count: usize, stream: Handle,
    ) {
        peers(to_context, from_context)?;
        bytes_on(stream, (to, DEVICE), (from, DEVICE), count)
    }

    fn cuMemcpy2D_v2(copy: In<Plane>) {
        and_wait(copy.get()?.copy())
    }

    fn cuMemcpy2DUnaligned_v2(copy: In<Plane>) {
        and_wait(copy.get()?.copy())
    }

    fn cuMemcpy2DAsync_v2(copy: In<Plane>, stream: Handle) {
        in_order(stream, copy.get()?.copy())
    }

    fn cuMemcpy3D_v2(copy: In<Volume>) {
        and_wait(copy.get()?.copy())
    }

    fn cuMemcpy3DAsync_v2(copy: In<Volume>, stream: Handle) {
        in_order(stream, copy.get()?.copy())
    }
}

/// Checks that both contexts of a copy are of one device.
fn peers(to: Handle, from: Handle) -> Result<(), Error> {
    let driver = driver()?;
    let device =
        |context| driver.contexts.get(context).map(|c| c.device).or(Err(Error::INVALID_CONTEXT));
    if device(to)? == device(from)? { Ok(()) } else { Err(Error::PEER_ACCESS_UNSUPPORTED) }
}
