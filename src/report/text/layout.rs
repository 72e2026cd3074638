//! Lines within a width: paragraphs, tables, rows of metrics, bars.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::Style;
use crate::report::metrics::{self, Value};
use crate::report::numbers::{grouped, real};
use crate::report::run::Run;

/// What a piece of a line means; colours follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paint {
    Plain,
    Heading,
    Good,
    Bad,
    Faint,
}

impl Paint {
    const fn code(self) -> &'static str {
        match self {
            Paint::Plain => "",
            Paint::Heading => "\x1b[1m",
            Paint::Good => "\x1b[32m",
            Paint::Bad => "\x1b[1;31m",
            Paint::Faint => "\x1b[2m",
        }
    }
}

/// A report in the making.
pub(super) struct Page {
    out: String,
    width: usize,
    color: bool,
}

impl Page {
    pub(super) fn new(style: Style) -> Page {
        Page { out: String::new(), width: style.width.max(60), color: style.color }
    }

    pub(super) const fn width(&self) -> usize {
        self.width
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    /// A paragraph; lines after the first are indented by `hang`.
    pub(super) fn paragraph(&mut self, text: &str, indent: &str, hang: &str) {
        let text = wrap(text, self.width, indent, hang);
        self.out.push_str(&text);
        self.out.push('\n');
    }

    /// A section's heading, with an empty line before it.
    pub(super) fn heading(&mut self, text: &str) {
        self.out.push('\n');
        let text = wrap(text, self.width, "", "");
        self.paint(&text, Paint::Heading);
        self.out.push('\n');
    }

    /// A word that says how it went, then a paragraph.
    pub(super) fn status(&mut self, word: &str, paint: Paint, text: &str) {
        let indent = format!("  {word:<8}");
        let text = wrap(text, self.width, &indent, "          ");
        self.out.push_str("  ");
        self.paint(word, paint);
        self.out.push_str(&text[2 + word.len()..]);
        self.out.push('\n');
    }

    /// The named metrics that have a value: name, value, unit, and Nsight's name beside it or, where that is too long,
    /// below.
    pub(super) fn metrics(&mut self, run: &Run, names: &[&str]) {
        let rows: Vec<_> = names
            .iter()
            .filter_map(|name| {
                let metric = metrics::find(name)?;
                Some((metric, value(*run.metrics.get(&metric.name)?)))
            })
            .collect();
        let widest = |f: &dyn Fn(&(&metrics::Metric, String)) -> usize| rows.iter().map(f).max().unwrap_or(0);
        let (names, values, units) = (widest(&|r| r.0.name.len()), widest(&|r| r.1.len()), widest(&|r| r.0.unit.len()));
        for (metric, value) in &rows {
            let row = format!("  {:<names$}  {value:>values$} {:<units$}", metric.name, metric.unit);
            let Some(ncu) = metric.ncu else {
                self.line(&row);
                continue;
            };
            if row.len() + 2 + ncu.len() <= self.width {
                self.out.push_str(&row);
                self.out.push_str("  ");
            } else {
                self.line(&row);
                self.out.push_str("      ");
            }
            if ncu.len() + 6 > self.width {
                let text = wrap(ncu, self.width, "", "      ");
                self.paint(&text, Paint::Faint);
            } else {
                self.paint(ncu, Paint::Faint);
            }
            self.out.push('\n');
        }
    }

    /// A table whose columns are right-aligned but for those in `left`.
    pub(super) fn table(&mut self, header: &[&str], rows: &[Vec<String>], left: &[usize]) {
        let mut table = Table::new();
        let width = u16::try_from(self.width - 1).unwrap_or(u16::MAX);
        table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        table.set_header(header.to_vec());
        for row in rows {
            table.add_row(row.clone());
        }
        for (i, column) in table.column_iter_mut().enumerate() {
            let alignment = if left.contains(&i) { CellAlignment::Left } else { CellAlignment::Right };
            column.set_cell_alignment(alignment);
        }
        let lines: Vec<String> = table.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let line = format!(" {line}");
            let is_header = i == 0 && lines.len() == rows.len() + 1;
            if is_header && self.color {
                self.paint(line.trim_end(), Paint::Faint);
                self.out.push('\n');
            } else {
                self.line(&line);
            }
        }
    }

    /// A line that is known to fit.
    pub(super) fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    fn paint(&mut self, text: &str, paint: Paint) {
        if self.color && paint != Paint::Plain {
            self.out.push_str(paint.code());
            self.out.push_str(text);
            self.out.push_str("\x1b[0m");
        } else {
            self.out.push_str(text);
        }
    }
}

/// A value for people.
pub(super) fn value(value: Value) -> String {
    match value {
        Value::Count(n) => grouped(n),
        Value::Real(x) => real(x),
    }
}

/// `part` of `whole` as a bar of at most `width` marks; whatever is not nothing has at least one.
pub(super) fn bar(part: u64, whole: u64, width: usize) -> String {
    let marks = if whole == 0 { 0 } else { (u128::from(part) * width as u128 / u128::from(whole)) as usize };
    "#".repeat(marks.clamp(usize::from(part > 0), width))
}

/// `text` in at most `width` columns, cut with two dots where it is longer; control characters become spaces.
pub(super) fn clip(text: &str, width: usize) -> String {
    let clean: Vec<char> = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if clean.len() <= width {
        return clean.into_iter().collect();
    }
    let kept: String = clean.iter().take(width.saturating_sub(2)).collect();
    format!("{}..", kept.trim_end())
}

/// `text` broken at spaces into lines of at most `width` columns; a word that is longer than a line is cut. The first line
/// starts with `indent`, the others with `hang`. There is no line break at the end.
pub(in crate::report) fn wrap(text: &str, width: usize, indent: &str, hang: &str) -> String {
    let mut out = indent.to_owned();
    let mut used = indent.chars().count();
    let mut fresh = true;
    for word in text.split_whitespace() {
        let mut rest: Vec<char> = word.chars().filter(|c| !c.is_control()).collect();
        if !fresh {
            if used + 1 + rest.len() <= width {
                out.push(' ');
                used += 1;
            } else {
                out.push('\n');
                out.push_str(hang);
                used = hang.chars().count();
            }
        }
        while used + rest.len() > width && rest.len() > 1 {
            let room = width.saturating_sub(used).max(1);
            let tail = rest.split_off(room.min(rest.len() - 1));
            out.extend(rest);
            rest = tail;
            out.push('\n');
            out.push_str(hang);
            used = hang.chars().count();
        }
        used += rest.len();
        out.extend(rest);
        fresh = false;
    }
    out
}
