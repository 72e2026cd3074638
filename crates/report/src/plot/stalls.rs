//! Stall cycles: stacked bars per warp and per source line.

use std::fmt::Write;

use super::frame::{Heading, MARGIN, Panel, TOP, legend_rows};
use super::palette::{GREY, INK, PALE, clipped, face};
use super::reasons;
use super::scene::{Area, Scene};
use crate::numbers::grouped;
use crate::timeline::{Recording, quoted};
use simt_core::base::Pc;
use simt_core::event::Stall;
use simt_core::observe::Span;

type Cycles = [u64; Stall::ALL.len()];

/// A bar: its name and its cycles by reason.
struct Bar {
    name: String,
    text: String,
    cycles: Cycles,
}

impl Bar {
    fn total(&self) -> u64 {
        self.cycles.iter().sum()
    }
}

/// Returns the stalls of each warp, and of each step that stalled.
fn bars(recording: &Recording) -> (Vec<Bar>, Vec<Bar>) {
    let strips = recording.timeline.strips();
    let add = |cycles: &mut Cycles, spans: &[Span]| {
        let waits = spans.iter().filter_map(|span| Some((span.stall?, span.cycles())));
        waits.for_each(|(stall, n)| cycles[stall as usize] += n);
    };
    let mut warps = Vec::new();
    let mut steps: Vec<Cycles> = vec![Cycles::default(); recording.steps.len()];
    for strip in strips {
        let mut cycles = Cycles::default();
        for issue in &strip.issues {
            let mut spans = issue.spans();
            spans.extend(issue.drain());
            add(&mut cycles, &spans);
            if let Some(step) = steps.get_mut(issue.pc.index()) {
                add(step, &spans);
            }
        }
        warps.push(Bar { name: format!("warp {}", strip.warp), text: String::new(), cycles });
    }
    let mut lines: Vec<(u32, Bar)> = (0..)
        .zip(steps)
        .filter(|(_, cycles)| cycles.iter().any(|&n| n > 0))
        .map(|(pc, cycles)| {
            let line = recording.line(Pc(pc));
            let text = recording.step(Pc(pc)).map_or(String::new(), |s| s.text.clone());
            (line, Bar { name: line.to_string(), text, cycles })
        })
        .collect();
    lines.sort_by_key(|(line, _)| *line);
    (warps, lines.into_iter().map(|(_, bar)| bar).collect())
}

const ROW: i32 = 19;
const LEFT: i32 = 370;
const ROOM: i32 = 900;

/// Draws the picture.
pub(super) fn stalls(panel: &Panel<'_>) -> Scene {
    let (warps, mut lines) = bars(panel.recording);
    let peers: Vec<(Vec<Bar>, Vec<Bar>)> = panel.peers.iter().map(bars).collect();
    let mut seen = [false; Stall::ALL.len()];
    for bar in peers.iter().flat_map(|(warps, _)| warps) {
        Stall::ALL.iter().for_each(|&s| seen[s as usize] |= bar.cycles[s as usize] > 0);
    }
    let key = reasons::entries(&seen);
    // The most expensive lines, in source order.
    let mut totals: Vec<u64> = lines.iter().map(Bar::total).collect();
    totals.sort_unstable_by_key(|&n| std::cmp::Reverse(n));
    let least = totals.get(39).copied().unwrap_or(0);
    lines.retain(|bar| bar.total() >= least);
    let heading = Heading::of(panel, "stall cycles");
    let width = (LEFT + ROOM + 150).max(heading.width());
    let rows = i32::try_from(warps.len().min(64) + lines.len().min(64)).unwrap_or(128);
    let legend = legend_rows(None, 0, width, &key);
    let mut scene = Scene::new(width, TOP + legend + rows * ROW + 2 * 34 + 60);
    let top = heading.draw(&mut scene);
    let mut y = top + legend_rows(Some(&mut scene), top, width, &key) + 20;
    let longest = |bars: &[Bar]| bars.iter().map(Bar::total).max().unwrap_or(0);
    let most = |of_peers: &mut dyn Iterator<Item = u64>| of_peers.max().unwrap_or(0).max(1);
    let parts = [
        ("by warp", &warps, most(&mut peers.iter().map(|peer| longest(&peer.0)))),
        (
            "by the stalled instruction",
            &lines,
            most(&mut peers.iter().map(|peer| longest(&peer.1))),
        ),
    ];
    for (name, bars, most) in parts {
        scene.text((MARGIN, y), face(12, INK).bold(), name);
        scene.text((width - MARGIN, y), face(10, GREY).end(), "cycles");
        y += 14;
        for bar in bars.iter().take(64) {
            row(&mut scene, bar, y, most, width);
            y += ROW;
        }
        y += 20;
    }
    heading.draw_footer(&mut scene);
    scene
}

fn row(scene: &mut Scene, bar: &Bar, y: i32, most: u64, width: i32) {
    let middle = y + ROW / 2;
    if bar.text.is_empty() {
        scene.text((LEFT - 10, middle), face(11, INK).bold().end(), bar.name.clone());
    } else {
        scene.text((MARGIN + 28, middle), face(10, GREY).end(), bar.name.clone());
        scene.text(
            (MARGIN + 38, middle),
            face(10, INK),
            clipped(&bar.text, LEFT - MARGIN - 50, 10),
        );
    }
    scene.line((LEFT, y + ROW), (LEFT + ROOM, y + ROW), PALE);
    let x = |cycles: u64| {
        let part = u128::from(cycles) * u128::from(ROOM.unsigned_abs()) / u128::from(most);
        LEFT + i32::try_from(part).unwrap_or(ROOM)
    };
    let mut before = 0;
    for stall in Stall::ALL {
        let n = bar.cycles[stall as usize];
        let (from, to) = (x(before), x(before + n));
        before += n;
        if to > from {
            reasons::look(stall).draw(
                scene,
                Area { x: from, y: y + 2, w: to - from, h: ROW - 4 },
                stall.name(),
            );
        }
    }
    scene.text((width - MARGIN, middle), face(10, INK).end(), grouped(bar.total()));
}

/// Prints the bars as CSV.
pub(super) fn data(recording: &Recording) -> String {
    let (warps, lines) = bars(recording);
    let mut out = String::from("of,name,instruction,state,cycles\n");
    for (of, bars) in [("warp", warps), ("line", lines)] {
        for bar in bars {
            let name = bar.name.trim_start_matches("warp ");
            for stall in Stall::ALL.into_iter().filter(|&s| bar.cycles[s as usize] > 0) {
                let cycles = bar.cycles[stall as usize];
                let _ =
                    writeln!(out, "{of},{name},{},{},{cycles}", quoted(&bar.text), stall.name());
            }
        }
    }
    out
}
