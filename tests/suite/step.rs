//! The stepper's screens, by scripts of keys: their contents (golden files in `tests/screens`;
//! `BLESS=1` rewrites them), and equal screens for different ways to one position.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::{good, refused};

const REDUCTION: &str = "programs/reduce_neighbored.ir";

/// Name of the golden file, size, and keys.
const SCREENS: [(&str, &str, &[&str]); 15] = [
    ("start", "100x30", &[REDUCTION, "--set", "n=4096"]),
    ("divergence-volta", "100x30", &[REDUCTION, "--set", "n=4096", "--script", "2d 3n"]),
    (
        "divergence-pre-volta",
        "100x30",
        &[REDUCTION, "--set", "n=4096", "--mode", "pre-volta", "--script", "2d 3n"],
    ),
    ("meeting", "100x30", &[REDUCTION, "--set", "n=4096", "--script", "d j"]),
    ("barrier", "100x30", &[REDUCTION, "--set", "n=4096", "--script", "b"]),
    ("tall", "140x45", &[REDUCTION, "--set", "n=4096", "--script", "m 2n"]),
    (
        "tall-stack",
        "140x45",
        &["programs/small/nested_four.ir", "--mode", "pre-volta", "--script", "3d"],
    ),
    ("joins", "100x30", &["programs/small/nested_four.ir", "--mode", "volta", "--script", "3d"]),
    (
        "banks",
        "100x30",
        &["programs/small/shared_conflicts.ir", "--set", "stride=4", "--script", "l34; 2n"],
    ),
    ("hexadecimal", "100x30", &["programs/small/diamond.ir", "--script", "5n x"]),
    (
        "changed",
        "100x30",
        &["programs/small/diamond.ir", "--script", "l 43; e %even space all space 1; n"],
    ),
    (
        "livelock",
        "100x30",
        &["programs/small/spin_lock.ir", "--mode", "pre-volta", "--script", "end"],
    ),
    ("help", "100x30", &["programs/small/diamond.ir", "--script", "?"]),
    ("question", "100x30", &["programs/small/diamond.ir", "--script", "n l 43"]),
    ("small", "80x24", &["programs/small/diamond.ir", "--script", "d"]),
];

fn golden(name: &str) -> PathBuf {
    Path::new("tests/screens").join(name).with_extension("txt")
}

fn screen(size: &str, typed: &[&str]) -> String {
    let script: &[&str] = if typed.contains(&"--script") { &[] } else { &["--script", ""] };
    good(&[&["step", "--size", size], typed, script].concat())
}

#[test]
fn screens_are_as_they_were() {
    let bless = std::env::var_os("BLESS").is_some_and(|v| v != "0");
    let mut differ = Vec::new();
    for (name, size, typed) in SCREENS {
        let shown = screen(size, typed);
        let (width, height) = size.split_once('x').expect("a size");
        assert_eq!(shown.lines().count(), height.parse::<usize>().expect("rows"), "{name}");
        let widest = shown.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= width.parse().expect("columns"), "{name}");
        if bless {
            fs::create_dir_all("tests/screens").expect("a folder");
            fs::write(golden(name), &shown).expect("a golden file");
        }
        if fs::read_to_string(golden(name)).unwrap_or_default() != shown {
            differ.push(format!("{name}:\n{shown}"));
        }
    }
    assert!(
        differ.is_empty(),
        "{}\nif this is right: BLESS=1 cargo test --test suite step",
        differ.join("\n")
    );
}

#[test]
fn one_place_is_one_screen() {
    for (one, other) in [
        ("n", "n n N"),
        ("3n", "n n n"),
        ("4c", "9c 5C"),
        ("c c", "g 2 enter"),
        ("d", "d 40n 40N"),
        ("d", "2d D"),
        ("i i i", "5i 2I"),
        ("b", "2b B"),
        ("j", "2j J"),
        ("2n", "home 2n"),
        ("d", "end 9D"),
        ("d n", "d e %rest,2,77; 9n 9N u n"),
        ("w w", "3w W"),
        ("n W", "n 15w"),
        ("n", "n x x"),
        ("n", "n r %p enter r enter"),
        ("l 61 enter", "2n l 61 enter n L 61 enter"),
    ] {
        let typed = |script| screen("100x30", &[REDUCTION, "--set", "n=512", "--script", script]);
        let (one_screen, other_screen) = (typed(one), typed(other));
        // The message of the last key may differ.
        let place = |screen: &str| screen.lines().take(28).map(str::to_string).collect::<Vec<_>>();
        assert_eq!(place(&one_screen), place(&other_screen), "`{one}` and `{other}`");
    }
}

#[test]
fn keys_say_what_they_cannot_do() {
    for (program, script, words) in [
        (REDUCTION, "end", "THE END: all threads have exited"),
        (REDUCTION, "end n", "the run has ended"),
        (REDUCTION, "N", "the beginning of the run"),
        (REDUCTION, "l 1 enter", "line 1 has no instruction of this kernel"),
        (REDUCTION, "g x enter", "expected a number, found `x`"),
        (REDUCTION, "e %x space 5 space 1 enter", "no register `%x`"),
        (
            REDUCTION,
            "e %t space 32 space 1 enter",
            "expected a lane from 0 to 31, or all, found `32`",
        ),
        (REDUCTION, "e %t space 5 space 1.5 enter", "expected a value of type u32, found `1.5`"),
        (REDUCTION, "e %t enter", "expected a register, a lane and a value"),
        (REDUCTION, "v 99 enter", "expected a block from 0 to 0 and a warp from 0 to 15"),
        (REDUCTION, "]", "no other block is on this SM"),
        (REDUCTION, "u", "no register was changed"),
        (REDUCTION, "y", "unknown key y"),
        (REDUCTION, "v 15 enter 99d", "times, then block 0 warp 15 does not diverge again"),
        ("programs/small/vector_add.ir", "m", "no divergent branch; 1 was predicated (line 28)"),
        ("programs/small/barrier_one_arm.ir", "end", "THE END: deadlock"),
    ] {
        let set: &[&str] = if program == REDUCTION { &["--set", "n=512"] } else { &[] };
        let shown = screen("120x30", &[&[program], set, &["--script", script]].concat());
        assert!(shown.contains(words), "`{script}`: `{words}` is not in\n{shown}");
    }
}

#[test]
fn what_is_typed_wrongly_is_refused() {
    refused(&["step", REDUCTION], &["needs a terminal", "--script"]);
    refused(&["step", REDUCTION, "--script", "n", "--size", "100"], &["--size 100", "100x30"]);
    refused(
        &["step", REDUCTION, "--script", "n", "--warp", "16"],
        &["--warp 16: expected 0 to 15"],
    );
    refused(&["step", "programs/nothing.ir", "--script", "n"], &["cannot read"]);
    let tiny = screen("40x10", &[REDUCTION, "--set", "n=512"]);
    assert!(tiny.contains("the stepper needs 80"), "{tiny}");
}
