//! Validation of a machine's parameters.

use super::{Impossible, Lowering, Machine, MachineCode, MachineSpec, Policy};
use crate::isa::Class;

impl MachineSpec {
    /// Validates every parameter.
    ///
    /// # Errors
    /// All impossible numbers.
    pub fn validate(self) -> Result<Machine, Vec<Impossible>> {
        let faults = self.faults();
        match faults.is_empty() {
            true => Ok(Machine(self)),
            false => Err(faults
                .into_iter()
                .map(|(field, message)| Impossible { field, message })
                .collect()),
        }
    }

    fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        let mut need = |ok: bool, field: &'static str, message: &str| {
            if !ok {
                faults.push((field, message.to_string()));
            }
        };
        need(!self.modes.is_empty(), "modes", "expected at least one mode");
        need((2..=32).contains(&self.warp_size), "warp_size", "expected 2 to 32 lanes per warp");
        need((1..=4096).contains(&self.sms), "sms", "expected 1 to 4096 SMs");
        need((1..=1_000_000).contains(&self.clock_mhz), "clock_mhz", "expected 1 to 1,000,000 MHz");
        need(
            (1..=16).contains(&self.schedulers),
            "schedulers",
            "expected 1 to 16 schedulers per SM",
        );
        need(
            self.schedulers >= 1
                && self.max_warps >= self.schedulers
                && self.max_warps.div_ceil(self.schedulers) <= 64,
            "max_warps",
            "expected 1 to 64 warps per scheduler",
        );
        need(
            (1..=1024).contains(&self.max_blocks),
            "max_blocks",
            "expected 1 to 1024 blocks per SM",
        );
        need(
            (1..=4096).contains(&self.max_block_threads),
            "max_block_threads",
            "expected 1 to 4096 threads per block",
        );
        need(self.max_threads >= 1, "max_threads", "expected at least one thread per SM");
        need(self.registers >= 1, "registers", "expected at least one register per SM");
        need(self.register_unit >= 1, "register_unit", "expected a unit of at least one register");
        need(self.shared_unit >= 1, "shared_unit", "expected a unit of at least one byte");
        need(
            self.memory.shared_banks.is_power_of_two() && self.memory.shared_banks <= 64,
            "shared_banks",
            "expected a power of two of at most 64 banks",
        );
        let texture = self.memory.texture;
        need(
            (1..16).contains(&texture.queue) && (1..16).contains(&texture.holds),
            "texture",
            "expected 1 to 15 fetches in a queue and in the unit",
        );
        if let Policy::TwoLevel { active } = self.policy {
            need(active >= 1, "policy", "expected at least one warp in the active set");
        }
        // Far above every GPU; the tags of larger caches would fill the host's memory.
        for (field, cache, most) in
            [("l1", self.memory.l1, 4 << 20), ("l2", Some(self.memory.l2), 1 << 30)]
        {
            if let Some(c) = cache {
                let ok = c.ways >= 1
                    && c.ways <= 1024
                    && c.bytes >= 128 * u64::from(c.ways)
                    && c.bytes <= most;
                need(
                    ok,
                    field,
                    "expected 1 to 1024 ways, at least one set of 128-byte lines, and at most 4 MiB \
                     (L1) or 1 GiB (L2)",
                );
            }
        }
        need(
            (1..=2).contains(&self.memory.l2_partitions),
            "l2_partitions",
            "expected 1 or 2 partitions",
        );
        for (field, rate) in [
            ("l2_bytes_per_cycle", self.memory.l2_bytes_per_cycle),
            ("l2_bytes_per_cycle_sm", self.memory.l2_bytes_per_cycle_sm),
            ("dram_bytes_per_cycle", self.memory.dram_bytes_per_cycle),
        ] {
            need(
                rate.is_finite() && rate >= 1e-3,
                field,
                "expected a positive number of bytes per cycle",
            );
        }
        if let Some(stores) = self.memory.stores {
            let rate = stores.l2_packets_per_cycle;
            let ok = rate.is_finite() && rate >= 1e-3;
            need(ok, "l2_packets_per_cycle", "expected a positive number of packets per cycle");
            let few = stores.line <= 1024 && stores.sector <= 1024;
            need(few, "stores", "expected at most 1024 packets per line and per sector");
        }
        if let Some(unit) = self.memory.bulk {
            let rates = [unit.load_rate, unit.load_rate_all, unit.store_rate, unit.reduce_rate];
            let ok = rates.iter().chain(&[unit.store_rate_all]).all(|rate| *rate >= 1e-3);
            need(ok, "bulk", "expected a positive number of bytes per cycle");
        }
        if let Some(wait) = self.memory.dram_wait {
            let ok =
                wait.half.is_finite() && (1e-3..=1e9).contains(&wait.half) && wait.write <= 1024;
            need(
                ok,
                "dram_wait",
                "expected a `half` of at most 1,000,000,000 bytes per cycle and more than 0, and a \
                 `write` of at most 1024",
            );
        }
        if let Some(atomics) = self.sass.as_ref().and_then(|times| times.atomics) {
            let rates = [atomics.round, atomics.partial, atomics.compare, atomics.float];
            let ok = rates.iter().all(|rate| (0.0..=1e6).contains(rate));
            need(ok, "atomics", "expected rounds of 0 to 1,000,000 cycles");
            let few = (2..=1 << 16).contains(&atomics.units) && atomics.units % 2 == 0;
            let ok = few && atomics.chunk >= 32;
            need(
                ok,
                "atomics",
                "expected 2 to 65,536 `units`, an even number, and a `chunk` of 32 bytes or more",
            );
            let parts = [atomics.fastest, atomics.late];
            let ok = parts.iter().all(|part| (0.0..=1.0).contains(part));
            need(ok, "atomics", "expected `fastest` and `late` of 0 to 1");
        }
        if let Some(rates) = self.sass.as_ref().and_then(|times| times.l2_rates) {
            let rates = [rates.requests, rates.sectors, rates.missing, rates.atomics];
            let ok = rates.iter().all(|rate| rate.is_finite() && *rate >= 1e-3);
            need(ok, "l2_rates", "expected positive numbers per cycle");
        }
        if let Some(partitions) = self.sass.as_ref().and_then(|times| times.partitions.as_ref()) {
            let ok = partitions.bits.iter().all(|&bit| (12..64).contains(&bit));
            need(ok, "partitions", "expected `bits` of 12 to 63");
        }
        if let Some(times) = self.sass.as_ref().and_then(|times| times.combining) {
            let ok = [times.lines, times.queue].iter().all(|lines| (1..=1024).contains(lines));
            need(ok, "combining", "expected 1 to 1024 `lines`, and as many in the `queue`");
        }
        if let Some(cache) = self.instruction_cache {
            let ok =
                cache.latency <= 100_000 && cache.interval <= 100_000 && cache.prefetch <= 1 << 16;
            need(
                ok,
                "instruction_cache",
                "expected a `latency` and an `interval` of at most 100,000 cycles, and a `prefetch` \
                 of at most 65,536 lines",
            );
        }
        need(
            self.lowering == Lowering::AsWritten || self.code.is_some(),
            "lowering",
            "`Hardware` lowering requires machine instructions in `code`",
        );
        faults.extend(self.code.iter().flat_map(MachineCode::faults));
        for &class in Class::ALL {
            match self.prices.get(&class) {
                None => {
                    faults.push(("prices", format!("missing price of class `{}`", class.name())))
                }
                Some(p) if p.slots == 0 && class != Class::Join => {
                    faults.push((
                        "prices",
                        format!("class `{}` has 0 slots: only `Join` may be free", class.name()),
                    ));
                }
                Some(p)
                    if p.latency > 1_000_000
                        || p.interval > 100_000
                        || p.slots > 100_000
                        || p.interval == 0 =>
                {
                    faults.push((
                        "prices",
                        format!("price of class `{}` out of range", class.name()),
                    ));
                }
                Some(_) => {}
            }
        }
        faults
    }
}
