//! Launches.

use super::context::{self, current, device};
use super::device::attribute;
use super::driver::Driver;
use super::register::{kernel, launched};
use super::{Dim3, In, Out, api};
use crate::errors::{Error, Result};
use crate::props::Version;
use crate::registry::Handle;
use std::cell::RefCell;

/// Launch of `kernel<<<grid, block, shared, stream>>>`.
#[derive(Clone, Copy)]
struct Shape {
    grid: Dim3,
    block: Dim3,
    /// Dynamic shared memory in bytes.
    shared: usize,
    stream: Handle,
}

/// `cudaLaunchConfig_t`.
#[repr(C)]
#[derive(Clone, Copy)]
struct LaunchConfig {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: Handle,
    attributes: usize,
    attribute_count: u32,
}

/// `CUlaunchConfig`, the driver's.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Config {
    grid: Dim3,
    block: Dim3,
    shared: u32,
    stream: Handle,
    attributes: usize,
    attribute_count: u32,
}

thread_local! {
    /// Launches that are configured but not begun; the last belongs to the innermost call.
    static CONFIGURED: RefCell<Vec<Shape>> = const { RefCell::new(Vec::new()) };
}

/// Returns the error of a shape that no device takes.
///
/// CUDA 13 calls it an invalid value, as its driver does (seen on an H100, runtime 13.0); before,
/// it was an invalid configuration.
fn wrong_shape() -> Error {
    let before = context::version() < Version::V13;
    if before { Error::INVALID_CONFIGURATION } else { Error::INVALID_VALUE }
}

/// Names an error of a shape as CUDA does: the driver calls it an invalid value.
fn of_shape(driver: &Driver, grid: Dim3, block: Dim3, error: Error) -> Error {
    // Attributes 1 to 7: threads of a block, then the largest block and grid by axis.
    let limit = |number| {
        let limit = device().and_then(|device| attribute(driver, number, device));
        limit.map_or(u64::MAX, |limit| u64::try_from(limit).unwrap_or(0))
    };
    let sides = [block.x, block.y, block.z, grid.x, grid.y, grid.z].map(u64::from);
    let threads = sides[..3].iter().product::<u64>();
    let fits = threads <= limit(1) && (2..).zip(sides).all(|(number, side)| side <= limit(number));
    if error == Error::INVALID_VALUE && !fits { wrong_shape() } else { error }
}

/// Checks a shape that no device takes, and returns the shared bytes as the driver takes them.
fn checked(grid: Dim3, block: Dim3, shared: usize) -> Result<u32> {
    if [grid.x, grid.y, grid.z, block.x, block.y, block.z].contains(&0) {
        return Err(wrong_shape());
    }
    u32::try_from(shared).map_err(|_| Error::INVALID_VALUE)
}

fn launch(kernel: Handle, shape: Shape, arguments: usize, cooperative: bool) -> Result<()> {
    let driver = current()?;
    let Shape { grid, block, shared, stream } = shape;
    let shared = checked(grid, block, shared)?;
    let stream = context::stream(stream);
    let begun = if cooperative {
        driver.cuLaunchCooperativeKernel(
            kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream, arguments,
        )
    } else {
        driver.cuLaunchKernel(
            kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream, arguments, 0,
        )
    };
    begun.map_err(|error| of_shape(driver, grid, block, error))
}

fn launch_extended(config: &In<LaunchConfig>, stub: usize, arguments: usize) -> Result<()> {
    let driver = current()?;
    let given = config.get()?;
    let kernel = kernel(stub)?;
    let config = Config {
        grid: given.grid,
        block: given.block,
        shared: checked(given.grid, given.block, given.shared)?,
        stream: context::stream(given.stream),
        attributes: given.attributes,
        attribute_count: given.attribute_count,
    };
    driver
        .cuLaunchKernelEx(&raw const config, kernel, arguments, 0)
        .map_err(|error| of_shape(driver, given.grid, given.block, error))
}

/// Notes the shape of the launch that follows. Returns 0; other values skip the launch.
#[unsafe(no_mangle)]
extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: Handle,
) -> u32 {
    let shape = Shape { grid, block, shared, stream };
    u32::from(CONFIGURED.try_with(|shapes| shapes.borrow_mut().push(shape)).is_err())
}

api! {
    __cudaPopCallConfiguration(
        grid: Out<Dim3>, block: Out<Dim3>, shared: Out<usize>, stream: Out<Handle>,
    ) {
        let shape = CONFIGURED.try_with(|shapes| shapes.borrow_mut().pop()).ok().flatten();
        let shape = shape.ok_or(Error::MISSING_CONFIGURATION)?;
        grid.set(shape.grid)?;
        block.set(shape.block)?;
        shared.set(shape.shared)?;
        stream.set(shape.stream)
    }

    __cudaLaunchKernel [__cudaLaunchKernel_ptsz] (
        kernel: Handle, grid: Dim3, block: Dim3, arguments: usize, shared: usize, stream: Handle,
    ) {
        launch(launched(kernel)?, Shape { grid, block, shared, stream }, arguments, false)
    }

    cudaLaunchKernel [cudaLaunchKernel_ptsz] (
        stub: usize, grid: Dim3, block: Dim3, arguments: usize, shared: usize, stream: Handle,
    ) {
        launch(kernel(stub)?, Shape { grid, block, shared, stream }, arguments, false)
    }

    cudaLaunchCooperativeKernel [cudaLaunchCooperativeKernel_ptsz] (
        stub: usize, grid: Dim3, block: Dim3, arguments: usize, shared: usize, stream: Handle,
    ) {
        launch(kernel(stub)?, Shape { grid, block, shared, stream }, arguments, true)
    }

    cudaLaunchKernelExC [cudaLaunchKernelExC_ptsz] (
        config: In<LaunchConfig>, stub: usize, arguments: usize,
    ) {
        launch_extended(&config, stub, arguments)
    }
}
