//! Convergence operations of small programs.

use super::super::barriers;
use super::*;
use crate::kernel::shorthand::kernel;

fn placed(k: &Kernel, scheme: Scheme, yields: bool) -> Stream {
    place(&k.insts, &k.functions, &k.flow, &barriers::place(&k.flow, true), scheme, yields)
}

/// Formats the barrier stream of a converged warp.
///
/// Every branch falls through.
fn straight(text: &str, yields: bool) -> String {
    let k = kernel(text);
    let stream = placed(&k, Scheme::Barriers, yields);
    let mut out = Vec::new();
    let mut pc = stream.entry;
    for _ in 0..100 {
        let step = &stream.steps[pc.index()];
        out.push(match step.inst.op {
            Op::Join(op) => format!("{op:?}"),
            Op::Branch { .. } if step.inst.guard.is_some() => "fork".to_string(),
            Op::Exit => "exit".to_string(),
            _ => "work".to_string(),
        });
        pc = match step.inst.op {
            Op::Exit => break,
            Op::Branch { target, .. } if step.inst.guard.is_none() => target,
            _ => step.next,
        };
    }
    out[2..].join(" ").replace("(B", "(")
}

#[test]
fn where_join_steps_stand() {
    let cases = [
        ("if", "@t bra A\nwork\nA: work\nret", "Set(0) fork work Sync(0) work exit"),
        ("a uniform if needs no barrier", "@u bra A\nwork\nA: work\nret", "fork work work exit"),
        (
            "nested",
            "@t bra A\n@t bra B\nwork\nB: work\nA: work\nret",
            "Set(0) fork Set(1) fork work Sync(1) work Sync(0) work exit",
        ),
        (
            "two branches with one join need one barrier",
            "@t bra A\n@t bra A\nwork\nA: work\nret",
            "Set(0) fork fork work Sync(0) work exit",
        ),
        (
            "consecutive ifs use one register",
            "@t bra A\nwork\nA: @t bra B\nwork\nB: work\nret",
            "Set(0) fork work Sync(0) Set(0) fork work Sync(0) work exit",
        ),
        (
            "a loop's barrier is set outside",
            "A: work\n@t bra A\nwork\nret",
            "Set(0) work fork Sync(0) work exit",
        ),
        (
            "a spinning loop yields inside",
            "A: atom r3 r1\nsetp p2 r3 r1\n@p2 bra A\nwork\nret",
            "Set(0) Yield work work fork Sync(0) work exit",
        ),
        (
            "a counting loop with an atomic does not",
            "A: atom r3 r1\n@t bra A\nwork\nret",
            "Set(0) work fork Sync(0) work exit",
        ),
        (
            "two branches to one join, neither nested in the other, are set at the common branch",
            "@u bra B\n@t bra J\nB: @t bra J\nwork\nJ: work\nret",
            "Set(0) fork fork fork work Sync(0) work exit",
        ),
        (
            "lanes that do not break reconverge before the end of the loop",
            "A: work\n@t bra B\n@t bra Z\nwork\nB: work\n@t bra A\nZ: work\nret",
            "Set(0) work Set(1) fork fork work Sync(1) work fork Sync(0) work exit",
        ),
        (
            "so do lanes that fall through to the next case, if others take a third",
            "@t bra A\n@t bra B\nbra D\nA: work\nB: work\nbra E\nD: work\nE: work\nret",
            "Set(0) Set(1) fork fork Break(1) work work Sync(0) work exit",
        ),
        (
            "an inner merge has no barrier if lanes that bypass it may reach the outer one",
            "@t bra A\n@t bra B\n@t bra C\nbra D\nA: work\nB: work\nC: work\nbra E\nD: work\nE: work\nret",
            "Set(0) Set(1) fork fork fork Break(1) work work Sync(0) work exit",
        ),
        (
            "unless no lane bypasses the outer merge, which is then a join set early",
            "@u bra J\nwork\n@t bra A\nwork\nbra M\nA: @t bra J\nM: work\nJ: work\nret",
            "Set(0) fork work Set(1) fork work work Sync(1) work Sync(0) work exit",
        ),
        ("an early return needs no barrier", "@t bra A\nwork\nret\nA: work\nret", "fork work exit"),
    ];
    for (what, text, expected) in cases {
        assert_eq!(straight(text, true), expected, "{what}");
        let without: Vec<&str> = expected.split(' ').filter(|w| *w != "Yield").collect();
        assert_eq!(straight(text, false), without.join(" "), "{what}");
    }
}

#[test]
fn a_stack_stream_is_the_program_itself() {
    let k = kernel("@t bra A\nwork\nA: work\nret");
    let stream = placed(&k, Scheme::Stack, false);
    assert_eq!(stream.steps.len(), k.insts.len());
    assert_eq!(stream.steps[2].reconverge, Some(Pc(4)));
    for (i, step) in stream.steps.iter().enumerate() {
        assert_eq!((&step.inst, step.source), (&k.insts[i], Some(i as u32)));
    }
}
