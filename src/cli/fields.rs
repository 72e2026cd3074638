//! Fields of a machine file by path: `memory.l1.bytes`, or an unambiguous end of it.
//!
//! A value replaces that of the file's text, and the text is then read as any machine file is. So a
//! value may be whatever the field may be, and an impossible one is refused in the same words.

use std::collections::BTreeSet;
use std::ops::Range;

use simt_core::diag::closest;
use simt_core::spec::Machine;

/// Prefix of such a path among the names of a sweep.
pub(crate) const PREFIX: &str = "machine.";
/// Nesting up to which a file is searched.
const MOST_DEPTH: usize = 64;

/// Returns the text of a machine file with fields set, each a path and a value.
///
/// # Errors
/// When a path is unknown, ambiguous or given twice.
pub(crate) fn set(text: &str, fields: &[(String, String)]) -> Result<String, String> {
    let mut text = text.to_owned();
    let mut done = BTreeSet::new();
    for (path, value) in fields {
        let full = resolve(path, &text)?;
        let places = places(&text);
        match places.iter().find(|place| place.path == full) {
            Some(place) => text.replace_range(place.value.clone(), value),
            None => {
                let (parent, name) = full.rsplit_once('.').unwrap_or(("", &full));
                let body =
                    places.iter().find(|place| place.path == parent).and_then(|place| place.body);
                let Some(body) = body else {
                    return Err(format!(
                        "`{PREFIX}{path}` does not exist: this machine has no `{parent}`\n\
                         help: sweep whole values, as in `{PREFIX}{parent}=({name}: {value}, ..)`"
                    ));
                };
                text.insert_str(body, &format!("{name}: {value}, "));
            }
        }
        if !done.insert(full.clone()) {
            return Err(format!("`{PREFIX}{path}`: `{full}` is swept twice"));
        }
    }
    Ok(text)
}

/// Returns the full path that `path` is, or ends.
fn resolve(path: &str, text: &str) -> Result<String, String> {
    let mut known: BTreeSet<String> = places(text).into_iter().map(|place| place.path).collect();
    let found = ending(path, &known);
    let found = if found.is_empty() {
        let presets = Machine::presets().filter_map(Machine::preset_text);
        known.extend(presets.flat_map(places).map(|place| place.path));
        // A price may have fields that no preset gives.
        let prices: Vec<String> =
            known.iter().filter(|p| p.starts_with("prices.")).cloned().collect();
        let classes = prices.iter().filter(|p| p.matches('.').count() == 1);
        known.extend(classes.flat_map(|p| {
            ["latency", "interval", "slots", "unit"].map(|field| format!("{p}.{field}"))
        }));
        ending(path, &known)
    } else {
        found
    };
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(unknown(path, &known)),
        several => Err(format!(
            "`{PREFIX}{path}` is ambiguous\nhelp: write one of {}",
            several.iter().map(|path| format!("`{PREFIX}{path}`")).collect::<Vec<_>>().join(", ")
        )),
    }
}

/// The path itself, or all known paths that end in it.
fn ending(path: &str, known: &BTreeSet<String>) -> Vec<String> {
    if known.contains(path) && !path.is_empty() {
        return vec![path.to_owned()];
    }
    let end = format!(".{path}");
    known.iter().filter(|known| known.ends_with(&end)).cloned().collect()
}

fn unknown(path: &str, known: &BTreeSet<String>) -> String {
    // Full paths, and their last two names: `l1.bytes`.
    let short =
        |path: &str| path.rmatch_indices('.').nth(1).map(|(at, _)| path[at + 1..].to_owned());
    let ends: Vec<String> = known.iter().filter_map(|path| short(path)).collect();
    let last = known.iter().filter_map(|path| path.rsplit('.').next());
    let names = known.iter().chain(&ends).map(String::as_str).chain(last);
    let hint = match closest(path, names.filter(|name| !name.is_empty())) {
        Some(near) => format!("did you mean `{PREFIX}{near}`?"),
        None => "print the fields with `simt-sim machine h200`".to_owned(),
    };
    format!("a machine file has no field `{path}`\nhelp: {hint}")
}

/// Place of a field in a file.
struct Place {
    /// Path from the outermost value, which has the empty path.
    path: String,
    /// Bytes of the value.
    value: Range<usize>,
    /// Byte at which the fields of the value begin, if it has any.
    body: Option<usize>,
}

/// Finds the fields of a RON text. Lists are not searched.
fn places(text: &str) -> Vec<Place> {
    let mut scan = Scan { text, at: 0, places: Vec::new() };
    scan.value(Some(String::new()), 0);
    scan.places
}

/// A position in a text, and the fields before it.
struct Scan<'a> {
    text: &'a str,
    at: usize,
    places: Vec<Place>,
}

impl Scan<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips white space and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let length = match rest.trim_start() {
                trimmed if trimmed.len() < rest.len() => rest.len() - trimmed.len(),
                trimmed if trimmed.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
                trimmed if trimmed.starts_with("/*") => {
                    rest.find("*/").map_or(rest.len(), |end| end + 2)
                }
                _ => return,
            };
            self.at += length;
        }
    }

    /// Skips a name and returns it; empty if there is none.
    fn word(&mut self) -> String {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !(c.is_alphanumeric() || "_.+-#".contains(c)))
            .unwrap_or(rest.len());
        let word = rest[..length].to_owned();
        self.at += length;
        word
    }

    /// Skips a string.
    fn string(&mut self) {
        let mut escaped = false;
        let end = self.rest().char_indices().skip(1).find(|&(_, c)| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        self.at += end.map_or(self.rest().len(), |(at, _)| at + 1);
    }

    /// Skips a value; notes its fields if it has a path.
    fn value(&mut self, path: Option<String>, depth: usize) {
        self.skip();
        let start = self.at;
        let place = self.places.len();
        if let Some(path) = &path {
            self.places.push(Place { path: path.clone(), value: start..start, body: None });
        }
        self.word();
        self.skip_to_group();
        match self.rest().chars().next() {
            Some('"') => self.string(),
            Some('(' | '{') if depth < MOST_DEPTH => {
                self.at += 1;
                if let Some(place) = path.as_ref().and_then(|_| self.places.get_mut(place)) {
                    place.body = Some(self.at);
                }
                self.group(path.as_deref(), depth);
            }
            Some('[') if depth < MOST_DEPTH => {
                self.at += 1;
                self.group(None, depth);
            }
            _ => {}
        }
        if let Some(place) = path.and_then(|_| self.places.get_mut(place)) {
            place.value.end = self.at;
        }
    }

    /// Skips white space before a group: `TwoLevel (active: 8)`.
    fn skip_to_group(&mut self) {
        let before = self.at;
        self.skip();
        if !self.rest().starts_with(['(', '{', '[', '"']) {
            self.at = before;
        }
    }

    /// Skips elements up to the closing bracket.
    fn group(&mut self, path: Option<&str>, depth: usize) {
        loop {
            self.skip();
            let start = self.at;
            if self.rest().starts_with([')', '}', ']']) {
                self.at += 1;
                return;
            }
            let name = self.word();
            self.skip();
            let field = !name.is_empty() && self.rest().starts_with(':');
            if field {
                self.at += 1;
            } else {
                self.at = start;
            }
            let within = path.filter(|_| field).map(|path| match path {
                "" => name,
                path => format!("{path}.{name}"),
            });
            self.value(within, depth + 1);
            self.skip();
            if self.rest().starts_with(',') {
                self.at += 1;
            }
            if self.at == start {
                self.at = self.text.len(); // not RON: the parser has the words for it
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn h200() -> &'static str {
        Machine::preset_text("h200").expect("a preset")
    }

    fn with(fields: &[(&str, &str)]) -> Result<Machine, String> {
        let fields: Vec<(String, String)> =
            fields.iter().map(|&(p, v)| (p.to_owned(), v.to_owned())).collect();
        Machine::parse(&set(h200(), &fields)?).map_err(|found| found[0].message.clone())
    }

    #[test]
    fn every_preset_is_searched_to_its_end() {
        for text in Machine::presets().filter_map(Machine::preset_text) {
            let places = places(text);
            let root = places.first().expect("a value");
            assert!(root.path.is_empty() && text[root.value.end..].trim().is_empty());
            for place in &places[1..] {
                let name = place.path.rsplit('.').next().expect("a name");
                let before = text[..place.value.start].trim_end();
                assert!(
                    before.strip_suffix(':').is_some_and(|b| b.trim_end().ends_with(name)),
                    "{}",
                    place.path
                );
            }
            for path in ["warp_size", "memory.l1", "prices.Float32.latency", "doc"] {
                assert!(places.iter().any(|place| place.path == path), "{path}");
            }
        }
    }

    #[test]
    fn values_change_by_full_path_and_by_its_end() {
        let spec = with(&[
            ("memory.l1.bytes", "16384"),
            ("l2.ways", "16"),
            ("warp_size", "16"),
            ("prices.Move.slots", "2"),
            ("policy", "TwoLevel(active: 8)"),
            ("dram_wait", "None"),
        ]);
        let spec = spec.expect("a machine");
        let l1 = spec.memory.l1.expect("a cache");
        assert_eq!((l1.bytes, spec.memory.l2.ways, spec.warp_size), (16384, 16, 16));
        assert_eq!(spec.price(simt_core::isa::Class::Move).slots, 2);
        assert!(spec.memory.dram_wait.is_none());
    }

    #[test]
    fn a_path_that_names_no_field_is_refused() {
        for (path, words) in [
            ("l1.bites", "did you mean `machine.l1.bytes`?"),
            ("memory.l1.byte", "did you mean `machine.memory.l1.bytes`?"),
            ("warp_sise", "did you mean `machine.warp_size`?"),
            ("bytes", "write one of `machine.memory.l1.bytes`, `machine.memory.l2.bytes`"),
            ("", "no field ``"),
        ] {
            let error = with(&[(path, "1")]).expect_err(path);
            assert!(error.contains(words), "{path}: {error}");
        }
        assert!(
            with(&[("l1.bytes", "1"), ("memory.l1.bytes", "2")])
                .expect_err("twice")
                .contains("swept twice")
        );
        let nested =
            set("(memory: (l1: None))", &[("l1.bytes".into(), "8".into())]).expect_err("no cache");
        assert!(
            nested.contains("no `memory.l1`")
                && nested.contains("machine.memory.l1=(bytes: 8, ..)"),
            "{nested}"
        );
    }

    #[test]
    fn no_text_holds_the_search_up() {
        for text in [
            "",
            "(",
            "(a",
            "(a:",
            "(a: \"",
            "(a: \"\\",
            "((((",
            ":::",
            "(a: b c: d)",
            "/*",
            "(/*",
            "[}{)",
        ] {
            places(text);
        }
        places(&"(a: ".repeat(10_000));
        places(&"é(:".repeat(100));
    }
}
