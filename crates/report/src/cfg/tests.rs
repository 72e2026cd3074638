use super::*;
use crate::plot;
use simt_core::Program;

/// A loop without an exit around `if (p) skip work`.
const TEXT: &str = ".entry k() { .reg .pred %p;
L: membar.cta;
@%p bra S;
membar.cta;
S: @%p bra L;
}
";

/// The instructions with characters that a picture must escape in place of the work.
fn escaped() -> Vec<String> {
    let texts = texts(&Program::parse("k.ir", TEXT), &kernel());
    texts.iter().map(|text| text.replace("membar.cta", "\"a\" <&> b ")).collect()
}

fn kernel() -> Kernel {
    kernel_of(TEXT)
}

fn kernel_of(text: &str) -> Kernel {
    Program::parse("k.ir", text).kernel(None).unwrap_or_else(|e| panic!("{e}")).clone()
}

#[test]
fn dot_names_blocks_edges_and_meeting_places() {
    let text = dot(&kernel(), &escaped());
    for expected in [
        r#"bb0 [label="bb0: lines 2-3\l\"a\" <&> b ;\l@%p bra S;\l"];"#,
        r#"(end of kernel)\l"];"#,
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
    let picture = plot::svg(&plot::graph("p.ir", &escaped(), &kernel()));
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    assert!(picture.contains("&lt;&amp;&gt;") && picture.contains("can diverge"));
    let empty = kernel_of(".entry k() { }");
    assert!(plot::svg(&plot::graph("p.ir", &[], &empty)).contains("</svg>"));
}
