//! Constant expressions, folded while reading (PTX ISA 4.5.4 to 4.5.6).
//!
//! Integers are 64 bits wide, signed or unsigned by the rules of 4.5.5, and wrap. (Where the text of 4.5.5 and its table
//! disagree, on `&`, `|` and `^`, the text is followed: the usual conversions.) Doubles follow IEEE 754 binary64.
//! `0f` literals keep their 32 bits and cannot be computed with. Names are not constants; `symbol+offset` is an operand
//! form of its own. `WARP_SZ` is 32, as on every GPU so far.

use super::{Parsed, Parser};
use crate::diag::{Diagnostic, Span};
use crate::ptx::lexer::TokenKind;

/// The value of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// Two's complement in 64 bits, and whether its type is `.u64`.
    Int(i64, bool),
    /// `.f64`
    Double(f64),
    /// A `0f` literal by its bits.
    Single(u32),
}

/// How tightly a binary operator binds: C's order.
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

/// The level of `*`, `/` and `%`: one term of a sum.
const MULTIPLICATIVE: u8 = 10;

impl Parser<'_> {
    /// A whole constant expression.
    pub(super) fn expression(&mut self) -> Parsed<Value> {
        self.nested(|p| {
            let start = p.peek().span;
            let condition = p.binary(1)?;
            if !p.eat(TokenKind::Question) {
                return Ok(condition);
            }
            let condition = p.integer(condition, p.since(start))?;
            let yes = p.expression()?;
            p.expect(TokenKind::Colon, "unexpected-token", "`:`", "between the two results of `?`")?;
            let no = p.expression()?;
            // The usual arithmetic conversions: both sides give one type.
            Ok(match (yes, no) {
                (Value::Int(a, u), Value::Int(b, v)) => Value::Int(if condition.0 != 0 { a } else { b }, u || v),
                _ if condition.0 != 0 => yes,
                _ => no,
            })
        })
    }

    /// A constant expression that must be an integer: its value, and whether it is unsigned.
    pub(super) fn integer_expression(&mut self) -> Parsed<(i64, bool)> {
        let start = self.peek().span;
        let value = self.expression()?;
        self.integer(value, self.since(start))
    }

    /// One term of a sum, as behind the `+` of an address.
    pub(super) fn term(&mut self) -> Parsed<i64> {
        let start = self.peek().span;
        let value = self.binary(MULTIPLICATIVE)?;
        Ok(self.integer(value, self.since(start))?.0)
    }

    fn integer(&mut self, value: Value, span: Span) -> Parsed<(i64, bool)> {
        match value {
            Value::Int(bits, unsigned) => Ok((bits, unsigned)),
            Value::Double(_) | Value::Single(_) => {
                Err(self.report(Diagnostic::error("not-an-integer", span, "an integer is needed here")))
            }
        }
    }

    /// Operators that bind at least as tightly as `least`, by precedence climbing.
    fn binary(&mut self, least: u8) -> Parsed<Value> {
        let start = self.peek().span;
        let mut left = self.unary()?;
        while let Some(level) = precedence(self.kind()).filter(|&level| level >= least) {
            let operator = self.bump();
            let right_start = self.peek().span;
            let right = self.nested(|p| p.binary(level + 1))?;
            let span = self.since(start);
            left = match (left, right) {
                (Value::Int(a, u), Value::Int(b, v)) => match integers(operator.kind, (a, u), (b, v)) {
                    Some((bits, unsigned)) => Value::Int(bits, unsigned),
                    None => {
                        let error = Diagnostic::error("division-by-zero", span, "this expression divides by zero");
                        return Err(self.report(error.also(self.since(right_start), "this is 0")));
                    }
                },
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
        let message = format!("`{}` cannot combine these values", self.slice(operator));
        self.report(Diagnostic::error("bad-expression", whole, message).help(
            "both sides must be integers or both doubles; bit operators need integers, and `0f` literals stand alone",
        ))
    }

    fn unary(&mut self) -> Parsed<Value> {
        let start = self.peek().span;
        let operator = self.kind();
        if !matches!(operator, TokenKind::Plus | TokenKind::Minus | TokenKind::Not | TokenKind::Tilde) {
            return self.primary();
        }
        self.bump();
        let operand = self.nested(Self::unary)?;
        match (operator, operand) {
            (TokenKind::Plus, Value::Int(..) | Value::Double(_)) => Ok(operand),
            (TokenKind::Minus, Value::Int(a, unsigned)) => Ok(Value::Int(a.wrapping_neg(), unsigned)),
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
                let error = Diagnostic::error("not-a-constant", token.span, format!("`{name}` is not a constant"));
                let help = match name.starts_with('%') {
                    true => "expressions are folded while reading: compute with registers by an instruction".to_owned(),
                    false => format!("expressions are folded while reading; an address is written `{name}+offset`"),
                };
                return Err(self.report(error.help(help)));
            }
            TokenKind::OpenParen => return self.parenthesised(),
            _ => return Err(self.unexpected("missing-operand", "an operand")),
        };
        self.bump();
        Ok(value)
    }

    /// `(a)`, or a cast: `(.s64) a`, `(.u64) a`.
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

    /// Takes the `)` that belongs to `open`.
    pub(super) fn close_paren(&mut self, open: Span) -> Parsed<()> {
        if self.eat(TokenKind::CloseParen) {
            return Ok(());
        }
        Err(self.unclosed("unclosed-parenthesis", "`)`", open))
    }
}

/// `a operator b` by table 5 of the manual; `None` for a division by zero.
fn integers(operator: TokenKind, (a, a_unsigned): (i64, bool), (b, b_unsigned): (i64, bool)) -> Option<(i64, bool)> {
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
        // The operands count as unsigned, the result as signed.
        Percent => (ua.checked_rem(ub)? as i64, false),
        // Amounts past the width shift everything out, as the instructions do.
        ShiftLeft => (u32::try_from(ub).ok().and_then(|n| a.checked_shl(n)).unwrap_or(0), a_unsigned),
        ShiftRight if a_unsigned => (u32::try_from(ub).ok().and_then(|n| ua.checked_shr(n)).unwrap_or(0) as i64, true),
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
        // Only binary operators come here: the last one is `||`.
        _ => truth(a != 0 || b != 0),
    })
}

/// `a operator b`; `None` for operators that need integers. Division by zero is IEEE's infinity or NaN.
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
