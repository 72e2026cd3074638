//! Operators and functions of the directive language.
//!
//! Integers are checked and never wrap: a result outside -2^63 ..= 2^64 - 1 is a diagnostic. An
//! operation on a float gives a float; bit operators and `%` take integers only.

use super::element::Value;
use super::expression::{Binary, Unary};
use crate::diag::{Diagnostic, Span};

/// Functions of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Min,
    Max,
    CeilDiv,
    Abs,
    Popcount,
    Sqrt,
    Exp,
    Log,
    Pow,
}

pub(super) fn truth(value: Value) -> bool {
    match value {
        Value::Int(v) => v != 0,
        Value::Float(v) => v != 0.0,
    }
}

pub(super) fn flag(holds: bool) -> Value {
    Value::Int(i128::from(holds))
}

/// Returns an integer result in range, or the overflow error.
fn int(value: Option<i128>, span: Span) -> Result<Value, Diagnostic> {
    match value {
        Some(v) if (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&v) => Ok(Value::Int(v)),
        _ => Err(Diagnostic::error("overflow", span, "result does not fit in 64 bits")),
    }
}

pub(super) fn unary(operator: Unary, operand: Value, span: Span) -> Result<Value, Diagnostic> {
    match (operator, operand) {
        (Unary::Minus, Value::Int(v)) => int(v.checked_neg(), span),
        (Unary::Minus, Value::Float(v)) => Ok(Value::Float(-v)),
        (Unary::Complement, Value::Int(v)) => int(Some(!v), span),
        (Unary::Complement, Value::Float(_)) => Err(integers_only("`~`", span)),
        (Unary::Not, v) => Ok(flag(!truth(v))),
    }
}

fn integers_only(operator: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        "type-mismatch",
        span,
        format!("expected integers for {operator}, found a floating-point value"),
    )
}

/// Compares two values; `None` if one is a NaN.
pub(super) fn order(left: Value, right: Value) -> Option<std::cmp::Ordering> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(&b)),
        (a, b) => a.as_float().partial_cmp(&b.as_float()),
    }
}

pub(super) fn binary(
    operator: Binary,
    left: Value,
    right: Value,
    span: Span,
) -> Result<Value, Diagnostic> {
    let compared = order(left, right);
    match operator {
        Binary::Eq => return Ok(flag(compared.is_some_and(std::cmp::Ordering::is_eq))),
        Binary::Ne => return Ok(flag(!compared.is_some_and(std::cmp::Ordering::is_eq))),
        Binary::Lt => return Ok(flag(compared.is_some_and(std::cmp::Ordering::is_lt))),
        Binary::Le => return Ok(flag(compared.is_some_and(std::cmp::Ordering::is_le))),
        Binary::Gt => return Ok(flag(compared.is_some_and(std::cmp::Ordering::is_gt))),
        Binary::Ge => return Ok(flag(compared.is_some_and(std::cmp::Ordering::is_ge))),
        _ => {}
    }
    let (Value::Int(a), Value::Int(b)) = (left, right) else {
        let (a, b) = (left.as_float(), right.as_float());
        return match operator {
            Binary::Add => Ok(Value::Float(a + b)),
            Binary::Sub => Ok(Value::Float(a - b)),
            Binary::Mul => Ok(Value::Float(a * b)),
            Binary::Div => Ok(Value::Float(a / b)),
            Binary::Rem => Err(integers_only("`%`", span)),
            _ => Err(integers_only("bit operators", span)),
        };
    };
    match operator {
        Binary::Add => int(a.checked_add(b), span),
        Binary::Sub => int(a.checked_sub(b), span),
        Binary::Mul => int(a.checked_mul(b), span),
        Binary::Div | Binary::Rem if b == 0 => Err(divided_by_zero(span)),
        Binary::Div => int(a.checked_div(b), span),
        Binary::Rem => int(a.checked_rem(b), span),
        Binary::Shl | Binary::Shr => match u32::try_from(b) {
            // Operands are below 2^64 in size, so a shift by 63 cannot overflow an i128.
            Ok(amount @ 0..=63) => {
                int(Some(if operator == Binary::Shl { a << amount } else { a >> amount }), span)
            }
            _ => {
                let message = format!("expected a shift amount from 0 to 63, found {b}");
                Err(Diagnostic::error("out-of-range", span, message))
            }
        },
        Binary::BitAnd => int(Some(a & b), span),
        Binary::BitOr => int(Some(a | b), span),
        Binary::BitXor => int(Some(a ^ b), span),
        _ => Ok(Value::Int(0)), // comparisons returned above; `eval` handles `&&` and `||`
    }
}

fn divided_by_zero(span: Span) -> Diagnostic {
    Diagnostic::error("division-by-zero", span, "division by zero")
}

pub(super) fn call(function: Function, values: &[Value], span: Span) -> Result<Value, Diagnostic> {
    let pick = |smaller: bool| {
        let better = |a: Value, b: Value| {
            if order(b, a).is_some_and(|o| if smaller { o.is_lt() } else { o.is_gt() }) {
                b
            } else {
                a
            }
        };
        values.iter().copied().reduce(better).unwrap_or(Value::Int(0))
    };
    match (function, values) {
        (Function::Min, _) => Ok(pick(true)),
        (Function::Max, _) => Ok(pick(false)),
        (Function::CeilDiv, [Value::Int(_), Value::Int(0)]) => Err(divided_by_zero(span)),
        (Function::CeilDiv, [Value::Int(a), Value::Int(b)]) => {
            let up = i128::from(a.rem_euclid(*b) != 0 && *b > 0);
            int(a.checked_div_euclid(*b).and_then(|q| q.checked_add(up)), span)
        }
        (Function::Abs, [Value::Int(v)]) => int(v.checked_abs(), span),
        (Function::Abs, [Value::Float(v)]) => Ok(Value::Float(v.abs())),
        (Function::Popcount, [Value::Int(v)]) => {
            Ok(Value::Int(i128::from((*v as u64).count_ones())))
        }
        (Function::Sqrt, [x]) => Ok(Value::Float(x.as_float().sqrt())),
        (Function::Exp, [x]) => Ok(Value::Float(x.as_float().exp())),
        (Function::Log, [x]) => Ok(Value::Float(x.as_float().ln())),
        // The power of two integers is exact, as their product is.
        (Function::Pow, [Value::Int(x), Value::Int(y)]) if *y >= 0 => int(power(*x, *y), span),
        (Function::Pow, [x, y]) => Ok(Value::Float(x.as_float().powf(y.as_float()))),
        _ => Err(integers_only("this function", span)),
    }
}

/// Returns an integer to a power that is not negative, if it fits.
fn power(x: i128, y: i128) -> Option<i128> {
    match x {
        0 | 1 => Some(if y == 0 { 1 } else { x }),
        -1 => Some(if y % 2 == 0 { 1 } else { -1 }),
        _ => x.checked_pow(u32::try_from(y).ok()?),
    }
}
