//! Files with several kernels, some of which cannot run: each is judged by the code that it
//! reaches.

use std::process::Command;

use simt_core::Program;

const FILE: &str = "tests/several/one_is_fine.ir";

fn simt_sim(arguments: &[&str]) -> (i32, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_simt-sim")).args(arguments).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// Returns each refused kernel and the codes of its errors.
fn refused(text: &str) -> Vec<(String, Vec<&'static str>)> {
    let program = Program::parse("several", text);
    let codes = |errors: &[simt_core::diag::Diagnostic]| errors.iter().map(|e| e.code).collect();
    program.refused.iter().map(|r| (r.name.clone(), codes(&r.errors))).collect()
}

#[test]
fn each_kernel_is_refused_for_what_it_reaches() {
    let text = std::fs::read_to_string(FILE).expect("a readable file");
    let expected = [
        ("texture", "unsupported-instruction"),
        ("calls", "unsupported-instruction"),
        ("names", "initialiser-size"),
        ("mistyped", "missing-comma"),
    ];
    assert_eq!(refused(&text), expected.map(|(name, code)| (name.to_string(), vec![code])));
    let program = Program::parse("several", &text);
    let good: Vec<&str> = program.kernels.iter().map(|k| k.name.as_str()).collect();
    assert_eq!(good, ["good"]);
    // An error outside of all items, or one after which function ends are guesses, affects every
    // kernel.
    for fault in ["mov.u32 %r1, 1;\n", ".entry open() {\n{ ret; }\n", ".globe .u32 wrong;\n"] {
        let program = Program::parse("several", &(fault.to_string() + &text));
        assert!(program.kernels.is_empty(), "{fault}");
        assert!(program.refused.iter().any(|r| r.name == "good"), "{fault}");
    }
    // At most a hundred errors are shown; those of the last kernel still count.
    let many: String =
        (0..150).map(|i| format!(".entry k{i}() {{ multimem.red %r1; ret; }}\n")).collect();
    assert_eq!(refused(&(many + ".entry good() { ret; }")).len(), 150);
}

/// A function with its address taken is reachable from every indirect call; an uncalled one from
/// nowhere.
#[test]
fn functions_count_where_they_may_be_called() {
    let functions = ".func a(.param .u32 x) { multimem.red %r1; ret; }\n.func b(.param .u32 x) { ret; }\n\
                     .global .u64 table[2] = {b, a};\n";
    let indirect = ".entry k() { .reg .u64 %f; .param .u32 x; ld.global.u64 %f, [table];\n\
                    p: .callprototype _ (.param .u32 _);\n st.param.u32 [x], 1; call %f, (x), p; ret; }\n";
    let names = |text: &str| refused(text).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(&format!("{functions}{indirect}.entry other() {{ ret; }}")), ["k"]);
    assert_eq!(names(&format!("{functions}.entry other() {{ ret; }}")), Vec::<String>::new());
}

#[test]
fn a_good_kernel_runs_and_others_are_told_why_not() {
    let (code, out, err) = simt_sim(&["run", FILE, "--kernel", "good"]);
    assert!(
        code == 0 && out.contains("ok      out[i] == i + 7") && err.is_empty(),
        "{code}\n{out}{err}"
    );
    let (code, out, err) = simt_sim(&["run", FILE, "--kernel", "calls"]);
    assert!(code == 2 && out.is_empty(), "{code}\n{out}");
    assert!(err.contains("`multimem` is not supported") && !err.contains("`istypep`"), "{err}");
    assert!(err.contains("These kernels can be run: `good`."), "{err}");
    let (code, _, err) = simt_sim(&["run", FILE]);
    assert!(
        code == 2
            && err.contains("has several kernels; choose one of good, texture (cannot be run)"),
        "{err}"
    );

    let (code, out, err) = simt_sim(&["check", FILE]);
    assert_eq!(code, 2, "{out}{err}");
    assert!(out.contains("4 errors, 0 warnings; 30 of 32 instructions supported\n"), "{out}");
    assert!(
        out.contains(
            "  kernel texture: cannot be run: 1 error\n    line 55: `istypep` is not supported"
        ),
        "{out}"
    );
    let (code, _, err) = simt_sim(&["check", FILE, "--kernel", "good", "--run"]);
    assert!(code == 0 && err.is_empty(), "{code} {err}");
    let (code, _, err) = simt_sim(&["check", FILE, "--kernel", "names", "-q"]);
    assert!(
        code == 2 && err.contains("too many values for `pair`") && !err.contains("multimem"),
        "{code} {err}"
    );
}
