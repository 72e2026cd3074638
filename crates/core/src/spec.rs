//! Machine files: every timing parameter of the model in one typed, documented place.
//!
//! A preset is a RON file in `isa/machines/`; users can supply their own. An unknown or missing
//! field, a class without a price or an impossible number is an error with its position in the
//! file.

mod code;
mod digest;
mod memory;
mod sass;
mod slips;
mod validate;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::diag::Diagnostic;
use crate::divergence::SideOrder;
use crate::isa::{Class, Unit};

pub use code::{Entry, Expansion, Fold, Lowering, MachineCode, Target};
pub use memory::{
    BulkUnit, Cache, InstructionCache, Memory, StorePath, StorePolicy, TextureUnit, Transactions,
};
pub use sass::{
    AtomicRates, Combining, ConstantCache, ConstantLoads, Fences, Fetch, L2Rates, Latencies,
    Launches, LocalLatencies, Matches, Partitions, Reads, SassTimes,
};

use slips::{find_field, ron_diagnostic};

/// Divergence mode: how warps diverge and reconverge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Mode {
    /// Reconvergence stack (Tesla to Pascal).
    PreVolta,
    /// Independent thread scheduling (Volta and later).
    Volta,
}

impl Mode {
    /// Returns the name used on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::PreVolta => "pre-volta",
            Mode::Volta => "volta",
        }
    }

    /// Returns the preset used when only the mode is given.
    pub const fn default_machine(self) -> &'static str {
        match self {
            Mode::PreVolta => "fermi",
            Mode::Volta => "h200",
        }
    }
}

/// Scheduler policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Policy {
    /// Next ready warp after the last issued one, in slot order.
    LooseRoundRobin,
    /// Same warp while it is ready, else the oldest ready warp.
    GreedyThenOldest,
    /// Same warp while it is ready, else the youngest.
    ///
    /// Turing to Blackwell (Huerta et al., MICRO'25).
    GreedyThenYoungest,
    /// Oldest block with a ready warp first (measured on an H200, `ages`).
    ///
    /// Machine code: the same warp while it is ready, else the first of that block. The warps of a
    /// block keep an order, at first that of their slots. A warp moves to its end when a barrier
    /// releases it (the highest warp first), when it issues after a wait for a queue or for the
    /// unit of integer products, and when its control word yields. After a wait for a queue, and
    /// after a yield, the same warp has no priority (`tests/observations/h200/turns`).
    ///
    /// PTX, which has no control words: the same warp while it misses no cycle, else that block's
    /// warps in turn (`greedy`).
    OldestBlock,
    /// Round robin in an active set that warps leave to wait for memory.
    ///
    /// Narasiman et al., MICRO'11.
    TwoLevel {
        /// Size of the active set.
        active: u32,
    },
    /// Artificial schedule that searches for order-dependent results.
    ///
    /// Any ready warp issues, warps start and leave barriers late, and lane groups split at memory
    /// accesses, as independent thread scheduling allows. The seed determines all of it.
    Adversarial {
        /// Seed; equal seeds give equal schedules.
        seed: u64,
    },
}

/// Side that runs first; see [`crate::divergence::SideOrder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Side {
    /// Taken side.
    Taken,
    /// Fall-through side.
    FallThrough,
    /// Side with fewer lanes; fall-through on a tie.
    Fewer,
    /// Side with more lanes; fall-through on a tie.
    More,
}

/// Assignment of a block's warps to its warp slots, and so to schedulers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Placement {
    /// Slots in order.
    ///
    /// If a block's warps are a multiple of the schedulers, its first warp always gets the first
    /// scheduler.
    Fixed,
    /// Each block starts one scheduler further than the block before.
    ///
    /// This holds for blocks whose warps are a multiple of the schedulers.
    ///
    /// Measured on an H200. Blocks whose even warps do all the work thus use the whole SM.
    Rotating,
}

impl Placement {
    /// Returns the slot of a warp within its block's slots.
    ///
    /// It is warp `index` of an SM's `turn`-th block.
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

/// Cost of an instruction class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Cycles until a dependent instruction may issue.
    ///
    /// For memory classes: of an access that needs no memory ([`Memory`] has the memory system's
    /// own latencies). For branches: until the target is known.
    pub latency: u32,
    /// Cycles for which one warp instruction keeps the unit busy.
    #[serde(default = "one")]
    pub interval: u32,
    /// Machine instructions under [`Lowering::Hardware`].
    ///
    /// [`MachineCode::expand`] may override it.
    ///
    /// For `Join` under either lowering; 0: free.
    #[serde(default = "one")]
    pub slots: u32,
    /// Unit, if it differs from the class's usual one ([`Class::unit`]).
    #[serde(default)]
    pub unit: Option<Unit>,
}

fn one() -> u32 {
    1
}

/// Uniform datapath.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// Cycles until a dependent instruction may issue.
    pub latency: u32,
    /// Cycles for which one instruction keeps it busy.
    pub interval: u32,
    /// Cycles until a branch of the warp may issue.
    ///
    /// The next basic block may need the result at once.
    #[serde(default)]
    pub branch: u32,
}

/// Cost of block barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BarrierCost {
    /// Cycles from the last arrival to the release.
    pub base: u32,
    /// Cycles for which a warp's arrival keeps the SM's barrier unit busy.
    pub per_warp: u32,
    /// True if a warp continues with arithmetic on its registers while it waits.
    ///
    /// In machine code such a barrier is `BAR.SYNC.DEFER_BLOCKING`.
    #[serde(default)]
    pub deferred: bool,
}

/// Machine model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineSpec {
    /// Machine name, equal to the file's stem.
    pub name: String,
    /// One-line description.
    pub doc: String,
    /// Supported modes: one for real hardware; `teaching` has both, the first is its default.
    pub modes: Vec<Mode>,
    /// Side of a divergent branch that runs first.
    pub side: Side,
    /// Lanes per warp, 2..=32.
    pub warp_size: u32,
    /// Number of streaming multiprocessors.
    pub sms: u32,
    /// SM clock in MHz.
    pub clock_mhz: u32,
    /// Warp schedulers (sub-cores) per SM.
    ///
    /// Warp slot `w` belongs to scheduler `w % schedulers`.
    pub schedulers: u32,
    /// Assignment of a block's warps to schedulers.
    pub placement: Placement,
    /// Scheduler policy.
    pub policy: Policy,
    /// Resident warps per SM.
    pub max_warps: u32,
    /// Resident threads per SM.
    pub max_threads: u32,
    /// Resident blocks per SM.
    pub max_blocks: u32,
    /// Threads per block.
    pub max_block_threads: u32,
    /// 32-bit registers per SM.
    pub registers: u32,
    /// Allocation unit of a warp's registers.
    pub register_unit: u32,
    /// Shared memory per SM in bytes.
    pub shared_bytes: u32,
    /// Allocation unit of shared memory in bytes.
    pub shared_unit: u32,
    /// Bytes of shared memory of each block that the driver keeps for itself.
    #[serde(default)]
    pub shared_reserved: u32,
    /// Cycles between the admission of a block and the launch of its first warp.
    pub block_start: u32,
    /// Cycles between the end of a block and the admission of the next one.
    pub block_turnover: u32,
    /// Cycles between the launches of a block's warps.
    pub warp_start: u32,
    /// Cycles until an SM's first blocks have the constants of every kernel.
    pub cold_start: u32,
    /// Further cycles for the kernel's parameters, if it has any.
    pub cold_constants: u32,
    /// Instruction fetch model; `None`: fetches take no time, or nothing is known.
    #[serde(default)]
    pub instruction_cache: Option<InstructionCache>,
    /// Cycles of a launch without work on any SM, which profilers count as elapsed.
    pub launch_overhead: u32,
    /// Further cycles after a taken branch, to fetch from its target.
    pub branch_taken: u32,
    /// Cycles until a value read from a special register can be used.
    ///
    /// Such as `%tid` or `%ctaid`; 0: like a move.
    pub special_register: u32,
    /// Further cycles until a new predicate can guard an instruction or a branch.
    ///
    /// As an operand, for example of a selection, it can be used after its writer's latency.
    pub guard: u32,
    /// Cycles for which one request keeps the load/store unit busy.
    ///
    /// An SM has one load/store unit; all other units are private to a sub-core.
    pub lsu_interval: u32,
    /// Block barriers.
    pub barrier: BarrierCost,
    /// Memory system.
    pub memory: Memory,
    /// Default lowering; the command line may override it.
    pub lowering: Lowering,
    /// Machine instructions for PTX; `None`: unknown.
    pub code: Option<MachineCode>,
    /// Times of machine code; `None`: every pipe takes an instruction per cycle.
    #[serde(default)]
    pub sass: Option<SassTimes>,
    /// Uniform datapath, which computes warp-uniform values once (Turing and later).
    ///
    /// `None`: absent or unknown.
    pub uniform: Option<Uniform>,
    /// Cost of each class; every class needs one.
    pub prices: BTreeMap<Class, Price>,
}

/// A validated machine: what runs are made on.
///
/// It reads like its [`MachineSpec`]; only validation makes one.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine(MachineSpec);

impl std::ops::Deref for Machine {
    type Target = MachineSpec;

    fn deref(&self) -> &MachineSpec {
        &self.0
    }
}

impl Machine {
    /// Returns the names of the presets, oldest machine first.
    pub fn presets() -> impl Iterator<Item = &'static str> {
        simt_isa::MACHINES.iter().map(|&(name, _)| name)
    }

    /// Returns the name of the preset for machine code of an architecture: 75 for sm_75.
    ///
    /// A GPU runs machine code of its own generation only.
    pub const fn of_architecture(arch: u32) -> Option<&'static str> {
        match arch {
            75 => Some("turing"),
            80 | 86 | 87 => Some("ampere"),
            89 => Some("ada"),
            90 => Some("h200"),
            _ => None,
        }
    }

    /// Returns the text of a preset.
    pub fn preset_text(name: &str) -> Option<&'static str> {
        simt_isa::MACHINES.iter().find(|&&(n, _)| n == name).map(|&(_, text)| text)
    }

    /// Returns a preset.
    pub fn preset(name: &str) -> Option<Machine> {
        Machine::parse(Machine::preset_text(name)?).ok()
    }

    /// Parses and validates a machine file.
    ///
    /// # Errors
    /// One diagnostic for the first RON or structure error; otherwise all impossible numbers at
    /// once.
    pub fn parse(text: &str) -> Result<Machine, Vec<Diagnostic>> {
        let options = ron::Options::default()
            .with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
        let spec: MachineSpec =
            options.from_str(text).map_err(|e| vec![ron_diagnostic(&e, text)])?;
        spec.validate().map_err(|faults| {
            let diagnostic = |Impossible { field, message }| {
                let at = find_field(text, field);
                Diagnostic::error("bad-machine", at, message)
                    .help(format!("change `{field}` in the machine file"))
            };
            faults.into_iter().map(diagnostic).collect()
        })
    }

    /// Returns the machine with some parameters changed.
    ///
    /// # Errors
    /// All impossible numbers.
    pub fn changed(
        &self,
        change: impl FnOnce(&mut MachineSpec),
    ) -> Result<Machine, Vec<Impossible>> {
        let mut spec = self.0.clone();
        change(&mut spec);
        spec.validate()
    }

    /// Returns the machine with another lowering.
    pub fn lowered(&self, lowering: Lowering) -> Machine {
        Machine(MachineSpec { lowering, ..self.0.clone() })
    }

    /// Returns the machine with another scheduler policy.
    pub fn scheduled(&self, policy: Policy) -> Machine {
        Machine(MachineSpec { policy, ..self.0.clone() })
    }
}

/// A parameter of a machine with an impossible value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}`: {message}")]
pub struct Impossible {
    /// Name of the field.
    pub field: &'static str,
    /// Message.
    pub message: String,
}

impl MachineSpec {
    /// Returns the default order of a divergent branch's sides.
    pub const fn side_order(&self) -> SideOrder {
        match self.side {
            Side::Taken => SideOrder::Taken,
            Side::FallThrough => SideOrder::FallThrough,
            Side::Fewer => SideOrder::Fewer,
            Side::More => SideOrder::More,
        }
    }

    /// Returns the cost of [`Class`].
    pub fn price(&self, class: Class) -> Price {
        // `faults` rejects a file without a price for every class.
        self.prices.get(&class).copied().unwrap_or(Price {
            latency: 1,
            interval: 1,
            slots: 1,
            unit: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_loads_under_its_own_name() {
        for (name, text) in simt_isa::MACHINES {
            let spec = Machine::parse(text).unwrap_or_else(|d| panic!("{name}: {d:?}"));
            assert_eq!(spec.name, name);
        }
    }

    #[test]
    fn slips_are_found_with_a_place_and_a_suggestion() {
        let text = simt_isa::MACHINES[0].1;
        let misspelt = text.replace("warp_size:", "warp_sise:");
        let found = Machine::parse(&misspelt).expect_err("unknown field");
        assert!(found[0].help.as_deref().is_some_and(|h| h.contains("warp_size")), "{found:?}");
        assert!(found[0].labels[0].span.start > 0);

        let wide = text.replace("warp_size: 8", "warp_size: 33");
        assert_ne!(wide, text);
        let found = Machine::parse(&wide).expect_err("33 lanes");
        assert_eq!(
            &wide[found[0].labels[0].span.start as usize..found[0].labels[0].span.end as usize],
            "warp_size"
        );

        for wait in [
            "(most: 1, half: 0.0, write: 4)",
            "(most: 1, half: inf, write: 4)",
            "(most: 1, half: 1.0, write: 9999)",
        ] {
            let endless = text.replace("dram_wait: None", &format!("dram_wait: {wait}"));
            assert_ne!(endless, text);
            let found = Machine::parse(&endless).expect_err(wait);
            assert_eq!(found.len(), 1, "{found:?}");
        }

        let (_, h200) = simt_isa::MACHINES.iter().find(|(name, _)| *name == "h200").expect("h200");
        let never = h200.replace("queue: 6,", "queue: 0,");
        assert_ne!(never, **h200);
        let found = Machine::parse(&never).expect_err("a queue without room");
        let help = found[0].help.as_deref();
        assert!(help.is_some_and(|help| help.contains("combining")), "{found:?}");
        for rate in ["0.0", "-1.0", "inf"] {
            let endless = h200.replace("requests: 132.0", &format!("requests: {rate}"));
            assert_ne!(endless, **h200);
            let found = Machine::parse(&endless).expect_err(rate);
            let help = found[0].help.as_deref();
            assert!(help.is_some_and(|help| help.contains("l2_rates")), "{found:?}");
        }

        let unpriced = text.replace("Shuffle:", "// Shuffle:");
        let found = Machine::parse(&unpriced).expect_err("no price");
        assert!(found[0].message.contains("Shuffle"), "{found:?}");
    }
}
