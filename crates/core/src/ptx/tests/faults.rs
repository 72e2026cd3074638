//! Syntax errors, each reported once and without consequential errors.

use crate::ptx::parse;
use crate::ptx::tree::{Item, Statement};

/// Returns `code@text` for each diagnostic, with the text under its first label.
fn findings(text: &str) -> Vec<String> {
    let (_, diagnostics) = parse(text);
    let label = |d: &crate::diag::Diagnostic| d.labels.first().map(|l| l.span).unwrap_or_default();
    diagnostics
        .iter()
        .map(|d| format!("{}@{}", d.code, &text[label(d).start as usize..label(d).end as usize]))
        .collect()
}

/// Returns the findings of a kernel body, and its number of parsed instructions.
fn body(text: &str) -> (Vec<String>, usize) {
    let whole = format!(".entry k() {{\n{text}\nret;\n}}\n.entry after() {{ ret; }}");
    let (module, _) = parse(&whole);
    let [Item::Function(k), Item::Function(after)] = &module.items[..] else {
        panic!("{text}: {:?}", module.items)
    };
    assert_eq!(after.name.text, "after", "{text}");
    let statements = k.body.as_deref().unwrap_or_default();
    (findings(&whole), statements.iter().filter(|s| matches!(s, Statement::Instruction(_))).count())
}

#[test]
fn each_faulty_statement_is_one_finding_and_its_neighbours_live() {
    for (text, finding, instructions) in [
        ("add.u32 %r1, %r2, 3\nmov.u32 %r1, 4;", "missing-semicolon@", 3),
        ("add.u32 %r1, %r2, 3 mov.u32 %r1, 4;", "missing-semicolon@", 3),
        ("ret\nadd.u32 %r1, %r2, 3;", "missing-semicolon@", 3),
        ("ret\nL1:", "missing-semicolon@", 2),
        ("ret\nexit;", "missing-semicolon@", 3),
        ("bra\nL1: ret;", "missing-semicolon@", 3),
        ("exit\n{ .reg .u32 %r2; }", "missing-semicolon@", 2),
        ("call.uni\nret;", "missing-semicolon@", 3),
        (".reg .u32 %r1\nret;", "missing-semicolon@", 2),
        ("add.u32 %r1 %r2, 3;", "missing-comma@", 2),
        ("add.u32 %r1, , 3;", "missing-operand@,", 1),
        ("add.u32 %r1, %r2, ;", "missing-operand@;", 1),
        ("add.u32 %r1, %r2,\nmov.u32 %r1, 3;", "missing-operand@", 3),
        ("ld.u32 %r1, [%r2;", "unclosed-bracket@", 1),
        ("ld.u32 %r1, [%r2\nmov.u32 %r1, 3;", "unclosed-bracket@", 2),
        ("ld.u32 %r1, [%r2+%r3];", "bad-address@%r3", 1),
        ("ld.u32 %r1, [];", "missing-operand@]", 1),
        ("ld.u32 %r1, a[%r2];", "unsupported-operand@[", 1),
        ("tex.2d.v4 {%r1,%r2}, [t, {%f1,%f2};", "unclosed-bracket@", 1),
        ("ld.v2.u32 {%r1, %r2, [%r3];", "unclosed-vector@", 1),
        ("ld.v2.u32 {%r1 %r2}, [%r3];", "unclosed-vector@%r2", 1),
        ("mov.u32 %r1, (1+2;", "unclosed-parenthesis@", 1),
        ("mov.u32 %r1, 1/0;", "division-by-zero@1/0", 1),
        ("mov.u32 %r1, 7 % (3-3);", "division-by-zero@7 % (3-3)", 1),
        ("mov.u32 %r1, 4+%r2;", "not-a-constant@%r2", 1),
        ("mov.u32 %r1, -%r2;", "not-a-constant@%r2", 1),
        ("mov.f32 %f1, 0f3F800000+1;", "bad-expression@0f3F800000+1", 1),
        ("mov.u32 %r1, 1.5 << 2;", "bad-expression@1.5 << 2", 1),
        ("mov.u32 %r1, [1.5];", "not-an-integer@1.5", 1),
        ("mov.u32 %r1, 12abc;", "bad-number@12abc", 2),
        ("mov.u32 %r1, \u{2212}1;", "unexpected-character@\u{2212}", 1),
        ("mov.u32 %r1, %ré;", "non-ascii-name@é", 2),
        ("@ add.u32 %r1, %r2, 3;", "missing-name@add.u32", 1),
        ("%r1 = %r2;", "expected-statement@%r1", 1),
        ("if (%r1 >= %r2) bra L;", "expected-statement@if", 2),
        ("while (%p1) { ret; }", "expected-statement@while", 1),
        ("@%p1 { ret; }", "guarded-scope@{", 1),
        ("@ bra L;", "missing-name@bra", 1),
        (")(", "expected-statement@)", 1),
        (".rge .u32 %r1;", "unknown-directive@.rge", 1),
        (".reg .u33 %r1;", "unknown-type@.u33", 1),
        (".reg %r1;", "missing-type@", 1),
        (".reg .u32 .f32 %r1;", "second-type@.f32", 1),
        (".reg .u32 %r<x>;", "missing-number@x", 1),
        (".shared .aling 4 .b8 s[4];", "unknown-type@.aling", 1),
        (".shared .thing s[4];", "unknown-type@.thing", 1),
        (".shared .align 3 .b8 s[4];", "bad-alignment@3", 1),
        (".shared .b8 s[-1];", "bad-dimension@-1", 1),
        (".shared .b8 s[4;", "unclosed-bracket@", 1),
        (".local .u32 t[2] = {1 2};", "unclosed-list@2", 1),
        ("a.b:", "bad-name@a.b", 1),
        (".loc 1 x 3", "missing-number@x", 1),
        (".pragma 4;", "missing-string@4", 1),
        (".branchtargets A, B;", "missing-name@.branchtargets", 1),
        ("#define N 4", "preprocessor-line@#define N 4", 1),
        ("mov.u32 %r1, \"abc;", "unclosed-string@\"abc;", 1),
    ] {
        let (found, survivors) = body(text);
        assert_eq!(found, [finding], "{text}");
        assert_eq!(survivors, instructions, "{text}");
    }
}

#[test]
fn module_level_faults_are_one_finding_each() {
    for (text, finding) in [
        (".version nine\n.target sm_90\n.entry k() { ret; }", "bad-version@nine"),
        (".version\n.target sm_90\n.entry k() { ret; }", "bad-version@"),
        (".target 90\n.entry k() { ret; }", "bad-target@90"),
        (".address_size 63\n.entry k() { ret; }", "bad-address-size@63"),
        (".vershion 9.0\n.entry k() { ret; }", "unknown-directive@.vershion"),
        (".vizible .entry k() { ret; }", "unknown-directive@.vizible"),
        (".visible .entri k(\n.param .u32 n\n)\n{ ret; }", "unknown-directive@.entri"),
        (".entri k(\n.param .u32 n\n)\n{ ret; }", "unknown-directive@.entri"),
        (".thing { a; b; { c; } }\n.entry k() { ret; }", "unknown-directive@.thing"),
        (".global .u32 x\n.entry k() { ret; }", "missing-semicolon@"),
        (".global .u32 = 4;\n.entry k() { ret; }", "missing-name@="),
        (".file one \"a\"\n.entry k() { ret; }", "missing-number@one"),
        (".entry (.param .u32 n) { ret; }\n.entry k() { ret; }", "missing-name@("),
        (".entry k(.param .u32 n { ret; }", "unclosed-parenthesis@"),
        (".entry k(.param .u32 n\n.param .u32 m) { ret; }", "missing-comma@"),
        (".entry k(.param .u32, .param .u32 m) { ret; }", "missing-name@,"),
        (".entry k(.param .u32\n.param .u32 m) { ret; }", "missing-name@.param"),
        (".entry k(.prm .u32 n) { ret; }", "unknown-directive@.prm"),
        (".entry k(int n) { ret; }", "bad-parameter@int"),
        (".entry k(.param .u32 n]) { ret; }", "unexpected-token@]"),
        (".entry k() .maxtid 4, 1, 1 { ret; }", "unknown-directive@.maxtid"),
        (".entry k()\n.entry l() { ret; }", "missing-body@"),
        (".entry k() { ret; }\n}\n.entry l() { ret; }", "unmatched-brace@}"),
        (
            ".entry k() { ret; }\nadd.u32 a, b, c;\nret;\n}\n.entry l() { ret; }",
            "outside-function@add.u32",
        ),
        ("ret;", "outside-function@ret"),
        ("#include <a.h>\n__global__ void k(int *x) { x[0]++; }", "cuda-source@__global__"),
        (".reg .u32 x;\n.entry k() { ret; }", "outside-function@.reg"),
        (".entry k() { ret;", "unclosed-brace@"),
        (".entry k() { { { ret;\n.entry l() { ret; }", "unclosed-brace@.entry"),
        (".section .debug_str { .b8 1\n", "unclosed-brace@"),
        (".alias a b;\n.entry k() { ret; }", "missing-comma@b"),
        (".global .attribute(.managed) .u32 x;", "ignored-attribute@.attribute(.managed)"),
        ("/* .entry k() { ret; }", "unclosed-comment@/*"),
        ("\u{1}\u{2}\u{3}", "unexpected-character@\u{1}\u{2}\u{3}"),
    ] {
        assert_eq!(findings(text), [finding], "{text}");
    }
}

#[test]
fn five_faults_are_five_findings_in_order() {
    let text = ".entry k(.param .u64 in\n{\n.reg .u33 %r<4>;\nadd.u32 %r1, %r2, 3\n\
                mov.u32 %r1 %r2;\nL: bra L+;\n}";
    let codes: Vec<_> = parse(text).1.iter().map(|d| d.code).collect();
    assert_eq!(
        codes,
        [
            "unclosed-parenthesis",
            "unknown-type",
            "missing-semicolon",
            "missing-comma",
            "missing-operand"
        ]
    );
}

#[test]
fn help_names_what_was_meant() {
    for (text, help) in [
        (".entry k() { .rge .u32 x; }", "did you mean `.reg`?"),
        (".entry k() { .reg .u23 x; }", "did you mean `.u32`?"),
        (".entry k() .maxtid 4 { ret; }", "did you mean `.maxntid`?"),
        (".taget sm_90", "did you mean `.target`?"),
        (".entry k() { mov.u32 a\u{ff0c}1; }", "write the ASCII character `,`"),
        (".entry k() { mov.u32 a, 08; }", "remove the leading 0, which makes the number octal"),
        (".entry k() { ret }", "end every instruction and declaration with `;`"),
    ] {
        let helps: Vec<_> = parse(text).1.into_iter().filter_map(|d| d.help).collect();
        assert_eq!(helps, [help], "{text}");
    }
}

#[test]
fn deep_nesting_is_an_error_and_not_a_stack_overflow() {
    let deep = 100_000;
    for (text, end) in [
        (".entry k() {".to_owned() + &"{".repeat(deep) + &"}".repeat(deep) + "}", "}"),
        (".entry k() {".to_owned() + &"{".repeat(deep), ""),
        (
            format!(".entry k() {{ mov.u32 a, {}1{}; ret; }}", "(".repeat(deep), ")".repeat(deep)),
            "}",
        ),
        (
            format!(
                ".entry k() {{ mov.u32 a, {}1; ret; }}",
                "1||1&&1|1^1&1==1<1<<1+1*(".repeat(deep)
            ),
            "}",
        ),
        (format!(".entry k() {{ mov.u32 a, {}1; ret; }}", "-".repeat(deep)), "}"),
        (format!(".entry k() {{ mov.u32 a, {}1; ret; }}", "1?2:".repeat(deep)), "}"),
        (format!(".entry k() {{ mov.u32 a, {}; ret; }}", "{".repeat(deep)), "}"),
        (format!(".entry k() {{ call {}; ret; }}", "(".repeat(deep)), "}"),
        (format!(".global .u32 a[] = {}1{};", "{".repeat(deep), "}".repeat(deep)), ";"),
        (format!(".global .u32 a[{}1];", "(.u64)".repeat(deep)), ";"),
    ] {
        let codes: Vec<_> = parse(&text).1.iter().map(|d| d.code).collect();
        assert_eq!(codes.first(), Some(&"nesting-too-deep"), "..{end} {codes:?}");
    }
    let fine = format!(".entry k() {{ mov.u32 a, {}1{}; }}", "(".repeat(200), ")".repeat(200));
    assert_eq!(parse(&fine).1, []);
}

#[test]
fn a_flood_of_findings_ends_in_a_note() {
    let (_, diagnostics) = parse(&format!(".entry k() {{ {} }}", "add.u32 ,;\n".repeat(1000)));
    assert_eq!(diagnostics.len(), 101);
    let last = diagnostics.last().map(|d| d.message.as_str());
    assert_eq!(last, Some("900 more diagnostics not shown"));
}
