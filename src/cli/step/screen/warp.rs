//! The warp: its lanes, and the stack or the groups and convergence barriers.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use simt_core::base::LaneMask;
use simt_core::debug::{View, WarpView};
use simt_core::divergence::{Group, GroupState};
use simt_core::observe::LaneState;

use super::{Panel, clip, reason};
use crate::cli::step::app::App;

/// Draws the lanes, then the stack or the groups.
pub(super) fn panel(app: &App<'_>, view: &View, (width, height): (usize, usize)) -> Panel {
    let Some(warp) = &view.warp else {
        let lines = [
            "This warp is not on the SM now: it",
            "has exited, or its block has not",
            "started.",
            "",
            "w  another warp    ]  another block",
            "N  back to its last instruction",
        ];
        return Panel {
            title: "no such warp".to_string(),
            lines: lines.into_iter().map(Line::from).collect(),
        };
    };
    let mut lines = vec![Line::from(ruler("", warp.lanes.len())), lane_row(warp)];
    lines.push(Line::from("# runs . off w waits b barrier x exited"));
    if warp.stack.is_empty() {
        groups(app, warp, &mut lines);
        joins(warp, &mut lines);
    } else {
        stack(app, warp, &mut lines);
    }
    if lines.len() > height {
        lines.remove(2); // the help page also explains the letters
    }
    if lines.len() > height {
        lines.truncate(height.saturating_sub(1));
        lines.push(Line::from(".."));
    }
    let now = match warp.wait {
        None => "can issue".to_string(),
        Some((stall, Some(until))) => {
            format!("waits for {} ({} more)", reason(stall), until.saturating_sub(view.clock))
        }
        Some((stall, None)) => format!("waits for {}", reason(stall)),
    };
    Panel { title: clip(&format!("warp {}: {now}", view.focus.warp), width), lines }
}

/// Columns before the lanes.
pub(super) const WIDTH: usize = 6;

/// Formats lane numbers above every eighth lane.
pub(super) fn ruler(before: &str, lanes: usize) -> String {
    let marks = (0..lanes).step_by(8).map(|lane| format!("{lane:<8}"));
    format!("{before:<WIDTH$}{}", marks.collect::<String>()).trim_end().to_string()
}

fn lane_row(warp: &WarpView) -> Line<'static> {
    let letters: String = warp.lanes.iter().map(|state| state.letter()).collect();
    let running = warp.lanes.iter().filter(|&&state| state == LaneState::Active).count();
    let letters = Span::styled(letters, Style::new().add_modifier(Modifier::BOLD));
    Line::from(vec![
        Span::raw(format!("{:<WIDTH$}", "lanes")),
        letters,
        Span::raw(format!(" {running:>2}")),
    ])
}

fn groups(app: &App<'_>, warp: &WarpView, lines: &mut Vec<Line<'static>>) {
    lines.push(heading("groups       lanes          next line"));
    lines.extend(warp.groups.iter().map(|group| {
        let (word, mark) =
            (state(group), if group.state == GroupState::Running { "==>" } else { "   " });
        let text = format!(
            "{mark} {word:<8} {} {:>2} {}",
            mask(group.lanes),
            group.lanes.count(),
            next(app, group)
        );
        styled(text, group.state == GroupState::Running)
    }));
}

fn joins(warp: &WarpView, lines: &mut Vec<Line<'static>>) {
    lines.push(heading(if warp.joins.is_empty() {
        "joins: none in use"
    } else {
        "joins    members    arrived    awaited"
    }));
    // The youngest opens next.
    lines.extend(warp.joins.iter().rev().map(|join| {
        let missing = (join.participants - join.arrived).count();
        Line::from(format!(
            "    {:<4} {} {} {missing:>2}",
            join.id.to_string(),
            mask(join.participants),
            mask(join.arrived)
        ))
    }));
}

fn stack(app: &App<'_>, warp: &WarpView, lines: &mut Vec<Line<'static>>) {
    lines.push(heading("stack    line  lanes          until line"));
    lines.extend(warp.stack.iter().rev().enumerate().map(|(depth, entry)| {
        let name = if depth == 0 { "==> top" } else { "" };
        let until = match entry.reconverge {
            Some(pc) => app.line(pc).to_string(),
            None if entry.call => "its return".to_string(),
            None => "the end".to_string(),
        };
        let text = format!(
            "{name:<8} {:>4}  {} {:>2} {until}",
            app.line(entry.pc),
            mask(entry.lanes),
            entry.lanes.count()
        );
        styled(text, depth == 0)
    }));
}

/// Names the state of a group.
fn state(group: &Group) -> String {
    match group.state {
        GroupState::Running => "runs".to_string(),
        GroupState::Ready => "ready".to_string(),
        GroupState::Yielded => "yielded".to_string(),
        GroupState::AtJoin(join) => format!("at {join}"),
        GroupState::AtReconvergence => "waits".to_string(),
        GroupState::AtBarrier(id) => format!("bar {id}"),
        GroupState::Gathering(_) => ".sync".to_string(),
        GroupState::Aligning => "all lanes".to_string(),
    }
}

/// Names the next step of a group, short enough for the panel: `71 sync B0`.
fn next(app: &App<'_>, group: &Group) -> String {
    app.facts
        .place(group.pc, app.line(group.pc))
        .trim_start_matches("line ")
        .replace(['(', ')'], "")
}

fn mask(lanes: LaneMask) -> String {
    format!("{lanes}")
}

fn heading(text: &str) -> Line<'static> {
    Line::from(Span::styled(text.to_string(), Style::new().add_modifier(Modifier::DIM)))
}

fn styled(text: String, strong: bool) -> Line<'static> {
    let style = if strong { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
    Line::from(Span::styled(text, style))
}
