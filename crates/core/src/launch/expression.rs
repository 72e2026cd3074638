//! Expressions of the directive language: the tree, and its parser.
//!
//! Operators bind as in C, except that `& ^ |` bind tighter than comparisons (as in Rust and
//! Python): `i & 1 == 0` tests the bit. An expression holds at most [`MAX_OPERATIONS`] operations
//! and nests at most [`MAX_DEPTH`] levels deep, so that no file can exhaust the stack.

use super::token::{Lexeme, Token};
use crate::diag::{Diagnostic, Span};
use crate::ptx::tree::Name;

/// Maximum number of operators, calls and indexings in one expression.
pub(super) const MAX_OPERATIONS: u32 = 256;
/// Maximum nesting of parentheses, calls and prefix operators.
pub(super) const MAX_DEPTH: u32 = 64;

/// An expression as written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Int(u64, Span),
    Float(f64, Span),
    Name(Name),
    Unary(Unary, Box<Expr>, Span),
    Binary(Binary, Box<Expr>, Box<Expr>, Span),
    /// `condition ? yes : no`
    Choice(Box<[Expr; 3]>, Span),
    /// `f(a, b)`
    Call(Name, Vec<Expr>, Span),
    /// `buffer[index]`
    Index(Name, Box<Expr>, Span),
    /// `buffer[lo..hi]`
    Slice(Name, Box<[Expr; 2]>, Span),
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Minus,
    Complement,
    Not,
}

/// Infix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    BitOr,
    BitXor,
    BitAnd,
    Shl,
    Shr,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// Infix operators by precedence, weakest first.
const LEVELS: &[&[(&str, Binary)]] = &[
    &[("||", Binary::Or)],
    &[("&&", Binary::And)],
    &[
        ("==", Binary::Eq),
        ("!=", Binary::Ne),
        ("<=", Binary::Le),
        (">=", Binary::Ge),
        ("<", Binary::Lt),
        (">", Binary::Gt),
    ],
    &[("|", Binary::BitOr)],
    &[("^", Binary::BitXor)],
    &[("&", Binary::BitAnd)],
    &[("<<", Binary::Shl), (">>", Binary::Shr)],
    &[("+", Binary::Add), ("-", Binary::Sub)],
    &[("*", Binary::Mul), ("/", Binary::Div), ("%", Binary::Rem)],
];

/// The level just above comparisons: the left side of an expectation's relation.
const ABOVE_COMPARISON: usize = 3;

impl Expr {
    /// Collects the names used alone, which mean addresses if they name buffers.
    /// Excludes names of indexed elements and of whole buffers passed to a function.
    pub(super) fn bare_names<'a>(&'a self, into: &mut Vec<&'a str>) {
        match self {
            Expr::Int(..) | Expr::Float(..) | Expr::Slice(..) => {}
            Expr::Name(name) => into.push(&name.text),
            Expr::Unary(_, operand, _) | Expr::Index(_, operand, _) => operand.bare_names(into),
            Expr::Binary(_, left, right, _) => {
                [left, right].into_iter().for_each(|part| part.bare_names(into))
            }
            Expr::Choice(parts, _) => parts.iter().for_each(|part| part.bare_names(into)),
            // A name alone as the argument is the whole buffer: `sum(b)`, `max(b)`.
            Expr::Call(_, arguments, _) if matches!(arguments.as_slice(), [Expr::Name(_)]) => {}
            Expr::Call(_, arguments, _) => arguments.iter().for_each(|part| part.bare_names(into)),
        }
    }

    /// Returns the place of the expression in the source.
    pub(super) fn span(&self) -> Span {
        match self {
            Expr::Int(_, span)
            | Expr::Float(_, span)
            | Expr::Unary(_, _, span)
            | Expr::Binary(_, _, _, span)
            | Expr::Choice(_, span)
            | Expr::Call(_, _, span)
            | Expr::Index(_, _, span)
            | Expr::Slice(_, _, span) => *span,
            Expr::Name(name) => name.span,
        }
    }
}

/// A cursor over the tokens of one directive.
/// The first error ends the directive; later directives are still parsed.
pub(super) struct Parser<'a> {
    lexemes: &'a [Lexeme],
    at: usize,
    depth: u32,
    operations: u32,
    /// Place that errors about an early end of the directive point at.
    end: Span,
}

/// A parse step: the value, or the one error of this directive.
pub(super) type Parsed<T> = Result<T, Diagnostic>;

impl<'a> Parser<'a> {
    /// Returns a parser at the first of `lexemes`; `end` is the place after the last.
    pub(super) fn new(lexemes: &'a [Lexeme], end: Span) -> Parser<'a> {
        Parser { lexemes, at: 0, depth: 0, operations: 0, end }
    }

    /// Returns true if no token is left.
    pub(super) fn at_end(&self) -> bool {
        self.at >= self.lexemes.len()
    }

    /// Returns the place of the next token.
    pub(super) fn here(&self) -> Span {
        self.lexemes.get(self.at).map_or(self.end, |l| l.span)
    }

    /// Returns the place of the last token read.
    pub(super) fn before(&self) -> Span {
        self.at.checked_sub(1).and_then(|i| self.lexemes.get(i)).map_or(self.end, |l| l.span)
    }

    fn peek(&self) -> Option<&'a Token> {
        self.lexemes.get(self.at).map(|l| &l.token)
    }

    /// Returns true if the next token is the sign.
    pub(super) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(s)) if *s == sign)
    }

    /// Returns true if the next token is the word.
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(w)) if w == word)
    }

    /// Returns true if the next tokens are the word and `(`.
    pub(super) fn is_call(&self, word: &str) -> bool {
        self.is_word(word)
            && matches!(self.lexemes.get(self.at + 1), Some(l) if l.token == Token::Sign("("))
    }

    /// Reads the sign if it is next.
    pub(super) fn take_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.at += usize::from(found);
        found
    }

    /// Reads the word if it is next.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    /// Reads the first of the signs that is next.
    pub(super) fn take_one_of(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        signs.iter().copied().find(|sign| self.take_sign(sign))
    }

    /// Returns the error at the next token: `expected WHAT, found ..`.
    pub(super) fn expected(&self, what: &str) -> Diagnostic {
        let found = match self.peek() {
            None => "the end of the directive".to_owned(),
            Some(Token::Word(w)) => format!("`{w}`"),
            Some(Token::Sign(s)) => format!("`{s}`"),
            Some(Token::Int(i)) => format!("`{i}`"),
            Some(Token::Float(f)) => format!("`{f}`"),
            Some(Token::Text(t)) => format!("\"{t}\""),
        };
        Diagnostic::error(
            "directive-syntax",
            self.here(),
            format!("expected {what}, found {found}"),
        )
        .label(format!("expected {what}"))
    }

    /// Reads an integer literal if it is next.
    pub(super) fn take_position(&mut self) -> Option<(u64, Span)> {
        match self.lexemes.get(self.at) {
            Some(Lexeme { token: Token::Int(value), span }) => {
                self.at += 1;
                Some((*value, *span))
            }
            _ => None,
        }
    }

    /// Returns the cursor, for [`Parser::reset`].
    pub(super) fn mark(&self) -> usize {
        self.at
    }

    /// Resets the cursor to an earlier [`Parser::mark`].
    pub(super) fn reset(&mut self, mark: usize) {
        self.at = mark;
    }

    /// Reads the sign or fails.
    pub(super) fn sign(&mut self, sign: &str) -> Parsed<Span> {
        let span = self.here();
        if self.take_sign(sign) { Ok(span) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    /// Reads any word or fails.
    pub(super) fn word(&mut self, what: &str) -> Parsed<Name> {
        match self.lexemes.get(self.at) {
            Some(Lexeme { token: Token::Word(text), span }) => {
                self.at += 1;
                Ok(Name { text: text.clone(), span: *span })
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Reads words joined by `-`, such as `pre-volta`.
    pub(super) fn hyphenated(&mut self, what: &str) -> Parsed<Name> {
        let mut name = self.word(what)?;
        while self.take_sign("-") {
            let next = self.word(what)?;
            name.text = format!("{}-{}", name.text, next.text);
            name.span = name.span.to(next.span);
        }
        Ok(name)
    }

    /// Reads a quoted text.
    pub(super) fn text(&mut self, what: &str) -> Parsed<Name> {
        match self.lexemes.get(self.at) {
            Some(Lexeme { token: Token::Text(text), span }) => {
                self.at += 1;
                Ok(Name { text: text.clone(), span: *span })
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Reads a whole expression.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.operations = 0;
        self.choice()
    }

    /// Reads the left side of a relation: no comparison outside parentheses.
    pub(super) fn left_side(&mut self) -> Parsed<Expr> {
        self.operations = 0;
        self.infix(ABOVE_COMPARISON)
    }

    fn choice(&mut self) -> Parsed<Expr> {
        let condition = self.infix(0)?;
        if !self.take_sign("?") {
            return Ok(condition);
        }
        self.count(condition.span())?;
        let yes = self.deeper(Self::choice)?;
        self.sign(":")?;
        let no = self.deeper(Self::choice)?;
        let span = condition.span().to(no.span());
        Ok(Expr::Choice(Box::new([condition, yes, no]), span))
    }

    fn infix(&mut self, level: usize) -> Parsed<Expr> {
        let Some(operators) = LEVELS.get(level) else { return self.prefix() };
        let mut left = self.infix(level + 1)?;
        while let Some((_, operator)) = operators.iter().find(|(sign, _)| self.is_sign(sign)) {
            self.at += 1;
            let right = self.infix(level + 1)?;
            let span = left.span().to(right.span());
            self.count(span)?;
            left = Expr::Binary(*operator, Box::new(left), Box::new(right), span);
        }
        Ok(left)
    }

    fn prefix(&mut self) -> Parsed<Expr> {
        let start = self.here();
        let operator = match self.take_one_of(&["-", "~", "!", "+"]) {
            Some("-") => Some(Unary::Minus),
            Some("~") => Some(Unary::Complement),
            Some("!") => Some(Unary::Not),
            Some(_) => None,
            None => return self.primary(),
        };
        let operand = self.deeper(Self::prefix)?;
        let span = start.to(operand.span());
        self.count(span)?;
        Ok(match operator {
            Some(operator) => Expr::Unary(operator, Box::new(operand), span),
            None => operand,
        })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let Some(Lexeme { token, span }) = self.lexemes.get(self.at) else {
            return Err(self.expected("a value"));
        };
        match token {
            Token::Int(value) => {
                self.at += 1;
                Ok(Expr::Int(*value, *span))
            }
            Token::Float(value) => {
                self.at += 1;
                Ok(Expr::Float(*value, *span))
            }
            Token::Sign("(") => {
                self.at += 1;
                let inner = self.deeper(Self::choice)?;
                self.sign(")")?;
                Ok(inner)
            }
            Token::Word(text) => {
                self.at += 1;
                let name = Name { text: text.clone(), span: *span };
                if self.take_sign("(") {
                    self.call(name)
                } else if self.take_sign("[") {
                    self.index(name)
                } else {
                    Ok(Expr::Name(name))
                }
            }
            Token::Sign(_) | Token::Text(_) => Err(self.expected("a value")),
        }
    }

    fn call(&mut self, name: Name) -> Parsed<Expr> {
        let mut arguments = Vec::new();
        if !self.is_sign(")") {
            arguments.push(self.deeper(Self::choice)?);
            while self.take_sign(",") {
                arguments.push(self.deeper(Self::choice)?);
            }
        }
        let span = name.span.to(self.sign(")")?);
        self.count(span)?;
        Ok(Expr::Call(name, arguments, span))
    }

    fn index(&mut self, name: Name) -> Parsed<Expr> {
        let first = self.deeper(Self::choice)?;
        let second = if self.take_sign("..") { Some(self.deeper(Self::choice)?) } else { None };
        let span = name.span.to(self.sign("]")?);
        self.count(span)?;
        Ok(match second {
            Some(second) => Expr::Slice(name, Box::new([first, second]), span),
            None => Expr::Index(name, Box::new(first), span),
        })
    }

    pub(super) fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let message = format!("expression nested too deeply: the limit is {MAX_DEPTH} levels");
            return Err(Diagnostic::error("too-deep", self.here(), message));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn count(&mut self, span: Span) -> Parsed<()> {
        self.operations += 1;
        if self.operations > MAX_OPERATIONS {
            let message = format!("expression too long: the limit is {MAX_OPERATIONS} operations");
            return Err(Diagnostic::error("too-deep", span, message)
                .help("name parts of it with `const`, or load the values with `file(\"..\")`"));
        }
        Ok(())
    }
}
