//! Moving over tokens, and saying what was expected.

use super::{MOST_NESTED, Parsed, Parser, Reported};
use crate::diag::{Diagnostic, Severity, Span};
use crate::ptx::lexer::{Token, TokenKind};
use crate::ptx::tree::Name;

/// What stands for tokens past the end. The lexer ends every list with `End`, so this is never seen.
const PAST_END: Token = Token { kind: TokenKind::End, span: Span::new(0, 0), after_newline: true };

/// Errors after which the text counts as ended: many more than are shown, and each may take a search for what was meant.
const ENOUGH: usize = 1000;

impl<'a> Parser<'a> {
    /// The token `ahead` places on, without taking it.
    pub(super) fn ahead(&self, ahead: usize) -> Token {
        if self.errors > ENOUGH {
            return self.tokens.last().copied().unwrap_or(PAST_END);
        }
        self.tokens.get(self.at + ahead).or(self.tokens.last()).copied().unwrap_or(PAST_END)
    }

    pub(super) fn peek(&self) -> Token {
        self.ahead(0)
    }

    pub(super) fn kind(&self) -> TokenKind {
        self.peek().kind
    }

    pub(super) fn at_end(&self) -> bool {
        self.kind() == TokenKind::End
    }

    /// Takes the next token. The end is never passed.
    pub(super) fn bump(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// Takes the next token if it is of this kind.
    pub(super) fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.bump();
        }
        found
    }

    /// The span of the token taken last.
    pub(super) fn previous(&self) -> Span {
        self.at.checked_sub(1).and_then(|i| self.tokens.get(i)).map_or(Span::default(), |t| t.span)
    }

    /// From the start of `start` to the end of the token taken last.
    pub(super) fn since(&self, start: Span) -> Span {
        start.to(self.previous())
    }

    /// The place right behind the token taken last: where something is missing.
    pub(super) fn gap(&self) -> Span {
        let end = self.previous().end;
        Span { start: end, end }
    }

    pub(super) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// The text of the next token.
    pub(super) fn word(&self) -> &'a str {
        self.slice(self.peek().span)
    }

    /// The next token as a directive without its dot; empty when it is none.
    pub(super) fn directive(&self) -> &'a str {
        if self.kind() == TokenKind::Directive { self.word().get(1..).unwrap_or_default() } else { "" }
    }

    pub(super) fn name_of(&self, token: Token) -> Name {
        Name { text: self.slice(token.span).to_owned(), span: token.span }
    }

    /// Takes a directive as a name without its dot. Call only when one is next.
    pub(super) fn bump_directive(&mut self) -> Name {
        let token = self.bump();
        Name { text: self.slice(token.span).trim_start_matches('.').to_owned(), span: token.span }
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.errors += usize::from(diagnostic.severity == Severity::Error);
        self.diagnostics.push(diagnostic);
        Reported
    }

    /// Reports that something else was expected at the next token, unless the lexer has already complained about it.
    pub(super) fn unexpected(&mut self, code: &'static str, expected: &str) -> Reported {
        self.unexpected_help(code, expected, None)
    }

    pub(super) fn unexpected_help(&mut self, code: &'static str, expected: &str, help: Option<&str>) -> Reported {
        let token = self.peek();
        if token.kind == TokenKind::Bad {
            return Reported;
        }
        let message = format!("expected {expected}, found {}", self.describe(token));
        let mut diagnostic = Diagnostic::error(code, token.span, message);
        diagnostic.help = help.map(str::to_owned);
        self.report(diagnostic)
    }

    /// Reports that a bracket is not closed: where the mark is missing, and where it was opened.
    pub(super) fn unclosed(&mut self, code: &'static str, expected: &str, open: Span) -> Reported {
        let token = self.peek();
        if token.kind == TokenKind::Bad {
            return Reported;
        }
        let missing = token.after_newline || matches!(token.kind, TokenKind::Semicolon | TokenKind::End);
        let place = if missing { self.gap() } else { token.span };
        let message = format!("expected {expected}, found {}", self.describe(token));
        self.report(Diagnostic::error(code, place, message).also(open, "opened here"))
    }

    /// A token in words, short enough for a message.
    pub(super) fn describe(&self, token: Token) -> String {
        match token.kind {
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::Text => "a string".to_owned(),
            _ => {
                let text = self.slice(token.span);
                match text.char_indices().nth(40) {
                    Some((cut, _)) => format!("`{}...`", text.get(..cut).unwrap_or_default()),
                    None => format!("`{text}`"),
                }
            }
        }
    }

    /// Takes a punctuation mark or reports its absence at the place where it belongs.
    pub(super) fn expect(&mut self, kind: TokenKind, code: &'static str, written: &str, place: &str) -> Parsed<Span> {
        if self.kind() == kind {
            return Ok(self.bump().span);
        }
        // On a later line the fault is where the mark is missing, not where the next line starts.
        if self.peek().after_newline || self.at_end() {
            let error = Diagnostic::error(code, self.gap(), format!("expected {written} {place}"));
            return Err(self.report(error.label(format!("{written} missing here"))));
        }
        Err(self.unexpected(code, &format!("{written} {place}")))
    }

    /// Takes a word that names something: an identifier without dots.
    pub(super) fn identifier(&mut self, what: &str) -> Parsed<Name> {
        let token = self.peek();
        if token.kind != TokenKind::Word {
            return Err(self.unexpected("missing-name", what));
        }
        let name = self.name_of(token);
        if name.text.contains(['.', ':']) {
            let message = format!("`{}` cannot be {what}: a name has no dots or colons", name.text);
            let error = Diagnostic::error("bad-name", name.span, message);
            let error = match super::recovery::looks_like_mnemonic(&name.text) {
                true => error.help("if this is an instruction, something is missing before it"),
                false => error.help("use letters, digits, `_` and `$`"),
            };
            return Err(self.report(error));
        }
        self.bump();
        Ok(name)
    }

    /// Takes an integer literal that fits in 32 bits.
    pub(super) fn small_int(&mut self, what: &str) -> Parsed<u32> {
        let token = self.peek();
        let TokenKind::Int { value, .. } = token.kind else {
            return Err(self.unexpected("missing-number", what));
        };
        self.bump();
        u32::try_from(value).map_err(|_| {
            let message = format!("{} is too large for {what}", self.slice(token.span));
            self.report(Diagnostic::error("number-too-large", token.span, message))
        })
    }

    /// Takes a string and gives what stands between its quotes, as written.
    pub(super) fn string(&mut self, what: &str) -> Parsed<String> {
        if self.kind() != TokenKind::Text {
            return Err(self.unexpected("missing-string", what));
        }
        let text = self.word();
        self.bump();
        Ok(text.get(1..text.len().saturating_sub(1)).unwrap_or_default().to_owned())
    }

    /// Parses one level deeper, or reports that this is too deep.
    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MOST_NESTED {
            let message = format!("nested more than {MOST_NESTED} levels deep");
            let error = Diagnostic::error("nesting-too-deep", self.peek().span, message);
            return Err(self.report(error.help("split it into simpler parts")));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }
}
