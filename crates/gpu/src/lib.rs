//! Runs on a real GPU: compiles the same text with the driver, runs it, and stores the buffers as
//! data.
//!
//! [`run`] passes a resolved launch to NVIDIA's driver: the same text (see [`device_text`]) or the
//! cubin of the same machine code, grid, block, arguments and buffers as on the simulator. An
//! [`Observation`] stores the result in a file that is readable without a GPU;
//! [`Observation::compare`] compares a simulated run with it, bit by bit or within the widest
//! [`Tolerance`] of the ISA rows that the program uses.
//!
//! [`run_reading`] also reads back variables of the module: the counters of a text with probes (see
//! `instrument`), stored as a [`DivergenceRecord`]. [`compile_cuda`] compiles a program's CUDA
//! source to PTX.
//!
//! Modelled: one launch of one kernel on the first device, plain device memory, time by events. Not
//! modelled: addresses (buffers have other addresses on a GPU, so a program that stores an address
//! differs), reads outside a kernel's buffers, and counters; `micros` is for orientation only.
//!
//! The driver bindings need the feature `cuda`; without it [`run`] returns an error. Source: CUDA
//! Driver API, "Module Management" and "Execution Control".

pub mod calibrate;
mod content;
pub mod crosscheck;
#[cfg(feature = "cuda")]
mod device;
mod divergence;
mod generated;
pub mod instrument;
mod nvrtc;
mod observation;
mod records;
mod text;
mod tolerance;

pub use content::Content;
pub use divergence::{DivergenceRecord, Explanation, Explanations, Judgement, WHOLE_RUN};
pub use generated::{Explained, GeneratedRecord, GeneratedSummary};
pub use nvrtc::{CudaOptions, compile_cuda};
pub use observation::{
    BufferComparison, BufferRecord, Comparison, DeviceFinish, NotComparable, Observation,
};
pub use records::{H200, Records};
pub use text::{device_text, digest, source_digest};
pub use tolerance::Tolerance;

use simt_core::kernel::Kernel;
use simt_core::launch::Launch;
use std::time::Duration;

/// Result of a launch on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceRun {
    /// Name of the device.
    pub gpu: String,
    /// Driver version and its CUDA version.
    pub driver: String,
    /// Outcome.
    pub finish: DeviceFinish,
    /// Run time of the kernel in microseconds; only for a run that ended normally.
    pub micros: Option<f32>,
    /// Contents of the buffers, in the order of [`Launch::buffers`]. Empty unless the run ended
    /// normally.
    pub buffers: Vec<Vec<u32>>,
    /// Contents of the requested variables; empty unless the run ended normally.
    pub variables: Vec<Vec<u32>>,
}

/// Reason why nothing ran.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// This build has no driver bindings.
    #[error("this build has no GPU support")]
    NotBuilt,
    /// The driver library is missing.
    #[error("no NVIDIA driver (libcuda) on this computer")]
    NoDriver,
    /// The driver has no usable device.
    #[error("the driver found no GPU: {0}")]
    NoDevice(String),
    /// The library of the run-time compiler is missing.
    #[error("no NVRTC (libnvrtc) on this computer; cannot compile the CUDA source")]
    NoCompiler,
    /// The driver rejected a step; `log` is the output of its compiler.
    #[error("{step}: {reason}{}{log}", if log.is_empty() { "" } else { "\n" })]
    Refused {
        /// Attempted step.
        step: &'static str,
        /// Error text of the driver.
        reason: String,
        /// Log of the compiler.
        log: String,
    },
}

impl DeviceError {
    /// Returns true if another build or computer could run the program.
    pub fn is_absence(&self) -> bool {
        !matches!(self, DeviceError::Refused { .. })
    }

    /// Help line for the user.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            DeviceError::NotBuilt => Some(
                "build with `cargo build --release --features cuda`; no CUDA toolkit is needed",
            ),
            DeviceError::NoDriver => {
                Some("install NVIDIA's driver (580 or newer), or use a computer with a GPU")
            }
            DeviceError::NoDevice(_) => Some("run `nvidia-smi` to see the driver's devices"),
            DeviceError::NoCompiler => Some(
                "install the run-time compiler of the CUDA toolkit and add its folder to \
                     LD_LIBRARY_PATH",
            ),
            DeviceError::Refused { .. } => None,
        }
    }
}

/// Keeps the first GPU's context alive between runs.
pub struct Held {
    #[cfg(feature = "cuda")]
    _device: device::Device,
}

/// Keeps the first GPU's context until the value is dropped. [`run`] does not need it; it speeds up
/// many short runs.
///
/// # Errors
/// If there are no bindings, no driver or no device.
pub fn hold() -> Result<Held, DeviceError> {
    #[cfg(feature = "cuda")]
    return Ok(Held { _device: device::Device::first()? });
    #[cfg(not(feature = "cuda"))]
    Err(DeviceError::NotBuilt)
}

/// Program that a driver loads.
#[derive(Clone, Copy, Debug)]
pub enum Image<'a> {
    /// PTX, as [`device_text`] returns it.
    Ptx(&'a str),
    /// Machine code in its ELF file.
    Cubin(&'a [u8]),
}

/// Runs a launch on the first GPU. `kernel` is the checked kernel that `launch` was resolved for,
/// and `image` has it. A kernel that runs longer than `limit` ends as [`DeviceFinish::Timeout`];
/// the device then stays busy until the process ends, so this process can run nothing more.
///
/// # Errors
/// If there are no bindings, no driver or no device, or the driver rejects the text or the launch.
pub fn run(
    image: Image<'_>,
    kernel: &Kernel,
    launch: &Launch,
    limit: Duration,
) -> Result<DeviceRun, DeviceError> {
    run_reading(image, kernel, launch, limit, &[])
}

/// Runs like [`run`], and reads back `.global` variables of the program.
///
/// # Errors
/// As [`run`], and if a variable does not exist.
pub fn run_reading(
    image: Image<'_>,
    kernel: &Kernel,
    launch: &Launch,
    limit: Duration,
    variables: &[&str],
) -> Result<DeviceRun, DeviceError> {
    #[cfg(feature = "cuda")]
    return device::run(image, kernel, launch, limit, variables);
    #[cfg(not(feature = "cuda"))]
    {
        let _ = (image, kernel, launch, limit, variables);
        Err(DeviceError::NotBuilt)
    }
}
