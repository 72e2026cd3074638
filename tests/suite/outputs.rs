//! Output files: regular files are replaced as a whole or left alone, others are written through,
//! and errors are reported.

#![cfg(unix)]

use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAM: &str = "programs/small/if_else.ir";
const WRONG: &str = "programs/assignments/read-a-lane-map/wrong";

/// Every command that writes a file, with its output option.
const WRITERS: &[&[&str]] = &[
    &["run", PROGRAM, "--html"],
    &["compare", PROGRAM, PROGRAM, "--html"],
    &["plot", "stalls", PROGRAM, "--output"],
    &["export", "trace", PROGRAM, "--output"],
    &["cfg", PROGRAM, "--output"],
    &["sweep", PROGRAM, "-P", "mode=pre-volta,volta", "--results"],
    &[
        "grade",
        "programs/assignments/read-a-lane-map",
        "programs/assignments/read-a-lane-map/starter.ir",
        "--output",
    ],
    &[
        "grade",
        "programs/assignments/read-a-lane-map",
        "--all",
        WRONG,
        "--format",
        "csv",
        "--output",
    ],
    &["timeline", PROGRAM, "--format", "csv", "--output"],
    &["run", PROGRAM, "--format", "json", "--output"],
    &["compare", PROGRAM, PROGRAM, "--output"],
    &["ask", "one-side", "--output"],
];

fn run(arguments: &[&str], path: &Path) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simt-sim"));
    let Output { status, stderr, .. } =
        command.args(arguments).arg(path).output().expect("the binary starts");
    (status.code().expect("no signal"), String::from_utf8(stderr).expect("text"))
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outputs").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> =
        entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_full_device_is_an_error_of_every_command() {
    let link = folder("full").join("full.csv");
    symlink("/dev/full", &link).expect("a link");
    for writer in WRITERS {
        let (code, errors) = run(writer, &link);
        assert_eq!(code, 2, "{writer:?}: {errors}");
        assert!(
            errors.contains(&format!("cannot write `{}`: No space left", link.display())),
            "{writer:?}: {errors}"
        );
        assert!(fs::symlink_metadata(&link).expect("a link").is_symlink(), "{writer:?}");
    }
    assert!(fs::metadata("/dev/full").expect("a device").file_type().is_char_device());
}

#[test]
fn devices_are_written_through() {
    let link = folder("null").join("null.csv");
    symlink("/dev/null", &link).expect("a link");
    for writer in WRITERS {
        let (code, errors) = run(writer, &link);
        assert!(code < 2, "{writer:?}: {errors}");
    }
    assert!(fs::metadata("/dev/null").expect("a device").file_type().is_char_device());
    // A separate node, in a place where only root could replace one: a failing test must not cost
    // the host a device.
    let folder = folder("device");
    let node = folder.join("null");
    if Command::new("mknod")
        .arg(&node)
        .args(["c", "1", "3"])
        .status()
        .is_ok_and(|status| status.success())
    {
        run(WRITERS[3], &node);
        assert!(fs::symlink_metadata(&node).expect("it is there").file_type().is_char_device());
    }
}

#[test]
fn a_fifo_gets_what_a_file_would() {
    let folder = folder("fifo");
    let (fifo, file) = (folder.join("pipe"), folder.join("file"));
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    for writer in [WRITERS[3], WRITERS[5]] {
        let reader = std::thread::spawn({
            let fifo = fifo.clone();
            move || {
                let mut text = String::new();
                fs::File::open(fifo).expect("a pipe").read_to_string(&mut text).map(|_| text)
            }
        });
        assert_eq!(run(writer, &fifo).0, 0, "{writer:?}");
        let read = reader.join().expect("a reader").expect("text");
        assert_eq!(run(writer, &file).0, 0, "{writer:?}");
        // Points of a sweep arrive as they end.
        let lines =
            |text: &str| text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(lines(&read), lines(&fs::read_to_string(&file).expect("a file")), "{writer:?}");
        assert!(
            fs::symlink_metadata(&fifo).expect("it is there").file_type().is_fifo(),
            "{writer:?}"
        );
        fs::remove_file(&file).expect("a file");
    }
}

#[test]
fn links_stay_and_their_targets_are_written() {
    let folder = folder("links");
    fs::create_dir(folder.join("elsewhere")).expect("a folder");
    let (target, link) = (folder.join("elsewhere/target"), folder.join("link"));
    symlink("elsewhere/target", &link).expect("a link");
    for before in [None, Some("old")] {
        before.iter().for_each(|text| fs::write(&target, text).expect("a file"));
        assert_eq!(run(WRITERS[3], &link), (0, String::new()));
        assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
        assert!(fs::read_to_string(&target).expect("a file").contains("cycle"));
    }
    let loops = folder.join("loops");
    symlink("loops", &loops).expect("a link");
    let (code, errors) = run(WRITERS[3], &loops);
    assert_eq!(code, 2);
    assert!(errors.contains("cannot write") && errors.contains("links"), "{errors}");
    assert_eq!(run(WRITERS[3], &folder).0, 2, "a folder is no file");
    assert_eq!(names(&folder), ["elsewhere", "link", "loops"], "no temporary file is left");
}

#[test]
fn files_beside_the_output_stay_and_permissions_too() {
    let folder = folder("beside");
    let (out, own) = (folder.join("out"), folder.join("out.part"));
    fs::write(&own, "mine").expect("a file");
    fs::write(&out, "old").expect("a file");
    fs::set_permissions(&out, fs::Permissions::from_mode(0o640)).expect("permissions");
    assert_eq!(run(WRITERS[3], &out).0, 0);
    assert_eq!(fs::read_to_string(&own).expect("a file"), "mine");
    assert_eq!(fs::metadata(&out).expect("a file").mode() & 0o777, 0o640);
    assert_eq!(names(&folder), ["out", "out.part"]);
    // A new file has default permissions.
    let (new, plain) = (folder.join("new"), folder.join("plain"));
    assert_eq!(run(WRITERS[3], &new).0, 0);
    fs::write(&plain, "").expect("a file");
    let mode = |path| fs::metadata(path).expect("a file").mode();
    assert_eq!(mode(&new), mode(&plain));
}

#[test]
fn a_folder_of_the_users_beside_a_new_assignment_stays() {
    let folder = folder("new");
    fs::create_dir(folder.join("mine.part")).expect("a folder");
    let arguments = ["new", "assignment", "mine", "--dir"];
    assert_eq!(run(&arguments, &folder), (0, String::new()));
    assert_eq!(names(&folder), ["mine", "mine.part"]);
    assert!(names(&folder.join("mine")).contains(&"assignment.ron".to_owned()));
    assert_eq!(fs::metadata(folder.join("mine")).expect("a folder").mode() & 0o700, 0o700);
}

#[test]
fn standard_output_is_a_place_to_write_to() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simt-sim"));
    let done = command.args(WRITERS[3]).arg("/dev/stdout").output().expect("the binary starts");
    assert_eq!(done.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&done.stdout).contains("cycle"));
}
