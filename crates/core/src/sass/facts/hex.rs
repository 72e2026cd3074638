//! Bytes as hexadecimal digits.

use std::fmt::Write;

use serde::de::{Deserializer, Error, Visitor};

/// Deserializes bytes; blanks between the digits mean nothing.
pub(super) fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    from.deserialize_str(Digits)
}

struct Digits;

impl Visitor<'_> for Digits {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("hexadecimal digits, two a byte")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
        let mut bytes = Vec::new();
        let mut high = None;
        for c in text.chars().filter(|c| !c.is_whitespace()) {
            let digit = c.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            let digit = digit.ok_or_else(|| {
                E::custom(format_args!("expected a hexadecimal digit, found {c:?}"))
            })?;
            match high.take() {
                None => high = Some(digit),
                Some(high) => bytes.push(high << 4 | digit),
            }
        }
        match high {
            None => Ok(bytes),
            Some(_) => {
                Err(E::custom("expected two hexadecimal digits a byte, found an odd number"))
            }
        }
    }
}

/// Returns the digits of bytes.
pub(super) fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
