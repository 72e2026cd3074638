//! Launches of kernels and of functions of the host.

use super::entry_points;
use super::pointer::In;
use crate::error::Error;
use crate::launch::Request;
use crate::operation::{HostFunction, Operation, on_stream};
use crate::state::{Driver, at_once};
use crate::table::Handle;

/// Keys of the list `extra`: end, address of the parameter block, address of its size.
const END: usize = 0;
const POINTER: usize = 1;
const SIZE: usize = 2;
/// Entries of `extra` that are read.
const MOST_EXTRA: usize = 8;
/// Attributes of a launch that are read.
const MOST_ATTRIBUTES: u32 = 64;

/// `CUlaunchConfig`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Config {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: Handle,
    attributes: In<Attribute>,
    count: u32,
}

/// `CUlaunchAttribute`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Attribute {
    id: u32,
    pad: u32,
    value: [u32; 16],
}

/// Shape and resources of a launch.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) shared: u32,
    pub(super) cooperative: bool,
}

impl Shape {
    /// Returns the launch of a function with its parameter block.
    pub(super) fn with(self, function: Handle, params: Vec<u8>) -> Request {
        let Shape { grid, block, shared, cooperative } = self;
        Request { function, grid, block, shared, params, cooperative }
    }
}

/// Reads the parameters of a launch.
pub(super) fn request(
    driver: &Driver,
    function: Handle,
    shape: Shape,
    params: In<usize>,
    extra: In<usize>,
) -> Result<Request, Error> {
    let (all, size) = driver.parameters(function)?;
    let mut block = vec![0_u8; size as usize];
    if !extra.is_null() {
        if !params.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let given = packed(extra)?;
        if given.len() < block.len() {
            return Err(Error::INVALID_VALUE);
        }
        block.copy_from_slice(&given[..size as usize]);
    } else if !all.is_empty() {
        for (i, (offset, bytes)) in all.into_iter().enumerate() {
            let value = In::<u8>::at_address(params.at(i)?).bytes(bytes as usize)?;
            let place = block.get_mut(offset as usize..(offset + bytes) as usize);
            place.ok_or(Error::UNKNOWN)?.copy_from_slice(&value);
        }
    }
    Ok(shape.with(function, block))
}

fn launch(
    function: Handle,
    shape: Shape,
    stream: Handle,
    params: In<usize>,
    extra: In<usize>,
) -> Result<(), Error> {
    let mut driver = at_once()?;
    driver.context()?;
    driver.stream(stream)?;
    let request = request(&driver, function, shape, params, extra)?;
    drop(driver);
    on_stream(stream, Operation::Launch(request))
}

/// Reads a parameter block that is passed in one piece.
fn packed(extra: In<usize>) -> Result<Vec<u8>, Error> {
    let (mut address, mut size) = (0, None);
    for i in 0..MOST_EXTRA {
        match extra.at(2 * i)? {
            END => break,
            POINTER => address = extra.at(2 * i + 1)?,
            SIZE => size = Some(In::<usize>::at_address(extra.at(2 * i + 1)?).get()?),
            _ => return Err(Error::INVALID_VALUE),
        }
    }
    match size {
        None => Err(Error::INVALID_VALUE),
        Some(0) => Ok(Vec::new()),
        Some(size) if size > 1 << 16 => Err(Error::INVALID_VALUE),
        Some(size) => In::<u8>::at_address(address).bytes(size),
    }
}

entry_points! {
    fn cuLaunchKernel(
        function: Handle, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32,
        shared: u32, stream: Handle, params: In<usize>, extra: In<usize>,
    ) {
        let (grid, block) = ([gx, gy, gz], [bx, by, bz]);
        let shape = Shape { grid, block, shared, cooperative: false };
        launch(function, shape, stream, params, extra)
    }

    fn cuLaunchCooperativeKernel(
        function: Handle, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32,
        shared: u32, stream: Handle, params: In<usize>,
    ) {
        let (grid, block) = ([gx, gy, gz], [bx, by, bz]);
        let shape = Shape { grid, block, shared, cooperative: true };
        launch(function, shape, stream, params, In::at_address(0))
    }

    fn cuLaunchKernelEx(
        config: In<Config>, function: Handle, params: In<usize>, extra: In<usize>,
    ) {
        let Config { grid, block, shared, stream, attributes, count } = config.get()?;
        let mut cooperative = false;
        if count > MOST_ATTRIBUTES {
            return Err(Error::INVALID_VALUE);
        }
        for i in 0..count as usize {
            let Attribute { id, value, .. } = attributes.at(i)?;
            match id {
                2 => cooperative = value[0] != 0,
                4 if value[..3].iter().any(|&n| n > 1) => {
                    crate::say("simt-sim: clusters of blocks are not simulated\n");
                    return Err(Error::NOT_SUPPORTED);
                }
                _ => {} // hints
            }
        }
        launch(function, Shape { grid, block, shared, cooperative }, stream, params, extra)
    }

    fn cuLaunchHostFunc(stream: Handle, function: Option<HostFunction>, data: usize) {
        on_stream(stream, Operation::Call(function.ok_or(Error::INVALID_VALUE)?, data))
    }
}
