//! Elements in files: raw bytes, `.npy` of NumPy, text.
//!
//! The `.npy` format is that of NumPy Enhancement Proposal 1: magic, version, a header that is a
//! Python dictionary, little-endian elements.

use std::path::Path;

use simt_core::exec::short_bits;
use simt_core::isa::Type;
use simt_core::launch::{Buffer, Wanted};

/// First bytes of a `.npy` file.
const MAGIC: &[u8] = b"\x93NUMPY";
/// Alignment of the elements in a `.npy` file.
const ALIGN: usize = 64;
/// Largest header of a `.npy` file that is read, in bytes.
pub(crate) const MOST_HEADER: u64 = 4096;
/// Characters of one element in a text file, at most.
pub(crate) const MOST_LETTERS: u64 = 64;

/// Format of a file, by its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Npy,
    Text,
    Raw,
}

impl Format {
    pub(crate) fn of(path: &Path) -> Format {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("npy") => Format::Npy,
            Some("txt" | "csv") => Format::Text,
            _ => Format::Raw,
        }
    }

    /// Returns the largest size of a file with the elements, in bytes.
    pub(crate) fn most(self, wanted: &Wanted) -> u64 {
        match self {
            Format::Raw => wanted.bytes(),
            Format::Npy => wanted.bytes().saturating_add(MOST_HEADER),
            Format::Text => wanted.count.saturating_mul(MOST_LETTERS).saturating_add(MOST_LETTERS),
        }
    }
}

/// Returns the little-endian elements in a file's bytes.
pub(crate) fn decode(path: &Path, bytes: Vec<u8>, wanted: &Wanted) -> Result<Vec<u8>, String> {
    match Format::of(path) {
        Format::Raw => Ok(bytes),
        Format::Npy => of_npy(&bytes, wanted.element),
        Format::Text => {
            let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
            of_text(&text, wanted.element)
        }
    }
}

/// Returns the bytes of a file with the buffer's elements.
pub(crate) fn encode(path: &Path, buffer: &Buffer) -> Vec<u8> {
    let length = usize::try_from(buffer.bytes).unwrap_or(usize::MAX);
    let elements = buffer.words.iter().flat_map(|word| word.to_le_bytes());
    let mut bytes: Vec<u8> = elements.chain(std::iter::repeat(0)).take(length).collect();
    let count = buffer.bytes / u64::from(buffer.element.bytes().max(1));
    match Format::of(path) {
        Format::Raw => bytes,
        Format::Npy => {
            let mut file = header(buffer.element, count);
            file.append(&mut bytes);
            file
        }
        Format::Text => (0..count).flat_map(|i| (buffer.number(i) + "\n").into_bytes()).collect(),
    }
}

/// Returns true for bits without a meaning as a number.
fn is_plain(element: Type) -> bool {
    matches!(element, Type::B8 | Type::B16 | Type::B32 | Type::B64)
}

/// NumPy's name of an element type.
fn descr(element: Type) -> String {
    let kind = match element {
        Type::BF16 => 'V', // two bytes that NumPy has no number for
        _ if element.is_float() => 'f',
        _ if element.is_signed() => 'i',
        _ => 'u',
    };
    let order = if element.bytes() == 1 || element == Type::BF16 { '|' } else { '<' };
    format!("{order}{kind}{}", element.bytes())
}

/// Returns the header of a `.npy` file of one dimension.
fn header(element: Type, count: u64) -> Vec<u8> {
    let (descr, before) = (descr(element), MAGIC.len() + 4);
    let mut words =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({count},), }}");
    let length = (before + words.len() + 1).next_multiple_of(ALIGN) - before;
    words += &" ".repeat(length - words.len() - 1);
    words.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(words.into_bytes());
    bytes
}

fn of_npy(bytes: &[u8], element: Type) -> Result<Vec<u8>, String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("it is no .npy file: its first bytes differ")?;
    let (length, rest) = match rest {
        [1, _, a, b, rest @ ..] => (u32::from(u16::from_le_bytes([*a, *b])), rest),
        [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]), rest),
        _ => return Err("its .npy version is not 1, 2 or 3".to_owned()),
    };
    let (words, elements) =
        rest.split_at_checked(length as usize).ok_or("it ends within its header")?;
    let words = std::str::from_utf8(words).map_err(|_| "its header is not text")?;
    let after = |key: &str| {
        let at = words.find(&format!("'{key}'"))?;
        words[at..].split_once(':').map(|(_, value)| value.trim_start())
    };
    let found = after("descr")
        .and_then(|value| value.strip_prefix('\''))
        .and_then(|value| value.split_once('\''))
        .map(|(descr, _)| descr)
        .ok_or("its elements are not numbers of one type")?;
    let same = |a: &str, b: &str| {
        a.trim_start_matches(['<', '|', '=']) == b.trim_start_matches(['<', '|'])
    };
    // Bits without a meaning take any type of their width.
    let wanted = descr(element);
    let fits = same(found, &wanted)
        || (is_plain(element) || element == Type::BF16 && found.ends_with("u2"))
            && found.ends_with(&wanted[2..])
            && !found.starts_with('>');
    if !fits {
        return Err(format!("its elements are `{found}`, those of the buffer `{wanted}`"));
    }
    let shape = after("shape").and_then(|value| value.strip_prefix('(')?.split_once(')'));
    let (shape, _) = shape.ok_or("its header has no shape")?;
    let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
    let sizes: Vec<u64> = sizes
        .map(|size| size.parse().map_err(|_| format!("`{size}` in its shape is no size")))
        .collect::<Result<_, String>>()?;
    if sizes.len() > 1 && after("fortran_order").is_some_and(|value| value.starts_with("True")) {
        return Err("its order is Fortran's; save it by `np.ascontiguousarray`".to_owned());
    }
    let count = sizes.iter().try_fold(1u64, |count, size| count.checked_mul(*size));
    let bytes = count.and_then(|count| count.checked_mul(u64::from(element.bytes())));
    if bytes != Some(elements.len() as u64) {
        return Err(format!("its shape ({shape}) does not match its {} bytes", elements.len()));
    }
    Ok(elements.to_vec())
}

/// Reads numbers separated by white space, commas or semicolons.
fn of_text(text: &str, element: Type) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    for (line, words) in (1..).zip(text.lines()) {
        let words = words.split('#').next().unwrap_or_default();
        let separate = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
        for word in words.split(separate).filter(|word| !word.is_empty()) {
            let bits = bits(word, element)
                .ok_or_else(|| format!("line {line}: `{word}` is no {}", element.name()))?;
            bytes.extend(bits.to_le_bytes().into_iter().take(element.bytes() as usize));
        }
    }
    Ok(bytes)
}

/// Returns the bits of an element from its text; `None` if it does not fit.
fn bits(word: &str, element: Type) -> Option<u64> {
    if element.is_float() {
        let single = || word.parse().ok().map(|x: f32| u64::from(x.to_bits()));
        let double = || word.parse().ok().map(|x: f64| x.to_bits());
        let short = |brain| word.parse().ok().map(|x: f64| u64::from(short_bits(x, brain)));
        return match element {
            Type::F16 => short(false),
            Type::BF16 => short(true),
            Type::F32 => single(),
            _ => double(),
        };
    }
    let hexadecimal = word.strip_prefix("0x").map(|digits| i128::from_str_radix(digits, 16));
    let number = hexadecimal.unwrap_or_else(|| word.parse()).ok()?;
    let width = element.bits();
    let (low, high) = match (element.is_signed(), is_plain(element)) {
        (true, _) => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        (_, true) => (-(1i128 << (width - 1)), (1i128 << width) - 1),
        _ => (0, (1i128 << width) - 1),
    };
    (low..=high).contains(&number).then_some(number as u64)
}
