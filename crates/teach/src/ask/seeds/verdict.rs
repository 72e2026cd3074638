//! Verdicts, computed from figures by rules that stand beside them.
//!
//! A line holds what the source says, what our run gave, and a [`Referee`]: what an H200 did, or what a count gives. The [`Rule`] says
//! when two figures agree; who agrees with whom is the [`Outcome`]; outcomes, counted, are the [`verdict`]. Nobody types one in.

use simt_report::Cell;

/// When two figures agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// They are the same.
    Exact,
    /// One is at most so many percent off the other.
    Within(f64),
    /// Two ratios are both above 1, both below, or both 1, where 1 has a margin of 2 %.
    SameSide,
}

/// Who decides where the source and our run differ.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Referee {
    /// Nobody.
    None,
    /// What the H200 did.
    H200(Cell),
    /// What a count gives that has nothing to do with the simulator.
    Counted(Cell),
}

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Ours agrees with the source.
    Reproduced,
    /// Ours does not, and the referee agrees with ours.
    Refuted,
    /// Ours does not, and no referee takes its side.
    NotReproduced,
    /// The source has no figure; ours agrees with the referee.
    Confirmed,
    /// The source has no figure; ours does not agree with the referee.
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
    /// Whether two figures agree. A number and a word never do.
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
    /// Who agrees with whom.
    pub(super) fn outcome(&self) -> Outcome {
        let confirmed = match &self.referee {
            Referee::None => false,
            Referee::H200(figure) | Referee::Counted(figure) => self.rule.agrees(&self.ours, figure),
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
    /// In words.
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

/// The verdict on a claim: what most of its lines say, and how many say what. Lines without a figure of the source have no vote.
pub(super) fn verdict(lines: &[Line]) -> String {
    let of = |wanted| lines.iter().filter(|line| line.outcome() == wanted).count();
    let counted = [Outcome::Reproduced, Outcome::Refuted, Outcome::NotReproduced].map(|o| (o, of(o)));
    let voters: usize = counted.iter().map(|c| c.1).sum();
    let head = match counted.map(|c| c.1) {
        [_, 0, 0] => "Reproduced",
        [0, _, 0] => "Refuted",
        [0, 0, _] => "Not reproduced",
        [0, _, _] => "Refuted in part",
        [_, 0, _] => "Reproduced in part",
        [_, _, _] => "Reproduced in part, refuted in part",
    };
    let parts: Vec<String> = counted.iter().filter(|c| c.1 > 0).map(|(o, n)| format!("{n} {}", o.text())).collect();
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
            assert_eq!(line(rule, source, ours, h200).outcome(), expected, "{rule:?} {source:?} {ours} {h200:?}");
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
            figures.iter().map(|&(source, h200)| line(Rule::Exact, Some(source), 1.0, Some(h200))).collect()
        };
        for (figures, expected) in [
            (&[(1.0, 1.0), (1.0, 7.0)][..], "Reproduced (2 of 2)"),
            (&[(2.0, 1.0)][..], "Refuted (1 of 1)"),
            (&[(2.0, 2.0)][..], "Not reproduced (1 of 1)"),
            (&[(2.0, 1.0), (1.0, 1.0)][..], "Reproduced in part, refuted in part (1 reproduced, 1 refuted)"),
            (&[(2.0, 2.0), (1.0, 1.0)][..], "Reproduced in part (1 reproduced, 1 not reproduced)"),
        ] {
            assert_eq!(verdict(&lines(figures)), expected);
        }
    }
}
