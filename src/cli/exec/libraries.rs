//! The libraries that a program gets in place of NVIDIA's.

use std::fs;
use std::path::Path;

use crate::cli::Failure;

/// Our driver.
const DRIVER: &[u8] = simt_embed::shared_library!("simt_cuda");
/// File name by which programs load the driver.
const DRIVER_NAME: &str = "libcuda.so.1";
/// Our runtime, without a name.
const RUNTIME: &[u8] = simt_embed::shared_library!("simt_cudart");
/// File names by which programs of CUDA 13, 12 and 11 load the runtime.
const RUNTIME_NAMES: [&str; 3] = ["libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"];
/// File name by which a linker finds the driver, and some programs load it.
const LINK_NAME: &str = "libcuda.so";

/// Writes the libraries to a folder.
pub(super) fn place(folder: &Path) -> Result<(), Failure> {
    if !cfg!(target_os = "linux") {
        return Err(Failure::new("exec needs Linux: programs of other systems load other drivers"));
    }
    let failed = |e| Failure::new(format!("cannot write to `{}`: {e}", folder.display()));
    fs::write(folder.join(DRIVER_NAME), DRIVER).map_err(failed)?;
    #[cfg(unix)]
    {
        let link = folder.join(LINK_NAME);
        let _ = fs::remove_file(&link); // of an earlier call
        std::os::unix::fs::symlink(DRIVER_NAME, link).map_err(failed)?;
    }
    for name in RUNTIME_NAMES {
        let mut runtime = RUNTIME.to_vec();
        simt_cudart::image::name(&mut runtime, name).map_err(Failure::new)?;
        fs::write(folder.join(name), runtime).map_err(failed)?;
    }
    Ok(())
}
