//! The warp's last memory access, and the shared memory of its block.

use ratatui::text::Line;
use simt_core::debug::{Pattern, View, WarpView};
use simt_core::event::{AccessWay, MemoryKind};

use super::{Panel, clip};
use crate::cli::step::app::App;

/// Draws the access, its banks or sectors, then shared memory in the room left.
pub(super) fn panel(app: &App<'_>, view: &View, (width, height): (usize, usize)) -> Panel {
    let Some(warp) = &view.warp else {
        return Panel { title: "memory".to_string(), lines: Vec::new() };
    };
    let mut lines = Vec::new();
    let title = match (&warp.access, &warp.pattern) {
        (Some((cycle, access)), Some(pattern)) => {
            access_lines(warp, pattern, width, &mut lines);
            format!("last access: line {} in cycle {cycle}", app.line(access.pc))
        }
        _ => "memory: no access yet".to_string(),
    };
    shared(warp, width, height, &mut lines);
    lines.truncate(height);
    Panel { title, lines: lines.into_iter().map(|text| Line::from(clip(&text, width))).collect() }
}

fn access_lines(warp: &WarpView, pattern: &Pattern, width: usize, lines: &mut Vec<String>) {
    let Some((_, access)) = &warp.access else { return };
    let traffic = &access.traffic;
    let bytes = traffic.bytes_per_lane();
    let what = way(traffic.kind, traffic.memory);
    lines.push(format!("{what}: {} lanes x {bytes} bytes", traffic.lanes.count()));
    match pattern {
        Pattern::Banks(load) => {
            let ideal = traffic.ideal_wavefronts;
            lines.push(format!(
                "{} wavefront{} (ideal: {ideal})",
                traffic.wavefronts,
                if traffic.wavefronts == 1 { "" } else { "s" }
            ));
            lines.push(super::warp::ruler(
                "",
                load.len().min(width.saturating_sub(super::warp::WIDTH)),
            ));
            let digit = |&n: &u32| match n {
                0 => '.',
                1..=9 => char::from_digit(n, 10).unwrap_or('+'),
                _ => '+',
            };
            lines.push(format!("banks {}", load.iter().map(digit).collect::<String>()));
        }
        Pattern::Sectors(rows) => {
            let sectors = traffic.sectors;
            let found =
                format!("L1 {}, L2 {}, DRAM {}", traffic.l1_hits, traffic.l2_hits, traffic.dram);
            lines.push(format!("{sectors} sector{}: {found}", if sectors == 1 { "" } else { "s" }));
            lines.push("128-byte line   lanes in each sector".to_string());
            lines.extend(rows.iter().map(|row| {
                let cells: String = row
                    .lanes
                    .iter()
                    .map(|n| if *n == 0 { "   .".to_string() } else { format!("{n:>4}") })
                    .collect();
                format!("x{:<14x}{cells}", row.address)
            }));
        }
        Pattern::Other => lines.push("one address for all lanes, or one for each".to_string()),
    }
}

/// Draws words of the block's shared memory around the last access to it.
fn shared(warp: &WarpView, width: usize, height: usize, lines: &mut Vec<String>) {
    let room = height.saturating_sub(lines.len());
    if warp.shared.is_empty() || room == 0 {
        return;
    }
    let near = warp
        .access
        .as_ref()
        .filter(|(_, a)| a.traffic.memory == MemoryKind::Shared)
        .and_then(|(_, access)| {
            access.traffic.lanes.lowest().map(|lane| access.addresses[lane as usize] as usize / 4)
        });
    let per_row = if width >= 56 { 8 } else { 4 };
    let first = near.unwrap_or(0) / per_row * per_row;
    let first = first.min(warp.shared.len().saturating_sub(1) / per_row * per_row);
    let rows = warp.shared.iter().enumerate().skip(first).collect::<Vec<_>>();
    lines.extend(rows.chunks(per_row).take(room).map(|row| {
        let cells: String = row.iter().map(|(_, word)| format!(" {word:>7}")).collect();
        format!("[{:>4}]{cells}", row.first().map_or(0, |(i, _)| i * 4))
    }));
}

fn way(kind: AccessWay, memory: MemoryKind) -> String {
    let kind = match kind {
        AccessWay::Load => "load",
        AccessWay::Store => "store",
        AccessWay::Atomic => "atomic",
    };
    let memory = match memory {
        MemoryKind::Global => "global",
        MemoryKind::Shared => "shared",
        MemoryKind::Local => "local",
        MemoryKind::Const => "constant",
        MemoryKind::Texture => "texture",
        MemoryKind::Surface => "surface",
    };
    format!("{memory} {kind}")
}
