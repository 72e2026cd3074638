//! Occupancy: resident blocks of a kernel, from the machine's resources.

use simt_core::launch::{Launch, Spare, Variables};
use simt_core::machine::Occupancy;

use super::entry_points;
use super::pointer::Out;
use crate::device::SHARED_DEFAULT;
use crate::error::Error;
use crate::state::{Driver, at_once};
use crate::table::Handle;

/// Function of the caller: dynamic shared memory for a block of so many threads.
pub(super) type SharedOf = extern "C" fn(i32) -> usize;

/// Returns the resident blocks per SM; 0 if not even one fits.
fn blocks(driver: &mut Driver, kernel: Handle, threads: i32, shared: usize) -> Result<u32, Error> {
    let device = driver.current_device()?;
    let threads = u32::try_from(threads).ok().filter(|n| *n > 0).ok_or(Error::INVALID_VALUE)?;
    let kernel = driver.kernel(kernel)?;
    let dynamic_shared = u32::try_from(shared).map_err(|_| Error::INVALID_VALUE)?;
    let launch = Launch {
        kernel: String::new(),
        title: None,
        grid: [1; 3],
        block: [threads, 1, 1],
        params: Vec::new(),
        dynamic_shared,
        stack: None,
        cooperative: false,
        registers: None,
        buffers: Vec::new(),
        variables: Variables::InBuffers,
        heap: None,
        spare: Spare::default(),
        expectations: Vec::new(),
        constants: Vec::new(),
    };
    let machine = &driver.devices[device].machine;
    Ok(Occupancy::new(kernel, &launch, machine).map_or(0, |occupancy| occupancy.blocks))
}

/// Finds the block size with the most resident threads; the largest on a tie.
fn best(
    grid: Out<i32>,
    block: Out<i32>,
    kernel: Handle,
    shared_of: Option<SharedOf>,
    shared: usize,
    limit: i32,
) -> Result<(), Error> {
    grid.check()?;
    block.check()?;
    let (most, lanes, sms) = {
        let mut driver = at_once()?;
        let device = driver.current_device()?;
        let most = driver.kernel(kernel)?.most_threads();
        let machine = &driver.devices[device].machine;
        (machine.max_block_threads.min(most) as i32, machine.warp_size.max(1) as i32, machine.sms)
    };
    let most = if limit <= 0 { most } else { limit.min(most) };
    let mut found: Option<(u32, i32, u32)> = None;
    for threads in (1..=most / lanes).rev().map(|warps| warps * lanes) {
        // The caller's function runs without the lock.
        let shared = shared_of.map_or(shared, |of| of(threads));
        let blocks = blocks(&mut *at_once()?, kernel, threads, shared)?;
        let resident = blocks * threads as u32;
        if blocks > 0 && found.is_none_or(|(best, ..)| resident > best) {
            found = Some((resident, threads, blocks));
        }
    }
    let (_, threads, blocks) = found.ok_or(Error::LAUNCH_OUT_OF_RESOURCES)?;
    grid.set((blocks * sms) as i32)?;
    block.set(threads)
}

entry_points! {
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        count: Out<i32>, kernel: Handle, threads: i32, shared: usize,
    ) {
        count.check()?;
        let found = blocks(&mut *at_once()?, kernel, threads, shared)?;
        count.set(found as i32)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        count: Out<i32>, kernel: Handle, threads: i32, shared: usize, flags: u32,
    ) {
        count.check()?;
        if flags > 1 {
            return Err(Error::INVALID_VALUE);
        }
        let found = blocks(&mut *at_once()?, kernel, threads, shared)?;
        count.set(found as i32)
    }

    fn cuOccupancyMaxPotentialBlockSize(
        grid: Out<i32>, block: Out<i32>, kernel: Handle, shared_of: Option<SharedOf>,
        shared: usize, limit: i32,
    ) {
        best(grid, block, kernel, shared_of, shared, limit)
    }

    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        grid: Out<i32>, block: Out<i32>, kernel: Handle, shared_of: Option<SharedOf>,
        shared: usize, limit: i32, flags: u32,
    ) {
        if flags > 1 {
            return Err(Error::INVALID_VALUE);
        }
        best(grid, block, kernel, shared_of, shared, limit)
    }

    fn cuOccupancyAvailableDynamicSMemPerBlock(
        bytes: Out<usize>, kernel: Handle, blocks: i32, threads: i32,
    ) {
        let mut driver = at_once()?;
        let device = driver.current_device()?;
        bytes.check()?;
        if blocks <= 0 || threads <= 0 {
            return Err(Error::INVALID_VALUE);
        }
        let used = driver.kernel(kernel)?.shared_bytes;
        let asked = driver.functions.get(kernel)?.most_dynamic;
        let asked = asked.unwrap_or(SHARED_DEFAULT.saturating_sub(used));
        let machine = &driver.devices[device].machine;
        let share = (machine.shared_bytes / blocks as u32).saturating_sub(machine.shared_reserved);
        let share = share / machine.shared_unit.max(1) * machine.shared_unit.max(1);
        let share = share.min(driver.devices[device].most_shared()).saturating_sub(used);
        bytes.set(share.min(asked) as usize)
    }
}
