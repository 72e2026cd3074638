//! The timeline section.
//! Controls, selected moment, source, and a table as an alternative to the picture.
//!
//! This module makes only the frame; the scripts fill it. Without scripts a note names the
//! equivalent command.

use maud::{Markup, PreEscaped, html};

use super::{Part, Scope, data, heading, shape, source};
use crate::numbers::grouped;
use crate::timeline::Recording;
use simt_core::observe::LaneState;

/// Makes the section; ids begin with `id`.
pub(super) fn section(part: Part<'_>, recording: &Recording, id: &str, level: u8) -> Markup {
    html! {
        section.explorer data-part=(id) {
            (heading(level, "Timeline", Some(Scope::Window)))
            p.note { (extent(recording)) " " (recording.simulated) }
            noscript { p.note { "This picture needs JavaScript. " code { "simt-sim timeline FILE" } " prints the same as text." } }
            @if recording.timeline.strips().iter().all(|strip| strip.issues.is_empty()) {
                p { "No instruction issued in this window." }
                (source::listings(part, id))
            } @else {
                (controls(recording, id))
                (legend())
                div.panes {
                    div.stage {
                        canvas.map tabindex="0" role="application" aria-roledescription="timeline"
                            aria-label="Lane states of the selected warp; arrow keys move" aria-describedby={ (id) "-keys" } {}
                        canvas.overview aria-hidden="true" {}
                    }
                    aside.moment aria-label="Selected moment" {
                        p.placeholder {
                            "Point at the picture, or press an arrow key on it, to see what a lane \
                             does, at which line, and why it waits."
                        }
                    }
                    (source::listings(part, id))
                }
                (keys(id))
                p.said role="status" aria-live="polite" {}
                details.alternative {
                    summary { "Selected warp as a table" }
                    div."scroll" tabindex="0" role="region" aria-label="Selected warp as a table" {}
                }
                script type="application/json" { (PreEscaped(data::json(recording, part.sources))) }
            }
        }
    }
}

/// Describes the extent of the window.
fn extent(recording: &Recording) -> String {
    let strips = recording.timeline.strips();
    let window = recording.timeline.window();
    let threads: u64 = recording.block.iter().map(|&n| u64::from(n)).product();
    let warps = threads.div_ceil(u64::from(recording.warp_size.max(1)));
    let issues: usize = strips.iter().map(|s| s.issues.len()).sum();
    let cycles =
        |of: fn(u64, u64) -> u64| strips.iter().flat_map(|s| &s.issues).map(|i| i.cycle).reduce(of);
    let which = match (strips.first(), strips.last()) {
        (Some(first), Some(last)) if first.warp != last.warp => {
            format!("warps {} to {}", first.warp, last.warp)
        }
        (Some(one), _) => format!("warp {}", one.warp),
        (None, _) => "no warp".to_owned(),
    };
    let span = match (cycles(u64::min), cycles(u64::max)) {
        (Some(first), Some(last)) => format!(" in cycles {} to {}", grouped(first), grouped(last)),
        _ => String::new(),
    };
    let mut out = format!(
        "Shown: block {} of a grid of {}, {which} of its {}, {} issues{span}.",
        window.block.0,
        shape(recording.grid),
        grouped(warps),
        grouped(issues as u64),
    );
    match strips.iter().filter(|s| s.more).count() {
        0 if strips.len() == 1 => out += " The warp issues no more",
        0 => out += " They issue no more",
        1 if strips.len() == 1 => out += " The warp issues more",
        n if n == strips.len() => out += " All of them issue more",
        n => out += &format!(" {n} of them issue more"),
    }
    if window.cycles.start > 0 {
        out += &format!(", not counting cycles before {}", grouped(window.cycles.start));
    }
    out + "; other blocks are not shown."
}

fn controls(recording: &Recording, id: &str) -> Markup {
    let button = |action: &str, label: &str, text: &str| {
        html! { button type="button" data-do=(action) title=(label) aria-label=(label) { (text) } }
    };
    html! {
        div.controls role="toolbar" aria-label="Timeline" {
            label for={ (id) "-warp" } { "Warp " }
            select.warp id={ (id) "-warp" } {
                @for (i, strip) in recording.timeline.strips().iter().enumerate() { option value=(i) { (strip.warp) } }
            }
            label for={ (id) "-axis" } { "Axis " }
            select.axis id={ (id) "-axis" } { option value="issue" { "issues" } option value="cycle" { "cycles" } }
            span.buttons {
                (button("out", "Zoom out (-)", "\u{2212}"))
                (button("in", "Zoom in (+)", "+"))
                (button("fit", "Show all (0)", "All"))
                (button("before", "Previous divergent branch (p)", "\u{25c2} divergence"))
                (button("next", "Next divergent branch (n)", "divergence \u{25b8}"))
            }
            span.pinned hidden { "pinned: press Esc or click again to release" }
        }
    }
}

/// Makes the legend. The script draws the samples, as it draws the cells.
fn legend() -> Markup {
    html! {
        ul.legend aria-label="Lane states" {
            li { canvas.sample data-state="0" width="18" height="14" {} " active; numbered: a subset of the warp" }
            @for state in &LaneState::ALL[1..] {
                li { canvas.sample data-state=(*state as usize) width="18" height="14" {} " " (state.name()) }
            }
            li.cycles { canvas.sample data-state="6" width="18" height="14" {} " ready, its warp waits" }
            li { "\u{25bc} divergent branch" }
        }
    }
}

fn keys(id: &str) -> Markup {
    let keys = [
        ("\u{2190} \u{2192}", "previous, next issue"),
        ("\u{2191} \u{2193}", "lane"),
        ("+ - 0", "zoom in, out, show all"),
        ("n p", "next, previous divergence"),
        ("Page Up, Page Down", "warp"),
        ("Home, End", "first, last issue"),
        ("a", "switch axis"),
        ("wheel, drag", "zoom, move"),
        ("click, Esc", "pin a moment, release it"),
    ];
    html! {
        details.keys id={ (id) "-keys" } {
            summary { "Keys and mouse" }
            dl { @for (key, what) in keys { div { dt { kbd { (key) } } dd { (what) } } } }
        }
    }
}
