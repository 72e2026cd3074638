//! Excerpts of a program. The comments at its head often give away the result, so an excerpt is cut
//! from the body.

use simt_report::Picture;

/// Maximum number of lines: question and excerpt must fit on a small terminal.
const MOST_LINES: usize = 14;

/// An excerpt of a program.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Excerpt {
    /// First and last line number.
    pub(super) lines: (u32, u32),
    /// Numbered lines, under the name of the program.
    pub(super) picture: Picture,
}

/// Cuts from the first line with `from` to the next with `to`, or only the first. Compares without
/// regard to the number of blanks; skips directives and comments.
pub(super) fn excerpt(name: &str, text: &str, from: &str, to: &str) -> Option<Excerpt> {
    let code: Vec<String> =
        text.lines().map(|line| plain(line.split("//").next().unwrap_or_default())).collect();
    let (from, to) = (plain(from), plain(to));
    let first = code.iter().position(|line| line.contains(&from))?;
    let last = code
        .iter()
        .skip(first)
        .position(|line| line.contains(&to))
        .map_or(first, |more| first + more);
    Some(cut(name, text, first, last))
}

/// Cuts the lines around a kernel's branches. Used if the assignment names none: from three lines
/// before the first branch to the last one.
pub(super) fn around_branches(name: &str, text: &str) -> Option<Excerpt> {
    let is_branch = |line: &&str| {
        let code = line.split("//").next().unwrap_or_default().trim_start();
        code.starts_with('@') && (code.contains("bra ") || code.contains("ret"))
    };
    let branches =
        || text.lines().enumerate().filter(|(_, line)| is_branch(line)).map(|(at, _)| at);
    let (first, last) = (branches().next()?, branches().last()?);
    let before = first.saturating_sub(3);
    let last = last.min(before + MOST_LINES - 1);
    Some(cut(name, text, before, last))
}

fn cut(name: &str, text: &str, first: usize, last: usize) -> Excerpt {
    let lines = || text.lines().enumerate().skip(first).take(last - first + 1);
    let indent = |line: &str| line.len() - line.trim_start().len();
    let common =
        lines().map(|(_, line)| line).filter(|line| indent(line) > 0 && !line.trim().is_empty());
    let common = common.map(indent).min().unwrap_or(0);
    // Labels keep their column, instructions are indented by two; comments move close to the code.
    let body = |(at, line): (usize, &str)| {
        let (code, comment) = line.split_at(line.find("//").unwrap_or(line.len()));
        let code = if indent(code) == 0 {
            code.to_owned()
        } else {
            format!("  {}", code.get(common..).unwrap_or(code))
        };
        (at + 1, code.trim_end().to_owned(), comment.to_owned())
    };
    let lines: Vec<_> = lines().filter(|(_, line)| !line.trim().is_empty()).map(body).collect();
    let digits = (last + 1).to_string().len();
    let width = lines.iter().map(|(_, code, _)| code.chars().count()).max().unwrap_or(0);
    let shown = |(at, code, comment): (usize, String, String)| {
        format!("{at:>digits$}  {code:<width$}  {comment}").trim_end().to_owned()
    };
    let mut shown: Vec<String> = lines.into_iter().map(shown).collect();
    if shown.len() > MOST_LINES {
        shown.truncate(MOST_LINES - 1);
        shown.push(format!("{:>digits$}", ".."));
    }
    let numbers = (first as u32 + 1, last as u32 + 1);
    Excerpt { lines: numbers, picture: Picture { title: name.to_owned(), lines: shown } }
}

/// Collapses runs of blanks.
pub(super) fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
