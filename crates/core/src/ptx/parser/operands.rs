//! Operands (PTX ISA, chapter 6): their shapes, not their types.

use super::{Parsed, Parser};
use crate::diag::{Diagnostic, Span};
use crate::ptx::lexer::TokenKind;
use crate::ptx::parser::expressions::Value;
use crate::ptx::tree::{Name, Operand};

impl Parser<'_> {
    /// One operand. In a `call`, parentheses hold argument lists; elsewhere they belong to expressions.
    pub(super) fn operand(&mut self, in_call: bool) -> Parsed<Operand> {
        let start = self.peek().span;
        match self.kind() {
            TokenKind::Word if self.word() != "WARP_SZ" => self.named(),
            TokenKind::OpenBracket => self.address(),
            TokenKind::OpenBrace => {
                self.lists += 1;
                self.bump();
                let inner = self.nested(|p| p.operand_list(TokenKind::CloseBrace, in_call))?;
                self.lists -= 1;
                Ok(Operand::Vector(inner, self.since(start)))
            }
            TokenKind::OpenParen if in_call => {
                self.bump();
                let inner = self.nested(|p| p.operand_list(TokenKind::CloseParen, in_call))?;
                Ok(Operand::List(inner, self.since(start)))
            }
            TokenKind::Not if self.ahead(1).kind == TokenKind::Word && self.slice(self.ahead(1).span) != "WARP_SZ" => {
                self.bump();
                let name = self.bump();
                Ok(Operand::Not(self.name_of(name), self.since(start)))
            }
            _ => {
                let value = self.expression()?;
                Ok(literal(value, self.since(start)))
            }
        }
    }

    /// A name, and what may hang on it: `p|q`, `sym+4`.
    fn named(&mut self) -> Parsed<Operand> {
        let token = self.bump();
        let name = self.name_of(token);
        match self.kind() {
            TokenKind::Or => {
                self.bump();
                if self.kind() != TokenKind::Word {
                    return Err(self.unexpected("missing-operand", "a register behind `|`"));
                }
                let second = self.bump();
                Ok(Operand::Pair(name, self.name_of(second), self.since(token.span)))
            }
            TokenKind::Plus | TokenKind::Minus => {
                let offset = self.offset()?;
                Ok(Operand::Symbol { name, offset, span: self.since(token.span) })
            }
            TokenKind::OpenBracket if !self.peek().after_newline => {
                let message = format!("`{}[..]` is not supported", name.text);
                let error = Diagnostic::error("unsupported-operand", self.peek().span, message);
                Err(self.report(error.help(format!("write the address with its byte offset: `[{}+4]`", name.text))))
            }
            _ => Ok(Operand::Name(name)),
        }
    }

    /// `+ a - b ..` behind a register or symbol, summed; 0 when there is none.
    pub(super) fn offset(&mut self) -> Parsed<i64> {
        let mut sum = 0i64;
        loop {
            let minus = match self.kind() {
                TokenKind::Plus => false,
                TokenKind::Minus => true,
                _ => return Ok(sum),
            };
            self.bump();
            let term = self.term()?;
            sum = if minus { sum.wrapping_sub(term) } else { sum.wrapping_add(term) };
        }
    }

    /// `[base]`, `[base+offset]`, `[number]`
    fn address(&mut self) -> Parsed<Operand> {
        let open = self.bump().span;
        let (base, offset) = if self.kind() == TokenKind::Word && self.word() != "WARP_SZ" {
            let token = self.bump();
            let base = self.name_of(token);
            if matches!(self.kind(), TokenKind::Plus | TokenKind::Minus) {
                let next = self.ahead(1);
                if next.kind == TokenKind::Word && self.slice(next.span) != "WARP_SZ" {
                    return Err(self.two_bases(&base, next.span));
                }
            }
            let offset = self.offset()?;
            (Some(base), offset)
        } else if self.kind() == TokenKind::CloseBracket {
            return Err(self.unexpected("missing-operand", "an address: a register, symbol or number"));
        } else {
            (None, self.integer_expression()?.0)
        };
        match self.kind() {
            TokenKind::CloseBracket => {
                self.bump();
                Ok(Operand::Address { base, offset, span: self.since(open) })
            }
            TokenKind::Comma => {
                let address = first_coordinate(base, offset, self.since(open));
                self.coordinates(address, open)
            }
            _ => Err(self.unclosed("unclosed-bracket", "`]`", open)),
        }
    }

    /// `, {%r1, %r2}]` after the base of `[base, {%r1, %r2}]`.
    fn coordinates(&mut self, base: Operand, open: Span) -> Parsed<Operand> {
        let mut list = vec![base];
        while self.eat(TokenKind::Comma) {
            list.push(self.operand(false)?);
        }
        match self.kind() {
            TokenKind::CloseBracket => {
                self.bump();
                Ok(Operand::Coordinates(list, self.since(open)))
            }
            _ => Err(self.unclosed("unclosed-bracket", "`,` or `]`", open)),
        }
    }

    fn two_bases(&mut self, base: &Name, second: Span) -> super::Reported {
        let message = format!("an address has one register or symbol, and `{}` is the second", self.slice(second));
        self.report(
            Diagnostic::error("bad-address", second, message)
                .also(base.span, "the first one")
                .help("add the two with an instruction before, and use the sum"),
        )
    }

    /// Operands up to the closing mark, which is taken.
    fn operand_list(&mut self, close: TokenKind, in_call: bool) -> Parsed<Vec<Operand>> {
        let open = self.previous();
        let mut list = Vec::new();
        if self.eat(close) {
            return Ok(list);
        }
        loop {
            list.push(self.operand(in_call)?);
            if self.eat(close) {
                return Ok(list);
            }
            if self.kind() != TokenKind::Comma {
                let (code, expected) = match close {
                    TokenKind::CloseParen => ("unclosed-parenthesis", "`,` or `)`"),
                    _ => ("unclosed-vector", "`,` or `}`"),
                };
                return Err(self.unclosed(code, expected, open));
            }
            self.bump();
        }
    }
}

/// What stands before the first comma in `[base+offset, ..]`.
fn first_coordinate(base: Option<Name>, offset: i64, span: Span) -> Operand {
    match base {
        Some(name) if offset == 0 => Operand::Name(name),
        Some(name) => Operand::Symbol { name, offset, span },
        None => Operand::Int { value: offset, unsigned: false, span },
    }
}

/// A folded value as an operand.
pub(super) fn literal(value: Value, span: Span) -> Operand {
    match value {
        Value::Int(value, unsigned) => Operand::Int { value, unsigned, span },
        Value::Double(value) => Operand::Double { bits: value.to_bits(), span },
        Value::Single(bits) => Operand::Single { bits, span },
    }
}
