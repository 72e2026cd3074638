use super::*;
use crate::plot;
use simt_core::base::Pc;
use simt_core::diag::Span;
use simt_core::isa::{Class, Isa};
use simt_core::kernel::{
    ControlFlow, Inst, Op, Predicate, PredicateUse, Register, Registers, Scope,
};

const SOURCE: &str = "a \"quoted\" thing; @p bra L; work <&>; L: done; ret;";

/// A loop without an exit around `if (p) skip work`.
/// Instructions: 0 work, 1 branch to 3, 2 work, 3 branch to 0, 4 exit.
fn kernel() -> Kernel {
    let inst = |op, guarded: bool, span, line| Inst {
        op,
        guard: guarded.then_some(PredicateUse { predicate: Predicate(0), negated: false }),
        class: Class::Branch,
        form: 0,
        reads: if guarded { vec![Register::Predicate(Predicate(0))] } else { Vec::new() },
        writes: Vec::new(),
        span,
        line,
    };
    let bra = |target| Op::Branch { target: Pc(target), uniform: false };
    let insts = vec![
        inst(Op::Fence(Scope::Block), false, Span::new(0, 17), 1),
        inst(bra(3), true, Span::new(18, 27), 2),
        inst(Op::Fence(Scope::Block), false, Span::new(28, 37), 3),
        inst(bra(0), true, Span::new(38, 45), 4),
        inst(Op::Exit, false, Span::new(0, 0), 5),
    ];
    let registers = Registers { predicates: 1, ..Registers::default() };
    Kernel {
        isa: Isa::ptx(),
        name: "k".to_string(),
        params: Vec::new(),
        param_bytes: 0,
        flow: ControlFlow::build(&insts, &[], &registers),
        insts,
        registers,
        shared_bytes: 0,
        local_bytes: 0,
        functions: Vec::new(),
        variables: Default::default(),
        shared_variables: Vec::new(),
        block_limit: None,
        registers_per_thread: 0,
        span: Span::default(),
    }
}

#[test]
fn dot_names_blocks_edges_and_meeting_places() {
    let text = dot(&kernel(), SOURCE);
    for expected in [
        r#"bb0 [label="bb0: lines 1-2\la \"quoted\" thing;\l@p bra L;\l"];"#,
        r#"bb3 [label="bb3: line 5\l(end of kernel)\l"];"#,
        r##"bb0 -> bb2 [label="taken", color="#0072b2"];"##,
        r##"bb0 -> bb1 [label="fall", color="#404040"];"##,
        r##"bb2 -> bb0 [label="taken", color="#0072b2"];"##,
        r##"bb0 -> bb2 [label="reconverge", style=dashed"##,
        r##"bb2 -> bb3 [label="reconverge", style=dashed"##,
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

#[test]
fn boxes_do_not_overlap_and_lines_go_from_box_to_box() {
    let k = kernel();
    let ends: Vec<_> = edges(&k).iter().map(|e| (e.from, e.to)).collect();
    let pairs: Vec<_> = meetings(&k).collect();
    let size = |(characters, lines)| Sizes { characters, lines, least: 0, apart: 0 };
    let sizes = [(20, 3), (10, 2), (10, 2), (30, 2)].map(size);
    let layout = layout::lay_out(70, k.flow.blocks(), &sizes, &ends, &pairs);
    for (i, a) in layout.boxes.iter().enumerate() {
        assert!(a.left >= 0 && a.top >= 0 && a.right <= layout.width && a.bottom <= layout.height);
        for b in &layout.boxes[..i] {
            assert!(
                a.right < b.left || b.right < a.left || a.bottom < b.top || b.bottom < a.top,
                "{a:?} {b:?}"
            );
        }
    }
    for (line, (from, to)) in
        layout.edges.iter().chain(&layout.pairs).zip(ends.iter().chain(&pairs))
    {
        let (from, to) = (layout.boxes[from.index()], layout.boxes[to.index()]);
        let (first, last) = (line[0], line[line.len() - 1]);
        assert!(first.1 == from.bottom && (from.left..=from.right).contains(&first.0), "{line:?}");
        assert!(last.1 == to.top && (to.left..=to.right).contains(&last.0), "{line:?}");
        for &(x, y) in line {
            assert!(
                (0..=layout.width).contains(&x) && (0..=layout.height).contains(&y),
                "{line:?}"
            );
        }
    }
}

#[test]
fn pictures_are_well_formed_also_of_nothing() {
    let picture = plot::svg(&plot::graph("p.ir", SOURCE, &kernel()));
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    assert!(picture.contains("work &lt;&amp;&gt;") && picture.contains("can diverge"));
    let empty = Kernel { insts: Vec::new(), flow: ControlFlow::default(), ..kernel() };
    assert!(plot::svg(&plot::graph("p.ir", "", &empty)).contains("</svg>"));
}
