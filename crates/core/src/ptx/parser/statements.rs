//! Parser of function bodies (PTX ISA 4.3, 11.5).

use super::{MOST_NESTED, Parsed, Parser};
use crate::diag::{Diagnostic, Span};
use crate::ptx::lexer::TokenKind;
use crate::ptx::tree::{
    Guard, Instruction, Name, Operand, Prototype, Statement, TargetKind, Targets,
};

/// Directives that require a label before them.
const LABELLED: [&str; 3] = ["branchtargets", "calltargets", "callprototype"];

/// Keywords of C control flow, which PTX does not have.
const C_KEYWORDS: [&str; 5] = ["if", "else", "for", "while", "do"];

impl Parser<'_> {
    /// Parses a scope from its `{` to its `}`.
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
                // Without progress the loop would not end.
                if self.at == before && self.kind() != TokenKind::CloseBrace {
                    self.bump();
                }
            }
        }
    }

    fn statement(&mut self, out: &mut Vec<Statement>) -> Parsed<()> {
        let start = self.peek().span;
        match self.kind() {
            // Empty statement.
            TokenKind::Semicolon => {
                self.bump();
            }
            TokenKind::OpenBrace => {
                if self.open.len() >= MOST_NESTED as usize {
                    let message = format!("scopes nested deeper than {MOST_NESTED} levels");
                    self.report(Diagnostic::error("nesting-too-deep", start, message));
                    self.skip_braces();
                    return Ok(());
                }
                let inner = self.scope();
                out.push(Statement::Block(inner, self.since(start)));
            }
            TokenKind::Word if self.ahead(1).kind == TokenKind::Colon => {
                let name = self.identifier("label")?;
                self.bump();
                out.push(match self.directive() {
                    "branchtargets" => self.targets(TargetKind::Branch, name, start)?,
                    "calltargets" => self.targets(TargetKind::Call, name, start)?,
                    "callprototype" => self.prototype(name, start)?,
                    _ => Statement::Label(name),
                });
            }
            TokenKind::Word if C_KEYWORDS.contains(&self.word()) => self.c_keyword(),
            TokenKind::Word => out.push(Statement::Instruction(self.instruction(None, start)?)),
            TokenKind::At => {
                let guard = self.guard()?;
                if self.kind() == TokenKind::OpenBrace {
                    let message = "expected instruction after guard, found scope";
                    let error = Diagnostic::error("guarded-scope", self.peek().span, message);
                    self.report(
                        error
                            .also(guard.predicate.span, "guard")
                            .help("branch around the scope: `@!%p bra after;`"),
                    );
                    return Ok(());
                }
                out.push(Statement::Instruction(self.instruction(Some(guard), start)?));
            }
            TokenKind::Directive => self.body_directive(out)?,
            _ => {
                return Err(
                    self.unexpected("expected-statement", "instruction, label or declaration")
                );
            }
        }
        Ok(())
    }

    /// Parses `.branchtargets a, b;` or `.calltargets f, g;` after its label.
    fn targets(&mut self, kind: TargetKind, label: Name, start: Span) -> Parsed<Statement> {
        self.bump();
        let mut names = Vec::new();
        loop {
            names.push(self.identifier("target")?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.end_statement()?;
        Ok(Statement::Targets(Targets { label, kind, names, span: self.since(start) }))
    }

    /// Parses `.callprototype (returns) _ (params) .noreturn;` after its label.
    fn prototype(&mut self, label: Name, start: Span) -> Parsed<Statement> {
        self.bump();
        let returns =
            if self.kind() == TokenKind::OpenParen { self.parameters() } else { Vec::new() };
        self.identifier("`_`")?;
        let params =
            if self.kind() == TokenKind::OpenParen { self.parameters() } else { Vec::new() };
        let performance = self.performance();
        self.end_statement()?;
        Ok(Statement::Prototype(Prototype {
            label,
            returns,
            params,
            performance,
            span: self.since(start),
        }))
    }

    /// Reports C control flow, and skips the condition so that its body is parsed.
    fn c_keyword(&mut self) {
        let word = self.bump();
        let message = format!("PTX has no `{}`", self.slice(word.span));
        let error = Diagnostic::error("expected-statement", word.span, message);
        self.report(error.help("use `setp` and `@%p bra`"));
        let mut depth = 0usize;
        loop {
            match self.kind() {
                TokenKind::OpenParen => depth += 1,
                TokenKind::CloseParen => depth = depth.saturating_sub(1),
                TokenKind::OpenBrace | TokenKind::CloseBrace | TokenKind::End => return,
                _ if depth == 0 => return,
                _ => {}
            }
            self.bump();
        }
    }

    fn instruction(&mut self, guard: Option<Guard>, start: Span) -> Parsed<Instruction> {
        if self.kind() != TokenKind::Word {
            return Err(self.unexpected("expected-statement", "instruction after guard"));
        }
        let token = self.bump();
        let mnemonic = self.name_of(token);
        if mnemonic.text.starts_with('%') || self.kind() == TokenKind::Assign {
            let message = format!("expected instruction, found `{}`", mnemonic.text);
            let error = Diagnostic::error("expected-statement", mnemonic.span, message);
            let help = "start with the mnemonic, e.g. `add.u32 %r1, %r2, 1;`";
            return Err(self.report(error.help(help)));
        }
        let mut operands = self.operands(&mnemonic)?;
        operands.shrink_to_fit();
        Ok(Instruction { guard, mnemonic, operands, span: self.since(start) })
    }

    fn guard(&mut self) -> Parsed<Guard> {
        self.bump();
        let negated = self.eat(TokenKind::Not);
        if self.kind() == TokenKind::Word && super::recovery::looks_like_mnemonic(self.word()) {
            return Err(self.unexpected("missing-name", "predicate register"));
        }
        let predicate = self.identifier("predicate register")?;
        Ok(Guard { negated, predicate })
    }

    /// Parses the operands of an instruction and its `;`.
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
                // A dotted word before `,` or `;` can be an operand on its own line (`v.x`).
                let ends = matches!(self.ahead(1).kind, TokenKind::Comma | TokenKind::Semicolon);
                let operand = ends && self.kind() == TokenKind::Word && self.word().contains('.');
                if self.peek().after_newline && self.starts_statement() && !operand {
                    let error = Diagnostic::error(
                        "missing-operand",
                        self.gap(),
                        "expected operand after `,`",
                    );
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

    /// Reports a missing comma before an operand on the same line.
    ///
    /// Returns true if there is one.
    fn missing_comma(&mut self) -> bool {
        use TokenKind::*;
        let next = self.peek();
        let operand = match next.kind {
            Int { .. } | Double(_) | Single(_) | OpenBracket | OpenBrace => true,
            Word => {
                self.ahead(1).kind != Colon && !super::recovery::looks_like_mnemonic(self.word())
            }
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
                let mut strings = vec![self.string("string")?];
                while self.eat(TokenKind::Comma) {
                    strings.push(self.string("string")?);
                }
                self.end_statement()?;
                out.push(Statement::Pragma(strings, self.since(start)));
            }
            "param" | "shared" | "local" | "global" | "const" | "extern" | "visible" | "weak"
            | "common" => {
                let linkage = self.linkage();
                let variables = self.variables(linkage, start)?;
                out.extend(variables.into_iter().map(Statement::Variable));
            }
            word if LABELLED.contains(&word) => {
                let message = format!("expected label before `.{word}`");
                let error = Diagnostic::error("missing-name", start, message);
                return Err(self.report(error.help(format!("add a label: `table: .{word}`"))));
            }
            _ => {
                let known = super::recovery::BODY_DIRECTIVES.into_iter().chain(["section"]);
                self.unknown_directive(known, "in a function body");
                return Err(super::Reported);
            }
        }
        Ok(())
    }

    /// Parses `.loc FILE LINE COLUMN`, with optional inlining attributes.
    ///
    /// These are `, function_name LABEL[+N], inlined_at FILE LINE COLUMN`.
    fn loc(&mut self) -> Parsed<Statement> {
        let start = self.bump().span;
        let file = self.small_int("`.file` index")?;
        let line = self.small_int("line number")?;
        let column = self.small_int("column number")?;
        let rest = if self.eat(TokenKind::Comma) { self.inlining()? } else { String::new() };
        Ok(Statement::Loc { file, line, column, rest, span: self.since(start) })
    }

    fn inlining(&mut self) -> Parsed<String> {
        self.keyword("function_name")?;
        if !matches!(self.kind(), TokenKind::Word | TokenKind::Directive) {
            return Err(self.unexpected("missing-name", "label of the function name"));
        }
        let mut rest = format!("function_name {}", self.word());
        self.bump();
        if self.eat(TokenKind::Plus) {
            rest += &format!("+{}", self.small_int("offset")?);
        }
        if !self.eat(TokenKind::Comma) {
            return Err(self.unexpected("unexpected-token", "`,` and `inlined_at`"));
        }
        self.keyword("inlined_at")?;
        rest += ", inlined_at";
        for what in ["`.file` index", "line number", "column number"] {
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
