//! Names the library, and makes the table of entry points.
//!
//! `data/entry_points.txt` lists every function of the driver API. A function that `src/abi`
//! defines stands in the table as it is; the others get a body that reports the missing name.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=data/entry_points.txt");
    println!("cargo::rerun-if-changed=src/abi");
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    }
    let points = fs::read_to_string("data/entry_points.txt").expect("data/entry_points.txt");
    let mut defined = BTreeSet::new();
    for file in fs::read_dir("src/abi").expect("src/abi").flatten() {
        let text = fs::read_to_string(file.path()).expect("a source file");
        defined.extend(text.lines().filter_map(definition).map(str::to_owned));
    }
    let (mut table, mut symbols) = (String::new(), BTreeSet::new());
    for line in points.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, version, symbol] = words[..] else { panic!("expected three words: `{line}`") };
        symbols.insert(symbol);
        writeln!(table, "    Entry {{ name: {name:?}, version: {version}, symbol: {symbol:?} }},")
            .expect("a string");
    }
    let mut code = format!("const ENTRIES: &[Entry] = &[\n{table}];\n");
    code.push_str("fn address(symbol: &str) -> Option<usize> {\n    match symbol {\n");
    for symbol in &symbols {
        writeln!(code, "        {symbol:?} => Some({symbol} as *const () as usize),")
            .expect("a string");
    }
    code.push_str("        _ => None,\n    }\n}\n");
    let missing: Vec<&str> =
        symbols.iter().copied().filter(|symbol| !defined.contains(*symbol)).collect();
    for symbol in missing {
        writeln!(
            code,
            "#[unsafe(no_mangle)]\nextern \"C\" fn {symbol}() -> u32 {{ missing({symbol:?}) }}"
        )
        .expect("a string");
    }
    let out = env::var("OUT_DIR").expect("OUT_DIR");
    fs::write(Path::new(&out).join("entries.rs"), code).expect("OUT_DIR is writable");
}

/// Returns the name that a line of `src/abi` defines: `    fn cuInit(..`.
fn definition(line: &str) -> Option<&str> {
    let name = line.trim_start().strip_prefix("fn ")?.split('(').next()?;
    let rest = name.strip_prefix("cu")?;
    rest.starts_with(|c: char| c.is_ascii_uppercase()).then_some(name)
}
