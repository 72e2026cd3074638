//! Operand syntax (PTX ISA, chapter 6), without types.

use super::{Parsed, Parser};
use crate::diag::{Diagnostic, Span};
use crate::ptx::lexer::TokenKind;
use crate::ptx::parser::expressions::Value;
use crate::ptx::tree::{Name, Operand};

impl Parser<'_> {
    /// Parses an operand.
    ///
    /// Parentheses enclose argument lists in a `call`, expressions elsewhere.
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
            TokenKind::Not
                if self.ahead(1).kind == TokenKind::Word
                    && self.slice(self.ahead(1).span) != "WARP_SZ" =>
            {
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

    /// Parses a name and its suffix: `p|q`, `sym+4`.
    fn named(&mut self) -> Parsed<Operand> {
        let token = self.bump();
        let name = self.name_of(token);
        match self.kind() {
            TokenKind::Or => {
                self.bump();
                if self.kind() != TokenKind::Word {
                    return Err(self.unexpected("missing-operand", "register after `|`"));
                }
                let second = self.bump();
                Ok(Operand::Pair(name, self.name_of(second), self.since(token.span)))
            }
            TokenKind::Plus | TokenKind::Minus => {
                let offset = self.offset()?;
                Ok(Operand::Symbol { name, offset, span: self.since(token.span) })
            }
            TokenKind::OpenBracket if !self.peek().after_newline && !self.is_indexed_by_name() => {
                self.bump();
                let (index, _) = self.integer_expression()?;
                if self.kind() != TokenKind::CloseBracket {
                    return Err(self.unclosed("unclosed-bracket", "`]`", token.span));
                }
                self.bump();
                Ok(Operand::Element { name, index, span: self.since(token.span) })
            }
            TokenKind::OpenBracket if !self.peek().after_newline => {
                let message = format!("`{}[..]` is not supported", name.text);
                let error = Diagnostic::error("unsupported-operand", self.peek().span, message);
                Err(self.report(
                    error.help(format!("use an address with a byte offset: `[{}+4]`", name.text)),
                ))
            }
            _ => Ok(Operand::Name(name)),
        }
    }

    /// Returns true if a name, not a number, comes after the next bracket.
    fn is_indexed_by_name(&self) -> bool {
        let next = self.ahead(1);
        next.kind == TokenKind::Word && self.slice(next.span) != "WARP_SZ"
    }

    /// Parses `+ a - b ..` after a register or symbol and returns the sum; 0 if absent.
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

    /// Parses `[base]`, `[base+offset]` or `[number]`.
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
            return Err(self.unexpected("missing-operand", "register, symbol or number"));
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

    /// Parses `, {%r1, %r2}]` after the base of `[base, {%r1, %r2}]`.
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
        let message = format!("expected constant offset, found `{}`", self.slice(second));
        self.report(
            Diagnostic::error("bad-address", second, message)
                .also(base.span, "base of the address")
                .help("add the two with a separate instruction, and use the sum as the address"),
        )
    }

    /// Parses operands up to and including the closing mark.
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

/// Returns the part before the first comma of `[base+offset, ..]` as an operand.
fn first_coordinate(base: Option<Name>, offset: i64, span: Span) -> Operand {
    match base {
        Some(name) if offset == 0 => Operand::Name(name),
        Some(name) => Operand::Symbol { name, offset, span },
        None => Operand::Int { value: offset, unsigned: false, span },
    }
}

/// Converts a constant value to an operand.
pub(super) fn literal(value: Value, span: Span) -> Operand {
    match value {
        Value::Int(value, unsigned) => Operand::Int { value, unsigned, span },
        Value::Double(value) => Operand::Double { bits: value.to_bits(), span },
        Value::Single(bits) => Operand::Single { bits, span },
    }
}
