//! Properties of random texts and trees: no panic, valid spans, round trips.

use super::trees;
use crate::diag::{self, Source, Span};
use crate::ptx::{each_span, parse, print, same};
use proptest::prelude::*;

/// Parses, prints and renders any text, and checks all spans.
fn survives(text: &str) -> Result<(), TestCaseError> {
    let (mut module, diagnostics) = parse(text);
    let inside = |span: Span| {
        let (start, end) = (span.start as usize, span.end as usize);
        start <= end && text.is_char_boundary(start) && text.is_char_boundary(end)
    };
    for diagnostic in &diagnostics {
        prop_assert!(!diagnostic.labels.is_empty(), "{diagnostic:?}");
        prop_assert!(
            diagnostic.labels.iter().all(|l| inside(l.span)),
            "{diagnostic:?} in {text:?}"
        );
    }
    let printed = print(&module);
    each_span(&mut module, &mut |span| assert!(inside(*span), "{span:?} in {text:?}"));
    let rendered = diag::render(&diagnostics, Source { name: "a.ir", text }, false);
    prop_assert!(!rendered.contains(|c: char| c.is_control() && c != '\n'), "{rendered:?}");
    if diagnostics.is_empty() {
        let (again, diagnostics) = parse(&printed);
        prop_assert_eq!(diagnostics, []);
        prop_assert_eq!(print(&again), printed);
    }
    Ok(())
}

/// Program with every construct, for mutation.
const PROGRAM: &str = "//! n = 4\n.version 8.0\n.target sm_90, debug\n.address_size 64\n\
    .file 1 \"a.cu\", 1, 2\n\
    .visible .global .align 8 .u64 t[2] = {generic(t), t+8};\n.extern .shared .b8 d[];\n\
    .visible .entry k(\n\t.param .u64 .ptr .global .align 8 in, /* n */\n\t.param .u32 n\n)\n\
    .maxntid 512, 1, 1\n{\n\
    \t.reg .pred %p<2>;\n\t.reg .b32 %r<4>, %x;\n\t.shared .align 4 .b8 s[(1<<4)+3];\n\
    \t.loc 1 2 3\n\
    \tmov.u32 %r1, %tid.x;\n\tsetp.lt.u32 %p1|%p0, %r1, 0x10U;\n$L__1:\n\t@!%p1 bra $L__1;\n\
    \tld.global.v2.f32 {%r1, _}, [%r2+-4];\n\tadd.f32 %r1, 0f3F800000, 1.5e-3; // sum\n\
    \t{ .param .b32 p0; call (p0), f, (%r1, 3); }\n\tmov.u32 %r1, s+4; .pragma \"nounroll\";\n\
    \t.loc 1 9 3, function_name $L__s+1, inlined_at 1 2 3\n\tret;\n}\n.section .debug_str {\n\
    $L__s:\n.b8 1\n}\n";

/// Tokens of the grammar, for texts that parse far.
const PIECES: [&str; 48] = [
    ".entry",
    ".func",
    ".visible",
    ".extern",
    ".reg",
    ".param",
    ".shared",
    ".global",
    ".align",
    ".u32",
    ".b8",
    ".ptr",
    ".loc",
    ".section",
    ".version",
    ".pragma",
    ".v4",
    "add.u32",
    "call",
    "ret",
    "%r1",
    "%tid.x",
    "x",
    "L",
    "generic",
    "WARP_SZ",
    "4",
    "0x",
    "1.5",
    "0f3F800000",
    "\"s\"",
    "\n",
    "\n",
    " ",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ",",
    ";",
    ";",
    ":",
    "@",
    "<",
    "=",
    "-",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_parsed_without_panic(text in any::<String>()) {
        survives(&text)?;
    }

    #[test]
    fn any_bytes_are_parsed_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        survives(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn any_pieces_are_parsed_without_panic(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60)) {
        survives(&pieces.concat())?;
        survives(&format!(".entry k(){{{}}}", pieces.join(" ")))?;
    }

    #[test]
    fn damaged_programs_are_parsed_without_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0..12usize, "[ -~\n\té]{0,3}"), 1..6),
    ) {
        let mut chars: Vec<char> = PROGRAM.chars().collect();
        for (at, length, new) in damage {
            let at = at.index(chars.len());
            let end = chars.len().min(at + length);
            chars.splice(at..end, new.chars());
        }
        survives(&chars.into_iter().collect::<String>())?;
    }

    #[test]
    fn a_cut_program_is_parsed_without_panic(at in 0..PROGRAM.len()) {
        survives(&PROGRAM[..at])?;
        survives(&PROGRAM[at..])?;
    }

    #[test]
    fn printing_and_parsing_are_inverse(module in trees::module()) {
        let printed = print(&module);
        let (again, diagnostics) = parse(&printed);
        prop_assert_eq!(diagnostics, [], "{}", printed);
        prop_assert!(same(&module, &again), "{}\n{:#?}\n{:#?}", printed, module, again);
        prop_assert_eq!(print(&again), printed);
    }
}

#[test]
fn the_program_to_be_damaged_is_sound() {
    assert_eq!(parse(PROGRAM).1, []);
}

#[test]
fn names_and_directives_are_what_their_spans_cover() {
    let (module, _) = parse(PROGRAM);
    let covered =
        |name: &crate::ptx::tree::Name| &PROGRAM[name.span.start as usize..name.span.end as usize];
    assert_eq!(covered(&module.directives[0]), module.directives[0].text);
    assert_eq!(covered(&module.target[1]), "debug");
    let crate::ptx::tree::Item::Function(k) = &module.items[2] else { panic!() };
    assert_eq!(covered(&k.name), "k");
    assert_eq!(covered(&k.params[1].name), "n");
    assert_eq!(covered(&k.params[1].ty), ".u32", "the span of a directive holds its dot");
    let all = &PROGRAM[k.span.start as usize..k.span.end as usize];
    assert!(all.starts_with(".visible .entry k(") && all.ends_with("ret;\n}"));
}
