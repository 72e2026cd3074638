//! Line numbers of byte offsets.

/// Where each line of a source text starts.
pub(super) struct Lines(Vec<u32>);

impl Lines {
    /// The lines of `source`.
    pub(super) fn new(source: &str) -> Lines {
        let behind = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(i, _)| i as u32 + 1);
        Lines(std::iter::once(0).chain(behind).collect())
    }

    /// The line of a byte, counted from 1.
    pub(super) fn line(&self, offset: u32) -> u32 {
        self.0.partition_point(|&start| start <= offset) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn a_line_break_ends_its_line() {
        let lines = Lines::new("ab\n\nc");
        let found: Vec<u32> = (0..6).map(|offset| lines.line(offset)).collect();
        assert_eq!(found, [1, 1, 1, 2, 3, 3]);
        assert_eq!(Lines::new("").line(0), 1);
    }
}
