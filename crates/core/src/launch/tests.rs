//! Directives from text to verdicts, without a PTX parser: the lines are extracted by hand.

mod judging;
mod programs;
mod several;
mod structures;

use std::cell::RefCell;
use std::fmt::Write as _;

use super::resolve::Signature;
use super::*;
use crate::diag::{Diagnostic, Span};
use crate::isa::Type;
use crate::kernel::layout::{BUFFER_ALIGN, BUFFER_BASE};
use crate::kernel::{KernelName, Parameter};
use crate::ptx::tree::{Module, Name};

/// Returns the `//!` lines of a text, as the parser returns them.
fn module(text: &str) -> Module {
    let mut module = Module::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some(rest) = line.trim_end().strip_prefix("//!") {
            let span = Span::new(start + 3, start + 3 + rest.len());
            module.directives.push(Name { text: rest.to_owned(), span });
        }
        start += line.len();
    }
    module
}

/// Builds a parameter list, laid out as in PTX.
/// An entry is name, type and number of elements.
fn parameters(list: &[(&str, Type, u32)]) -> (Vec<Parameter>, u32) {
    let mut offset = 0u32;
    let mut parameters = Vec::new();
    for (name, ty, count) in list {
        offset = offset.next_multiple_of(ty.bytes());
        let bytes = ty.bytes() * count;
        parameters.push(Parameter {
            name: (*name).to_owned(),
            ty: *ty,
            offset,
            bytes,
            span: Span::default(),
        });
        offset += bytes;
    }
    (parameters, offset)
}

const NO_FILES: Files<'_> = &|_, _| Err("there are no files here".to_owned());

/// Resolves the directives for a kernel `k` with the given parameters.
fn launch_with(
    text: &str,
    list: &[(&str, Type, u32)],
    overrides: &Overrides,
) -> Result<Launch, Vec<Diagnostic>> {
    one_of_launches(text, 0, list, overrides)
}

/// As [`launch_with`], for one of several launches.
fn one_of_launches(
    text: &str,
    index: usize,
    list: &[(&str, Type, u32)],
    overrides: &Overrides,
) -> Result<Launch, Vec<Diagnostic>> {
    let (plan, diagnostics) = plan(&module(text), text);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let (params, param_bytes) = parameters(list);
    let signature = Signature {
        names: KernelName { name: "k", symbol: "k" },
        params: &params,
        param_bytes,
        shared_bytes: 0,
        block_limit: None,
        variables: &[],
        fetches_memory: false,
        span: Span::default(),
    };
    plan.resolve_for(index, signature, overrides, NO_FILES)
}

/// As [`launch_with`], with a grid and block of one and no parameters.
fn launch(lines: &str) -> Result<Launch, Vec<Diagnostic>> {
    let mut text = String::from("//! grid = 1\n//! block = 1\n");
    for line in lines.lines() {
        let _ = writeln!(text, "//! {}", line.trim());
    }
    launch_with(&text, &[], &Overrides::default())
}

fn ok(result: Result<Launch, Vec<Diagnostic>>) -> Launch {
    result.unwrap_or_else(|diagnostics| panic!("{diagnostics:#?}"))
}

/// Returns the codes of the diagnostics with the text each points at.
fn faults(text: &str, result: Result<Launch, Vec<Diagnostic>>) -> Vec<(&'static str, String)> {
    let excerpt = |d: &Diagnostic| {
        d.labels
            .first()
            .map_or(String::new(), |l| text[l.span.start as usize..l.span.end as usize].to_owned())
    };
    result.err().unwrap_or_default().iter().map(|d| (d.code, excerpt(d))).collect()
}

/// Memory contents after a run, as given by a test.
struct After(Vec<Vec<u32>>);
impl MemoryView for After {
    fn word(&self, buffer: usize, word: u64) -> u32 {
        self.0[buffer][word as usize]
    }
}

/// Returns the verdicts on an `ok` run in `volta` with these words in the buffers.
fn verdicts(launch: &Launch, memory: &[&[u32]]) -> Vec<(bool, String)> {
    let after = After(memory.iter().map(|w| w.to_vec()).collect());
    judge(launch, &after, "ok", &|_| Err(String::new()), "volta")
        .into_iter()
        .map(|v| (v.passed, v.detail))
        .collect()
}

#[test]
fn a_whole_launch_resolves() {
    let text = "//! kernel k\n//! title The title: free text, #1\n\
        //! const n = 1 << 4   # elements\n//! const block = 4\n\
        //! grid = (ceil_div(n, block), 2)\n//! block = block\n//! shared = 4 * block\n\
        //! buffer in: u32[n] = iota(1)\n//! buffer out: u32[ceil_div(n, block)]\n\
        //! arg p = in\n//! arg q = out + 4\n//! arg n = n\n//! arg 3 = -1.5\n\
        //! arg list = [1, -2]\n\
        //! expect out == block_sum(in, block)\n";
    let list = [
        ("p", Type::U64, 1),
        ("q", Type::U64, 1),
        ("n", Type::U32, 1),
        ("f", Type::F32, 1),
        ("list", Type::S16, 2),
    ];
    let launch = ok(launch_with(text, &list, &Overrides::default()));
    assert_eq!((launch.grid, launch.block, launch.dynamic_shared), ([4, 2, 1], [4, 1, 1], 16));
    assert_eq!(launch.title.as_deref(), Some("The title: free text, #1"));
    assert_eq!(launch.constants, [("n".to_owned(), 16), ("block".to_owned(), 4)]);
    assert_eq!(launch.buffers[0].address, BUFFER_BASE);
    assert_eq!(launch.buffers[1].address, BUFFER_BASE + 2 * BUFFER_ALIGN);
    assert_eq!(launch.buffers[0].words, (1..=16).collect::<Vec<u32>>());
    let mut params = BUFFER_BASE.to_le_bytes().to_vec();
    params.extend((BUFFER_BASE + 2 * BUFFER_ALIGN + 4).to_le_bytes());
    params.extend(16u32.to_le_bytes());
    params.extend((-1.5f32).to_le_bytes());
    params.extend(1i16.to_le_bytes());
    params.extend((-2i16).to_le_bytes());
    assert_eq!(launch.params, params);
    assert_eq!(verdicts(&launch, &[&[0; 16], &[10, 26, 42, 58]]), [(true, String::new())]);
    let wrong = verdicts(&launch, &[&[0; 16], &[10, 27, 42, 59]]);
    assert_eq!(wrong, [(false, "out[1]: expected 26, found 27 (2 of 4 differ)".to_owned())]);
}

#[test]
fn operators_bind_and_check() {
    let cases: &[(&str, Result<i64, &str>)] = &[
        ("2 + 3 * 4", Ok(14)),
        ("(2 + 3) * 4", Ok(20)),
        ("7 & 1 == 1", Ok(1)),
        ("1 << 4 | 1", Ok(17)),
        ("-7 / 2 * 10 + -7 % 2", Ok(-31)),
        ("~0 & 0xff", Ok(255)),
        ("ceil_div(10, 4) + ceil_div(-10, 4) + ceil_div(8, 4)", Ok(3)),
        ("min(3, 1, 2) + max(3, 1, 2)", Ok(4)),
        ("1 < 2 && 2 < 1 || !0", Ok(1)),
        ("0 ? 1 / 0 : 5", Ok(5)),
        ("0 && 1 / 0", Ok(0)),
        ("abs(-3) + popcount(255)", Ok(11)),
        ("0x7fff_ffff_ffff_ffff", Ok(i64::MAX)),
        ("0x7fff_ffff_ffff_ffff + 1", Err("out-of-range")),
        ("0xffff_ffff_ffff_ffff + 1", Err("overflow")),
        ("1 << 64", Err("out-of-range")),
        ("3 << 63", Err("overflow")),
        ("1 / 0", Err("division-by-zero")),
        ("1 % 0", Err("division-by-zero")),
        ("ceil_div(1, 0)", Err("division-by-zero")),
        ("1.5", Err("type-mismatch")),
        ("nope", Err("unknown-name")),
        ("nope(1)", Err("unknown-name")),
        ("1 +", Err("directive-syntax")),
        ("1 2", Err("directive-syntax")),
    ];
    for (expression, expected) in cases {
        let result = launch(&format!("const x = {expression}"));
        match (expected, result) {
            (Ok(value), Ok(launch)) => assert_eq!(launch.constants[0].1, *value, "{expression}"),
            (Err(code), Err(diagnostics)) => assert_eq!(diagnostics[0].code, *code, "{expression}"),
            (_, result) => panic!("{expression}: {result:?}"),
        }
    }
}

#[test]
fn no_expression_can_exhaust_the_stack() {
    let nested = format!("const x = {}1{}", "(".repeat(100_000), ")".repeat(100_000));
    let prefixed = format!("const x = {}1", "-".repeat(100_000));
    let long = format!("const x = 1{}", " + 1".repeat(100_000));
    let chosen = format!("const x = {}1", "1 ? 1 : ".repeat(100_000));
    for line in [nested, prefixed, long, chosen] {
        assert_eq!(launch(&line).err().map(|d| d[0].code), Some("too-deep"));
    }
}

#[test]
fn buffers_are_filled_as_asked() {
    let launch = ok(launch(
        "buffer a: u8[5] = [1, 2,
            255, -1, 0]
         buffer b: s16[3] = iota(-1, 2)
         buffer c: u32[3] = (i * 3 + 1) % 7 for i
         buffer d: f32[2] = fill(0.5)
         buffer e: u64[1] = fill(0xffff_ffff_ffff_ffff)
         buffer f: u32[3] = c[2 - i] + sum(a) for i
         buffer g: u32[4]",
    ));
    let words: Vec<&[u32]> = launch.buffers.iter().map(|b| &b.words[..]).collect();
    assert_eq!(words[0], [0xffff_0201, 0x00]);
    assert_eq!(words[1], [0x0001_ffff, 3]);
    assert_eq!(words[2], [1, 4, 0]);
    assert_eq!(words[3], [0x3f00_0000; 2]);
    assert_eq!(words[4], [u32::MAX; 2]);
    assert_eq!(words[5], [513, 517, 514]);
    assert_eq!(words[6], [0; 4]);
}

#[test]
fn random_contents_depend_on_the_seed_and_stay_in_range() {
    let draw = |line: &str| ok(launch(line)).buffers.remove(0).words;
    let bytes = draw("buffer a: u32[4096] = random(7, 0..256)");
    assert!(bytes.iter().all(|v| *v < 256));
    let mean = bytes.iter().sum::<u32>() / 4096;
    assert!((120..136).contains(&mean), "{mean}");
    assert_eq!(bytes, draw("buffer a: u32[4096] = random(7, 0..256)"));
    assert_ne!(bytes, draw("buffer a: u32[4096] = random(8, 0..256)"));
    assert!(
        draw("buffer a: s32[64] = random(1, -3..-1)")
            .iter()
            .all(|v| [-3, -2].contains(&(*v as i32)))
    );
    assert!(
        draw("buffer a: f32[64] = random(1, -1..0.5)")
            .iter()
            .all(|v| (-1.0..=0.5).contains(&f32::from_bits(*v)))
    );
    let full = draw("buffer a: u64[64] = random(1, 0..0xffff_ffff_ffff_ffff)");
    assert!(full.iter().any(|v| *v > u32::MAX / 2));
}

#[test]
fn the_congruential_generator_is_that_of_a_host_program() {
    let draw = |line: &str| ok(launch(line)).buffers.remove(0).words;
    // By hand, in C: `s = s * 1664525u + 1013904223u; a[i] = s >> 8 & 0xffff`.
    assert_eq!(draw("buffer a: u32[4] = lcg(12345)"), [14620, 15482, 3138, 35090]);
    assert_eq!(draw("buffer a: u8[4] = lcg(12345)"), [u32::from_le_bytes([28, 122, 66, 18])]);
}

#[test]
fn files_come_through_the_closure() {
    let text = "//! grid = 1\n//! block = 1\n//! buffer a: u16[2] = file(\"data.bin\")\n";
    let (plan, _) = plan(&module(text), text);
    let signature = Signature {
        names: KernelName { name: "k", symbol: "k" },
        params: &[],
        param_bytes: 0,
        shared_bytes: 0,
        block_limit: None,
        variables: &[],
        fetches_memory: false,
        span: Span::default(),
    };
    let asked = RefCell::new(Vec::new());
    let resolve = |bytes: &[u8]| {
        let files = |path: &str, wanted: Wanted| {
            asked.borrow_mut().push((path.to_owned(), wanted.bytes()));
            Ok(bytes.to_vec())
        };
        plan.resolve_for(0, signature, &Overrides::default(), &files)
    };
    assert_eq!(ok(resolve(&[1, 2, 3, 4])).buffers[0].words, [0x0403_0201]);
    assert_eq!(
        faults(text, resolve(&[1, 2, 3])),
        [("wrong-length", "file(\"data.bin\")".to_owned())]
    );
    assert_eq!(faults(text, resolve(&[1, 2])), [("wrong-length", "file(\"data.bin\")".to_owned())]);
    assert!(asked.into_inner().iter().all(|(path, most)| path == "data.bin" && *most == 4));
}

#[test]
fn mistakes_are_named_where_they_are() {
    let cases: &[(&str, &str, &str)] = &[
        ("grit = 4", "unknown-directive", "grit"),
        ("A sentence of prose", "unknown-directive", "A"),
        ("title a\n//! title b", "duplicate-directive", "title"),
        ("const n = 1\n//! const n = 2", "duplicate-name", "n"),
        ("const n = m\n//! const m = 1", "unknown-name", "m"),
        ("const n = 1 § 2", "directive-syntax", "§"),
        ("shared = -1", "too-large", "-1"),
        ("shared = 1 << 30", "too-large", "1 << 30"),
        ("buffer a: f8[4]", "unknown-type", "f8"),
        ("buffer a: u32[0]", "out-of-range", "0"),
        ("buffer a: u32[1 << 40]", "too-large", "1 << 40"),
        ("buffer a: u32[4] = 7", "directive-syntax", "7"),
        ("buffer a: u32[4] = [1, 2]", "wrong-length", "[1, 2]"),
        ("buffer a: u32[4] = [1, 2", "directive-syntax", ""),
        ("buffer a: u8[1] = [256]", "out-of-range", "256"),
        ("buffer a: u8[1] = fill(0.5)", "type-mismatch", "0.5"),
        ("buffer a: u8[1] = fill(1, 2)", "directive-syntax", "fill"),
        ("buffer a: u8[1] = random(1, 0..257)", "out-of-range", "0..257"),
        ("buffer a: u8[1] = random(1, 5..5)", "out-of-range", "5..5"),
        ("buffer a: u8[1] = file(\"x\")", "file", "\"x\""),
        ("buffer a: u8[4] = a[i] for i", "unknown-name", "a"),
        ("buffer a: u8[4]\n//! buffer b: u8[8] = a[i] for i", "out-of-range", "a[i]"),
        ("buffer a: u8[4]\n//! buffer b: u8[4] = a[0] for a", "duplicate-name", "a"),
        ("const i = 1\n//! buffer a: u8[4] = i for i", "duplicate-name", "i"),
        ("arg x = 1", "unknown-argument", "x"),
        ("arg 9 = 1", "unknown-argument", "9"),
        ("expect finish == happy", "unknown-name", "happy"),
        ("expect[kepler] finish == ok", "unknown-name", "kepler"),
        ("expect 1", "directive-syntax", ""),
        ("buffer a: u8[4]\n//! expect a == [1]", "wrong-length", "[1]"),
        ("buffer a: u8[4]\n//! expect a[4] == 1", "out-of-range", "a[4]"),
        ("buffer a: u8[4]\n//! expect a[2..5] == 1", "out-of-range", "a[2..5]"),
        ("buffer a: u8[4]\n//! expect a[i + 1] == 1 for i in 0..4", "out-of-range", "a[i + 1]"),
        (
            "buffer a: u8[4]\n//! expect a[0] == 1 for i in 0..1000000000000",
            "out-of-range",
            "0..1000000000000",
        ),
        ("buffer a: u8[4]\n//! expect sum(a) == 1 for i in 0..4", "type-mismatch", "sum(a)"),
        ("buffer a: u8[4]\n//! expect a[0] == [1]", "type-mismatch", "[1]"),
        ("buffer a: u8[4]\n//! expect a == 1.5", "type-mismatch", "1.5"),
        ("buffer a: u8[4]\n//! expect a + 1 == 1", "type-mismatch", "a"),
    ];
    for (lines, code, place) in cases {
        let text = format!("//! grid = 1\n//! block = 1\n//! {lines}\n");
        let found = faults(&text, launch_with(&text, &[], &Overrides::default()));
        assert_eq!(found.first(), Some(&(*code, (*place).to_owned())), "{lines}");
    }
}

#[test]
fn every_mistake_is_reported_at_once() {
    let text = "//! grid = 1\n//! block = 1\n//! arg a = 1 << 40\n//! arg a = 2\n//! arg z = 3\n";
    let list = [("a", Type::U32, 1), ("b", Type::U64, 1)];
    let codes: Vec<_> = faults(text, launch_with(text, &list, &Overrides::default()))
        .into_iter()
        .map(|(code, _)| code)
        .collect();
    assert_eq!(
        codes,
        ["out-of-range", "duplicate-argument", "unknown-argument", "missing-argument"]
    );
}

#[test]
fn a_missing_argument_is_named_by_position_if_a_compiler_named_it() {
    let list = [("_Z3sumPj_param_0", Type::U64, 1), ("n_param_0", Type::U32, 1)];
    let help = |text: &str| {
        let found = launch_with(text, &list, &Overrides::default()).expect_err("no arguments");
        found.iter().filter_map(|d| d.help.clone()).collect::<Vec<_>>()
    };
    let size = "//! grid = 1\n//! block = 1\n";
    assert_eq!(help(size), ["add at the head of the file: //! arg 0 = ..  //! arg n_param_0 = .."]);
    assert_eq!(help(&format!("{size}//! arg 1 = 3\n")), ["add `//! arg 0 = ..`"]);
}

#[test]
fn a_file_without_directives_is_told_what_it_lacks() {
    let list = [("in", Type::U64, 1)];
    let diagnostics = launch_with("", &list, &Overrides::default()).expect_err("nothing is said");
    let help = diagnostics[0].help.clone().unwrap_or_default();
    assert_eq!(diagnostics[0].code, "missing-directive");
    assert!(
        help.contains("//! grid = ..")
            && help.contains("//! block = ..")
            && help.contains("//! arg in = ..")
    );
    let overrides =
        Overrides { grid: Some([2, 1, 1]), block: Some([32, 2, 1]), ..Overrides::default() };
    let launch = ok(launch_with("", &[], &overrides));
    assert_eq!((launch.grid, launch.block), ([2, 1, 1], [32, 2, 1]));
}

#[test]
fn the_command_line_overrides_constants_and_shapes() {
    let text = "//! const n = 16\n//! const half = n / 2\n//! grid = half\n//! block = n\n";
    let with = |set: &[(&str, &str)]| {
        let set = set.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        launch_with(text, &[], &Overrides { set, ..Overrides::default() })
    };
    assert_eq!(ok(with(&[("n", "1 << 5")])).grid, [16, 1, 1]);
    assert_eq!(ok(with(&[("half", "n * 2")])).grid, [32, 1, 1]);
    assert_eq!(ok(with(&[("n", "4"), ("n", "8")])).grid, [4, 1, 1]);
    for (set, code) in [
        (("m", "1"), "unknown-constant"),
        (("n", "x"), "bad-override"),
        (("n", "1 1"), "bad-override"),
    ] {
        let diagnostics = with(&[set]).expect_err("a bad override");
        assert_eq!((diagnostics[0].code, diagnostics[0].labels.len()), (code, 0));
    }
    let help = with(&[("zebra", "1")]).expect_err("unknown")[0].help.clone();
    assert_eq!(help.as_deref(), Some("use one of `n`, `half`"));
}

#[test]
fn launches_that_no_gpu_accepts_are_refused() {
    let launch = |grid: &str, block: &str| {
        let text = format!("//! grid = {grid}\n//! block = {block}\n");
        let found = faults(&text, launch_with(&text, &[], &Overrides::default()));
        found.into_iter().map(|(code, place)| format!("{code} {place}")).collect::<Vec<_>>()
    };
    assert!(launch("(65536, 1, 1)", "(32, 32)").is_empty());
    assert!(launch("(1 + 1) * 2", "32").is_empty());
    assert_eq!(launch("0", "32"), ["out-of-range 0"]);
    assert_eq!(launch("1", "1025"), ["too-large 1025"]);
    assert_eq!(launch("1", "(64, 32)"), ["too-large (64, 32)"]);
    assert_eq!(launch("(1, 65536)", "1"), ["too-large 65536"]);
    assert_eq!(launch("1 << 31", "1"), ["too-large 1 << 31"]);
    assert_eq!(launch("1 << 30", "32"), ["too-large 1 << 30"]);
    assert_eq!(launch("(1, 1, 1, 1)", "1"), ["directive-syntax (1, 1, 1, 1)"]);
}
