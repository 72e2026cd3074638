//! The schedulers: the warp that issues, and the stall reasons of the others.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use simt_core::debug::{SchedulerView, View, WarpBrief};
use simt_core::event::Stall;

use super::{Panel, clip, remark};
use crate::cli::step::app::App;

/// Draws a few rows for each scheduler, then recent events in the room left.
pub(super) fn panel(app: &App<'_>, view: &View, (width, height): (usize, usize)) -> Panel {
    let mut lines = Vec::new();
    let most = (height / view.schedulers.len().max(1)).clamp(1, 4);
    for scheduler in view.schedulers.iter().take(height) {
        lines.extend(rows(view, scheduler, width, most));
    }
    let room = height.saturating_sub(lines.len() + 1);
    if room > 0 && !view.remarks.is_empty() {
        let told: Vec<_> = view.remarks.iter().rev().take(room).collect();
        lines.push(Line::from(Span::styled(
            "recent events",
            Style::new().add_modifier(Modifier::DIM),
        )));
        lines.extend(told.into_iter().map(|r| {
            let text = format!(
                "cycle {}: block {} warp {}: {}",
                r.cycle,
                r.block.0,
                r.warp,
                remark(app, r.what)
            );
            Line::from(clip(&text, width))
        }));
    }
    Panel { title: format!("schedulers of {}: (cycles) until each warp can issue", view.sm), lines }
}

/// Formats a scheduler: its issue, then its warps by stall reason.
fn rows(view: &View, scheduler: &SchedulerView, width: usize, most: usize) -> Vec<Line<'static>> {
    let name = |w: &WarpBrief| {
        let plain = if w.block == view.focus.block {
            format!("w{}", w.index)
        } else {
            format!("{}.w{}", w.block.0, w.index)
        };
        if w.block == view.focus.block && w.index == view.focus.warp {
            format!("[{plain}]")
        } else {
            plain
        }
    };
    let issues = scheduler.issues.and_then(|slot| scheduler.warps.iter().find(|w| w.slot == slot));
    let now = match issues {
        Some(warp) => format!("issues {}", name(warp)),
        None if scheduler.has_issued => "has issued".to_string(),
        None if scheduler.warps.is_empty() => "no warp".to_string(),
        None => "nothing".to_string(),
    };
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    let mut waiting: Vec<&WarpBrief> =
        scheduler.warps.iter().filter(|w| issues.is_none_or(|i| i.slot != w.slot)).collect();
    waiting.sort_by_key(|w| (w.wait.map_or(0, |(_, until)| until.unwrap_or(u64::MAX)), w.slot));
    for warp in waiting {
        let (stall, until) = warp.wait.unwrap_or((Stall::NotSelected, None));
        let text = match until.map(|until| until.saturating_sub(view.clock)) {
            Some(left) => format!("{}({left})", name(warp)),
            None => name(warp),
        };
        match reasons.iter_mut().find(|(r, _)| *r == stall.name()) {
            Some((_, warps)) => warps.push(text),
            None => reasons.push((stall.name(), vec![text])),
        }
    }
    let words: Vec<String> = reasons
        .iter()
        .flat_map(|(r, warps)| std::iter::once(format!("{r}:")).chain(warps.clone()))
        .collect();
    let head = format!("s{} {now:<12}", scheduler.number);
    let style =
        if issues.is_some() { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
    let mut texts = vec![String::new()];
    for word in words {
        let room = width.saturating_sub(head.len() + 1);
        let line = texts.last_mut().map_or(0, |t| t.len());
        if line > 0 && line + 1 + word.len() > room {
            if texts.len() == most {
                if let Some(last) = texts.last_mut() {
                    *last = clip(&format!("{last} .."), room);
                }
                break;
            }
            texts.push(String::new());
        }
        if let Some(last) = texts.last_mut() {
            *last = if last.is_empty() { word } else { format!("{last} {word}") };
        }
    }
    let line = |(i, text): (usize, String)| {
        let before = if i == 0 { head.clone() } else { " ".repeat(head.len()) };
        Line::from(vec![Span::styled(before, style), Span::raw(format!(" {text}"))])
    };
    texts.into_iter().enumerate().map(line).collect()
}
