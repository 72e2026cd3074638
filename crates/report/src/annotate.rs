//! The source with the cost of each line.
//! Executions, divergence, lanes, sectors, waiting.
//!
//! A line's *time* is its issue slots plus the cycles that warps waited to issue it; shares are of
//! the time of all lines. Steps that the machine adds (joins) count towards the line of their
//! branch, in time only.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::numbers::percent;
use super::run::{InstructionRow, Origin, Run};
use super::text::{Style, clip, wrap};
use simt_core::diag::printable;

/// A source text that lines of a run refer to.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name: that of the program, or of the file in a `.loc` line.
    pub name: String,
    /// Contents; `None` if not found.
    pub text: Option<String>,
}

/// Cost of one source line.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Instructions executed by warps.
    pub executed: u64,
    /// Issue slots, those of joins included.
    pub slots: u64,
    /// Sum of the active lanes of those instructions.
    pub active_lanes: f64,
    /// Divergent branches.
    pub divergent: u64,
    /// Times that predicated branches would have diverged.
    /// `None` without predicated branches.
    pub predicated: Option<u64>,
    /// 32-byte sectors.
    pub sectors: u64,
    /// Cycles that warps waited.
    pub stalled: u64,
    /// Longest-waiting step: its cycles and its main state.
    reason: Option<(u64, &'static str)>,
}

impl Line {
    /// Returns issue slots plus cycles waited.
    pub fn time(&self) -> u64 {
        self.slots + self.stalled
    }

    /// Returns the average number of active lanes; `None` if nothing was executed.
    pub fn average_lanes(&self) -> Option<f64> {
        (self.executed > 0).then(|| self.active_lanes / self.executed as f64)
    }

    /// Returns the state of the longest wait.
    pub fn main_stall(&self) -> Option<&'static str> {
        self.reason.map(|(_, name)| name)
    }

    /// Formats the divergent branches: `12`, `p12` for predicated ones, empty for none.
    pub fn divergence(&self) -> String {
        match (self.predicated, self.divergent) {
            (None, 0) => String::new(),
            (None, n) => compact(n),
            (Some(mixed), 0) => format!("p{}", compact(mixed)),
            (Some(mixed), n) => format!("{}+p{}", compact(n), compact(mixed)),
        }
    }

    /// Classifies the line, given the time of all lines and that of the hottest.
    pub fn heat(&self, time: u64, hottest: u64) -> Heat {
        match self.time() {
            0 => Heat::Cold,
            t if t == hottest => Heat::Hottest,
            t if t >= time.div_ceil(10) => Heat::Hot,
            _ => Heat::Cold,
        }
    }

    fn add(&mut self, row: &InstructionRow, divergent: u64) {
        if row.instruction.is_some() {
            self.executed += row.executed;
            self.active_lanes += row.average_active_lanes.unwrap_or(0.0) * row.executed as f64;
        }
        self.slots += row.slots;
        self.divergent += divergent;
        self.sectors += row.sectors;
        let Some(wait) = row.wait else { return };
        self.stalled += wait.stalled_cycles;
        if let Some(reason) = wait.main_stall
            && self.reason.is_none_or(|(most, _)| wait.stalled_cycles > most)
        {
            self.reason = Some((wait.stalled_cycles, reason));
        }
    }
}

/// Class of a line by its share of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heat {
    /// Less than a tenth.
    Cold,
    /// A tenth or more.
    Hot,
    /// Largest share of all lines.
    Hottest,
}

/// Lines by file and number.
pub type Files<'a> = BTreeMap<&'a str, BTreeMap<u32, Line>>;

/// Returns the cost of each line, by file.
/// The files are those that the program was compiled from, if it names them, or the program's own
/// text.
pub fn by_line(run: &Run, of_origins: bool) -> Files<'_> {
    let divergent: BTreeMap<u32, u64> = run.branches.iter().map(|b| (b.pc, b.divergent)).collect();
    let mut files: Files = BTreeMap::new();
    for row in &run.instructions {
        let (file, line) = match &row.origin {
            Some(Origin { file, line }) if of_origins => (file.as_str(), *line),
            _ => (run.program.as_str(), row.line),
        };
        files
            .entry(file)
            .or_default()
            .entry(line)
            .or_default()
            .add(row, divergent.get(&row.pc).copied().unwrap_or(0));
    }
    for branch in &run.predicated {
        let (file, line) = match &branch.origin {
            Some(Origin { file, line }) if of_origins => (file.as_str(), *line),
            _ => (run.program.as_str(), branch.line),
        };
        *files.entry(file).or_default().entry(line).or_default().predicated.get_or_insert(0) +=
            branch.mixed;
    }
    files
}

/// Returns the names of the files that a run's lines refer to.
/// Empty if they are the program's own.
pub fn origins(run: &Run) -> Vec<String> {
    let mut files: Vec<String> =
        run.instructions.iter().filter_map(|row| Some(row.origin.as_ref()?.file.clone())).collect();
    files.sort();
    files.dedup();
    files
}

/// Prints the annotated lines of `sources`.
/// They are those of [`origins`] or else the program itself.
pub fn annotate(run: &Run, sources: &[Source], style: Style) -> String {
    let files = by_line(run, true);
    let time: u64 = files.values().flat_map(BTreeMap::values).map(Line::time).sum();
    let hottest = files.values().flat_map(BTreeMap::values).map(Line::time).max().unwrap_or(0);
    let width = style.width.max(60);
    let mut out = format!("{}: {}, {} on {}\n", run.program, run.kernel, run.mode, run.machine);
    if let Some(ending) = run.ending() {
        out += &wrap(&ending, width, "", "  ");
        out.push('\n');
    }
    let (time_is, waits) = match run.is_timed() {
        true => ("issue slots and waiting", "; wait: warp cycles; for: longest wait"),
        false => ("instructions issued, without a clock", ""),
    };
    let legend = format!(
        "time: share of {time_is}; exec: instructions that warps executed; div: divergent \
         branches; p: predicated branches, and how often they would have diverged; lanes: active \
         on average; sect: 32-byte sectors{waits}; >> hottest line, > at least a tenth of the time"
    );
    out += &wrap(&legend, width, "", "");
    if run.machine_code.is_some() {
        let machine = "; | machine instruction of the line above, after its PTX line and address";
        out.truncate(out.trim_end().len());
        out += &wrap(machine, width, "", "");
    }
    out.push('\n');
    for (&file, lines) in &files {
        // Lines without `.loc` are shown only if there are no others.
        if file == run.program && files.len() > 1 {
            continue;
        }
        let source = sources.iter().find(|s| s.name == file);
        let text = source.and_then(|s| s.text.as_deref());
        let missing = if text.is_none() {
            " (source not found next to the program: line numbers only)"
        } else {
            ""
        };
        let _ = writeln!(out, "\n{}{missing}\n{HEADER}", printable(file));
        let machine = machine_lines(run, file);
        listing(&mut out, lines, &machine, text, (time, hottest), style.color, width);
    }
    out
}

/// Executed instruction of machine code: its cost and its text.
type Instruction<'a> = (Line, &'a str);

/// Returns the executed machine instructions of a CUDA file by line, in the order of addresses.
fn machine_lines<'a>(run: &'a Run, file: &str) -> BTreeMap<u32, Vec<Instruction<'a>>> {
    let mut found: BTreeMap<u32, Vec<Instruction>> = BTreeMap::new();
    if run.machine_code.is_none() {
        return found;
    }
    let divergent: BTreeMap<u32, u64> = run.branches.iter().map(|b| (b.pc, b.divergent)).collect();
    for row in &run.instructions {
        let Some(origin) = row.origin.as_ref().filter(|origin| origin.file == file) else {
            continue;
        };
        let mut line = Line::default();
        line.add(row, divergent.get(&row.pc).copied().unwrap_or(0));
        // The text of a listing's instruction begins with the CUDA line.
        let prefix = format!("{}:{} ", file.rsplit('.').next().unwrap_or_default(), origin.line);
        let text = row.text.strip_prefix(&prefix).unwrap_or(&row.text);
        if line.time() > 0 {
            found.entry(origin.line).or_default().push((line, text));
        }
    }
    found
}

const HEADER: &str = "     time   exec    div lanes   sect   wait for         line";

fn listing(
    out: &mut String,
    lines: &BTreeMap<u32, Line>,
    machine: &BTreeMap<u32, Vec<Instruction<'_>>>,
    text: Option<&str>,
    (time, hottest): (u64, u64),
    color: bool,
    width: usize,
) {
    let (Some(&first), Some(&last)) = (lines.keys().next(), lines.keys().next_back()) else {
        return;
    };
    let texts: Vec<&str> = text.unwrap_or_default().lines().collect();
    // All lines between the first and the last executed one if the text is known, else the executed
    // ones.
    let numbers: Vec<u32> = match text {
        Some(_) => {
            (first..=last.min(u32::try_from(texts.len()).unwrap_or(u32::MAX).max(first))).collect()
        }
        None => lines.keys().copied().collect(),
    };
    let none = Line::default();
    for number in numbers {
        let line = lines.get(&number).unwrap_or(&none);
        let cells = cells(line, time);
        let mark = match line.heat(time, hottest) {
            Heat::Hottest => ">>",
            Heat::Hot => "> ",
            Heat::Cold => "  ",
        };
        let [share, executed, divergent, lanes, sectors, stalled, reason] = cells;
        let code = texts.get((number as usize).wrapping_sub(1)).copied().unwrap_or_default();
        let row = format!(
            "{mark} {share:>6} {executed:>6} {divergent:>6} {lanes:>5} {sectors:>6} {stalled:>6} \
             {reason:<11} {number:>4} "
        );
        let row = row.clone() + &code_in(&printable(code), width.saturating_sub(row.len()));
        match mark {
            ">>" if color => {
                let _ = writeln!(out, "\x1b[1;31m{}\x1b[0m", row.trim_end());
            }
            "> " if color => {
                let _ = writeln!(out, "\x1b[33m{}\x1b[0m", row.trim_end());
            }
            _ => {
                let _ = writeln!(out, "{}", row.trim_end());
            }
        }
        for (cost, text) in machine.get(&number).into_iter().flatten() {
            let [share, executed, divergent, lanes, sectors, stalled, reason] =
                self::cells(cost, time);
            let row = format!(
                "   {share:>6} {executed:>6} {divergent:>6} {lanes:>5} {sectors:>6} {stalled:>6} \
                 {reason:<11}      | "
            );
            let room = width.saturating_sub(row.len());
            let _ = writeln!(out, "{}", (row + &clip(text, room.max(2))).trim_end());
        }
    }
}

/// Formats a source line for a narrow column.
/// Indentation is limited, words have single blanks between them.
fn code_in(code: &str, room: usize) -> String {
    let tabs = code.replace('\t', "    ");
    let indent = (tabs.len() - tabs.trim_start().len()).min(16).min(room / 2);
    let words = tabs.split_whitespace().collect::<Vec<_>>().join(" ");
    " ".repeat(indent) + &clip(&words, room.saturating_sub(indent).max(2))
}

/// Formats the figures of a line; empty for a line that was not executed.
fn cells(line: &Line, time: u64) -> [String; 7] {
    let shown = |n: u64| if n == 0 { String::new() } else { compact(n) };
    let tenths = u128::from(line.time()) * 1000 / u128::from(time.max(1));
    let lanes = line.average_lanes();
    let reason = line.main_stall().unwrap_or_default();
    [
        if line.time() == 0 {
            String::new()
        } else {
            percent(u32::try_from(tenths).unwrap_or(1000)).replace(" %", "%")
        },
        shown(line.executed),
        line.divergence(),
        lanes.map(|lanes| format!("{lanes:.1}")).unwrap_or_default(),
        shown(line.sectors),
        shown(line.stalled),
        reason.replace("board", "").replace("_throttle", "").replace("_resolving", ""),
    ]
}

/// Formats a count in three or four digits: `9999`, `16.7M`.
pub fn compact(n: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(1_000_000_000_000, "T"), (1_000_000_000, "G"), (1_000_000, "M"), (10_000, "k")];
    for (least, unit) in UNITS {
        if n >= least {
            let base = if unit == "k" { 1000 } else { least };
            let value = n as f64 / base as f64;
            let decimals = usize::from(value < 99.95) + usize::from(value < 9.995);
            return format!("{value:.decimals$}{unit}");
        }
    }
    n.to_string()
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn counts_fit_their_column() {
        for (n, text) in [
            (0, "0"),
            (9_999, "9999"),
            (10_000, "10.0k"),
            (123_456, "123k"),
            (3_112_960, "3.11M"),
            (16_744_448, "16.7M"),
            (u64::MAX, "18446744T"),
        ] {
            assert_eq!(compact(n), text);
        }
    }
}
