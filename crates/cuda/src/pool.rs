//! Memory pools: what each has reserved and lent.
//!
//! All memory is of one address space; a pool only counts, as an H200's driver does.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::table::{Handle, Kind, Table};

/// Bytes that a pool reserves at once.
const UNIT: u64 = 32 << 20;

/// A number of bytes, and the most that it was since it was reset.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) now: u64,
    pub(crate) most: u64,
}

impl Usage {
    fn set(&mut self, now: u64) {
        *self = Usage { now, most: self.most.max(now) };
    }

    /// Forgets what it was before.
    pub(crate) fn reset(&mut self) {
        self.most = self.now;
    }
}

/// A pool.
#[derive(Debug)]
pub(crate) struct Pool {
    device: usize,
    /// Ways in which memory may be used again, which have no effect.
    pub(crate) reuse: [bool; 3],
    /// Bytes that stay reserved after a synchronization.
    pub(crate) threshold: u64,
    pub(crate) reserved: Usage,
    pub(crate) used: Usage,
    /// Sizes of its allocations by address.
    lent: BTreeMap<u64, u64>,
}

impl Pool {
    fn new(device: usize) -> Pool {
        Pool {
            device,
            reuse: [true; 3],
            threshold: 0,
            reserved: Usage::default(),
            used: Usage::default(),
            lent: BTreeMap::new(),
        }
    }

    /// Gives memory back to the device until it has the `least` bytes, or what is in use.
    pub(crate) fn trim(&mut self, least: u64) {
        let least = least.max(self.used.now).checked_next_multiple_of(UNIT).unwrap_or(u64::MAX);
        self.reserved.now = self.reserved.now.min(least);
    }
}

/// All pools.
pub(crate) struct Pools {
    table: Table<Pool>,
    /// Default pool and current pool of each device.
    of_devices: BTreeMap<usize, [Handle; 2]>,
}

impl Pools {
    pub(crate) fn new() -> Pools {
        Pools { table: Table::new(Kind::Pool), of_devices: BTreeMap::new() }
    }

    /// Makes a pool on a device.
    pub(crate) fn add(&mut self, device: usize) -> Handle {
        self.table.add(Pool::new(device))
    }

    /// Returns a pool.
    pub(crate) fn get(&mut self, pool: Handle) -> Result<&mut Pool, Error> {
        self.table.get_mut(pool).map_err(|_| Error::INVALID_VALUE)
    }

    fn of_device(&mut self, device: usize) -> &mut [Handle; 2] {
        let table = &mut self.table;
        self.of_devices.entry(device).or_insert_with(|| [table.add(Pool::new(device)); 2])
    }

    /// Returns the default pool of a device.
    pub(crate) fn default_of(&mut self, device: usize) -> Handle {
        self.of_device(device)[0]
    }

    /// Returns the current pool of a device.
    pub(crate) fn current_of(&mut self, device: usize) -> Handle {
        self.of_device(device)[1]
    }

    /// Makes a pool the current one of its device, which must be `device`.
    pub(crate) fn choose(&mut self, device: usize, pool: Handle) -> Result<(), Error> {
        if self.get(pool)?.device != device {
            return Err(Error::INVALID_VALUE);
        }
        self.of_device(device)[1] = pool;
        Ok(())
    }

    /// Removes a pool. A device whose current one it was gets its default pool back.
    pub(crate) fn remove(&mut self, pool: Handle) -> Result<(), Error> {
        self.get(pool)?;
        if self.of_devices.values().any(|[default, _]| *default == pool) {
            return Err(Error::INVALID_VALUE);
        }
        for [default, current] in self.of_devices.values_mut() {
            if *current == pool {
                *current = *default;
            }
        }
        self.table.remove(pool).map(|_| ())
    }

    /// Counts an allocation.
    pub(crate) fn lend(&mut self, pool: Handle, address: u64, bytes: u64) {
        let Ok(pool) = self.get(pool) else { return };
        pool.lent.insert(address, bytes);
        pool.used.set(pool.used.now + bytes);
        pool.reserved.set(pool.reserved.now.max(pool.used.now.next_multiple_of(UNIT)));
    }

    /// Returns true if a pool has lent the allocation at an address.
    pub(crate) fn hold(&self, address: u64) -> bool {
        self.table.iter().any(|(_, pool)| pool.lent.contains_key(&address))
    }

    /// Counts the end of an allocation, if it is of a pool.
    pub(crate) fn take_back(&mut self, address: u64) {
        self.table.each(|pool| {
            if let Some(bytes) = pool.lent.remove(&address) {
                pool.used.now -= bytes;
            }
        });
    }

    /// Lets each pool keep its threshold, after a synchronization. Memory that a program has freed
    /// otherwise (`cuMemFree`) counts until then; `lives` tells which addresses are in use.
    pub(crate) fn synchronize(&mut self, lives: impl Fn(u64) -> bool) {
        self.table.each(|pool| {
            pool.lent.retain(|address, _| lives(*address));
            pool.used.now = pool.lent.values().sum();
            pool.trim(pool.threshold);
        });
    }
}
