//! Line numbers of byte offsets.

/// Start offsets of the lines of a source text.
#[derive(Clone, Debug)]
pub(crate) struct LineStarts(Vec<u32>);

impl LineStarts {
    /// Finds the lines of `source`.
    pub(crate) fn new(source: &str) -> LineStarts {
        let breaks = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        LineStarts(std::iter::once(0).chain(breaks.map(|(i, _)| i as u32 + 1)).collect())
    }

    /// Returns the line of a byte offset, from 1.
    pub(crate) fn line(&self, offset: u32) -> u32 {
        self.0.partition_point(|&start| start <= offset) as u32
    }

    /// Returns the offset of the first byte of a line, from 1.
    pub(crate) fn start(&self, line: u32) -> Option<u32> {
        self.0.get(line.checked_sub(1)? as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::LineStarts;

    #[test]
    fn a_line_break_ends_its_line() {
        let lines = LineStarts::new("ab\n\nc");
        let found: Vec<u32> = (0..6).map(|offset| lines.line(offset)).collect();
        assert_eq!(found, [1, 1, 1, 2, 3, 3]);
        assert_eq!(
            [0, 1, 2, 3, 4].map(|line| lines.start(line)),
            [None, Some(0), Some(3), Some(4), None]
        );
        assert_eq!(LineStarts::new("").line(0), 1);
    }
}
