//! Issues and stalls, warp by cycle.

use std::fmt::Write;

use super::axis::Scale;
use super::frame::{Entry, Heading, MARGIN, Panel, TOP, legend_rows};
use super::palette::{GREY, INK, PALE, face};
use super::reasons::{self, ISSUED};
use super::scene::{Area, Scene};
use crate::numbers::grouped;
use crate::timeline::{Axis, Recording};
use simt_core::base::Pc;
use simt_core::event::Stall;
use simt_core::observe::{Span, Strip};

const ROOM: i32 = 1320;

/// Draws the picture: a row per warp.
pub(super) fn schedule(panel: &Panel<'_>) -> Scene {
    const ROW: i32 = 26;
    let strips = panel.strips();
    let scale = Scale::new(panel.all_strips(usize::MAX), Axis::Cycle, MARGIN + 100, ROOM);
    let mut seen = [false; Stall::ALL.len()];
    panel.peers.iter().flat_map(|peer| segments_of(peer.timeline.strips())).for_each(
        |(_, span, _)| {
            if let Some(stall) = span.stall {
                seen[stall as usize] = true;
            }
        },
    );
    let issued = Entry { look: ISSUED, letter: String::new(), text: "issues".to_owned() };
    let key: Vec<Entry> = std::iter::once(issued).chain(reasons::entries(&seen)).collect();
    let heading = Heading::of(panel, "issues and stalls by warp");
    let width = (scale.right() + 70).max(heading.width());
    let rows = i32::try_from(strips.len()).unwrap_or(64).min(64);
    let mut scene =
        Scene::new(width, TOP + legend_rows(None, 0, width, &key) + 16 + rows * ROW + 44 + 40);
    let top = heading.draw(&mut scene);
    let top = top + legend_rows(Some(&mut scene), top, width, &key) + 16;
    for (i, strip) in (0..).zip(strips) {
        let area =
            Area { x: scale.left(), y: top + i * ROW, w: scale.right() - scale.left(), h: ROW - 5 };
        scene.fill(area, PALE.tint(90));
        scene.text(
            (scale.left() - 8, area.y + area.h / 2),
            face(11, INK).bold().end(),
            format!("warp {}", strip.warp),
        );
    }
    for (i, span, _) in segments_of(strips) {
        let y = top + i32::try_from(i).unwrap_or(0) * ROW;
        let (x, end) = (scale.x(span.from), scale.x(span.to));
        match span.stall {
            Some(stall) if end > x => {
                reasons::look(stall).draw(
                    &mut scene,
                    Area { x, y: y + 3, w: end - x, h: ROW - 11 },
                    "",
                );
            }
            Some(_) => {}
            None => ISSUED.draw(&mut scene, Area { x, y, w: (end - x).max(1), h: ROW - 5 }, ""),
        }
    }
    let bottom = scale.draw(&mut scene, Area { x: 0, y: top + rows * ROW, w: 0, h: 0 });
    let share = issue_share(strips);
    scene.text((scale.left(), bottom + 8), face(10, GREY), share);
    heading.draw_footer(&mut scene);
    scene
}

fn issue_share(strips: &[Strip]) -> String {
    let used: u64 = strips.iter().flat_map(|s| &s.issues).map(|i| u64::from(i.slots)).sum();
    let (from, to) = Scale::new(strips.iter(), Axis::Cycle, 0, ROOM).span();
    format!("{} issue slots used by these warps in {} cycles", grouped(used), grouped(to - from))
}

/// Returns the spans of every strip with their steps, in order.
/// They cover a warp's time up to its last issue without a gap.
fn segments_of(strips: &[Strip]) -> impl Iterator<Item = (usize, Span, Pc)> {
    strips.iter().enumerate().flat_map(|(i, strip)| {
        strip.issues.iter().flat_map(move |issue| {
            issue.spans().into_iter().chain(issue.drain()).map(move |span| (i, span, issue.pc))
        })
    })
}

/// Prints the spans as CSV.
pub(super) fn data(recording: &Recording) -> String {
    let mut out = String::from("block,warp,from,to,state,line\n");
    let strips = recording.timeline.strips();
    for (i, Span { from, to, stall }, pc) in segments_of(strips) {
        let strip = &strips[i];
        let state = stall.map_or("issued", Stall::name);
        let line = recording.line(pc);
        let _ = writeln!(out, "{},{},{from},{to},{state},{line}", strip.block.0, strip.warp);
    }
    out
}
