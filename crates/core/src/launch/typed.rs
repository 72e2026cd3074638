//! Parsing of command-line option values that make up [`super::Overrides`].

/// Splits `NAME=VALUE` into a name and an expression.
pub fn setting(text: &str) -> Option<(String, String)> {
    text.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
}

/// Parses a size in one to three dimensions: `128`, `128,2` or `128x2x1`.
/// Each is at least 1.
pub fn extent(text: &str) -> Option<[u32; 3]> {
    let sizes = text.split([',', 'x']).map(|size| size.trim().parse().ok().filter(|&n| n > 0));
    match sizes.collect::<Option<Vec<u32>>>()?.as_slice() {
        [x] => Some([*x, 1, 1]),
        [x, y] => Some([*x, *y, 1]),
        [x, y, z] => Some([*x, *y, *z]),
        _ => None,
    }
}
