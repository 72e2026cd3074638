//! Judges the findings of the checks.

use std::collections::BTreeSet;

use super::super::measure::{Found, Ran};
use super::super::rules::Band;
use super::points::{self, Figure};
use super::told::{Line, Told, only_hidden};
use super::{Bench, Reading, Trusted};
use simt_core::checks::Checks;

impl Bench<'_> {
    pub(super) fn checks(
        &self,
        runs: &[usize],
        kinds: &[String],
        warnings: bool,
        bands: &[Band],
    ) -> Reading {
        let wanted = Checks::named(kinds.iter().map(String::as_str)).unwrap_or(Checks::ALL);
        let wanted = if kinds.is_empty() { Checks::ALL } else { wanted };
        // Warnings are shown even if they cost no points.
        let counts = |found: &Found| found.is_error || warnings;
        // The same finding in another run counts once.
        let distinct = |runs: &[(usize, Option<&Ran>)]| {
            let mut told = BTreeSet::new();
            let mut found: Vec<(usize, Found)> = Vec::new();
            for &(run, ran) in runs {
                let here = ran.map_or(&[][..], |ran| ran.findings.as_slice()).iter();
                let here = here.filter(|found| belongs(&found.code, wanted));
                found.extend(
                    here.filter(|f| told.insert((&f.code, &f.at)))
                        .map(|found| (run, found.clone())),
                );
            }
            found
        };
        // A program that does nothing has no findings.
        let wrong = |runs: &[(usize, Option<&Ran>)]| {
            runs.iter().find(|(_, ran)| ran.is_none_or(|ran| !ran.passed)).map(|&(run, _)| run)
        };
        let figure = |runs: &[usize]| {
            let runs: Vec<_> = runs.iter().map(|&run| (run, self.ran(run))).collect();
            match distinct(&runs).iter().filter(|(_, found)| counts(found)).count() {
                _ if runs.is_empty() => Figure::NoRun,
                0 if wrong(&runs).is_some() => Figure::None,
                errors => Figure::Of(errors as f64),
            }
        };
        let (open, hidden) = self.apart(runs);
        let open = figure(&open);
        let of_hidden = |run: usize| {
            let errors = if let Figure::Of(errors) = figure(&[run]) { Some(errors) } else { None };
            self.of_hidden(run, errors)
        };
        let figures: Vec<Figure> = hidden.iter().map(|&run| of_hidden(run)).collect();
        let points = points::points(bands, open, &figures);

        let lines = self.told(runs, &|run| points::passes(bands, open, of_hidden(run)));
        let known: Vec<(usize, Option<&Ran>)> = lines
            .iter()
            .filter_map(
                |line| if let Told::Open(ran) = line.told { Some((line.run, ran)) } else { None },
            )
            .collect();
        let found = distinct(&known);
        let words = |(run, found): &(usize, Found)| {
            let kind = if counts(found) { "" } else { "warning, " };
            format!("{kind}{}, {}: {}", found.code, self.assignment.run_name(*run), found.text)
        };
        let mut details: Vec<String> = found.iter().map(words).collect();
        details.extend(lines.iter().filter_map(Line::failure));
        let errors = found.iter().filter(|(_, found)| counts(found)).count();
        let measured = match (only_hidden(&lines), wrong(&known), errors) {
            (Some(words), ..) => words,
            (_, Some(run), 0) => {
                format!("no figure: wrong result in {}", self.assignment.run_name(run))
            }
            (_, None, 0) => "nothing found".to_owned(),
            (_, _, n) => format!("{n} found"),
        };
        Reading { points, measured, details, trust: Trusted::checks() }
    }
}

/// Returns true if a finding belongs to one of the selected checks.
fn belongs(code: &str, wanted: Checks) -> bool {
    match code.split('-').next().unwrap_or_default() {
        "race" => wanted.races,
        "unset" => wanted.init,
        "barrier" => wanted.barrier,
        "mask" => wanted.sync,
        _ => wanted.bounds,
    }
}
