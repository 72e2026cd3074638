//! Verdicts, computed from figures by stated rules.
//!
//! A line holds the figure of the source, ours, and a [`Referee`]: a measurement on an H200 or an
//! independent count. The [`Rule`] defines when two figures agree; the [`Outcome`] follows from the
//! agreement; the [`verdict`] counts the outcomes.

use simt_report::Cell;

/// Criterion for the agreement of two figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// Equal.
    Exact,
    /// Within this many percent of each other.
    Within(f64),
    /// Ratios both above 1, both below, or both 1, with a margin of 2 % around 1.
    SameSide,
}

/// Decides if the source and our run differ.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Referee {
    /// No referee.
    None,
    /// Measurement on the H200.
    H200(Cell),
    /// Count that does not depend on the simulator.
    Counted(Cell),
}

/// Outcome of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Ours agrees with the source.
    Reproduced,
    /// Ours disagrees with the source and agrees with the referee.
    Refuted,
    /// Ours disagrees with the source, and no referee agrees with ours.
    NotReproduced,
    /// The source has no figure; ours agrees with the referee.
    Confirmed,
    /// The source has no figure; ours disagrees with the referee.
    Off,
}

/// One figure of a claim.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) what: String,
    pub(super) rule: Rule,
    pub(super) source: Option<Cell>,
    pub(super) ours: Cell,
    pub(super) referee: Referee,
}

impl Rule {
    /// Returns true if two figures agree. A number and a word never do.
    pub(super) fn agrees(self, a: &Cell, b: &Cell) -> bool {
        let (Some(x), Some(y)) = (number(a), number(b)) else { return a == b };
        match self {
            Rule::Exact => (x - y).abs() <= 1e-9 * y.abs(),
            Rule::Within(percent) => (x - y).abs() <= percent / 100.0 * y.abs(),
            Rule::SameSide => side(x) == side(y),
        }
    }

    /// The rule in words.
    pub(super) fn text(self) -> String {
        match self {
            Rule::Exact => "the same".to_owned(),
            Rule::Within(percent) => format!("within {percent} %"),
            Rule::SameSide => "same side of 1".to_owned(),
        }
    }
}

fn number(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Count(n) => Some(*n as f64),
        Cell::Real(x) => Some(*x),
        Cell::Word(_) => None,
    }
}

fn side(ratio: f64) -> i8 {
    match ratio {
        r if r > 1.02 => 1,
        r if r < 0.98 => -1,
        _ => 0,
    }
}

impl Line {
    /// Compares our figure with the source and the referee.
    pub(super) fn outcome(&self) -> Outcome {
        let confirmed = match &self.referee {
            Referee::None => false,
            Referee::H200(figure) | Referee::Counted(figure) => {
                self.rule.agrees(&self.ours, figure)
            }
        };
        match &self.source {
            Some(source) if self.rule.agrees(&self.ours, source) => Outcome::Reproduced,
            Some(_) if confirmed => Outcome::Refuted,
            Some(_) => Outcome::NotReproduced,
            None if confirmed => Outcome::Confirmed,
            None => Outcome::Off,
        }
    }
}

impl Outcome {
    /// The outcome in words.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Outcome::Reproduced => "reproduced",
            Outcome::Refuted => "refuted",
            Outcome::NotReproduced => "not reproduced",
            Outcome::Confirmed => "agrees",
            Outcome::Off => "differs",
        }
    }
}

/// Computes the verdict on a claim from the outcomes of its lines. Lines without a source figure do
/// not count.
pub(super) fn verdict(lines: &[Line]) -> String {
    let of = |wanted| lines.iter().filter(|line| line.outcome() == wanted).count();
    let counted =
        [Outcome::Reproduced, Outcome::Refuted, Outcome::NotReproduced].map(|o| (o, of(o)));
    let voters: usize = counted.iter().map(|c| c.1).sum();
    let head = match counted.map(|c| c.1) {
        [_, 0, 0] => "Reproduced",
        [0, _, 0] => "Refuted",
        [0, 0, _] => "Not reproduced",
        [0, _, _] => "Refuted in part",
        [_, 0, _] => "Reproduced in part",
        [_, _, _] => "Reproduced in part, refuted in part",
    };
    let parts: Vec<String> =
        counted.iter().filter(|c| c.1 > 0).map(|(o, n)| format!("{n} {}", o.text())).collect();
    match parts.as_slice() {
        [_] => format!("{head} ({voters} of {voters})"),
        _ => format!("{head} ({})", parts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(rule: Rule, source: Option<f64>, ours: f64, h200: Option<f64>) -> Line {
        let cell = |x: Option<f64>| x.map(Cell::Real);
        Line {
            what: String::new(),
            rule,
            source: cell(source),
            ours: Cell::Real(ours),
            referee: h200.map_or(Referee::None, |x| Referee::H200(Cell::Real(x))),
        }
    }

    #[test]
    fn outcomes_follow_from_figures() {
        use Outcome::*;
        for (rule, source, ours, h200, expected) in [
            (Rule::Exact, Some(5.0), 5.0, None, Reproduced),
            (Rule::Exact, Some(5.0), 4.0, Some(5.0), NotReproduced),
            (Rule::Within(10.0), Some(100.0), 109.0, Some(50.0), Reproduced),
            (Rule::Within(10.0), Some(100.0), 111.0, Some(110.0), Refuted),
            (Rule::Within(10.0), Some(100.0), 111.0, None, NotReproduced),
            (Rule::SameSide, Some(1.2), 3.0, None, Reproduced),
            (Rule::SameSide, Some(1.2), 1.01, Some(0.99), Refuted),
            (Rule::SameSide, Some(0.7), 1.01, Some(1.3), NotReproduced),
            (Rule::Within(1.0), None, 2.0, Some(2.01), Confirmed),
            (Rule::Within(1.0), None, 2.0, Some(2.1), Off),
        ] {
            assert_eq!(
                line(rule, source, ours, h200).outcome(),
                expected,
                "{rule:?} {source:?} {ours} {h200:?}"
            );
        }
        let words = Line {
            what: String::new(),
            rule: Rule::Exact,
            source: Some("ok".into()),
            ours: "hang".into(),
            referee: Referee::None,
        };
        assert_eq!(words.outcome(), NotReproduced);
    }

    #[test]
    fn verdicts_count_outcomes() {
        let lines = |figures: &[(f64, f64)]| -> Vec<Line> {
            figures
                .iter()
                .map(|&(source, h200)| line(Rule::Exact, Some(source), 1.0, Some(h200)))
                .collect()
        };
        for (figures, expected) in [
            (&[(1.0, 1.0), (1.0, 7.0)][..], "Reproduced (2 of 2)"),
            (&[(2.0, 1.0)][..], "Refuted (1 of 1)"),
            (&[(2.0, 2.0)][..], "Not reproduced (1 of 1)"),
            (
                &[(2.0, 1.0), (1.0, 1.0)][..],
                "Reproduced in part, refuted in part (1 reproduced, 1 refuted)",
            ),
            (&[(2.0, 2.0), (1.0, 1.0)][..], "Reproduced in part (1 reproduced, 1 not reproduced)"),
        ] {
            assert_eq!(verdict(&lines(figures)), expected);
        }
    }
}
