//! Number literals (PTX ISA 4.5.1 and 4.5.2).
//!
//! A malformed literal is consumed whole, reported, and replaced by 0.

use super::{Lexer, TokenKind, follows};
use crate::diag::{Diagnostic, Span};

impl Lexer<'_> {
    /// Reads a literal that starts with a digit.
    pub(super) fn number(&mut self) {
        let start = self.at;
        if let Some(bits) = self.exact_float(start) {
            return self.push(bits, start);
        }
        let hexadecimal = self.peek(0) == b'0' && matches!(self.peek(1), b'x' | b'X');
        let mut float = false;
        while follows(self.peek(0)) {
            self.at += 1;
        }
        if !hexadecimal {
            if self.peek(0) == b'.' && (self.peek(1).is_ascii_digit() || !follows(self.peek(1))) {
                float = true;
                self.at += 1;
                while follows(self.peek(0)) {
                    self.at += 1;
                }
            }
            // `1e-5`: the sign belongs to the literal.
            let exponent = matches!(self.bytes.get(self.at - 1), Some(b'e' | b'E'));
            if exponent && matches!(self.peek(0), b'+' | b'-') && self.peek(1).is_ascii_digit() {
                self.at += 1;
                while follows(self.peek(0)) {
                    self.at += 1;
                }
            }
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        let binary = text.starts_with("0b") || text.starts_with("0B");
        float |= !hexadecimal && !binary && text.contains(['e', 'E']);
        let read = if float { decimal_float(text) } else { integer(text) };
        let kind = read.unwrap_or_else(|(message, help)| {
            let span = Span::new(start, self.at);
            self.report(Diagnostic::error("bad-number", span, message).help(help));
            TokenKind::Int { value: 0, unsigned: false }
        });
        self.push(kind, start);
    }

    /// Reads `0f` and eight, or `0d` and sixteen hexadecimal digits.
    fn exact_float(&mut self, start: usize) -> Option<TokenKind> {
        let digits = match (self.peek(0), self.peek(1)) {
            (b'0', b'f' | b'F') => 8,
            (b'0', b'd' | b'D') => 16,
            _ => return None,
        };
        self.at += 2;
        while follows(self.peek(0)) {
            self.at += 1;
        }
        let text = self.text.get(start + 2..self.at).unwrap_or_default();
        let bits = u64::from_str_radix(text, 16).ok().filter(|_| text.len() == digits);
        let bits = bits.unwrap_or_else(|| {
            let kind = if digits == 8 { "single" } else { "double" };
            let written = self.text.get(start..start + 2).unwrap_or_default();
            let message = format!(
                "invalid {kind}-precision literal: expected {digits} hexadecimal digits after \
                 `{written}`"
            );
            let example = if digits == 8 { "0f3F800000" } else { "0d3FF0000000000000" };
            let span = Span::new(start, self.at);
            let help = format!("write 1.0 as `{example}`");
            self.report(Diagnostic::error("bad-number", span, message).help(help));
            0
        });
        // Eight digits fit in 32 bits; a wrong count was replaced by 0.
        Some(if digits == 8 { TokenKind::Single(bits as u32) } else { TokenKind::Double(bits) })
    }
}

type Read = Result<TokenKind, (String, String)>;

fn decimal_float(text: &str) -> Read {
    // Rust's float grammar is that of PTX, except for names (`inf`, `nan`), which have no digits.
    match text.parse::<f64>() {
        Ok(value) => Ok(TokenKind::Double(value.to_bits())),
        Err(_) => Err((
            format!("invalid number `{text}`"),
            "write a decimal such as `1.5` or `2.5e-3`, or the exact bits such as `0f3F800000`"
                .into(),
        )),
    }
}

fn integer(text: &str) -> Read {
    let (body, unsigned) = match text.strip_suffix('U') {
        Some(body) => (body, true),
        None => (text, false),
    };
    let (digits, radix, kind) = match body.as_bytes() {
        [b'0', b'x' | b'X', ..] => (body.get(2..).unwrap_or_default(), 16, "hexadecimal"),
        [b'0', b'b' | b'B', ..] => (body.get(2..).unwrap_or_default(), 2, "binary"),
        [b'0', _, ..] => (body.get(1..).unwrap_or_default(), 8, "octal"),
        _ => (body, 10, "decimal"),
    };
    let valid = |c: char| c.is_digit(radix);
    if let Some(odd) = digits.find(|c| !valid(c)) {
        let rest = digits.get(odd..).unwrap_or_default();
        let help = match rest {
            "u" => "write the unsigned suffix as a capital `U`".to_owned(),
            _ if radix == 8 => "remove the leading 0, which makes the number octal".to_owned(),
            _ => "remove it; the only integer suffix is `U` (unsigned)".to_owned(),
        };
        return Err((format!("unexpected `{rest}` in {kind} number `{text}`"), help));
    }
    if digits.is_empty() {
        return Err((
            format!("no digits in `{text}`"),
            format!("write {kind} digits after the prefix"),
        ));
    }
    match u64::from_str_radix(digits, radix) {
        Ok(value) => Ok(TokenKind::Int { value, unsigned: unsigned || value > i64::MAX as u64 }),
        Err(_) => Err((
            format!("`{text}` does not fit in 64 bits"),
            "use at most 0xffffffffffffffff".into(),
        )),
    }
}
