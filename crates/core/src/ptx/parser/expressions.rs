//! Constant expressions, evaluated during parsing (PTX ISA 4.5.4 to 4.5.6).
//!
//! Integers have 64 bits, are signed or unsigned by the rules of 4.5.5, and wrap. For `&`, `|` and
//! `^`, the text of 4.5.5 contradicts its table; the parser follows the text (the usual
//! conversions). Doubles are IEEE 754 binary64. `0f` literals keep their 32 bits and allow no
//! operator. Names are not constants; `symbol+offset` is a separate operand form. `WARP_SZ` is 32,
//! as on every GPU so far.

use super::{Parsed, Parser};
use crate::diag::{Diagnostic, Span};
use crate::ptx::lexer::TokenKind;

/// Value of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// 64-bit two's complement value; true if its type is `.u64`.
    Int(i64, bool),
    /// `.f64`
    Double(f64),
    /// A `0f` literal by its bits.
    Single(u32),
}

/// Returns the precedence of a binary operator, as in C.
fn precedence(operator: TokenKind) -> Option<u8> {
    use TokenKind::*;
    Some(match operator {
        Star | Slash | Percent => MULTIPLICATIVE,
        Plus | Minus => 9,
        ShiftLeft | ShiftRight => 8,
        Less | Greater | LessEqual | GreaterEqual => 7,
        Equal | NotEqual => 6,
        And => 5,
        Caret => 4,
        Or => 3,
        AndAnd => 2,
        OrOr => 1,
        _ => return None,
    })
}

/// Precedence of `*`, `/` and `%`, which form one term of a sum.
const MULTIPLICATIVE: u8 = 10;

impl Parser<'_> {
    /// Parses a constant expression.
    pub(super) fn expression(&mut self) -> Parsed<Value> {
        self.nested(|p| {
            let start = p.peek().span;
            let condition = p.binary(1)?;
            if !p.eat(TokenKind::Question) {
                return Ok(condition);
            }
            let condition = p.integer(condition, p.since(start))?;
            let yes = p.expression()?;
            p.expect(
                TokenKind::Colon,
                "unexpected-token",
                "`:`",
                "between the two results of `?`",
            )?;
            let no = p.expression()?;
            // The usual arithmetic conversions give both sides one type.
            Ok(match (yes, no) {
                (Value::Int(a, u), Value::Int(b, v)) => {
                    Value::Int(if condition.0 != 0 { a } else { b }, u || v)
                }
                _ if condition.0 != 0 => yes,
                _ => no,
            })
        })
    }

    /// Parses an integer constant expression.
    ///
    /// Returns its value, and true if it is unsigned.
    pub(super) fn integer_expression(&mut self) -> Parsed<(i64, bool)> {
        let start = self.peek().span;
        let value = self.expression()?;
        self.integer(value, self.since(start))
    }

    /// Parses one term of a sum, as after the `+` of an address.
    pub(super) fn term(&mut self) -> Parsed<i64> {
        let start = self.peek().span;
        let value = self.binary(MULTIPLICATIVE)?;
        Ok(self.integer(value, self.since(start))?.0)
    }

    fn integer(&mut self, value: Value, span: Span) -> Parsed<(i64, bool)> {
        match value {
            Value::Int(bits, unsigned) => Ok((bits, unsigned)),
            Value::Double(_) | Value::Single(_) => Err(self.report(Diagnostic::error(
                "not-an-integer",
                span,
                "expected integer, found float",
            ))),
        }
    }

    /// Parses operators of at least precedence `least`, by precedence climbing.
    fn binary(&mut self, least: u8) -> Parsed<Value> {
        let start = self.peek().span;
        let mut left = self.unary()?;
        while let Some(level) = precedence(self.kind()).filter(|&level| level >= least) {
            let operator = self.bump();
            let right_start = self.peek().span;
            let right = self.nested(|p| p.binary(level + 1))?;
            let span = self.since(start);
            left = match (left, right) {
                (Value::Int(a, u), Value::Int(b, v)) => {
                    match integers(operator.kind, (a, u), (b, v)) {
                        Some((bits, unsigned)) => Value::Int(bits, unsigned),
                        None => {
                            let error =
                                Diagnostic::error("division-by-zero", span, "division by zero");
                            return Err(
                                self.report(error.also(self.since(right_start), "this is 0"))
                            );
                        }
                    }
                }
                (Value::Double(a), Value::Double(b)) => match doubles(operator.kind, a, b) {
                    Some(value) => value,
                    None => return Err(self.cannot_compute(operator.span, span)),
                },
                _ => return Err(self.cannot_compute(operator.span, span)),
            };
        }
        Ok(left)
    }

    fn cannot_compute(&mut self, operator: Span, whole: Span) -> super::Reported {
        let message = format!("invalid operands of `{}`", self.slice(operator));
        self.report(Diagnostic::error("bad-expression", whole, message).help(
            "use two integers, or two doubles and an arithmetic operator; `0f` literals allow none",
        ))
    }

    fn unary(&mut self) -> Parsed<Value> {
        let start = self.peek().span;
        let operator = self.kind();
        if !matches!(
            operator,
            TokenKind::Plus | TokenKind::Minus | TokenKind::Not | TokenKind::Tilde
        ) {
            return self.primary();
        }
        self.bump();
        let operand = self.nested(Self::unary)?;
        match (operator, operand) {
            (TokenKind::Plus, Value::Int(..) | Value::Double(_)) => Ok(operand),
            (TokenKind::Minus, Value::Int(a, unsigned)) => {
                Ok(Value::Int(a.wrapping_neg(), unsigned))
            }
            (TokenKind::Minus, Value::Double(a)) => Ok(Value::Double(-a)),
            (TokenKind::Not, Value::Int(a, _)) => Ok(Value::Int(i64::from(a == 0), false)),
            (TokenKind::Tilde, Value::Int(a, _)) => Ok(Value::Int(!a, true)),
            _ => Err(self.cannot_compute(start, self.since(start))),
        }
    }

    fn primary(&mut self) -> Parsed<Value> {
        let token = self.peek();
        let value = match token.kind {
            TokenKind::Int { value, unsigned } => Value::Int(value as i64, unsigned),
            TokenKind::Double(bits) => Value::Double(f64::from_bits(bits)),
            TokenKind::Single(bits) => Value::Single(bits),
            TokenKind::Word if self.word() == "WARP_SZ" => Value::Int(32, false),
            TokenKind::Word => {
                let name = self.word();
                let error = Diagnostic::error(
                    "not-a-constant",
                    token.span,
                    format!("`{name}` is not a constant"),
                );
                let help = match name.starts_with('%') {
                    true => "compute with registers in a separate instruction".to_owned(),
                    false => format!("use a number, or write an address as `{name}+offset`"),
                };
                return Err(self.report(error.help(help)));
            }
            TokenKind::OpenParen => return self.parenthesised(),
            _ => return Err(self.unexpected("missing-operand", "operand")),
        };
        self.bump();
        Ok(value)
    }

    /// Parses `(a)`, or a cast: `(.s64) a`, `(.u64) a`.
    fn parenthesised(&mut self) -> Parsed<Value> {
        let open = self.bump().span;
        let cast = match self.directive() {
            "s64" => Some(false),
            "u64" => Some(true),
            _ => None,
        };
        if let Some(unsigned) = cast {
            self.bump();
            self.close_paren(open)?;
            let start = self.peek().span;
            let value = self.nested(Self::unary)?;
            let (bits, _) = self.integer(value, self.since(start))?;
            return Ok(Value::Int(bits, unsigned));
        }
        let value = self.expression()?;
        self.close_paren(open)?;
        Ok(value)
    }

    /// Consumes the `)` that closes `open`.
    pub(super) fn close_paren(&mut self, open: Span) -> Parsed<()> {
        if self.eat(TokenKind::CloseParen) {
            return Ok(());
        }
        Err(self.unclosed("unclosed-parenthesis", "`)`", open))
    }
}

/// Evaluates `a operator b` by table 5 of the PTX ISA.
///
/// `None` for a division by zero.
fn integers(
    operator: TokenKind,
    (a, a_unsigned): (i64, bool),
    (b, b_unsigned): (i64, bool),
) -> Option<(i64, bool)> {
    use TokenKind::*;
    let unsigned = a_unsigned || b_unsigned;
    let (ua, ub) = (a as u64, b as u64);
    let truth = |value: bool| (i64::from(value), false);
    let ordering = if unsigned { ua.cmp(&ub) } else { a.cmp(&b) };
    Some(match operator {
        Plus => (a.wrapping_add(b), unsigned),
        Minus => (a.wrapping_sub(b), unsigned),
        Star => (a.wrapping_mul(b), unsigned),
        Slash if b == 0 => return None,
        Slash if unsigned => ((ua / ub) as i64, true),
        Slash => (a.wrapping_div(b), false),
        // The operands are unsigned, the result is signed.
        Percent => (ua.checked_rem(ub)? as i64, false),
        // Amounts larger than the width shift everything out, as the instructions do.
        ShiftLeft => {
            (u32::try_from(ub).ok().and_then(|n| a.checked_shl(n)).unwrap_or(0), a_unsigned)
        }
        ShiftRight if a_unsigned => {
            (u32::try_from(ub).ok().and_then(|n| ua.checked_shr(n)).unwrap_or(0) as i64, true)
        }
        ShiftRight => (a >> ub.min(63), false),
        Less => truth(ordering.is_lt()),
        Greater => truth(ordering.is_gt()),
        LessEqual => truth(ordering.is_le()),
        GreaterEqual => truth(ordering.is_ge()),
        Equal => truth(a == b),
        NotEqual => truth(a != b),
        And => (a & b, unsigned),
        Or => (a | b, unsigned),
        Caret => (a ^ b, unsigned),
        AndAnd => truth(a != 0 && b != 0),
        // The only binary operator left is `||`.
        _ => truth(a != 0 || b != 0),
    })
}

/// Evaluates `a operator b`; `None` for operators that need integers.
///
/// Division by zero gives infinity or NaN, as in IEEE 754.
fn doubles(operator: TokenKind, a: f64, b: f64) -> Option<Value> {
    use TokenKind::*;
    let truth = |value: bool| Value::Int(i64::from(value), false);
    Some(match operator {
        Plus => Value::Double(a + b),
        Minus => Value::Double(a - b),
        Star => Value::Double(a * b),
        Slash => Value::Double(a / b),
        Less => truth(a < b),
        Greater => truth(a > b),
        LessEqual => truth(a <= b),
        GreaterEqual => truth(a >= b),
        Equal => truth(a == b),
        NotEqual => truth(a != b),
        _ => return None,
    })
}
