//! Edits of a text by words: rough ones, and ones that usually keep a program sound.

use std::sync::LazyLock;

/// An edit of a text. Positions and words are random `u32`s, scaled to the text's length.
#[derive(Clone, Copy, Debug)]
pub enum Edit {
    /// Deletes a number of words from a position on.
    Delete(u32, usize),
    /// Repeats a number of words from a position on.
    Repeat(u32, usize),
    /// Replaces a word by one of another text.
    Replace(u32, u32),
    /// Replaces a word by one of the same kind from the same text; the result is often still sound.
    Vary(u32, u32),
    /// Inserts a word of the dictionary.
    Insert(u32, u32),
    /// Deletes a number of bytes, possibly within words.
    Cut(u32, usize),
    /// Truncates the text.
    Truncate(u32),
}

impl Edit {
    /// Returns the edit encoded by three random numbers.
    pub fn drawn([kind, at, with]: [u32; 3]) -> Edit {
        let few = 1 + with as usize % 8;
        match kind % 12 {
            0 => Edit::Delete(at, few),
            1 => Edit::Repeat(at, few),
            2 => Edit::Replace(at, with),
            3 | 4 => Edit::Insert(at, with),
            5 => Edit::Cut(at, few.div_ceil(2)),
            6 if with % 4 == 0 => Edit::Truncate(at),
            _ => Edit::Vary(at, with),
        }
    }
}

/// Returns the words of libFuzzer's dictionary.
pub fn dictionary() -> Vec<String> {
    include_str!("../ptx.dict").lines().filter_map(word).collect()
}

/// Returns the quoted word of a line, with `\\`, `\"` and `\xAB` decoded.
fn word(line: &str) -> Option<String> {
    let inside = line.strip_prefix('"')?.strip_suffix('"')?.as_bytes();
    let mut bytes = Vec::new();
    let mut at = 0;
    while let Some(&byte) = inside.get(at) {
        let (byte, length) = match (byte, inside.get(at + 1)) {
            (b'\\', Some(b'x')) => {
                let digits = std::str::from_utf8(inside.get(at + 2..at + 4)?).ok()?;
                (u8::from_str_radix(digits, 16).ok()?, 4)
            }
            (b'\\', Some(&escaped)) => (escaped, 2),
            _ => (byte, 1),
        };
        bytes.push(byte);
        at += length;
    }
    String::from_utf8(bytes).ok()
}

/// Returns what a word's characters have in common; other characters are words of their own.
fn kind(c: char) -> Option<bool> {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '%' | '$' => Some(true),
        ' ' | '\n' | '\t' => Some(false),
        _ if c.is_alphanumeric() => Some(true),
        _ if c.is_whitespace() => Some(false),
        _ => None,
    }
}

/// Splits a text into words, numbers, single punctuation characters and runs of blanks.
pub fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut from, mut last) = (0, None);
    for (at, c) in text.char_indices() {
        let next = kind(c);
        if at > from && (next.is_none() || next != last) {
            words.push(&text[from..at]);
            from = at;
        }
        last = next;
    }
    if from < text.len() {
        words.push(&text[from..]);
    }
    words
}

/// Scales a random number to an index below `length`.
fn index(drawn: u32, length: usize) -> usize {
    ((u64::from(drawn) * length as u64) >> 32) as usize
}

/// Returns the text after an edit; `other` is the source of foreign words.
pub fn edited(text: &str, other: &str, edit: &Edit) -> String {
    static DICTIONARY: LazyLock<Vec<String>> = LazyLock::new(dictionary);
    let mut parts = words(text);
    if parts.is_empty() {
        return DICTIONARY.first().cloned().unwrap_or_default();
    }
    match *edit {
        Edit::Delete(at, n) => {
            let at = index(at, parts.len());
            parts.drain(at..(at + n).min(parts.len()));
        }
        Edit::Repeat(at, n) => {
            let at = index(at, parts.len());
            let again = parts[at..(at + n).min(parts.len())].to_vec();
            parts.splice(at..at, again);
        }
        Edit::Replace(at, from) => {
            let lent = words(other);
            let at = index(at, parts.len());
            parts[at] = if lent.is_empty() { "" } else { lent[index(from, lent.len())] };
        }
        Edit::Vary(at, from) => {
            // Same kind: number, register or other word, after a dot, a blank or something else.
            let like = |i: usize| {
                let before = i.checked_sub(1).and_then(|i| parts[i].chars().next());
                let kind = |c: char| (c.is_ascii_digit(), c == '%', c.is_alphabetic());
                let place = before.map(|c| (c == '.', c.is_whitespace()));
                (parts[i].chars().next().map(kind), place)
            };
            let at = index(at, parts.len());
            let wanted = like(at);
            let others: Vec<usize> = (0..parts.len()).filter(|&i| like(i) == wanted).collect();
            parts[at] = parts[others[index(from, others.len())]];
        }
        Edit::Insert(at, word) => {
            let at = index(at, parts.len());
            parts.insert(at, &DICTIONARY[index(word, DICTIONARY.len())]);
        }
        Edit::Cut(at, n) => {
            let bytes = text.as_bytes();
            let at = index(at, bytes.len());
            let kept = [&bytes[..at], &bytes[(at + n).min(bytes.len())..]].concat();
            return String::from_utf8_lossy(&kept).into_owned();
        }
        Edit::Truncate(at) => parts.truncate(index(at, parts.len())),
    }
    parts.concat()
}
