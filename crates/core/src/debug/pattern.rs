//! Use of shared-memory banks or memory sectors by one access.
//!
//! Banks are 4 bytes wide. Lanes that access the same word of a bank are served together, so a
//! bank's load is the number of its distinct words (simt-facts E3; CUDA C++ Programming Guide,
//! "Shared Memory"). Wide accesses are served in groups of lanes; the load shown here is that of
//! the whole request, and the passes are those counted by the memory system.

use crate::base::MAX_LANES;
use crate::event::MemoryKind;
use crate::machine::Access;

/// Bytes per sector, and sectors per line.
const SECTOR: u64 = 32;
const SECTORS: u64 = 4;

/// Addresses of an access by bank or sector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Distinct words by bank.
    Banks(Vec<u32>),
    /// Touched 128-byte lines, ascending.
    Sectors(Vec<SectorRow>),
    /// No pattern: constants and parameters.
    Other,
}

/// Memory line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorRow {
    /// Address of its first byte.
    pub address: u64,
    /// Number of lanes that touch each of its sectors.
    pub lanes: [u32; SECTORS as usize],
}

impl Pattern {
    /// Returns the pattern of an access on a machine with `banks` banks.
    pub fn of(access: &Access, banks: u32) -> Pattern {
        let bytes = u64::from(access.traffic.bytes_per_lane());
        let places =
            access.traffic.lanes.lanes().map(|lane| access.addresses[lane as usize % MAX_LANES]);
        match access.traffic.memory {
            MemoryKind::Shared => {
                let mut words: Vec<u64> =
                    places.flat_map(|a| a / 4..=(a + bytes.max(1) - 1) / 4).collect();
                words.sort_unstable();
                words.dedup();
                let mut load = vec![0; banks.max(1) as usize];
                words.iter().for_each(|word| load[(word % u64::from(banks.max(1))) as usize] += 1);
                Pattern::Banks(load)
            }
            MemoryKind::Global | MemoryKind::Local => {
                let mut rows: Vec<SectorRow> = Vec::new();
                for place in places {
                    for sector in place / SECTOR..=(place + bytes.max(1) - 1) / SECTOR {
                        let address = sector / SECTORS * SECTORS * SECTOR;
                        let at = rows.iter().position(|row| row.address == address).unwrap_or_else(
                            || {
                                rows.push(SectorRow { address, lanes: [0; SECTORS as usize] });
                                rows.len() - 1
                            },
                        );
                        rows[at].lanes[(sector % SECTORS) as usize] += 1;
                    }
                }
                rows.sort_by_key(|row| row.address);
                Pattern::Sectors(rows)
            }
            MemoryKind::Const | MemoryKind::Texture | MemoryKind::Surface => Pattern::Other,
        }
    }
}
