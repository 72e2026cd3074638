//! Runs every command of the documentation, compares its output and pictures, and checks the book.
//!
//! In a `console` block, a line `$ simt-sim ..` is run (with its continuation lines after a
//! backslash); the following lines must be printed, where `...` stands for any lines. A picture
//! that a command writes to `docs/pictures` must equal the committed one; `BLESS=1` redraws it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output};

use crate::drawing::summary;

/// Where pages keep their pictures.
const PICTURES: &str = "docs/pictures/";

/// Returns every page: the README, the guide for contributors and all Markdown below `docs`.
fn pages() -> BTreeSet<PathBuf> {
    let mut pages = BTreeSet::from(["README.md", "CONTRIBUTING.md"].map(PathBuf::from));
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for path in
            fs::read_dir(folder).expect("a folder of docs").flatten().map(|entry| entry.path())
        {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                pages.insert(path);
            }
        }
    }
    pages
}

/// Returns the commands of a page with their shown output and line numbers.
fn commands(page: &str) -> Vec<(usize, String, Vec<String>)> {
    let mut found: Vec<(usize, String, Vec<String>)> = Vec::new();
    let mut inside = false;
    let mut goes_on = false;
    for (number, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if goes_on && let Some((_, command, _)) = found.last_mut() {
            goes_on = line.ends_with('\\');
            command.push_str(line.trim_end_matches('\\'));
        } else if inside && let Some(command) = line.strip_prefix("$ ") {
            goes_on = command.ends_with('\\');
            found.push((number + 1, command.trim_end_matches('\\').to_string(), Vec::new()));
        } else if inside && let Some((_, _, shown)) = found.last_mut() {
            shown.push(line.to_string());
        }
    }
    found
}

/// Returns true if `printed` is the shown text. A remark after a figure (`  # exact count`) may be
/// omitted.
fn matches(shown: &[String], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((dots, rest)) if dots == "..." => {
            (0..=printed.len()).any(|skip| matches(rest, &printed[skip..]))
        }
        Some((line, rest)) => {
            let same = |p: &&str| {
                *p == line || p.split_once("  # ").is_some_and(|(figure, _)| figure == line)
            };
            printed.first().is_some_and(same) && matches(rest, &printed[1..])
        }
    }
}

/// Runs a command of a page. Output files go to a folder of the test; a picture of the book is
/// compared.
fn run(at: &str, command: &str) -> Output {
    let args = command
        .strip_prefix("simt-sim ")
        .unwrap_or_else(|| panic!("{at}: not simt-sim: {command}"));
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    fs::create_dir_all(&scratch).expect("a folder for what commands write");
    let mut written = Vec::new();
    let mut divert = |file: &str| {
        let name =
            Path::new(file).file_name().unwrap_or_else(|| panic!("{at}: `{file}` is no file"));
        let diverted = scratch.join(name);
        written.push((file.to_string(), diverted.clone()));
        diverted.display().to_string()
    };
    let mut words: Vec<String> = Vec::new();
    for word in args.split_whitespace() {
        let after = words.last().map(String::as_str);
        words.push(match word.split_once('=') {
            _ if matches!(after, Some("-o" | "--output" | "--results" | "--html")) => divert(word),
            Some((kind, file)) if after == Some("--plot") => format!("{kind}={}", divert(file)),
            _ => word.to_string(),
        });
    }
    let output = Command::new(env!("CARGO_BIN_EXE_simt-sim"))
        .args(&words)
        .env_remove("COLUMNS")
        .output()
        .expect("the binary runs");
    for (shown, drawn) in written.iter().filter(|(shown, _)| shown.starts_with(PICTURES)) {
        let drawn =
            fs::read(drawn).unwrap_or_else(|e| panic!("{at}: `{command}` wrote no {shown}: {e}"));
        if std::env::var_os("BLESS").is_some() {
            fs::write(shown, &drawn).expect("a picture is written");
        }
        let there = fs::read(shown).unwrap_or_default();
        let text = |bytes: &[u8]| summary(&String::from_utf8_lossy(bytes));
        assert!(
            drawn == there || shown.ends_with(".svg") && text(&drawn) == text(&there),
            "{at}: {shown} is not what `{command}` draws; BLESS=1 draws it anew"
        );
    }
    output
}

#[test]
fn pages_show_what_the_commands_print() {
    let run = pages_show(|command| !is_slow(command));
    assert!(run >= 30, "only {run} commands were found");
}

#[test]
#[ignore = "long: 2^20 elements"]
fn long_pages_show_what_the_slow_commands_print() {
    let run = pages_show(is_slow);
    assert!(run >= 3, "only {run} slow commands were found");
}

/// True of a command that takes more than a second.
fn is_slow(command: &str) -> bool {
    command.contains("n=1048576")
        || command.contains("grade programs/assignments/fix-the-reduction programs")
}

/// Holds the chosen commands to what is shown of them. Returns their number.
fn pages_show(chosen: impl Fn(&str) -> bool) -> usize {
    let (mut commands_run, mut wrong) = (0, Vec::new());
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for (line, command, shown) in
            commands(&text).into_iter().filter(|(_, command, _)| chosen(command))
        {
            let at = format!("{}:{line}", page.display());
            let output = run(&at, &command);
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            let lines: Vec<&str> = printed.lines().collect();
            if !matches(&shown, &lines) {
                let complaints = String::from_utf8_lossy(&output.stderr);
                wrong.push(format!("{at}: `{command}` prints\n{printed}{complaints}"));
            }
            commands_run += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    commands_run
}

/// Returns the targets of a page's links and pictures without fragments. Skips code.
fn targets(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut code = false;
    for line in page.lines() {
        code ^= line.starts_with("```");
        if code {
            continue;
        }
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for link in prose.split("](").skip(1) {
            let target = link.split([')', ' ', '#']).next().unwrap_or_default();
            found.push(target.to_string());
        }
    }
    found
}

/// Joins `page`'s folder with a relative link and resolves `..`.
fn resolve(page: &Path, target: &str) -> PathBuf {
    let mut path = page.parent().unwrap_or(Path::new("")).to_path_buf();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
    }
    path
}

#[test]
fn every_link_leads_somewhere_and_the_book_has_every_page() {
    let mut pictures = BTreeSet::new();
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for target in targets(&text).iter().filter(|t| !t.is_empty() && !t.contains("://")) {
            let file = resolve(&page, target);
            assert!(file.exists(), "{}: the link to {target} leads nowhere", page.display());
            let inside = file.starts_with("docs");
            assert!(
                inside || !page.starts_with("docs"),
                "{}: {target} is not in the book",
                page.display()
            );
            if file.starts_with(PICTURES) {
                pictures.insert(file);
            }
        }
    }
    for picture in fs::read_dir(PICTURES).expect("pictures").flatten().map(|entry| entry.path()) {
        assert!(pictures.contains(&picture), "no page shows {}", picture.display());
    }

    let summary = Path::new("docs/SUMMARY.md");
    let listed = targets(&fs::read_to_string(summary).expect("the table of contents"));
    let listed: BTreeSet<PathBuf> = listed.iter().map(|target| resolve(summary, target)).collect();
    let mut book = pages();
    book.retain(|page| page.starts_with("docs") && page != summary);
    assert_eq!(book, listed, "docs/SUMMARY.md lists every page of the book, and no other");
}
