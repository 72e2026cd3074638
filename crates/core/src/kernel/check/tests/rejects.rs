//! Rejected programs: code, message and position of each error.

use super::{around, checked};
use crate::diag::{Diagnostic, Severity};

fn shown(source: &str, d: &Diagnostic) -> String {
    let span = d.labels[0].span;
    let place = source.get(span.start as usize..span.end as usize).unwrap_or("?");
    format!("{} [{place}] {} ({})", d.code, d.message, d.help.as_deref().unwrap_or(""))
}

#[test]
fn one_fault_is_one_error_with_a_place_and_a_way_out() {
    let mut wrong = Vec::new();
    for (body, expected) in [
        (
            "ad.u32 %r1, %r1, 1;",
            "unknown-instruction [ad.u32] unknown instruction `ad` (did you mean `add`?)",
        ),
        (
            "add.b32 %r1, %r1, 1;",
            "unknown-modifier [add.b32] `add` has no type `.b32` (use one of .u16",
        ),
        (
            "add.u32 %r1, %r1;",
            "operand-count [add.u32 %r1, %r1;] expected 3 operands for `add.u32`, found 2 \
             (use the form `add.u32 d, a, b`)",
        ),
        ("bar.sync;", "use the form `bar.sync a{, b}`"),
        (
            "add.u32 %r1, %r10, 1;",
            "unknown-name [%r10] register `%r10` is not declared (`%r<9>` declares `%r0` to `%r8`)",
        ),
        (
            "add.u32 %r1, %q1, 1;",
            "unknown-name [%q1] register `%q1` is not declared (did you mean `%",
        ),
        ("mov.u32 %r1, %tid;", "(name a dimension: `%tid.x`)"),
        ("mov.u32 %r1, %tid.w;", "(did you mean `%tid.x`?)"),
        ("mov.u32 %r1, tiel;", "(did you mean `tile`?)"),
        (
            "add.u32 %r1, %rd1, 1;",
            "type-mismatch [%rd1] expected `.u32` for `add.u32`, found `.b64` register `%rd1` \
             (convert it: `cvt.u32.u64",
        ),
        (
            "add.u32 %r1, %f1, 1;",
            "type-mismatch [%f1] expected `.u32` for `add.u32`, found `.f32` register `%f1` \
             (convert the value with `cvt`, or move",
        ),
        ("add.u32 %r1, %p1, 1;", "(convert it to a number: `selp.u32"),
        ("add.f32 %f1, %f2, 1;", "literal-type [1] expected `.f32`, found integer (write `1.0`)"),
        ("add.u32 %r1, %r2, 1.5;", "literal-type [1.5] expected `.u32`, found float"),
        (
            "add.u16 %h1, %h2, 65536;",
            "literal-range [65536] literal 65536 out of range for `.u16` \
             (use a value from -32768 to 65535)",
        ),
        (
            "add.u32 %r1, %tid.x, 1;",
            "operand-kind [%tid.x] expected register or number, found special register `%tid.x`",
        ),
        ("add.u32 5, %r1, 1;", "operand-kind [5] expected register, found integer"),
        (
            "mov.u32 %tid.x, %r1;",
            "operand-kind [%tid.x] expected writable register, found `%tid.x`",
        ),
        (
            "add.u32 %r1, [%r2], 1;",
            "operand-kind [[%r2]] expected register or number, found address (remove the brackets",
        ),
        (
            "ld.global.u32 %r1, %rd1;",
            "operand-kind [%rd1] expected address, found `%rd1` (write it in brackets: `[%rd1]`)",
        ),
        (
            "ld.global.u32 %r1, [%f1];",
            "expected integer register as address, found `.f32` register `%f1`",
        ),
        (
            "ld.global.u32 %r1, [tile];",
            "address-space [tile] expected global address, found `.shared` variable `tile`",
        ),
        ("ld.param.u32 %r1, [n+4];", "parameter-range [[n+4]] out of bounds: bytes 4 to 8 of `n`"),
        (
            "ld.shared.v2.u32 %r1, [tile];",
            "operand-kind [%r1] expected 2 registers in braces, found `%r1`",
        ),
        (
            "ld.shared.u32 {%r1, %r2}, [tile];",
            "vector-length [{%r1, %r2}] expected 1 value, found 2 in braces (write `.v2`",
        ),
        ("st.shared.v2.u32 [tile], {%r1, %rd1};", "vector-width"),
        ("ld.shared.u64 %r1, [tile];", "type-mismatch [%r1]"),
        (
            "selp.u32 %r1, 1, 0, %r2;",
            "type-mismatch [%r2] expected predicate, found `.b32` register `%r2` \
             (compare first: `setp.ne.b32",
        ),
        ("@%r1 ret;", "type-mismatch [%r1]"),
        ("@%z ret;", "unknown-name [%z]"),
        ("bra nowhere; somewhere:", "unknown-label [nowhere] cannot find label `nowhere`"),
        ("bra lop; loop:", "(did you mean `loop`?)"),
        ("a: a: bra a;", "duplicate-label [a]"),
        ("{ in: bra in; } bra in;", "unknown-label [in]"),
        (".reg .u32 %a, %a; mov.u32 %a, 1;", "duplicate-register [%a]"),
        ("{ .reg .u32 %x5; .reg .u32 %x<9>; mov.u32 %x5, 0; }", "duplicate-register [%x]"),
        (".shared .u32 t; .shared .u32 t;", "duplicate-variable [t]"),
        (".global .u32 t;", "variable-space [.global]"),
        (".shared .b8 big[99999999999];", "variable-size"),
        ("bar.sync 16;", "barrier-number [16] barrier number 16 is out of range"),
        ("lop3.b32 %r1, %r1, %r1, %r1, 256;", "literal-range [256]"),
        ("mov.b64 {%r1, %r2}, {%r3, %r4};", "operand-kind"),
        ("mov.b32 %r1, {%r2, %r3};", "type-mismatch [%r2]"),
        ("mov.u32 %r1, out; mov.f32 %f1, tile;", "address of `tile` does not fit `.f32`"),
        ("mov.f64 %d1, %clock64;", "type-mismatch [%clock64]"),
        ("call (%r1), f, (%r2);", "unknown-name [f]"),
        ("{ .param .b32 a0; st.param.b32 [a0], %r1; call f, (a0); }", "unknown-name [f]"),
        ("st.param.u32 [n], %r1;", "address-space [n]"),
        ("brx.idx %r1, somewhere; somewhere:", "unknown-table [somewhere]"),
        ("t: .branchtargets a, b; brx.idx %r1, t; a:", "unknown-label [b]"),
        ("call %r1, (%r2), p; p: .callprototype _ (.param .b32 _);", "type-mismatch [%r1]"),
        ("call %rd1, (%r2);", "missing-prototype [%rd1]"),
        ("atom.shared.add.s64 %rd1, [tile], 1;", "`atom.shared.add` has no type `.s64`"),
        (
            "cvt.f32.s32 %f1, %r1;",
            "incomplete-instruction [cvt.f32.s32] missing rounding mode in `cvt.f32.s32`",
        ),
        ("shl.b64 %rd1, %rd1, %rd2;", "type-mismatch [%rd2]"),
        ("mov.u32 %r1, _;", "unexpected `_`"),
    ] {
        let source = around(&format!("{body} ret;"));
        let (kernels, found) = checked(&source);
        let errors: Vec<String> = found
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .map(|d| shown(&source, d))
            .collect();
        assert!(kernels.is_empty(), "{body}: a kernel with errors is not returned");
        if errors.len() != 1 || !errors[0].contains(expected) {
            wrong.push(format!("{body}\n  found {errors:?}\n  wanted {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn all_errors_come_at_once_and_a_missing_declaration_once() {
    let source =
        around("add.u32 %x, %x, %f1; ad.u32 %r1, %r1; bra nowhere; sub.u32 %x, %y, 1.0; ret;");
    let codes: Vec<&str> = checked(&source).1.iter().map(|d| d.code).collect();
    assert_eq!(
        codes,
        [
            "unknown-name",
            "type-mismatch",
            "unknown-instruction",
            "unknown-name",
            "literal-type",
            "unknown-label"
        ]
    );
}

#[test]
fn faults_of_modules() {
    for (source, expected) in [
        (".entry k() { ret; } .entry k() { ret; }", "duplicate-kernel [k]"),
        (".func f() { bra x; }", "unknown-label [x]"),
        (".extern .func f(); .entry k() { call f; ret; }", "undefined-function [f]"),
        (".func f(.param .b32 a); .func f() { ret; }", "function-mismatch [f]"),
        (".func f(.param .b32 a) { ret; } .entry k() { call f; ret; }", "operand-count [call f;]"),
        (
            ".func f(.param .b32 a) { ret; } .entry k() { .param .b64 x; call f, (x); ret; }",
            "type-mismatch [x]",
        ),
        (".global .u32 a; .global .u32 a;", "duplicate-variable [a]"),
        (".global .u8 a[2] = {1, 2, 3};", "initialiser-size [3]"),
        (".global .u32 a = b;", "unknown-name [b]"),
        (".global .u32 b; .global .u32 a = b;", "literal-type [b]"),
        (".const .u32 a = 1.5;", "literal-type [1.5]"),
        (".const .b8 a[65537];", "variable-size"),
        (".address_size 32 .entry k() { ret; }", "address-size [k]"),
        (".entry k() .maxntid 0 { ret; }", "block-limit [.maxntid]"),
        (".entry k(.param .b8 a[40000]) { ret; }", "variable-size"),
    ] {
        let (kernels, found) = checked(source);
        let errors: Vec<String> = found.iter().map(|d| shown(source, d)).collect();
        assert_eq!(errors.len(), 1, "{source}: {errors:#?}");
        assert!(
            errors[0].starts_with(expected),
            "{source}:\n  found {}\n  wanted {expected}",
            errors[0]
        );
        assert!(kernels.len() <= 1);
    }
}

#[test]
fn warnings_do_not_stop_a_kernel() {
    for (body, expected) in [
        (".reg .u32 %idle;", "unused-register [%idle]"),
        ("mov.u32 %r1, %r2;", "never-written [%r2]"),
        ("here:", "unused-label [here]"),
        ("ld.global.u32 %r1, [%r3];", "narrow-address [%r3]"),
    ] {
        let source = around(&format!("mov.u32 %r3, 0; {body} ret;"));
        let (kernels, found) = checked(&source);
        assert_eq!(kernels.len(), 1, "{body}");
        let texts: Vec<String> = found.iter().map(|d| shown(&source, d)).collect();
        assert!(found.len() == 1 && found[0].severity == Severity::Warning, "{body}: {texts:?}");
        assert!(texts[0].starts_with(expected), "{body}: {texts:?}");
    }
    // Labels that a compiler made cause none.
    let (_, found) = checked(&around("Lfunc_begin0: Ltmp12: $nobody: ret; Lfunc_end0:"));
    assert!(found.is_empty(), "{found:?}");
    // A faulty line causes no warnings about its registers.
    let (_, found) = checked(&around(".reg .u32 %a, %b; ad.u32 %a, %b;"));
    assert_eq!(found.len(), 1, "{found:?}");
}

/// Warnings about a caller of `f`, by their positions.
#[test]
fn arguments_and_results_belong_to_one_call() {
    for (body, places) in [
        ("st.param.b32 [x], %r1; call (y), f, (x); ld.param.b32 %r1, [y];", &[][..]),
        (
            "{ .param .b32 x; st.param.b32 [x+0], %r1; call (y), f, (x); } ld.param.b32 %r1, [y];",
            &[],
        ),
        ("st.param.b32 [x], %r1; call (_), f, (x); call (_), f, (x);", &["x"]),
        ("st.param.b32 [x], %r1; @%p1 bra L; call (_), f, (x); L:", &["x"]),
        ("st.param.b32 [x], %r1; L: call (_), f, (x); @%p1 bra L;", &["x"]),
        ("@%p1 st.param.b32 [x], %r1; call (_), f, (x);", &["@%p1 st.param.b32 [x], %r1;"]),
        (
            "st.param.b32 [x], %r1; call (y), f, (x); @%p1 bra L; L: ld.param.b32 %r1, [y];",
            &["ld.param.b32 %r1, [y];"],
        ),
    ] {
        let source = format!(
            ".func (.param .b32 r) f(.param .b32 a) {{ .reg .b32 %v; ld.param.b32 %v, [a]; \
             st.param.b32 [r], %v; ret; }}\n\
             .entry k() {{ .reg .pred %p<2>; .reg .b32 %r<2>; .param .b32 x; .param .b32 y;\n\
             mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; {body} ret; }}"
        );
        let (kernels, found) = checked(&source);
        assert_eq!(kernels.len(), 1, "{body}: {found:?}");
        let span = |d: &Diagnostic| {
            &source[d.labels[0].span.start as usize..d.labels[0].span.end as usize]
        };
        let sequences: Vec<&str> =
            found.iter().filter(|d| d.code == "call-sequence").map(span).collect();
        assert_eq!(sequences, places, "{body}");
    }
}

#[test]
fn too_many_registers_are_an_error() {
    let moves: String = (0..65_600).map(|i| format!("mov.u32 %r{i}, 1;\n")).collect();
    let (kernels, found) = checked(&format!(".entry k() {{ .reg .b32 %r<70000>; {moves} ret; }}"));
    assert!(kernels.is_empty());
    assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), ["too-many-registers"]);
}
