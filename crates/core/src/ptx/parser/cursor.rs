//! Token cursor and "expected X, found Y" errors.

use super::{MOST_NESTED, Parsed, Parser, Reported};
use crate::diag::{Diagnostic, Severity, Span};
use crate::ptx::lexer::{Token, TokenKind};
use crate::ptx::tree::Name;

/// Placeholder for tokens past the end.
///
/// Never seen, because the lexer ends every list with `End`.
const PAST_END: Token = Token { kind: TokenKind::End, span: Span::new(0, 0), after_newline: true };

/// Number of errors after which parsing stops.
///
/// More than are shown; computing suggestions takes time.
const ENOUGH: usize = 1000;

impl<'a> Parser<'a> {
    /// Returns the token `ahead` positions after the next one, without consuming it.
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

    /// Consumes the next token, except the end token.
    pub(super) fn bump(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// Consumes the next token if it is of this kind.
    pub(super) fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.bump();
        }
        found
    }

    /// Returns the span of the token consumed last.
    pub(super) fn previous(&self) -> Span {
        self.at.checked_sub(1).and_then(|i| self.tokens.get(i)).map_or(Span::default(), |t| t.span)
    }

    /// Returns the span from `start` to the end of the token consumed last.
    pub(super) fn since(&self, start: Span) -> Span {
        start.to(self.previous())
    }

    /// Returns the empty span after the token consumed last.
    pub(super) fn gap(&self) -> Span {
        let end = self.previous().end;
        Span { start: end, end }
    }

    pub(super) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Returns the text of the next token.
    pub(super) fn word(&self) -> &'a str {
        self.slice(self.peek().span)
    }

    /// Returns the next token as a directive without its dot.
    ///
    /// Empty if it is not a directive.
    pub(super) fn directive(&self) -> &'a str {
        if self.kind() == TokenKind::Directive {
            self.word().get(1..).unwrap_or_default()
        } else {
            ""
        }
    }

    pub(super) fn name_of(&self, token: Token) -> Name {
        Name { text: self.slice(token.span).to_owned(), span: token.span }
    }

    /// Consumes a directive and returns its name without the dot.
    ///
    /// Requires a directive next.
    pub(super) fn bump_directive(&mut self) -> Name {
        let token = self.bump();
        Name { text: self.slice(token.span).trim_start_matches('.').to_owned(), span: token.span }
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.errors += usize::from(diagnostic.severity == Severity::Error);
        self.diagnostics.push(diagnostic);
        Reported
    }

    /// Reports an unexpected next token, unless the lexer has already reported it.
    pub(super) fn unexpected(&mut self, code: &'static str, expected: &str) -> Reported {
        self.unexpected_help(code, expected, None)
    }

    pub(super) fn unexpected_help(
        &mut self,
        code: &'static str,
        expected: &str,
        help: Option<&str>,
    ) -> Reported {
        let token = self.peek();
        if token.kind == TokenKind::Bad {
            return Reported;
        }
        let message = format!("expected {expected}, found {}", self.describe(token));
        let mut diagnostic = Diagnostic::error(code, token.span, message);
        diagnostic.help = help.map(str::to_owned);
        self.report(diagnostic)
    }

    /// Reports an unclosed bracket, with the position of the opening bracket.
    pub(super) fn unclosed(&mut self, code: &'static str, expected: &str, open: Span) -> Reported {
        let token = self.peek();
        if token.kind == TokenKind::Bad {
            return Reported;
        }
        let missing =
            token.after_newline || matches!(token.kind, TokenKind::Semicolon | TokenKind::End);
        let place = if missing { self.gap() } else { token.span };
        let message = format!("expected {expected}, found {}", self.describe(token));
        self.report(Diagnostic::error(code, place, message).also(open, "opened here"))
    }

    /// Describes a token for a message; long text is cut.
    pub(super) fn describe(&self, token: Token) -> String {
        match token.kind {
            TokenKind::End => "end of file".to_owned(),
            TokenKind::Text => "string".to_owned(),
            _ => {
                let text = self.slice(token.span);
                match text.char_indices().nth(40) {
                    Some((cut, _)) => format!("`{}...`", text.get(..cut).unwrap_or_default()),
                    None => format!("`{text}`"),
                }
            }
        }
    }

    /// Consumes a punctuation mark, or reports that it is missing.
    pub(super) fn expect(
        &mut self,
        kind: TokenKind,
        code: &'static str,
        written: &str,
        place: &str,
    ) -> Parsed<Span> {
        if self.kind() == kind {
            return Ok(self.bump().span);
        }
        // If the next token is on another line, the error is at the end of this one.
        if self.peek().after_newline || self.at_end() {
            let error = Diagnostic::error(code, self.gap(), format!("expected {written} {place}"));
            return Err(self.report(error.label(format!("{written} missing here"))));
        }
        Err(self.unexpected(code, &format!("{written} {place}")))
    }

    /// Consumes an identifier without dots.
    pub(super) fn identifier(&mut self, what: &str) -> Parsed<Name> {
        let token = self.peek();
        if token.kind != TokenKind::Word {
            return Err(self.unexpected("missing-name", what));
        }
        let name = self.name_of(token);
        if name.text.contains(['.', ':']) {
            let message =
                format!("invalid {what} `{}`: names cannot contain dots or colons", name.text);
            let error = Diagnostic::error("bad-name", name.span, message);
            let error = match super::recovery::looks_like_mnemonic(&name.text) {
                true => error.help("if this is an instruction, complete the line before it"),
                false => error.help("use letters, digits, `_` and `$`"),
            };
            return Err(self.report(error));
        }
        self.bump();
        Ok(name)
    }

    /// Consumes an integer literal that fits in 32 bits.
    pub(super) fn small_int(&mut self, what: &str) -> Parsed<u32> {
        let token = self.peek();
        let TokenKind::Int { value, .. } = token.kind else {
            return Err(self.unexpected("missing-number", what));
        };
        self.bump();
        u32::try_from(value).map_err(|_| {
            let message = format!("{what} {} is too large", self.slice(token.span));
            self.report(Diagnostic::error("number-too-large", token.span, message))
        })
    }

    /// Consumes a string and returns the text between its quotes, as written.
    pub(super) fn string(&mut self, what: &str) -> Parsed<String> {
        if self.kind() != TokenKind::Text {
            return Err(self.unexpected("missing-string", what));
        }
        let text = self.word();
        self.bump();
        Ok(text.get(1..text.len().saturating_sub(1)).unwrap_or_default().to_owned())
    }

    /// Parses one nesting level deeper, or reports that the limit is exceeded.
    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MOST_NESTED {
            let message = format!("nesting deeper than {MOST_NESTED} levels");
            let error = Diagnostic::error("nesting-too-deep", self.peek().span, message);
            return Err(self.report(error.help("split the code into simpler parts")));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }
}
