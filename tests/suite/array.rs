//! Job arrays of `sweep` and `grade`: the scripts by `sh`, and under a real Slurm.

#[cfg(target_os = "linux")]
mod slurm;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::{good, refused};

const REDUCTION: &str = "programs/reduce_interleaved.ir";

/// Creates an empty folder for one test; its name needs quotes in a shell.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("job arrays").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Runs a script of an array from another folder; returns exit code, standard output and error.
fn script(path: &Path, task: Option<usize>) -> (i32, String, String) {
    let mut command = Command::new("sh");
    command.arg(path).current_dir("/").env("COLUMNS", "100");
    if let Some(task) = task {
        command.env("SLURM_ARRAY_TASK_ID", task.to_string());
    }
    let output = command.output().expect("sh starts");
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    (output.status.code().expect("no signal"), text(output.stdout), text(output.stderr))
}

/// Returns the value of an `#SBATCH` line.
fn resource(script: &str, name: &str) -> String {
    let start = format!("#SBATCH --{name}=");
    let line = script.lines().find_map(|line| line.strip_prefix(&start));
    line.unwrap_or_else(|| panic!("no {name} in\n{script}")).to_owned()
}

#[test]
fn the_tasks_of_a_sweep_are_the_whole() {
    let at = folder("sweep");
    let (whole, array) = (at.join("whole.jsonl"), at.join("it's all"));
    let (whole, shown) = (whole.display().to_string(), array.display().to_string());
    let csv = at.join("table.csv").display().to_string();
    let sweep = [
        "sweep",
        "--metrics",
        "elapsed_cycles,ipc",
        "-P",
        "n",
        "1024",
        "4096",
        "-D",
        "x2",
        "-P",
        "mode=volta,pre-volta",
        "--set",
        "block = 128",
        "--machine",
        "teaching",
    ];
    let end = ["--", REDUCTION];
    let table = good(&[&sweep[..], &["--results", &whole], &end].concat());
    let said = good(&[&sweep[..], &["--slurm", &shown, "--tasks=4"], &end].concat());
    for words in ["6 points in 4 tasks", "--dependency=afterany:$job", "seq 4 | parallel"] {
        assert!(said.contains(words), "{said}");
    }
    let (task, merge) = (array.join("task.sh"), array.join("merge.sh"));
    let text = read(&task);
    assert_eq!(resource(&text, "array"), "1-4");
    assert_eq!(resource(&text, "time"), "10");
    let memory: u64 = resource(&text, "mem").trim_end_matches('M').parse().expect("MiB");
    assert!((64..100).contains(&memory), "{memory}");
    let line = said.lines().find(|line| line.contains("sbatch --parsable")).expect("a line");
    assert!(line.contains(r"it'\''s all"), "{line}");

    // Not all tasks have ended: the merge names the others, and writes nothing.
    for i in [1, 3] {
        let (code, out, err) = script(&task, Some(i));
        assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
    }
    let (code, out, err) = script(&merge, None);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("3 points are missing, of tasks 2,4"), "{err}");
    assert!(err.contains("sbatch --parsable --array=2,4 "), "{err}");
    assert!(!array.join("results.jsonl").exists());

    // A task that was killed within a line goes on after it.
    let part = array.join("part.1.jsonl");
    let lines = read(&part);
    assert_eq!(lines.lines().count(), 2);
    let first = lines.find('\n').expect("two lines") + 1;
    fs::write(&part, &lines[..first + 40]).expect("a file");
    for i in [1, 2, 4] {
        let (code, _, err) = script(&task, Some(i));
        assert_eq!(code, 0, "{err}");
        assert_eq!(err.contains("1 of 2 points are done already"), i == 1, "{err}");
    }
    assert_eq!(read(&part), lines);
    let (code, out, err) = script(&merge, None);
    assert_eq!((code, out.as_str(), err.as_str()), (0, table.as_str(), ""));
    assert_eq!(read(&array.join("results.jsonl")), read(Path::new(&whole)));

    // The same command resumes; another one does not mix.
    let (again, other) = (["--slurm", &shown, "--tasks", "4"], ["--slurm", &shown, "--tasks", "3"]);
    good(&[&sweep[..], &again, &end].concat());
    refused(&[&sweep[..], &other, &end].concat(), &["array of another command"]);
    let shares = ["--tasks", "4", "--gather", "--format", "csv", "--output", &csv];
    good(&[&sweep[..], &["--slurm", &shown], &shares, &end].concat());
    assert!(read(Path::new(&csv)).starts_with("n,mode,result,elapsed_cycles,ipc\n"));
}

#[test]
fn a_task_ends_as_its_first_bad_point_and_the_merge_as_the_sweep() {
    let at = folder("bad");
    let array = at.join("array");
    let sweep = ["sweep", "programs/small/spin_lock.ir", "-P", "mode=volta,pre-volta"];
    let whole = crate::cli::simt_sim(&sweep);
    good(&[&sweep[..], &["--slurm", &array.display().to_string()]].concat());
    let codes = [1, 2].map(|i| script(&array.join("task.sh"), Some(i)).0);
    assert_eq!(codes, [0, 3]);
    let (code, out, err) = script(&array.join("merge.sh"), None);
    assert_eq!((code, out, err), (whole.code, whole.out, whole.err));
    let task = crate::cli::simt_sim(
        &[&sweep[..], &["--slurm", "x", "--tasks", "2", "--task", "3"]].concat(),
    );
    assert!(task.code == 2 && task.err.contains("invalid shard `3/2`"), "{}", task.err);
    for (arguments, words) in [
        (vec!["--slurm", "x", "--tasks", "0"], "--tasks 0: expected 1 to 1000"),
        (vec!["--slurm", "100%"], "have a meaning in job scripts"),
    ] {
        refused(&[&sweep[..], &arguments].concat(), &[words]);
    }
}

#[test]
fn the_estimate_follows_the_data_and_the_work() {
    let at = folder("estimate");
    let write = |name: &str, last: &str| {
        let array = at.join(name);
        let sweep = ["sweep", REDUCTION, "-P", "n", "4096", last, "-D", "x4", "--tasks", "1"];
        good(&[&sweep[..], &["--slurm", &array.display().to_string()]].concat());
        let text = read(&array.join("task.sh"));
        let number = |name: &str| -> u64 {
            resource(&text, name).trim_end_matches('M').parse().expect("a number")
        };
        (number("mem"), number("time"))
    };
    let (small, large) = (write("small", "16384"), write("large", "16777216"));
    // 64 MiB of numbers, twice; 4,096 times the warps of the smallest point.
    assert!(small.0 < 70 && (190..240).contains(&large.0), "{small:?} {large:?}");
    assert!(small.1 == 10 && (11..30).contains(&large.1), "{small:?} {large:?}");
}

#[test]
fn the_tasks_of_a_class_are_the_whole() {
    let at = folder("grade");
    let assignment = at.join("assignment");
    fs::create_dir_all(&assignment).expect("a folder");
    let class = at.join("class");
    fs::create_dir_all(&class).expect("a folder");
    let source = Path::new("programs/assignments/fix-the-reduction");
    for file in ["starter.ir", "reference.ir", "statement.md"] {
        fs::copy(source.join(file), assignment.join(file)).expect("a copy");
    }
    fs::write(assignment.join("assignment.ron"), crate::grade::SMALL).expect("a file");
    for (file, name) in [("starter.ir", "anna.ir"), ("reference.ir", "berta.ir")] {
        fs::copy(source.join(file), class.join(name)).expect("a copy");
    }
    fs::write(class.join("carl.ir"), "no program").expect("a file");
    let (assignment, class) = (assignment.display().to_string(), class.display().to_string());
    let array = at.join("array");
    let shown = array.display().to_string();
    let grade = ["grade", &assignment, "--all", &class, "--format", "json"];
    let whole = good(&grade);
    let said = good(&[&grade[..], &["--slurm", &shown, "--tasks", "2"]].concat());
    assert!(said.contains("3 submissions in 2 tasks, at most 2 each"), "{said}");
    let (task, merge) = (array.join("task.sh"), array.join("merge.sh"));
    assert_eq!(resource(&read(&task), "mem"), "576M");
    assert_eq!(script(&task, Some(1)).0, 0);
    let (code, _, err) = script(&merge, None);
    assert!(code == 2 && err.contains("1 submissions are missing, of tasks 2"), "{err}");
    assert_eq!(script(&task, Some(2)).0, 0);
    let (code, out, err) = script(&merge, None);
    assert_eq!((code, out.as_str()), (0, whole.as_str()), "{err}");

    // Files of results without an array: the same grades, and only what changed is measured.
    let kept = at.join("class.jsonl").display().to_string();
    let parts = ["1/2", "2/2"].map(|shard| {
        let part = at.join(format!("{}.jsonl", &shard[..1])).display().to_string();
        good(&[&grade[..], &["--shard", shard, "--results", &part]].concat());
        part
    });
    let merge = ["--merge", &parts[1], &parts[0], "--results", &kept];
    assert_eq!(good(&[&grade[..], &merge].concat()), whole);
    assert_eq!(read(Path::new(&kept)), read(&array.join("results.jsonl")));
    fs::copy(source.join("reference.ir"), Path::new(&class).join("carl.ir")).expect("a copy");
    refused(&[&grade[..], &merge].concat(), &["1 of 3 submissions are missing, or have changed"]);
    let ended = crate::cli::simt_sim(&[&grade[..], &["--results", &kept]].concat());
    assert!(ended.err.contains("2 of 3 submissions are measured already"), "{}", ended.err);
    assert_eq!(ended.out, good(&grade));
}
