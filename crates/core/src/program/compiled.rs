//! A CUDA C++ source and the code that a compiler made of it.
//!
//! Lines and spans of such a program are those of the source, so every view and message names lines
//! of the source. Each instruction also keeps its span in the compiled text.

use crate::diag::{Diagnostic, Span};
use crate::kernel::{Checked, Inst, Kernel, LineStarts, Refused};
use crate::ptx::Locations;

/// Code that a compiler made of a CUDA C++ source.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// PTX, or a listing of machine code with its facts.
    pub text: String,
    /// Compiler and architecture, as in `nvcc -arch=compute_75`.
    pub by: String,
    lines: LineStarts,
}

impl Compiled {
    pub(super) fn new(text: &str, by: &str) -> Compiled {
        Compiled { text: text.to_owned(), by: by.to_owned(), lines: LineStarts::new(text) }
    }

    /// Moves kernels and findings to the source.
    pub(super) fn relocate(&self, to: &Relocation<'_>, checked: &mut Checked) {
        checked.kernels.iter_mut().for_each(|kernel| to.kernel(kernel));
        checked.refused.iter_mut().for_each(|refused| to.refused(refused, self));
        checked.findings.iter_mut().for_each(|finding| to.finding(finding, self));
    }

    /// Returns the line of a span in the compiled text, from 1.
    pub fn line(&self, span: Span) -> u32 {
        self.lines.line(span.start)
    }

    /// Returns the compiled text from a line on, from 1.
    fn text_from(&self, line: u32) -> &str {
        let start = self.lines.start(line).unwrap_or(u32::MAX);
        self.text.get(start as usize..).unwrap_or_default()
    }

    /// Returns the compiled text of a span.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }
}

/// Moves kernels and findings from the compiled text to the lines of the source.
pub(super) struct Relocation<'a> {
    /// Spans of the source's lines without indentation.
    lines: Vec<Span>,
    /// File name of the source without folders.
    file: &'a str,
    /// Places of the compiled text in the source.
    locations: &'a Locations<'a>,
}

impl<'a> Relocation<'a> {
    pub(super) fn new(name: &'a str, source: &str, locations: &'a Locations<'a>) -> Relocation<'a> {
        let mut start = 0;
        let lines = source.split_inclusive('\n').map(|line| {
            let from = start + (line.len() - line.trim_start().len()).min(line.trim_end().len());
            let to = from + line.trim().len();
            start += line.len();
            Span::new(from, to)
        });
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
        Relocation { lines: lines.collect(), file, locations }
    }

    /// Returns the source's line (from 1) of an offset in the compiled text.
    ///
    /// `None` for code of a header and code without a line.
    fn line_at(&self, offset: u32) -> Option<u32> {
        let here = self.locations.at(offset).filter(|here| here.file == self.file)?;
        (here.line as usize <= self.lines.len()).then_some(here.line)
    }

    fn span(&self, line: u32) -> Span {
        self.lines.get((line as usize).wrapping_sub(1)).copied().unwrap_or_default()
    }

    /// Returns the first known line between two offsets of the compiled text, or 1.
    fn first_line(&self, span: Span) -> u32 {
        let known = self
            .locations
            .within(span)
            .find(|here| here.file == self.file && here.line as usize <= self.lines.len());
        known.map_or(1, |here| here.line)
    }

    /// Gives a kernel the lines of the source.
    ///
    /// An instruction without a line of its own has that of the instruction before it.
    pub(super) fn kernel(&self, kernel: &mut Kernel) {
        let mut ends: Vec<usize> = kernel.functions.iter().map(|f| f.first as usize).collect();
        ends.push(kernel.insts.len());
        let mut rest = kernel.insts.as_mut_slice();
        let mut start = 0;
        // The kernel's own instructions come first, then each function's.
        for end in ends {
            let (body, after) = rest.split_at_mut(end.saturating_sub(start).min(rest.len()));
            let line_of = |inst: &Inst| self.line_at(inst.span.end.saturating_sub(1));
            let mut last = body.iter().find_map(line_of).unwrap_or(1);
            for inst in body {
                last = line_of(inst).unwrap_or(last);
                inst.line = last;
                inst.compiled = Some(inst.span);
                inst.span = self.span(last);
            }
            (start, rest) = (end, after);
        }
        let whole = self.span(self.first_line(kernel.span));
        for parameter in &mut kernel.params {
            parameter.span = whole;
        }
        for function in &mut kernel.functions {
            function.span = self.span(self.first_line(function.span));
        }
        kernel.span = whole;
    }

    /// Moves a kernel that cannot run, with its errors.
    pub(super) fn refused(&self, refused: &mut Refused, compiled: &Compiled) {
        refused.span = self.span(self.first_line(refused.span));
        refused.errors.iter_mut().for_each(|error| self.finding(error, compiled));
    }

    /// Moves a finding about the compiled text; its first label quotes the instruction.
    pub(super) fn finding(&self, finding: &mut Diagnostic, compiled: &Compiled) {
        for (i, label) in finding.labels.iter_mut().enumerate() {
            let (from, line) = (label.span, compiled.line(label.span));
            let own = self.line_at(from.end.saturating_sub(1));
            label.span = self.span(own.unwrap_or_else(|| self.first_line(from)));
            if i == 0 {
                let quoted = compiled.text_from(line).lines().next().unwrap_or_default();
                let quoted = quoted.split("//").next().unwrap_or_default().trim();
                let quoted: String = quoted.chars().take(MOST_QUOTED).collect();
                let own = std::mem::take(&mut label.text);
                let own = if own.is_empty() { own } else { format!("{own}; ") };
                label.text = format!("{own}compiled to `{quoted}` (ptx:{line})");
            }
        }
    }
}

/// Maximum characters quoted of a compiled line.
const MOST_QUOTED: usize = 100;
