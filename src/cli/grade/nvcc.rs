//! CUDA C++ by way of nvcc, where it is installed: without a shell, within a time limit, and with no file but the toolkit's own.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use simt_sim::grade::{Limits, plain};

use super::child::{Ended, watch};

/// Headers that a submission may include. Others could lead to files of the grader's, which the compiler's messages would quote.
const HEADERS: [&str; 8] = [
    "cuda_runtime.h",
    "cuda_fp16.h",
    "cuda_bf16.h",
    "cooperative_groups.h",
    "device_launch_parameters.h",
    "stdint.h",
    "cstdint",
    "math.h",
];
/// Seconds that nvcc may take; no more than half of the submission's, so that it is ended before its parent is.
const SECONDS: u64 = 30;
/// The most PTX.
const MOST_PTX: u64 = 8 << 20;

/// The PTX of a CUDA text.
pub(crate) fn compile(text: &str, limits: &Limits) -> Result<String, String> {
    headers(text)?;
    let nvcc = find()
        .ok_or("it is CUDA C++, and no nvcc is on the PATH of the grader; hand in .ptx, or install the CUDA toolkit")?;
    let folder = std::env::temp_dir().join(format!("simt-sim-grade-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|e| format!("no temporary folder: {e}"))?;
    let done = compile_in(&folder, &nvcc, text, limits);
    let _ = fs::remove_dir_all(&folder); // a folder left over does no harm
    done
}

fn compile_in(folder: &std::path::Path, nvcc: &PathBuf, text: &str, limits: &Limits) -> Result<String, String> {
    let (from, to) = (folder.join("submission.cu"), folder.join("submission.ptx"));
    fs::write(&from, text).map_err(|e| format!("no temporary file: {e}"))?;
    let mut command = Command::new(nvcc);
    command.args(["-ptx", "-arch=sm_90", "-lineinfo", "-o"]).arg(&to).arg(&from).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|e| format!("nvcc does not start: {e}"))?;
    let ended = watch(child, Duration::from_secs(SECONDS.min(limits.seconds / 2)), u64::MAX >> 10, 1 << 20)
        .map_err(|e| format!("nvcc cannot be watched: {e}"))?;
    match ended {
        Ended::Over(limit) => Err(format!("nvcc was stopped: {limit}")),
        Ended::Itself { success: false, errors, .. } => {
            let errors = String::from_utf8_lossy(&errors).replace(&*folder.to_string_lossy(), "");
            Err(format!("nvcc refuses it:\n{}", plain(&errors, 3000)))
        }
        Ended::Itself { .. } => {
            super::files::regular(&to, MOST_PTX)?;
            fs::read_to_string(&to).map_err(|e| format!("nvcc's output cannot be read: {e}"))
        }
    }
}

/// Refuses headers that are not the toolkit's, and the ways to hide one. Stricter than the language: a `#include` in a comment or a
/// text counts.
fn headers(text: &str) -> Result<(), String> {
    let spliced = text.replace("\\\r\n", "").replace("\\\n", "");
    if spliced.contains("??") || spliced.contains("%:") {
        return Err("trigraphs and digraphs are not taken".into());
    }
    for word in ["__has_include", "__has_embed", ".include", ".incbin"] {
        if spliced.contains(word) {
            return Err(format!("`{word}` is not taken"));
        }
    }
    for (at, _) in spliced.match_indices('#') {
        let rest = spliced.get(at + 1..).unwrap_or_default();
        let word: String = rest.trim_start().chars().take_while(|c| c.is_ascii_alphabetic() || *c == '_').collect();
        let commented = rest.trim_start().starts_with("/*");
        let named = || rest.split_once('<').and_then(|(_, name)| name.split_once('>')).map(|(name, _)| name);
        let fine = match word.as_str() {
            "include" => {
                let line = rest.lines().next().unwrap_or_default();
                let direct = line.trim_start().trim_start_matches("include").trim_start().starts_with('<');
                direct && named().is_some_and(|name| HEADERS.contains(&name))
            }
            "include_next" | "import" | "embed" => false,
            _ => !commented,
        };
        if !fine {
            return Err(format!("it includes a file; it may include <{}>", HEADERS.join(">, <")));
        }
    }
    Ok(())
}

fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("nvcc")).find(|nvcc| nvcc.is_file())
}
