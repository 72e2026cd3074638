//! Comparison of two runs: a pair of bars and a ratio per counter.
//!
//! Each pair has its own scale because counters have different units. The upper bar is the first
//! run's, the lower, hatched one the second's. The picture shows counters of divergence and memory;
//! the CSV has all.

use std::fmt::Write;

use super::frame::{Entry, Heading, MARGIN, TOP, ending, legend_rows};
use super::palette::{BLUE, GREY, INK, Look, ORANGE, PALE, WHITE, face};
use super::scene::{Area, Hatch, Scene};
use crate::compare::{Comparison, Figure, Side};
use crate::metrics::Value;
use crate::numbers::{grouped, real};
use crate::wrap;

/// Counters shown, in order, if a run has them.
const SHOWN: [&str; 18] = [
    "elapsed_cycles",
    "inst_executed",
    "ptx_inst_executed",
    "join_instructions",
    "ipc",
    "conditional_branches",
    "divergent_branch",
    "branch_efficiency",
    "warp_execution_efficiency",
    "average_active_lanes",
    "achieved_occupancy",
    "gld_transactions",
    "gst_transactions",
    "gld_efficiency",
    "l2_read_transactions",
    "dram_read_bytes",
    "shared_load_bank_conflict",
    "barriers",
];

const FIRST: Look = Look::plain(BLUE, WHITE);
const SECOND: Look = Look::hatched(ORANGE.tint(130), Hatch::Rising, ORANGE);
const LEFT: i32 = MARGIN + 250;
const ROOM: i32 = 560;
const ROW: i32 = 38;
const BAR: i32 = 13;

/// Draws the picture.
pub fn bars(found: &Comparison) -> Scene {
    let shown: Vec<&Figure> =
        SHOWN.iter().filter_map(|name| found.figure(name)).filter(|f| is_told(f)).collect();
    let heading = Heading {
        title: format!("{} compared with {}", found.b.name, found.a.name),
        subtitle: format!("A: {} \u{b7} B: {}", run(&found.a), run(&found.b)),
        ending: match [&found.a, &found.b].map(|side| ending(side.finish)) {
            [None, None] => None,
            [a, b] => {
                let one = |letter, ending: Option<String>| {
                    ending.map(|ending| format!("{letter}: {ending}"))
                };
                Some(one("A", a).into_iter().chain(one("B", b)).collect::<Vec<_>>().join(", "))
            }
        },
        footer: "Whole runs. Each pair is scaled to its larger value.".to_owned(),
    };
    let key = [
        Entry { look: FIRST, letter: "A".to_owned(), text: format!("A: {}", found.a.name) },
        Entry { look: SECOND, letter: "B".to_owned(), text: format!("B: {}", found.b.name) },
    ];
    let width = (LEFT + ROOM + 290).max(heading.width());
    let legend = legend_rows(None, 0, width, &key);
    let columns = usize::try_from((width - 2 * MARGIN) * 1000 / (12 * 602)).unwrap_or(80);
    let closing: Vec<String> =
        wrap(&found.closing, columns, "", "").lines().map(str::to_owned).collect();
    let count = |n: usize| i32::try_from(n).unwrap_or(0);
    let rows = count(shown.len()) * ROW;
    let mut scene =
        Scene::new(width, TOP + 10 + count(closing.len()) * 17 + 10 + legend + 14 + rows + 56);
    let mut y = heading.draw(&mut scene) + 8;
    for line in closing {
        scene.text((MARGIN, y), face(12, INK).bold(), line);
        y += 17;
    }
    y += 8;
    y += legend_rows(Some(&mut scene), y, width, &key) + 14;
    for figure in shown {
        pair(&mut scene, figure, y);
        y += ROW;
    }
    heading.draw_footer(&mut scene);
    scene
}

fn run(side: &Side) -> String {
    format!("{}, {} on {}", side.program, side.mode, side.machine)
}

/// Returns true unless both values are zero or missing.
fn is_told(figure: &Figure) -> bool {
    [figure.a, figure.b].into_iter().flatten().any(|value| value.as_f64() != 0.0)
}

fn pair(scene: &mut Scene, figure: &Figure, y: i32) {
    scene.line((MARGIN, y - 3), (scene.width - MARGIN, y - 3), PALE);
    scene.text((MARGIN, y + BAR - 2), face(11, INK).bold(), figure.metric);
    scene.text((MARGIN, y + BAR + 13), face(10, GREY), figure.unit);
    let [a, b] = [figure.a, figure.b].map(|value| value.map_or(0.0, Value::as_f64));
    let most = a.abs().max(b.abs());
    for (k, (value, look)) in (0..).zip([(figure.a, FIRST), (figure.b, SECOND)]) {
        let top = y + k * (BAR + 3);
        let part = value.map_or(0.0, |v| v.as_f64().abs() / most.max(f64::MIN_POSITIVE));
        let w = (part * f64::from(ROOM)).round() as i32;
        look.draw(scene, Area { x: LEFT, y: top, w: w.max(i32::from(part > 0.0)), h: BAR }, "");
        let text = value.map_or("-".to_owned(), |value| match value {
            Value::Count(n) => grouped(n),
            Value::Real(x) => real(x),
        });
        scene.text((LEFT + w + 8, top + BAR / 2 + 1), face(10, INK), text);
    }
    if let Some(ratio) = figure.ratio {
        let ink = if (0.99..1.01).contains(&ratio) { GREY } else { INK };
        scene.text((scene.width - MARGIN, y + BAR), face(12, ink).bold().end(), times(ratio, a, b));
    } else if a == 0.0 && b != 0.0 {
        scene.text((scene.width - MARGIN, y + BAR), face(12, INK).bold().end(), "only in B");
    }
}

/// Formats a ratio: `B 1.25x more`, `the same`, `B 3.00x less`.
fn times(ratio: f64, a: f64, b: f64) -> String {
    match ratio {
        r if (0.995..1.005).contains(&r) => "the same".to_owned(),
        r if r > 1.0 => format!("B {}x more", real(r)),
        _ if b == 0.0 => "none in B".to_owned(),
        _ => format!("B {}x less", real(a / b)),
    }
}

/// Prints every counter of both runs.
pub(super) fn data(found: &Comparison) -> String {
    let mut out = String::from("metric,unit,a,b,ratio\n");
    for Figure { metric, unit, a, b, ratio, .. } in &found.figures {
        let text = |value: &Option<Value>| match value {
            Some(Value::Count(n)) => n.to_string(),
            Some(Value::Real(x)) => x.to_string(),
            None => String::new(),
        };
        let ratio = ratio.map(|r| r.to_string()).unwrap_or_default();
        let _ = writeln!(out, "{metric},{unit},{},{},{ratio}", text(a), text(b));
    }
    out
}
