//! Buffer contents as text: elements in hexadecimal, with runs of equal elements counted.

use super::text::digest;
use serde::{Deserialize, Serialize};
use simt_core::isa::Type;

/// Approximate line width in characters.
const WIDTH: usize = 110;
/// Shortest run of equal elements that is counted.
const RUN: usize = 3;
/// Largest number of elements that is written out.
const MOST_ELEMENTS: usize = 2_048;

/// Content of a buffer after a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Content {
    /// Same content as before.
    Unchanged,
    /// Same content as an earlier buffer. Many spellings of one operation give one result.
    Same(String),
    /// Elements as lines of hexadecimal numbers. `x9` follows an element that repeats nine times.
    Elements(Vec<String>),
    /// FNV-1a digest of the bytes, for buffers too large to write out.
    Digest(String),
}

impl Content {
    /// Encodes the content of a buffer of `bytes` bytes. Its words changed from `before` to
    /// `after`.
    pub fn of(before: &[u32], after: &[u32], bytes: u64, element: Type) -> Content {
        if before == after {
            return Content::Unchanged;
        }
        let elements = elements(after, bytes, element);
        if elements.len() > MOST_ELEMENTS {
            return Content::Digest(words_digest(after));
        }
        let digits = element.bytes() as usize * 2;
        let mut lines = vec![String::new()];
        for run in elements.chunk_by(|a, b| a == b) {
            let mut put = |text: &str| match lines.last_mut() {
                Some(line) if line.is_empty() => line.push_str(text),
                Some(line) if line.len() + text.len() < WIDTH => {
                    line.push(' ');
                    line.push_str(text);
                }
                _ => lines.push(text.to_string()),
            };
            if run.len() >= RUN {
                put(&format!("{:0digits$x}x{}", run[0], run.len()));
            } else {
                run.iter().for_each(|value| put(&format!("{value:0digits$x}")));
            }
        }
        Content::Elements(lines)
    }

    /// Decodes written-out elements. `None` for other contents.
    ///
    /// # Errors
    /// The word that is not an element.
    pub fn read(&self) -> Option<Result<Vec<u64>, String>> {
        let Content::Elements(lines) = self else { return None };
        let mut found = Vec::new();
        for word in lines.iter().flat_map(|line| line.split_whitespace()) {
            let (value, count) = word.split_once('x').unwrap_or((word, "1"));
            match (u64::from_str_radix(value, 16), count.parse::<usize>()) {
                (Ok(value), Ok(count)) if count <= MOST_ELEMENTS => {
                    found.extend(std::iter::repeat_n(value, count))
                }
                _ => return Some(Err(format!("expected an element, found `{word}`"))),
            }
        }
        Some(Ok(found))
    }
}

/// Digest of a buffer's words for [`Content::Digest`].
pub(super) fn words_digest(words: &[u32]) -> String {
    format!("{:016x}", digest(words.iter().flat_map(|word| word.to_le_bytes())))
}

/// Elements of a buffer, without the padding of its last word.
pub(super) fn elements(words: &[u32], bytes: u64, element: Type) -> Vec<u64> {
    let width = element.bytes().max(1) as usize;
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let all: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take(bytes).collect();
    all.chunks(width)
        .map(|chunk| chunk.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for (element, words, bytes, first) in [
            (Type::U8, vec![0x0404_0401, 0x0000_0005], 5, "01 04x3 05"),
            (Type::B16, vec![0x0002_0001, 0x0003], 6, "0001 0002 0003"),
            (Type::F32, vec![7; 40], 160, "00000007x40"),
            (Type::U64, vec![1, 2, 1, 2], 16, "0000000200000001 0000000200000001"),
        ] {
            let content = Content::of(&[], &words, bytes, element);
            assert_eq!(content, Content::Elements(vec![first.to_string()]));
            assert_eq!(content.read(), Some(Ok(elements(&words, bytes, element))));
        }
        assert_eq!(Content::of(&[1], &[1], 4, Type::U32), Content::Unchanged);
        assert!(matches!(Content::of(&[], &vec![1; 3_000], 12_000, Type::U32), Content::Digest(_)));
        for bad in ["zz", "12x", "12x99999999999", "11112222333344445"] {
            assert!(
                Content::Elements(vec![bad.to_string()]).read().is_some_and(|r| r.is_err()),
                "{bad}"
            );
        }
    }
}
