//! Lines within a width: paragraphs, tables, rows of metrics, bars.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};

use super::Style;
use crate::metrics::{self, Value};
use crate::numbers::{grouped, real};
use crate::run::Run;

/// Meaning of a piece of text, which selects its colour.
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

/// A report under construction.
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

    /// Adds a paragraph; lines after the first are indented by `hang`.
    pub(super) fn paragraph(&mut self, text: &str, indent: &str, hang: &str) {
        let text = wrap(text, self.width, indent, hang);
        self.out.push_str(&text);
        self.out.push('\n');
    }

    /// Adds an empty line and a section heading.
    pub(super) fn heading(&mut self, text: &str) {
        self.out.push('\n');
        let text = wrap(text, self.width, "", "");
        self.paint(&text, Paint::Heading);
        self.out.push('\n');
    }

    /// Adds a status word and a paragraph after it.
    pub(super) fn status(&mut self, word: &str, paint: Paint, text: &str) {
        let indent = format!("  {word:<8}");
        let text = wrap(text, self.width, &indent, "          ");
        self.out.push_str("  ");
        self.paint(word, paint);
        self.out.push_str(&text[2 + word.len()..]);
        self.out.push('\n');
    }

    /// Adds the named metrics that have a value.
    /// Name, value and unit are on the left, Nsight's name is at the right margin or, if the line
    /// is too short, on a line of its own.
    pub(super) fn metrics(&mut self, run: &Run, names: &[&str]) {
        let rows: Vec<_> = names
            .iter()
            .filter_map(|name| {
                let metric = metrics::find(name)?;
                let figure = *run.metrics.get(&metric.name)?;
                let ncu = metric.ncu.map(|ncu| match metric.in_unit_of(ncu, figure).1 {
                    // A share here.
                    "%" if metric.unit != "%" => format!("{ncu} [%]"),
                    _ => ncu.to_owned(),
                });
                Some((metric, value(figure), ncu))
            })
            .collect();
        let names = rows.iter().map(|(metric, ..)| metric.name.len()).max().unwrap_or(0);
        let values = rows.iter().map(|(_, value, _)| value.len()).max().unwrap_or(0);
        for (metric, value, ncu) in &rows {
            let row = format!("  {:<names$}  {value:>values$} {}", metric.name, metric.unit);
            let mut row = row.trim_end();
            let Some(ncu) = ncu else {
                self.line(row);
                continue;
            };
            if row.len() + 2 + ncu.len() > self.width {
                self.line(row);
                row = "";
            }
            let gap = self.width.saturating_sub(row.len() + ncu.len());
            self.out.push_str(row);
            if gap > 0 {
                self.out.push_str(&" ".repeat(gap));
                self.paint(ncu, Paint::Faint);
            } else {
                let cut = wrap(ncu, self.width, "      ", "      ");
                self.paint(&cut, Paint::Faint);
            }
            self.out.push('\n');
        }
    }

    /// Adds a table; columns are right-aligned except those in `left`. Headers wrap at words. Cells
    /// of column `flexible` are clipped to the width that the others leave.
    pub(super) fn table(
        &mut self,
        header: &[&str],
        mut rows: Vec<Vec<String>>,
        left: &[usize],
        flexible: Option<usize>,
    ) {
        let mut widths: Vec<usize> = (0..header.len())
            .map(|i| {
                let cells =
                    rows.iter().filter_map(|row| row.get(i)).map(|cell| cell.chars().count());
                cells.chain(header[i].split(' ').map(str::len)).max().unwrap_or(0)
            })
            .collect();
        let total = self.width - 1;
        if let Some(flexible) = flexible {
            let others: usize =
                (0..header.len()).filter(|&i| i != flexible).map(|i| widths[i] + 2).sum();
            let room = total.saturating_sub(others + 2).clamp(8, 48);
            for row in &mut rows {
                row[flexible] = clip(&row[flexible], room);
            }
            widths[flexible] = widths[flexible].min(room);
        }
        // If not every cell fits, comfy-table breaks them.
        let fits = widths.iter().map(|w| w + 2).sum::<usize>() <= total;
        let mut table = Table::new();
        table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(total).unwrap_or(u16::MAX));
        table.set_header(header.to_vec());
        table.add_rows(rows);
        for (i, column) in table.column_iter_mut().enumerate() {
            let alignment =
                if left.contains(&i) { CellAlignment::Left } else { CellAlignment::Right };
            column.set_cell_alignment(alignment);
            if fits {
                let least = u16::try_from(widths[i] + 2).unwrap_or(u16::MAX);
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
            }
        }
        let lines: Vec<String> = table.lines().collect();
        for line in lines {
            self.line(&format!(" {line}"));
        }
    }

    /// Adds a line; wraps it if it is too long.
    pub(super) fn line(&mut self, text: &str) {
        let text = text.trim_end();
        if text.chars().count() <= self.width {
            self.out.push_str(text);
        } else {
            self.out.push_str(&wrap(text, self.width, "  ", "      "));
        }
        self.out.push('\n');
    }

    /// Adds a line that must not be broken, such as an address.
    pub(super) fn verbatim(&mut self, text: &str) {
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

/// Formats a value.
pub(super) fn value(value: Value) -> String {
    match value {
        Value::Count(n) => grouped(n),
        Value::Real(x) => real(x),
    }
}

/// Draws `part` of `whole` as a bar of at most `width` marks.
/// A part above zero has at least one mark.
pub(super) fn bar(part: u64, whole: u64, width: usize) -> String {
    let marks = if whole == 0 {
        0
    } else {
        (u128::from(part) * width as u128 / u128::from(whole)) as usize
    };
    "#".repeat(marks.clamp(usize::from(part > 0), width))
}

/// Cuts `text` to `width` columns, ending in two dots if cut.
/// Control characters become spaces.
pub(crate) fn clip(text: &str, width: usize) -> String {
    let clean: Vec<char> =
        text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if clean.len() <= width {
        return clean.into_iter().collect();
    }
    let kept: String = clean.iter().take(width.saturating_sub(2)).collect();
    format!("{}..", kept.trim_end())
}

/// Breaks `text` into lines of at most `width` columns.
/// Lines break at spaces; a longer word is cut. The first line starts with `indent`, the others
/// with `hang`. The result ends without a line break.
pub fn wrap(text: &str, width: usize, indent: &str, hang: &str) -> String {
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
