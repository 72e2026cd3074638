//! Comparisons, selections and predicate logic (PTX ISA, "Comparison and Selection Instructions").

use std::cmp::Ordering;

use simt_core::isa::{FormMatch, OperandKind, Type};

use super::elementwise::Oracle;
use super::exact::{Format, Number};
use super::expected::Expected;
use super::float::Modes;
use super::integer::value;

/// Compares two values of a type; `None` if one is NaN. Floats of up to 64 bits compare as doubles.
fn order(modes: Modes, a: u64, b: u64) -> Option<Ordering> {
    match modes.ty {
        Type::F32 => {
            let float = |bits| f64::from(f32::from_bits(modes.flush(bits) as u32));
            float(a).partial_cmp(&float(b))
        }
        Type::F64 => f64::from_bits(a).partial_cmp(&f64::from_bits(b)),
        ty if ty.is_float() => {
            let half = |bits| modes.format.double(modes.flush(bits));
            half(a).partial_cmp(&half(b))
        }
        ty => Some(value(ty, a).cmp(&value(ty, b))),
    }
}

/// Returns true if the comparison `word` accepts the outcome.
fn accepts(word: &str, outcome: Option<Ordering>) -> bool {
    use Ordering::{Equal, Greater, Less};
    let numbers: &[Ordering] = match word.trim_end_matches('u') {
        "eq" => &[Equal],
        "ne" => &[Less, Greater],
        "lt" | "lo" => &[Less],
        "le" | "ls" => &[Less, Equal],
        "gt" | "hi" => &[Greater],
        "ge" | "hs" => &[Greater, Equal],
        "n" | "num" => &[Less, Equal, Greater],
        _ => &[],
    };
    match outcome {
        Some(outcome) => numbers.contains(&outcome),
        None => word == "nan" || word.len() == 3 && word.ends_with('u'),
    }
}

/// Returns the oracle of `setp`, `set`, `selp`, `slct` and predicate logic.
pub(crate) fn oracle(m: &FormMatch<'_>) -> Option<Oracle> {
    fn predicate(f: impl Fn(bool, bool) -> bool + 'static) -> Option<Oracle> {
        let truth = |x: &[u64], i: usize| x.get(i) == Some(&1);
        Some(Box::new(move |x| vec![Expected::truth(f(truth(x, 0), truth(x, 1)))]))
    }
    match m.form.opcode.as_str() {
        "setp" | "set" => Some(comparison(m)),
        "selp" => Some(Box::new(|x| vec![Expected::Bits(if x[2] == 1 { x[0] } else { x[1] })])),
        "testp" => {
            let (kind, format) =
                (m.words[0].unwrap_or_default().to_string(), Modes::of(m, m.ty()).format);
            Some(Box::new(move |x| {
                let (number, subnormal) = (format.decode(x[0]), format.is_subnormal(x[0]));
                vec![Expected::truth(match kind.as_str() {
                    "finite" => matches!(number, Number::Finite(_)),
                    "infinite" => matches!(number, Number::Infinite(_)),
                    "number" => number != Number::Nan,
                    "notanumber" => number == Number::Nan,
                    "normal" => matches!(number, Number::Finite(_)) && !subnormal,
                    _ => subnormal,
                })]
            }))
        }
        "slct" => {
            let modes = Modes::of(m, m.second_type());
            Some(Box::new(move |x| {
                // -0 is not less than zero, and `.ftz` turns a small negative number into -0.
                let chosen = order(modes, x[2], 0).is_some_and(Ordering::is_ge);
                vec![Expected::Bits(if chosen { x[0] } else { x[1] })]
            }))
        }
        _ if m.ty() != Type::Pred => None,
        "and" => predicate(|a, b| a && b),
        "or" => predicate(|a, b| a || b),
        "xor" => predicate(|a, b| a != b),
        "not" => predicate(|a, _| !a),
        "mov" => predicate(|a, _| a),
        _ => None,
    }
}

fn comparison(m: &FormMatch<'_>) -> Oracle {
    let word = m.words[0].expect("the comparison stands first").to_string();
    let combine = m.pick(&[("and", 0), ("or", 1), ("xor", 2)]);
    let to_predicates = matches!(m.form.operands[0].kind, OperandKind::PredicatePair);
    let (result, modes) =
        (m.ty(), Modes::of(m, if to_predicates { m.ty() } else { m.second_type() }));
    Box::new(move |x| {
        let holds = accepts(&word, order(modes, x[0], x[1]));
        let combined = |comparison: bool| match combine {
            Some(0) => comparison && x[2] == 1,
            Some(1) => comparison || x[2] == 1,
            Some(_) => comparison != (x[2] == 1),
            None => comparison,
        };
        if to_predicates {
            return vec![Expected::truth(combined(holds)), Expected::truth(combined(!holds))];
        }
        let yes = if result.is_float() {
            Format::of(result).one()
        } else {
            u64::MAX >> (64 - result.bits())
        };
        vec![Expected::Bits(if combined(holds) { yes } else { 0 })]
    })
}
