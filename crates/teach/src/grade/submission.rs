//! A submission: the student's kernel under the assignment's directives.

use std::collections::BTreeMap;

use super::assignment::Assignment;
use super::estimate::footprint;
use super::sanitise::plain;
use simt_core::Program;
use simt_core::diag::{self, Severity, Source, Span, line_column};
use simt_core::kernel::{Kernel, Parameter};
use simt_core::ptx::{self, Locations};

/// A submitted program that can run.
pub struct Submission {
    /// The program. Its `//!` lines are plain comments.
    pub program: Program,
    /// Its kernel, as an index into [`Program::kernels`].
    kernel: usize,
    /// Values chosen for the constants that the assignment leaves open.
    pub choices: BTreeMap<String, i64>,
    /// Notes for the student on ignored parts of the file, a sentence each.
    pub notes: Vec<String>,
}

/// Line numbers of a submission as its author knows them.
pub struct Lines<'a> {
    text: &'a str,
    locations: Locations<'a>,
}

impl Lines<'_> {
    /// Names a place: `line 12`, or for compiler output the original line. `line` is the line of
    /// the text.
    pub fn name(&self, span: Span, line: u32) -> String {
        match self.locations.at(span.end.saturating_sub(1)) {
            Some(from) => format!("line {} of {}", from.line, super::one_line(from.file)),
            None => format!("line {line}"),
        }
    }

    /// Prefixes words on a line of the text with its number.
    pub fn say_in(&self, line: u32, words: &str) -> String {
        let before = self.text.split_inclusive('\n').take(line as usize).map(str::len);
        let end = u32::try_from(before.sum::<usize>()).unwrap_or(u32::MAX);
        self.say(Span { start: end.saturating_sub(1), end }, words)
    }

    /// Prefixes words on a place with its line. Words on compiler output already contain the
    /// original line.
    pub fn say(&self, span: Span, words: &str) -> String {
        match self.locations.at(span.end.saturating_sub(1)) {
            Some(_) => words.to_owned(),
            None => format!("line {}: {words}", line_column(self.text, span.start).0),
        }
    }
}

/// Maximum number of findings shown for a program that cannot run.
const MOST_FINDINGS: usize = 5;

impl Submission {
    /// Parses and checks a submission.
    ///
    /// # Errors
    /// If it cannot run; the message is for the student.
    pub fn read(assignment: &Assignment, name: &str, text: &str) -> Result<Submission, String> {
        let limits = &assignment.spec.limits;
        let output = usize::try_from(limits.output_kib << 10).unwrap_or(usize::MAX);
        if text.len() as u64 > limits.file_kib << 10 {
            return Err(format!(
                "the file has {} bytes; the limit is {} KiB",
                text.len(),
                limits.file_kib
            ));
        }
        // Keeps the length, so that lines and columns stay.
        let silent = text.replace("//!", "// ");
        let (module, _) = ptx::parse(&silent);
        let bytes = footprint(&module, 1);
        if bytes > limits.memory_mib << 20 {
            return Err(format!(
                "its variables and registers need {} MiB; the limit is {} MiB",
                bytes >> 20,
                limits.memory_mib
            ));
        }
        let program = Program::parse(name, &silent);
        if !program.is_sound() {
            let errors = program.findings.iter().filter(|found| found.severity == Severity::Error);
            let shown: Vec<_> = errors.take(MOST_FINDINGS).cloned().collect();
            let source = Source { name: &program.name, text: &program.text };
            return Err(format!(
                "it does not pass the checks:\n{}",
                plain(&diag::render(&shown, source, false), output)
            ));
        }
        let kernel = choose(&program, &assignment.spec.kernel)?;
        let wanted = assignment
            .reference
            .kernel(Some(&assignment.spec.kernel))
            .map_err(|e| e.to_string())?;
        same_parameters(&program.kernels[kernel], wanted)?;
        let mut submission =
            Submission { program, kernel, choices: BTreeMap::new(), notes: Vec::new() };
        submission.choose(assignment, text);
        Ok(submission)
    }

    /// Kernel of the submission.
    pub fn kernel(&self) -> &Kernel {
        &self.program.kernels[self.kernel]
    }

    /// Line numbers of the submission.
    pub fn lines(&self) -> Lines<'_> {
        Lines { text: &self.program.text, locations: self.program.locations() }
    }

    /// Reads `//! const NAME = NUMBER` lines for the constants left open.
    fn choose(&mut self, assignment: &Assignment, text: &str) {
        for line in text.lines().filter_map(|line| line.trim_start().strip_prefix("//!")) {
            let Some((name, value)) =
                line.trim().strip_prefix("const").and_then(|rest| rest.split_once('='))
            else {
                continue;
            };
            let Some((name, allowed)) = assignment.spec.choices.get_key_value(name.trim()) else {
                continue;
            };
            match value.trim().parse::<i64>() {
                Ok(value) if allowed.contains(&value) => {
                    self.choices.insert(name.clone(), value);
                }
                _ => {
                    let all: Vec<String> = allowed.iter().map(i64::to_string).collect();
                    let value = super::one_line(value.trim());
                    self.notes.push(format!(
                        "ignored `const {name} = {value}`: expected one of {}, written as a \
                         number.",
                        all.join(", ")
                    ));
                }
            }
        }
    }
}

/// Finds the kernel named `wanted`, or the only kernel. Mangled names count (Itanium C++ ABI, 5.1).
fn choose(program: &Program, wanted: &str) -> Result<usize, String> {
    let mangled = format!("_Z{}{wanted}", wanted.len());
    let named = |kernel: &Kernel| kernel.name == wanted || kernel.name.starts_with(&mangled);
    match program.kernels.iter().position(named) {
        Some(at) => Ok(at),
        None if program.kernels.len() == 1 => Ok(0),
        None => {
            Err(format!("it has no kernel `{wanted}`; declare `.visible .entry {wanted}( .. )`"))
        }
    }
}

/// Compares the parameter layouts. The kernel is called with the reference's arguments.
fn same_parameters(kernel: &Kernel, wanted: &Kernel) -> Result<(), String> {
    let shape =
        |params: &[Parameter]| params.iter().map(|p| (p.offset, p.bytes)).collect::<Vec<_>>();
    if shape(&kernel.params) == shape(&wanted.params) {
        return Ok(());
    }
    let list = |params: &[Parameter]| {
        let each: Vec<String> = params
            .iter()
            .map(|p| format!("{} ({} bytes)", super::one_line(&p.name), p.bytes))
            .collect();
        if each.is_empty() { "none".to_owned() } else { each.join(", ") }
    };
    Err(format!(
        "expected the kernel parameters {1}, found {0}",
        list(&kernel.params),
        list(&wanted.params)
    ))
}
