//! Judges a metric by its worst run.

use super::super::measure::Ran;
use super::super::rules::{Band, Than};
use super::points::{self, Figure};
use super::told::{Line, Told, only_hidden};
use super::{Bench, Reading, Trusted, number};
use simt_report::metrics;
use simt_report::numbers::real;

impl Bench<'_> {
    /// Returns a metric of a correct run, with its text, or why there is none. The value is
    /// relative to the program compared with.
    fn figure(
        &self,
        run: usize,
        ran: Option<&Ran>,
        name: &str,
        than: Than,
    ) -> Result<(f64, String), String> {
        let at = self.assignment.run_name(run);
        let ran = ran
            .filter(|ran| ran.passed)
            .ok_or_else(|| format!("no figure: wrong result in {at}"))?;
        let &own = ran.metrics.get(name).ok_or_else(|| format!("no figure: {at} has no {name}"))?;
        let (measured, of) = match than {
            Than::Absolute => return Ok((own, format!("{} ({at})", number(own)))),
            Than::Reference => (self.reference, "reference"),
            Than::Baseline => (self.baseline, "baseline"),
        };
        let other = measured.runs.get(run).and_then(|ran| ran.metrics.get(name)).copied();
        let other = other
            .ok_or_else(|| format!("no figure: the program compared with has no {name} in {at}"))?;
        let ratio = ratio(own, other);
        Ok((
            ratio,
            format!("{}; {of}: {}; ratio: {} ({at})", number(own), number(other), times(ratio)),
        ))
    }

    /// Judges a metric by the worst run. The bands decide the direction; wrong results have no
    /// figure.
    pub(super) fn metric(
        &self,
        runs: &[usize],
        (name, than): (&str, Than),
        bands: &[Band],
    ) -> Reading {
        let first = metrics::find(name).map_or(name, |metric| metric.name);
        let more_is_better = bands.first().is_some_and(|band| band.at_least.is_some());
        let is_worse = |a: f64, b: f64| if more_is_better { a < b } else { a > b };
        let value =
            |run: usize| self.figure(run, self.ran(run), first, than).ok().map(|(value, _)| value);

        let (open, hidden) = self.apart(runs);
        let worst = |worst: Option<f64>, run: &usize| match (worst, value(*run)) {
            (Some(worst), Some(value)) => Some(if is_worse(value, worst) { value } else { worst }),
            _ => None,
        };
        let open = match open.split_first() {
            None => Figure::NoRun,
            Some((head, tail)) => Figure::of(tail.iter().fold(value(*head), worst)),
        };
        let of_hidden = |run: usize| self.of_hidden(run, value(run));
        let figures: Vec<Figure> = hidden.iter().map(|&run| of_hidden(run)).collect();
        let points = points::points(bands, open, &figures);

        let lines = self.told(runs, &|run| points::passes(bands, open, of_hidden(run)));
        let mut shown: Option<(f64, String, usize)> = None;
        for line in &lines {
            let Told::Open(ran) = line.told else { continue };
            match self.figure(line.run, ran, first, than) {
                Err(why) => {
                    shown = Some((0.0, why, line.run));
                    break;
                }
                Ok((value, words))
                    if shown.as_ref().is_none_or(|(known, ..)| is_worse(value, *known)) =>
                {
                    shown = Some((value, words, line.run));
                }
                Ok(_) => {}
            }
        }
        let (measured, run) = match shown {
            Some((_, words, run)) => (words, Some(run)),
            None => {
                let words = only_hidden(&lines).unwrap_or_else(|| "no figure: no such run".into());
                (words, runs.first().copied())
            }
        };
        let machine = run.and_then(|run| self.assignment.fingerprint(run)).unwrap_or_default();
        let details = lines.iter().filter_map(Line::failure).collect();
        Reading { points, measured, details, trust: Trusted::metric(first, &machine) }
    }
}

/// Returns `own / other`; 0 / 0 is 1.
fn ratio(own: f64, other: f64) -> f64 {
    match (own, other) {
        (own, other) if own == other => 1.0,
        (_, 0.0) => f64::MAX,
        (own, other) => own / other,
    }
}

fn times(ratio: f64) -> String {
    if ratio == f64::MAX { "infinite".to_owned() } else { real(ratio) }
}
