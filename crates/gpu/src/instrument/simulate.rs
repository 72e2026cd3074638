//! Counting divergence on the simulator in two ways that must agree: by an observer and by probes.
//!
//! Both run the kernel as written, one issue per instruction: probes make arms longer, and a
//! machine that predicates short arms would count other branches.

use std::sync::Arc;

use super::counts::Divergence;
use super::pass::Instrumented;
use super::sequence::Sequence;
use super::witness::{Witness, places};
use simt_core::code::Code;
use simt_core::diag::{Severity, has_errors};
use simt_core::isa::Type;
use simt_core::kernel::{self, Kernel};
use simt_core::launch::{Buffer, Launch};
use simt_core::machine::{self, DoesNotFit, Finish, Options};
use simt_core::spec::{Machine, Target};
use simt_core::{ptx, ptxas};

/// Reason why nothing was counted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Failed {
    /// A block does not fit the machine.
    #[error(transparent)]
    DoesNotFit(#[from] DoesNotFit),
    /// The text with probes did not pass the checks.
    #[error("with probes: {0}")]
    Rejected(String),
}

/// Counts of a run.
pub struct Counted {
    /// Outcome of the run.
    pub finish: Finish,
    /// Counts.
    pub divergence: Divergence,
    /// Probes passed by the logged warps.
    pub sequences: Vec<Sequence>,
}

/// Counts the events of the probes in a run of `kernel`, which has none.
///
/// # Errors
/// If a block does not fit the machine.
pub fn witness(
    kernel: &Kernel,
    launch: Launch,
    spec: &Machine,
    options: &Options,
    instrumented: &Instrumented,
) -> Result<Counted, Failed> {
    let at = places(kernel, &instrumented.probes);
    let threads: u32 = launch.block.iter().product();
    let warps = threads.div_ceil(spec.warp_size.max(1));
    let log = instrumented.log.as_ref().map(|(_, log)| *log);
    let done = machine::run(&compiled(kernel, spec, options), launch, spec, options, &(), || {
        Witness::new(&instrumented.probes, &at, warps, log)
    })?;
    let sequences = done.observer.sequences();
    let divergence =
        Divergence::new(kernel, &instrumented.probes, &done.observer.counters, &sequences);
    Ok(Counted { finish: done.finish, divergence, sequences })
}

/// Runs the text with probes and reads their counters. `kernel` has no probes.
///
/// # Errors
/// If a block does not fit the machine.
pub fn measure(
    kernel: &Kernel,
    mut launch: Launch,
    spec: &Machine,
    options: &Options,
    instrumented: &Instrumented,
) -> Result<Counted, Failed> {
    let mut probed = probed(kernel, instrumented)?;
    let log = instrumented.log.as_ref().map(|(name, _)| name.as_str());
    let names: Vec<&str> = std::iter::once(instrumented.counters.as_str()).chain(log).collect();
    let hidden: Vec<Buffer> = names.iter().filter_map(|name| hidden(&mut probed, name)).collect();
    let addresses: Vec<u64> = hidden.iter().map(|b| b.address).collect();
    launch.buffers.splice(0..0, hidden); // variables lie below all buffers
    let done = machine::run(&compiled(&probed, spec, options), launch, spec, options, &(), || ())?;
    let words = |n: usize| {
        let buffer =
            addresses.get(n).and_then(|&at| done.launch.buffers.iter().find(|b| b.address == at));
        buffer.map_or(&[][..], |b| &b.words)
    };
    let (divergence, sequences) = instrumented.read(kernel, words(0), words(1));
    Ok(Counted { finish: done.finish, divergence, sequences })
}

/// The kernel as a GPU is compared with: one issue for each instruction, lanes reconverge where
/// ptxas lets them.
fn compiled(kernel: &Kernel, spec: &Machine, options: &Options) -> Code {
    ptxas::compile(kernel, &Target::for_comparison(spec, options.yields), options.mode)
}

/// Checks the text with probes and returns its kernel.
fn probed(kernel: &Kernel, instrumented: &Instrumented) -> Result<Kernel, Failed> {
    let (module, mut findings) = ptx::parse(&instrumented.text);
    let whole = !has_errors(&findings);
    let (kernels, of_check) = kernel::check(&module, &instrumented.text);
    findings.extend(of_check);
    let found = kernels.into_iter().find(|k| k.symbol == kernel.symbol).filter(|_| whole);
    found.ok_or_else(|| {
        let error = findings.iter().find(|d| d.severity == Severity::Error);
        let first = error.map_or("kernel missing", |d| d.message.as_str());
        Failed::Rejected(first.to_string())
    })
}

/// Turns a variable into a buffer, so that its content can be read after a run.
fn hidden(kernel: &mut Kernel, name: &str) -> Option<Buffer> {
    let at = kernel.variables.iter().position(|v| v.name == name)?;
    let variable = Arc::make_mut(&mut kernel.variables).remove(at);
    let bytes = variable.bytes.len() as u64;
    let words = vec![0; variable.bytes.len().div_ceil(4)];
    Some(Buffer {
        name: variable.name,
        address: variable.address,
        bytes,
        reach: bytes,
        element: Type::U32,
        words,
        lent: None,
        unset: None,
        mapped: true,
        writable: true,
    })
}
