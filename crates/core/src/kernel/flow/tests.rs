//! Small programs with known results, in the shorthand of [`super::shorthand`].

use super::shorthand::{assemble, kernel, registers};
use super::*;
use crate::diag::Span;

/// Returns the line of each branch and of its reconvergence point, from 0.
fn joins(text: &str) -> Vec<(u32, Option<u32>)> {
    let k = kernel(text);
    let line = |inst: u32| k.insts[inst as usize].line - 3;
    let block_line = |b: BasicBlockId| line(k.flow.blocks()[b.index()].first);
    k.flow.branches().iter().map(|b| (line(b.inst), b.reconverge.map(block_line))).collect()
}

#[test]
fn meeting_places() {
    type Meetings = &'static [(u32, Option<u32>)];
    let cases: [(&str, &str, Meetings); 9] = [
        ("if else, then a bare ret", "@t bra L\nwork\nbra M\nL: work\nM: ret", &[(0, Some(4))]),
        ("a guard around the whole kernel", "@t bra M\nwork\nM: ret", &[(0, Some(2))]),
        (
            "return inside a nested if",
            "@t bra Y\n@t bra X\nret\nX: work\nY: work\nret",
            &[(0, Some(4)), (1, Some(3))],
        ),
        (
            "the same with one shared ret",
            "@t bra Y\n@t bra E\nwork\nY: work\nE: ret",
            &[(0, Some(3)), (1, Some(2))],
        ),
        ("guarded ret does not fork", "@t bra Y\n@t ret\nwork\nY: work\nret", &[(0, Some(3))]),
        ("both arms return", "@t bra L\nwork\nret\nL: work\nret", &[(0, Some(3))]),
        ("loop", "H: @t bra E\nwork\nbra H\nE: work\nret", &[(0, Some(3))]),
        (
            "return inside two loops",
            "H: @t bra E\nI: @t bra J\n@t bra E\nwork\nbra I\nJ: work\nbra H\nE: ret",
            &[(0, Some(7)), (1, Some(5)), (2, Some(3))],
        ),
        ("an endless loop with an if", "H: @t bra L\nwork\nL: work\nbra H", &[(0, Some(2))]),
    ];
    for (what, text, expected) in cases {
        assert_eq!(joins(text), expected, "{what}");
    }
}

#[test]
fn an_endless_arm_is_no_meeting_place() {
    assert_eq!(joins("@t bra L\nM: work\nbra M\nL: work\nN: work\nbra N").len(), 1);
    let k = kernel("@t bra L\nM: work\nbra M\nL: work\nN: work\nbra N");
    assert!(!k.flow.branches()[0].meets);
}

#[test]
fn loops_and_dominators() {
    let k = kernel("H: work\nI: @t bra J\nwork\nbra I\nJ: @t bra H\nret");
    let loops: Vec<(u32, usize, u32)> =
        k.flow.loops().iter().map(|l| (l.header.0, l.body.len(), l.depth)).collect();
    // Blocks: 0 prologue, 1 H, 2 I, 3 the inner body, 4 J, 5 ret.
    assert_eq!(loops, [(1, 4, 1), (2, 2, 2)]);
    let idom = |b| k.flow.immediate_dominator(BasicBlockId(b)).map(|d| d.0);
    assert_eq!(
        (0..6).map(idom).collect::<Vec<_>>(),
        [None, Some(0), Some(1), Some(2), Some(2), Some(4)]
    );
    assert_eq!(
        (0..6).map(|b| k.flow.loop_depth(BasicBlockId(b))).collect::<Vec<_>>(),
        [0, 1, 2, 2, 1, 0]
    );
}

#[test]
fn what_depends_on_the_lane() {
    // Each program ends in a branch on p2 that may or may not diverge.
    let cases = [
        ("block size", "setp p2 r1 r1", false),
        ("thread number", "setp p2 r1 r0", true),
        ("through a sum", "add r3 r0 r1\nsetp p2 r3 r1", true),
        ("overwritten", "add r3 r0 r1\nmov r3 r1\nsetp p2 r3 r1", false),
        ("a guarded overwrite keeps the old", "mov r3 r0\n@u mov r3 r1\nsetp p2 r3 r1", true),
        ("a guard that differs", "mov r3 r1\n@t add r3 r1 r1\nsetp p2 r3 r1", true),
        ("a parameter", "param r3 r1\nsetp p2 r3 r1", false),
        ("one address for all", "load r3 r1\nsetp p2 r3 r1", false),
        ("an address each", "load r3 r0\nsetp p2 r3 r1", true),
        ("volatile", "volatile r3 r1\nsetp p2 r3 r1", true),
        ("local memory", "local r3 r1\nsetp p2 r3 r1", true),
        ("an atomic", "atom r3 r1\nsetp p2 r3 r1", true),
        ("a ballot of all", "ballot r3 t\nsetp p2 r3 r1", false),
        ("a ballot in one arm", "@t bra A\nballot r3 t\nA: setp p2 r3 r1", true),
        (
            "written in one arm of a divergent branch",
            "mov r3 r1\n@t bra A\nadd r3 r1 r1\nA: setp p2 r3 r1",
            true,
        ),
        (
            "written in one arm of a uniform branch",
            "mov r3 r1\n@u bra A\nadd r3 r1 r1\nA: setp p2 r3 r1",
            false,
        ),
        (
            "written before lanes return",
            "mov r3 r1\n@t bra A\nadd r3 r1 r1\nret\nA: setp p2 r3 r1",
            false,
        ),
        (
            "counted in a loop left at different times",
            "A: add r3 r3 r1\n@t bra A\nsetp p2 r3 r1",
            true,
        ),
        ("counted in a loop left together", "A: add r3 r3 r1\n@u bra A\nsetp p2 r3 r1", false),
    ];
    for (what, text, diverges) in cases {
        let k = kernel(&format!("{text}\n@p2 bra Z\nwork\nZ: work\nret"));
        let last = k.flow.branches().last().unwrap();
        assert_eq!(last.may_diverge, diverges, "{what}");
    }
    let k = kernel("@t bra.uni Z\nwork\nZ: work\nret");
    assert!(!k.flow.branches()[0].may_diverge, "the author promised");
}

#[test]
fn register_pressure_counts_what_is_live_together() {
    let cases = [
        ("work\nret", 0),
        ("mov r2 r1\nret", 1),
        ("mov r2 r1\nmov r3 r1\nadd r4 r2 r3\nadd r5 r4 r4\nret", 2),
        ("mov r2 r1\nmov r3 r1\nmov r4 r1\nadd r5 r2 r3\nadd r5 r5 r4\nret", 3),
        ("mov r2 r1\nA: mov r3 r1\nadd r4 r3 r3\n@t bra A\nadd r3 r2 r2\nret", 2),
        ("mov r2 r1\n@t mov r2 r0\nmov r3 r1\nadd r4 r2 r3\nret", 2),
    ];
    for (text, expected) in cases {
        assert_eq!(register_pressure(&assemble(text), &registers()), expected, "{text}");
    }
}

#[test]
fn findings() {
    let cases: [(&str, &[&str]); 8] = [
        ("work\nret", &[]),
        ("A: work\nbra A", &["no-exit"]),
        ("work\nret\nwork\nwork\nret", &["unreachable-code"]),
        ("work\nret\nret", &[]),
        ("@t bra A\nbar\nA: work\nret", &["divergent-barrier"]),
        ("@t bar\nwork\nret", &["divergent-barrier"]),
        ("@t bra A\nwork\nA: bar\nret", &[]),
        ("@t ret\n@t bra A\nret\nA: bar\n@u bra B\nbar\nB: work\nret", &[]),
    ];
    for (text, expected) in cases {
        let codes: Vec<&str> = warnings(&kernel(text)).iter().map(|d| d.code).collect();
        assert_eq!(codes, expected, "{text}");
    }
    let found = warnings(&kernel("@t bra A\nbar\nA: work\nret"));
    assert_eq!(found[0].labels[1].span, Span::new(20, 25), "the branch is named as the cause");
}
