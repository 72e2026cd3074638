//! Text output of the quiz for a terminal: question and excerpt, answer and explanation, score.
//! ASCII, readable without colour, no line over the width.

use std::fmt::Write as _;

use super::{Question, Revealed, Score, TOPICS};
use crate::grade::{number, plain};
use simt_report::{Picture, Style, figures_text, wrap};

const BOLD: &str = "\x1b[1m";
const GOOD: &str = "\x1b[32m";
const BAD: &str = "\x1b[1;31m";
const FAINT: &str = "\x1b[2m";
/// Maximum lines of a picture. Longer ones lose their middle so that the answer fits on a small
/// screen.
const MOST_LINES: usize = 12;
/// Maximum lines of a picture above a table.
const MOST_ABOVE_TABLE: usize = 8;
/// Maximum length of a text read from a file.
const MOST_TEXT: usize = 4000;

/// Colours text if colour is enabled.
fn paint(text: &str, code: &str, style: Style) -> String {
    if style.color { format!("{code}{text}\x1b[0m") } else { text.to_owned() }
}

fn paragraph(out: &mut String, text: &str, indent: &str, hang: &str, style: Style) {
    for (at, part) in plain(text, MOST_TEXT).split('\n').enumerate() {
        let indent = if at == 0 { indent } else { hang };
        out.push_str(&wrap(part, style.width, indent, hang));
        out.push('\n');
    }
}

/// Prints the topics, one per line.
pub fn topics(style: Style) -> String {
    let mut out = String::from("Topics (*: each --seed draws new numbers)\n");
    let widest = TOPICS.iter().map(|topic| topic.name.len()).max().unwrap_or(0);
    for topic in TOPICS {
        let star = if topic.questions().is_none() { '*' } else { ' ' };
        let (indent, hang) = (format!("{star} {:<widest$}  ", topic.name), " ".repeat(widest + 4));
        paragraph(&mut out, topic.about, &indent, &hang, style);
    }
    out.push('\n');
    let more = "`simt-sim quiz` asks five questions from all topics, `simt-sim quiz NAME` from one \
                topic, `simt-sim quiz FOLDER` those of an assignment.";
    paragraph(&mut out, more, "", "", style);
    out
}

/// Prints the first line of a quiz.
pub fn welcome(what: &str, count: usize, style: Style) -> String {
    let questions = if count == 1 { "1 question".to_owned() } else { format!("{count} questions") };
    let mut out = String::new();
    let text =
        format!("{what}: {questions}; predict, then see the measurement (h hint, s skip, q quit)",);
    paragraph(&mut out, &text, "", "  ", style);
    out
}

/// Prints a question without its answer.
pub fn question(question: &Question<'_>, at: usize, of: usize, style: Style) -> String {
    let mut out = String::from("\n");
    let _ = writeln!(
        out,
        "{}",
        paint(&format!("{at} of {of}  {}", plain(&question.name, 80)), BOLD, style)
    );
    paragraph(&mut out, &question.text, "  ", "  ", style);
    if let Some(shown) = &question.shown {
        let _ = writeln!(out, "\n  {}", paint(&plain(&shown.title, 120), FAINT, style));
        lines(&mut out, &shown.lines, usize::MAX, style);
    }
    out.push('\n');
    out
}

/// Prompt for a prediction.
pub const PROMPT: &str = "  your prediction: ";

/// Prints a hint.
pub fn hint(question: &Question<'_>, style: Style) -> String {
    let mut out = String::new();
    let text = if question.hint.is_empty() { "No hint for this question." } else { &question.hint };
    paragraph(&mut out, text, "  hint: ", "        ", style);
    out
}

/// Prints the reason why an input is invalid.
pub fn refused(why: &str, style: Style) -> String {
    let mut out = String::new();
    paragraph(&mut out, why, "  ", "    ", style);
    out
}

/// Prints the prompt after an answer. It repeats the figures, which may have scrolled away.
pub fn pause(predicted: f64, revealed: &Revealed) -> String {
    format!(
        "\n  {} predicted, {}. Enter: next question, q: quit ",
        number(predicted),
        found(revealed),
    )
}

/// The answer and its origin.
fn found(revealed: &Revealed) -> String {
    let by = if revealed.is_stated { "the assignment says" } else { "measured" };
    format!("{by} {}", number(revealed.answer))
}

/// Prints the answer to a question beside the prediction.
pub fn answer(
    question: &Question<'_>,
    predicted: f64,
    revealed: &Revealed,
    style: Style,
) -> String {
    let mut out = String::new();
    let met = question.is_met(predicted, revealed.answer);
    let verdict = if met { paint("right", GOOD, style) } else { paint("wrong", BAD, style) };
    let near = if met && (predicted - revealed.answer).abs() > 1e-9 {
        format!(" (within {})", number(question.within))
    } else {
        String::new()
    };
    let _ =
        writeln!(out, "\n  {verdict}: predicted {}, {}{near}", number(predicted), found(revealed));
    if !met {
        paragraph(&mut out, &difference(predicted, revealed), "  ", "  ", style);
    }
    let most = if revealed.table.is_some() { MOST_ABOVE_TABLE } else { MOST_LINES };
    for picture in &revealed.pictures {
        drawing(&mut out, picture, most, style);
    }
    if let Some(table) = &revealed.table {
        let narrow = Style { width: style.width.saturating_sub(2), ..style };
        let indented =
            |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") };
        out.extend(figures_text(table, narrow).lines().map(indented));
    }
    if !revealed.because.is_empty() {
        out.push('\n');
        paragraph(&mut out, &revealed.because.join(" "), "  ", "  ", style);
    }
    let run = if revealed.is_stated { "inspected" } else { "measured" };
    let measured = format!("{run}: {}; {}", revealed.measured, revealed.trust);
    paragraph(&mut out, &measured, "  ", "    ", style);
    if !revealed.read_on.is_empty() {
        out.push_str("  see also:\n");
    }
    for command in &revealed.read_on {
        let _ = writeln!(out, "    {}", plain(command, 400));
    }
    out
}

/// Explains a wrong prediction with figures of the run.
fn difference(predicted: f64, revealed: &Revealed) -> String {
    if let Some(what) = revealed.mistaken_for(predicted) {
        return format!("{} is {what}.", number(predicted));
    }
    let off = (predicted - revealed.answer).abs();
    let way = if predicted > revealed.answer { "too high" } else { "too low" };
    format!("That is {} {way}.", number(off))
}

fn drawing(out: &mut String, picture: &Picture, most: usize, style: Style) {
    out.push('\n');
    let title = wrap(&plain(&picture.title, 200), style.width, "  ", "  ");
    let _ = writeln!(out, "{}", paint(&title, BOLD, style));
    lines(out, &picture.lines, most, style);
}

/// Prints lines within the width, at most `most` of them.
fn lines(out: &mut String, lines: &[String], most: usize, style: Style) {
    let skipped = lines.len().saturating_sub(most);
    let head = if skipped == 0 { lines.len() } else { most.saturating_sub(4) };
    let mut print = |line: &str| {
        let room = style.width.saturating_sub(4);
        let line = plain(line, MOST_TEXT);
        let fits = line.chars().count() <= room;
        let cut: String =
            line.chars().take(if fits { room } else { room.saturating_sub(2) }).collect();
        let _ = writeln!(out, "    {}{}", cut.trim_end(), if fits { "" } else { ".." });
    };
    lines.iter().take(head).for_each(|line| print(line));
    if skipped > 0 {
        let tail = 3;
        print(&format!("(.. {} lines ..)", lines.len() - head - tail));
        lines.iter().skip(lines.len() - tail).for_each(|line| print(line));
    }
}

/// Prints the score and the number of questions left.
pub fn score(score: &Score, of: usize, style: Style) -> String {
    let asked = score.right + score.wrong + score.skipped;
    let mut text = format!("{} of {asked} right", score.right);
    if score.skipped > 0 {
        let _ = write!(text, ", {} skipped", score.skipped);
    }
    if asked < of {
        let _ = write!(text, "; {} not asked", of - asked);
    }
    let code = if score.is_clean() { GOOD } else { BOLD };
    format!("\n{}\n", paint(&text, code, style))
}
