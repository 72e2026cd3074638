//! Pages of `run --html` and `compare --html`: well formed, self-contained, harmless for any
//! program, reproducible, and consistent with their recording. `tests/html/check.mjs` tests them in
//! a browser, if there is one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use simt_core::base::BlockId;
use simt_core::divergence::SideOrder;
use simt_core::launch::Overrides;
use simt_core::observe::Window;
use simt_core::spec::Mode;
use simt_core::{Job, Program};
use simt_report::annotate::Source;
use simt_report::html::{Part, run_page};
use simt_report::simulate::{record, simulate};
use simt_report::timeline::Recording;

use crate::cli::{good, refused};
use crate::support::{launch, machine, options};

const LIMIT: u64 = 200_000;

/// Returns the page of a program, and its recording.
fn made(name: &str, text: &str, mode: Mode) -> (String, Recording) {
    let program = Program::parse(name, text);
    assert!(program.is_sound(), "{:?}", program.findings);
    let spec = machine(mode.default_machine());
    let options = options(mode, SideOrder::Taken, LIMIT);
    let (kernel, resolved) = launch(&program, &Overrides::default()).expect("a launch");
    let window = Window { block: BlockId(0), warps: 0..u32::MAX, cycles: 0..u64::MAX, limit: 1000 };
    let recording =
        record(&Job::new(&program, kernel, resolved.clone(), &spec, options.clone()), &window)
            .expect("a block that fits");
    let run = simulate(Job::new(&program, kernel, resolved, &spec, options.clone()), &())
        .expect("a block that fits")
        .run;
    let sources = [Source { name: program.name.clone(), text: Some(program.text.clone()) }];
    (run_page(Part { run: &run, recording: Some(&recording), sources: &sources }), recording)
}

fn of_file(path: &str, mode: Mode) -> (String, Recording) {
    made(path, &fs::read_to_string(path).expect("a program"), mode)
}

/// An element: its name, attributes and direct text.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    text: String,
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// Parses a page as strictly as XML, except for void elements, valueless attributes and raw text;
/// panics on anything else.
fn elements(page: &str) -> Vec<Element> {
    const VOID: [&str; 4] = ["meta", "link", "input", "br"];
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("a document type");
    let (mut found, mut open): (Vec<Element>, Vec<usize>) = (Vec::new(), Vec::new());
    while !rest.trim().is_empty() {
        let Some(at) = rest.find('<') else { panic!("text behind the end: {rest}") };
        let (text, tag) = rest.split_at(at);
        let stray = text
            .split('&')
            .skip(1)
            .find(|t| !["lt;", "gt;", "quot;", "amp;"].iter().any(|e| t.starts_with(e)));
        assert!(stray.is_none() && !text.contains('>'), "unescaped: {text}");
        if let Some(&parent) = open.last() {
            found[parent].text += &unescaped(text);
        }
        let end = tag.find('>').expect("a tag that ends");
        let (inside, behind) = (&tag[1..end], &tag[end + 1..]);
        rest = behind;
        if let Some(name) = inside.strip_prefix('/') {
            let closed = open.pop().map(|i| found[i].name.clone());
            assert_eq!(closed.as_deref(), Some(name), "an end tag that fits");
            continue;
        }
        let (name, mut list) = inside.split_once(' ').unwrap_or((inside, ""));
        assert!(
            name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()),
            "a name: {name}"
        );
        let mut element = Element { name: name.to_owned(), ..Element::default() };
        while !list.trim().is_empty() {
            let end = list.find([' ', '=']).unwrap_or(list.len());
            let (key, after) = list.split_at(end);
            let value = match after.strip_prefix("=\"") {
                Some(quoted) => {
                    let (value, behind) = quoted.split_once('"').expect("a value that ends");
                    list = behind.trim_start();
                    value
                }
                None => {
                    list = after.trim_start();
                    ""
                }
            };
            assert!(!key.is_empty(), "an attribute in {inside}");
            let twice = element.attributes.insert(key.to_owned(), unescaped(value));
            assert!(twice.is_none(), "{key} twice in {inside}");
        }
        if name == "script" || name == "style" {
            let (raw, behind) = rest.split_once(&format!("</{name}>")).expect("raw text that ends");
            element.text = raw.to_owned();
            rest = behind;
        } else if !VOID.contains(&name) {
            open.push(found.len());
        }
        found.push(element);
    }
    assert!(open.is_empty(), "elements that end");
    found
}

/// Checks that a page loads nothing, has unique ids and no dangling references.
fn sound(page: &str) -> Vec<Element> {
    let found = elements(page);
    let mut ids = BTreeSet::new();
    for element in &found {
        for (key, value) in &element.attributes {
            assert!(
                !key.starts_with("on")
                    && !["src", "srcset", "action", "data"].contains(&key.as_str()),
                "{element:?}"
            );
            assert!(key != "href" || value == "data:," || value.starts_with('#'), "{element:?}");
            assert!(key != "id" || ids.insert(value.clone()), "id {value} twice");
            if element.name != "meta" && key != "title" && key != "aria-label" {
                assert!(!value.contains("http"), "{element:?}");
            }
        }
        let is_data = element.attributes.get("type").is_some_and(|t| t == "application/json");
        let loads = [
            "http:",
            "https:",
            "url(",
            "@import",
            "fetch(",
            "XMLHttpRequest",
            "import(",
            "WebSocket",
            "innerHTML",
        ];
        if ["script", "style"].contains(&element.name.as_str()) && !is_data {
            let load = loads.iter().find(|word| element.text.contains(*word));
            assert!(load.is_none(), "{load:?} in {}", element.name);
        }
    }
    for key in ["for", "aria-describedby"] {
        for id in found.iter().filter_map(|e| e.attributes.get(key)) {
            assert!(ids.contains(id), "{key}={id} names nothing");
        }
    }
    found
}

fn data(found: &[Element]) -> Value {
    let script =
        found.iter().find(|e| e.attributes.get("type").is_some_and(|t| t == "application/json"));
    serde_json::from_str(&script.expect("data").text).expect("JSON")
}

#[test]
fn pages_are_well_formed_and_load_nothing() {
    let mut pages = 0;
    for path in
        ["nested", "spin_lock", "barrier_both_arms", "shared_conflicts", "early_return", "picture"]
    {
        for mode in [Mode::PreVolta, Mode::Volta] {
            let path = format!("programs/small/{path}.ir");
            let (page, _) = of_file(&path, mode);
            sound(&page);
            assert_eq!(page, of_file(&path, mode).0, "the same bytes each time");
            pages += 1;
        }
    }
    assert_eq!(pages, 12);
}

/// Compares each issue of the data, field by field, with the recording.
#[test]
fn the_data_of_a_page_are_those_of_the_recording() {
    for (path, mode) in [
        ("programs/small/nested.ir", Mode::Volta),
        ("programs/small/barrier_both_arms.ir", Mode::PreVolta),
    ] {
        let (page, recording) = of_file(path, mode);
        let data = data(&sound(&page));
        let int = |v: &Value| v.as_i64().unwrap_or_else(|| panic!("a number: {v}"));
        let mask =
            |v: &Value| u32::from_ne_bytes(i32::try_from(int(v)).expect("32 bits").to_ne_bytes());
        let warps = data["warps"].as_array().expect("warps");
        assert_eq!(warps.len(), recording.timeline.strips().len());
        let mut issues = 0;
        for (warp, strip) in warps.iter().zip(recording.timeline.strips()) {
            let mut cycle = 0;
            let rows = warp["issues"].as_array().expect("issues");
            assert_eq!(rows.len(), strip.issues.len());
            for (row, issue) in rows.iter().zip(&strip.issues) {
                cycle += int(&row[0]);
                let step = &data["steps"][usize::try_from(int(&row[1])).expect("an index")];
                let control =
                    |at: &Value| &data["controls"][usize::try_from(int(at)).expect("an index")];
                let live = control(&row[7])[0]
                    .as_array()
                    .expect("groups")
                    .iter()
                    .fold(0, |all, g| all | mask(&g[1]));
                assert_eq!(cycle, i64::try_from(issue.cycle).expect("a small number"));
                assert_eq!(
                    (int(&step[0]), int(&step[1])),
                    (issue.pc.0.into(), recording.line(issue.pc).into())
                );
                assert_eq!((mask(&row[2]), mask(&row[3])), (issue.active.0, issue.executed.0));
                assert_eq!((int(&row[4]), int(&row[5])), (issue.slots.into(), issue.path.into()));
                assert_eq!(row[6].is_null(), issue.taken.is_none());
                assert_eq!(live, issue.state.live().0);
                assert_eq!(
                    control(&row[7])[1].as_array().map(Vec::len),
                    Some(issue.state.stack.len())
                );
                assert_eq!(
                    control(&row[8])[2].as_array().map(Vec::len),
                    Some(issue.after.joins.len())
                );
                let waited: i64 =
                    row[9].as_array().expect("waits").chunks(2).map(|w| int(&w[1])).sum();
                let between =
                    row.get(12).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                let between: i64 = between.chunks(2).map(|w| int(&w[1])).sum();
                assert_eq!(
                    waited + between,
                    i64::try_from(issue.waited()).expect("a small number")
                );
                issues += 1;
            }
        }
        assert!(issues > 20, "{path}: {issues} issues");
    }
}

/// A name, comments and an instruction that would each break out of an unescaped page.
#[test]
fn nothing_in_a_program_becomes_markup() {
    let name =
        "\"><img src=x onerror=alert(1)>\u{202e}</title></script><script>alert(1)</script>&amp;.ir";
    let text = "//! grid = 1\n//! block = 32\n//! buffer out: u32[32]\n//! arg out = out\n//! expect finish == ok\n\
                .entry k(.param .u64 out)\n{\n    .reg .u64 %p; // </script><script>alert(2)</script><!-- &lt; \"'\n\
                    ld.param.u64 %p, [out]; /* </code></td><iframe src=\"https://example.com\"> */\n\
                    st.global.u32 [%p], 1;\n    ret;\n}\n";
    let (page, _) = made(name, text, Mode::Volta);
    let found = sound(&page);
    let names: BTreeSet<&str> = found.iter().map(|e| e.name.as_str()).collect();
    assert!(!names.contains("img") && !names.contains("iframe"), "{names:?}");
    assert_eq!(
        found.iter().filter(|e| e.name == "script").count(),
        2,
        "the page's own: data and scripts"
    );
    let title =
        found.iter().find(|e| e.name == "title").map(|e| e.text.clone()).unwrap_or_default();
    assert!(
        title.contains("<img src=x onerror=alert(1)>\u{fffd}</title>")
            && title.contains("&amp;.ir"),
        "{title}"
    );
    let shows = |what: &str| found.iter().any(|e| e.name == "code" && e.text.contains(what));
    assert!(shows("// </script><script>alert(2)</script><!-- &lt; \"'"));
    assert!(shows("<iframe src=\"https://example.com\"> */"));
    let of_step = data(&found)["steps"].to_string();
    assert!(of_step.contains("</code></td><iframe"), "{of_step}");
}

/// 32 warps in a practically endless loop: the window bounds the page.
#[test]
fn the_window_bounds_the_size() {
    let path = folder().join("long.html");
    let page = path.to_str().expect("a name");
    good(&[
        "run",
        "programs/reduce_neighbored.ir",
        "--set",
        "n=4096",
        "--set",
        "block=1024",
        "--html",
        page,
        "--quiet",
    ]);
    let of = |path: &PathBuf| fs::read_to_string(path).expect("a page");
    let whole = of(&path);
    assert!(
        whole.len() < 5_000_000 && whole.contains("They issue no more"),
        "{} bytes",
        whole.len()
    );
    sound(&whole);
    let window = ["--warp", "3", "--limit", "7", "--from", "30"];
    good(
        &[
            &["run", "programs/reduce_neighbored.ir", "--set", "n=4096", "--html", page, "--quiet"],
            &window[..],
        ]
        .concat(),
    );
    let part = of(&path);
    assert!(
        part.len() < whole.len() && part.contains("warp 3 of its 16, 7 issues"),
        "{} bytes",
        part.len()
    );
    assert!(part.contains("The warp issues more"));
    refused(&["run", "programs/small/diamond.ir", "--warp", "0"], &["--warp", "--html"]);
    refused(
        &["run", "programs/small/diamond.ir", "--html", "no/such/folder/x.html"],
        &["no/such/folder/x.html"],
    );
}

#[test]
fn a_comparison_shows_both() {
    let path = folder().join("comparison.html");
    let page = path.to_str().expect("a name");
    good(&["compare", "programs/small/spin_lock.ir", "--mode", "pre-volta,volta", "--html", page]);
    let text = fs::read_to_string(&path).expect("a page");
    let found = sound(&text);
    assert_eq!(
        found.iter().filter(|e| e.attributes.get("class").is_some_and(|c| c == "map")).count(),
        2
    );
    assert!(text.contains("pre-volta: livelock; volta: finished."));
    assert!(found.iter().any(|e| e.text.contains("LIVELOCK")), "why the first does not end");
}

fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("html");
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    folder
}

/// Tests loading, hovering, zooming, keys, both themes, two sizes, and the lanes found by the
/// scripts. Needs Node and Chromium.
#[test]
#[expect(clippy::print_stderr, reason = "a test that skips says so")]
fn in_a_browser() {
    let mut pages = Vec::new();
    for (name, mode) in [
        ("nested", Mode::Volta),
        ("barrier_both_arms", Mode::PreVolta),
        ("spin_lock", Mode::PreVolta),
    ] {
        let (page, recording) = of_file(&format!("programs/small/{name}.ir"), mode);
        let path = folder().join(format!("{name}.html"));
        let strip = recording.timeline.strips().first().expect("a warp");
        let letters = |i: &simt_core::observe::Issue| -> String {
            let states = i.lane_states(recording.warp_size);
            format!(
                "{} {}",
                i.number,
                states.iter().map(|state| state.letter()).collect::<String>()
            )
        };
        let lanes: Vec<String> = strip.issues.iter().map(letters).collect();
        fs::write(&path, page).expect("a file");
        fs::write(path.with_extension("html.lanes"), lanes.join("\n")).expect("a file");
        pages.push(path);
    }
    let both = folder().join("browser.html");
    let page = both.to_str().expect("a name");
    good(&[
        "compare",
        "programs/reduce_neighbored.ir",
        "programs/reduce_interleaved.ir",
        "--set",
        "n=4096",
        "--html",
        page,
    ]);
    pages.push(both);
    let Ok(done) = Command::new("node").arg("tests/html/check.mjs").args(&pages).output() else {
        eprintln!("skipped: there is no Node to drive a browser with");
        return;
    };
    let said =
        String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    match done.status.code() {
        Some(0) => {}
        Some(77) => eprint!("{said}"),
        _ => panic!("{said}"),
    }
}
