//! A [`Job`]: program, compiled code, launch, machine and options of a run.
//!
//! Reports, questions, grading, sweeps and comparisons with a GPU all run jobs. The methods use the
//! observers of [`crate::observe`] and [`crate::checks`]; [`Job::run`] takes any observer.

use crate::base::BlockId;
use crate::checks::{Checker, Checkers, Checks};
use crate::code::Code;
use crate::divergence::SideOrder;
use crate::event::{Event, Observer};
use crate::kernel::Kernel;
use crate::launch::Launch;
use crate::machine::{self, DoesNotFit, Finish, Host, Options, Outcome, QUIET, Timing, Watched};
use crate::observe::{Counts, Edges, Passage, Passages, Slots, Timeline, Trace, Visits, Window};
use crate::program::Program;
use crate::ptxas;
use crate::sass;
use crate::spec::{Machine, Policy, Target};

/// Lanes counted by edge and by basic block.
pub type PassageCounts = (Vec<Passage>, Vec<Visits>);

/// A run that is ready to start.
#[derive(Clone)]
pub struct Job<'a> {
    /// Program that names and lines refer to.
    pub program: &'a Program,
    /// Kernel compiled for the machine.
    pub code: Code,
    /// Grid, block, arguments and buffers.
    pub launch: Launch,
    /// Simulated machine.
    pub machine: &'a Machine,
    /// Mode, order of sides, limits.
    pub options: Options,
}

impl<'a> Job<'a> {
    /// Compiles `kernel` for `machine`.
    pub fn new(
        program: &'a Program,
        kernel: &Kernel,
        launch: Launch,
        machine: &'a Machine,
        options: Options,
    ) -> Job<'a> {
        let code = sass::code(kernel).unwrap_or_else(|| {
            ptxas::compile(kernel, &Target::new(machine, options.yields), options.mode)
        });
        Job { program, code, launch, machine, options }
    }

    /// Returns the compiled kernel.
    pub fn kernel(&self) -> &Kernel {
        self.code.kernel()
    }

    /// Returns the same job on another machine that runs the same code.
    ///
    /// The machines may differ in times and policies only.
    pub fn on<'m>(&self, machine: &'m Machine) -> Job<'m>
    where
        'a: 'm,
    {
        Job {
            program: self.program,
            code: self.code.clone(),
            launch: self.launch.clone(),
            machine,
            options: self.options.clone(),
        }
    }

    /// Returns the machine and options of an adversarial schedule.
    ///
    /// The seed determines the order of warps and of the sides of branches.
    pub fn adversarial(machine: &Machine, options: &Options, seed: u64) -> (Machine, Options) {
        (
            machine.scheduled(Policy::Adversarial { seed }),
            Options { order: SideOrder::Random(seed), timing: Timing::Cycles, ..options.clone() },
        )
    }

    /// Checks that a block fits an SM, and that the code can run in the mode.
    ///
    /// # Errors
    /// Returns the resource that a block exceeds, or the mode.
    pub fn fits(&self) -> Result<(), DoesNotFit> {
        machine::fits(&self.code, &self.launch, self.machine, &self.options)
    }

    /// Runs to the end with an observer on each SM.
    ///
    /// # Errors
    /// Fails if a block does not fit the machine.
    pub fn run<O: Observer>(
        self,
        host: &dyn Host,
        observer: impl Fn() -> O + Sync,
    ) -> Result<Outcome<O>, DoesNotFit> {
        machine::run(&self.code, self.launch, self.machine, &self.options, host, observer)
    }

    /// Runs until the observer is done.
    ///
    /// Only the SM of `block` runs if blocks cannot communicate.
    ///
    /// # Errors
    /// Fails if a block does not fit the machine.
    pub fn watch<O: Observer>(
        &self,
        block: BlockId,
        observer: impl Fn() -> O,
    ) -> Result<Watched<O>, DoesNotFit> {
        machine::watch(
            &self.code,
            self.launch.clone(),
            self.machine,
            &self.options,
            block,
            observer,
        )
    }

    /// Runs to the end without an observer.
    ///
    /// # Errors
    /// Fails if a block does not fit the machine.
    pub fn execute(self, host: &dyn Host) -> Result<Outcome<()>, DoesNotFit> {
        self.run(host, || ())
    }

    /// Returns counters for a run.
    fn counts(&self) -> Counts {
        let timed = self.options.timing == Timing::Cycles;
        Counts::of_code(&self.code, self.machine.warp_size).timed(timed)
    }

    /// Runs to the end with all counters.
    ///
    /// # Errors
    /// Fails if a block does not fit the machine.
    pub fn count(self, host: &dyn Host) -> Result<Outcome<Counts>, DoesNotFit> {
        let counts = self.counts();
        self.run(host, || counts.clone())
    }

    /// Runs to the end with all counters and with checks.
    ///
    /// SMs run one after another, so that equal runs have equal findings.
    ///
    /// # Errors
    /// Fails if a block does not fit the machine.
    pub fn check(
        self,
        host: &dyn Host,
        on: Checks,
    ) -> Result<Outcome<(Counts, Checker)>, DoesNotFit> {
        let counts = self.counts();
        let checkers = Checkers::new(&self.code, &self.launch, self.machine.warp_size, on);
        self.run(&Serial(host), || (counts.clone(), checkers.observer()))
    }

    /// Records the lanes and the schedulers of a window.
    ///
    /// # Errors
    /// Fails if a block does not fit the machine.
    pub fn record(&self, window: &Window) -> Result<Watched<(Timeline, Slots)>, DoesNotFit> {
        let slots = || Slots::new(window.block, window.cycles.clone(), self.machine.schedulers);
        self.watch(window.block, || (Timeline::new(window.clone()), slots()))
    }

    /// Counts the edges that lanes of a window take between basic blocks.
    ///
    /// # Errors
    /// Fails if a block does not fit the machine.
    pub fn passages_of(&self, window: &Window) -> Result<Watched<PassageCounts>, DoesNotFit> {
        let edges = Edges::new(&self.code);
        let watched = self.watch(window.block, || Passages::new(&edges, Some(window.clone())))?;
        let Watched { finish, sm, simulated_sms, observer } = watched;
        Ok(Watched { finish, sm, simulated_sms, observer: observer.into_counts() })
    }

    /// Counts the edges that all lanes take between basic blocks.
    ///
    /// # Errors
    /// Fails if a block does not fit the machine.
    pub fn passages(self, host: &dyn Host) -> Result<(PassageCounts, Finish), DoesNotFit> {
        let edges = Edges::new(&self.code);
        let outcome = self.run(host, || Passages::new(&edges, None))?;
        Ok((outcome.observer.into_counts(), outcome.finish))
    }

    /// Records the issues of block 0, at most `limit`.
    ///
    /// # Errors
    /// Fails if a block does not fit the machine.
    pub fn trace(&self, limit: usize) -> Result<Watched<Trace>, DoesNotFit> {
        self.watch(BlockId(0), || Trace::limited(0..1, limit))
    }

    /// Returns the outcome of the SM of `block` if it fails early.
    ///
    /// The limit is the number of issues that proves a livelock.
    ///
    /// # Errors
    /// Fails if a block does not fit the machine.
    pub fn ends_badly_soon(&self, block: BlockId) -> Result<Option<Finish>, DoesNotFit> {
        let finish = self.watch(block, || Patience(4 * QUIET))?.finish;
        Ok(finish.filter(|finish| !matches!(finish, Finish::Ok)))
    }
}

/// Host that reports progress and simulates SMs one after another.
struct Serial<'h>(&'h dyn Host);

impl Host for Serial<'_> {
    fn blocks_done(&self, blocks: u64) {
        self.0.blocks_done(blocks);
    }

    fn issued(&self, issues: u64) {
        self.0.issued(issues);
    }
}

/// Observer that is done after a number of issues of an SM.
struct Patience(u64);

impl Observer for Patience {
    fn on(&mut self, event: Event) {
        self.0 = self.0.saturating_sub(u64::from(matches!(event, Event::Issue { .. })));
    }

    fn is_done(&self) -> bool {
        self.0 == 0
    }

    fn merge(&mut self, _: Patience) {}
}
