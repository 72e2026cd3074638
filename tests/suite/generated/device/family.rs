//! Families of generated programs, and how a program is drawn.

use proptest::strategy::{BoxedStrategy, Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use simt_gpu as gpu;

use super::super::{Program, any_program};

/// Programs of one kind.
pub(in crate::generated) struct Family {
    pub(in crate::generated) record: &'static str,
    /// Seed of the first program.
    pub(super) seed: u64,
    /// Number of programs.
    pub(in crate::generated) programs: u32,
    /// True if they may call functions.
    pub(super) calls: bool,
}

/// Branches, loops, shared memory, shuffles, votes, reductions, atomics.
pub(in crate::generated) const PLAIN: Family = Family {
    record: "tests/observations/h200/random.ron",
    seed: 0x51d8_0000,
    programs: 2_100,
    calls: false,
};
/// Calls as well.
pub(in crate::generated) const CALLING: Family = Family {
    record: "tests/observations/h200/random_calls.ron",
    seed: 0x51d7_0000,
    programs: 2_040,
    calls: true,
};
pub(in crate::generated) const FAMILIES: [&Family; 2] = [&PLAIN, &CALLING];

pub(super) type Tree = Box<dyn ValueTree<Value = Program>>;

impl Family {
    pub(super) fn tree(&self, number: u32) -> Tree {
        let rng_seed = RngSeed::Fixed(self.seed + u64::from(number));
        let mut runner =
            TestRunner::new(Config { rng_seed, failure_persistence: None, ..Config::default() });
        // Building a strategy takes longer than drawing from it.
        thread_local! {
            static CALLING: BoxedStrategy<Program> = any_program().boxed();
            // Calls without functions are omitted.
            static PLAIN: BoxedStrategy<Program> =
                any_program().prop_map(Program::without_functions).boxed();
        }
        let strategy = if self.calls { &CALLING } else { &PLAIN };
        let drawn = strategy.with(|strategy| strategy.new_tree(&mut runner));
        Box::new(drawn.expect("no strategy rejects anything"))
    }

    pub(in crate::generated) fn name(&self) -> &'static str {
        if self.calls { "calls" } else { "plain" }
    }

    pub(in crate::generated) fn text(&self, number: u32) -> String {
        self.tree(number).current().print()
    }

    pub(in crate::generated) fn recorded(&self) -> Option<gpu::GeneratedRecord> {
        std::fs::read_to_string(self.record)
            .ok()
            .and_then(|text| gpu::GeneratedRecord::parse(&text).ok())
    }
}
