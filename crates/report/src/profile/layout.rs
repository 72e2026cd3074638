//! The columns of a report in the long, wide and tidy layout.
//! The names in the header distinguish the layouts.

use super::csv::{Row, rows};
use super::units::value;
use super::{Launched, Measurement, Profile, Unreadable};

/// Columns of every `ncu` report that do not describe the launch.
const IGNORED: [&str; 10] = [
    "ID",
    "Process ID",
    "Process Name",
    "Host Name",
    "Context",
    "Stream",
    "Device",
    "CC",
    "Kernel Time",
    "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
];

/// Meaning of the columns.
struct Header<'h> {
    names: Vec<&'h str>,
    kernel: usize,
    id: Option<usize>,
    grid: Option<usize>,
    block: Option<usize>,
    /// Name, unit and value column of the metric in a row; `None` for a column per metric.
    metric: Option<[usize; 3]>,
    /// Columns that distinguish launches, besides the shape.
    labels: Vec<usize>,
}

pub(super) fn read(text: &str) -> Result<Profile, Unreadable> {
    let (offset, first) = header_line(text)?;
    let rows = rows(text.get(offset..).unwrap_or_default(), first)?;
    let Some((head, body)) = rows.split_first() else {
        return Err(Unreadable { line: first, reason: "expected a header row".to_string() });
    };
    let header = Header::of(head)?;
    for row in body {
        if row.fields.len() != head.fields.len() {
            let (found, wanted) = (row.fields.len(), head.fields.len());
            let reason =
                format!("expected {wanted} fields as in the header in line {first}, found {found}");
            return Err(Unreadable { line: row.line, reason });
        }
    }
    let profile = match header.metric {
        Some(columns) => long(&header, columns, body),
        None => wide(&header, body),
    }?;
    if profile.launches.is_empty() {
        return Err(Unreadable {
            line: first,
            reason: "expected rows after the header".to_string(),
        });
    }
    Ok(profile)
}

/// Returns the offset of the header and its line number.
fn header_line(text: &str) -> Result<(usize, usize), Unreadable> {
    let mut offset = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let names = |wanted: &str| line.split(',').any(|f| f.trim().trim_matches('"') == wanted);
        let is_ncu = names("Kernel Name");
        let is_tidy = names("kernel") && names("metric") && names("value");
        if is_ncu || is_tidy {
            return Ok((offset, number));
        }
        offset += line.len();
    }
    let reason = "no header line: expected the column `Kernel Name` (a report of `ncu --csv`, with \
                  or without `--page raw`), or `kernel`, `metric` and `value`";
    Err(Unreadable { line: text.lines().count().max(1), reason: reason.to_string() })
}

impl<'h> Header<'h> {
    fn of(row: &'h Row) -> Result<Header<'h>, Unreadable> {
        let names: Vec<&str> = row.fields.iter().map(|f| f.trim()).collect();
        let find = |wanted: &[&str]| names.iter().position(|name| wanted.contains(name));
        let missing =
            |what: &str| Unreadable { line: row.line, reason: format!("missing column `{what}`") };
        let kernel = find(&["Kernel Name", "kernel"]).ok_or_else(|| missing("Kernel Name"))?;
        let name = find(&["Metric Name", "metric"]);
        let metric = match name {
            None => None,
            Some(name) => {
                let unit = find(&["Metric Unit", "unit"]).ok_or_else(|| missing("Metric Unit"))?;
                Some([
                    name,
                    unit,
                    find(&["Metric Value", "value"]).ok_or_else(|| missing("Metric Value"))?,
                ])
            }
        };
        let (id, grid, block) = (find(&["ID"]), find(&["Grid Size"]), find(&["Block Size"]));
        // Of ncu's own columns no other one distinguishes launches; in figures collected by hand
        // every other one does.
        let is_label = |i: &usize| {
            let named = [
                Some(*i) == grid,
                Some(*i) == block,
                *i == kernel,
                metric.is_some_and(|m| m.contains(i)),
            ];
            names[kernel] == "kernel" && !named.contains(&true)
        };
        let labels = (0..names.len()).filter(is_label).collect();
        Ok(Header { names, kernel, id, grid, block, metric, labels })
    }

    fn launched(&self, row: &Row) -> Result<Launched, Unreadable> {
        let cell = |i: usize| row.fields.get(i).map_or("", |f| f.trim());
        let shape = |column: Option<usize>| match column.map(cell) {
            None | Some("") => Ok(None),
            Some(text) => extent(text).map(Some).ok_or_else(|| Unreadable {
                line: row.line,
                reason: format!(
                    "invalid grid or block `{text}`: expected a form like `(128, 1, 1)`"
                ),
            }),
        };
        Ok(Launched {
            kernel: bare(cell(self.kernel)).to_string(),
            line: row.line,
            grid: shape(self.grid)?,
            block: shape(self.block)?,
            labels: self
                .labels
                .iter()
                .map(|&i| (self.names[i].to_string(), cell(i).to_string()))
                .collect(),
            measurements: Vec::new(),
        })
    }
}

/// Returns the bare kernel name.
/// `void sum<int>(int *, int)` loses return type, template arguments and parameters.
fn bare(name: &str) -> &str {
    let name = name.split(['(', '<']).next().unwrap_or(name).trim();
    name.rsplit([' ', ':']).next().unwrap_or(name)
}

/// Parses `(128, 1, 1)` or `128x1x1`.
fn extent(text: &str) -> Option<[u32; 3]> {
    let parts =
        text.trim_matches(['(', ')']).split([',', 'x']).map(|part| part.trim().parse().ok());
    let parts: Option<Vec<u32>> = parts.collect();
    parts?.try_into().ok()
}

fn measurement(
    line: usize,
    name: &str,
    unit: &str,
    text: &str,
) -> Result<Option<Measurement>, Unreadable> {
    let printed = value(text, unit)
        .map_err(|reason| Unreadable { line, reason: format!("{name}: {reason}") })?;
    Ok(printed.map(|p| Measurement {
        name: name.to_string(),
        value: p.value,
        rounding: p.rounding,
    }))
}

fn long(
    header: &Header<'_>,
    [name, unit, printed]: [usize; 3],
    body: &[Row],
) -> Result<Profile, Unreadable> {
    let mut launches: Vec<(Option<String>, Launched)> = Vec::new();
    for row in body {
        let found = header.launched(row)?;
        let id = header.id.and_then(|i| row.fields.get(i).cloned());
        let same = |(other, l): &(Option<String>, Launched)| {
            *other == id
                && (&l.kernel, l.grid, l.block, &l.labels)
                    == (&found.kernel, found.grid, found.block, &found.labels)
        };
        let at = launches.iter().rposition(same).unwrap_or_else(|| {
            launches.push((id.clone(), found.clone()));
            launches.len() - 1
        });
        let [name, unit, text] =
            [name, unit, printed].map(|i| row.fields.get(i).map_or("", |f| f.trim()));
        // A row of a rule has no metric; a row of text (for example a cache's name) has no unit and
        // no number.
        if name.is_empty() || !super::is_counted(name) && value(text, unit).is_err() {
            continue;
        }
        if let Some(found) = measurement(row.line, name, unit, text)? {
            launches[at].1.measurements.push(found);
        }
    }
    Ok(Profile { launches: launches.into_iter().map(|(_, launched)| launched).collect() })
}

fn wide(header: &Header<'_>, body: &[Row]) -> Result<Profile, Unreadable> {
    let known = [Some(header.kernel), header.id, header.grid, header.block];
    let is_metric = |i: &usize| {
        let name = header.names[*i];
        !known.contains(&Some(*i))
            && !header.labels.contains(i)
            && !IGNORED.contains(&name)
            && super::is_counted(name)
    };
    let columns: Vec<usize> = (0..header.names.len()).filter(is_metric).collect();
    let cell =
        |row: &Row, i: usize| row.fields.get(i).map_or(String::new(), |f| f.trim().to_string());
    // The row below the names has the units, and no kernel.
    let (units, body) = match body.split_first() {
        Some((units, rest)) if cell(units, header.kernel).is_empty() => (Some(units), rest),
        _ => (None, body),
    };
    let mut launches = Vec::new();
    for row in body {
        let mut launched = header.launched(row)?;
        for &i in &columns {
            let unit = units.map(|units| cell(units, i)).unwrap_or_default();
            launched.measurements.extend(measurement(
                row.line,
                header.names[i],
                &unit,
                &cell(row, i),
            )?);
        }
        launches.push(launched);
    }
    Ok(Profile { launches })
}
