//! Records as a line chart: one metric over one swept number, one line per combination of the other
//! names.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use super::{Columns, Record, Setting};
use simt_report::metrics::Value;
use simt_report::plot::{Captions, Series};
use simt_report::{UnknownMetric, known};

/// Lines to draw, in the form of [`simt_report::plot::lines`].
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Captions of the picture; the subtitle lists what all lines have in common.
    pub captions: Captions,
    /// Lines, sorted by the values that distinguish them.
    pub lines: Vec<Series>,
}

/// Reason why there is no chart.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoChart {
    /// The metric is unknown.
    #[error(transparent)]
    Metric(#[from] UnknownMetric),
    /// The name is not swept, or has no numeric value.
    #[error("nothing to draw over `{0}`: it is not swept or has no numeric value")]
    NoAxis(String),
    /// No swept name has numeric values.
    #[error("nothing to draw: no swept name has numeric values")]
    NoNumbers,
    /// No run has the metric.
    #[error("nothing to draw: no run has a value of `{0}`")]
    NoValues(String),
}

/// Key of a line: program, kernel, and values of the other varying names.
type Key<'a> = (&'a str, &'a str, Vec<Option<&'a Setting>>);
type Points = Vec<(f64, f64)>;

impl Chart {
    /// Creates the chart of metric `y` over the swept name `x`. The default is the first name with
    /// the most numbers.
    ///
    /// # Errors
    /// If there is nothing to draw.
    pub fn new<'a>(
        records: impl IntoIterator<Item = &'a Record>,
        x: Option<&str>,
        y: &str,
    ) -> Result<Chart, NoChart> {
        let (asked, metric) = known(y)?;
        let records: Vec<&Record> = records.into_iter().collect();
        let axes = Columns::axes_of(records.iter().copied());
        let values = |axis: &str| -> BTreeSet<Option<&Setting>> {
            records.iter().map(|r| r.setting(axis)).collect()
        };
        let numbers = |axis: &str| {
            values(axis).iter().filter(|v| matches!(v, Some(Setting::Number(_)))).count()
        };
        let x = match x {
            Some(x) if numbers(x) > 0 => x.to_owned(),
            Some(x) => return Err(NoChart::NoAxis(x.to_owned())),
            None => {
                let most = axes
                    .iter()
                    .map(|axis| numbers(axis))
                    .max()
                    .filter(|&n| n > 0)
                    .ok_or(NoChart::NoNumbers)?;
                axes.iter().find(|axis| numbers(axis) == most).cloned().unwrap_or_default()
            }
        };
        let programs: BTreeSet<(&str, &str)> =
            records.iter().map(|r| (r.program.as_str(), r.kernel.as_str())).collect();
        let (varying, constant): (Vec<&String>, Vec<&String>) =
            axes.iter().filter(|&axis| *axis != x).partition(|&axis| values(axis).len() > 1);
        let mut lines: BTreeMap<Key<'_>, Points> = BTreeMap::new();
        // A run that hung has no value of the metric.
        let ended = |record: &&&Record| record.ended();
        for record in records.iter().filter(ended) {
            if let (Some(&Setting::Number(at)), Some(&value)) =
                (record.setting(&x), record.metrics.get(metric.name))
            {
                let others = varying.iter().map(|axis| record.setting(axis)).collect();
                let line = lines.entry((&record.program, &record.kernel, others)).or_default();
                line.push((at as f64, metric.in_unit_of(asked, value).0.as_f64()));
            }
        }
        if lines.is_empty() {
            return Err(NoChart::NoValues(asked.to_owned()));
        }
        let text = |axis: &String, value: Option<&Setting>| Some(format!("{axis}={}", value?));
        let of_line = |(key, mut points): (Key<'_>, Points)| {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let program = (programs.len() > 1).then(|| key.1.to_owned());
            let others = varying.iter().zip(key.2).filter_map(|(axis, value)| text(axis, value));
            let name = program.into_iter().chain(others).collect::<Vec<_>>().join(" ");
            Series { name: if name.is_empty() { key.1.to_owned() } else { name }, points }
        };
        let lines: Vec<Series> = lines.into_iter().map(of_line).collect();
        let one = |axis: &&String| text(axis, records.first().and_then(|r| r.setting(axis)));
        let programs = programs.iter().map(|(program, kernel)| format!("{program}: {kernel}"));
        let (drawn, unit) = (
            lines.iter().map(|line| line.points.len()).sum::<usize>(),
            metric.in_unit_of(asked, Value::Count(0)).1,
        );
        let captions = Captions {
            title: format!("{asked} over {x}"),
            subtitle: programs
                .chain(constant.iter().filter_map(one))
                .collect::<Vec<_>>()
                .join(" \u{b7} "),
            y: if unit.is_empty() { asked.to_owned() } else { format!("{asked} [{unit}]") },
            x,
            footer: footer(drawn, &records),
        };
        Ok(Chart { captions, lines })
    }
}

/// Number of runs drawn, and the reasons why others are missing.
fn footer(drawn: usize, records: &[&Record]) -> String {
    let mut endings: BTreeMap<&str, usize> = BTreeMap::new();
    for record in records.iter().filter(|record| !record.ended()) {
        *endings.entry(record.outcome()).or_default() += 1;
    }
    let stuck: usize = endings.values().sum();
    let mut parts = vec![format!("{drawn} runs")];
    if stuck > 0 {
        let named: Vec<String> =
            endings.iter().map(|(ending, n)| format!("{n} {ending}")).collect();
        parts.push(format!("{stuck} unfinished omitted ({})", named.join(", ")));
    }
    match (records.len() - drawn).saturating_sub(stuck) {
        0 => {}
        left => parts.push(format!("{left} without a value omitted")),
    }
    parts.join("; ") + "."
}
