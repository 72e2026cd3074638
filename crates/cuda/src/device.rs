//! A virtual GPU: a machine, its attributes and its clock.

use std::sync::Arc;

use simt_core::machine::Options as RunOptions;
use simt_core::spec::Machine;

use crate::error::Error;
use crate::transfer::link_rate;

/// Oldest architecture that CUDA 13's compilers make code for. Older machines claim it.
const OLDEST: u32 = 75;
/// Architecture of a machine whose file names none.
const DEFAULT: u32 = 90;
/// Shared memory that a block may have without asking for more, in bytes.
pub(crate) const SHARED_DEFAULT: u32 = 48 << 10;
/// Largest grid in x, y and z.
pub(crate) const MOST_GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
/// Largest z extent of a block.
pub(crate) const MOST_BLOCK_Z: u32 = 64;

/// A virtual GPU.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) machine: Arc<Machine>,
    pub(crate) options: RunOptions,
    /// Architecture, as in 90 for compute capability 9.0.
    pub(crate) arch: u32,
    /// Bytes of device memory.
    pub(crate) memory: u64,
    /// Bytes a second between host and device.
    pub(crate) link: f64,
    /// Cycles of all launches, copies and sets so far.
    pub(crate) cycles: u64,
    /// Primary context, once made.
    pub(crate) primary: Option<u64>,
    /// Calls that retain the primary context.
    pub(crate) retained: u32,
    /// Flags of the primary context.
    pub(crate) flags: u32,
}

impl Device {
    pub(crate) fn new(
        (machine, options): (Machine, RunOptions),
        arch: Option<u32>,
        memory: u64,
    ) -> Device {
        let named = named_arch(&machine.doc).unwrap_or(DEFAULT);
        Device {
            machine: Arc::new(machine),
            options,
            arch: arch.unwrap_or(named.max(OLDEST)),
            memory,
            link: link_rate(named),
            cycles: 0,
            primary: None,
            retained: 0,
            flags: 0,
        }
    }

    pub(crate) fn name(&self) -> String {
        format!("simt-sim {}", self.machine.name)
    }

    /// Returns the identity of the device: 16 bytes.
    pub(crate) fn uuid(&self, ordinal: usize) -> [u8; 16] {
        let mut uuid = *b"simt-sim\0\0\0\0\0\0\0\0";
        let digest = simt_core::base::digest(self.machine.name.bytes()) as u32;
        uuid[8..12].copy_from_slice(&digest.to_be_bytes());
        uuid[12..].copy_from_slice(&(ordinal as u32).to_be_bytes());
        uuid
    }

    pub(crate) fn bus_id(ordinal: usize) -> String {
        format!("0000:{:02X}:00.0", ordinal + 1)
    }

    /// Returns the time of the device in milliseconds after a number of cycles.
    pub(crate) fn milliseconds(&self, cycles: u64) -> f64 {
        cycles as f64 / (f64::from(self.machine.clock_mhz) * 1e3)
    }

    /// Returns the shared memory that a block may ask for, in bytes.
    pub(crate) fn most_shared(&self) -> u32 {
        self.machine.shared_bytes.saturating_sub(self.machine.shared_reserved)
    }

    /// Returns an attribute, a number of `CUdevice_attribute`.
    ///
    /// Attributes of features that are not simulated (textures, pools shared between processes,
    /// peers) are 0.
    pub(crate) fn attribute(&self, attribute: u32, ordinal: usize) -> Result<i32, Error> {
        let m = &self.machine;
        let threads = m.max_block_threads;
        let value: u64 = match attribute {
            1..=3 => threads.into(),
            4 => MOST_BLOCK_Z.min(threads).into(),
            5..=7 => MOST_GRID[attribute as usize - 5].into(),
            8 => SHARED_DEFAULT.min(m.shared_bytes).into(),
            9 => 64 << 10,
            10 => m.warp_size.into(),
            11 => i32::MAX as u64,
            12 | 82 => m.registers.into(),
            13 => u64::from(m.clock_mhz) * 1000,
            // Alignments.
            14 | 30 => 512,
            51 => 32,
            15 | 31 | 41 | 78 | 79 | 80 | 83 | 89 | 90 | 95 | 99 | 115 => 1,
            16 => m.sms.into(),
            19 => 1,
            33 => ordinal as u64 + 1,
            36 => 2_619_000,
            37 => 6144,
            38 => m.memory.l2.bytes.min(i32::MAX as u64),
            39 => m.max_threads.into(),
            40 => 1,
            75 => u64::from(self.arch / 10),
            76 => u64::from(self.arch % 10),
            81 => m.shared_bytes.into(),
            87 => 2,
            91 => 1,
            97 => self.most_shared().into(),
            106 => m.max_blocks.into(),
            111 => m.shared_reserved.into(),
            17..148 => 0,
            _ => return Err(Error::INVALID_VALUE),
        };
        i32::try_from(value).map_err(|_| Error::INVALID_VALUE)
    }
}

/// Returns the architecture that a machine's description names, as in `sm_90`.
fn named_arch(doc: &str) -> Option<u32> {
    let digits = doc.split("sm_").nth(1)?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use simt_core::spec::Mode;

    #[test]
    fn a_device_claims_the_architecture_of_its_machine() {
        for (name, arch) in [("h200", 90), ("ampere", 80), ("fermi", 75), ("teaching", 90)] {
            let machine = Machine::preset(name).expect(name);
            let options = RunOptions::of(&machine, Mode::Volta);
            let device = Device::new((machine, options), None, 1 << 30);
            assert_eq!(device.arch, arch, "{name}");
            assert_eq!(device.attribute(75, 0), Ok((arch / 10) as i32));
            assert_eq!(device.attribute(0, 0), Err(Error::INVALID_VALUE));
            assert_eq!(device.attribute(148, 0), Err(Error::INVALID_VALUE));
        }
    }
}
