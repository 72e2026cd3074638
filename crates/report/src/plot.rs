//! Pictures of runs, as SVG and as PNG.
//!
//! A picture is a [`Scene`] first: a list of shapes with nothing left to decide, so that both formats show the same and equal
//! runs give equal bytes. Text is set in one embedded monospaced font; no font of the system is looked for.
//! Colours are those of Okabe and Ito, which people with any common colour blindness tell apart; every colour also
//! has a pattern or a letter.
//!
//! Most pictures are of a recorded window: a [`View`] of one [`Recording`], or of several one above the other on common axes. The
//! others are of whole runs: [`flows`] and [`graph`], [`roofline`], [`bars`] of a comparison, [`lines`] of a sweep.

mod access;
mod axis;
mod banks;
mod bars;
mod bins;
mod chart;
mod flow;
mod frame;
mod grid;
mod histogram;
mod ipc;
mod palette;
mod reasons;
mod render;
mod roofline;
mod ruler;
mod scene;
mod schedule;
mod sectors;
mod stack;
mod stalls;
mod strips;
mod tiles;

pub use bars::bars;
pub use chart::{Captions, Series, lines};
pub use flow::{Walk, flows, graph};
pub use render::{png, svg};
pub use roofline::{Roof, roofline};
pub use scene::Scene;

use access::{Of, choose};
use frame::{Heading, Panel, TOP, letter};
use palette::{INK, face};

use super::Run;
use super::compare::Comparison;
use super::timeline::{Axis, Recording, csv, quoted};

/// What to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Something of a recorded window.
    Window(View),
    /// The control-flow graph, and how many lanes took each way.
    Cfg,
    /// Throughput against bytes moved, below the machine's ceilings.
    Roofline,
    /// The counters of two runs, as pairs of bars.
    Compare,
    /// A metric over a swept number, a line for each setting of the rest.
    Sweep,
}

/// What to draw of a recorded window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Lanes of warps over time, with the source lines below.
    Timeline,
    /// All warps of a block, a strip each.
    Masks,
    /// The W0..W32 histogram, and its share over time.
    Lanes,
    /// The reconvergence stack, or groups and join registers, over time.
    Stack,
    /// Warp by cycle: issued, or why not.
    Schedule,
    /// What warps waited for, by warp and by line.
    Stalls,
    /// Instructions a cycle of warps and of lanes.
    Ipc,
    /// One access to shared memory, lane by bank.
    Banks,
    /// One access to global or local memory, sector by sector.
    Sectors,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 13] = [
        Kind::Window(View::Timeline),
        Kind::Window(View::Masks),
        Kind::Window(View::Lanes),
        Kind::Window(View::Stack),
        Kind::Window(View::Schedule),
        Kind::Window(View::Stalls),
        Kind::Window(View::Ipc),
        Kind::Window(View::Banks),
        Kind::Window(View::Sectors),
        Kind::Cfg,
        Kind::Roofline,
        Kind::Compare,
        Kind::Sweep,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Window(View::Timeline) => "timeline",
            Kind::Window(View::Masks) => "masks",
            Kind::Window(View::Lanes) => "lanes",
            Kind::Window(View::Stack) => "stack",
            Kind::Window(View::Schedule) => "schedule",
            Kind::Window(View::Stalls) => "stalls",
            Kind::Window(View::Ipc) => "ipc",
            Kind::Window(View::Banks) => "banks",
            Kind::Window(View::Sectors) => "sectors",
            Kind::Cfg => "cfg",
            Kind::Roofline => "roofline",
            Kind::Compare => "compare",
            Kind::Sweep => "sweep",
        }
    }

    /// What it shows, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            Kind::Window(View::Timeline) => "Lanes of a warp over time, five states, with the source lines",
            Kind::Window(View::Masks) => "All warps of a block, a strip each",
            Kind::Window(View::Lanes) => "Histogram of active lanes W0..W32, and its share over time",
            Kind::Window(View::Stack) => {
                "The reconvergence stack over time; in volta mode groups of lanes and join registers"
            }
            Kind::Window(View::Schedule) => "Warp by cycle: issued, or the reason why not",
            Kind::Window(View::Stalls) => "What warps waited for, by warp and by source line",
            Kind::Window(View::Ipc) => "Instructions a cycle: of warps, and of lanes; the gap is divergence",
            Kind::Window(View::Banks) => "What one shared-memory access did to the banks: lane by bank",
            Kind::Window(View::Sectors) => "What one global-memory access asked for, and the sectors moved for it",
            Kind::Cfg => "Control-flow graph, and how many lanes took each way",
            Kind::Roofline => "Instructions a byte against instructions a cycle, below the machine's ceilings",
            Kind::Compare => "The counters of two runs, as pairs of bars with their ratios",
            Kind::Sweep => "A metric over a swept number, from the JSON lines of `simt-sim sweep --out`",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl View {
    /// Whether it is about all warps of a block, rather than one.
    pub const fn is_of_block(self) -> bool {
        !matches!(self, View::Timeline | View::Stack)
    }
}

/// What a picture of a window is about, beside its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Focus {
    /// What runs along it.
    pub axis: Axis,
    /// The source line of the access shown.
    pub line: Option<u32>,
    /// The issue number, within its warp, of the access shown.
    pub issue: Option<u64>,
}

impl From<Axis> for Focus {
    /// Nothing in particular: the worst access.
    fn from(axis: Axis) -> Focus {
        Focus { axis, line: None, issue: None }
    }
}

/// Whether there is anything to draw of a recording.
///
/// # Errors
/// When there is not: what is missing, a sentence.
pub fn drawable(view: View, recording: &Recording, focus: impl Into<Focus>) -> Result<(), String> {
    match view {
        View::Banks => choose(recording, Of::Banks, &focus.into()).map(|_| ()),
        View::Sectors => choose(recording, Of::Sectors, &focus.into()).map(|_| ()),
        _ => Ok(()),
    }
}

/// The picture of a recording. Schedule, stalls and IPC are always over cycles.
pub fn picture(view: View, recording: &Recording, focus: impl Into<Focus>) -> Scene {
    pictures(view, std::slice::from_ref(recording), focus)
}

/// The pictures of several recordings, one above the other on common axes; of none, an empty page.
pub fn pictures(view: View, recordings: &[Recording], focus: impl Into<Focus>) -> Scene {
    let focus = focus.into();
    let draw = |(place, recording)| {
        let panel = &Panel { recording, peers: recordings, place, axis: focus.axis, focus };
        match view {
            View::Timeline => strips::timeline(panel),
            View::Masks => strips::masks(panel),
            View::Lanes => histogram::lanes(panel),
            View::Stack => stack::stack(panel),
            View::Schedule => schedule::schedule(panel),
            View::Stalls => stalls::stalls(panel),
            View::Ipc => ipc::ipc(panel),
            View::Banks => banks::banks(panel),
            View::Sectors => sectors::sectors(panel),
        }
    };
    recordings.iter().enumerate().map(draw).reduce(Scene::above).unwrap_or_else(|| Scene::new(1, 1))
}

/// A page that says why there is no picture.
fn empty(panel: &Panel<'_>, why: &str) -> Scene {
    let heading = Heading::of(panel, "nothing to show");
    let mut scene = Scene::new(heading.width().max(700), TOP + 80);
    let top = heading.draw(&mut scene);
    scene.text((frame::MARGIN, top + 10), face(12, INK), why);
    heading.draw_footer(&mut scene);
    scene
}

/// The figures of a picture, as CSV with a line of column names; empty when there is nothing to draw.
pub fn data(view: View, recording: &Recording, focus: impl Into<Focus>) -> String {
    let focus = focus.into();
    let axis = focus.axis;
    match view {
        View::Timeline | View::Masks => csv(recording),
        View::Lanes => histogram::data(recording, axis),
        View::Stack => stack::data(recording),
        View::Schedule => schedule::data(recording),
        View::Stalls => stalls::data(recording),
        View::Ipc => ipc::data(recording),
        View::Banks => choose(recording, Of::Banks, &focus).map(|a| banks::data(recording, &a)).unwrap_or_default(),
        View::Sectors => {
            choose(recording, Of::Sectors, &focus).map(|a| sectors::data(recording, &a)).unwrap_or_default()
        }
    }
}

/// The figures of a picture of several: those of each, told apart by a first column `run` (`A`, `B`, ..).
pub fn data_of_all(view: View, recordings: &[Recording], focus: impl Into<Focus>) -> String {
    let focus = focus.into();
    together(recordings.iter().map(|recording| data(view, recording, focus)))
}

/// The figures of [`flows`]: a row for each basic block, then for each edge.
pub fn data_of_flows(walks: &[Walk]) -> String {
    together(walks.iter().map(flow::data))
}

/// The figures of [`roofline`]: a row for each run.
pub fn data_of_roofline(runs: &[(&Run, Roof)]) -> String {
    roofline::data(runs)
}

/// The figures of [`bars`]: a row for each counter, also for those that the picture leaves out.
pub fn data_of_bars(found: &Comparison) -> String {
    bars::data(found)
}

/// The figures of [`lines`]: a row for each point.
pub fn data_of_lines(series: &[Series]) -> String {
    let rows = series.iter().flat_map(|s| s.points.iter().map(move |(x, y)| format!("{},{x},{y}\n", quoted(&s.name))));
    std::iter::once("series,x,y\n".to_owned()).chain(rows).collect()
}

/// Tables of the same columns as one, with a first column `run`; a single one stays as it is.
fn together(tables: impl ExactSizeIterator<Item = String>) -> String {
    let several = tables.len() > 1;
    let mut out = String::new();
    for (place, table) in tables.enumerate() {
        for (row, line) in table.lines().enumerate() {
            let head = if row == 0 { "run".to_owned() } else { letter(place).to_string() };
            match (several, row, place) {
                (true, 0, 1..) => continue, // the names stand there already
                (true, ..) => out += &format!("{head},{line}\n"),
                (false, ..) => out += &format!("{line}\n"),
            }
        }
    }
    out
}
