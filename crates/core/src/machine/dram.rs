//! DRAM as one SM sees it: its share of the bandwidth, each line's own latency, and how much longer that is when there is more to do.
//!
//! *Waiting.* Long before its bandwidth is used up, a read of DRAM waits for others on its channel, and longer for writes, since a
//! channel either reads or writes. Channels are not modelled; how long reads wait is a law of the traffic (`dram-stream`, `dram-crowd` and
//! `dram-written` in docs/calibration.md): with `load` = traffic / (traffic + half), sqrt(load) of all reads wait, each any time up to
//! `load` x most. The form is what fits the means and the slowest of eight together: with more traffic reads wait more often and longer.
//!
//! Not modelled: channels, banks, rows.

use super::cache::SECTOR;
use super::stores::FINE;
use crate::base::{Cycle, mix};
use crate::spec::Memory;

/// Cycles over which traffic is counted.
const WINDOW: Cycle = 4096;
/// Makes a line's wait another draw than its latency.
const OTHER_DRAW: u64 = 0x57a9;

/// One SM's share of DRAM.
#[derive(Clone)]
pub(super) struct Dram {
    /// Fine time a sector takes.
    cost: u64,
    /// Fine time until which it is busy.
    free: u64,
    /// Latency of a read: the mean, and how far a line's may be from it.
    latency: Cycle,
    spread: Cycle,
    /// The longest wait, and at how many sectors a window it is half of that.
    most_wait: u64,
    half: u64,
    /// As how many sectors that are read one that is written counts.
    write: u64,
    /// The last window in which there was anything to do, and the sectors in it and in the one before.
    window: Cycle,
    traffic: [u64; 2],
}

impl Dram {
    /// The share of one of `sms`.
    pub(super) fn new(memory: &Memory, sms: u32) -> Dram {
        let share = f64::from(sms.max(1));
        let wait = memory.dram_wait;
        Dram {
            cost: ((SECTOR * FINE) as f64 / (memory.dram_bytes_per_cycle / share)).ceil() as u64,
            free: 0,
            latency: memory.dram_latency.into(),
            spread: memory.dram_spread.into(),
            most_wait: wait.map_or(0, |wait| wait.most.into()),
            half: wait.map_or(1, |wait| (wait.half * WINDOW as f64 / SECTOR as f64 / share).ceil() as u64),
            write: wait.map_or(0, |wait| wait.write.into()),
            window: 0,
            traffic: [0; 2],
        }
    }

    /// Writes sectors that come at `now`.
    #[inline]
    pub(super) fn write(&mut self, now: Cycle, sectors: u32) {
        if sectors > 0 {
            self.pass(now, sectors, self.write);
        }
    }

    /// Reads sectors of a line, asked for at `now`; the cycle in which they are there.
    #[inline]
    pub(super) fn read(&mut self, now: Cycle, line: u64, sectors: u32) -> Cycle {
        self.pass(now, sectors, 1);
        self.free / FINE + self.latency_of(line) + self.wait(line)
    }

    /// Lets sectors through, behind those before; in the traffic each counts as so many.
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

    /// What this line takes where nothing is in its way.
    #[inline]
    fn latency_of(&self, line: u64) -> Cycle {
        if self.spread == 0 {
            self.latency
        } else {
            (self.latency + mix(line) % (2 * self.spread + 1)).saturating_sub(self.spread)
        }
    }

    /// How long this line waits for others.
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
    use crate::spec::MachineSpec;

    fn h200() -> Dram {
        let text = MachineSpec::preset_text("h200").expect("a preset");
        Dram::new(&MachineSpec::parse(text).expect("a machine").memory, 132)
    }

    /// Mean latency of loads, and mean of the slowest of sixteen, on an H200 that reads and writes so many bytes a cycle, in CUDA: 2^25
    /// words in blocks of 512, of which the first 0 to 512 are stored; stamps around each load of the middle half of the blocks, two runs,
    /// less what the stamps take.
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
            let slowest_of: Vec<Cycle> = settled.chunks_exact(16).filter_map(|of| of.iter().max().copied()).collect();
            for (what, found, measured) in
                [("mean", mean_of(settled), mean), ("slowest", mean_of(&slowest_of), slowest)]
            {
                let error = 100.0 * (found / measured - 1.0);
                assert!(error.abs() < 9.0, "{read}, {written}: {what} {found:.0}, measured {measured}: {error:+.1} %");
            }
        }
    }
}
