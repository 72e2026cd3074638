//! Runs every command that a page shows, and compares what it prints.
//!
//! In a `console` block, a line `$ simt-sim ..` is run; the lines below it must be printed, `...` standing for any lines.

use std::fs;
use std::process::Command;

/// The commands of a page with the output shown, each with its line number.
fn commands(page: &str) -> Vec<(usize, String, Vec<String>)> {
    let mut found: Vec<(usize, String, Vec<String>)> = Vec::new();
    let mut inside = false;
    for (number, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if inside && let Some(command) = line.strip_prefix("$ ") {
            found.push((number + 1, command.to_string(), Vec::new()));
        } else if inside && let Some((_, _, shown)) = found.last_mut() {
            shown.push(line.to_string());
        }
    }
    found
}

/// Whether `printed` is what is shown.
fn matches(shown: &[String], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((dots, rest)) if dots == "..." => (0..=printed.len()).any(|skip| matches(rest, &printed[skip..])),
        Some((line, rest)) => printed.first() == Some(&line.as_str()) && matches(rest, &printed[1..]),
    }
}

#[test]
fn pages_show_what_the_commands_print() {
    let mut pages = vec!["README.md".to_string()];
    for entry in fs::read_dir("docs").expect("docs").flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "md") {
            pages.push(path.display().to_string());
        }
    }
    pages.sort();
    let mut run = 0;
    for page in pages {
        let text = fs::read_to_string(&page).expect("a page");
        for (line, command, shown) in commands(&text) {
            let args =
                command.strip_prefix("simt-sim ").unwrap_or_else(|| panic!("{page}:{line}: not simt-sim: {command}"));
            let output = Command::new(env!("CARGO_BIN_EXE_simt-sim"))
                .args(args.split_whitespace())
                .env_remove("COLUMNS")
                .output()
                .expect("the binary runs");
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            let lines: Vec<&str> = printed.lines().collect();
            assert!(
                matches(&shown, &lines),
                "{page}:{line}: `{command}` prints\n{printed}{}",
                String::from_utf8_lossy(&output.stderr)
            );
            run += 1;
        }
    }
    assert!(run >= 4, "only {run} commands were found");
}
