//! Submissions in CUDA C++. A script replaces nvcc, so everything around it is tested wherever
//! there is a shell; if nvcc is on the PATH, it compiles, too.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{SMALL, assignment, folder, notice};

const KERNEL: &str = "__global__ void reduce(unsigned *in, unsigned *out, unsigned n)
{
    unsigned t = threadIdx.x, at = blockIdx.x * blockDim.x;
    unsigned *mine = in + at;
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (t < stride && at + t + stride < n) mine[t] += mine[t + stride];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = mine[0];
}
";

/// nvcc's working folder and arguments.
struct Bench {
    folder: PathBuf,
    assignment: String,
}

impl Bench {
    fn new(name: &str) -> Bench {
        let folder = folder(name);
        let assignment = assignment(&folder, &SMALL.replace("(seconds: 20)", "(seconds: 4)"));
        fs::create_dir_all(folder.join("tmp")).expect("a folder");
        Bench { assignment, folder }
    }

    /// Grades a text with `path` as the PATH: exit code and report. Compiled files must be removed.
    fn grade(&self, text: &str, path: &Path) -> (i32, String) {
        let file = self.folder.join("kernel.cu");
        fs::write(&file, text).expect("a file");
        let mut command = Command::new(env!("CARGO_BIN_EXE_simt-sim"));
        command.args(["grade", &self.assignment]).arg(&file).env("COLUMNS", "100");
        command.env("TMPDIR", self.folder.join("tmp"));
        let usual = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{usual}", path.display()));
        let Output { status, stdout, stderr } = command.output().expect("the binary starts");
        let left = fs::read_dir(self.folder.join("tmp")).expect("a folder").count();
        assert_eq!(left, 0, "files are left over");
        assert!(stderr.is_empty(), "{}", String::from_utf8_lossy(&stderr));
        (status.code().expect("no signal"), String::from_utf8(stdout).expect("UTF-8"))
    }

    /// Grades a text with a script in place of nvcc.
    fn with_script(&self, script: &str) -> (i32, String) {
        let at = self.folder.join("bin");
        fs::create_dir_all(&at).expect("a folder");
        let nvcc = at.join("nvcc");
        fs::write(&nvcc, format!("#!/bin/sh\n{script}\n")).expect("a script");
        fs::set_permissions(&nvcc, fs::Permissions::from_mode(0o755)).expect("a mode");
        self.grade(KERNEL, &at)
    }
}

#[test]
#[ignore = "long: starts many processes"]
fn long_whatever_nvcc_does_the_student_learns_of_it() {
    let bench = Bench::new("nvcc-stand-in");
    let ptx = fs::canonicalize("programs/cuda/reduce_interleaved.ptx").expect("a path");
    // It runs in the text's folder, under names that reveal nothing about the submission.
    let compiles = format!(
        "test -f submission.cu && test \"$TMPDIR\" = \"$PWD\" && cp '{}' submission.ptx",
        ptx.display()
    );
    for (script, code, words) in [
        (compiles.as_str(), 1, "block 1 warp 7 lane 8 (reduce_interleaved.cu:35)"),
        (
            "echo \"$PWD/submission.cu(6): error: strid\" >&2; exit 1",
            1,
            "nvcc reports errors:\nsubmission.cu(6): error",
        ),
        ("printf '\\033[2J::notice::x' >&2; exit 1", 1, "\\u{1b}[2J::notice::x"),
        ("sleep 60 & sleep 60", 1, "while nvcc compiled it, it took longer than 2 s"),
        ("echo 'no ptx' > submission.ptx", 1, "it does not pass the checks"),
        ("true", 1, "the PTX of nvcc: it cannot be read"),
        ("ln -s /etc/passwd submission.ptx", 1, "the PTX of nvcc: it is a link"),
        (
            "head -c 1000000 /dev/zero > submission.ptx",
            1,
            "the PTX of nvcc: the file has 1000000 bytes",
        ),
        ("head -c 300000000 /dev/zero > more; sleep 60", 1, "it wrote more than 256 MiB of files"),
        ("yes | head -c 5000000; exit 1", 1, "nvcc"),
    ] {
        let (got, report) = bench.with_script(script);
        assert_eq!(got, code, "{script}: {report}");
        assert!(report.contains(words), "{script}: `{words}` is not in\n{report}");
        assert!(
            !report.contains("root:") && !report.contains(&*bench.folder.to_string_lossy()),
            "{script}: {report}"
        );
        assert!(report.len() < 20_000 && !report.contains('\u{1b}'), "{script}");
    }
    let running = Command::new("pgrep").args(["-f", "sleep 60"]).output();
    if let Ok(running) = running {
        let bench = bench.folder.to_string_lossy().into_owned();
        let theirs = String::from_utf8_lossy(&running.stdout).lines().any(|pid| {
            fs::read_link(format!("/proc/{pid}/cwd"))
                .is_ok_and(|cwd| cwd.to_string_lossy().contains(&bench))
        });
        assert!(!theirs, "what nvcc has started still runs");
    }
}

#[test]
fn nvcc_compiles_what_students_write() {
    let nvcc = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .find(|p| p.join("nvcc").is_file());
    let Some(path) = nvcc else {
        notice("skipped: there is no nvcc on the PATH");
        return;
    };
    let bench = Bench::new("nvcc");
    let typo = KERNEL.replace("mine[t + stride]", "mine[t + strid]");
    let barrier = KERNEL.replace("        __syncthreads();\n", "");
    for (text, words) in [
        (KERNEL, "4 / 4 points"),
        (
            &format!("#include \"cuda_runtime.h\"\n#include <cooperative_groups.h>\n{KERNEL}"),
            "4 / 4 points",
        ),
        (&typo, "submission.cu(6): error: identifier \"strid\" is undefined"),
        (&barrier, "(submission.cu:6)"),
        (
            &format!("#include \"/etc/passwd\"\n{KERNEL}"),
            "`#include \"/etc/passwd\"` is not allowed",
        ),
    ] {
        let (_, report) = bench.grade(text, &path);
        assert!(report.contains(words), "`{words}` is not in\n{report}");
        assert!(!report.contains("root:"), "{report}");
    }
}
