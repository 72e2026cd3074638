//! Rows that compute lane by lane from registers: every mnemonic, with many operands at once.
//!
//! Mnemonics of one row with operands of the same types share a program. Each program runs twice:
//! with all lanes, and with every other lane exited, which uses other loops of the simulator and
//! must not change anything else.

use std::collections::BTreeMap;
use std::fmt::Write;

use simt_core::isa::{Form, FormMatch, Isa, OperandKind, Type};

use super::expected::Expected;
use super::harness::{Case, lookup};
use super::inputs::{Source, sources, tuples};
use super::{approx, compare, convert, float, integer, mnemonics};

/// Maps the source operands of a mnemonic to its results.
pub(crate) type Oracle = Box<dyn Fn(&[u64]) -> Vec<Expected>>;

/// Instructions per program.
const LINES: usize = 24;
/// Operands of a run with every other lane exited.
const SPARSE: usize = 512;

/// Returns the oracle of a mnemonic, if it computes lane by lane.
pub(crate) fn oracle(m: &FormMatch<'_>) -> Option<Oracle> {
    let mnemonic = m.mnemonic();
    if mnemonic.contains("16x2") {
        return Some(packed(m, &mnemonic));
    }
    let sources: [fn(&FormMatch<'_>) -> Option<Oracle>; 5] =
        [compare::oracle, convert::oracle, approx::oracle, float::oracle, |m| {
            (!m.ty().is_float()).then(|| integer::oracle(m)).flatten()
        }];
    sources.iter().find_map(|find| find(m))
}

/// Returns the oracle of a mnemonic on pairs of 16-bit values: that of single values, for each
/// half.
fn packed(m: &FormMatch<'_>, mnemonic: &str) -> Oracle {
    // Masks have 16 bits per half; `.relu` of integers has no 16-bit form, so the 32-bit one gets
    // sign-extended halves.
    let extended = m.has("relu") && m.has("s16x2");
    let single =
        if extended { mnemonic.replace("s16x2", "s32") } else { mnemonic.replace("16x2", "16") };
    let single = if m.form.opcode == "set" { single.replace("32.", "16.") } else { single };
    let of_one = oracle(&lookup(&single)).unwrap_or_else(|| panic!("`{single}` has no oracle"));
    let sources = sources(m);
    let half = move |x: &[u64], shift: u32| -> Vec<u64> {
        let part = |(value, source): (&u64, &Source)| match source.ty {
            Type::Pred => *value,
            _ if extended => (value >> shift) as u16 as i16 as u32 as u64,
            _ => value >> shift & 0xffff,
        };
        x.iter().zip(&sources).map(part).collect()
    };
    let cut = move |expected: Expected| match expected {
        Expected::Bits(bits) => Expected::Bits(bits & 0xffff),
        other => other,
    };
    let first = move |mut expected: Vec<Expected>| cut(expected.swap_remove(0));
    if m.form.opcode == "cvt" {
        return Box::new(move |x| {
            vec![Expected::Halves(Box::new([first(of_one(&x[1..])), first(of_one(&x[..1]))]))]
        });
    }
    let to_predicates = m.form.opcode == "setp";
    Box::new(move |x| {
        let halves = [0, 16].map(|shift| first(of_one(&half(x, shift))));
        if to_predicates { halves.into() } else { vec![Expected::Halves(Box::new(halves))] }
    })
}

/// Returns true if a row is tested here.
pub(crate) fn covers(form: &Form) -> bool {
    let registers = form.operands.iter().all(|o| {
        !matches!(
            o.kind,
            OperandKind::Vector(_)
                | OperandKind::Address
                | OperandKind::Label
                | OperandKind::Moved(_)
        )
    });
    registers && mnemonics::of(form).first().is_some_and(|m| oracle(&lookup(m)).is_some())
}

/// Holds every row of a group against its oracles, on one tuple of operands in `step`.
pub(crate) fn check(title: &str, chosen: impl Fn(&Form) -> bool, step: usize) {
    let isa = Isa::ptx();
    let group = isa.groups().iter().find(|g| g.title == title).expect("a group of the table");
    let mut rows = 0;
    for form in isa.rows()[group.rows.clone()].iter().filter(|f| covers(f) && chosen(f)) {
        rows += 1;
        let mut programs: BTreeMap<String, Vec<Line>> = BTreeMap::new();
        for line in mnemonics::of(form).iter().flat_map(|m| lines(m)) {
            programs.entry(format!("{:?}", line.registers)).or_default().push(line);
        }
        for lines in programs.values().flat_map(|lines| lines.chunks(LINES)) {
            prove(form, lines, step);
        }
    }
    assert!(rows > 0, "no row of `{title}` is checked");
}

/// One instruction under test.
struct Line {
    mnemonic: String,
    /// Last source operand as a literal.
    literal: Option<u64>,
    /// True if predicate sources are negated.
    negated: bool,
    /// Types of the source registers; wider than the operand where the form allows it and the line
    /// tests it.
    registers: Vec<Source>,
    /// Widths of the result registers; 1 for a predicate.
    results: Vec<u32>,
}

/// Returns the variants of a mnemonic: plain, with a negated predicate, with literals, with wider
/// registers.
fn lines(mnemonic: &str) -> Vec<Line> {
    let m = lookup(mnemonic);
    let (registers, results) = (sources(&m), results(&m));
    let line = |literal, negated, wider: Option<u32>| {
        let mut line = Line {
            mnemonic: mnemonic.to_string(),
            literal,
            negated,
            registers: registers.clone(),
            results: results.clone(),
        };
        if literal.is_some() {
            line.registers.pop();
        }
        if let Some(bits) = wider {
            line.results = vec![bits];
            line.registers[0].ty = if bits == 64 { Type::B64 } else { Type::B32 };
        }
        line
    };
    let last = m.form.operands.last().map(|o| o.kind);
    if last == Some(OperandKind::Immediate) {
        return (0..256).map(|table| line(Some(table), false, None)).collect();
    }
    let mut all = vec![line(None, false, None)];
    if registers.iter().any(|s| s.ty == Type::Pred) {
        all.push(line(None, true, None));
    }
    let is_integer = registers
        .last()
        .is_some_and(|s| !s.ty.is_float() && s.ty != Type::Pred && !s.ty.name().ends_with("x2"));
    if matches!(last, Some(OperandKind::Value(_))) && registers.len() > 1 && is_integer {
        all.extend([0, 1, 4, 31].map(|n| line(Some(n), false, None)));
    }
    if let Some(OperandKind::Wider(_)) = last {
        let widest = m.ty().bits().max(m.second_type().bits());
        let float = m.ty().is_float() || m.second_type().is_float();
        let wider = [32, 64].into_iter().filter(|&bits| bits > widest && !float);
        all.extend(wider.map(|bits| line(None, false, Some(bits))));
    }
    all
}

/// Returns the widths of a mnemonic's result registers.
fn results(m: &FormMatch<'_>) -> Vec<u32> {
    let of = |kind: &OperandKind| match *kind {
        OperandKind::Predicate => vec![1],
        OperandKind::PredicatePair => vec![1, 1],
        OperandKind::ValueAndPredicate(ty) => vec![m.resolve(ty).bits(), 1],
        OperandKind::Value(ty) | OperandKind::Wider(ty) => vec![m.resolve(ty).bits().max(16)],
        _ => panic!("`{}`: say in results() what register its result needs", m.form.syntax),
    };
    m.form.operands.iter().filter(|o| o.result).flat_map(|o| of(&o.kind)).collect()
}

/// Names a register of a width: predicates, 16-bit, 32-bit and 64-bit registers are `p h r l`.
fn register(bits: u32, name: &str) -> String {
    let class = match bits {
        1 => "p",
        64 => "l",
        32 => "r",
        _ => "h",
    };
    format!("%{class}{name}")
}

/// Runs lines whose sources have the same types and holds each result against its oracle.
fn prove(form: &Form, lines: &[Line], step: usize) {
    let operands = tuples(&lines[0].registers, form.syntax.len() as u64);
    let operands: Vec<Vec<u64>> = operands.into_iter().step_by(step).collect();
    let oracles: Vec<Oracle> = lines
        .iter()
        .map(|l| oracle(&lookup(&l.mnemonic)).expect("rows of `covers` have one"))
        .collect();
    run(lines, &oracles, &operands, false);
    run(lines, &oracles, &operands[operands.len().saturating_sub(SPARSE)..], true);
}

fn run(lines: &[Line], oracles: &[Oracle], operands: &[Vec<u64>], sparse: bool) {
    let n = operands.len();
    let count: usize = lines.iter().map(|l| l.results.len()).sum();
    let case = Case {
        subjects: lines.iter().map(|l| l.mnemonic.clone()).collect(),
        text: program(lines, n, sparse),
        input: (0..lines[0].registers.len())
            .flat_map(|k| operands.iter().map(move |x| x[k]))
            .collect(),
        outputs: count * n,
    };
    let found = case.run();
    let mut first = 0;
    for (line, oracle) in lines.iter().zip(oracles) {
        let extended = extension(line);
        for (i, x) in operands.iter().enumerate() {
            for (k, wanted) in expect(line, oracle, extended, x).into_iter().enumerate() {
                let got = found[(first + k) * n + i];
                let wanted = if sparse && i % 2 == 1 { Expected::Bits(0) } else { wanted };
                assert!(
                    wanted.admits(got),
                    "{}{} of {x:x?}{}{}: result {k} is {got:#x}, not {wanted:x?}",
                    line.mnemonic,
                    if sparse { " with every second lane gone" } else { "" },
                    line.literal.map_or(String::new(), |n| format!(" and the number {n}")),
                    if line.negated { " with the predicate negated" } else { "" },
                );
            }
        }
        first += line.results.len();
    }
}

/// Returns the types of a result's extension: a result narrower than its register is extended by
/// its type (PTX ISA, "Operand Size Exceeding Instruction-Type Size").
fn extension(line: &Line) -> Option<(Type, Type)> {
    let m = lookup(&line.mnemonic);
    if m.has("pack") {
        return None; // its type is that of the parts
    }
    let register = match line.results.first() {
        Some(64) => Type::B64,
        Some(32) => Type::B32,
        _ => Type::B16,
    };
    (m.form.opcode == "cvt" && !m.ty().is_float() && register.bits() > m.ty().bits())
        .then_some((m.ty(), register))
}

/// Returns the expected results of a line for these registers.
fn expect(
    line: &Line,
    oracle: &Oracle,
    extended: Option<(Type, Type)>,
    x: &[u64],
) -> Vec<Expected> {
    let mut x = x.to_vec();
    for (value, source) in x.iter_mut().zip(&line.registers) {
        if line.negated && source.ty == Type::Pred {
            *value ^= 1;
        }
    }
    x.extend(line.literal);
    let mut expected = oracle(&x);
    if let (Expected::Bits(bits), Some((from, to))) = (&expected[0], extended) {
        expected[0] = Expected::Bits(integer::wrap(to, integer::value(from, *bits)));
    }
    expected.truncate(line.results.len());
    expected
}

/// Returns the program around some lines, over `n` operands in structure-of-arrays order.
fn program(lines: &[Line], n: usize, sparse: bool) -> String {
    const BLOCK: usize = 256;
    let mut body = String::new();
    let mut names = Vec::new();
    for (k, source) in lines[0].registers.iter().enumerate() {
        let (bits, at) = (source.ty.bits(), 8 * n * k);
        let name =
            register(bits.max(if source.ty == Type::Pred { 1 } else { 16 }), &format!("a{k}"));
        let _ = match bits {
            1 => writeln!(body, "ld.global.u32 %rx, [%in+{at}];\nsetp.ne.u32 {name}, %rx, 0;"),
            8 => writeln!(body, "ld.global.u16 {name}, [%in+{at}];"),
            _ => writeln!(body, "ld.global.b{bits} {name}, [%in+{at}];"),
        };
        names.push(name);
    }
    let mut slot = 0;
    for line in lines {
        let results: Vec<String> = line
            .results
            .iter()
            .enumerate()
            .map(|(k, &bits)| register(bits, &format!("d{k}")))
            .collect();
        let mut operands = vec![results.join("|")];
        operands.extend(names.iter().take(line.registers.len()).map(|name| {
            if line.negated && name.starts_with("%p") { format!("!{name}") } else { name.clone() }
        }));
        operands.extend(line.literal.map(|n| n.to_string()));
        let _ = writeln!(body, "{} {};", line.mnemonic, operands.join(", "));
        for (name, bits) in results.iter().zip(&line.results) {
            let at = 8 * n * slot;
            let _ = match bits {
                1 => writeln!(body, "selp.u32 %rx, 1, 0, {name};\nst.global.u32 [%out+{at}], %rx;"),
                _ => writeln!(body, "st.global.b{bits} [%out+{at}], {name};"),
            };
            slot += 1;
        }
    }
    let parity =
        if sparse { "and.b32 %rx, %r0, 1;\nsetp.ne.u32 %pa0, %rx, 0;\n@%pa0 exit;\n" } else { "" };
    let registers = |class: &str, ty: &str| {
        format!(
            ".reg .{ty} %{class}x, %{class}a0, %{class}a1, %{class}a2, %{class}a3, %{class}d0, %{class}d1;\n"
        )
    };
    format!(
        "//! grid = {}\n//! block = {BLOCK}\n.visible .entry form(.param .u64 in, .param .u64 out)\n{{\n{}{}{}{}\
         .reg .u32 %r0, %r1, %r2;\n.reg .u64 %in, %out;\n\
         mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r0, %r1, {BLOCK}, %r0;\n\
         setp.ge.u32 %pa0, %r0, {n};\n@%pa0 exit;\n{parity}\
         ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n\
         mad.wide.u32 %in, %r0, 8, %in;\nmad.wide.u32 %out, %r0, 8, %out;\n{body}exit;\n}}\n",
        n.div_ceil(BLOCK),
        registers("p", "pred"),
        registers("h", "b16"),
        registers("r", "b32"),
        registers("l", "b64"),
    )
}
