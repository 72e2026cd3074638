//! Checks the sources against the tables of `docs/architecture.md`: crates, rooms of the core, and
//! what the core must not know.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Rows of the table with this header: the name in the first column, the words of the last.
fn table(header: &str) -> BTreeMap<String, BTreeSet<String>> {
    let page = fs::read_to_string("docs/architecture.md").expect("docs/architecture.md");
    let rows = page
        .lines()
        .skip_while(|l| !l.starts_with(header))
        .skip(2)
        .take_while(|l| l.starts_with('|'));
    let rows = rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        (
            cells[0].to_string(),
            cells[cells.len() - 1].split_whitespace().map(str::to_string).collect(),
        )
    });
    let rows: BTreeMap<_, _> = rows.collect();
    assert!(rows.len() > 5, "docs/architecture.md has no table `{header}`");
    rows
}

fn rust_files(dir: &Path, into: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        fs::read_dir(dir).expect("source folder").flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

/// The lines of a file that are compiled outside of tests, with their numbers, and the modules that
/// only tests compile.
fn compiled(text: &str) -> (Vec<(usize, &str)>, Vec<String>) {
    let (mut kept, mut test_modules) = (Vec::new(), Vec::new());
    let mut lines = (1..).zip(text.lines());
    while let Some((number, line)) = lines.next() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        if line.trim() != "#[cfg(test)]" {
            kept.push((number, line));
            continue;
        }
        // The item that follows is for tests: one line, or up to the brace that closes it.
        let indent = line.len() - line.trim_start().len();
        let ends = |l: &str| {
            l.len() - l.trim_start().len() == indent
                && (l.trim_start().starts_with('}')
                    || l.trim_end().ends_with(';') && !l.contains('{'))
        };
        for (_, item) in lines.by_ref() {
            if let Some(name) =
                item.trim().strip_suffix(';').and_then(|item| item.split("mod ").nth(1))
            {
                test_modules.push(name.to_string());
            }
            if ends(item) {
                break;
            }
        }
    }
    (kept, test_modules)
}

/// Every file below a source folder that is compiled outside of tests, with its lines.
fn sources(folder: &str) -> Vec<(PathBuf, Vec<(usize, String)>)> {
    let mut files = Vec::new();
    rust_files(Path::new(folder), &mut files);
    let (mut sources, mut only_tests) = (Vec::new(), BTreeSet::new());
    for path in files {
        let text = fs::read_to_string(&path).expect("a text file");
        let (lines, modules) = compiled(&text);
        let stem = path.with_extension("");
        let beside = if path.ends_with("lib.rs") || path.ends_with("main.rs") {
            path.parent().expect("a folder")
        } else {
            &stem
        };
        only_tests.extend(modules.into_iter().map(|module| beside.join(module)));
        sources.push((path, lines.into_iter().map(|(n, l)| (n, l.to_string())).collect()));
    }
    sources.retain(|(path, _)| {
        !only_tests.iter().any(|test| path.with_extension("").starts_with(test))
    });
    sources
}

/// The first name after each `prefix` of a line.
fn names_after<'l>(line: &'l str, prefix: &'l str) -> impl Iterator<Item = &'l str> {
    line.split(prefix)
        .skip(1)
        .map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(""))
}

#[test]
fn rooms_of_the_core_import_only_what_the_table_allows() {
    let table = table("| room | owns");
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    for (path, lines) in sources("crates/core/src") {
        let room = path
            .strip_prefix("crates/core/src")
            .expect("in the core")
            .components()
            .next()
            .expect("a name");
        let room = room.as_os_str().to_string_lossy().trim_end_matches(".rs").to_string();
        if room == "lib" {
            continue;
        }
        let Some(allowed) = table.get(&room) else {
            faults.push(format!(
                "{}: room `{room}` has no row in docs/architecture.md",
                path.display()
            ));
            continue;
        };
        for (number, line) in &lines {
            for used in names_after(line, "crate::") {
                let used = match used {
                    "Job" => "job",
                    "Program" => "program",
                    used => used,
                };
                if used != room && table.contains_key(used) {
                    seen.insert((room.clone(), used.to_string()));
                    if !allowed.contains(used) {
                        faults.push(format!(
                            "{}:{number}: `{room}` may not import `{used}`",
                            path.display()
                        ));
                    }
                }
            }
        }
    }
    for (room, allowed) in &table {
        for unused in allowed.iter().filter(|&used| !seen.contains(&(room.clone(), used.clone()))) {
            faults.push(format!("docs/architecture.md: `{room}` does not import `{unused}`"));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn crates_use_only_what_the_table_allows() {
    let table = table("| crate | owns");
    let mut faults = Vec::new();
    for (name, allowed) in &table {
        let folder = match name.as_str() {
            "simt-sim" => ".".to_string(),
            "simt-isa" | "simt-programs" => name["simt-".len()..].to_string(),
            name => format!("crates/{}", &name["simt-".len()..]),
        };
        let manifest =
            fs::read_to_string(Path::new(&folder).join("Cargo.toml")).expect("a manifest");
        let listed = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default();
        let listed = listed.split("\n[").next().unwrap_or_default().lines();
        let listed: BTreeSet<&str> = listed
            .filter_map(|l| l.split(['.', ' ', '=']).next())
            .filter(|l| l.starts_with("simt-"))
            .collect();
        for used in &listed {
            if !allowed.contains(*used) {
                faults.push(format!("{name} may not depend on {used}"));
            }
        }
        faults.extend(
            allowed
                .iter()
                .filter(|a| !listed.contains(a.as_str()))
                .map(|a| format!("{name} has no {a}")),
        );
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// The core knows no file, clock, thread, process, environment or terminal.
#[test]
fn the_core_knows_nothing_of_the_computer() {
    const NOT: [&str; 8] = [
        "std::fs",
        "std::io",
        "std::time",
        "std::thread",
        "std::process",
        "std::env",
        "println!",
        "eprintln!",
    ];
    let mut faults = Vec::new();
    for (path, lines) in sources("crates/core/src") {
        for (number, line) in lines {
            faults.extend(
                NOT.iter()
                    .filter(|not| line.contains(**not))
                    .map(|not| format!("{}:{number}: {not}", path.display())),
            );
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Unsafe code stands only where the page says.
#[test]
fn unsafe_code_stands_where_the_page_says() {
    const ALLOWED: [&str; 11] = [
        "crates/gpu/src/device.rs",
        "crates/gpu/src/device/",
        "crates/gpu/src/nvrtc.rs",
        "crates/cuda/src/abi.rs",
        "crates/cuda/src/abi/",
        "crates/cuda/tests/",
        "crates/cudart/src/abi.rs",
        "crates/cudart/src/abi/",
        "programs/exec/saxpy/",
        "programs/frontends/rustc/",
        "tests/wasm/lib.rs",
    ];
    let page = fs::read_to_string("docs/architecture.md").expect("docs/architecture.md");
    for place in [
        "crates/gpu/src/device.rs",
        "crates/cuda/src/abi",
        "crates/cudart/src/abi",
        "programs/exec/saxpy",
        "programs/frontends/rustc",
        "tests/wasm/lib.rs",
    ] {
        assert!(page.contains(&format!("`{place}`")), "docs/architecture.md does not name {place}");
    }
    // Build scripts write code as text; the texts of this test are not code.
    let is_code = |line: &str| {
        let before = line.split("//").next().unwrap_or_default().split('"').step_by(2);
        before
            .flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && c != '_'))
            .any(|word| word == "unsafe")
    };
    let mut faults = Vec::new();
    for path in all_rust_files() {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).expect("a text file");
        if ALLOWED.iter().any(|allowed| name.starts_with(allowed)) {
            continue;
        }
        let lines = (1..).zip(text.lines()).filter(|(_, line)| is_code(line));
        faults.extend(lines.map(|(number, _)| format!("{name}:{number}: unsafe")));
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Returns every Rust file of the repository.
fn all_rust_files() -> Vec<PathBuf> {
    let mut files = vec!["build.rs".into()];
    for folder in ["src", "crates", "isa", "programs", "tests", "examples", "benches"] {
        rust_files(Path::new(folder), &mut files);
    }
    files
}

/// Returns the lines of prose on a page: without tables, code, and lines that cannot be broken.
fn prose(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut code = false;
    (1..).zip(page.lines()).filter(move |(_, line)| {
        code ^= line.starts_with("```");
        let text = line.trim_start_matches(|c: char| !c.is_alphabetic());
        !code && !line.starts_with('|') && text.contains(' ') && !text.starts_with("simt-sim ")
    })
}

/// The lengths that CONTRIBUTING.md allows.
#[test]
fn files_and_lines_are_as_short_as_contributing_says() {
    const MOST_LINES: usize = 489;
    const COLUMNS: usize = 100;
    let rules = fs::read_to_string("CONTRIBUTING.md").expect("CONTRIBUTING.md");
    assert!(rules.contains("Files stay under 490 lines; lines end at 100 columns"));
    let mut faults = Vec::new();
    let mut check = |path: &Path, (number, line): (usize, &str)| {
        if line.chars().count() > COLUMNS {
            faults.push(format!("{}:{number}: more than {COLUMNS} columns", path.display()));
        }
    };
    let root = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(PathBuf::from);
    let docs = fs::read_dir("docs").expect("docs").flatten().map(|entry| entry.path());
    for page in root.into_iter().chain(docs) {
        if page.extension().is_some_and(|e| e == "md") {
            let text = fs::read_to_string(&page).expect("a page");
            prose(&text).for_each(|line| check(&page, line));
        }
    }
    let mut long = Vec::new();
    for path in all_rust_files() {
        let text = fs::read_to_string(&path).expect("a text file");
        let comments = (1..).zip(text.lines()).filter(|(_, l)| l.trim_start().starts_with("//"));
        comments.for_each(|line| check(&path, line));
        if text.lines().count() > MOST_LINES {
            long.push(format!("{}: more than {MOST_LINES} lines", path.display()));
        }
    }
    faults.extend(long);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// The part of a file behind tests in its middle is seen.
#[test]
fn tests_in_the_middle_of_a_file_hide_nothing() {
    let text = "use a;\n#[cfg(test)]\nmod laws;\nuse b;\n#[cfg(test)]\nmod tests {\n    use c;\n    fn f() {\n    }\n}\nuse d;\n";
    let (lines, modules) = compiled(text);
    assert_eq!(lines.iter().map(|(_, l)| *l).collect::<Vec<_>>(), ["use a;", "use b;", "use d;"]);
    assert_eq!(modules, ["laws"]);
}
