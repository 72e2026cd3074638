use crate::sass::read;

/// A kernel that calls `f`, which has the code given.
fn module(relocations: &str, functions: &str, of_kernel: &str, of_function: &str) -> String {
    let listed =
        |name: &str, code: &str| format!("\tcode for sm_90\n\t\tFunction : {name}\n{code}");
    let function = if of_function.is_empty() { String::new() } else { listed("f", of_function) };
    format!(
        "//@ Module(arch: 90, kernels: [Kernel(name: \"k\", registers: 24, params_at: 0x210, \
         relocations: [{relocations}])], functions: [{functions}])\n{}{function}",
        listed("k", of_kernel),
    )
}

/// MOV R20, 0x0; CALL.ABS.NOINC 0x0; EXIT.
const CALLER: &str = "/*0000*/ MOV R20, 0x0 ; /* 0x0000000000147802 */\n\
    /* 0x000fe20000000f00 */\n\
    /*0010*/ CALL.ABS.NOINC 0x0 ; /* 0x0000000000007943 */\n/* 0x000fea0003c00000 */\n\
    /*0020*/ EXIT ; /* 0x000000000000794d */\n/* 0x000fea0003800000 */\n";
/// BRA 0x10; RET.ABS.NODEC R20 0x0.
const CALLED: &str = "/*0000*/ BRA 0x10 ; /* 0x0000000000007947 */\n/* 0x000fea0003800000 */\n\
    /*0010*/ RET.ABS.NODEC R20 0x0 ; /* 0x0000000014007950 */\n/* 0x000fea0003c00000 */\n";
const FUNCTION: &str = "Function(name: \"f\", code: 0x20)";

#[test]
fn functions_follow_the_kernel_at_a_multiple_of_their_alignment() {
    let relocations = "(0x0, Low, \"k\", 0x20), (0x10, Call, \"f\", 0x0)";
    let found = read(&module(relocations, FUNCTION, CALLER, CALLED));
    assert_eq!(found.findings, []);
    let kernel = &found.kernels[0];
    // 3 instructions, 5 of filling, 2 of the function.
    assert_eq!(kernel.insts.len(), 10);
    let op = |i: usize| format!("{:?}", kernel.insts[i].op);
    assert!(op(1).contains("Fixed(pc8)"), "{}", op(1));
    assert!(op(3).contains("Trap"), "{}", op(3));
    assert!(op(8).contains("pc9"), "{}", op(8));
    assert!(kernel.registers.narrow_constants.iter().any(|(_, value)| *value == 0x20));
}

#[test]
fn what_cannot_be_linked_is_an_error() {
    for (relocations, functions, code, of_function, expected) in [
        ("(0x10, Call, \"g\", 0x0)", FUNCTION, CALLER, CALLED, "no variable or function `g`"),
        ("(0x20, Low, \"k\", 0x0)", "", CALLER, "", "`EXIT` holds no address of `k`"),
        ("(0x40, Low, \"k\", 0x0)", "", CALLER, "", "no instruction at 0x40"),
        ("(0x10, Call, \"k\", 0x1000)", "", CALLER, "", "operands of `CALL`"),
        ("", FUNCTION, CALLER, "", "the listing has no function `f`"),
        ("", "Function(name: \"f\", code: 0x40)", CALLER, CALLED, "64 bytes of code of `f`"),
    ] {
        let text = module(relocations, functions, code, of_function);
        let found = read(&text);
        let message = found.findings.first().map(|d| d.message.clone()).unwrap_or_default();
        assert!(message.contains(expected), "{relocations}: {message}");
    }
    let twice = format!("{FUNCTION}, {FUNCTION}");
    let found = read(&module("", &twice, CALLER, CALLED));
    assert!(found.findings[0].message.contains("twice"), "{:?}", found.findings);
}
