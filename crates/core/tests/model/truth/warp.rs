//! Warp and block operations: shuffles, votes, matches, reductions, block barriers.

use std::fmt::Write;

use simt_core::isa::{FormMatch, Isa, OperandKind, Sem};

use super::forms::mnemonics;
use super::print::{entry, header};

pub(super) fn programs() -> Vec<(&'static str, String)> {
    vec![("shuffle", shuffle()), ("collectives", collectives()), ("barriers", barriers())]
}

/// Returns every mnemonic of the rows with this meaning.
fn uses(sem: Sem) -> Vec<FormMatch<'static>> {
    let isa = Isa::ptx();
    let written =
        isa.rows().iter().filter(|row| row.sem == sem).flat_map(|row| mnemonics(row, 100, 100));
    written.filter_map(|mnemonic| isa.lookup(&mnemonic).ok()).collect()
}

fn name_of(found: &FormMatch<'_>) -> String {
    found.mnemonic().replace("::", "_").replace('.', "_")
}

/// Prints a warp for each operand `b`: lane counts, in range and beyond, the last warp with another
/// one per lane. For each mode and each segment: the source lane of a value, plus 128 if it was in
/// range.
fn shuffle() -> String {
    const COUNTS: [u32; 8] = [0, 1, 2, 5, 16, 31, 32, 99];
    /// Whole warp, its `up` form, segments of 8 and of 4 with both clamps, and clamps inside a
    /// segment.
    const SEGMENTS: [u32; 8] = [0x1f, 0x00, 0x181f, 0x1800, 0x1c1f, 0x1007, 0x0f1f, 0x1e05];
    let warps = COUNTS.len() + 1;
    let threads = warps * 32;
    let mut out = header("shuffle", threads);
    let list = COUNTS.map(|c| c.to_string()).join(", ");
    let _ = writeln!(out, "//! buffer counts: b32[{}] = [{list}]", COUNTS.len());
    let last = COUNTS.len() * 32;
    let _ = writeln!(
        out,
        "//! buffer b: b32[{threads}] = (i < {last} ? counts[i / 32] : i * 7 % 41) for i"
    );
    let mut body = String::new();
    let mut names = vec!["b".to_string()];
    for found in uses(Sem::Shuffle) {
        for segment in SEGMENTS {
            let name = format!("{}_{segment:04x}", name_of(&found));
            let _ = writeln!(
                body,
                "\n    {} %x|%s, %lane, %b, {segment:#x}, 0xffffffff;",
                found.mnemonic()
            );
            let _ = writeln!(body, "    @%s or.b32 %x, %x, 128;\n    ld.param.u64 %p, [{name}];");
            let _ = writeln!(body, "    mad.wide.u32 %p, %i, 1, %p;\n    st.global.b8 [%p], %x;");
            let _ = writeln!(out, "//! buffer {name}: b8[{threads}]");
            names.push(name);
        }
    }
    out += &entry("shuffle", &names.iter().map(String::as_str).collect::<Vec<_>>());
    out += "    .reg .pred %s;\n    .reg .b32 %i, %lane, %b, %x;\n    .reg .b64 %p;\n\n";
    out += "    mov.u32 %i, %tid.x;\n    mov.u32 %lane, %laneid;\n    ld.param.u64 %p, [b];\n";
    out += "    mad.wide.u32 %p, %i, 4, %p;\n    ld.global.b32 %b, [%p];\n";
    out + &body + "    ret;\n}\n"
}

/// Prints warps whose values are all equal, in groups, all different, random; predicates all false,
/// all true, mixed, one. Each form runs on whole warps and on the halves of a warp separately.
fn collectives() -> String {
    const THREADS: usize = 192;
    let mut out = header("collectives", THREADS);
    let _ = writeln!(out, "//! buffer random: u32[{THREADS}] = random(21, 0..0xffffffff)");
    let _ = writeln!(
        out,
        "//! buffer v: b32[{THREADS}] = (i < 32 ? 7 : i < 64 ? i % 5 : i < 96 ? i * 0x4000001 : i < 128 ? i % 2 : random[i]) for i"
    );
    let (mut body, mut names) = (String::new(), vec!["v".to_string()]);
    let forms =
        [Sem::Vote, Sem::Match, Sem::Redux, Sem::Elect, Sem::ActiveMask].into_iter().flat_map(uses);
    for (number, found) in forms.enumerate() {
        let name = name_of(&found);
        let wide = found.has("b64") && found.form.sem == Sem::Match;
        let shown = |operand: &OperandKind, result: bool, mask: &str| match operand {
            OperandKind::Predicate if result => "%s".to_string(),
            OperandKind::Predicate => "%q".to_string(),
            OperandKind::ValueAndPredicate(_) => "%x|%s".to_string(),
            _ if result => "%x".to_string(),
            _ if mask.is_empty() && wide => "%wide".to_string(),
            _ if mask.is_empty() => "%v".to_string(),
            _ => mask.to_string(),
        };
        let line = |mask: &str| {
            let operands = found.form.operands.iter().map(|o| match o.name.as_str() {
                "membermask" => mask.to_string(),
                _ => shown(&o.kind, o.result, ""),
            });
            format!("{} {};", found.mnemonic(), operands.collect::<Vec<_>>().join(", "))
        };
        let predicate =
            found.form.operands.iter().any(|o| o.result && o.kind == OperandKind::Predicate);
        let both =
            found.form.operands.iter().any(|o| matches!(o.kind, OperandKind::ValueAndPredicate(_)));
        let mut show = |name: &str, out: &mut String, body: &mut String| {
            if predicate {
                let _ = writeln!(body, "    selp.b32 %x, 1, 0, %s;");
            }
            if both {
                let _ = writeln!(
                    body,
                    "    selp.b32 %y, 1, 0, %s;\n    shl.b32 %y, %y, 4;\n    xor.b32 %x, %x, %y;"
                );
            }
            let _ = writeln!(
                body,
                "    ld.param.u64 %p, [{name}];\n    mad.wide.u32 %p, %i, 4, %p;\n    st.global.b32 [%p], %x;"
            );
            let _ = writeln!(out, "//! buffer {name}: b32[{THREADS}]");
            names.push(name.to_string());
        };
        let _ = writeln!(body, "\n    {}", line("0xffffffff"));
        show(&name, &mut out, &mut body);
        let _ = writeln!(
            body,
            "    @%low bra Low{number};\n    {}\n    bra Join{number};",
            line("0xffff0000")
        );
        let _ = writeln!(body, "Low{number}:\n    {}\nJoin{number}:", line("0x0000ffff"));
        show(&format!("{name}_halves"), &mut out, &mut body);
    }
    out += &entry("collectives", &names.iter().map(String::as_str).collect::<Vec<_>>());
    out += "    .reg .pred %q, %s, %low;\n    .reg .b32 %i, %lane, %v, %x, %y;\n    .reg .b64 %p, %wide;\n\n";
    out +=
        "    mov.u32 %i, %tid.x;\n    mov.u32 %lane, %laneid;\n    setp.lt.u32 %low, %lane, 16;\n";
    out +=
        "    ld.param.u64 %p, [v];\n    mad.wide.u32 %p, %i, 4, %p;\n    ld.global.b32 %v, [%p];\n";
    out += "    mov.b64 %wide, {%v, %v};\n    and.b32 %x, %v, 1;\n    setp.ne.u32 %q, %x, 0;\n";
    out + &body + "    ret;\n}\n"
}

/// Prints three warps at barriers: values passed through shared memory across each barrier, and
/// predicates counted and combined.
fn barriers() -> String {
    const THREADS: usize = 96;
    let mut out = header("barriers", THREADS);
    let (mut body, mut names) = (String::new(), Vec::new());
    let mut show = |name: String, body: &mut String| {
        let _ = writeln!(
            body,
            "    ld.param.u64 %p, [{name}];\n    mad.wide.u32 %p, %i, 4, %p;\n    st.global.b32 [%p], %x;"
        );
        let _ = writeln!(out, "//! buffer {name}: b32[{THREADS}]");
        names.push(name);
    };
    for found in uses(Sem::BarrierRed) {
        for (count, ending) in [("", ""), ("96, ", "_96")] {
            for (predicate, which) in [("%q", "some"), ("%all", "all"), ("!%all", "none")] {
                let is_value =
                    found.form.operands.first().is_some_and(|o| o.kind != OperandKind::Predicate);
                let result = if is_value { "%x" } else { "%s" };
                let _ =
                    writeln!(body, "\n    {} {result}, 1, {count}{predicate};", found.mnemonic());
                if !is_value {
                    let _ = writeln!(body, "    selp.b32 %x, 1, 0, %s;");
                }
                show(format!("{}{ending}_{which}", name_of(&found)), &mut body);
            }
        }
    }
    for found in uses(Sem::BarrierSync) {
        for (operands, ending) in [("2", ""), ("3, 96", "_96")] {
            let m = found.mnemonic();
            let _ = writeln!(
                body,
                "\n    st.shared.b32 [%own], %v;\n    {m} {operands};\n    ld.shared.b32 %x, [%next];"
            );
            let _ = writeln!(body, "    {m} {operands};\n    add.u32 %v, %v, %x;");
            show(format!("{}{ending}", name_of(&found)), &mut body);
        }
    }
    for (number, found) in uses(Sem::BarrierArrive).into_iter().enumerate() {
        // The first two warps write and continue, the third waits for them and reads.
        let _ =
            writeln!(body, "\n    bar.sync 0;\n    st.shared.b32 [%own], %v;\n    mov.b32 %x, 0;");
        let _ = writeln!(
            body,
            "    @%third bra Wait{number};\n    {} 4, 96;\n    bra Join{number};",
            found.mnemonic()
        );
        let _ = writeln!(
            body,
            "Wait{number}:\n    bar.sync 4, 96;\n    ld.shared.b32 %x, [%next];\nJoin{number}:"
        );
        show(name_of(&found), &mut body);
    }
    out += &entry("barriers", &names.iter().map(String::as_str).collect::<Vec<_>>());
    out += "    .reg .pred %q, %all, %s, %third;\n    .reg .b32 %i, %v, %x;\n    .reg .b64 %p, %own, %next;\n";
    let _ = writeln!(out, "    .shared .align 4 .b8 tile[{}];\n", THREADS * 4);
    out += "    mov.u32 %i, %tid.x;\n    mul.lo.u32 %v, %i, %i;\n    rem.u32 %x, %i, 7;\n    setp.lt.u32 %q, %x, 3;\n";
    out += "    setp.lt.u32 %all, %i, 96;\n    setp.ge.u32 %third, %i, 64;\n    mov.u64 %own, tile;\n    mov.u64 %next, tile;\n";
    out +=
        "    mad.wide.u32 %own, %i, 4, %own;\n    add.u32 %x, %i, 37;\n    rem.u32 %x, %x, 96;\n";
    out += "    mad.wide.u32 %next, %x, 4, %next;\n";
    out + &body + "    ret;\n}\n"
}
