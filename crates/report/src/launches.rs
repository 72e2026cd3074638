//! The launches of a program: one row each, as profilers print them.
//!
//! The driver writes a [`Launched`] as a line of JSON after each launch; `simt-sim exec` reads the
//! lines of all processes and prints the rows.

use maud::{DOCTYPE, PreEscaped, html};
use serde::{Deserialize, Serialize};
use simt_core::diag::printable;

use crate::Style;
use crate::metrics::{self, Value};
use crate::numbers::{duration, grouped, real};
use crate::text::table;

/// A launch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Launched {
    /// Number of the launch in its process, from 1.
    pub number: u64,
    /// Process.
    pub process: u32,
    /// Program: the source file of the module, or a number.
    pub program: String,
    /// Kernel name.
    pub kernel: String,
    /// Grid size in x, y, z.
    pub grid: [u32; 3],
    /// Block size in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub dynamic_shared: u32,
    /// Registers per thread.
    pub registers: u32,
    /// Machine name.
    pub machine: String,
    /// What ran: `PTX`, or `SASS` for machine code.
    #[serde(default)]
    pub code: String,
    /// `pre-volta` or `volta`.
    pub mode: String,
    /// Cycles of the launch with its overhead (the metric `launch_cycles`); absent without a clock.
    #[serde(default, rename = "launch_cycles", skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
    /// Time of the launch at the machine's clock, in nanoseconds; absent without a clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nanoseconds: Option<f64>,
    /// Outcome: `ok`, `deadlock`, `livelock`, `cycle-limit` or `fault`.
    pub finish: String,
    /// Metrics that were asked for, by the names that were typed.
    pub metrics: Vec<Measured>,
    /// Errors and warnings of the checks, in that order.
    pub findings: [u64; 2],
    /// The whole run, tagged with its schema, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<serde_json::Value>,
}

/// A metric of a launch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// Name as typed.
    pub name: String,
    /// Value in the unit; `None` if the metric has none in this launch.
    pub value: Option<Value>,
    /// Unit; empty for plain ratios.
    pub unit: String,
}

impl Measured {
    /// Evaluates the metric that was typed as `name`; `None` if no metric has the name.
    pub fn of(
        name: &str,
        value: impl FnOnce(&metrics::Metric) -> Option<Value>,
    ) -> Option<Measured> {
        let metric = metrics::find(name)?;
        let (value, unit) = match value(metric).map(|value| metric.in_unit_of(name, value)) {
            Some((value, unit)) => (Some(value), unit),
            None => (None, metric.unit),
        };
        Some(Measured { name: name.to_owned(), value, unit: unit.to_owned() })
    }
}

fn extent(sizes: [u32; 3]) -> String {
    let used = 3 - sizes.iter().rev().take_while(|&&n| n == 1).count();
    sizes.iter().take(used.max(1)).map(u32::to_string).collect::<Vec<_>>().join("x")
}

/// Longest kernel name of a row, in characters.
const LONGEST: usize = 60;

/// Returns a kernel name that fits a row: a long one, as C++ libraries have them, without the names
/// of its namespaces and, if need be, without its end.
fn short(name: &str) -> String {
    if name.chars().count() <= LONGEST {
        return name.to_owned();
    }
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut short = String::new();
    for (at, part) in name.replace("(anonymous namespace)::", "").split("::").enumerate() {
        // What a `::` follows is a namespace, back to the first character of no name.
        let end = if at == 0 { 0 } else { short.trim_end_matches(is_of_name).len() };
        if short[end..].is_empty() && at > 0 {
            short.push_str("::"); // after template arguments or parameters
        } else {
            short.truncate(end);
        }
        short.push_str(part);
    }
    if short.chars().count() > LONGEST {
        short = short.chars().take(LONGEST - 1).chain(['…']).collect();
    }
    short
}

/// Prints the rows of all launches, in the order given.
pub fn rows(launches: &[Launched], style: Style) -> String {
    let several = launches.iter().any(|l| l.process != launches[0].process);
    let checked = launches.iter().any(|l| l.findings != [0, 0]);
    let names: Vec<String> = launches.first().map_or_else(Vec::new, |l| {
        let name = |m: &Measured| match m.unit.as_str() {
            "" => m.name.clone(),
            unit => format!("{} [{unit}]", m.name),
        };
        l.metrics.iter().map(name).collect()
    });
    let timed = launches.iter().any(|l| l.nanoseconds.is_some());
    let failed = launches.iter().any(|l| l.finish != "ok");
    let columns = |metrics: Vec<String>| {
        let mut header: Vec<String> =
            ["#", "kernel", "code", "grid", "block"].map(String::from).into();
        if several {
            header.insert(0, "process".into());
        }
        header.extend(timed.then(|| "time".into()));
        header.extend(metrics);
        header.extend(checked.then(|| "findings".into()));
        header.extend(failed.then(|| "result".into()));
        header
    };
    let row = |l: &Launched| {
        let mut row = vec![
            l.number.to_string(),
            short(&l.kernel),
            l.code.clone(),
            extent(l.grid),
            extent(l.block),
        ];
        if several {
            row.insert(0, l.process.to_string());
        }
        if timed {
            row.push(time(l));
        }
        row.extend(l.metrics.iter().map(|m| shown(m.value)));
        if checked {
            row.push(l.findings.iter().sum::<u64>().to_string());
        }
        if failed {
            row.push(l.finish.clone());
        }
        row
    };
    let rows: Vec<Vec<String>> = launches.iter().map(row).collect();
    let mut header = columns(names.clone());
    let mut key = String::new();
    // Headings too long for the width get numbers, explained below the table.
    if width(&header, &rows) > style.width {
        header = columns((1..=names.len()).map(|n| format!("({n})")).collect());
        (1..).zip(&names).for_each(|(n, name)| key += &format!("  ({n}) {name}\n"));
    }
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let left = if several { [2, 3] } else { [1, 2] };
    let rows = table(&header, rows, &left, style);
    let note = if timed { "" } else { "note: timing is off: counts only\n" };
    format!("{note}{rows}{key}")
}

/// Returns the width of a table whose headings break at spaces only.
fn width(header: &[String], rows: &[Vec<String>]) -> usize {
    let column = |(i, heading): (usize, &String)| {
        let words = heading.split(' ').map(|word| word.chars().count());
        let cells = rows.iter().filter_map(|row| row.get(i)).map(|cell| cell.chars().count());
        words.chain(cells).max().unwrap_or(0) + 2
    };
    header.iter().enumerate().map(column).sum::<usize>() + 2
}

/// Returns the time of a launch; empty without a clock.
fn time(launched: &Launched) -> String {
    launched.nanoseconds.map_or_else(String::new, |nanoseconds| duration(nanoseconds * 1e-9))
}

fn shown(value: Option<Value>) -> String {
    match value {
        Some(Value::Count(n)) => grouped(n),
        Some(Value::Real(x)) => real(x),
        None => "n/a".to_owned(),
    }
}

/// Prints the launches as comma-separated values: a row for each launch and metric.
///
/// The columns are a subset of those of `ncu --csv`, so its readers read them, too.
pub fn csv(launches: &[Launched]) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let size = |s: [u32; 3]| format!("\"({}, {}, {})\"", s[0], s[1], s[2]);
    let mut out = String::from(
        "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Metric Name\",\
         \"Metric Unit\",\"Metric Value\"\n",
    );
    for (id, l) in launches.iter().enumerate() {
        let time = l.nanoseconds.map(|nanoseconds| Measured {
            name: "gpu__time_duration.sum".to_owned(),
            value: Some(Value::Real(nanoseconds)),
            unit: "ns".to_owned(),
        });
        for m in time.iter().chain(&l.metrics) {
            let value = match m.value {
                Some(Value::Count(n)) => n.to_string(),
                Some(Value::Real(x)) => format!("{x:.6}"),
                None => "n/a".to_owned(),
            };
            out.push_str(&format!(
                "\"{id}\",\"{}\",{},{},{},{},{},\"{value}\"\n",
                l.process,
                quoted(&l.kernel),
                size(l.block),
                size(l.grid),
                quoted(&m.name),
                quoted(&m.unit),
            ));
        }
    }
    out
}

/// Makes the page that lists the launches; `page` names the file of a launch that has a page.
pub fn index(launches: &[Launched], page: impl Fn(&Launched) -> Option<String>) -> String {
    let timed = launches.iter().any(|l| l.nanoseconds.is_some());
    let titles = ["#", "kernel", "grid", "block", "time", "result"];
    let titles = titles.into_iter().filter(|title| timed || *title != "time");
    let row = |l: &Launched| {
        let whole = printable(&l.kernel);
        let kernel = short(&whole);
        html! {
            tr {
                td { (l.number) }
                td title=(whole) {
                    @if let Some(file) = page(l) { a href=(file) { (kernel) } } @else { (kernel) }
                }
                td { (extent(l.grid)) }
                td { (extent(l.block)) }
                @if timed { td { (time(l)) } }
                td { (l.finish) }
            }
        }
    };
    let style = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem}\
                 table{border-collapse:collapse}\
                 td,th{padding:.2rem .8rem;text-align:left;border-bottom:1px solid #8884}";
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                title { "Launches" }
                style { (PreEscaped(style)) }
            }
            body {
                h1 { "Launches" }
                @if !timed && !launches.is_empty() { p { "Timing is off: counts only." } }
                table {
                    tr { @for title in titles { th { (title) } } }
                    @for launched in launches { (row(launched)) }
                }
            }
        }
    }
    .into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launched() -> Launched {
        Launched {
            number: 1,
            process: 7,
            program: "add.cu".into(),
            kernel: "add".into(),
            grid: [4, 1, 1],
            block: [256, 1, 1],
            dynamic_shared: 0,
            registers: 16,
            machine: "h200".into(),
            code: "PTX".into(),
            mode: "volta".into(),
            cycles: Some(4000),
            nanoseconds: Some(2020.2),
            finish: "ok".into(),
            metrics: vec![Measured::of("warps_launched", |_| Some(Value::Count(32))).unwrap_or(
                Measured {
                    name: "warps".into(),
                    value: Some(Value::Count(32)),
                    unit: String::new(),
                },
            )],
            findings: [0, 0],
            run: None,
        }
    }

    #[test]
    fn long_names_are_shortened() {
        let exact = format!("add<{}>", "long".repeat(13));
        assert_eq!(short(&exact), exact);
        let functor = "at::native::vectorized_elementwise_kernel<2, at::native::Add<long>, false>";
        assert_eq!(short(functor), "vectorized_elementwise_kernel<2, Add<long>, false>");
        let nested = "(anonymous namespace)::with_index<int, at::f(c10::Scalar const&)::\
                      {lambda(long)#1}>(int*, std::array<char*, 2>)";
        assert_eq!(short(nested), "with_index<int, f(Scalar const&)::{lambda(long)#1}>(int*, a…");
        assert_eq!(short(&"k".repeat(200)).chars().count(), 60);
        let page = index(&[Launched { kernel: functor.into(), ..launched() }], |_| None);
        let title = functor.replace('<', "&lt;").replace('>', "&gt;");
        assert!(page.contains(&format!("title=\"{title}\"")), "{page}");
        assert!(page.contains(">vectorized_elementwise_kernel&lt;2, Add"), "{page}");
    }

    #[test]
    fn a_launch_is_a_row() {
        let text = rows(&[launched()], Style::default());
        for word in ["add", "256", "2.020 us", "32"] {
            assert!(text.contains(word), "{text}");
        }
        assert!(!text.contains("process") && !text.contains("findings"), "{text}");
        assert!(text.contains("code") && text.contains("PTX"), "{text}");
        let mut other = launched();
        other.process = 8;
        other.finish = "fault".into();
        let text = rows(&[launched(), other], Style::default());
        assert!(text.contains("process") && text.contains("fault"), "{text}");
    }

    #[test]
    fn headings_do_not_break_inside_words() {
        let names = ["inst_executed", "shared_atomic_transactions", "divergent_branch"];
        let metrics = names.map(|name| Measured::of(name, |_| Some(Value::Count(5))));
        let launched = Launched { metrics: metrics.into_iter().flatten().collect(), ..launched() };
        let narrow = rows(std::slice::from_ref(&launched), Style { width: 70, color: false });
        for line in ["(1) inst_executed [inst]", "(2) shared_atomic_transactions [wavefront]"] {
            assert!(narrow.lines().any(|l| l.trim() == line), "{narrow}");
        }
        let wide = rows(&[launched], Style { width: 140, color: false });
        assert!(wide.contains(" shared_atomic_transactions") && !wide.contains("(1)"), "{wide}");
    }

    #[test]
    fn without_a_clock_no_row_has_a_time() {
        let launched = Launched { cycles: None, nanoseconds: None, ..launched() };
        let json = serde_json::to_string(&launched).expect("JSON");
        let launched = [launched];
        let (text, csv) = (rows(&launched, Style::default()), csv(&launched));
        let page = index(&launched, |_| None);
        assert!(text.contains("timing is off") && !text.contains(" time"), "{text}");
        assert!(!csv.contains("duration") && !page.contains("time</th>"), "{csv}{page}");
        assert!(!json.contains("cycles") && !json.contains("nanoseconds"), "{json}");
    }

    #[test]
    fn csv_is_read_like_that_of_ncu() {
        let profile = crate::profile::Profile::parse(&csv(&[launched(), launched()]));
        let profile = profile.expect("readable");
        assert_eq!(profile.launches.len(), 2);
        assert_eq!(profile.launches[0].block, Some([256, 1, 1]));
        let text = serde_json::to_string(&launched()).expect("JSON");
        let back: Launched = serde_json::from_str(&text).expect("a launch");
        assert_eq!(back.nanoseconds, Some(2020.2));
    }
}
