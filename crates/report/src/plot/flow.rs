//! The control-flow graph of a kernel; with a run, the number of lanes on each edge.
//!
//! An edge's width shows the lanes that took it; its label has lanes and warps. Green dashes lead
//! from each branch to its reconvergence point: its immediate post-dominator, exits ignored. A
//! block that ends in a branch that can diverge has a second border and a label.

use std::fmt::Write;

use super::frame::{Heading, MARGIN, TOP, ending, letter, plural, run_facts};
use super::palette::{BLUE, GREEN, GREY, INK, ORANGE, PALE, VERMILLION, WHITE, face, text_width};
use super::scene::{Area, Rgb, Scene};
use crate::Ending;
use crate::cfg::{
    Edge, EdgeKind, Layout, Place, Sizes, block_text, diverges, edges, lay_out, meetings,
};
use crate::numbers::grouped;
use simt_core::base::BasicBlockId;
use simt_core::kernel::Kernel;
use simt_core::observe::{Passage, Visits};

/// A kernel as it ran, with the lanes on its edges.
#[derive(Clone, Debug)]
pub struct Walk {
    /// Program, as the user named it.
    pub program: String,
    /// Text of each instruction.
    pub texts: Vec<String>,
    /// `pre-volta` or `volta`.
    pub mode: String,
    /// Machine name.
    pub machine: String,
    /// Grid size in x, y, z.
    pub grid: [u32; 3],
    /// Block size in x, y, z.
    pub block: [u32; 3],
    /// Kernel as issued.
    pub kernel: Kernel,
    /// Counts by edge, in the order of blocks and their successors.
    pub passages: Vec<Passage>,
    /// Counts by block.
    pub visits: Vec<Visits>,
    /// Outcome of the run; `None` if it was stopped after the window.
    pub finish: Option<Ending>,
    /// Sentence about what was counted and simulated.
    pub simulated: String,
}

/// Width of the busiest edge.
const WIDEST: f64 = 11.0;
/// Height of the legend.
const LEGEND: i32 = 44;
/// Space between an edge and its label.
const BESIDE: i32 = 8;
/// Number of outgoing edges from which labels are short.
const MANY: usize = 7;

/// A kernel with the counts of a run, if any.
struct Drawing<'a> {
    kernel: &'a Kernel,
    texts: &'a [String],
    counts: Option<(&'a [Passage], &'a [Visits])>,
    /// Lanes of the widest edge.
    most: u64,
}

/// Draws the graph of a kernel that has not run.
pub fn graph(program: &str, texts: &[String], kernel: &Kernel) -> Scene {
    let heading = Heading {
        title: format!("{}: control flow", kernel.name),
        subtitle: program.to_owned(),
        ending: None,
        footer: "From the program's text, without a run.".to_owned(),
    };
    draw(&heading, &Drawing { kernel, texts, counts: None, most: 0 })
}

/// Draws the graphs of several runs, stacked; all edges are on one scale.
pub fn flows(walks: &[Walk]) -> Scene {
    let most = walks
        .iter()
        .flat_map(|walk| &walk.passages)
        .map(|passage| passage.lanes)
        .max()
        .unwrap_or(0);
    let one = |(place, walk): (usize, &Walk)| {
        let Walk { program, mode, machine, grid, block, kernel, .. } = walk;
        let name = if walks.len() > 1 { format!("{}. ", letter(place)) } else { String::new() };
        let heading = Heading {
            title: format!("{name}{}: control flow with lane counts", kernel.name),
            subtitle: run_facts(program, mode, machine, *grid, *block),
            ending: walk.finish.and_then(ending),
            footer: walk.simulated.clone(),
        };
        let counts = Some((walk.passages.as_slice(), walk.visits.as_slice()));
        draw(&heading, &Drawing { kernel, texts: &walk.texts, counts, most })
    };
    walks.iter().enumerate().map(one).reduce(Scene::above).unwrap_or_else(|| Scene::new(1, 1))
}

impl Drawing<'_> {
    fn passage(&self, edge: usize) -> Option<Passage> {
        self.counts.and_then(|(passages, _)| passages.get(edge).copied())
    }

    /// Returns the label of an edge.
    fn label(&self, edge: usize, kind: EdgeKind, short: bool) -> String {
        let name = kind.name();
        let colon = if name.is_empty() { "" } else { ": " };
        match self.passage(edge) {
            None => name.to_owned(),
            Some(Passage { lanes: 0, .. }) => format!("{name}{colon}never"),
            Some(Passage { lanes, warps }) if short => {
                format!("{} / {}", grouped(lanes), grouped(warps))
            }
            Some(Passage { lanes, warps }) => {
                format!("{name}{colon}{}, {}", plural(lanes, "lane"), plural(warps, "warp"))
            }
        }
    }

    fn width(&self, edge: usize) -> u32 {
        match self.passage(edge) {
            None | Some(Passage { lanes: 0, .. }) => 1,
            Some(passage) => {
                (1.0 + (WIDEST - 1.0) * passage.lanes as f64 / self.most.max(1) as f64).round()
                    as u32
            }
        }
    }

    /// Returns the lines of a block, with its counts after the title.
    fn text(&self, block: usize) -> Vec<String> {
        let blocks = self.kernel.flow.blocks();
        let mut text = block_text(self.kernel, &blocks[block], self.texts);
        if let Some(visits) = self.counts.and_then(|(_, visits)| visits.get(block)) {
            let Visits { entered, branched, diverged, exited } = *visits;
            let mut line = match entered.warps {
                0 => "never entered".to_owned(),
                _ => format!(
                    "entered by {} in {}",
                    plural(entered.lanes, "lane"),
                    plural(entered.warps, "warp")
                ),
            };
            if branched > 0 && diverges(self.kernel, &blocks[block]) {
                let _ =
                    write!(line, "; diverges {} of {} times", grouped(diverged), grouped(branched));
            }
            if exited > 0 {
                let _ = write!(line, "; {} exit before its end", plural(exited, "lane"));
            }
            text.insert(1, line);
        }
        text
    }
}

fn draw(heading: &Heading, drawing: &Drawing<'_>) -> Scene {
    let kernel = drawing.kernel;
    let blocks = kernel.flow.blocks();
    // ptxas fills the space after the last EXIT with code that nothing reaches.
    let last = blocks.iter().rposition(|block| block.reachable || kernel.native.is_none());
    let blocks = &blocks[..last.map_or(0, |last| last + 1)];
    let shown = |block: BasicBlockId| block.index() < blocks.len();
    let texts: Vec<Vec<String>> = (0..blocks.len()).map(|block| drawing.text(block)).collect();
    // Those that are left out are the last ones.
    let mut edges = edges(kernel);
    edges.retain(|edge| shown(edge.from) && shown(edge.to));
    let labels: Vec<String> = (0..)
        .zip(&edges)
        .map(|(i, edge)| {
            drawing.label(i, edge.kind, blocks[edge.from.index()].successors.len() >= MANY)
        })
        .collect();
    let size = |(block, text): (usize, &Vec<String>)| {
        let own = edges.iter().zip(&labels).filter(|(edge, _)| edge.from.index() == block);
        let widths: Vec<i32> =
            own.map(|(_, label)| text_width(label.chars().count(), 10)).collect();
        let (count, widest) = (widths.len() as i32, widths.iter().copied().max().unwrap_or(0));
        let characters = text.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        let (least, apart) = match count {
            0 => (0, 0),
            1 => (2 * (widest + BESIDE + 10), 0),
            2 => (2 * (20 + BESIDE + widest + 20), 0),
            n => ((n + 1) * (widest + BESIDE + 14), widest + BESIDE + 14),
        };
        Sizes { characters, lines: text.len(), least, apart }
    };
    let sizes: Vec<Sizes> = texts.iter().enumerate().map(size).collect();
    let ends: Vec<_> = edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let pairs: Vec<_> = meetings(kernel).filter(|pair| shown(pair.0) && shown(pair.1)).collect();
    let layout = lay_out(TOP + LEGEND, blocks, &sizes, &ends, &pairs);
    let width =
        layout.width.max(heading.width()).max(if drawing.counts.is_some() { 860 } else { 640 });
    let mut scene = Scene::new(width, layout.height + 40);
    let top = heading.draw(&mut scene);
    legend(&mut scene, top + 4, drawing.counts.is_some());
    for line in &layout.pairs {
        dashes(&mut scene, line);
        arrow(&mut scene, line, GREEN, 1);
    }
    draw_edges(&mut scene, drawing, &edges, &labels, &layout);
    for (block, (text, place)) in texts.iter().zip(&layout.boxes).enumerate() {
        draw_block(&mut scene, drawing, block, text, *place);
    }
    heading.draw_footer(&mut scene);
    scene
}

fn colour(kind: EdgeKind) -> Rgb {
    if kind == EdgeKind::Taken { BLUE } else { Rgb(0x50, 0x50, 0x50) }
}

fn draw_edges(
    scene: &mut Scene,
    drawing: &Drawing<'_>,
    edges: &[Edge],
    labels: &[String],
    layout: &Layout,
) {
    // Thin edges on top of wide ones.
    let mut order: Vec<usize> = (0..edges.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(drawing.width(i)));
    for i in order {
        let (line, width) = (&layout.edges[i], drawing.width(i));
        let never = drawing.passage(i).is_some_and(|passage| passage.lanes == 0);
        if never {
            scene.dashed(line, &[2, 3], GREY, 1);
        } else {
            // The line ends inside its arrow head.
            let mut shaft = line.clone();
            if let Some(end) = shaft.last_mut() {
                end.1 -= head(width).1 - 1;
            }
            scene.path(shaft, colour(edges[i].kind), width);
        }
        arrow(scene, line, if never { GREY } else { colour(edges[i].kind) }, width);
    }
    for (i, (edge, line)) in edges.iter().zip(&layout.edges).enumerate() {
        let Some(&(x, y)) = line.first() else { continue };
        // Of two edges that leave a block, the left one has its label on the left.
        let mate = edges
            .iter()
            .zip(&layout.edges)
            .filter(|(other, _)| other.from == edge.from)
            .collect::<Vec<_>>();
        let leftmost = mate.len() == 2
            && mate.iter().all(|(_, other)| other.first().is_none_or(|&(at, _)| at >= x));
        let beside = BESIDE.max(drawing.width(i) as i32 / 2 + 6);
        let ink = if edge.kind == EdgeKind::Taken { BLUE } else { INK };
        match leftmost {
            true => scene.text((x - beside, y + 10), face(10, ink).end(), labels[i].clone()),
            false => scene.text((x + beside, y + 10), face(10, ink), labels[i].clone()),
        }
    }
}

/// Draws an arrow head at the end of a line; every line arrives from above.
fn arrow(scene: &mut Scene, line: &[(i32, i32)], colour: Rgb, width: u32) {
    if let Some(&(x, y)) = line.last() {
        let (half, height) = head(width);
        scene.polygon(vec![(x, y), (x - half, y - height), (x + half, y - height)], colour);
    }
}

/// Returns half the width of an arrow head, and its height.
fn head(width: u32) -> (i32, i32) {
    let width = width as i32;
    (4 + width * 4 / 5, 9 + width / 2)
}

/// Draws a dashed line of horizontal and vertical pieces.
/// Dashes are anchored to the page, so that overlapping lines stay dashed.
fn dashes(scene: &mut Scene, line: &[(i32, i32)]) {
    for ends in line.windows(2) {
        let ((x0, y0), (x1, y1)) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        let level = y0 == y1;
        let (from, to) = if level { (x0, x1) } else { (y0.min(y1), y0.max(y1)) };
        let mut at = from - from.rem_euclid(10);
        while at < to {
            let (a, b) = (at.max(from), (at + 6).min(to));
            if b > a {
                let points = if level { vec![(a, y0), (b, y0)] } else { vec![(x0, a), (x0, b)] };
                scene.path(points, GREEN, 1);
            }
            at += 10;
        }
    }
}

fn draw_block(
    scene: &mut Scene,
    drawing: &Drawing<'_>,
    block: usize,
    text: &[String],
    place: Place,
) {
    let Place { left, top, right, bottom } = place;
    let area = Area { x: left, y: top, w: right - left, h: bottom - top };
    let can_diverge = diverges(drawing.kernel, &drawing.kernel.flow.blocks()[block]);
    let never = drawing
        .counts
        .is_some_and(|(_, visits)| visits.get(block).is_some_and(|v| v.entered.warps == 0));
    let (ground, border) = match (never, can_diverge) {
        (true, _) => (Rgb(0xf6, 0xf6, 0xf6), Rgb(0xa0, 0xa0, 0xa0)),
        (_, true) => (ORANGE.tint(36), VERMILLION),
        _ => (WHITE, INK),
    };
    scene.fill(area, ground);
    scene.outline(area, border);
    if can_diverge {
        scene.outline(Area { x: left + 3, y: top + 3, w: area.w - 6, h: area.h - 6 }, border);
    }
    for (n, line) in (0..).zip(text) {
        let counted = n == 1 && drawing.counts.is_some();
        let ink = match n {
            0 => face(11, if can_diverge && !never { VERMILLION } else { INK }).bold(),
            _ if counted => face(10, GREY),
            _ => face(11, if never { GREY } else { INK }),
        };
        scene.text((left + 9, top + 14 + n * 15), ink, line.clone());
    }
}

fn legend(scene: &mut Scene, y: i32, counted: bool) {
    let mut x = MARGIN;
    let mut entry = |scene: &mut Scene, mark: &dyn Fn(&mut Scene, i32), text: &str| {
        mark(scene, x);
        scene.text((x + 36, y + 8), face(11, INK), text);
        x += 36 + text_width(text.chars().count(), 11) + 26;
    };
    let wide = if counted { 4 } else { 2 };
    entry(scene, &|s, x| s.path(vec![(x, y + 8), (x + 28, y + 8)], BLUE, wide), "taken");
    entry(
        scene,
        &|s, x| s.path(vec![(x, y + 8), (x + 28, y + 8)], colour(EdgeKind::Fall), wide),
        "falls through",
    );
    let sample = |s: &mut Scene, x: i32| dashes(s, &[(x, y + 8), (x + 28, y + 8)]);
    entry(scene, &sample, "to the reconvergence point");
    let double = |s: &mut Scene, x: i32| {
        s.fill(Area { x, y, w: 28, h: 16 }, ORANGE.tint(36));
        s.outline(Area { x, y, w: 28, h: 16 }, VERMILLION);
        s.outline(Area { x: x + 3, y: y + 3, w: 22, h: 10 }, VERMILLION);
    };
    entry(scene, &double, "can diverge");
    if counted {
        let wedge = |s: &mut Scene, x: i32| {
            s.polygon(vec![(x, y + 8), (x + 28, y + 2), (x + 28, y + 14)], GREY)
        };
        entry(scene, &wedge, "width: lanes");
    }
    scene.line((MARGIN, y + 24), (scene.width - MARGIN, y + 24), PALE);
}

/// Prints a row per block, then a row per edge.
pub(super) fn data(walk: &Walk) -> String {
    let mut out =
        String::from("of,from,to,kind,lanes,warps,branched,diverged,first_line,last_line\n");
    let blocks = walk.kernel.flow.blocks();
    for (block, visits) in blocks.iter().zip(&walk.visits) {
        let line = |inst: usize| walk.kernel.insts.get(inst).map_or(0, |inst| inst.line);
        let Visits { entered, branched, diverged, .. } = visits;
        let (first, last) = (line(block.first as usize), line(block.last()));
        let _ = writeln!(
            out,
            "block,{},,,{},{},{branched},{diverged},{first},{last}",
            block.id, entered.lanes, entered.warps
        );
    }
    for (edge, passage) in edges(&walk.kernel).iter().zip(&walk.passages) {
        let kind = edge.kind.name();
        let _ = writeln!(
            out,
            "edge,{},{},{kind},{},{},,,,",
            edge.from, edge.to, passage.lanes, passage.warps
        );
    }
    out
}
