//! Digests of machine files: equal contents have equal digests.

use super::MachineSpec;
use crate::base::digest;

impl MachineSpec {
    /// Returns the digest of everything that affects a figure: all but name and description.
    pub fn digest(&self) -> u64 {
        let contents = MachineSpec { name: String::new(), doc: String::new(), ..self.clone() };
        digest(format!("{contents:?}").bytes())
    }

    /// Returns the digest of everything that affects counts.
    ///
    /// That is the divergence mode, instruction lowering and the unit of transactions, without
    /// latencies, rates, caches and the number of SMs.
    pub fn count_digest(&self) -> u64 {
        let slots: Vec<_> = self.prices.iter().map(|(class, price)| (class, price.slots)).collect();
        let memory = (self.memory.transactions, self.memory.fill_lines, self.memory.shared_banks);
        let machine_code = (self.lowering, &self.code, self.uniform.is_some(), slots);
        digest(
            format!("{:?}", (&self.modes, self.side, self.warp_size, memory, machine_code)).bytes(),
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::spec::Machine;

    #[test]
    fn names_do_not_enter_and_latencies_enter_only_the_whole() {
        let text = Machine::preset_text("h200").expect("a preset");
        let digests = |text: &str| {
            let spec = Machine::parse(text).expect("a machine");
            (spec.digest(), spec.count_digest())
        };
        let edited = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            digests(&text.replacen(from, to, 1))
        };
        let (whole, counts) = digests(text);
        assert_eq!(edited("name: \"h200\"", "name: \"mine\""), (whole, counts));
        let (slow, same) = edited("dram_latency: 634", "dram_latency: 60000");
        assert_ne!(slow, whole);
        assert_eq!(same, counts);
        for (from, to) in
            [("warp_size: 32", "warp_size: 16"), ("shared_banks: 32", "shared_banks: 16")]
        {
            let (whole_of, counts_of) = edited(from, to);
            assert!(whole_of != whole && counts_of != counts, "{from}");
        }
    }
}
