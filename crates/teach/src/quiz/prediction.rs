//! What a person types when a number is asked for, and the score.

/// A line that was typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Said {
    /// A prediction.
    Number(f64),
    /// What is there to think about?
    Hint,
    /// The next question; this one stays unanswered.
    Skip,
    /// Enough.
    Quit,
}

/// What became of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The prediction holds.
    Right,
    /// It does not.
    Wrong,
    /// There was none.
    Skipped,
}

/// How predictions fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Questions predicted right.
    pub right: usize,
    /// Questions predicted wrong.
    pub wrong: usize,
    /// Questions left out.
    pub skipped: usize,
}

impl Said {
    /// Reads a line: a number (`12`, `1,024`, `37.5`, `50 %`), `h`, `s` or `q`, or the words that these begin.
    ///
    /// # Errors
    /// What could be typed instead.
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
        // `parse` knows "inf" and "nan", which no run measures.
        let number =
            plain.parse::<f64>().ok().filter(|n| n.is_finite() && plain.contains(|c: char| c.is_ascii_digit()));
        number.map(Said::Number).ok_or_else(|| {
            let shown: String = line.trim().chars().filter(|c| !c.is_control()).take(40).collect();
            let what = if shown.is_empty() { "an empty line".to_owned() } else { format!("`{shown}`") };
            format!("{what} is no number; write one as in 12, 1,024 or 37.5 (h: hint, s: skip, q: quit)")
        })
    }
}

/// Whether commas stand between groups of three digits, as in `15,200`; `1,5` could be anything.
fn is_grouped(text: &str) -> bool {
    let whole = text.split('.').next().unwrap_or_default();
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let all_digits = |group: &str| group.bytes().all(|b| b.is_ascii_digit());
    (1..=3).contains(&first.len()) && all_digits(first) && groups.all(|group| group.len() == 3 && all_digits(group))
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

    /// Whether no prediction was wrong and no question was left out.
    pub const fn is_clean(&self) -> bool {
        self.wrong == 0 && self.skipped == 0
    }
}
