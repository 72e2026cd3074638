//! Records as a text table and as CSV.

use std::collections::BTreeSet;

use super::Record;
use simt_report::metrics::{Metric, Value};
use simt_report::numbers::{grouped, real};
use simt_report::{Style, UnknownMetric, known, quoted, table};

/// Columns of a table of records, besides the outcome.
#[derive(Clone, Debug)]
pub struct Columns {
    axes: Vec<String>,
    metrics: Vec<(String, &'static Metric)>,
}

impl Columns {
    /// Selects swept names and metrics. A metric may have any of its names and is shown in that
    /// name's unit.
    ///
    /// # Errors
    /// If a metric is unknown.
    pub fn new(axes: Vec<String>, metrics: &[impl AsRef<str>]) -> Result<Columns, UnknownMetric> {
        let named = |name: &str| known(name).map(|(name, metric)| (name.to_owned(), metric));
        let metrics = metrics.iter().map(|name| named(name.as_ref())).collect::<Result<_, _>>()?;
        Ok(Columns { axes, metrics })
    }

    /// All names swept in the records.
    pub fn axes_of<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<String> {
        let names: BTreeSet<&String> =
            records.into_iter().flat_map(|record| record.point.0.keys()).collect();
        names.into_iter().cloned().collect()
    }

    /// Formats the records as a text table, one row each.
    pub fn text<'a>(&self, records: impl IntoIterator<Item = &'a Record>, style: Style) -> String {
        let cell = |value: Option<Value>| match value {
            Some(Value::Count(n)) => grouped(n),
            Some(Value::Real(x)) => real(x),
            None => "-".to_owned(),
        };
        let rows = records.into_iter().map(|record| self.row(record, "-", cell)).collect();
        let left: Vec<usize> = (0..=self.axes.len()).collect();
        let header = self.header(" ");
        table(&header.iter().map(String::as_str).collect::<Vec<_>>(), rows, &left, style)
    }

    /// Formats the records as CSV with a header; a field without a value is empty.
    pub fn csv<'a>(&self, records: impl IntoIterator<Item = &'a Record>) -> String {
        let cell = |value: Option<Value>| match value {
            Some(Value::Count(n)) => n.to_string(),
            Some(Value::Real(x)) => x.to_string(),
            None => String::new(),
        };
        let rows = records.into_iter().map(|record| self.row(record, "", cell));
        let line = |cells: Vec<String>| {
            cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",") + "\n"
        };
        let names: Vec<String> = self.axes.iter().cloned().chain(["result".to_owned()]).collect();
        let metrics = self.metrics.iter().map(|(name, _)| name.clone());
        line(names.into_iter().chain(metrics).collect()) + &rows.map(line).collect::<String>()
    }

    fn header(&self, gap: &str) -> Vec<String> {
        let metric = |(name, metric): &(String, &'static Metric)| {
            let unit = metric.in_unit_of(name, Value::Count(0)).1;
            if unit.is_empty() { name.clone() } else { format!("{name}{gap}[{unit}]") }
        };
        self.axes
            .iter()
            .cloned()
            .chain(["result".to_owned()])
            .chain(self.metrics.iter().map(metric))
            .collect()
    }

    fn row(
        &self,
        record: &Record,
        none: &str,
        cell: impl Fn(Option<Value>) -> String,
    ) -> Vec<String> {
        let setting = |name: &String| {
            record.setting(name).map_or_else(|| none.to_owned(), ToString::to_string)
        };
        let value = |(name, metric): &(String, &'static Metric)| {
            cell(record.metrics.get(metric.name).map(|&value| metric.in_unit_of(name, value).0))
        };
        let settings = self.axes.iter().map(setting).chain([record.outcome().to_owned()]);
        settings.chain(self.metrics.iter().map(value)).collect()
    }
}
