//! Shapes of blocks and clusters that a kernel's directives state.

use super::Body;
use crate::diag::Diagnostic;
use crate::ptx::tree::Function;

impl Body<'_> {
    /// Returns the block shape of `.maxntid` or `.reqntid`, and true if it is required.
    pub(super) fn block_limit(&mut self, function: &Function) -> Option<([u32; 3], bool)> {
        let (shape, word) = self.shape(function, &["maxntid", "reqntid"])?;
        Some((shape, word == "reqntid"))
    }

    /// Returns the shape that the first of some directives states, and its name.
    pub(super) fn shape<'f>(
        &mut self,
        function: &'f Function,
        words: &[&str],
    ) -> Option<([u32; 3], &'f str)> {
        let (word, numbers) =
            function.performance.iter().find(|(word, _)| words.contains(&word.text.as_str()))?;
        let mut shape = [1; 3];
        for (i, &number) in numbers.iter().enumerate() {
            match (shape.get_mut(i), u32::try_from(number)) {
                (Some(place), Ok(number)) if number > 0 => *place = number,
                _ => {
                    let message =
                        format!("expected up to three positive numbers for `.{}`", word.text);
                    self.report(Diagnostic::error("block-limit", word.span, message));
                    return None;
                }
            }
        }
        Some((shape, &word.text))
    }
}
