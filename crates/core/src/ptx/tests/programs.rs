//! Valid programs: the syntax tree of each construct.

use crate::ptx::tree::*;
use crate::ptx::{parse, print, same};

/// Parses a valid text, and checks that its printed form has the same tree.
fn sound(text: &str) -> Module {
    let (mut module, diagnostics) = parse(text);
    assert_eq!(diagnostics, [], "{text}");
    let printed = print(&module);
    let (again, diagnostics) = parse(&printed);
    assert_eq!(diagnostics, [], "{printed}");
    // The header lines that the printer adds.
    module.version = again.version;
    module.address_size = again.address_size;
    if module.target.is_empty() {
        module.target.clone_from(&again.target);
    }
    assert!(same(&module, &again), "{text}\n=> {printed}");
    assert_eq!(print(&again), printed);
    module
}

fn body(statements: &str) -> Vec<Statement> {
    let module = sound(&format!(".entry k() {{ {statements} }}"));
    match module.items.into_iter().next() {
        Some(Item::Function(Function { body: Some(body), .. })) => body,
        other => panic!("{other:?}"),
    }
}

fn instruction(text: &str) -> Instruction {
    match body(text).pop() {
        Some(Statement::Instruction(instruction)) => instruction,
        other => panic!("{other:?}"),
    }
}

/// Returns the operand of `mov.u32 %r1, OPERAND;` in canonical form.
fn operand(text: &str) -> String {
    instruction(&format!("mov.u32 %r1, {text};")).operands[1].to_string()
}

fn variable(text: &str) -> Variable {
    match sound(text).items.pop() {
        Some(Item::Variable(variable)) => variable,
        other => panic!("{other:?}"),
    }
}

#[test]
fn instructions_have_guard_mnemonic_and_operands() {
    let text = "@!%p1 ld.global.nc.L1::no_allocate.v2.f32 {%f1,_}, [%rd1+-4];";
    let full = instruction(text);
    let guard = full.guard.as_ref().map(|g| (g.negated, g.predicate.text.as_str()));
    assert_eq!(guard, Some((true, "%p1")));
    assert_eq!(full.mnemonic.text, "ld.global.nc.L1::no_allocate.v2.f32");
    assert_eq!((full.span.end - full.span.start) as usize, text.len(), "from guard to semicolon");
    let operands: Vec<_> = full.operands.iter().map(ToString::to_string).collect();
    assert_eq!(operands, ["{%f1, _}", "[%rd1+-4]"]);
    assert_eq!(instruction("ret;").operands, []);
    assert_eq!(instruction("bra.uni $L__BB0_2;").mnemonic.text, "bra.uni");
    assert_eq!(instruction("mov.u32 r,\nv.x;").operands[1].to_string(), "v.x");
    assert_eq!(
        instruction("mov.b64 {a, b},\n{\nv.x,\nv.y\n}\n;").operands[1].to_string(),
        "{v.x, v.y}"
    );
}

#[test]
fn operand_shapes() {
    for (written, canonical) in [
        ("%tid.x", "%tid.x"),
        ("_", "_"),
        ("!%p2", "!%p2"),
        ("%p1|%p2", "%p1|%p2"),
        ("%p1 | _", "%p1|_"),
        ("sdata+4", "sdata+4"),
        ("sdata - 2*4 + 1", "sdata-7"),
        ("[%rd1]", "[%rd1]"),
        ("[%rd1+0]", "[%rd1]"),
        ("[%rd1-8]", "[%rd1+-8]"),
        ("[sym + 4*(1+1)]", "[sym+8]"),
        ("[0x10]", "[16]"),
        ("[-4]", "[-4]"),
        ("[t, {%f1, %f2}]", "[t, {%f1, %f2}]"),
        ("[%rd1, s, {%r1}]", "[%rd1, s, {%r1}]"),
        ("[tensor+8, 3]", "[tensor+8, 3]"),
        ("{%r1, %r2, 3, _}", "{%r1, %r2, 3, _}"),
        ("1.5", "0d3FF8000000000000"),
        ("-1.5", "0dBFF8000000000000"),
        ("0f3F800000", "0f3F800000"),
        ("1.0 + 2.0 * 0.25", "0d3FF8000000000000"),
        ("WARP_SZ - 1", "31"),
        ("WARP_SZ", "32"),
    ] {
        assert_eq!(operand(written), canonical, "{written}");
    }
}

#[test]
fn calls_have_argument_lists() {
    let call = instruction("call.uni (retval0), \n vprintf, \n (\n param0, \n param1\n );");
    let operands: Vec<_> = call.operands.iter().map(ToString::to_string).collect();
    assert_eq!(operands, ["(retval0)", "vprintf", "(param0, param1)"]);
    // nvcc puts the callee of a call without results on the next line.
    for callee in ["free", "exit", "a.b"] {
        let call = instruction(&format!("call.uni \n {callee}, \n (\n param0\n );"));
        let operands: Vec<_> = call.operands.iter().map(ToString::to_string).collect();
        assert_eq!(operands, [callee, "(param0)"]);
    }
    assert_eq!(instruction("call f, ();").operands[1].to_string(), "()");
}

#[test]
fn expressions_follow_the_rules_of_the_manual() {
    // Expected values from PTX ISA 4.5.5 and from C for the precedences.
    for (written, canonical) in [
        ("(1<<4)+3", "19"),
        ("1<<4+3", "128"),
        ("2+3*4", "14"),
        ("10-4-3", "3"),
        ("7/2", "3"),
        ("-7/2", "-3"),
        ("7 % 4", "3"),
        ("-1 % 10", "5"), // operands count as unsigned
        ("-5", "-5"),
        ("-(-42)", "42"),
        ("- - 42", "42"),
        ("-1U", "0xffffffffffffffff"),
        ("~0", "0xffffffffffffffff"),
        ("!0", "1"),
        ("!7", "0"),
        ("5U", "5U"),
        ("5U+1", "6U"),
        ("-8>>1", "-4"),
        ("0xfabc123400000000 >> 60", "15U"),
        ("1<<64", "0"),
        ("-1>>64", "-1"),
        ("-1U>>64", "0U"),
        ("-1 < 0", "1"),
        ("-1 < 0U", "0"),
        ("3 > 2 == 1", "1"),
        ("6 & 3 | 8 ^ 1", "11"),
        ("1 || 0 && 0", "1"),
        ("2 >= 2", "1"),
        ("1 ? 2 : 3", "2"),
        ("0 ? 2 : 0 ? 3 : 4", "4"),
        ("1 ? 2 : 3U", "2U"),
        ("(.u64) -1", "0xffffffffffffffff"),
        ("(.s64) 0xffffffffffffffff", "-1"),
        ("9223372036854775807 + 1", "-9223372036854775807-1"),
        ("0xffffffffffffffff", "0xffffffffffffffff"),
        ("(-9223372036854775807-1)/-1", "-9223372036854775807-1"),
    ] {
        assert_eq!(operand(written), canonical, "{written}");
    }
}

#[test]
fn bodies_hold_labels_scopes_registers_and_debug_lines() {
    let statements = body(
        ".reg .b32 %r<10>, %x; .reg .v4 .f32 %v; .shared .align 8 .b8 s[16], t;\n\
         L1: { .param .b32 p0; st.param.b32 [p0], 1; }\n.loc 1 2 3\n\
         .loc 1 9 3, function_name $L__info_string0 + 16, inlined_at 1 21 3\n\
         .pragma \"nounroll\"; ;",
    );
    let Statement::Registers(registers) = &statements[0] else { panic!() };
    let names: Vec<_> =
        registers.names.iter().map(|(n, count)| (n.text.as_str(), *count)).collect();
    assert_eq!((registers.ty.text.as_str(), names), ("b32", vec![("%r", Some(10)), ("%x", None)]));
    assert!(matches!(&statements[1], Statement::Registers(r) if r.vector == 4));
    let Statement::Variable(s) = &statements[2] else { panic!() };
    assert_eq!((s.align, s.dims.as_slice(), s.name.text.as_str()), (Some(8), &[Some(16)][..], "s"));
    assert!(
        matches!(&statements[3], Statement::Variable(t) if t.dims.is_empty() && t.align == Some(8))
    );
    assert!(matches!(&statements[4], Statement::Label(name) if name.text == "L1"));
    assert!(matches!(&statements[5], Statement::Block(inner, _) if inner.len() == 2));
    assert!(
        matches!(&statements[6], Statement::Loc { file: 1, line: 2, column: 3, rest, .. } if rest.is_empty())
    );
    let Statement::Loc { rest, .. } = &statements[7] else { panic!() };
    assert_eq!(rest, "function_name $L__info_string0+16, inlined_at 1 21 3");
    assert!(matches!(&statements[8], Statement::Pragma(strings, _) if strings == &["nounroll"]));
    assert_eq!(statements.len(), 9);
}

#[test]
fn variables_have_spaces_types_dimensions_and_initialisers() {
    let v = variable(".visible .global .align 16 .v4 .f32 table[2][1<<3];");
    assert_eq!(
        (v.space.text.as_str(), v.linkage[0].text.as_str(), v.ty.text.as_str()),
        ("global", "visible", "f32")
    );
    assert_eq!((v.align, v.vector, v.dims), (Some(16), 4, vec![Some(2), Some(8)]));
    assert_eq!(variable(".extern .shared .align 16 .b8 dynamic[];").dims, [None]);
    for (written, canonical) in [
        ("1", "1"),
        ("{1,2,{3, -4}, {}}", "{1, 2, {3, -4}, {}}"),
        (
            "{other, other+4, generic(other), generic(other) + 8}",
            "{other, other+4, generic(other), generic(other)+8}",
        ),
        ("{0f3F800000, 0.5}", "{0f3F800000, 0d3FE0000000000000}"),
    ] {
        let v = variable(&format!(".const .u64 t[] = {written};"));
        assert_eq!(v.init.map(|i| i.to_string()).as_deref(), Some(canonical));
    }
}

fn function(item: &Item) -> Option<&Function> {
    match item {
        Item::Function(function) => Some(function),
        Item::Variable(_) | Item::Alias(_) => None,
    }
}

#[test]
fn functions_have_parameters_results_and_directives() {
    let module = sound(
        ".visible .entry k(.param .u64 .ptr .global .align 8 in, .param .align 4 .b8 s[12],\n\
         .param .u64 .ptr .align 1 q)\n\
         .maxntid 512, 1, 1 .minnctapersm 2 { ret; }\n\
         .extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b8 rest[]) ;\n\
         .func trap_all .noreturn { trap; }\n.weak .entry empty { }",
    );
    let functions: Vec<&Function> = module.items.iter().filter_map(function).collect();
    let [k, vprintf, trap_all, empty] = functions[..] else { panic!() };
    assert_eq!((k.kind, k.params.len()), (FunctionKind::Entry, 3));
    let pointer =
        k.params[0].pointer.as_ref().map(|p| (p.space.as_ref().map(|s| s.text.as_str()), p.align));
    assert_eq!(pointer, Some((Some("global"), Some(8))));
    assert_eq!((k.params[1].align, k.params[1].pointer.is_none()), (Some(4), true));
    assert_eq!(k.params[2].pointer, Some(PointerAttributes { space: None, align: Some(1) }));
    let performance: Vec<_> =
        k.performance.iter().map(|(n, v)| (n.text.as_str(), v.as_slice())).collect();
    assert_eq!(performance, [("maxntid", &[512, 1, 1][..]), ("minnctapersm", &[2])]);
    assert_eq!(
        (vprintf.kind, vprintf.returns.len(), vprintf.body.is_none()),
        (FunctionKind::Func, 1, true)
    );
    assert_eq!(trap_all.performance[0].0.text, "noreturn");
    assert_eq!(empty.body.as_deref(), Some(&[][..]));
}

#[test]
fn modules_have_headers_files_sections_and_directives() {
    let module = sound(
        "//! n = 4\n.version 8.10\n.target sm_90a, debug\n.address_size 64\n//! grid = 1 \n\
         .file 1 \"a.cu\", 12, 34\n\
         .entry k(){ret;}\n.section .debug_str { // names\n$L__info_string0:\n.b8 95, -1\n\
         .b32 .debug_info+4\n}",
    );
    assert_eq!((module.version, module.address_size), (Some((8, 10)), Some(64)));
    let words = |names: &[Name]| names.iter().map(|n| n.text.clone()).collect::<Vec<_>>();
    assert_eq!(words(&module.target), ["sm_90a", "debug"]);
    assert_eq!(words(&module.directives), ["n = 4", "grid = 1"]);
    assert_eq!(module.files, [(1, "a.cu".to_owned())]);
    let section = ".section .debug_str {\n$L__info_string0:\n.b8 95, -1\n.b32 .debug_info+4\n}";
    assert_eq!(words(&module.sections), [section]);
}

#[test]
fn the_printed_form_is_complete() {
    let (module, _) =
        parse("//! n = 1\n.entry k(.param .u32 n) {\n.reg .pred %p<2>;\n@%p1 bra L;\nL: ret; }");
    let expected = "//! n = 1\n.version 9.0\n.target sm_90\n.address_size 64\n\n.entry k(\n\
    \t.param .u32 n\n)\n{\n\
                    \t.reg .pred %p<2>;\n\t@%p1 bra L;\nL:\n\tret;\n}\n";
    assert_eq!(print(&module), expected);
}

#[test]
fn what_a_compiler_writes_is_read_whole() {
    let module = sound(include_str!("nvcc.ptx"));
    assert_eq!((module.items.len(), module.files.len(), module.sections.len()), (5, 2, 3));
    let Some(Item::Function(kernel)) = module.items.last() else { panic!() };
    let body = kernel.body.as_deref().unwrap_or_default();
    let count = |f: fn(&Statement) -> bool| body.iter().filter(|s| f(s)).count();
    assert_eq!(count(|s| matches!(s, Statement::Instruction(_))), 20);
    assert_eq!(count(|s| matches!(s, Statement::Label(_))), 5);
    assert_eq!(count(|s| matches!(s, Statement::Loc { .. })), 4);
    assert_eq!(count(|s| matches!(s, Statement::Block(inner, _) if inner.len() == 6)), 1);
}
