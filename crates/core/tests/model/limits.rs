//! Texts that ask for too much: told so, or done in the time that their length makes fair. None is
//! timed, but each took minutes, or all memory, as long as what it is about was missing.

use simt_core::kernel::{ConvergenceOp, Op};
use simt_core::launch::Overrides;
use simt_core::ptxas;
use simt_core::spec::Target;
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program};

use super::support;

/// A kernel of these statements that lanes take apart by `%p`.
fn kernel(statements: &str) -> String {
    format!(
        "//! grid = 1\n//! block = 32\n.visible .entry k()\n{{\n.reg .pred %p;\n.reg .u32 %r<4>;\n.reg .u64 %d<2>;\n\
        mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p, %r1, 7;\n{statements}\nret;\n}}\n"
    )
}

fn many(n: usize, piece: impl Fn(usize) -> String) -> String {
    (0..n).map(piece).collect()
}

/// The codes of the errors found, launch included.
fn codes(text: &str) -> Vec<&'static str> {
    let program = Program::parse("large.ir", text);
    let mut found = program.findings.clone();
    if program.is_sound()
        && let Ok(kernel) = program.kernel(None)
    {
        let launched =
            program.launch(kernel, &Overrides::default(), &|_, _| Err("no files".to_owned()));
        found.extend(launched.err().unwrap_or_default());
    }
    let rendered = support::rendered(&program, &found);
    assert!(rendered.len() < 100_000, "{} bytes of findings", rendered.len());
    let mut codes: Vec<&str> = found
        .iter()
        .filter(|f| f.severity == simt_core::diag::Severity::Error)
        .map(|f| f.code)
        .collect();
    codes.dedup();
    codes
}

#[test]
fn what_is_too_much_is_said() {
    let buffer = |n: &str| format!("//! buffer x: u32[{n}]\n{}", kernel(""));
    for (text, code) in [
        (
            kernel(&many(6_000, |i| format!("@%p bra L{i};\nadd.u32 %r0, %r1, 1;\nL{i}:\n"))),
            "too-many-blocks",
        ),
        (many(4_001, |i| format!(".func f{i}() {{ ret; }}\n")) + &kernel(""), "too-many-functions"),
        (many(4_001, |i| format!("//! const n{i} = {i}\n")) + &kernel(""), "too-large"),
        (buffer("1<<40"), "too-large"),
        (buffer("(1<<62) + 1"), "too-large"),
        (kernel("").replace("grid = 1", "grid = (2147483647, 65535, 65535)"), "too-large"),
        (
            kernel(&format!("mov.u32 %r0, {}1{};", "(".repeat(100_000), ")".repeat(100_000))),
            "nesting-too-deep",
        ),
        (kernel(&format!("{}{}", "{".repeat(100_000), "}".repeat(100_000))), "nesting-too-deep"),
        (format!("//! const n = {}1\n", "(".repeat(100_000)) + &kernel(""), "too-deep"),
    ] {
        assert_eq!(codes(&text), [code], "{text:.200}");
    }
}

#[test]
fn very_many_findings_are_summed_up() {
    for statements in [
        many(50_000, |i| format!("nonsense{i} %r0;\n")),
        many(50_000, |i| format!("mov.u32 %unknown{i}, 1;\n")),
        many(20_000, |i| format!("L{i}: @%p bra M{i};\n")),
        many(20_000, |i| format!("L{i}:\n")),
        "\u{1b}\n".repeat(50_000),
    ] {
        let program = Program::parse("large.ir", &kernel(&statements));
        assert_eq!(program.findings.len(), 101, "{statements:.40}");
        assert!(program.findings.iter().any(|f| f.code == "too-many-errors"), "{statements:.40}");
        assert!(support::rendered(&program, &program.findings).len() < 100_000);
    }
}

#[test]
fn large_kernels_are_analysed() {
    let n = 1_500;
    let nest = many(n, |i| format!("@%p bra L{i};\n"));
    for statements in [
        // Ifs one behind the other, one in the other, with another way out each; loops likewise.
        many(n, |i| format!("@%p bra L{i};\nadd.u32 %r0, %r1, 1;\nL{i}:\n")),
        nest.clone() + &many(n, |i| format!("L{}:\nadd.u32 %r0, %r1, 1;\n", n - 1 - i)),
        nest.clone() + "ret;\n" + &many(n, |i| format!("L{i}:\nadd.u32 %r0, %r1, 1;\nret;\n")),
        nest.clone() + "ret;\n" + &many(n, |i| format!("L{i}:\nadd.u32 %r0, %r1, 1;\nbra L{i};\n")),
        many(n, |i| format!("L{i}:\n"))
            + &many(n, |i| format!("add.u32 %r0, %r1, 1;\n@%p bra L{};\n", n - 1 - i)),
        "L:\n".to_owned() + &many(n, |_| "add.u32 %r0, %r1, 1;\n@%p bra L;\n".to_owned()),
        many(40 * n, |_| "add.u32 %r0, %r0, 1;\n".to_owned()),
    ] {
        let program = Program::parse("large.ir", &kernel(&statements));
        assert!(program.is_sound(), "{:?}", program.findings.first());
        let kernel = program.kernel(None).expect("one kernel");
        let _ = ptxas::compile(kernel, &Target::new(&support::machine("h200"), true), Mode::Volta);
    }
}

/// Each loop yields, being beside a call; which loop an atomic is in is known without a look at all
/// of them.
#[test]
fn loops_around_atomics_beside_a_call_are_marked() {
    let n = 1_500;
    let atomics = "red.shared.add.u32 [%r1], %r0;\n".repeat(20);
    let heads = many(n, |i| format!("L{i}:\n{atomics}"));
    let ends = many(n, |i| format!("add.u32 %r0, %r1, 1;\n@%p bra L{};\n", n - 1 - i));
    let text = kernel(&(heads + &ends + "call f;\n")).replacen(
        ".visible",
        ".func f() { ret; }\n.visible",
        1,
    );
    let program = Program::parse("large.ir", &text);
    let (kernel, machine) = (program.kernel(None).expect("one kernel"), support::machine("h200"));
    let code = ptxas::compile(kernel, &Target::new(&machine, true), Mode::Volta);
    let yields = code
        .ops()
        .iter()
        .filter(|step| matches!(step.inst.op, Op::Join(ConvergenceOp::Yield)))
        .count();
    assert!(yields >= n, "{yields}");
}

#[test]
fn an_index_may_have_a_sum_in_it() {
    let text = "//! buffer x: u32[1 << 20]\n//! expect x[i + 0 * sum(x)] == 0 for i in 0..1 << 20\n"
        .to_owned() + &kernel("");
    assert_eq!(codes(&text), [""; 0]);
}

#[test]
fn what_a_launch_takes_of_the_host_has_a_limit() {
    let program = |n: u32| {
        Program::parse(
            "local.ir",
            &kernel(&format!(".local .b8 s[{n}];\nst.local.u32 [s], %r1;"))
                .replace("grid = 1", "grid = 4096"),
        )
    };
    let options = support::options(Mode::Volta, simt_core::divergence::SideOrder::Fewer, 100);
    for (bytes, fits) in [(1 << 10, true), (1 << 18, false)] {
        let program = program(bytes);
        let (kernel, launch) =
            support::launch(&program, &Overrides::default()).expect("a sound program");
        let machine = support::machine("h200");
        let done = Job::new(&program, kernel, launch, &machine, options.clone()).execute(&());
        assert_eq!(done.is_ok(), fits, "{bytes} bytes: {:?}", done.err());
    }
}

#[test]
fn machines_have_limits() {
    let text = Machine::preset_text("teaching").expect("a preset");
    for (from, to) in [
        ("warp_size: 8", "warp_size: 0"),
        ("warp_size: 8", "warp_size: 4294967295"),
        ("shared_banks: 32", "shared_banks: 0"),
        ("max_warps: 16", "max_warps: 2147483648"),
        ("sms: 1", "sms: 4294967295"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "the preset has no `{from}`");
        assert!(Machine::parse(&changed).is_err(), "{to}");
    }
    for nested in
        ["(".repeat(100_000), format!("(name: {}", "[".repeat(100_000)), "/*".repeat(100_000)]
    {
        assert!(Machine::parse(&nested).is_err());
    }
}
