//! Compilation of CUDA C++ by nvcc: without a shell, within limits, and with no files but those of
//! the toolkit.
//!
//! nvcc starts several programs that write files for each other. All of them work in a temporary
//! folder and are killed together. Their reads cannot be limited from here, so any text that could
//! name a file is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use simt_teach::grade::{Failed, Limits, one_line, plain};

use super::files;
use simt_toolkit::watch::{Bounds, Ended};

/// Headers that a submission may include. Others could lead to files of the grader, which compiler
/// messages would quote.
const HEADERS: &[&str] = &[
    "cuda.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "vector_types.h",
    "math_constants.h",
    "cuda_fp16.h",
    "cuda_bf16.h",
    "cooperative_groups.h",
    "cooperative_groups/reduce.h",
    "cuda/atomic",
    "cuda/barrier",
    "assert.h",
    "float.h",
    "limits.h",
    "math.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "cassert",
    "cfloat",
    "climits",
    "cmath",
    "cstddef",
    "cstdint",
    "cstdio",
    "cstdlib",
    "limits",
    "type_traits",
];
/// Preprocessor directives that name no file.
const DIRECTIVES: &[&str] =
    &["define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "warning"];
/// Allowed `#pragma`s.
const PRAGMAS: &[&str] = &["unroll", "nounroll", "once"];
/// Words other than directives that read a file or test for one.
const WORDS: &[&str] =
    &["__has_include", "__has_embed", "_Pragma", "__pragma", ".include", ".incbin"];

/// Bytes of all files that nvcc may write.
const MOST_FILES: u64 = 256 << 20;
/// Memory of its programs together, in MiB. All of cooperative groups takes 260.
pub(super) const MEMORY: u64 = 1024;
/// Bytes of its messages shown to a student.
const MOST_MESSAGES: usize = 3000;

/// Output of nvcc, in a folder removed with this value.
pub(crate) struct Compiled(PathBuf);

impl Compiled {
    /// Path of the PTX.
    pub(crate) fn ptx(&self) -> PathBuf {
        self.0.join("submission.ptx")
    }

    /// Creates an empty temporary folder.
    fn folder() -> std::io::Result<Compiled> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let folder = std::env::temp_dir()
                .join(format!("simt-sim-grade-{}-{number}", std::process::id()));
            match fs::create_dir(&folder) {
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists && number < 10_000 => {}
                made => return made.map(|()| Compiled(folder)),
            }
        }
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0); // a folder left over does no harm
    }
}

/// Compiles a CUDA text to PTX.
///
/// # Errors
/// The reason, for the student.
pub(crate) fn compile(text: &str, limits: &Limits) -> Result<Compiled, Failed> {
    files_named(text).map_err(Failed::Refused)?;
    let missing = "this is CUDA C++, and the grader has no nvcc on its PATH; hand in \
        .ptx, or install the CUDA toolkit";
    let nvcc = find().ok_or_else(|| Failed::Refused(missing.to_owned()))?;
    let broken = |what: &str, e: std::io::Error| Failed::Grader(format!("{what}: {e}"));
    let compiled = Compiled::folder().map_err(|e| broken("no temporary folder", e))?;
    let folder = compiled.0.as_path();
    fs::write(folder.join("submission.cu"), text).map_err(|e| broken("no temporary file", e))?;
    let mut command = Command::new(nvcc);
    command.args([
        "-ptx",
        "-arch=compute_75",
        "-lineinfo",
        "-o",
        "submission.ptx",
        "submission.cu",
    ]);
    command.current_dir(folder).env("TMPDIR", folder);
    let time = Duration::from_secs((limits.seconds / 2).max(1));
    let bounds =
        Bounds { time, memory_mib: MEMORY, output: 1 << 20, folder: Some((folder, MOST_FILES)) };
    match bounds.run(&mut command).map_err(|e| broken("nvcc does not start", e))? {
        Ended::Over(limit) => Err(Failed::Refused(format!("while nvcc compiled it, {limit}"))),
        Ended::Itself { success: false, out, errors } => {
            let said = [errors, out].concat();
            Err(Failed::Refused(format!("nvcc reports errors:\n{}", messages(&said, folder))))
        }
        Ended::Itself { .. } => match files::regular(&compiled.ptx(), limits.file_kib << 10) {
            Ok(()) => Ok(compiled),
            Err(why) => Err(Failed::Refused(format!("the PTX of nvcc: {why}"))),
        },
    }
}

/// Messages of nvcc without the grader's paths.
fn messages(said: &[u8], folder: &Path) -> String {
    let said = String::from_utf8_lossy(said);
    let folder = folder.to_string_lossy();
    plain(said.replace(&format!("{folder}/"), "").replace(&*folder, "").trim(), MOST_MESSAGES)
}

/// Refuses a text that could name a file outside the toolkit. Stricter than the language: comments
/// and strings count.
fn files_named(text: &str) -> Result<(), String> {
    // A backslash joins lines.
    let spliced = text.replace("\\\r\n", "").replace("\\\n", "");
    if spliced.contains("??") || spliced.contains("%:") {
        return Err("trigraphs and digraphs are not allowed".into());
    }
    if let Some(word) = WORDS.iter().find(|word| spliced.contains(*word)) {
        return Err(format!("`{word}` is not allowed"));
    }
    // A directive begins a line, or the rest of a line after a comment.
    let beginnings = spliced.lines().flat_map(|line| {
        std::iter::once(line)
            .chain(line.match_indices("*/").filter_map(|(at, _)| line.get(at + 2..)))
    });
    match beginnings
        .map(str::trim_start)
        .find(|line| line.strip_prefix('#').is_some_and(|rest| !is_allowed(rest)))
    {
        None => Ok(()),
        Some(line) => {
            let headers = if line.contains("include") {
                format!("; allowed headers: {}", HEADERS.join(", "))
            } else {
                String::new()
            };
            Err(format!("`{}` is not allowed{headers}", one_line(line)))
        }
    }
}

/// Returns true if a directive, without `#`, names no file but an allowed header.
fn is_allowed(directive: &str) -> bool {
    let directive = directive.trim();
    let end =
        directive.find(|c: char| !c.is_ascii_alphabetic() && c != '_').unwrap_or(directive.len());
    let (word, rest) = directive.split_at(end);
    match word {
        "include" => header(rest.trim()).is_some_and(|name| HEADERS.contains(&name)),
        "pragma" => rest.split_whitespace().next().is_some_and(|word| PRAGMAS.contains(&word)),
        "" => rest.is_empty(),
        word => DIRECTIVES.contains(&word),
    }
}

/// Returns the name in `<name>` or `"name"`.
fn header(text: &str) -> Option<&str> {
    let angled = text.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    let quoted = || text.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    let (name, rest) = angled.or_else(quoted)?;
    let rest = rest.trim();
    (rest.is_empty() || rest.starts_with("//")).then(|| name.trim())
}

fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("nvcc")).find(|nvcc| nvcc.is_file())
}

#[cfg(test)]
mod tests {
    use super::files_named;

    #[test]
    fn no_text_can_name_a_file() {
        for text in [
            "#include \"/etc/passwd\"",
            "#include </etc/passwd>",
            "#include <cuda_runtime.h/../../../../../etc/passwd>",
            "  #  include \"reference.cu\"",
            "/* a\n b */ #include \"reference.cu\"",
            "#include \"reference.cu\" /* */",
            "#include \"reference.cu\" // */",
            "/**/#/**/include \"reference.cu\"",
            "#inc\\\nlude \"reference.cu\"",
            "#define F \"reference.cu\"\n#include F",
            "#include <math.h> /* \n*/ \"x\"",
            "??=include \"reference.cu\"",
            "%:include \"reference.cu\"",
            "#include_next <math.h>",
            "#import \"reference.cu\"",
            "#embed \"reference.cu\"",
            "#line 1 \"reference.cu\"",
            "# 1 \"reference.cu\"",
            "#pragma GCC dependency \"reference.cu\"",
            "_Pragma(\"GCC dependency \\\"reference.cu\\\"\")",
            "#if __has_include(\"/etc/shadow\")\n#endif",
            "asm(\".include \\\"reference.ptx\\\"\");",
        ] {
            assert!(files_named(text).is_err(), "{text}");
        }
        for text in [
            "#include <cuda_runtime.h>\n#include \"stdio.h\" // printf\n#pragma unroll 4\n#define N 4\n#\n",
            "__global__ void k() { int x = 5 % 2; /* # of threads */ } // #1\n#if N > 2\n#endif\n",
            "const char *s = \"a # b\";",
        ] {
            assert_eq!(files_named(text), Ok(()), "{text}");
        }
    }
}
