//! Comparison of the memory that a program leaves.

use std::fmt::Write;
use std::path::Path;

use simt_core::isa::Type;
use simt_core::kernel::Kernel;
use simt_core::launch::Launch;

use super::{
    Bench, Failed, Judged, Observed, Simulated, Sources, Subject, Verdict, ending, ends_alike,
};
use crate::{
    self as gpu, BufferComparison, Comparison, CudaOptions, DeviceError, Image, Observation,
    Tolerance,
};

/// CUDA source of a compiled program.
pub struct CudaSource {
    /// Path.
    pub name: String,
    /// Source text.
    pub text: String,
    /// Folders of CUDA's headers.
    pub headers: Vec<String>,
}

impl Sources<'_> {
    /// Compares the memory that a program leaves on the simulator and on the GPU. If the GPU runs
    /// it now, it also runs the CUDA source, compiled by NVRTC. With `verbose`, the report has the
    /// largest difference of float buffers.
    ///
    /// # Errors
    /// The program cannot be launched, the driver refuses it, or a record cannot be read.
    pub fn memory(
        &self,
        bench: &Bench<'_>,
        subject: &Subject<'_>,
        source: Option<&CudaSource>,
        verbose: bool,
    ) -> Result<Judged, Failed> {
        let (name, kernel) = (&subject.program.name, subject.kernel);
        let Some(Observed { observation, launch, live }) = self.observe(subject)? else {
            let (place, folder) =
                (self.records.place(&subject.record_name()), self.records.folder());
            let text = format!(
                "{name}: no observation\n  there is no {place}; on a computer with a GPU, \
                 `--record {folder}` writes it\n"
            );
            return Ok(Judged { text, verdict: Verdict::NothingToCompare });
        };
        let simulated = bench.simulate(subject, launch)?;
        let text = subject.program.code();
        let mut judged = simulated.judge(name, text, kernel, &observation, live, verbose);
        if let Some(source) = source.filter(|_| live && observation.finish == gpu::DeviceFinish::Ok)
        {
            let second = self.source(source, subject, &simulated, verbose)?;
            judged.text += &second.text;
            judged.verdict = judged.verdict.max(second.verdict);
        }
        Ok(judged)
    }

    /// Compiles and runs the CUDA source with the launch of a simulated run, and compares.
    fn source(
        &self,
        source: &CudaSource,
        subject: &Subject<'_>,
        simulated: &Simulated,
        verbose: bool,
    ) -> Result<Judged, Failed> {
        let (CudaSource { name, text, headers }, kernel) = (source, subject.kernel);
        let Some((date, limit)) = &self.device else {
            return Ok(Judged { text: String::new(), verdict: Verdict::Agrees });
        };
        let options = CudaOptions { headers: headers.clone(), ..CudaOptions::default() };
        let ran = gpu::compile_cuda(name, text, &options)
            .and_then(|ptx| gpu::run(Image::Ptx(&ptx), kernel, &simulated.before, *limit));
        match ran {
            Ok(run) => {
                let observation = Observation::of(&run, text, &simulated.before, date);
                let file = Path::new(name).file_name().and_then(|n| n.to_str()).unwrap_or_default();
                self.save(&format!("{file}.ron"), observation.to_text())?;
                Ok(simulated.judge(name, text, kernel, &observation, true, verbose))
            }
            Err(e @ DeviceError::NoCompiler) => {
                (self.note)(&format!("note: {e}\nhelp: {}\n", e.help().unwrap_or_default()));
                Ok(Judged { text: String::new(), verdict: Verdict::Agrees })
            }
            Err(e) => Ok(Judged { text: format!("{name}: {e}\n"), verdict: Verdict::Failed }),
        }
    }
}

impl Simulated {
    /// Compares the run with the observation of `text`, which was made just now if `live`. With
    /// `verbose`, the report has the largest difference of float buffers.
    fn judge(
        &self,
        name: &str,
        text: &str,
        kernel: &Kernel,
        observation: &Observation,
        live: bool,
        verbose: bool,
    ) -> Judged {
        let Simulated { before, done, machine: ours } = self;
        let who = format!("{} ({}, {})", observation.gpu, observation.driver, observation.date);
        let device_hangs = live && observation.finish == gpu::DeviceFinish::Timeout;
        let same = ends_alike(&observation.finish, &done.finish);
        if !same || observation.finish != gpu::DeviceFinish::Ok {
            let word = if same { "agree" } else { "differ" };
            let theirs = ending(&observation.finish);
            let text =
                format!("{name}: {word}\n  {who}: {theirs}\n  {ours}: {}\n", done.finish.name());
            let verdict = match (device_hangs, same) {
                (true, _) => Verdict::DeviceHangs,
                (false, true) => Verdict::Agrees,
                (false, false) => Verdict::Differs,
            };
            return Judged { text, verdict };
        }
        match observation.compare(text, before, &done.launch, Tolerance::of(kernel)) {
            Ok(comparison) => {
                let verdict = if comparison.agrees() { Verdict::Agrees } else { Verdict::Differs };
                Judged { text: report(name, &who, ours, &comparison, before, verbose), verdict }
            }
            Err(e) => {
                let text = format!("{name}: stale observation\n  {who}: {e}; record it again\n");
                Judged { text, verdict: Verdict::NothingToCompare }
            }
        }
    }
}

fn report(
    name: &str,
    who: &str,
    ours: &str,
    done: &Comparison,
    launch: &Launch,
    verbose: bool,
) -> String {
    let differing: Vec<&BufferComparison> = done.buffers.iter().filter(|b| !b.agrees()).collect();
    let all = done.buffers.len();
    let mut out = if differing.is_empty() {
        format!("{name}: agree ({all} buffers written, {})\n", done.tolerance)
    } else {
        format!(
            "{name}: differ in {} of {all} buffers written ({})\n",
            differing.len(),
            done.tolerance
        )
    };
    // Writing to a string cannot fail.
    let _ = writeln!(out, "  {who}; {ours}");
    for buffer in differing {
        let _ = match (buffer.differing, &buffer.first) {
            (Some(n), Some(first)) => writeln!(
                out,
                "  {}: {n} of {} elements; first [{}]{}: device {}, simulated {}",
                buffer.name,
                buffer.elements,
                first.index,
                thread_of(first.index, buffer.elements, launch),
                show(first.expected, buffer.element),
                show(first.actual, buffer.element),
            ),
            _ => writeln!(
                out,
                "  {}: some of {} elements (only a digest is kept)",
                buffer.name, buffer.elements
            ),
        };
    }
    for buffer in done.buffers.iter().filter(|_| verbose) {
        if let Some((ulps, index)) = buffer.widest {
            let _ = writeln!(out, "  {}: at most {ulps} ulp apart, at [{index}]", buffer.name);
        }
    }
    for buffer in &done.skipped {
        let _ = writeln!(
            out,
            "  {buffer}: not judged (its digest differs, and it need not agree bit by bit)"
        );
    }
    out
}

/// Returns the thread of an element, if the buffer has one element a thread.
fn thread_of(index: usize, elements: usize, launch: &Launch) -> String {
    let size = |extent: [u32; 3]| extent.iter().map(|&n| n as usize).product::<usize>();
    let block = size(launch.block);
    if block == 0 || size(launch.grid).checked_mul(block) != Some(elements) {
        return String::new();
    }
    let thread = index % block;
    format!(" (block {} warp {} lane {})", index / block, thread / 32, thread % 32)
}

/// Returns the bits of an element, and the value of a float.
fn show(bits: Option<u64>, element: Type) -> String {
    let Some(bits) = bits else { return "nothing".to_string() };
    let digits = element.bytes() as usize * 2;
    match element {
        Type::F32 => format!("{bits:0digits$x} ({:e})", f32::from_bits(bits as u32)),
        Type::F64 => format!("{bits:0digits$x} ({:e})", f64::from_bits(bits)),
        _ => format!("{bits:0digits$x}"),
    }
}
