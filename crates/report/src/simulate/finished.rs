//! A finished run whose report is made on demand.

use std::sync::Arc;

use super::{About, Simulation, fingerprint_of, machine_facts};
use crate::metrics::{self, Inputs, Value};
use crate::{MachineFacts, Run};
use simt_core::base::Cycle;
use simt_core::code::Code;
use simt_core::launch::Launch;
use simt_core::machine::{DoesNotFit, Finish, Host, Options, Outcome};
use simt_core::observe::{Counts, Totals};
use simt_core::spec::Machine;
use simt_core::{Job, Program};

/// A finished run: its counts, and what a report of it needs.
///
/// A report has a row for each instruction, so making it can take longer than a short run.
pub struct Finished {
    program: Arc<Program>,
    machine: Arc<Machine>,
    code: Code,
    options: Options,
    facts: MachineFacts,
    totals: Totals,
    outcome: Outcome<Counts>,
}

impl Finished {
    /// Runs a compiled kernel with counters.
    ///
    /// # Errors
    /// Fails if a block does not fit the machine.
    pub fn run(
        program: &Arc<Program>,
        code: Code,
        launch: Launch,
        machine: &Arc<Machine>,
        options: &Options,
        host: &dyn Host,
    ) -> Result<Finished, DoesNotFit> {
        let kept = code.clone();
        let options = options.clone();
        let job = Job { program, code, launch, machine, options: options.clone() };
        let outcome = job.count(host)?;
        let fingerprint = fingerprint_of(program, machine, &options);
        Ok(Finished {
            facts: machine_facts(machine, fingerprint),
            totals: outcome.observer.clone().finish(),
            program: Arc::clone(program),
            machine: Arc::clone(machine),
            code: kept,
            options,
            outcome,
        })
    }

    /// Returns the end of the run.
    pub fn finish(&self) -> &Finish {
        &self.outcome.finish
    }

    /// Returns the launch, with the buffers as the run left them.
    pub fn launch_mut(&mut self) -> &mut Launch {
        &mut self.outcome.launch
    }

    /// Returns the value of a metric; `None` if it has none in this run.
    pub fn metric(&self, metric: &metrics::Metric) -> Option<Value> {
        metrics::evaluate(metric, &Inputs { totals: &self.totals, machine: &self.facts })
    }

    /// Returns true if the run had a clock.
    pub fn is_timed(&self) -> bool {
        self.totals.timed
    }

    /// Returns the cycles of the slowest SM; 0 without a clock.
    pub fn cycles(&self) -> Cycle {
        self.outcome.cycles
    }

    /// Returns the bytes that threads printed.
    pub fn printed(&self) -> Vec<u8> {
        self.outcome.observer.output().bytes()
    }

    /// Makes the report, with finish and launch.
    pub fn into_simulation(mut self) -> Simulation {
        let run = self.report();
        Simulation { run, finish: self.outcome.finish, launch: self.outcome.launch }
    }

    /// Makes the report.
    pub fn report(&mut self) -> Run {
        let launch = self.take_launch();
        let about = About {
            program: &self.program,
            code: self.code.clone(),
            machine: &self.machine,
            options: self.options.clone(),
        };
        let outcome = Outcome {
            finish: self.outcome.finish.clone(),
            cycles: self.outcome.cycles,
            active_sms: self.outcome.active_sms,
            interleaved: self.outcome.interleaved,
            occupancy: self.outcome.occupancy,
            launch,
            observer: self.outcome.observer.clone(),
        };
        let Simulation { run, launch, .. } = about.report(outcome);
        self.outcome.launch = launch;
        run
    }

    /// Takes the launch out, with its buffers.
    fn take_launch(&mut self) -> Launch {
        let buffers = std::mem::take(&mut self.outcome.launch.buffers);
        let expectations = std::mem::take(&mut self.outcome.launch.expectations);
        Launch { buffers, expectations, ..self.outcome.launch.clone() }
    }
}
