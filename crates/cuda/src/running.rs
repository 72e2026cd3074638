//! The run of a launch: contents of memory lent, the simulation, its consequences.

use std::sync::Arc;

use simt_core::checks::Checks;
use simt_core::code::Code;
use simt_core::exec::FaultKind;
use simt_core::launch::{Buffer, Launch};
use simt_core::machine::{Finish, Options};
use simt_core::spec::Machine;
use simt_core::{Job, Program, diag};
use simt_report::launches::Launched;
use simt_report::simulate::{self, Finished};

use crate::beside::Beside;
use crate::error::Error;
use crate::launch::{Ready, refused};
use crate::queue::Left;
use crate::report;
use crate::state::Driver;
use crate::table::Handle;
use crate::views::Views;

/// Findings of checks shown of one launch.
const MOST_SHOWN: usize = 10;

impl Driver {
    /// Lends memory to a launch. `None` if its context is gone or had a fault.
    pub(crate) fn begin(&mut self, ready: Ready) -> Option<Running> {
        let Ready { context, mut launch, heap, .. } = ready;
        let state = self.contexts.get_mut(context).ok()?;
        if state.failed.is_some() {
            return None;
        }
        launch.heap = heap.map(|new| state.heap.take().unwrap_or(new));
        let exact = self.options.checks.is_some();
        if !exact {
            launch.spare = self.memory.lend_spare();
        }
        launch.buffers = self.memory.lend(exact);
        Some(Running {
            context,
            device: ready.device,
            program: ready.program,
            code: (*ready.code).clone(),
            launch,
            machine: ready.machine,
            options: ready.options,
            row: ready.row,
            jobs: self.options.jobs,
            checks: self.options.checks,
            views: Arc::clone(&self.options.views),
            number: self.reports.launches + 1,
        })
    }

    /// Takes memory back after a run, and notes its time and its end.
    pub(crate) fn settle(&mut self, ended: Ended) {
        let Ended { context, device, done, findings, said, row } = ended;
        if !said.is_empty() {
            self.queue.leave(Left::Said(said));
        }
        let mut done = match done {
            Ok(done) => done,
            Err((buffers, error)) => {
                self.memory.take_back(buffers);
                return self.fail(context, error);
            }
        };
        let overhead = u64::from(self.devices[device].machine.launch_overhead);
        let finish = done.finish().clone();
        let fault = failure(&finish);
        // Without a clock only the overhead passes, so that no program divides by zero.
        let timed = done.is_timed();
        let cycles = (done.cycles() + overhead).max(1);
        let buffers = std::mem::take(&mut done.launch_mut().buffers);
        self.memory.take_back(buffers);
        let spare = std::mem::take(&mut done.launch_mut().spare);
        let beside = spare.accessed.and_then(|address| self.memory.describe(address));
        self.memory.take_spare_back(spare);
        if let Some(place) = beside
            && self.reports.beside.insert(row.kernel.clone())
        {
            self.queue.leave(Left::Said(report::beside(&row, &place)));
        }
        if let (Some(heap), Ok(state)) =
            (done.launch_mut().heap.take(), self.contexts.get_mut(context))
        {
            state.heap = Some(heap);
        }
        self.queue.leave(Left::Printed(done.printed()));
        if let Finish::Fault(report) = &finish {
            if let FaultKind::OutOfBounds { address, .. } = report.fault.kind
                && let Some(place) = self.memory.was_freed(address)
            {
                self.queue.leave(Left::Said(format!("simt-sim: 0x{address:x} is {place}\n")));
            }
            let Launch { grid, block, .. } = *done.launch_mut();
            for line in report.assertion(grid, block).unwrap_or_default() {
                self.queue.leave(Left::Said(format!("{}\n", diag::printable(&line))));
            }
        }
        let device = &mut self.devices[device];
        device.cycles += cycles;
        let nanoseconds = timed.then(|| device.milliseconds(cycles) * 1e6);
        let cycles = timed.then_some(cycles);
        let finish = finish.name().to_owned();
        let row = Launched { cycles, nanoseconds, finish, findings, ..row };
        match done {
            Done::Counts(finished) => self.reports.note(*finished, row),
            Done::Run(simulation) => {
                if fault.is_some() {
                    self.queue.leave(Left::Said(report::explained(&simulation.run)));
                }
                self.reports.note_run(simulation.run, row);
            }
        }
        if let Some(fault) = fault {
            self.fail(context, fault);
        }
    }

    /// Keeps the error of a launch for its context.
    pub(crate) fn fail(&mut self, context: Handle, error: Error) {
        if let Ok(context) = self.contexts.get_mut(context) {
            context.failed = Some(error);
        }
    }
}

/// A launch with everything that it needs of the driver.
pub(crate) struct Running {
    context: Handle,
    device: usize,
    program: Arc<Program>,
    code: Code,
    launch: Launch,
    machine: Arc<Machine>,
    options: Options,
    row: Launched,
    jobs: usize,
    checks: Option<Checks>,
    views: Arc<Views>,
    number: u64,
}

/// A launch that ended, with what it needs of the driver no more.
pub(crate) struct Ended {
    context: Handle,
    device: usize,
    /// The run; contents of memory and error of one that the simulator refused.
    done: Result<Done, (Vec<Buffer>, Error)>,
    /// Errors and warnings of the checks.
    findings: [u64; 2],
    /// Lines for standard error.
    said: String,
    row: Launched,
}

impl Running {
    /// Runs a kernel to its end.
    pub(crate) fn run(self) -> Ended {
        let Running { context, device, program, code, launch, machine, options, row, .. } = self;
        let recorded = self.views.shows(self.number).then(|| {
            let (code, options) = (code.clone(), options.clone());
            let launch = launch.clone();
            let job = Job { program: &program, code, launch, machine: &machine, options };
            self.views.record(&job, self.number)
        });
        let host = Beside::new(self.jobs);
        let (mut findings, mut said) = ([0, 0], String::new());
        let done = match self.checks {
            None => Finished::run(&program, code, launch, &machine, &options, &host)
                .map(|finished| Done::Counts(Box::new(finished))),
            Some(on) => {
                let job = Job { program: &program, code, launch, machine: &machine, options };
                simulate::simulate_checked(job, &host, on).map(|checked| {
                    let errors =
                        checked.findings.iter().filter(|f| f.severity == diag::Severity::Error);
                    let errors = errors.count() as u64;
                    findings = [errors, checked.findings.len() as u64 - errors];
                    said = shown(&program, &checked.findings);
                    Done::Run(Box::new(checked.simulation))
                })
            }
        };
        let done = match done {
            Ok(mut done) => {
                // The report of a fault names the allocation next to a bad address, so it is made
                // before memory is taken back.
                if recorded.is_some() || failure(done.finish()).is_some() {
                    done = done.reported();
                }
                if let (Some(recorded), Done::Run(simulation)) = (recorded, &done) {
                    recorded.write(&simulation.run, &program, &machine);
                }
                Ok(done)
            }
            Err(reason) => {
                let error;
                (said, error) = refused(&row.kernel, &reason);
                Err((Vec::new(), error))
            }
        };
        Ended { context, device, done, findings, said, row }
    }
}

/// A run that has ended.
enum Done {
    Counts(Box<Finished>),
    Run(Box<simulate::Simulation>),
}

impl Done {
    fn finish(&self) -> &Finish {
        match self {
            Done::Counts(finished) => finished.finish(),
            Done::Run(simulation) => &simulation.finish,
        }
    }

    fn is_timed(&self) -> bool {
        match self {
            Done::Counts(finished) => finished.is_timed(),
            Done::Run(simulation) => simulation.run.is_timed(),
        }
    }

    fn cycles(&self) -> u64 {
        match self {
            Done::Counts(finished) => finished.cycles(),
            Done::Run(simulation) => simulation.run.cycles,
        }
    }

    /// Returns what threads printed.
    fn printed(&self) -> Vec<u8> {
        match self {
            Done::Counts(finished) => finished.printed(),
            Done::Run(simulation) => simulation
                .run
                .output
                .as_ref()
                .map_or_else(Vec::new, |o| o.text.clone().into_bytes()),
        }
    }

    fn launch_mut(&mut self) -> &mut Launch {
        match self {
            Done::Counts(finished) => finished.launch_mut(),
            Done::Run(simulation) => &mut simulation.launch,
        }
    }

    /// Returns the same with its report.
    fn reported(self) -> Done {
        match self {
            Done::Counts(finished) => Done::Run(Box::new(finished.into_simulation())),
            run => run,
        }
    }
}

/// Returns the error of a launch that did not finish.
fn failure(finish: &Finish) -> Option<Error> {
    Some(match finish {
        Finish::Ok => return None,
        Finish::Deadlock(_) | Finish::Livelock(_) | Finish::CycleLimit(_) => Error::LAUNCH_TIMEOUT,
        Finish::Fault(report) => match report.fault.kind {
            FaultKind::OutOfBounds { .. } | FaultKind::ReadOnly { .. } => Error::ILLEGAL_ADDRESS,
            FaultKind::Misaligned { .. } => Error::MISALIGNED_ADDRESS,
            FaultKind::OutsideSurface { .. } => Error::ILLEGAL_ADDRESS,
            FaultKind::StackOverflow { .. } => Error::HARDWARE_STACK_ERROR,
            FaultKind::BadCallTarget { .. } => Error::INVALID_PC,
            FaultKind::Assertion(_) => Error::ASSERT,
            FaultKind::NotInMask { .. }
            | FaultKind::MissingWarps
            | FaultKind::BadTensorMap { .. }
            | FaultKind::BadReduction { .. }
            | FaultKind::UnalignedTile { .. }
            | FaultKind::NegativeTile { .. } => Error::ILLEGAL_INSTRUCTION,
            _ => Error::LAUNCH_FAILED,
        },
    })
}

/// Returns findings of the checks in words.
fn shown(program: &Program, findings: &[diag::Diagnostic]) -> String {
    let first = findings.get(..MOST_SHOWN).unwrap_or(findings);
    if first.is_empty() {
        return String::new();
    }
    let source = diag::Source { name: &program.name, text: &program.text };
    let mut text = diag::render(first, source, false);
    if findings.len() > first.len() {
        text += &format!("{} more findings\n", findings.len() - first.len());
    }
    text
}
