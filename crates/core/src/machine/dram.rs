//! DRAM as seen by one SM: bandwidth share, latency per line, and queueing delay.
//!
//! *Queueing.* Long before DRAM bandwidth is saturated, a read waits for other requests on its
//! channel, and longer for writes, because a channel either reads or writes. Channels are not
//! modeled; a law of the traffic gives the delay (`dram-stream`, `dram-crowd` and `dram-written` in
//! docs/calibration.md): with `load` = traffic / (traffic + half), a fraction sqrt(load) of all
//! reads waits, each between 0 and `load` x most. This form fits both the mean and the slowest of
//! eight reads: with more traffic, reads wait more often and longer.
//!
//! Not modeled: channels, banks, rows.

use super::cache::SECTOR;
use super::stores::FINE;
use crate::base::{Cycle, mix};
use crate::spec::Memory;

/// Cycles over which traffic is counted.
const WINDOW: Cycle = 4096;
/// Seed that makes a line's delay independent of its latency.
const OTHER_DRAW: u64 = 0x57a9;

/// DRAM share of one SM.
#[derive(Clone)]
pub(super) struct Dram {
    /// Fine time per sector.
    cost: u64,
    /// Fine time until which the share is busy.
    free: u64,
    /// Read latency: mean, and largest deviation of a line.
    latency: Cycle,
    spread: Cycle,
    /// Longest delay, and sectors per window at which the delay is half of it.
    most_wait: u64,
    half: u64,
    /// Weight of a written sector in the traffic, in read sectors.
    write: u64,
    /// Last window with traffic, and the sectors in it and in the one before.
    window: Cycle,
    traffic: [u64; 2],
}

impl Dram {
    /// Creates the share of one of `sms` SMs.
    pub(super) fn new(memory: &Memory, sms: u32) -> Dram {
        let share = f64::from(sms.max(1));
        let wait = memory.dram_wait;
        Dram {
            cost: ((SECTOR * FINE) as f64 / (memory.dram_bytes_per_cycle / share)).ceil() as u64,
            free: 0,
            latency: memory.dram_latency.into(),
            spread: memory.dram_spread.into(),
            most_wait: wait.map_or(0, |wait| wait.most.into()),
            half: wait.map_or(1, |wait| {
                (wait.half * WINDOW as f64 / SECTOR as f64 / share).ceil() as u64
            }),
            write: wait.map_or(0, |wait| wait.write.into()),
            window: 0,
            traffic: [0; 2],
        }
    }

    /// Writes sectors that arrive at `now`.
    #[inline]
    pub(super) fn write(&mut self, now: Cycle, sectors: u32) {
        if sectors > 0 {
            self.pass(now, sectors, self.write);
        }
    }

    /// Reads sectors of a line, requested at `now`. Returns the arrival cycle.
    #[inline]
    pub(super) fn read(&mut self, now: Cycle, line: u64, sectors: u32) -> Cycle {
        self.pass(now, sectors, 1);
        self.free / FINE + self.latency_of(line) + self.wait(line)
    }

    /// Passes sectors through the channel; each adds `weight` to the traffic.
    #[inline]
    fn pass(&mut self, now: Cycle, sectors: u32, weight: u64) {
        self.free = self.free.max(now * FINE) + u64::from(sectors) * self.cost;
        let window = now / WINDOW;
        if window > self.window {
            self.traffic = if window == self.window + 1 { [0, self.traffic[0]] } else { [0; 2] };
            self.window = window;
        }
        self.traffic[0] += u64::from(sectors) * weight;
    }

    /// Returns the line's latency without queueing.
    #[inline]
    fn latency_of(&self, line: u64) -> Cycle {
        if self.spread == 0 {
            self.latency
        } else {
            (self.latency + mix(line) % (2 * self.spread + 1)).saturating_sub(self.spread)
        }
    }

    /// Returns the line's queueing delay.
    #[inline]
    fn wait(&self, line: u64) -> Cycle {
        let traffic = self.traffic[1];
        if self.most_wait == 0 || traffic == 0 {
            return 0;
        }
        let load = traffic as f64 / (traffic + self.half) as f64;
        let draw = mix(line ^ OTHER_DRAW);
        let waits = f64::from((draw & 0xffff) as u16) < load.sqrt() * 65536.0;
        if waits { (draw >> 16) % (1 + (self.most_wait as f64 * load) as u64) } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Machine;

    fn h200() -> Dram {
        let text = Machine::preset_text("h200").expect("a preset");
        Dram::new(&Machine::parse(text).expect("a machine").memory, 132)
    }

    /// Mean and slowest latencies of loads with the given traffic, as on an H200.
    ///
    /// The traffic is in bytes read and written per cycle; the slowest is the mean of the slowest
    /// of sixteen.
    ///
    /// Measured in CUDA: 2^25 words in blocks of 512, of which the first 0 to 512 are stored; time
    /// stamps around each load of the middle half of the blocks, two runs, minus the cost of the
    /// stamps.
    #[test]
    fn reads_wait_for_others_as_on_an_h200() {
        for (read, written, mean, slowest) in [
            (790, 0, 760.0, 890.0),
            (754, 47, 790.0, 998.0),
            (737, 92, 813.0, 1034.0),
            (714, 178, 838.0, 1067.0),
            (688, 344, 877.0, 1128.0),
            (661, 496, 924.0, 1230.0),
            (636, 636, 947.0, 1280.0),
        ] {
            let mut dram = h200();
            let mut latencies = Vec::new();
            for line in 0..40_000_u64 {
                let at = |line: u64| line * 128 * 132 / read;
                let sectors = |line: u64| line * 4 * written / read;
                dram.write(at(line), (sectors(line + 1) - sectors(line)) as u32);
                latencies.push(dram.read(at(line), line, 4) - at(line));
            }
            let mean_of = |of: &[Cycle]| of.iter().sum::<Cycle>() as f64 / of.len() as f64;
            let settled = &latencies[4_000..];
            let slowest_of: Vec<Cycle> =
                settled.chunks_exact(16).filter_map(|of| of.iter().max().copied()).collect();
            for (what, found, measured) in
                [("mean", mean_of(settled), mean), ("slowest", mean_of(&slowest_of), slowest)]
            {
                let error = 100.0 * (found / measured - 1.0);
                assert!(
                    error.abs() < 9.0,
                    "{read}, {written}: {what} {found:.0}, measured {measured}: {error:+.1} %"
                );
            }
        }
    }
}
