//! Declarations of variables, parameters and registers (PTX ISA 5.4).

use super::{Parsed, Parser};
use crate::diag::{Diagnostic, Span, closest};
use crate::ptx::lexer::TokenKind;
use crate::ptx::tree::{Init, Name, Operand, PointerAttributes, Registers, Variable};

/// The types of PTX, as words. What can be done with them is for the checker.
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

/// Words that can stand between a space and a name beside the type.
const ATTRIBUTES: [&str; 5] = ["align", "v2", "v4", "ptr", "attribute"];

/// What stands between the state space and the name.
struct Specifiers {
    align: Option<u32>,
    vector: u32,
    ty: Name,
    pointer: Option<PointerAttributes>,
}

impl Parser<'_> {
    /// `.visible .extern ..`, possibly nothing.
    pub(super) fn linkage(&mut self) -> Vec<Name> {
        let mut words = Vec::new();
        while matches!(self.directive(), "visible" | "extern" | "weak" | "common") {
            words.push(self.bump_directive());
        }
        words
    }

    /// `.shared .align 4 .b32 a[4], b;` from the state space on: one variable for each name.
    pub(super) fn variables(&mut self, linkage: Vec<Name>, start: Span) -> Parsed<Vec<Variable>> {
        let spaces = ["global", "const", "shared", "local", "param"];
        if self.kind() != TokenKind::Directive {
            return Err(self.unexpected("missing-space", "a state space like `.global`, or `.entry` or `.func`"));
        }
        if !spaces.contains(&self.directive()) {
            self.unknown_directive(spaces.into_iter().chain(["entry", "func"]), "here: a state space is needed");
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

    /// `(.param .u64 a, .param .u32 n)`: always ends behind the `)`, or where a body can start.
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
                self.unexpected("unexpected-token", "`,` or `)` after a parameter");
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
                    let error = Diagnostic::error("missing-comma", self.gap(), "expected `,` between parameters");
                    self.report(error.label("missing here"));
                }
                _ => {
                    if !faulty {
                        let message = "expected `)` after the parameters";
                        let error = Diagnostic::error("unclosed-parenthesis", self.gap(), message);
                        self.report(error.label("missing here").also(open, "opened here"));
                    }
                    return params;
                }
            }
        }
    }

    /// Whether a parameter can end before the next token.
    fn ends_parameter(&self) -> bool {
        use TokenKind::*;
        match self.kind() {
            Comma | CloseParen | OpenBrace | Semicolon | End => true,
            Directive => self.peek().after_newline || self.starts_item() || matches!(self.directive(), "param" | "reg"),
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
                "a parameter",
                Some("a parameter is written like `.param .u32 n`"),
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
        let name = self.identifier("a parameter's name")?;
        let dims = self.dimensions()?;
        let span = self.since(start);
        Ok(Variable { space, linkage: Vec::new(), align, vector, ty, name, dims, init: None, pointer, span })
    }

    /// `.reg .b32 %r<10>, %x;`
    pub(super) fn registers(&mut self) -> Parsed<Registers> {
        let start = self.bump().span;
        let Specifiers { vector, ty, .. } = self.specifiers()?;
        let mut names = Vec::new();
        loop {
            let name = self.identifier("a register's name")?;
            let count = if self.eat(TokenKind::Less) {
                let count = self.small_int("a number of registers")?;
                if !self.eat(TokenKind::Greater) {
                    return Err(self.unexpected("unexpected-token", "`>` after the number of registers"));
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

    /// Alignment, vector, type, `.ptr`, in any order. A missing or unknown type is reported and stands as the closest
    /// one, so that the name is declared and its uses are not reported too.
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
                        let error = Diagnostic::error("second-type", name.span, "a declaration has one type");
                        let error = error.label("second type").also(first.span, "first type");
                        self.report(error);
                    } else {
                        ty = Some(name);
                    }
                }
                // The name is missing, and this is the next declaration.
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
                let error = Diagnostic::error("missing-type", gap, "this declaration has no type");
                self.report(error.label("type missing here").help("write a type before the name, e.g. `.u32`"));
                Name { text: "b32".to_owned(), span: gap }
            }
        };
        Ok(Specifiers { align, vector, ty, pointer })
    }

    /// Reports a directive that is neither type nor attribute. Gives the type that stands for it, unless it resembles an
    /// attribute.
    fn unknown_specifier(&mut self, type_wanted: bool) -> Option<Name> {
        let word = self.directive();
        let types = if type_wanted { &TYPES[..] } else { &[] };
        let ty = closest(word, types.iter().copied());
        let attribute = if ty.is_none() { closest(word, ATTRIBUTES) } else { None };
        let message = format!("`.{word}` is neither a type nor an attribute of a declaration");
        let error = Diagnostic::error("unknown-type", self.peek().span, message);
        let error = match ty.or(attribute) {
            Some(meant) => error.help(format!("did you mean `.{meant}`?")),
            None => error.help("types are like `.u32`, `.s64`, `.b8`, `.f32`, `.pred`"),
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
        let align = self.small_int("an alignment")?;
        if !align.is_power_of_two() {
            let message = format!("an alignment must be a power of two, and {align} is none");
            let up = align.checked_next_power_of_two().unwrap_or(1 << 31);
            self.report(Diagnostic::error("bad-alignment", span, message).help(format!("the next one is {up}")));
            return Ok(up);
        }
        Ok(align)
    }

    /// `.ptr [.SPACE] [.align N]`
    fn pointer(&mut self) -> Parsed<PointerAttributes> {
        self.bump();
        let space = matches!(self.directive(), "global" | "const" | "shared" | "local" | "param")
            .then(|| self.bump_directive());
        let align = if self.directive() == "align" { Some(self.alignment()?) } else { None };
        Ok(PointerAttributes { space, align })
    }

    /// `.attribute(.managed)` and its kin say where a variable lives on the host; a simulation has no use for them.
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
                TokenKind::Semicolon | TokenKind::OpenBrace | TokenKind::CloseBrace | TokenKind::End => {
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
        self.report(Diagnostic::warning("ignored-attribute", span, "`.attribute` is read and ignored"));
        Ok(())
    }

    fn declarator(&mut self, linkage: Vec<Name>, space: Name, from: &Specifiers, start: Span) -> Parsed<Variable> {
        let name = self.identifier("a variable's name")?;
        let dims = self.dimensions()?;
        let init = if self.eat(TokenKind::Assign) { Some(self.initialiser()?) } else { None };
        let Specifiers { align, vector, ty, pointer } = from;
        let (ty, pointer) = (ty.clone(), pointer.clone());
        let span = self.since(start);
        Ok(Variable { space, linkage, align: *align, vector: *vector, ty, name, dims, init, pointer, span })
    }

    /// `[4][]` behind a name.
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
                self.report(Diagnostic::error("bad-dimension", span, format!("an array cannot have {size} elements")));
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
            TokenKind::Word if self.word() == "generic" && self.ahead(1).kind == TokenKind::OpenParen => {
                self.bump();
                self.generic()
            }
            _ => Ok(Init::Value(self.operand(false)?)),
        }
    }

    /// `(symbol)` behind `generic`, perhaps with an offset.
    fn generic(&mut self) -> Parsed<Init> {
        let open = self.bump().span;
        let start = self.peek().span;
        let name = self.identifier("a variable's name")?;
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
