//! Machine files: every number of time that the model has, in one typed, documented place.
//!
//! A preset is a RON file under `isa/machines/`; users can bring their own. An unknown or missing field, a class without
//! a price or an impossible number is an error with its place in the file.

mod code;
mod digest;
mod memory;
mod slips;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::diag::Diagnostic;
use crate::divergence::SideOrder;
use crate::isa::{Class, Unit};

pub use code::{Entry, Expansion, Fold, Lowering, MachineCode, Target};
pub use memory::{Cache, InstructionCache, Memory, StorePath, StorePolicy, Transactions};

use slips::{find_field, ron_diagnostic};

/// How warps diverge and reconverge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Mode {
    /// The reconvergence stack (Tesla to Pascal).
    PreVolta,
    /// Independent thread scheduling (Volta on).
    Volta,
}

impl Mode {
    /// The name on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::PreVolta => "pre-volta",
            Mode::Volta => "volta",
        }
    }

    /// The preset taken when only the mode is given.
    pub const fn default_machine(self) -> &'static str {
        match self {
            Mode::PreVolta => "fermi",
            Mode::Volta => "h200",
        }
    }
}

/// Which ready warp a scheduler issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Policy {
    /// The next ready warp after the one issued last, in slot order.
    LooseRoundRobin,
    /// The same warp while it is ready, else the one resident longest.
    GreedyThenOldest,
    /// The same warp while it is ready, else the one resident shortest (Turing to Blackwell, Huerta et al., MICRO'25).
    GreedyThenYoungest,
    /// The same warp while it misses no cycle, else the oldest block that has a ready warp, and of its warps the next after the one
    /// issued last (measured on an H200: `ages`, `greedy`).
    OldestBlock,
    /// Round robin among `active` warps; one that waits for memory leaves the set (Narasiman et al., MICRO'11).
    TwoLevel {
        /// Size of the active set.
        active: u32,
    },
    /// No machine's: a schedule that looks for order-dependent results. Any ready warp issues; warps start and leave
    /// barriers late; groups of lanes part at memory accesses, as independent thread scheduling allows. All by the seed.
    Adversarial {
        /// The same seed gives the same schedule.
        seed: u64,
    },
}

/// Which side of a divergent branch runs first; see [`crate::divergence::SideOrder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Side {
    /// The side that branches.
    Taken,
    /// The side that falls through.
    FallThrough,
    /// The side with fewer lanes, on a tie the fall-through side.
    Fewer,
    /// The side with more lanes, on a tie the fall-through side.
    More,
}

/// Which of its slots each warp of a block gets, and so which scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Placement {
    /// The slots in order: where the warps of a block are a multiple of the schedulers, the first always goes to the first.
    Fixed,
    /// Where they are such a multiple, the first warp of each block that an SM takes in goes one scheduler further than that
    /// of the block before. Measured on an H200; it keeps blocks whose even warps have all the work from using half an SM.
    Rotating,
}

impl Placement {
    /// The slot, within its block's slots, of warp `index` of the `turn`-th block of an SM.
    pub(super) fn slot(self, index: u32, warps: u32, schedulers: u32, turn: u32) -> u32 {
        match self {
            Placement::Rotating if warps.is_multiple_of(schedulers) => {
                let within = index % schedulers;
                index - within + (within + turn % schedulers) % schedulers
            }
            Placement::Fixed | Placement::Rotating => index,
        }
    }
}

/// What a class of instructions costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Cycles from issue to the issue of a dependent instruction. For memory classes: of an access that needs no memory
    /// (the memory system's own latencies stand in [`Memory`]); for branches: until the target is known.
    pub latency: u32,
    /// Cycles the unit is busy with one warp instruction.
    #[serde(default = "one")]
    pub interval: u32,
    /// Machine instructions it becomes under [`Lowering::Hardware`] where [`MachineCode::expand`] does not say otherwise; for `Join` (0:
    /// free) under either lowering.
    #[serde(default = "one")]
    pub slots: u32,
    /// The unit it keeps busy here, where that is not its class's usual one ([`Class::unit`]).
    #[serde(default)]
    pub unit: Option<Unit>,
}

fn one() -> u32 {
    1
}

/// A uniform datapath.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// Cycles from issue to the issue of a dependent instruction.
    pub latency: u32,
    /// Cycles it is busy with one instruction.
    pub interval: u32,
    /// Cycles from issue to the issue of a branch of the warp: the block behind may need the result at once.
    #[serde(default)]
    pub branch: u32,
}

/// Block barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BarrierCost {
    /// Cycles from the last arrival to the release.
    pub base: u32,
    /// Cycles that the SM's barrier unit is busy with the arrival of a warp.
    pub per_warp: u32,
    /// Whether a warp goes on with arithmetic on its lanes' registers until it needs anything else (`BAR.SYNC.DEFER_BLOCKING`).
    #[serde(default)]
    pub deferred: bool,
}

/// A machine.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineSpec {
    /// Its name; the file's stem.
    pub name: String,
    /// One line on what it stands for.
    pub doc: String,
    /// How its warps can diverge: one mode for real hardware; `teaching` has both, the first is its default.
    pub modes: Vec<Mode>,
    /// Which side runs first.
    pub side: Side,
    /// Lanes a warp, 2..=32.
    pub warp_size: u32,
    /// Streaming multiprocessors.
    pub sms: u32,
    /// SM clock in MHz.
    pub clock_mhz: u32,
    /// Warp schedulers (sub-cores) an SM; warp slot `w` belongs to scheduler `w % schedulers`.
    pub schedulers: u32,
    /// Which scheduler a block's first warp gets.
    pub placement: Placement,
    /// Their policy.
    pub policy: Policy,
    /// Resident warps an SM.
    pub max_warps: u32,
    /// Resident threads an SM.
    pub max_threads: u32,
    /// Resident blocks an SM.
    pub max_blocks: u32,
    /// Threads a block.
    pub max_block_threads: u32,
    /// 32-bit registers an SM.
    pub registers: u32,
    /// Registers are handed out to a warp in multiples of this.
    pub register_unit: u32,
    /// Shared memory of an SM in bytes.
    pub shared_bytes: u32,
    /// Shared memory is handed out in multiples of this; also added once a block where the driver reserves some.
    pub shared_unit: u32,
    /// Cycles between the admission of a block and the launch of its first warp.
    pub block_start: u32,
    /// Cycles between the end of a block and the admission of another in its place.
    pub block_turnover: u32,
    /// Cycles between the launches of a block's warps.
    pub warp_start: u32,
    /// Cycles that an SM's first blocks wait for constants that no cache holds yet: those that every kernel begins with.
    pub cold_start: u32,
    /// Further ones for its parameters, if the kernel has any.
    pub cold_constants: u32,
    /// How an SM gets code that it has not run before; `None`: without time, or nothing is known of it.
    #[serde(default)]
    pub instruction_cache: Option<InstructionCache>,
    /// Cycles of a launch in which no SM has work yet or any more: what a profiler counts as elapsed beside them.
    pub launch_overhead: u32,
    /// Further cycles after a branch that is taken: its target's instructions are fetched.
    pub branch_taken: u32,
    /// Cycles until what was read from a special register (`%tid`, `%ctaid`, ..) can be used; 0: as any move.
    pub special_register: u32,
    /// Further cycles until a predicate that was just written can guard an instruction or a branch. As an operand (of a
    /// selection, say) it can be used when the latency of its writer is over.
    pub guard: u32,
    /// Execution units of the same kind are private to a sub-core, except the load/store unit, which one SM has once;
    /// cycles it is busy with one request.
    pub lsu_interval: u32,
    /// Block barriers.
    pub barrier: BarrierCost,
    /// The memory system.
    pub memory: Memory,
    /// How programs are issued unless the command line says otherwise.
    pub lowering: Lowering,
    /// The machine instructions that PTX becomes here; `None`: nothing is known of them.
    pub code: Option<MachineCode>,
    /// The datapath that does once for a warp what is the same in all its lanes (Turing on); `None`: there is none, or nothing is
    /// known of it.
    pub uniform: Option<Uniform>,
    /// What each class costs. Every class must be priced.
    pub prices: BTreeMap<Class, Price>,
}

impl MachineSpec {
    /// The names of the presets, oldest machine first.
    pub fn presets() -> impl Iterator<Item = &'static str> {
        simt_isa::MACHINES.iter().map(|&(name, _)| name)
    }

    /// The file of a preset.
    pub fn preset_text(name: &str) -> Option<&'static str> {
        simt_isa::MACHINES.iter().find(|&&(n, _)| n == name).map(|&(_, text)| text)
    }

    /// Which side of a divergent branch runs first, unless a run says otherwise.
    pub const fn side_order(&self) -> SideOrder {
        match self.side {
            Side::Taken => SideOrder::Taken,
            Side::FallThrough => SideOrder::FallThrough,
            Side::Fewer => SideOrder::Fewer,
            Side::More => SideOrder::More,
        }
    }

    /// Reads a machine file.
    ///
    /// # Errors
    /// One diagnostic for the first thing that is not RON or not a machine; all impossible numbers at once.
    pub fn parse(text: &str) -> Result<MachineSpec, Vec<Diagnostic>> {
        let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
        let spec: MachineSpec = options.from_str(text).map_err(|e| vec![ron_diagnostic(&e, text)])?;
        let faults = spec.faults();
        if faults.is_empty() {
            return Ok(spec);
        }
        Err(faults
            .into_iter()
            .map(|(field, message)| {
                let at = find_field(text, field);
                Diagnostic::error("bad-machine", at, message).help(format!("change `{field}` in the machine file"))
            })
            .collect())
    }

    /// What [`Class`] costs here.
    pub fn price(&self, class: Class) -> Price {
        // `faults` has refused a file without a price for every class.
        self.prices.get(&class).copied().unwrap_or(Price { latency: 1, interval: 1, slots: 1, unit: None })
    }

    fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        let mut need = |ok: bool, field: &'static str, message: &str| {
            if !ok {
                faults.push((field, message.to_string()));
            }
        };
        need(!self.modes.is_empty(), "modes", "a machine has at least one mode");
        need((2..=32).contains(&self.warp_size), "warp_size", "a warp has 2 to 32 lanes");
        need((1..=4096).contains(&self.sms), "sms", "a machine has 1 to 4096 SMs");
        need((1..=1_000_000).contains(&self.clock_mhz), "clock_mhz", "the clock is 1 to 1,000,000 MHz");
        need((1..=16).contains(&self.schedulers), "schedulers", "an SM has 1 to 16 schedulers");
        need(
            self.schedulers >= 1 && self.max_warps >= self.schedulers && self.max_warps.div_ceil(self.schedulers) <= 64,
            "max_warps",
            "an SM holds at least one warp and at most 64 warps a scheduler",
        );
        need((1..=1024).contains(&self.max_blocks), "max_blocks", "an SM holds 1 to 1024 blocks");
        need((1..=4096).contains(&self.max_block_threads), "max_block_threads", "a block has 1 to 4096 threads");
        need(self.max_threads >= 1, "max_threads", "an SM holds at least one thread");
        need(self.registers >= 1, "registers", "an SM has registers");
        need(self.register_unit >= 1, "register_unit", "registers are handed out in units of at least 1");
        need(self.shared_unit >= 1, "shared_unit", "shared memory is handed out in units of at least 1 byte");
        need(
            self.memory.shared_banks.is_power_of_two() && self.memory.shared_banks <= 64,
            "shared_banks",
            "shared memory has a power of two of banks, at most 64",
        );
        if let Policy::TwoLevel { active } = self.policy {
            need(active >= 1, "policy", "the active set of a two-level scheduler holds at least one warp");
        }
        // Far beyond every GPU; the tags of larger ones would fill the host's memory.
        for (field, cache, most) in [("l1", self.memory.l1, 4 << 20), ("l2", Some(self.memory.l2), 1 << 30)] {
            if let Some(c) = cache {
                let ok = c.ways >= 1 && c.ways <= 1024 && c.bytes >= 128 * u64::from(c.ways) && c.bytes <= most;
                need(
                    ok,
                    field,
                    "a cache has 1 to 1024 ways and room for at least one set of 128-byte lines, L1 up to 4 MiB, L2 up to 1 GiB",
                );
            }
        }
        need((1..=2).contains(&self.memory.l2_partitions), "l2_partitions", "L2 has one or two partitions");
        for (field, rate) in [
            ("l2_bytes_per_cycle", self.memory.l2_bytes_per_cycle),
            ("l2_bytes_per_cycle_sm", self.memory.l2_bytes_per_cycle_sm),
            ("dram_bytes_per_cycle", self.memory.dram_bytes_per_cycle),
        ] {
            need(rate.is_finite() && rate >= 1e-3, field, "a rate is a positive number of bytes a cycle");
        }
        if let Some(stores) = self.memory.stores {
            let rate = stores.l2_packets_per_cycle;
            let ok = rate.is_finite() && rate >= 1e-3;
            need(ok, "l2_packets_per_cycle", "a rate is a positive number of packets a cycle");
            let few = stores.line <= 1024 && stores.sector <= 1024;
            need(few, "stores", "a line and a sector are 1024 packets at most");
        }
        if let Some(wait) = self.memory.dram_wait {
            let ok = wait.half.is_finite() && (1e-3..=1e9).contains(&wait.half) && wait.write <= 1024;
            need(
                ok,
                "dram_wait",
                "`half` is a positive number of bytes a cycle, up to a thousand million; `write` is 1024 at most",
            );
        }
        if let Some(cache) = self.instruction_cache {
            let ok = cache.latency <= 100_000 && cache.interval <= 100_000 && cache.prefetch <= 1 << 16;
            need(
                ok,
                "instruction_cache",
                "`latency` and `interval` are 100,000 cycles at most, `prefetch` is 65,536 lines at most",
            );
        }
        need(
            self.lowering == Lowering::AsWritten || self.code.is_some(),
            "lowering",
            "`Hardware` needs to know machine instructions: say what `code` is",
        );
        faults.extend(self.code.iter().flat_map(MachineCode::faults));
        for &class in Class::ALL {
            match self.prices.get(&class) {
                None => faults.push(("prices", format!("class `{}` has no price", class.name()))),
                Some(p) if p.slots == 0 && class != Class::Join => {
                    faults.push(("prices", format!("class `{}` has 0 slots; only `Join` may be free", class.name())));
                }
                Some(p) if p.latency > 1_000_000 || p.interval > 100_000 || p.slots > 100_000 || p.interval == 0 => {
                    faults.push(("prices", format!("the price of class `{}` is out of range", class.name())));
                }
                Some(_) => {}
            }
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_loads_under_its_own_name() {
        for (name, text) in simt_isa::MACHINES {
            let spec = MachineSpec::parse(text).unwrap_or_else(|d| panic!("{name}: {d:?}"));
            assert_eq!(spec.name, name);
        }
    }

    #[test]
    fn slips_are_found_with_a_place_and_a_suggestion() {
        let text = simt_isa::MACHINES[0].1;
        let misspelt = text.replace("warp_size:", "warp_sise:");
        let found = MachineSpec::parse(&misspelt).expect_err("unknown field");
        assert!(found[0].help.as_deref().is_some_and(|h| h.contains("warp_size")), "{found:?}");
        assert!(found[0].labels[0].span.start > 0);

        let wide = text.replace("warp_size: 8", "warp_size: 33");
        assert_ne!(wide, text);
        let found = MachineSpec::parse(&wide).expect_err("33 lanes");
        assert_eq!(&wide[found[0].labels[0].span.start as usize..found[0].labels[0].span.end as usize], "warp_size");

        for wait in
            ["(most: 1, half: 0.0, write: 4)", "(most: 1, half: inf, write: 4)", "(most: 1, half: 1.0, write: 9999)"]
        {
            let endless = text.replace("dram_wait: None", &format!("dram_wait: {wait}"));
            assert_ne!(endless, text);
            let found = MachineSpec::parse(&endless).expect_err(wait);
            assert_eq!(found.len(), 1, "{found:?}");
        }

        let unpriced = text.replace("Shuffle:", "// Shuffle:");
        let found = MachineSpec::parse(&unpriced).expect_err("no price");
        assert!(found[0].message.contains("Shuffle"), "{found:?}");
    }
}
