//! Conditionals that are converted, those that are not, and the result.

use super::*;
use crate::ptx;

/// Returns the draft of a kernel around `body`.
fn draft(body: &str) -> Draft {
    let source = format!(
        ".entry k(.param .u64 out) {{ .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .align 4 .b8 tile[64];\n{body}\n}}\n"
    );
    let (module, faults) = ptx::parse(&source);
    assert!(faults.is_empty(), "{faults:?}");
    let (mut kernels, found) = check(&module, &source);
    Draft::new(&kernels.pop().unwrap_or_else(|| panic!("{found:?}")), None)
}

const HEAD: &str = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 4;";

/// Counts guarded instructions and branches after all possible conversions.
fn outcome(body: &str) -> (usize, usize) {
    let done = draft(&format!("{HEAD} {body}")).with_predication(|_| true).draft;
    let is_branch = |inst: &&Inst| matches!(inst.op, Op::Branch { .. });
    let guarded = done.kernel.insts.iter().filter(|i| i.guard.is_some() && !is_branch(i)).count();
    (guarded, done.kernel.insts.iter().filter(is_branch).count())
}

#[test]
fn arms_without_side_effects_on_others_are_guarded() {
    for (body, expected) in [
        ("@%p1 bra J; add.u32 %r2, %r1, 1; st.shared.u32 [tile], %r2; J: ret;", (2, 0)),
        (
            "@%p1 bra E; add.u32 %r2, %r1, 1; bra J; E: add.u32 %r2, %r1, 2; J: bar.sync 0; ret;",
            (2, 0),
        ),
        // As nvcc writes an if/else: a branch around a branch.
        (
            "@%p1 bra E; bra.uni T; E: add.u32 %r2, %r1, 1; bra.uni J; T: add.u32 %r2, %r1, 2; J: bar.sync 0; ret;",
            (2, 0),
        ),
        // Only the inner one: guarded instructions are not guarded again.
        (
            "@%p1 bra J; setp.lt.u32 %p2, %r1, 9; @%p2 bra I; add.u32 %r2, %r1, 1; I: add.u32 %r3, %r1, 1; J: ret;",
            (1, 1),
        ),
        ("@%p1 bra J; bar.sync 0; J: ret;", (0, 1)),
        ("@%p1 bra J; atom.shared.add.u32 %r2, [tile], 1; J: ret;", (0, 1)),
        ("@%p1 bra J; ld.volatile.shared.u32 %r2, [tile]; J: ret;", (0, 1)),
        ("@%p1 bra J; setp.lt.u32 %p1, %r1, 2; J: ret;", (0, 1)),
        ("L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra L; ret;", (0, 1)),
    ] {
        assert_eq!(outcome(body), expected, "{body}");
    }
}

#[test]
fn each_arm_is_guarded_by_its_own_side() {
    let done = draft(&format!(
        "{HEAD} @%p1 bra E; mov.u32 %r2, 1; bra J; E: mov.u32 %r2, 2; J: bar.sync 0; ret;"
    ))
    .with_predication(|_| true)
    .draft;
    let negated: Vec<bool> =
        done.kernel.insts.iter().filter_map(|i| i.guard).map(|g| g.negated).collect();
    assert_eq!(negated, [true, false]);
    let guarded = done.kernel.insts.iter().filter(|i| i.guard.is_some());
    assert!(guarded.clone().all(|i| i.reads.iter().any(|r| matches!(r, Register::Predicate(_)))));
}

#[test]
fn a_branch_to_a_bare_return_is_a_guarded_exit() {
    let body = format!("{HEAD} @%p1 bra R; st.shared.u32 [tile], %r1; R: ret;");
    let done = draft(&body).with_predicated_exits();
    assert!(done.kernel.flow.branches().is_empty());
    assert!(done.kernel.insts.iter().any(|i| i.op == Op::Exit && i.guard.is_some()));
}

#[test]
fn an_arm_that_ends_the_thread_is_guarded_with_its_exit() {
    const WORK: &str = "st.shared.u32 [tile], %r1;";
    for (body, expected) in [
        // As nvcc writes an early return: a branch around a jump, and one `ret` for all.
        (
            "@%p1 bra E; bra.uni T; T: WORK bra.uni R; E: add.u32 %r2, %r1, 1; bar.sync 0; R: ret;",
            (2, 0),
        ),
        // A `ret` of its own, on the side that falls through or the other.
        ("@%p1 bra E; WORK ret; E: bar.sync 0; ret;", (2, 0)),
        ("@%p1 bra E; bar.sync 0; ret; E: WORK ret;", (2, 0)),
        // One after the other.
        (
            "@%p1 bra E; WORK ret; E: setp.lt.u32 %p2, %r1, 9; @%p2 bra F; WORK WORK ret; F: bar.sync 0; ret;",
            (5, 0),
        ),
        // Not converted: accesses that other lanes could see, guarded instructions, and exits from
        // a loop.
        ("@%p1 bra E; bar.sync 0; ret; E: bar.sync 0; ret;", (0, 1)),
        ("@%p1 bra E; @%p2 st.shared.u32 [tile], %r1; ret; E: bar.sync 0; ret;", (1, 1)),
        ("L: @%p1 bra E; bar.sync 0; bra L; E: WORK ret;", (0, 2)),
    ] {
        let body = body.replace("WORK", WORK);
        let done = draft(&format!("{HEAD} {body}")).with_predication(|_| true).draft;
        let count = |f: &dyn Fn(&Inst) -> bool| done.kernel.insts.iter().filter(|i| f(i)).count();
        let guarded = count(&|i| i.guard.is_some() && !matches!(i.op, Op::Branch { .. }));
        let conditional = count(&|i| i.guard.is_some() && matches!(i.op, Op::Branch { .. }));
        let loops = count(&|i| i.guard.is_none() && matches!(i.op, Op::Branch { .. }));
        let jumps = if body.starts_with("L:") { loops } else { 0 };
        assert_eq!((guarded, conditional + jumps), expected, "{body}");
        let exits = count(&|i| i.guard.is_some() && i.op == Op::Exit);
        assert_eq!(exits, if expected.1 == 0 { expected.0 / 2 } else { 0 }, "{body}");
    }
}

#[test]
fn the_kernel_keeps_what_stands_in_the_place_of_a_branch() {
    let body = "@%p1 bra J;\nadd.u32 %r2, %r1, 1;\nJ:\n@%p1 bra X;\nmov.u32 %r3, 1;\n@%p1 bra E;\nbra K;\nE:\nadd.u32 %r4, \
                %r1, 2;\nK:\nst.shared.u32 [tile], %r3;\nX:\nret;";
    let done =
        draft(&format!("{HEAD}\n{body}")).with_predicated_exits().with_predication(|_| true).draft;
    let found: Vec<_> =
        done.predicated.iter().map(|b| (b.line, b.meets, b.executes_taken)).collect();
    // The fall-through side comes first; an exit is the taken side; only the taken side of the last
    // `if` has instructions.
    assert_eq!(found, [(3, Some(6), false), (6, None, true), (8, Some(13), true)]);
    for branch in &done.predicated {
        let inst = &done.kernel.insts[branch.inst as usize];
        let guard = inst.guard.expect("a guard");
        assert_eq!(guard.negated, !branch.executes_taken, "line {}", branch.line);
        assert!(
            inst.line >= branch.line,
            "line {} replaces the branch of line {}",
            inst.line,
            branch.line
        );
    }
    assert!(
        draft(&format!("{HEAD}\n{body}")).predicated.is_empty(),
        "a fresh draft has no predicated branch"
    );
}
