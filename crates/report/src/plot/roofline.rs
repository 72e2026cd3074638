//! The instruction roofline (Ding and Williams, PMBS 2019).
//! It shows the throughput of a run below the machine's ceilings.
//!
//! The x axis is warp instructions per byte from DRAM or over the link to L2, the y axis warp
//! instructions per cycle of the whole machine. The ceilings are the issue slots of all schedulers
//! and, for each memory, its bytes per cycle times the instructions per byte. Each run has two
//! points at one height, one per memory; the ring below shows its lane throughput (thread
//! instructions / warp size): the gap is divergence. Rates are per cycle, so that the shapes of
//! machines with different clocks compare.

use std::fmt::Write;

use super::chart::{Style, axes};
use super::frame::{Heading, MARGIN, TOP, ending, letter, run_facts};
use super::palette::{GREY, INK, PALE, WHITE, face, text_width};
use super::ruler::Ruler;
use super::scene::{Anchor, Area, Face, Rgb, Scene};
use crate::Run;
use crate::numbers::{grouped, real};
use crate::timeline::quoted;

/// Ceilings of a machine, all SMs together.
#[derive(Clone, Debug, PartialEq)]
pub struct Roof {
    /// Machine name.
    pub machine: String,
    /// Warp instructions that the schedulers can issue per cycle.
    pub issue: f64,
    /// Bytes per cycle from L2.
    pub l2: f64,
    /// Bytes per cycle from DRAM.
    pub dram: f64,
}

/// Rates of a run.
#[derive(Clone, Debug, PartialEq)]
struct Rates {
    instructions: f64,
    cycles: f64,
    l2_bytes: f64,
    dram_bytes: f64,
    /// Warp instructions per cycle, and the same for active lanes in full warps.
    rate: f64,
    lane_rate: f64,
}

fn rates(run: &Run) -> Rates {
    const SECTOR: u64 = 32;
    let metric = |name: &str| run.metric(name).map_or(0.0, |value| value.as_f64());
    // Loads and atomics fetch what misses in L1; stores are written through.
    let below_l1 = |row: &crate::MemoryRow| match row.way {
        "store" => row.sectors,
        _ => row.hits.map_or(0, |hits| hits.l2_sectors()),
    };
    let device = || run.memory.iter().filter(|row| matches!(row.memory, "global" | "local"));
    let l2_bytes = device().map(below_l1).sum::<u64>() * SECTOR;
    let dram_bytes = device().filter_map(|row| Some(row.hits?.dram_sectors)).sum::<u64>() * SECTOR;
    let (instructions, cycles) = (metric("inst_executed"), run.cycles.max(1) as f64);
    let warp = f64::from(run.machine_facts.warp_size.max(1));
    Rates {
        instructions,
        cycles,
        l2_bytes: l2_bytes as f64,
        dram_bytes: dram_bytes as f64,
        rate: instructions / cycles,
        lane_rate: metric("thread_inst_executed") / warp / cycles,
    }
}

const PLANE: Area = Area { x: MARGIN + 60, y: TOP + 34, w: 760, h: 520 };
const TABLE: i32 = PLANE.x + PLANE.w + 40;

/// Draws several runs.
pub fn roofline(runs: &[(&Run, Roof)]) -> Scene {
    let all: Vec<Rates> = runs.iter().map(|(run, _)| rates(run)).collect();
    let mut roofs: Vec<&Roof> = Vec::new();
    for (_, roof) in runs {
        if !roofs.contains(&roof) {
            roofs.push(roof);
        }
    }
    let positive = |values: &mut dyn Iterator<Item = f64>| -> Vec<f64> {
        values.filter(|value| value.is_finite() && *value > 0.0).collect()
    };
    let least = |values: &[f64]| values.iter().copied().fold(f64::MAX, f64::min);
    let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let ridges: Vec<f64> =
        roofs.iter().flat_map(|roof| [roof.issue / roof.l2, roof.issue / roof.dram]).collect();
    let ridges = if ridges.is_empty() { vec![1.0] } else { ridges };
    let at = all.iter().flat_map(|r| [r.instructions / r.l2_bytes, r.instructions / r.dram_bytes]);
    let xs = positive(&mut at.chain(ridges.iter().copied()));
    let ys = positive(
        &mut all
            .iter()
            .flat_map(|r| [r.rate, r.lane_rate])
            .chain(roofs.iter().map(|roof| roof.issue)),
    );
    let (xs, ys) = if xs.is_empty() || ys.is_empty() { (vec![1.0], vec![1.0]) } else { (xs, ys) };
    // The ridges are at least a decade from the edges, which leaves room for slopes and their
    // names.
    let x = Ruler::decades(
        least(&xs).min(least(&ridges) / 8.0),
        most(&xs).max(most(&ridges) * 8.0),
        PLANE.x,
        PLANE.right(),
    );
    let y = Ruler::decades(
        least(&ys).min(most(&ys) / 8.0) / 1.5,
        most(&ys) * 1.5,
        PLANE.bottom(),
        PLANE.y,
    );

    let heading = heading(runs);
    let names: Vec<String> = runs.iter().map(|(run, _)| name(run)).collect();
    let widest =
        names.iter().map(|n| text_width(n.chars().count(), 11)).max().unwrap_or(0).max(366) + 44;
    let rows = i32::try_from(runs.len()).unwrap_or(1);
    let height = (PLANE.bottom() + 60).max(PLANE.y + 130 + rows * 86) + 40;
    let mut scene = Scene::new((TABLE + widest + MARGIN).max(heading.width()), height);
    heading.draw(&mut scene);
    axes(
        &mut scene,
        PLANE,
        &x,
        &y,
        "warp instructions per byte moved",
        "warp instructions per cycle, all SMs",
    );
    for (i, roof) in roofs.iter().enumerate() {
        draw_roof(&mut scene, roof, (&x, &y), i, roofs.len() > 1);
    }
    for (i, rates) in all.iter().enumerate() {
        draw_run(&mut scene, rates, (&x, &y), i);
    }
    let top = key(&mut scene);
    for (i, ((run, rates), name)) in
        runs.iter().map(|(run, _)| *run).zip(&all).zip(&names).enumerate()
    {
        let y = top + i32::try_from(i).unwrap_or(0) * 86;
        badge(&mut scene, (TABLE + 12, y + 8), i);
        scene.text((TABLE + 34, y + 8), face(11, INK).bold(), name.clone());
        let facts = [
            format!(
                "{} warp instructions in {} cycles: {} per cycle",
                short(rates.instructions),
                grouped(run.cycles),
                real(rates.rate)
            ),
            format!(
                "per DRAM byte: {}, per byte over the link to L2: {}",
                per(rates.instructions, rates.dram_bytes),
                per(rates.instructions, rates.l2_bytes)
            ),
            format!(
                "active lanes: {:.1} %",
                100.0 * rates.lane_rate / rates.rate.max(f64::MIN_POSITIVE)
            ),
        ];
        for (k, fact) in (1..).zip(facts) {
            scene.text((TABLE + 34, y + 8 + k * 16), face(10, GREY), fact);
        }
    }
    heading.draw_footer(&mut scene);
    scene
}

fn heading(runs: &[(&Run, Roof)]) -> Heading {
    let footer = "Whole run; ceilings from the machine file.".to_owned();
    match runs {
        [(run, _)] => Heading {
            title: format!("{}: instruction roofline", run.kernel),
            subtitle: run_facts(&run.program, &run.mode, &run.machine, run.grid, run.block),
            ending: ending(run.finish),
            footer,
        },
        _ => {
            let machines: Vec<String> = {
                let mut names: Vec<String> = runs
                    .iter()
                    .map(|(run, _)| format!("{} on {}", run.mode, run.machine))
                    .collect();
                names.dedup();
                names
            };
            Heading {
                title: format!("{} runs: instruction roofline", runs.len()),
                subtitle: machines.join(" \u{b7} "),
                ending: None,
                footer,
            }
        }
    }
}

/// Returns a name that distinguishes a run from others.
fn name(run: &Run) -> String {
    let ending = ending(run.finish).map(|ending| format!(" ({ending})")).unwrap_or_default();
    format!("{}, {} on {}{ending}", run.kernel, run.mode, run.machine)
}

fn short(value: f64) -> String {
    super::ruler::label(value)
}

fn per(instructions: f64, bytes: f64) -> String {
    if bytes > 0.0 { real(instructions / bytes) } else { "none moved".to_owned() }
}

const DASHES: [&[i32]; 3] = [&[], &[8, 4], &[2, 3]];

/// Draws the ceilings of one machine, named inside the visible part.
fn draw_roof(
    scene: &mut Scene,
    roof: &Roof,
    (x, y): (&Ruler, &Ruler),
    place: usize,
    several: bool,
) {
    const ROOF: Rgb = Rgb(0x40, 0x40, 0x40);
    let (least, most) = x.range();
    let of = if several { format!("{}: ", roof.machine) } else { String::new() };
    let ridge = |bytes: f64| roof.issue / bytes;
    for (bytes, what) in [(roof.l2, "L2"), (roof.dram, "DRAM")] {
        // From the lower or left edge of the plane up to the issue rate.
        let low = y.range().0;
        let from = least.max(low / bytes);
        let end = ridge(bytes).min(most);
        if end <= from {
            continue;
        }
        let points = [(x.at(from), y.at(from * bytes)), (x.at(end), y.at(end * bytes))];
        scene.dashed(&points, DASHES[place % 3], ROOF, 2);
        // The name is right of DRAM's line, and left of L2's as low as there is room.
        let text = format!("{of}{what}: {} bytes per cycle", real(bytes));
        let at = |part: f64| from * (end / from).powf(part);
        let place = |part: f64| (x.at(at(part)), y.at(at(part) * bytes));
        if what == "L2" {
            let left = PLANE.x + text_width(text.chars().count(), 10) + 20;
            let part = [0.62, 0.72, 0.82, 0.92]
                .into_iter()
                .find(|&part| place(part).0 >= left)
                .unwrap_or(1.0);
            let (px, py) = place(part);
            plated(scene, (px - 10, py - 8), face(10, INK).end(), text);
        } else {
            let (px, py) = place(0.3);
            plated(scene, (px + 10, py + 10), face(10, INK), text);
        }
    }
    let flat = ridge(roof.l2).min(most).max(least);
    scene.dashed(
        &[(x.at(flat), y.at(roof.issue)), (x.at(most), y.at(roof.issue))],
        DASHES[place % 3],
        ROOF,
        2,
    );
    let text = format!("{of}issue: {} warp instructions per cycle", real(roof.issue));
    plated(scene, (x.at(most) - 4, y.at(roof.issue) - 10), face(10, INK).end(), text);
}

/// Draws text on a white plate that covers the lines of the plane.
fn plated(scene: &mut Scene, at: (i32, i32), face: Face, text: String) {
    let w = text_width(text.chars().count(), face.size) + 4;
    let x = if face.anchor == Anchor::End { at.0 - w + 2 } else { at.0 - 2 };
    scene.fill(Area { x, y: at.1 - 7, w, h: 14 }, WHITE);
    scene.text(at, face, text);
}

/// Draws the two points of a run and its ring.
fn draw_run(scene: &mut Scene, rates: &Rates, (x, y): (&Ruler, &Ruler), place: usize) {
    let style = Style::of(place);
    let at = |bytes: f64| (bytes > 0.0).then(|| x.at(rates.instructions / bytes));
    let (l2, dram) = (at(rates.l2_bytes), at(rates.dram_bytes));
    let height = y.at(rates.rate);
    if let (Some(l2), Some(dram)) = (l2, dram) {
        scene.dashed(&[(l2, height), (dram, height)], &[3, 3], style.colour, 1);
    }
    for (px, is_dram) in [(l2, false), (dram, true)] {
        let Some(px) = px else { continue };
        let low = y.at(rates.lane_rate);
        // Any closer, the mark would hide it.
        if low > height + 14 {
            scene.line((px, height), (px, low - 5), style.colour);
            scene.disc((px, low), 5, style.colour);
            scene.disc((px, low), 3, WHITE);
        }
        let letter = letter(place).to_string();
        let area = Area { x: px - 9, y: height - 9, w: 18, h: 18 };
        if is_dram {
            scene.disc((px, height), 10, style.colour);
            scene.text((px, height), face(11, ink_on(style.colour)).bold().middle(), letter);
        } else {
            scene.fill(area, WHITE);
            scene.outline(area, style.colour);
            scene.outline(Area { x: area.x + 1, y: area.y + 1, w: 16, h: 16 }, style.colour);
            scene.text((px, height), face(11, INK).bold().middle(), letter);
        }
    }
}

/// Returns black or white, the more readable one on a colour.
fn ink_on(Rgb(r, g, b): Rgb) -> Rgb {
    let light = 299 * u32::from(r) + 587 * u32::from(g) + 114 * u32::from(b);
    if light > 140_000 { INK } else { WHITE }
}

/// Draws the legend; returns the top of the list of runs.
fn key(scene: &mut Scene) -> i32 {
    let top = PLANE.y;
    let grey = Rgb(0x60, 0x60, 0x60);
    scene.disc((TABLE + 12, top + 8), 10, grey);
    scene.text((TABLE + 34, top + 8), face(11, INK), "a run, by bytes from DRAM");
    scene.outline(Area { x: TABLE + 3, y: top + 23, w: 18, h: 18 }, grey);
    scene.outline(Area { x: TABLE + 4, y: top + 24, w: 16, h: 16 }, grey);
    scene.text((TABLE + 34, top + 32), face(11, INK), "the same run, by bytes over the link to L2");
    scene.disc((TABLE + 12, top + 56), 5, grey);
    scene.disc((TABLE + 12, top + 56), 3, WHITE);
    scene.text((TABLE + 34, top + 56), face(11, INK), "its share of active lanes");
    scene.line((TABLE, top + 80), (scene.width - MARGIN, top + 80), PALE);
    top + 100
}

fn badge(scene: &mut Scene, at: (i32, i32), place: usize) {
    let style = Style::of(place);
    scene.disc(at, 10, style.colour);
    scene.text(at, face(11, ink_on(style.colour)).bold().middle(), letter(place).to_string());
}

/// Prints a row per run.
pub(super) fn data(runs: &[(&Run, Roof)]) -> String {
    let mut out = String::from(
        "run,program,kernel,mode,machine,inst,cycles,inst_per_cycle,lane_inst_per_cycle,l2_bytes,dram_bytes,\
         inst_per_l2_byte,inst_per_dram_byte,issue_ceiling,l2_bytes_per_cycle,dram_bytes_per_cycle\n",
    );
    for (place, (run, roof)) in runs.iter().enumerate() {
        let Rates { instructions, cycles, l2_bytes, dram_bytes, rate, lane_rate } = rates(run);
        let per = |bytes: f64| {
            if bytes > 0.0 { format!("{:.6}", instructions / bytes) } else { String::new() }
        };
        let _ = writeln!(
            out,
            "{},{},{},{},{},{instructions},{cycles},{rate:.6},{lane_rate:.6},{l2_bytes},{dram_bytes},{},{},{},{},{}",
            letter(place),
            quoted(&run.program),
            run.kernel,
            run.mode,
            run.machine,
            per(l2_bytes),
            per(dram_bytes),
            roof.issue,
            roof.l2,
            roof.dram,
        );
    }
    out
}
