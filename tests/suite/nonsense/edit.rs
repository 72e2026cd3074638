//! Random changes to a program's text, rough ones and such as leave it sound more often than not.

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A change to a text.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    /// Takes out the words `at..at + count`.
    Delete(Index, usize),
    /// Repeats the words `at..at + count`.
    Repeat(Index, usize),
    /// Puts a word of another program in place of one.
    Replace(Index, Index),
    /// Puts a word of the same kind from the same program in place of one: the result is often still sound.
    Vary(Index, Index),
    /// Puts a word there that no program has.
    Insert(Index, &'static str),
    /// Takes out bytes in the middle of words.
    Cut(Index, usize),
    /// Ends the text there.
    Truncate(Index),
}

/// Words at the edges of what the language allows.
const EDGES: &[&str] = &[
    "0x",
    "0xffffffffffffffffff",
    "-9223372036854775808",
    "18446744073709551615",
    "4294967296",
    "1e999",
    "0f7fc0000",
    "nan",
    "%",
    "%r",
    "%r<4294967295>",
    "%tid",
    "%tid.w",
    "_",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "@",
    "@!",
    "!",
    "|",
    ";",
    ",",
    ":",
    "/*",
    "*/",
    "//",
    "//!",
    "\"",
    "\\",
    "\0",
    "é",
    "𝄞",
    ".reg",
    ".reg .pred",
    ".shared .align 3 .b8",
    ".entry",
    ".func",
    ".v4",
    ".param",
    "bra",
    "ret;",
    "bar.sync 99;",
    "call",
    "add.u32",
    "ld.global.v4.u32",
    "setp.lt.and.u32",
    "+",
    "-",
    "<<",
    ">>",
    "%%",
    "?",
    "..",
    "for i",
    "fill",
    "random(",
    "expect",
    "buffer x: u32[",
    "const",
    "block",
    "grid = (0, 0, 0)",
    ".loc 1 4294967295 0",
    ".version 99.99",
    ".target sm_0",
    ".address_size 7",
    ".maxntid 0",
    ".pragma",
];

pub(crate) fn edit() -> impl Strategy<Value = Edit> {
    let at = any::<Index>;
    prop_oneof![
        1 => (at(), 1usize..8).prop_map(|(i, n)| Edit::Delete(i, n)),
        1 => (at(), 1usize..8).prop_map(|(i, n)| Edit::Repeat(i, n)),
        1 => (at(), at()).prop_map(|(i, j)| Edit::Replace(i, j)),
        6 => (at(), at()).prop_map(|(i, j)| Edit::Vary(i, j)),
        1 => (at(), select(EDGES)).prop_map(|(i, w)| Edit::Insert(i, w)),
        1 => (at(), 1usize..4).prop_map(|(i, n)| Edit::Cut(i, n)),
        1 => at().prop_map(Edit::Truncate),
    ]
}

/// The text as words, numbers, single signs and runs of blanks.
pub(crate) fn words(text: &str) -> Vec<&str> {
    let kind = |c: char| {
        if c.is_alphanumeric() || "_%$".contains(c) {
            0
        } else if c.is_whitespace() {
            1
        } else {
            2
        }
    };
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let same = |c: char| kind(c) == kind(first) && kind(c) < 2;
        let end = if kind(first) == 2 { first.len_utf8() } else { rest.find(|c| !same(c)).unwrap_or(rest.len()) };
        words.push(&rest[..end]);
        rest = &rest[end..];
    }
    words
}

/// The text after an edit; `other` lends words.
pub(crate) fn edited(text: &str, other: &str, edit: &Edit) -> String {
    let mut parts = words(text);
    if parts.is_empty() {
        return EDGES[0].to_string();
    }
    match edit {
        Edit::Delete(at, n) => {
            let at = at.index(parts.len());
            parts.drain(at..(at + n).min(parts.len()));
        }
        Edit::Repeat(at, n) => {
            let at = at.index(parts.len());
            let again = parts[at..(at + n).min(parts.len())].to_vec();
            parts.splice(at..at, again);
        }
        Edit::Replace(at, from) => {
            let lent = words(other);
            let at = at.index(parts.len());
            parts[at] = if lent.is_empty() { "" } else { lent[from.index(lent.len())] };
        }
        Edit::Vary(at, from) => {
            // Alike: numbers, registers, other words; each behind a dot, a blank or something else.
            let like = |i: usize| {
                let before = i.checked_sub(1).and_then(|i| parts[i].chars().next());
                let kind = |c: char| (c.is_ascii_digit(), c == '%', c.is_alphabetic());
                let place = before.map(|c| (c == '.', c.is_whitespace()));
                (parts[i].chars().next().map(kind), place)
            };
            let at = at.index(parts.len());
            let others: Vec<usize> = (0..parts.len()).filter(|&i| like(i) == like(at)).collect();
            parts[at] = parts[others[from.index(others.len())]];
        }
        Edit::Insert(at, word) => {
            let at = at.index(parts.len());
            parts.insert(at, word);
        }
        Edit::Cut(at, n) => {
            let bytes = text.as_bytes();
            let at = at.index(bytes.len());
            let kept = [&bytes[..at], &bytes[(at + n).min(bytes.len())..]].concat();
            return String::from_utf8_lossy(&kept).into_owned();
        }
        Edit::Truncate(at) => parts.truncate(at.index(parts.len())),
    }
    parts.concat()
}

/// Changes of the gentle sort.
pub(crate) fn vary() -> impl Strategy<Value = Edit> {
    (any::<Index>(), any::<Index>()).prop_map(|(i, j)| Edit::Vary(i, j))
}
