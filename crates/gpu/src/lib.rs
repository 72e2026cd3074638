//! The same text on a real GPU: what a program's buffers hold after the driver has compiled and run it, kept as data.
//!
//! [`run`] hands a resolved launch to NVIDIA's driver: the very text (see [`device_text`]), the same grid, block,
//! arguments and buffers as the simulator's. [`Observation`] is what came out, as a file that needs no GPU to be read
//! again, and [`Observation::compare`] holds a simulated run against it, bit by bit or within the widest [`Tolerance`]
//! that the ISA's rows grant the program.
//!
//! [`run_reading`] also brings back variables of the module: the counters of a text with probes (see `instrument`), kept as a
//! [`DivergenceRecord`]. [`compile_cuda`] makes PTX of the CUDA source that a program was compiled from.
//!
//! Modelled: one launch of one kernel on the first device, plain device memory, time by events. Not modelled: addresses
//! (buffers lie elsewhere on a GPU, so a program that stores an address differs), what a kernel reads outside its buffers,
//! and counters; `micros` is for orientation only.
//!
//! Only the feature `cuda` brings the driver's bindings in; without it [`run`] says so. Source: CUDA Driver API, "Module
//! Management" and "Execution Control".

pub mod calibrate;
mod content;
#[cfg(feature = "cuda")]
mod device;
mod divergence;
mod generated;
pub mod instrument;
mod observation;
mod text;
mod tolerance;

pub use content::Content;
pub use divergence::{DivergenceRecord, Explanation, Explanations, Judgement, WHOLE_RUN};
pub use generated::{Explained, GeneratedRecord};
pub use observation::{BufferComparison, BufferRecord, Comparison, Finish, NotComparable, Observation};
pub use text::{device_text, digest, source_digest};
pub use tolerance::Tolerance;

use simt_core::kernel::Kernel;
use simt_core::launch::Launch;
use std::time::Duration;

/// What a device made of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceRun {
    /// The device's name.
    pub gpu: String,
    /// The driver's version and the CUDA version it speaks.
    pub driver: String,
    /// How it ended.
    pub finish: Finish,
    /// How long the kernel ran, in microseconds; only of a run that ended well.
    pub micros: Option<f32>,
    /// What the buffers hold, in the order of [`Launch::buffers`]; empty unless the run ended well.
    pub buffers: Vec<Vec<u32>>,
    /// What the variables hold that were asked for; empty unless the run ended well.
    pub variables: Vec<Vec<u32>>,
}

/// Why nothing ran.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// This build has no bindings to the driver.
    #[error("this build cannot talk to a GPU")]
    NotBuilt,
    /// There is no driver library.
    #[error("there is no NVIDIA driver (libcuda) on this computer")]
    NoDriver,
    /// There is a driver and no device that it can use.
    #[error("the driver finds no GPU: {0}")]
    NoDevice(String),
    /// There is no library of the run-time compiler.
    #[error("there is no NVRTC (libnvrtc) on this computer, so the CUDA source is not compiled")]
    NoCompiler,
    /// The driver refused a step; `log` is what its compiler says.
    #[error("{step}: {reason}{}{log}", if log.is_empty() { "" } else { "\n" })]
    Refused {
        /// What was attempted.
        step: &'static str,
        /// The driver's own words.
        reason: String,
        /// The compiler's log.
        log: String,
    },
}

impl DeviceError {
    /// Whether another build or another computer would do: nothing is wrong with the program.
    pub fn is_absence(&self) -> bool {
        !matches!(self, DeviceError::Refused { .. })
    }

    /// What the user can do about it.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            DeviceError::NotBuilt => {
                Some("build with `cargo build --release --features cuda`; no CUDA toolkit is needed")
            }
            DeviceError::NoDriver => Some("install NVIDIA's driver (580 or newer), or use a computer with a GPU"),
            DeviceError::NoDevice(_) => Some("`nvidia-smi` tells what the driver sees"),
            DeviceError::NoCompiler => {
                Some("install the CUDA toolkit's run-time compiler, and name its folder in LD_LIBRARY_PATH")
            }
            DeviceError::Refused { .. } => None,
        }
    }
}

/// Keeps the first GPU's context, so that runs one after the other need not make it anew.
pub struct Held {
    #[cfg(feature = "cuda")]
    _device: device::Device,
}

/// Keeps the first GPU's context until the value goes. [`run`] needs no such thing; it is for many short runs.
///
/// # Errors
/// There is no bindings, driver or device.
pub fn hold() -> Result<Held, DeviceError> {
    #[cfg(feature = "cuda")]
    return Ok(Held { _device: device::Device::first()? });
    #[cfg(not(feature = "cuda"))]
    Err(DeviceError::NotBuilt)
}

/// Runs a launch on the first GPU. `text` is the program as [`device_text`] gives it, `kernel` the checked kernel that
/// `launch` was resolved for. A kernel that runs longer than `limit` ends as [`Finish::Timeout`]; the device is then
/// still busy with it until the process ends, so nothing more can be run in this process.
///
/// # Errors
/// There is no bindings, driver or device, or the driver refuses the text or the launch.
pub fn run(text: &str, kernel: &Kernel, launch: &Launch, limit: Duration) -> Result<DeviceRun, DeviceError> {
    run_reading(text, kernel, launch, limit, &[])
}

/// As [`run`], and brings back what `.global` variables of the text hold afterwards.
///
/// # Errors
/// As [`run`]; a variable does not exist.
pub fn run_reading(
    text: &str,
    kernel: &Kernel,
    launch: &Launch,
    limit: Duration,
    variables: &[&str],
) -> Result<DeviceRun, DeviceError> {
    #[cfg(feature = "cuda")]
    return device::run(text, kernel, launch, limit, variables);
    #[cfg(not(feature = "cuda"))]
    {
        let _ = (text, kernel, launch, limit, variables);
        Err(DeviceError::NotBuilt)
    }
}

/// Compiles CUDA C++ to PTX with NVRTC; `headers` are the folders of its headers.
///
/// # Errors
/// There is no compiler, or it refuses the source.
pub fn compile_cuda(name: &str, source: &str, headers: &[String]) -> Result<String, DeviceError> {
    #[cfg(feature = "cuda")]
    return device::compile(name, source, headers);
    #[cfg(not(feature = "cuda"))]
    {
        let _ = (name, source, headers);
        Err(DeviceError::NotBuilt)
    }
}
