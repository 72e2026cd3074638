//! CUDA C++ by way of nvcc, where it is installed: without a shell, within limits, and with no file but the toolkit's own.
//!
//! nvcc is several programs that write files for each other. All of them work in a folder that goes away with what they left in it, and
//! they are ended together. What they may read cannot be limited from here, so the text is looked through for ways to name a file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use simt_teach::grade::{Failed, Limits, one_line, plain};

use super::files;
use super::watch::{Bounds, Ended};

/// Headers that a submission may include. Others could lead to files of the grader's, which the compiler's messages would quote.
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
/// Directives of the preprocessor that name no file.
const DIRECTIVES: &[&str] = &["define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "warning"];
/// What may follow `#pragma`.
const PRAGMAS: &[&str] = &["unroll", "nounroll", "once"];
/// Ways to ask for a file, or whether there is one, that are no directive.
const WORDS: &[&str] = &["__has_include", "__has_embed", "_Pragma", "__pragma", ".include", ".incbin"];

/// Bytes of the files that nvcc may leave beside one another.
const MOST_FILES: u64 = 256 << 20;
/// Memory in MiB that its programs may take together; with all of cooperative groups they take 260.
const MEMORY: u64 = 1024;
/// Bytes of its messages that a student reads.
const MOST_MESSAGES: usize = 3000;

/// What nvcc has made of a text, in a folder that goes away with it.
pub(crate) struct Compiled(PathBuf);

impl Compiled {
    /// The PTX.
    pub(crate) fn ptx(&self) -> PathBuf {
        self.0.join("submission.ptx")
    }

    /// An empty folder that nobody else has.
    fn folder() -> std::io::Result<Compiled> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let folder = std::env::temp_dir().join(format!("simt-sim-grade-{}-{number}", std::process::id()));
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
/// Why it is not compiled, for the student.
pub(crate) fn compile(text: &str, limits: &Limits) -> Result<Compiled, Failed> {
    files_named(text).map_err(Failed::Refused)?;
    let missing = "it is CUDA C++, and no nvcc is on the PATH of the grader; hand in .ptx, or install the CUDA toolkit";
    let nvcc = find().ok_or_else(|| Failed::Refused(missing.to_owned()))?;
    let broken = |what: &str, e: std::io::Error| Failed::Grader(format!("{what}: {e}"));
    let compiled = Compiled::folder().map_err(|e| broken("no temporary folder", e))?;
    let folder = compiled.0.as_path();
    fs::write(folder.join("submission.cu"), text).map_err(|e| broken("no temporary file", e))?;
    let mut command = Command::new(nvcc);
    command.args(["-ptx", "-arch=compute_75", "-lineinfo", "-o", "submission.ptx", "submission.cu"]);
    command.current_dir(folder).env("TMPDIR", folder);
    let time = Duration::from_secs((limits.seconds / 2).max(1));
    let bounds = Bounds { time, memory_mib: MEMORY, output: 1 << 20, folder: Some((folder, MOST_FILES)) };
    match bounds.run(&mut command).map_err(|e| broken("nvcc does not start", e))? {
        Ended::Over(limit) => Err(Failed::Limit(format!("while nvcc compiled it, {limit}"))),
        Ended::Itself { success: false, out, errors } => {
            let said = [errors, out].concat();
            Err(Failed::Refused(format!("nvcc refuses it:\n{}", messages(&said, folder))))
        }
        Ended::Itself { .. } => match files::regular(&compiled.ptx(), limits.file_kib << 10) {
            Ok(()) => Ok(compiled),
            Err(why) => Err(Failed::Refused(format!("what nvcc makes of it: {why}"))),
        },
    }
}

/// What nvcc said, without the grader's paths.
fn messages(said: &[u8], folder: &Path) -> String {
    let said = String::from_utf8_lossy(said);
    let folder = folder.to_string_lossy();
    plain(said.replace(&format!("{folder}/"), "").replace(&*folder, "").trim(), MOST_MESSAGES)
}

/// Refuses what could name a file that is not the toolkit's. Stricter than the language: what stands in a comment or a text counts.
fn files_named(text: &str) -> Result<(), String> {
    // Lines that a backslash joins are one.
    let spliced = text.replace("\\\r\n", "").replace("\\\n", "");
    if spliced.contains("??") || spliced.contains("%:") {
        return Err("trigraphs and digraphs are not taken".into());
    }
    if let Some(word) = WORDS.iter().find(|word| spliced.contains(*word)) {
        return Err(format!("`{word}` is not taken"));
    }
    // A directive begins a line, or what is left of it behind a comment.
    let beginnings = spliced.lines().flat_map(|line| {
        std::iter::once(line).chain(line.match_indices("*/").filter_map(|(at, _)| line.get(at + 2..)))
    });
    match beginnings.map(str::trim_start).find(|line| line.strip_prefix('#').is_some_and(|rest| !is_taken(rest))) {
        None => Ok(()),
        Some(line) => {
            let headers = if line.contains("include") {
                format!("; it may include {}", HEADERS.join(", "))
            } else {
                String::new()
            };
            Err(format!("`{}` is not taken{headers}", one_line(line)))
        }
    }
}

/// Whether a directive, without its `#`, names no file but a header that may be included.
fn is_taken(directive: &str) -> bool {
    let directive = directive.trim();
    let end = directive.find(|c: char| !c.is_ascii_alphabetic() && c != '_').unwrap_or(directive.len());
    let (word, rest) = directive.split_at(end);
    match word {
        "include" => header(rest.trim()).is_some_and(|name| HEADERS.contains(&name)),
        "pragma" => rest.split_whitespace().next().is_some_and(|word| PRAGMAS.contains(&word)),
        "" => rest.is_empty(),
        word => DIRECTIVES.contains(&word),
    }
}

/// The name in `<name>` or `"name"`.
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
