//! Work of an atomic unit of L2 for the lanes of a request.

use super::Weight;
use crate::base::MAX_LANES;
use crate::machine::cache::{LINE, SECTOR};
use crate::machine::stores::FINE;
use crate::spec::AtomicRates;

/// Room on an SM's path that a packet takes beyond its data, in words.
const HEADER: u32 = 16;

/// Time and room that a request to a unit needs.
pub(super) struct Work {
    /// Fine time of the unit.
    pub cost: u64,
    /// Words on the SM's path.
    pub size: u32,
    /// Sectors, one bit each.
    pub sectors: u32,
}

/// Rounds in which a unit serves the words of a sector.
struct Rounds {
    all: u32,
    /// Rounds with every word of the sector.
    full: u32,
    /// Rounds with more than two words.
    wide: u32,
}

impl Rounds {
    /// Counts the rounds for ascending addresses of words of `bytes` bytes in a sector.
    fn of(sector: &[u64], bytes: u8) -> Rounds {
        let mut lanes = [0; MAX_LANES];
        let mut words = 0;
        for word in sector.chunk_by(|a, b| a == b) {
            lanes[words] = word.len() as u32;
            words += 1;
        }
        lanes[..words].sort_unstable_by(|a, b| b.cmp(a));
        let is_full = words as u64 * u64::from(bytes) >= SECTOR;
        Rounds { all: lanes[0], full: if is_full { lanes[words - 1] } else { 0 }, wide: lanes[2] }
    }
}

/// Returns the work for ascending addresses of words of `bytes` bytes that one unit has, after a
/// request for the sectors `last`.
pub(super) fn work(
    rates: &AtomicRates,
    (weight, bytes): (Weight, u8),
    words: &[u64],
    last: u32,
) -> Work {
    let (mut busy, mut sums, mut packets, mut sectors) = (0.0, 0.0_f64, 0, 0);
    for line in words.chunk_by(|a, b| a / LINE == b / LINE) {
        let (mut all, mut most, mut is_full) = (0, 0, true);
        for sector in line.chunk_by(|a, b| a / SECTOR == b / SECTOR) {
            let rounds = Rounds::of(sector, bytes);
            let bit = 1 << (sector[0] / SECTOR % 32);
            sectors |= bit;
            let [takes, until] = cost(rates, weight, &rounds, last & bit != 0);
            busy += takes;
            sums = sums.max(until);
            all += rounds.all;
            most = most.max(rounds.all);
            is_full &= rounds.full == rounds.all;
        }
        // Full sectors of a line are one packet.
        packets += if is_full { most } else { all };
    }
    let size = HEADER * packets + words.len() as u32 * u32::from(bytes).div_ceil(4);
    Work { cost: (busy.max(sums) * FINE as f64) as u64, size, sectors }
}

/// Returns the cycles of a unit for the rounds of a sector, and those in which it does sums of
/// floats, one after the other, and after the last ones if it serves the sector `again`.
fn cost(rates: &AtomicRates, weight: Weight, rounds: &Rounds, again: bool) -> [f64; 2] {
    let [all, full, wide] = [rounds.all, rounds.full, rounds.wide].map(f64::from);
    let sums = (all - f64::from(u8::from(!again))) * rates.float;
    let cycles = |full: f64| full * rates.round + (all - full) * rates.partial;
    match weight {
        Weight::Plain | Weight::Count => [cycles(full), 0.0],
        Weight::Compare | Weight::Cast => [all * rates.compare, 0.0],
        Weight::Float => [cycles(full), sums],
        // A unit adds two doubles at a time.
        Weight::Double => [cycles(wide) + wide * rates.round, sums + wide * rates.round],
    }
}
