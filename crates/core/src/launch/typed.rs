//! Values of the command line's options: what [`super::Overrides`] is made of.

/// The name and the expression of `NAME=VALUE`.
pub fn setting(text: &str) -> Option<(String, String)> {
    text.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
}

/// A size in one to three directions, each at least 1: `128`, `128,2` or `128x2x1`.
pub fn extent(text: &str) -> Option<[u32; 3]> {
    let sizes = text.split([',', 'x']).map(|size| size.trim().parse().ok().filter(|&n| n > 0));
    match sizes.collect::<Option<Vec<u32>>>()?.as_slice() {
        [x] => Some([*x, 1, 1]),
        [x, y] => Some([*x, *y, 1]),
        [x, y, z] => Some([*x, *y, *z]),
        _ => None,
    }
}
