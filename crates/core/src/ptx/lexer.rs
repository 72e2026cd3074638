//! Lexer: from characters to tokens (PTX ISA, chapter 4 "Syntax").
//!
//! A token has a byte span and a flag for a preceding line break. The parser uses the flag only for
//! error recovery, never for the meaning of a correct program. Comments are dropped, except `//!`
//! lines, which are kept as launch directives.
//!
//! - A *word* includes its dots: `ld.global.nc.L1::no_allocate.u32` and `%tid.x` are one token
//!   each. The parser decides by position if a word is a mnemonic, a label or an operand.
//! - A *directive* is a dot and one word: `.reg.u32` is the two tokens `.reg` and `.u32`.
//!
//! The lexer never fails: unreadable text becomes a [`TokenKind::Bad`] and a diagnostic.

mod numbers;

use super::tree::Name;
use crate::diag::{Diagnostic, Span};

/// Kind of a token.
///
/// Literals carry their value; the span gives the text of all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// An identifier or dotted word.
    Word,
    /// `.reg`, `.u32`, `.shared::cta`
    Directive,
    /// An integer literal.
    Int {
        value: u64,
        unsigned: bool,
    },
    /// Bits of a double literal.
    Double(u64),
    /// Bits of a `0f` literal.
    Single(u32),
    /// A string with its quotes.
    Text,
    Comma,
    Semicolon,
    Colon,
    Question,
    At,
    Assign,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    OpenParen,
    CloseParen,
    Not,
    Tilde,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    Equal,
    NotEqual,
    ShiftLeft,
    ShiftRight,
    And,
    AndAnd,
    Or,
    OrOr,
    Caret,
    /// Unreadable text; its diagnostic is in [`Lexed::diagnostics`].
    Bad,
    /// End of the text, always the last token.
    End,
}

/// Token with its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
    /// True if a line break precedes the token.
    pub(crate) after_newline: bool,
}

/// Result of lexing a text.
#[derive(Debug, Default)]
pub(crate) struct Lexed {
    /// Tokens; the last one is [`TokenKind::End`].
    pub(crate) tokens: Vec<Token>,
    /// Trimmed text after each `//!`.
    pub(crate) directives: Vec<Name>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Splits `text` (at most 4 GiB, see [`super::parse`]) into tokens.
pub(crate) fn lex(text: &str) -> Lexed {
    let mut lexer =
        Lexer { text, bytes: text.as_bytes(), at: 0, after_newline: true, out: Lexed::default() };
    lexer.out.tokens.reserve(text.len() / 4);
    if text.starts_with('\u{feff}') {
        lexer.at = '\u{feff}'.len_utf8();
    }
    while lexer.at < text.len() {
        lexer.token();
    }
    lexer.push(TokenKind::End, lexer.at);
    lexer.out
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    after_newline: bool,
    out: Lexed,
}

/// Returns true for a character inside an identifier (`followsym` of the PTX ISA).
fn follows(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        let span = Span::new(start, self.at);
        self.out.tokens.push(Token { kind, span, after_newline: self.after_newline });
        self.after_newline = false;
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.out.diagnostics.push(diagnostic);
    }

    fn token(&mut self) {
        let start = self.at;
        match self.peek(0) {
            b'\n' => {
                self.after_newline = true;
                self.at += 1;
            }
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
            b'/' if self.peek(1) == b'/' => self.line_comment(),
            b'/' if self.peek(1) == b'*' => self.block_comment(),
            b'"' => self.string(),
            b'0'..=b'9' => self.number(),
            b'.' if follows(self.peek(1)) => {
                self.at += 1;
                self.symbols();
                self.scoped();
                self.push(TokenKind::Directive, start);
            }
            b'%' if !follows(self.peek(1)) => self.punctuation(),
            b'$' if !follows(self.peek(1)) => self.unreadable(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'%' => self.word(),
            b'#' => self.preprocessor(),
            _ => self.punctuation(),
        }
    }

    /// Consumes `followsym`s.
    ///
    /// Also consumes letters outside ASCII, so that each word has one error.
    fn symbols(&mut self) {
        loop {
            while follows(self.peek(0)) {
                self.at += 1;
            }
            let Some(letter) = self.foreign_letter() else { return };
            let span = Span::new(self.at, self.at + letter.len_utf8());
            self.at += letter.len_utf8();
            self.report(
                Diagnostic::error(
                    "non-ascii-name",
                    span,
                    format!("invalid character `{letter}` in name"),
                )
                .help("use the letters a-z and A-Z, digits, `_` and `$`"),
            );
            while let Some(letter) = self.foreign_letter() {
                self.at += letter.len_utf8();
            }
        }
    }

    fn foreign_letter(&self) -> Option<char> {
        if self.peek(0) < 0x80 {
            return None;
        }
        self.text.get(self.at..)?.chars().next().filter(|c| c.is_alphanumeric())
    }

    /// Consumes `::name` parts, as in `.shared::cta`.
    fn scoped(&mut self) {
        while self.peek(0) == b':' && self.peek(1) == b':' && follows(self.peek(2)) {
            self.at += 2;
            self.symbols();
        }
    }

    fn word(&mut self) {
        let start = self.at;
        self.at += 1;
        self.symbols();
        self.scoped();
        while self.peek(0) == b'.' && follows(self.peek(1)) {
            self.at += 1;
            self.symbols();
            self.scoped();
        }
        self.push(TokenKind::Word, start);
    }

    /// Returns the index of the next line break, or of the end of the text.
    fn line_end(&self) -> usize {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len())
    }

    fn line_comment(&mut self) {
        let end = self.line_end();
        if self.peek(2) == b'!' {
            let after = self.text.get(self.at + 3..end).unwrap_or_default();
            let text = after.trim();
            let start = self.at + 3 + (after.len() - after.trim_start().len());
            let span = Span::new(start, start + text.len());
            self.out.directives.push(Name { text: text.to_owned(), span });
        }
        self.at = end;
    }

    fn block_comment(&mut self) {
        let start = self.at;
        let inside = self.text.get(self.at + 2..).unwrap_or_default();
        let length = inside.find("*/").map(|n| n + 2);
        self.at = self.at + 2 + length.unwrap_or(inside.len());
        self.after_newline |= self.text.get(start..self.at).unwrap_or_default().contains('\n');
        if length.is_none() {
            let span = Span::new(start, start + 2);
            self.report(
                Diagnostic::error("unclosed-comment", span, "unterminated comment")
                    .label("starts here")
                    .help("close it with `*/`, or use `//` for a comment to the end of the line"),
            );
        }
    }

    fn string(&mut self) {
        let start = self.at;
        let end = self.line_end();
        self.at += 1;
        while self.at < end {
            match self.peek(0) {
                b'"' => {
                    self.at += 1;
                    self.push(TokenKind::Text, start);
                    return;
                }
                // An escaped quote does not end the string. Other escapes have no meaning.
                b'\\' if matches!(self.peek(1), b'"' | b'\\') => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at = end;
        // The carriage return of a CRLF is not part of the string.
        let written = self.text.get(start..end).unwrap_or_default().trim_end();
        let span = Span::new(start, start + written.len());
        self.report(
            Diagnostic::error("unclosed-string", span, "unterminated string")
                .help("close it with `\"` on the same line"),
        );
        self.push(TokenKind::Bad, start);
    }

    fn preprocessor(&mut self) {
        let start = self.at;
        let first_of_line = self.after_newline;
        self.at = if first_of_line { self.line_end() } else { self.at + 1 };
        let written = self.text.get(start..self.at).unwrap_or_default().trim_end();
        let span = Span::new(start, start + written.len());
        let message = match first_of_line {
            true => "preprocessor directives are not supported",
            false => "unexpected character `#`",
        };
        self.report(
            Diagnostic::error("preprocessor-line", span, message)
                .help("run the file through `cpp -P` first, or write comments with `//`"),
        );
        if !first_of_line {
            self.push(TokenKind::Bad, start);
        }
    }

    fn punctuation(&mut self) {
        use TokenKind::*;
        let (kind, length) = match (self.peek(0), self.peek(1)) {
            (b'<', b'<') => (ShiftLeft, 2),
            (b'>', b'>') => (ShiftRight, 2),
            (b'<', b'=') => (LessEqual, 2),
            (b'>', b'=') => (GreaterEqual, 2),
            (b'=', b'=') => (Equal, 2),
            (b'!', b'=') => (NotEqual, 2),
            (b'&', b'&') => (AndAnd, 2),
            (b'|', b'|') => (OrOr, 2),
            (b',', _) => (Comma, 1),
            (b';', _) => (Semicolon, 1),
            (b':', _) => (Colon, 1),
            (b'?', _) => (Question, 1),
            (b'@', _) => (At, 1),
            (b'=', _) => (Assign, 1),
            (b'[', _) => (OpenBracket, 1),
            (b']', _) => (CloseBracket, 1),
            (b'{', _) => (OpenBrace, 1),
            (b'}', _) => (CloseBrace, 1),
            (b'(', _) => (OpenParen, 1),
            (b')', _) => (CloseParen, 1),
            (b'!', _) => (Not, 1),
            (b'~', _) => (Tilde, 1),
            (b'+', _) => (Plus, 1),
            (b'-', _) => (Minus, 1),
            (b'*', _) => (Star, 1),
            (b'/', _) => (Slash, 1),
            (b'%', _) => (Percent, 1),
            (b'<', _) => (Less, 1),
            (b'>', _) => (Greater, 1),
            (b'&', _) => (And, 1),
            (b'|', _) => (Or, 1),
            (b'^', _) => (Caret, 1),
            _ => return self.unreadable(),
        };
        let start = self.at;
        self.at += length;
        self.push(kind, start);
    }

    /// Reports a run of unexpected characters in one diagnostic.
    fn unreadable(&mut self) {
        let start = self.at;
        let Some(first) = self.text.get(start..).and_then(|rest| rest.chars().next()) else {
            self.at = self.text.len();
            return;
        };
        let meaningless =
            |c: char| !c.is_ascii() || c.is_ascii_control() && !c.is_ascii_whitespace();
        let rest = self.text.get(start + first.len_utf8()..).unwrap_or_default();
        // A non-ASCII space is reported alone, other characters as a run.
        let run = if first.is_whitespace() {
            0
        } else {
            rest.find(|c| !meaningless(c)).unwrap_or(rest.len())
        };
        self.at = start + first.len_utf8() + run;
        let name = match first {
            c if c.is_control() || c.is_whitespace() => format!("U+{:04X}", u32::from(c)),
            c => format!("`{c}`"),
        };
        let help = match lookalike(first) {
            Some(' ') => "replace it with a space".to_owned(),
            Some(ascii) => format!("write the ASCII character `{ascii}`"),
            None => "remove it; PTX is ASCII outside of comments and strings".to_owned(),
        };
        let span = Span::new(start, self.at);
        let message = format!("unexpected character {name}");
        self.report(Diagnostic::error("unexpected-character", span, message).help(help));
        if lookalike(first) != Some(' ') {
            self.push(TokenKind::Bad, start);
        }
    }
}

/// Returns the ASCII character that word processors replace with `c`.
fn lookalike(c: char) -> Option<char> {
    Some(match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{ff0d}' => '-',
        '\u{2018}' | '\u{2019}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{ff02}' => '"',
        '\u{ff0c}' | '\u{3001}' => ',',
        '\u{ff1a}' => ':',
        '\u{ff1b}' | '\u{037e}' => ';',
        '\u{ff08}' => '(',
        '\u{ff09}' => ')',
        '\u{ff3b}' => '[',
        '\u{ff3d}' => ']',
        '\u{ff5b}' => '{',
        '\u{ff5d}' => '}',
        '\u{ff20}' => '@',
        '\u{ff05}' => '%',
        '\u{00d7}' => '*',
        '\u{200b}' | '\u{feff}' => ' ',
        c if c.is_whitespace() => ' ',
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
