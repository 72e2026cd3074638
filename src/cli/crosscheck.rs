//! `simt-sim crosscheck`: files, printing and exit codes. The comparison is `simt_gpu::crosscheck`.

mod records;
mod suite;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use simt_core::Program;
use simt_core::diag::{self, Source};
use simt_gpu::Records;
use simt_gpu::crosscheck::{
    self as compare, Bench, CudaSource, Failed, Judged, Sources, Subject, Verdict,
};
use simt_report::{Style, profiled};
use simt_threads::Threads;

use super::args::{CrosscheckArgs, Format, SassChoice};
use super::{Exit, Failure, compile, date, import, job, output, reading, source};

/// Compares each file; the worst result is the exit code.
pub(crate) fn crosscheck(args: &CrosscheckArgs) -> Result<Exit, Failure> {
    if let Some(folder) = &args.suite.unseen {
        return suite::unseen(args, folder.as_deref());
    }
    let told = RefCell::default();
    if let Some(folder) = &args.suite.suite {
        let records = records::chosen(args.recorded.as_deref().or(args.record.as_deref()));
        return with_sources(args, &*records, &told, |sources| {
            suite::suite(args, folder.as_deref(), sources)
        });
    }
    if let Some(report) = &args.suite.ncu {
        return ncu(args, report);
    }
    source::has_compiled(&args.files, &args.sass)?;
    let records = records::chosen(args.recorded.as_deref());
    let mut worst = Verdict::Agrees;
    for path in &args.files {
        match with_sources(args, &*records, &told, |sources| one(args, path, sources)) {
            Ok(Judged { text, verdict }) => {
                output::print(&text)?;
                worst = worst.max(verdict);
                if verdict == Verdict::DeviceHangs {
                    break; // the device is busy with this kernel until the process ends
                }
            }
            Err(Failure(text)) => {
                output::error(&text);
                worst = Verdict::Failed;
            }
        }
    }
    Ok(exit(worst))
}

fn exit(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Agrees => Exit::Ok,
        Verdict::NothingToCompare => Exit::NothingToCompare,
        Verdict::Differs => Exit::ExpectationFailed,
        Verdict::DeviceHangs => Exit::Hang,
        Verdict::Failed => Exit::Usage,
    }
}

impl From<Failed> for Failure {
    fn from(failed: Failed) -> Failure {
        match failed {
            Failed::Findings { name, text, found } => {
                let shown =
                    diag::render(&found, Source { name: &name, text: &text }, output::color_err());
                Failure(shown + &source::further(&found))
            }
            Failed::Told(text) => Failure(text),
            Failed::Other(why) => Failure::new(why),
        }
    }
}

/// Calls `then` with the GPU and the records. A note is shown once.
fn with_sources<T>(
    args: &CrosscheckArgs,
    records: &dyn Records,
    told: &RefCell<BTreeSet<String>>,
    then: impl FnOnce(&Sources<'_>) -> T,
) -> T {
    let day = args.date.clone().unwrap_or_else(date::today);
    let device = args.recorded.is_none().then_some((day, Duration::from_secs(args.timeout)));
    let note = |text: &str| {
        if told.borrow_mut().insert(text.to_string()) {
            output::error(text);
        }
    };
    let write = |name: &str, text: &str| match &args.record {
        Some(folder) => records::write(&folder.join(name), text).map_err(|Failure(text)| text),
        None => Ok(()),
    };
    let save = args.record.is_some().then_some(&write as compare::Save<'_>);
    then(&Sources { records, device, save, note: &note })
}

/// Calls `then` with the simulated machine.
fn with_bench<T>(
    args: &CrosscheckArgs,
    then: impl FnOnce(&Bench<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let (machine, host) = (job::machine(&args.machine)?, Threads::new(0));
    then(&Bench { machine: &machine.spec, options: machine.options(&args.limit), host: &host })
}

/// Calls `then` with the program as the subject of a comparison.
fn with_subject<T>(
    args: &CrosscheckArgs,
    program: &Program,
    kernel: Option<&str>,
    cubin: Option<&[u8]>,
    then: impl FnOnce(&Subject<'_>) -> Result<T, Failed>,
) -> Result<T, Failure> {
    let kernel = program.kernel(kernel).map_err(Failure::new)?;
    let overrides = job::overrides(&args.launch)?;
    let files = reading::beside(Path::new(&program.name).parent().unwrap_or(Path::new("")));
    Ok(then(&Subject { program, kernel, cubin, overrides, files: &files })?)
}

fn one(args: &CrosscheckArgs, path: &Path, sources: &Sources<'_>) -> Result<Judged, Failure> {
    let kernel = args.kernel.as_deref();
    let program = source::read_runnable(path, &args.sass.of(path), kernel, true)?;
    let (cuda, cubin) = match sources.device.is_some() {
        true => (cuda_source(path)?, cubin(path, &program, &args.sass)?),
        false => (None, None),
    };
    with_bench(args, |bench| {
        with_subject(args, &program, kernel, cubin.as_deref(), |subject| match args.divergence {
            true => sources.divergence(bench, subject, args.trace),
            false => sources.memory(bench, subject, cuda.as_ref(), args.verbose),
        })
    })
}

/// Reads the CUDA source beside a compiled program.
fn cuda_source(path: &Path) -> Result<Option<CudaSource>, Failure> {
    let file = path.with_extension("cu");
    if path.extension().is_none_or(|e| e != "ptx") || !file.exists() {
        return Ok(None);
    }
    let (name, text) = source::read_text(&file)?;
    // The variables that CUDA's own tools read, and its usual place.
    let named =
        ["CUDA_PATH", "CUDA_HOME"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let folders =
        named.chain([PathBuf::from("/usr/local/cuda")]).map(|folder| folder.join("include"));
    let headers =
        folders.filter(|folder| folder.is_dir()).map(|folder| folder.display().to_string());
    Ok(Some(CudaSource { name, text, headers: headers.collect() }))
}

/// Returns the cubin of machine code, which a GPU runs: the file itself, what nvcc makes of it, or
/// the one beside a listing.
fn cubin(path: &Path, program: &Program, sass: &SassChoice) -> Result<Option<Vec<u8>>, Failure> {
    if compile::is_cuda(path) {
        return sass.sass.then(|| import::compiled_image(path, sass.arch())).transpose();
    }
    let file = path.with_extension("cubin");
    let is_machine_code = program.kernels.iter().any(|kernel| kernel.native.is_some());
    if !is_machine_code || !file.exists() {
        return Ok(None);
    }
    let image = import::read_image(&file)?;
    if !simt_cubin::has_code(&image, &program.text) {
        return Err(Failure::new(format!(
            "`{}` does not hold the code of `{}`\nhelp: make the listing of it with `simt-sim import`",
            file.display(),
            path.display()
        )));
    }
    Ok(Some(image))
}

/// Compares each file with the launches of the report that it can be.
fn ncu(args: &CrosscheckArgs, report: &Path) -> Result<Exit, Failure> {
    let (name, text) = source::read_text(report)?;
    let profile = compare::suite::report(&format!("`{name}`"), &text)?;
    let (mut worst, mut rows) = (Verdict::Agrees, Vec::new());
    for path in &args.files {
        let program =
            source::read_runnable(path, &args.sass.of(path), args.kernel.as_deref(), true)?;
        with_bench(args, |bench| {
            with_subject(args, &program, args.kernel.as_deref(), None, |subject| {
                let found = compare::ncu::compare(bench, subject, &profile)?;
                if found.is_empty() {
                    output::error(&compare::ncu::no_launch(subject, &profile, &name));
                    worst = Verdict::NothingToCompare;
                }
                rows.extend(found);
                Ok(())
            })
        })?;
    }
    if args.suite.format == Format::Json {
        output::print(&(serde_json::to_string_pretty(&rows).map_err(Failure::new)? + "\n"))?;
        return Ok(exit(worst));
    }
    for row in &rows {
        output::print(&profiled(row, true, style()))?;
    }
    Ok(exit(worst))
}

fn style() -> Style {
    Style { width: output::width(), color: output::color_out() }
}
