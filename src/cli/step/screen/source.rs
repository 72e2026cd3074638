//! The source, with the position of every group of lanes.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use simt_core::debug::View;
use simt_core::divergence::GroupState;

use super::{Panel, clip};
use crate::cli::step::app::App;

/// Draws the source around the running group.
pub(super) fn panel(app: &App<'_>, view: &View, (width, height): (usize, usize)) -> Panel {
    let mut marks: Vec<(u32, GroupState, u32)> = Vec::new();
    let warp = view.warp.as_ref();
    for group in warp.map(|w| w.groups.as_slice()).unwrap_or_default() {
        let line = app.line(group.pc);
        match marks.iter_mut().find(|mark| mark.0 == line) {
            Some(mark) => mark.2 += group.lanes.count(),
            None => marks.push((line, group.state, group.lanes.count())),
        }
    }
    let here = marks
        .first()
        .map(|mark| mark.0)
        .or(view.last.as_ref().map(|last| app.line(last.pc)))
        .unwrap_or(1);
    let rows = &app.facts.rows;
    let first = first_line(rows.partition_point(|&row| row < here) + 1, rows.len(), height);
    let lines = rows.iter().skip(first).take(height).map(|&number| {
        let text = app.facts.lines.get(number as usize - 1).map_or("", String::as_str);
        let mark = marks.iter().find(|mark| mark.0 == number);
        let running = mark.is_some_and(|mark| mark.1 == GroupState::Running);
        let sign = match mark {
            Some(&(_, state, lanes)) => format!("{lanes:>3} {} ", sign(state)),
            None if app.facts.is_predicated(number) => " pred.  ".to_string(),
            None => " ".repeat(8),
        };
        let text = format!(
            "{:>4} {sign}{}",
            number,
            without_comment(text, width.saturating_sub(5 + sign.len()))
        );
        let style = match mark {
            Some(_) if running => Style::new().add_modifier(Modifier::REVERSED),
            Some(_) => Style::new().add_modifier(Modifier::BOLD),
            None => Style::new(),
        };
        Line::from(Span::styled(clip(&text, width), style))
    });
    let running = warp.and_then(|w| w.groups.first());
    let from = running.and_then(|group| app.facts.info(group.pc)?.origin.as_ref());
    let title = match (running.and_then(|group| app.facts.compiled(group.pc)), from) {
        (Some(next), _) => format!("source: {}, next: {next}", app.facts.file),
        (None, Some(from)) => {
            format!("source: {}, compiled from {}:{}", app.facts.file, from.file, from.line)
        }
        (None, None) => "source: lanes and their state: ==> run next, . ready".to_string(),
    };
    Panel { title, lines: lines.collect() }
}

/// Drops the comment of a line that does not fit with it.
fn without_comment(text: &str, width: usize) -> &str {
    match text.split_once("//") {
        Some((code, _)) if text.chars().count() > width && !code.trim().is_empty() => {
            code.trim_end()
        }
        _ => text,
    }
}

/// Sign of a group's state: three characters, so that lines align.
fn sign(state: GroupState) -> &'static str {
    match state {
        GroupState::Running => "==>",
        GroupState::Ready => "  .",
        GroupState::Yielded => "  y",
        GroupState::AtJoin(_)
        | GroupState::AtReconvergence
        | GroupState::Gathering(_)
        | GroupState::Aligning => "  w",
        GroupState::AtBarrier(_) => "  b",
    }
}

/// First line shown (from 0). It moves by half a window, so most steps do not scroll.
fn first_line(here: usize, lines: usize, height: usize) -> usize {
    let half = (height / 2).max(1);
    let first = (here.saturating_sub(1 + half / 2) / half) * half;
    first.min(lines.saturating_sub(height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_always_in_the_window() {
        for height in 1..40 {
            for lines in 1..90 {
                for here in 1..=lines {
                    let first = first_line(here, lines, height);
                    assert!(
                        (first + 1..first + 1 + height).contains(&here),
                        "line {here} of {lines} in {height}"
                    );
                }
            }
        }
    }
}
