//! Input at the prediction prompt, and the score.

/// An input line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Said {
    /// Prediction.
    Number(f64),
    /// Request for a hint.
    Hint,
    /// Skips the question.
    Skip,
    /// Ends the quiz.
    Quit,
}

/// Outcome of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Correct prediction.
    Right,
    /// Wrong prediction.
    Wrong,
    /// No prediction.
    Skipped,
}

/// Number of questions by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Correct predictions.
    pub right: usize,
    /// Wrong predictions.
    pub wrong: usize,
    /// Skipped questions.
    pub skipped: usize,
}

impl Said {
    /// Parses an input line. A number (`12`, `1,024`, `37.5`, `50 %`), `h`, `s`, `q`, or `hint`,
    /// `skip`, `quit`.
    ///
    /// # Errors
    /// If the line is none of these; the message lists the valid input.
    pub fn read(line: &str) -> Result<Said, String> {
        let word = line.trim().to_ascii_lowercase();
        match word.as_str() {
            "h" | "hint" => return Ok(Said::Hint),
            "s" | "skip" => return Ok(Said::Skip),
            "q" | "quit" | "exit" => return Ok(Said::Quit),
            _ => {}
        }
        let digits = word.strip_suffix('%').unwrap_or(&word).trim_end();
        let plain = if is_grouped(digits) { digits.replace(',', "") } else { digits.to_owned() };
        // `parse` accepts "inf" and "nan", which are never answers.
        let number = plain
            .parse::<f64>()
            .ok()
            .filter(|n| n.is_finite() && plain.contains(|c: char| c.is_ascii_digit()));
        number.map(Said::Number).ok_or_else(|| {
            let shown: String = line.trim().chars().filter(|c| !c.is_control()).take(40).collect();
            let what =
                if shown.is_empty() { "an empty line".to_owned() } else { format!("`{shown}`") };
            format!(
                "expected a number such as 12, 1,024 or 37.5, found {what} (h: hint, s: skip, q: \
                 quit)",
            )
        })
    }
}

/// Returns true if commas separate groups of three digits, as in `15,200`. `1,5` is ambiguous.
fn is_grouped(text: &str) -> bool {
    let whole = text.split('.').next().unwrap_or_default();
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let all_digits = |group: &str| group.bytes().all(|b| b.is_ascii_digit());
    (1..=3).contains(&first.len())
        && all_digits(first)
        && groups.all(|group| group.len() == 3 && all_digits(group))
}

impl Score {
    /// Counts a question.
    pub fn add(&mut self, turn: Turn) {
        match turn {
            Turn::Right => self.right += 1,
            Turn::Wrong => self.wrong += 1,
            Turn::Skipped => self.skipped += 1,
        }
    }

    /// Returns true if no prediction was wrong and no question was skipped.
    pub const fn is_clean(&self) -> bool {
        self.wrong == 0 && self.skipped == 0
    }
}
