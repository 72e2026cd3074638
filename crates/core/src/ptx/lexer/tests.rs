use super::TokenKind::*;
use super::*;

fn kinds(text: &str) -> Vec<TokenKind> {
    let mut kinds: Vec<_> = lex(text).tokens.iter().map(|t| t.kind).collect();
    assert_eq!(kinds.pop(), Some(End));
    kinds
}

fn texts(text: &str) -> Vec<&str> {
    lex(text)
        .tokens
        .iter()
        .map(|t| &text[t.span.start as usize..t.span.end as usize])
        .filter(|t| !t.is_empty())
        .collect()
}

fn codes(text: &str) -> Vec<&'static str> {
    lex(text).diagnostics.iter().map(|d| d.code).collect()
}

#[test]
fn words_take_their_dots_and_directives_do_not() {
    let line = "@!%p1 ld.global.nc.L1::no_allocate.v2.f32 {%f1,_}, [%rd1+-4];";
    #[rustfmt::skip]
    let expected = ["@", "!", "%p1", "ld.global.nc.L1::no_allocate.v2.f32", "{", "%f1", ",", "_", "}", ",", "[", "%rd1",
        "+", "-", "4", "]", ";"];
    assert_eq!(texts(line), expected);
    assert_eq!(texts(".reg.u32 %tid.x .shared::cta"), [".reg", ".u32", "%tid.x", ".shared::cta"]);
    assert_eq!(texts("$L__BB0_2: a:b"), ["$L__BB0_2", ":", "a", ":", "b"]);
    assert_eq!(texts("tex.1d.v4 %r<10>"), ["tex.1d.v4", "%r", "<", "10", ">"]);
}

#[test]
fn literals_have_the_values_of_the_manual() {
    let int = |value| Int { value, unsigned: false };
    let unsigned = |value| Int { value, unsigned: true };
    for (text, kind) in [
        ("0", int(0)),
        ("42", int(42)),
        ("0x1234", int(0x1234)),
        ("0X1F", int(31)),
        ("017", int(15)),
        ("0b101", int(5)),
        ("42U", unsigned(42)),
        ("0xfabc123400000000", unsigned(0xfabc_1234_0000_0000)),
        ("9223372036854775807", int(i64::MAX as u64)),
        ("9223372036854775808", unsigned(1 << 63)),
        ("0f3F800000", Single(0x3f80_0000)),
        ("0Fbf800000", Single(0xbf80_0000)),
        ("0d3FF0000000000000", Double(0x3ff0_0000_0000_0000)),
        ("1.5", Double(1.5f64.to_bits())),
        ("1e3", Double(1000f64.to_bits())),
        ("2.5E-3", Double(2.5e-3f64.to_bits())),
        ("1.", Double(1f64.to_bits())),
    ] {
        assert_eq!(kinds(text), [kind], "{text}");
        assert_eq!(codes(text), [""; 0], "{text}");
    }
}

#[test]
fn malformed_literals_are_one_fault_each() {
    for text in [
        "09",
        "12abc",
        "0x",
        "0xg",
        "5u",
        "0f3F8",
        "0d3FF",
        "18446744073709551616",
        "1.5q",
        "0b12",
        "1e",
    ] {
        assert_eq!(codes(text), ["bad-number"], "{text}");
        assert_eq!(kinds(text).len(), 1, "{text}");
    }
}

#[test]
fn comments_vanish_and_directive_comments_stay() {
    let text = "//! n = 4 \r\na // b\n/* c\n*/ d //!e\n//!\n";
    let lexed = lex(text);
    assert_eq!(texts(text), ["a", "d"]);
    let kept: Vec<_> = lexed.directives.iter().map(|d| (d.text.as_str(), d.span)).collect();
    assert_eq!(
        kept,
        [("n = 4", Span::new(4, 9)), ("e", Span::new(32, 33)), ("", Span::new(37, 37))]
    );
    assert!(lexed.tokens[1].after_newline, "the block comment contains a line break");
}

#[test]
fn unreadable_text_is_reported_once_per_run() {
    for (text, code, tokens) in [
        ("a \u{1b}\u{1} b", "unexpected-character", 3),
        ("a “ b", "unexpected-character", 3),
        ("a\u{a0}b", "unexpected-character", 2),
        ("$ a", "unexpected-character", 2),
        ("%ré", "non-ascii-name", 1),
        ("#define N 4\na", "preprocessor-line", 1),
        ("\"abc\r\nb", "unclosed-string", 2),
        ("a /* b", "unclosed-comment", 1),
        ("a . b", "unexpected-character", 3),
        ("a ' b", "unexpected-character", 3),
    ] {
        assert_eq!(codes(text), [code], "{text:?}");
        assert_eq!(kinds(text).len(), tokens, "{text:?}");
    }
    assert_eq!(kinds("\u{feff}a"), [Word], "a byte order mark at the start is valid");
    assert_eq!(texts(r#""a\"b" "c\\" "C:\dir""#), [r#""a\"b""#, r#""c\\""#, r#""C:\dir""#]);
}
