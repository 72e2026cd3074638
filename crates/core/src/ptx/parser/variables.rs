//! Parser of variable, parameter and register declarations (PTX ISA 5.4).

use super::{Parsed, Parser};
use crate::diag::{Diagnostic, Span, closest};
use crate::ptx::lexer::TokenKind;
use crate::ptx::tree::{Init, Name, Operand, PointerAttributes, Registers, Variable};

/// Names of the PTX types. The checker decides which ones are supported.
const TYPES: [&str; 28] = [
    "pred",
    "b8",
    "b16",
    "b32",
    "b64",
    "b128",
    "u8",
    "u16",
    "u32",
    "u64",
    "s8",
    "s16",
    "s32",
    "s64",
    "f16",
    "f16x2",
    "bf16",
    "bf16x2",
    "tf32",
    "f32",
    "f64",
    "e4m3",
    "e5m2",
    "u16x2",
    "s16x2",
    "texref",
    "samplerref",
    "surfref",
];

/// Attributes that can appear between a state space and a name.
const ATTRIBUTES: [&str; 5] = ["align", "v2", "v4", "ptr", "attribute"];

/// Specifiers between the state space and the name.
struct Specifiers {
    align: Option<u32>,
    vector: u32,
    ty: Name,
    pointer: Option<PointerAttributes>,
}

impl Parser<'_> {
    /// Parses `.visible .extern ..`, possibly empty.
    pub(super) fn linkage(&mut self) -> Vec<Name> {
        let mut words = Vec::new();
        while matches!(self.directive(), "visible" | "extern" | "weak" | "common") {
            words.push(self.bump_directive());
        }
        words
    }

    /// Parses `.shared .align 4 .b32 a[4], b;`; returns one variable for each name.
    pub(super) fn variables(&mut self, linkage: Vec<Name>, start: Span) -> Parsed<Vec<Variable>> {
        let spaces = ["global", "const", "shared", "local", "param"];
        if self.kind() != TokenKind::Directive {
            let expected = "`.entry`, `.func` or a state space such as `.global`";
            return Err(self.unexpected("missing-space", expected));
        }
        if !spaces.contains(&self.directive()) {
            let known = spaces.into_iter().chain(["entry", "func"]);
            self.unknown_directive(known, "here: expected state space");
            return Err(super::Reported);
        }
        let space = self.bump_directive();
        let specifiers = self.specifiers()?;
        let mut variables = Vec::new();
        loop {
            variables.push(self.declarator(linkage.clone(), space.clone(), &specifiers, start)?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.end_statement()?;
        Ok(variables)
    }

    /// Parses `(.param .u64 a, .param .u32 n)`.
    ///
    /// Stops after the `)` or where a body can start.
    pub(super) fn parameters(&mut self) -> Vec<Variable> {
        let open = self.bump().span;
        let mut params = Vec::new();
        if self.eat(TokenKind::CloseParen) {
            return params;
        }
        loop {
            let param = self.parameter();
            let faulty = param.is_err();
            params.extend(param);
            if faulty {
                self.skip_parameter();
            } else if !self.ends_parameter() {
                self.unexpected("unexpected-token", "`,` or `)` after parameter");
                self.skip_parameter();
            }
            match self.kind() {
                TokenKind::CloseParen => {
                    self.bump();
                    return params;
                }
                TokenKind::Comma => {
                    self.bump();
                }
                TokenKind::Directive if matches!(self.directive(), "param" | "reg") => {
                    if faulty {
                        continue;
                    }
                    let error = Diagnostic::error(
                        "missing-comma",
                        self.gap(),
                        "expected `,` between parameters",
                    );
                    self.report(error.label("missing here"));
                }
                _ => {
                    if !faulty {
                        let message = "expected `)` after parameters";
                        let error = Diagnostic::error("unclosed-parenthesis", self.gap(), message);
                        self.report(error.label("missing here").also(open, "opened here"));
                    }
                    return params;
                }
            }
        }
    }

    /// Returns true if a parameter can end before the next token.
    fn ends_parameter(&self) -> bool {
        use TokenKind::*;
        match self.kind() {
            Comma | CloseParen | OpenBrace | Semicolon | End => true,
            Directive => {
                self.peek().after_newline
                    || self.starts_item()
                    || matches!(self.directive(), "param" | "reg")
            }
            _ => false,
        }
    }

    fn skip_parameter(&mut self) {
        while !self.ends_parameter() {
            self.bump();
        }
    }

    fn parameter(&mut self) -> Parsed<Variable> {
        let start = self.peek().span;
        if self.kind() != TokenKind::Directive {
            return Err(self.unexpected_help(
                "bad-parameter",
                "parameter",
                Some("write a parameter as `.param .u32 n`"),
            ));
        }
        if !matches!(self.directive(), "param" | "reg") {
            self.unknown_directive(["param", "reg"], "at the start of a parameter");
            self.bump();
            return Err(super::Reported);
        }
        let space = self.bump_directive();
        let specifiers = self.specifiers()?;
        let Specifiers { align, vector, ty, pointer } = specifiers;
        let name = self.identifier("parameter name")?;
        let dims = self.dimensions()?;
        let span = self.since(start);
        Ok(Variable {
            space,
            linkage: Vec::new(),
            align,
            vector,
            ty,
            name,
            dims,
            init: None,
            pointer,
            span,
        })
    }

    /// Parses `.reg .b32 %r<10>, %x;`.
    pub(super) fn registers(&mut self) -> Parsed<Registers> {
        let start = self.bump().span;
        let Specifiers { vector, ty, .. } = self.specifiers()?;
        let mut names = Vec::new();
        loop {
            let name = self.identifier("register name")?;
            let count = if self.eat(TokenKind::Less) {
                let count = self.small_int("number of registers")?;
                if !self.eat(TokenKind::Greater) {
                    return Err(
                        self.unexpected("unexpected-token", "`>` after number of registers")
                    );
                }
                Some(count)
            } else {
                None
            };
            names.push((name, count));
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.end_statement()?;
        Ok(Registers { vector, ty, names, span: self.since(start) })
    }

    /// Parses alignment, vector, type and `.ptr`, in any order.
    ///
    /// A missing or unknown type is reported and replaced by the closest one, so that the name is
    /// declared and its uses are not reported as well.
    fn specifiers(&mut self) -> Parsed<Specifiers> {
        let (mut align, mut vector, mut pointer) = (None, 1, None);
        let (mut ty, mut stand_in): (Option<Name>, Option<Name>) = (None, None);
        while self.kind() == TokenKind::Directive {
            match self.directive() {
                "align" => align = Some(self.alignment()?),
                "v2" => vector = self.vector(2),
                "v4" => vector = self.vector(4),
                "ptr" => pointer = Some(self.pointer()?),
                "attribute" => self.attribute()?,
                word if TYPES.contains(&word) => {
                    let name = self.bump_directive();
                    if let Some(first) = &ty {
                        let error = Diagnostic::error(
                            "second-type",
                            name.span,
                            "declaration with two types",
                        );
                        let error = error.label("second type").also(first.span, "first type");
                        self.report(error);
                    } else {
                        ty = Some(name);
                    }
                }
                // The name is missing and the next declaration follows.
                "param" | "reg" | "global" | "const" | "shared" | "local" => break,
                _ if self.starts_item() => break,
                _ => {
                    let guess = self.unknown_specifier(ty.is_none());
                    stand_in = stand_in.or(guess);
                }
            }
        }
        let ty = match ty.or(stand_in) {
            Some(ty) => ty,
            None if self.kind() == TokenKind::Bad => return Err(super::Reported),
            None => {
                let gap = self.gap();
                let error = Diagnostic::error("missing-type", gap, "missing type in declaration");
                self.report(
                    error.label("missing here").help("write a type before the name, e.g. `.u32`"),
                );
                Name { text: "b32".to_owned(), span: gap }
            }
        };
        Ok(Specifiers { align, vector, ty, pointer })
    }

    /// Reports a directive that is neither a type nor an attribute.
    ///
    /// Returns the type that replaces it, unless it resembles an attribute.
    fn unknown_specifier(&mut self, type_wanted: bool) -> Option<Name> {
        let word = self.directive();
        let types = if type_wanted { &TYPES[..] } else { &[] };
        let ty = closest(word, types.iter().copied());
        let attribute = if ty.is_none() { closest(word, ATTRIBUTES) } else { None };
        let message = format!("unknown type or attribute `.{word}`");
        let error = Diagnostic::error("unknown-type", self.peek().span, message);
        let error = match ty.or(attribute) {
            Some(meant) => error.help(format!("did you mean `.{meant}`?")),
            None => error.help("use a type such as `.u32`, `.s64`, `.b8`, `.f32` or `.pred`"),
        };
        self.report(error);
        let mut name = self.bump_directive();
        name.text = ty.unwrap_or("b32").to_owned();
        // `.aling 4`: the number belongs to the unknown word.
        if matches!(self.kind(), TokenKind::Int { .. }) {
            self.bump();
        }
        attribute.is_none().then_some(name)
    }

    fn vector(&mut self, elements: u32) -> u32 {
        self.bump();
        elements
    }

    fn alignment(&mut self) -> Parsed<u32> {
        self.bump();
        let span = self.peek().span;
        let align = self.small_int("alignment")?;
        if !align.is_power_of_two() {
            let message = format!("alignment {align} is not a power of two");
            let up = align.checked_next_power_of_two().unwrap_or(1 << 31);
            let help = format!("use {up}, the next power of two");
            self.report(Diagnostic::error("bad-alignment", span, message).help(help));
            return Ok(up);
        }
        Ok(align)
    }

    /// Parses `.ptr [.SPACE] [.align N]`.
    fn pointer(&mut self) -> Parsed<PointerAttributes> {
        self.bump();
        let space = matches!(self.directive(), "global" | "const" | "shared" | "local" | "param")
            .then(|| self.bump_directive());
        let align = if self.directive() == "align" { Some(self.alignment()?) } else { None };
        Ok(PointerAttributes { space, align })
    }

    /// Parses `.attribute(..)`, such as `.managed`, and warns that it has no effect.
    pub(super) fn attribute(&mut self) -> Parsed<()> {
        let start = self.bump().span;
        if self.kind() != TokenKind::OpenParen {
            return Err(self.unexpected("unexpected-token", "`(` after `.attribute`"));
        }
        let open = self.peek().span;
        let mut depth = 0usize;
        loop {
            match self.kind() {
                TokenKind::OpenParen => depth += 1,
                TokenKind::CloseParen => depth -= 1,
                TokenKind::Semicolon
                | TokenKind::OpenBrace
                | TokenKind::CloseBrace
                | TokenKind::End => {
                    return self.close_paren(open);
                }
                _ => {}
            }
            self.bump();
            if depth == 0 {
                break;
            }
        }
        let span = self.since(start);
        self.report(Diagnostic::warning("ignored-attribute", span, "`.attribute` has no effect"));
        Ok(())
    }

    fn declarator(
        &mut self,
        linkage: Vec<Name>,
        space: Name,
        from: &Specifiers,
        start: Span,
    ) -> Parsed<Variable> {
        let name = self.identifier("variable name")?;
        let dims = self.dimensions()?;
        let init = if self.eat(TokenKind::Assign) { Some(self.initialiser()?) } else { None };
        let Specifiers { align, vector, ty, pointer } = from;
        let (ty, pointer) = (ty.clone(), pointer.clone());
        let span = self.since(start);
        Ok(Variable {
            space,
            linkage,
            align: *align,
            vector: *vector,
            ty,
            name,
            dims,
            init,
            pointer,
            span,
        })
    }

    /// Parses array dimensions after a name, such as `[4][]`.
    fn dimensions(&mut self) -> Parsed<Vec<Option<u64>>> {
        let mut dims = Vec::new();
        while self.kind() == TokenKind::OpenBracket {
            let open = self.bump().span;
            if self.eat(TokenKind::CloseBracket) {
                dims.push(None);
                continue;
            }
            let start = self.peek().span;
            let (size, unsigned) = self.integer_expression()?;
            let span = self.since(start);
            if size < 0 && !unsigned {
                let message = format!("negative array size {size}");
                self.report(Diagnostic::error("bad-dimension", span, message));
            }
            dims.push(Some(size as u64));
            if !self.eat(TokenKind::CloseBracket) {
                return Err(self.unclosed("unclosed-bracket", "`]`", open));
            }
        }
        Ok(dims)
    }

    fn initialiser(&mut self) -> Parsed<Init> {
        match self.kind() {
            TokenKind::OpenBrace => {
                self.lists += 1;
                let list = self.nested(Self::initialiser_list)?;
                self.lists -= 1;
                Ok(Init::List(list))
            }
            TokenKind::Word
                if self.word() == "generic" && self.ahead(1).kind == TokenKind::OpenParen =>
            {
                self.bump();
                self.generic()
            }
            _ => Ok(Init::Value(self.operand(false)?)),
        }
    }

    /// Parses `(symbol)` after `generic`, with an optional offset.
    fn generic(&mut self) -> Parsed<Init> {
        let open = self.bump().span;
        let start = self.peek().span;
        let name = self.identifier("variable name")?;
        self.close_paren(open)?;
        if !matches!(self.kind(), TokenKind::Plus | TokenKind::Minus) {
            return Ok(Init::Generic(Operand::Name(name)));
        }
        let offset = self.offset()?;
        Ok(Init::Generic(Operand::Symbol { name, offset, span: self.since(start) }))
    }

    fn initialiser_list(&mut self) -> Parsed<Vec<Init>> {
        let open = self.bump().span;
        let mut list = Vec::new();
        if self.eat(TokenKind::CloseBrace) {
            return Ok(list);
        }
        loop {
            list.push(self.initialiser()?);
            if self.eat(TokenKind::CloseBrace) {
                return Ok(list);
            }
            if !self.eat(TokenKind::Comma) {
                return Err(self.unclosed("unclosed-list", "`,` or `}`", open));
            }
        }
    }
}
