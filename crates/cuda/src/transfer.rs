//! Time of copies and sets: bytes at the rate of the slowest way that they take.
//!
//! An estimate, since no machine file has measured rates of a host: a link of sixteen lanes moves
//! its nominal bytes, device memory those of the machine file. The start of each takes what the
//! start of a launch takes.

use crate::error::Error;
use crate::memory::{AddressSpace, Use};
use crate::state::Driver;

/// Bytes a second of sixteen lanes of PCI Express, generations 2 to 5: 5, 8, 16 and 32 transfers
/// of a bit a nanosecond, of which the code of a lane leaves 8 of 10, later 128 of 130.
const LINKS: [f64; 4] = [8.0e9, 15.75e9, 31.5e9, 63.0e9];

/// Returns the bytes a second between host and device, by the architecture of a machine.
///
/// GPUs have had PCI Express 3 since sm_35, 4 since sm_80 and 5 since sm_90 (NVIDIA's data sheets
/// of K40, A100 and H100).
pub(crate) fn link_rate(arch: u32) -> f64 {
    match arch {
        ..35 => LINKS[0],
        35..80 => LINKS[1],
        80..90 => LINKS[2],
        90.. => LINKS[3],
    }
}

/// Way that the bytes of an end take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Device,
    /// Pinned or registered memory, which the device reads by itself.
    Pinned,
    /// Other memory of the process. The system copies it to pinned memory first, or from there.
    Pageable,
}

/// Returns the seconds of a copy between two sides.
fn seconds(to: Way, from: Way, bytes: u64, link: f64, memory: f64) -> f64 {
    let bytes = bytes as f64;
    match (to, from) {
        (Way::Device, Way::Device) => 2.0 * bytes / memory, // read and written
        (Way::Device, other) | (other, Way::Device) if other == Way::Pinned => bytes / link,
        (Way::Device, _) | (_, Way::Device) => 2.0 * bytes / link,
        _ => 0.0, // the host's own time
    }
}

impl Driver {
    /// Lets the time of a copy pass on a device.
    pub(crate) fn copied(&mut self, device: usize, to: u64, from: u64, bytes: u64) {
        let (to, from) = (self.way(to), self.way(from));
        self.pass(device, |link, memory| seconds(to, from, bytes, link, memory));
    }

    /// Lets the time of a set pass on a device.
    pub(crate) fn filled(&mut self, device: usize, address: u64, bytes: u64) {
        if self.way(address) == Way::Device {
            self.pass(device, |_, memory| bytes as f64 / memory);
        }
    }

    /// Does a copy or set, of rows perhaps; its start takes time if its bytes do.
    pub(crate) fn transfer(
        &mut self,
        device: usize,
        work: impl FnOnce(&mut Driver) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let before = self.devices[device].cycles;
        let done = work(self);
        let device = &mut self.devices[device];
        if device.cycles > before {
            device.cycles += u64::from(device.machine.launch_overhead);
        }
        done
    }

    fn pass(&mut self, device: usize, seconds: impl FnOnce(f64, f64) -> f64) {
        let device = &mut self.devices[device];
        let hertz = f64::from(device.machine.clock_mhz) * 1e6;
        let memory = device.machine.memory.dram_bytes_per_cycle * hertz;
        device.cycles += (seconds(device.link, memory) * hertz).ceil() as u64;
    }

    fn way(&self, address: u64) -> Way {
        if AddressSpace::is_device(address) {
            return Way::Device;
        }
        match self.memory.find(address).map(|found| found.purpose) {
            None => Way::Pageable,
            Some(Use::Pinned | Use::Registered) => Way::Pinned,
            Some(Use::Managed | Use::Device | Use::Variable | Use::Imported) => Way::Device,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_takes_the_time_of_its_slowest_way() {
        let time = |to, from| seconds(to, from, 63_000_000, link_rate(90), 4.5e12) * 1e3;
        assert_eq!(time(Way::Device, Way::Pinned), 1.0);
        assert_eq!(time(Way::Pageable, Way::Device), 2.0);
        assert_eq!(time(Way::Device, Way::Device), 0.028);
        assert_eq!(time(Way::Pinned, Way::Pageable), 0.0);
        assert_eq!(
            [20, 35, 75, 80, 89, 90, 100].map(link_rate).map(|rate| rate / 1e9),
            [8.0, 15.75, 15.75, 31.5, 31.5, 63.0, 63.0]
        );
    }
}
