//! Tokens of directive lines: words, numbers and signs.
//!
//! Directives are a small language inside comments, with a tokenizer of their own. Spans are byte
//! ranges of the whole source file. `#` starts a comment that runs to the end of the line.

use crate::diag::{Diagnostic, Span};

/// A token of a directive.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// An identifier.
    /// Dots may join words (`sm__warps_active.avg`); `$`, `%` and `_` are letters as in PTX.
    Word(String),
    /// An integer literal, decimal, `0x` or `0b`; `_` may separate digits.
    Int(u64),
    /// `1.5`, `2e-6`
    Float(f64),
    /// `"text"`, without escapes.
    Text(String),
    /// Punctuation.
    Sign(&'static str),
}

/// A token and its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lexeme {
    pub(super) token: Token,
    pub(super) span: Span,
}

/// Signs, longer ones first, so that `<<` is not read as two `<`.
const SIGNS: &[&str] = &[
    "..", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "+", "-", "*", "/", "%", "&", "|", "^",
    "~", "!", "<", ">", "(", ")", "[", "]", "{", "}", ",", ":", "=", "?",
];

/// Returns the tokens of one line, whose first byte is at `start` in the source.
/// Reports and skips unreadable text.
pub(super) fn tokenize(line: &str, start: usize, diagnostics: &mut Vec<Diagnostic>) -> Vec<Lexeme> {
    let mut lexemes = Vec::new();
    let mut at = 0;
    while let Some(first) = line[at..].chars().next() {
        let rest = &line[at..];
        let (token, length) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first == '#' {
            break;
        } else if first.is_ascii_digit() {
            number(rest)
        } else if is_letter(first)
            || (first == '%' && rest[1..].starts_with(is_letter) && !follows_value(&lexemes))
        {
            let length = word_length(rest);
            (Ok(Token::Word(rest[..length].to_owned())), length)
        } else if first == '"' {
            match rest[1..].find('"') {
                Some(end) => (Ok(Token::Text(rest[1..=end].to_owned())), end + 2),
                None => (Err("unterminated quoted text".to_owned()), rest.len()),
            }
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Ok(Token::Sign(sign)), sign.len())
        } else {
            (Err(format!("unexpected character `{first}`")), first.len_utf8())
        };
        let span = Span::new(start + at, start + at + length);
        match token {
            Ok(token) => lexemes.push(Lexeme { token, span }),
            Err(message) => diagnostics.push(Diagnostic::error("directive-syntax", span, message)),
        }
        at += length;
    }
    lexemes
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '$'
}

/// Returns true if the tokens end in a value: `%` is then the remainder operator.
fn follows_value(lexemes: &[Lexeme]) -> bool {
    match lexemes.last().map(|l| &l.token) {
        None => false,
        Some(Token::Sign(sign)) => matches!(*sign, ")" | "]"),
        Some(Token::Word(_) | Token::Int(_) | Token::Float(_) | Token::Text(_)) => {
            lexemes.len() > 1
        }
    }
}

/// Returns the length of the identifier at the start of `text`.
/// A dot belongs to it if a letter follows (`a..b` is a range).
fn word_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut length = 1;
    while let Some(&byte) = bytes.get(length) {
        let dot = byte == b'.' && bytes.get(length + 1).is_some_and(|&b| is_letter(char::from(b)));
        if !(dot || is_letter(char::from(byte)) || byte.is_ascii_digit()) {
            break;
        }
        length += 1;
    }
    length
}

/// Returns the number at the start of `text`, and its length.
fn number(text: &str) -> (Result<Token, String>, usize) {
    let bytes = text.as_bytes();
    let run = |from: usize| {
        from + bytes[from..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count()
    };
    let mut end = run(0);
    let radix = match bytes.get(1) {
        Some(b'x' | b'X') if bytes[0] == b'0' => 16,
        Some(b'b' | b'B') if bytes[0] == b'0' => 2,
        _ => 10,
    };
    let mut float = false;
    if radix == 10 {
        if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
            float = true;
            end = run(end + 1);
        }
        let exponent = matches!(bytes[end - 1], b'e' | b'E');
        if exponent && matches!(bytes.get(end), Some(b'+' | b'-')) {
            end = run(end + 1);
        }
        float |= text[..end].contains(['e', 'E']);
    }
    let written = &text[..end];
    let digits = written.replace('_', "");
    let token = if float {
        digits.parse().map(Token::Float).map_err(|_| format!("invalid number `{written}`"))
    } else {
        let body = if radix == 10 { &digits[..] } else { &digits[2..] };
        u64::from_str_radix(body, radix).map(Token::Int).map_err(|e| match e.kind() {
            std::num::IntErrorKind::PosOverflow => format!("`{written}` does not fit in 64 bits"),
            _ => format!("invalid number `{written}`"),
        })
    };
    (token, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(line: &str) -> Vec<Token> {
        let mut diagnostics = Vec::new();
        let lexemes = tokenize(line, 0, &mut diagnostics);
        assert_eq!(diagnostics, []);
        lexemes.into_iter().map(|l| l.token).collect()
    }

    #[test]
    fn ranges_floats_and_dotted_words_are_told_apart() {
        let word = |w: &str| Token::Word(w.to_owned());
        assert_eq!(tokens("0..256"), [Token::Int(0), Token::Sign(".."), Token::Int(256)]);
        assert_eq!(tokens("lo..hi a.b"), [word("lo"), Token::Sign(".."), word("hi"), word("a.b")]);
        assert_eq!(
            tokens("1.5 2e-3 0x_ff 1_000"),
            [Token::Float(1.5), Token::Float(2e-3), Token::Int(255), Token::Int(1000)]
        );
        assert_eq!(tokens("arg i%n # rest"), [word("arg"), word("i"), Token::Sign("%"), word("n")]);
        assert_eq!(
            tokens("\"a b\" << ~"),
            [Token::Text("a b".into()), Token::Sign("<<"), Token::Sign("~")]
        );
    }

    #[test]
    fn what_cannot_be_read_is_reported_with_its_place() {
        for (line, start, end) in [
            ("1 § 2", 12, 14),
            ("12ab", 10, 14),
            ("\"open", 10, 15),
            ("99999999999999999999", 10, 30),
        ] {
            let mut diagnostics = Vec::new();
            tokenize(line, 10, &mut diagnostics);
            assert_eq!(diagnostics[0].labels[0].span, Span::new(start, end), "{line}");
        }
    }
}
