//! Function bodies: scopes, labels, instructions, and the directives among them (PTX ISA 4.3, 11.5).

use super::{MOST_NESTED, Parsed, Parser};
use crate::diag::{Diagnostic, Span};
use crate::ptx::lexer::TokenKind;
use crate::ptx::tree::{Guard, Instruction, Name, Operand, Prototype, Statement, TargetKind, Targets};

/// Directives that a label must stand before.
const LABELLED: [&str; 3] = ["branchtargets", "calltargets", "callprototype"];

impl Parser<'_> {
    /// The statements of a scope whose `{` is next, and the `}`.
    pub(super) fn scope(&mut self) -> Vec<Statement> {
        let open = self.bump().span;
        self.open.push(open);
        let mut statements = Vec::new();
        loop {
            if self.eat(TokenKind::CloseBrace) {
                self.open.pop();
                return statements;
            }
            if self.at_end() || self.starts_item() {
                self.unclosed_braces();
                return statements;
            }
            let before = self.at;
            self.lists = 0;
            if self.statement(&mut statements).is_err() {
                self.skip_statement(before);
                // Whatever stopped here without being taken would stop here for ever.
                if self.at == before && self.kind() != TokenKind::CloseBrace {
                    self.bump();
                }
            }
        }
    }

    fn statement(&mut self, out: &mut Vec<Statement>) -> Parsed<()> {
        let start = self.peek().span;
        match self.kind() {
            // An empty statement is harmless.
            TokenKind::Semicolon => {
                self.bump();
            }
            TokenKind::OpenBrace => {
                if self.open.len() >= MOST_NESTED as usize {
                    let message = format!("scopes nested more than {MOST_NESTED} levels deep");
                    self.report(Diagnostic::error("nesting-too-deep", start, message));
                    self.skip_braces();
                    return Ok(());
                }
                let inner = self.scope();
                out.push(Statement::Block(inner, self.since(start)));
            }
            TokenKind::Word if self.ahead(1).kind == TokenKind::Colon => {
                let name = self.identifier("a label")?;
                self.bump();
                out.push(match self.directive() {
                    "branchtargets" => self.targets(TargetKind::Branch, name, start)?,
                    "calltargets" => self.targets(TargetKind::Call, name, start)?,
                    "callprototype" => self.prototype(name, start)?,
                    _ => Statement::Label(name),
                });
            }
            TokenKind::Word => out.push(Statement::Instruction(self.instruction(None, start)?)),
            TokenKind::At => {
                let guard = self.guard()?;
                if self.kind() == TokenKind::OpenBrace {
                    let error =
                        Diagnostic::error("guarded-scope", self.peek().span, "a guard cannot stand before a scope");
                    self.report(
                        error
                            .also(guard.predicate.span, "the guard")
                            .help("branch around the scope: `@!%p bra after;`"),
                    );
                    return Ok(());
                }
                out.push(Statement::Instruction(self.instruction(Some(guard), start)?));
            }
            TokenKind::Directive => self.body_directive(out)?,
            _ => return Err(self.unexpected("expected-statement", "an instruction, a label or a declaration")),
        }
        Ok(())
    }

    /// `.branchtargets a, b;` or `.calltargets f, g;` behind its label.
    fn targets(&mut self, kind: TargetKind, label: Name, start: Span) -> Parsed<Statement> {
        self.bump();
        let mut names = Vec::new();
        loop {
            names.push(self.identifier("a target")?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.end_statement()?;
        Ok(Statement::Targets(Targets { label, kind, names, span: self.since(start) }))
    }

    /// `.callprototype (returns) _ (params) .noreturn;` behind its label.
    fn prototype(&mut self, label: Name, start: Span) -> Parsed<Statement> {
        self.bump();
        let returns = if self.kind() == TokenKind::OpenParen { self.parameters() } else { Vec::new() };
        self.identifier("`_`")?;
        let params = if self.kind() == TokenKind::OpenParen { self.parameters() } else { Vec::new() };
        let performance = self.performance();
        self.end_statement()?;
        Ok(Statement::Prototype(Prototype { label, returns, params, performance, span: self.since(start) }))
    }

    fn instruction(&mut self, guard: Option<Guard>, start: Span) -> Parsed<Instruction> {
        if self.kind() != TokenKind::Word {
            return Err(self.unexpected("expected-statement", "an instruction behind the guard"));
        }
        let token = self.bump();
        let mnemonic = self.name_of(token);
        if mnemonic.text.starts_with('%') || self.kind() == TokenKind::Assign {
            let message = format!("an instruction starts with its name, and `{}` is none", mnemonic.text);
            let error = Diagnostic::error("expected-statement", mnemonic.span, message);
            return Err(self.report(error.help("write the instruction first, e.g. `add.u32 %r1, %r2, 1;`")));
        }
        let mut operands = self.operands(&mnemonic)?;
        operands.shrink_to_fit();
        Ok(Instruction { guard, mnemonic, operands, span: self.since(start) })
    }

    fn guard(&mut self) -> Parsed<Guard> {
        self.bump();
        let negated = self.eat(TokenKind::Not);
        if self.kind() == TokenKind::Word && super::recovery::looks_like_mnemonic(self.word()) {
            return Err(self.unexpected("missing-name", "a predicate register"));
        }
        let predicate = self.identifier("a predicate register")?;
        Ok(Guard { negated, predicate })
    }

    /// The operands of an instruction and its `;`.
    fn operands(&mut self, mnemonic: &Name) -> Parsed<Vec<Operand>> {
        let in_call = mnemonic.text.split('.').next() == Some("call");
        let mut operands = Vec::new();
        if self.eat(TokenKind::Semicolon) {
            return Ok(operands);
        }
        let missing = self.peek().after_newline && !self.operand_on_next_line(&mnemonic.text);
        if missing || self.kind() == TokenKind::CloseBrace {
            self.end_statement()?;
            return Ok(operands);
        }
        loop {
            operands.push(self.operand(in_call)?);
            if self.eat(TokenKind::Comma) {
                // A dotted word with a `,` or `;` behind it may be an operand on a line of its own (`v.x`).
                let ends = matches!(self.ahead(1).kind, TokenKind::Comma | TokenKind::Semicolon);
                let operand = ends && self.kind() == TokenKind::Word && self.word().contains('.');
                if self.peek().after_newline && self.starts_statement() && !operand {
                    let error = Diagnostic::error("missing-operand", self.gap(), "expected an operand after `,`");
                    self.report(error.label("missing here"));
                    return Ok(operands);
                }
                continue;
            }
            if !self.missing_comma() {
                self.end_statement()?;
                return Ok(operands);
            }
        }
    }

    /// Whether another operand follows on the same line with no comma between; reports it.
    fn missing_comma(&mut self) -> bool {
        use TokenKind::*;
        let next = self.peek();
        let operand = match next.kind {
            Int { .. } | Double(_) | Single(_) | OpenBracket | OpenBrace => true,
            Word => self.ahead(1).kind != Colon && !super::recovery::looks_like_mnemonic(self.word()),
            _ => false,
        };
        if !operand || next.after_newline {
            return false;
        }
        let message = format!("expected `,` before {}", self.describe(next));
        let error = Diagnostic::error("missing-comma", self.gap(), message);
        self.report(error.label("missing here").help("separate operands with commas"));
        true
    }

    fn body_directive(&mut self, out: &mut Vec<Statement>) -> Parsed<()> {
        let start = self.peek().span;
        match self.directive() {
            "reg" => out.push(Statement::Registers(self.registers()?)),
            "loc" => out.push(self.loc()?),
            "section" => self.section()?,
            "pragma" => {
                self.bump();
                let mut strings = vec![self.string("a string")?];
                while self.eat(TokenKind::Comma) {
                    strings.push(self.string("a string")?);
                }
                self.end_statement()?;
                out.push(Statement::Pragma(strings, self.since(start)));
            }
            "param" | "shared" | "local" | "global" | "const" | "extern" | "visible" | "weak" | "common" => {
                let linkage = self.linkage();
                let variables = self.variables(linkage, start)?;
                out.extend(variables.into_iter().map(Statement::Variable));
            }
            word if LABELLED.contains(&word) => {
                let message = format!("`.{word}` needs a name before it");
                let error = Diagnostic::error("missing-name", start, message);
                return Err(self.report(error.help(format!("write a label, as in `table: .{word}`"))));
            }
            _ => {
                let known = super::recovery::BODY_DIRECTIVES.into_iter().chain(["section"]);
                self.unknown_directive(known, "in a function body");
                return Err(super::Reported);
            }
        }
        Ok(())
    }

    /// `.loc FILE LINE COLUMN [, function_name LABEL[+N], inlined_at FILE LINE COLUMN]`
    fn loc(&mut self) -> Parsed<Statement> {
        let start = self.bump().span;
        let file = self.small_int("the index of a `.file`")?;
        let line = self.small_int("a line number")?;
        let column = self.small_int("a column number")?;
        let rest = if self.eat(TokenKind::Comma) { self.inlining()? } else { String::new() };
        Ok(Statement::Loc { file, line, column, rest, span: self.since(start) })
    }

    fn inlining(&mut self) -> Parsed<String> {
        self.keyword("function_name")?;
        if !matches!(self.kind(), TokenKind::Word | TokenKind::Directive) {
            return Err(self.unexpected("missing-name", "the label of the function's name"));
        }
        let mut rest = format!("function_name {}", self.word());
        self.bump();
        if self.eat(TokenKind::Plus) {
            rest += &format!("+{}", self.small_int("an offset")?);
        }
        if !self.eat(TokenKind::Comma) {
            return Err(self.unexpected("unexpected-token", "`,` and `inlined_at`"));
        }
        self.keyword("inlined_at")?;
        rest += ", inlined_at";
        for what in ["the index of a `.file`", "a line number", "a column number"] {
            rest += &format!(" {}", self.small_int(what)?);
        }
        Ok(rest)
    }

    fn keyword(&mut self, word: &str) -> Parsed<()> {
        if self.kind() == TokenKind::Word && self.word() == word {
            self.bump();
            return Ok(());
        }
        Err(self.unexpected("unexpected-token", &format!("`{word}`")))
    }
}
