//! Holds the modules to the import table of `docs/architecture.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Module name → the modules it may import.
fn table() -> BTreeMap<String, Vec<String>> {
    let page = fs::read_to_string("docs/architecture.md").expect("docs/architecture.md");
    let rows =
        page.lines().skip_while(|l| !l.starts_with("| module | owns")).skip(2).take_while(|l| l.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        (cells[0].to_string(), cells[2].split_whitespace().map(str::to_string).collect())
    })
    .collect()
}

fn rust_files(dir: &Path, into: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(dir).expect("source folder").flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

#[test]
fn modules_import_only_what_the_table_allows() {
    let table = table();
    assert!(table.len() > 10, "the table of docs/architecture.md was not found");
    let mut files = Vec::new();
    rust_files(Path::new("src"), &mut files);
    let mut faults = Vec::new();
    for path in files {
        let module = path.strip_prefix("src").expect("under src").components().next().expect("a name");
        let module = module.as_os_str().to_string_lossy().trim_end_matches(".rs").to_string();
        if ["lib", "main", "cli"].contains(&module.as_str()) || path.ends_with("tests.rs") || path.ends_with("laws.rs")
        {
            continue;
        }
        let Some(allowed) = table.get(&module) else {
            faults.push(format!("{}: module `{module}` has no row in docs/architecture.md", path.display()));
            continue;
        };
        let text = fs::read_to_string(&path).expect("readable source");
        // Tests may use anything; they stand at the end of a file.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate().filter(|(_, l)| !l.trim_start().starts_with("//")) {
            for used in line.split("crate::").skip(1) {
                let used: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if used != module && !allowed.contains(&used) && table.contains_key(&used) {
                    faults.push(format!("{}:{}: `{module}` may not import `{used}`", path.display(), number + 1));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
