//! Records as a table to read and as CSV.

use std::collections::BTreeSet;

use super::Record;
use simt_report::metrics::{Metric, Value};
use simt_report::numbers::{grouped, real};
use simt_report::{Style, UnknownMetric, known, quoted, table};

/// What a table shows of each record, beside how it went.
#[derive(Clone, Debug)]
pub struct Columns {
    axes: Vec<String>,
    metrics: Vec<(String, &'static Metric)>,
}

impl Columns {
    /// These swept names and metrics; metrics may be called by any of their names, and are shown in that name's unit.
    ///
    /// # Errors
    /// A name that no metric has.
    pub fn new(axes: Vec<String>, metrics: &[impl AsRef<str>]) -> Result<Columns, UnknownMetric> {
        let named = |name: &str| known(name).map(|(name, metric)| (name.to_owned(), metric));
        let metrics = metrics.iter().map(|name| named(name.as_ref())).collect::<Result<_, _>>()?;
        Ok(Columns { axes, metrics })
    }

    /// Every name that is swept in one of these records.
    pub fn axes_of<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<String> {
        let names: BTreeSet<&String> = records.into_iter().flat_map(|record| record.point.0.keys()).collect();
        names.into_iter().cloned().collect()
    }

    /// The records as a table to read, a row each.
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

    /// The records as CSV with a line of names; a field without a value is empty.
    pub fn csv<'a>(&self, records: impl IntoIterator<Item = &'a Record>) -> String {
        let cell = |value: Option<Value>| match value {
            Some(Value::Count(n)) => n.to_string(),
            Some(Value::Real(x)) => x.to_string(),
            None => String::new(),
        };
        let rows = records.into_iter().map(|record| self.row(record, "", cell));
        let line = |cells: Vec<String>| cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",") + "\n";
        let names: Vec<String> = self.axes.iter().cloned().chain(["result".to_owned()]).collect();
        let metrics = self.metrics.iter().map(|(name, _)| name.clone());
        line(names.into_iter().chain(metrics).collect()) + &rows.map(line).collect::<String>()
    }

    fn header(&self, gap: &str) -> Vec<String> {
        let metric = |(name, metric): &(String, &'static Metric)| {
            let unit = metric.in_unit_of(name, Value::Count(0)).1;
            if unit.is_empty() { name.clone() } else { format!("{name}{gap}[{unit}]") }
        };
        self.axes.iter().cloned().chain(["result".to_owned()]).chain(self.metrics.iter().map(metric)).collect()
    }

    fn row(&self, record: &Record, none: &str, cell: impl Fn(Option<Value>) -> String) -> Vec<String> {
        let setting = |name: &String| record.setting(name).map_or_else(|| none.to_owned(), ToString::to_string);
        let value = |(name, metric): &(String, &'static Metric)| {
            cell(record.metrics.get(metric.name).map(|&value| metric.in_unit_of(name, value).0))
        };
        let settings = self.axes.iter().map(setting).chain([record.outcome().to_owned()]);
        settings.chain(self.metrics.iter().map(value)).collect()
    }
}
