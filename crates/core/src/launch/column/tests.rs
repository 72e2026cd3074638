//! Columns against the evaluation of one index after another, of drawn formulas.

use proptest::prelude::*;
use proptest::sample::select;

use super::super::Buffer;
use super::super::expression::Parser;
use super::super::term::{Initial, Scope, Side, bind};
use super::super::token::tokenize;
use super::*;
use crate::base::mix;
use crate::diag::Span;
use crate::isa::Type;

/// Elements of each buffer.
const COUNT: u64 = 200;
const TYPES: [Type; 7] =
    [Type::U32, Type::S32, Type::F32, Type::S8, Type::U64, Type::F64, Type::F16];

/// Buffers of small and large elements, named by their types.
fn buffers() -> Vec<Buffer> {
    let buffer = |element: Type| {
        let bytes = COUNT * u64::from(element.bytes());
        let word = |i| {
            let drawn = mix(i);
            drawn as u32 >> (drawn >> 59)
        };
        Buffer {
            name: element.name().to_owned(),
            address: 0,
            bytes,
            reach: bytes,
            element,
            words: (0..bytes.div_ceil(4)).map(word).collect(),
            lent: None,
            unset: None,
            mapped: true,
            writable: true,
        }
    };
    TYPES.map(buffer).into()
}

/// Formulas of the index `i` and elements of [`buffers`].
fn formulas() -> impl Strategy<Value = String> {
    let known = ["i", "i", "0", "1", "3", "63", "70", "1.5", "0.0", "9223372036854775807"];
    let leaves = select(known.to_vec()).prop_map(str::to_owned);
    leaves.prop_recursive(4, 24, 3, |inner| {
        let signs = [
            "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=",
            "&&", "||",
        ];
        let binary = (inner.clone(), select(signs.to_vec()), inner.clone());
        let unary = (select(vec!["-", "~", "!"]), inner.clone());
        let element = (select(TYPES.to_vec()), select(vec!["i", "i * 3 % 50", "i - 7"]));
        let functions = ["abs", "popcount", "sqrt", "exp", "log", "min", "max"];
        let one = (select(functions.to_vec()), inner.clone());
        let two = (select(vec!["min", "max", "ceil_div", "pow"]), inner.clone(), inner.clone());
        prop_oneof![
            4 => binary.prop_map(|(a, sign, b)| format!("({a} {sign} {b})")),
            1 => unary.prop_map(|(sign, a)| format!("{sign}({a})")),
            3 => element.prop_map(|(ty, at)| format!("{}[{at}]", ty.name())),
            1 => one.prop_map(|(f, a)| format!("{f}({a})")),
            1 => two.prop_map(|(f, a, b)| format!("{f}({a}, {b})")),
            1 => inner.clone().prop_map(|a| format!("sum(u32[0..i & 63]) + {a}")),
            1 => (inner.clone(), inner.clone(), inner)
                .prop_map(|(c, a, b)| format!("({c} ? {a} : {b})")),
        ]
    })
}

/// Returns a formula's values, and those of one index after another, up to the first error; and
/// whether a column had some of them. `None` if it has no meaning.
fn values(formula: &str, indices: Range<i128>) -> Option<([Vec<String>; 2], bool)> {
    let buffers = buffers();
    let scope =
        Scope { constants: &[], buffers: &buffers, variable: Some("i"), side: Side::Before };
    let lexemes = tokenize(formula, 0, &mut Vec::new());
    let expression = Parser::new(&lexemes, Span::default()).expression().expect("a formula");
    let term = bind(&expression, &scope).ok()?;
    let memory = Initial(&buffers);
    let mut windows = Windows::default();
    let alone = indices.clone().map(|i| eval_next(&term, &memory, i, &mut windows));
    // Bits, so that NaNs are equal.
    let shown = |value: Result<Value, Diagnostic>| match value {
        Ok(Value::Int(v)) => Ok(v.to_string()),
        Ok(Value::Float(v)) => Ok(format!("{v} {:#x}", v.to_bits())),
        Err(problem) => Err(format!("{} {}", problem.code, problem.message)),
    };
    fn until_error(values: impl Iterator<Item = Result<String, String>>) -> Vec<String> {
        let mut all = Vec::new();
        for value in values {
            let failed = value.is_err();
            all.push(value.unwrap_or_else(|error| error));
            if failed {
                break;
            }
        }
        all
    }
    let alone = until_error(alone.map(shown));
    let any = column(&term, &memory, indices.start, MOST_DEPTH).is_some();
    Some(([until_error(Values::new(&term, &memory, indices).map(shown)), alone], any))
}

proptest! {
    #[test]
    fn columns_have_the_values_of_single_indices(formula in formulas(), first in 0i128..30) {
        if let Some(([columns, alone], _)) = values(&formula, first..first + 160) {
            prop_assert_eq!(columns, alone, "{}", formula);
        }
    }
}

#[test]
fn usual_formulas_have_columns() {
    for formula in [
        "i",
        "s32[i] * 2 + 1",
        "(i & 1) == 0 ? s32[i] + u32[i] : s32[i] - u32[i]",
        "2.5 * f32[i] + f64[i]",
        "sqrt(abs(f16[i] - 1)) < 3 && s8[i] % 3 != 0",
        "min(u32[i], s32[i], 7) >> 2",
        "max(f32[i], f64[i])",
    ] {
        let ([columns, alone], any) = values(formula, 0..COUNT.into()).expect("a formula");
        assert_eq!(columns, alone, "{formula}");
        assert!(any && columns.len() == COUNT as usize, "{formula}");
    }
}

#[test]
fn what_is_not_simple_has_no_column() {
    for formula in ["i + 9223372036854775807", "10 / i", "s32[i - 1]", "sum(u32[0..i])", "1 << i"] {
        let ([columns, alone], any) = values(formula, 0..COUNT.into()).expect("a formula");
        assert_eq!(columns, alone, "{formula}");
        assert!(!any, "{formula}");
    }
    let deep = "-(".repeat(30) + "i" + &")".repeat(30);
    assert!(!values(&deep, 0..9).expect("a formula").1);
}
