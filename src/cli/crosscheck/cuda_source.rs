//! The CUDA source beside a program, compiled by NVRTC and run with the program's launch: the real kernel against the
//! simulator's run of what nvcc made of it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use simt_core::kernel::Kernel;
use simt_gpu::{self as gpu, DeviceError, Observation};

use super::super::args::CrosscheckArgs;
use super::super::{Exit, Failure, output, source};
use super::{Judged, Simulated, record, today};

/// Where CUDA's headers may be: the variables that its own tools read, and its usual place.
fn headers() -> Vec<String> {
    let named = ["CUDA_PATH", "CUDA_HOME"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let folders = named.chain([PathBuf::from("/usr/local/cuda")]).map(|folder| folder.join("include"));
    folders.filter(|folder| folder.is_dir()).map(|folder| folder.display().to_string()).collect()
}

/// The source of a program that has one.
pub(super) fn beside(path: &Path) -> Option<PathBuf> {
    Some(path.with_extension("cu")).filter(|source| path.extension().is_some_and(|e| e == "ptx") && source.exists())
}

/// Compiles and runs the source, and holds the simulated run against it. Says once that there is no compiler.
pub(super) fn held(
    args: &CrosscheckArgs,
    path: &Path,
    kernel: &Kernel,
    simulated: &Simulated,
) -> Result<Judged, Failure> {
    let (name, text) = source::read_text(path)?;
    let ran = gpu::compile_cuda(&name, &text, &headers())
        .and_then(|ptx| gpu::run(&ptx, kernel, &simulated.before, Duration::from_secs(args.timeout)));
    match ran {
        Ok(run) => {
            let date = args.date.clone().unwrap_or_else(today);
            let observation = Observation::of(&run, &text, &simulated.before, &date);
            if let Some(folder) = &args.record {
                record(folder, path, &observation)?;
            }
            super::held(args, &name, &text, kernel, simulated, &observation, true)
        }
        Err(e @ DeviceError::NoCompiler) => {
            static SAID: std::sync::Once = std::sync::Once::new();
            let help = e.help().unwrap_or_default();
            SAID.call_once(|| output::error(&format!("note: {e}\nhelp: {help}\n")));
            Ok(Judged { text: String::new(), exit: Exit::Ok })
        }
        Err(e) => Ok(Judged { text: format!("{name}: {e}\n"), exit: Exit::Usage }),
    }
}
