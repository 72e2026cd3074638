//! Pictures of runs, as SVG and as PNG.
//!
//! A picture is first a [`Scene`], a list of shapes, so that both formats show the same and equal
//! runs give equal bytes. Text uses one embedded monospaced font; system fonts are never looked up.
//! Colours are those of Okabe and Ito, safe for colour-blind readers; every colour also has a
//! pattern or a letter.
//!
//! Most pictures show a recorded window: a [`View`] of one [`Recording`], or of several stacked on
//! common axes. The others show whole runs: [`flows`] and [`graph`], [`roofline`], [`bars`] of a
//! comparison, [`lines`] of a sweep.

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

/// Kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// View of a recorded window.
    Window(View),
    /// Control-flow graph with the number of lanes on each edge.
    Cfg,
    /// Roofline: throughput against bytes moved, with the machine's ceilings.
    Roofline,
    /// Counters of two runs, as pairs of bars.
    Compare,
    /// Metric over a swept number, one line per setting of the other constants.
    Sweep,
}

/// View of a recorded window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Lanes of warps over time, with the source lines below.
    Timeline,
    /// Lanes of every warp of a block, one strip per warp.
    Masks,
    /// Histogram of active lanes W0..W32, and its share over time.
    Lanes,
    /// Reconvergence stack, or groups and join registers, over time.
    Stack,
    /// Issues and stalls, warp by cycle.
    Schedule,
    /// Stall cycles, by warp and by line.
    Stalls,
    /// Warp IPC and lane IPC over time.
    Ipc,
    /// One access to shared memory, lane by bank.
    Banks,
    /// One access to global or local memory, sector by sector.
    Sectors,
}

impl Kind {
    /// All kinds.
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

    /// Returns the name on the command line.
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

    /// Returns true if the picture needs a run with a clock.
    pub const fn needs_time(self) -> bool {
        !matches!(self, Kind::Cfg)
    }

    /// Returns a one-line description.
    pub const fn about(self) -> &'static str {
        match self {
            Kind::Window(View::Timeline) => {
                "Lanes of a warp over time, five states, with the source lines"
            }
            Kind::Window(View::Masks) => "Lanes of every warp of a block, one strip per warp",
            Kind::Window(View::Lanes) => {
                "Histogram of active lanes W0..W32, and its share over time"
            }
            Kind::Window(View::Stack) => {
                "Reconvergence stack over time; in volta mode, groups of lanes and join registers"
            }
            Kind::Window(View::Schedule) => "Issues and stalls, warp by cycle",
            Kind::Window(View::Stalls) => "Stall cycles by state, for each warp and source line",
            Kind::Window(View::Ipc) => "Warp IPC and lane IPC over time; the gap is divergence",
            Kind::Window(View::Banks) => "Bank conflicts of one shared-memory access, lane by bank",
            Kind::Window(View::Sectors) => {
                "Requested words and moved sectors of one global-memory access"
            }
            Kind::Cfg => "Control-flow graph with the number of lanes on each edge",
            Kind::Roofline => {
                "Instruction roofline: instructions per byte and per cycle, with the machine's \
                 ceilings"
            }
            Kind::Compare => "Counters of two runs, as pairs of bars with ratios",
            Kind::Sweep => {
                "Metric over a swept number, from the JSON lines of `simt-sim sweep --results`"
            }
        }
    }

    /// Finds the kind by name.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl View {
    /// Returns true for views of all warps of a block instead of one warp.
    pub const fn is_of_block(self) -> bool {
        !matches!(self, View::Timeline | View::Stack)
    }
}

/// Options of a picture of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Focus {
    /// Unit of the time axis.
    pub axis: Axis,
    /// Source line of the access to show.
    pub line: Option<u32>,
    /// Issue number, within its warp, of the access to show.
    pub issue: Option<u64>,
}

impl From<Axis> for Focus {
    /// Selects the worst access.
    fn from(axis: Axis) -> Focus {
        Focus { axis, line: None, issue: None }
    }
}

/// Checks that a recording has data for a view.
///
/// # Errors
/// Fails if it has none, with a sentence that names the missing data.
pub fn drawable(view: View, recording: &Recording, focus: impl Into<Focus>) -> Result<(), String> {
    match view {
        View::Banks => choose(recording, Of::Banks, &focus.into()).map(|_| ()),
        View::Sectors => choose(recording, Of::Sectors, &focus.into()).map(|_| ()),
        _ => Ok(()),
    }
}

/// Draws a recording. Schedule, stalls and IPC always use the cycle axis.
pub fn picture(view: View, recording: &Recording, focus: impl Into<Focus>) -> Scene {
    pictures(view, std::slice::from_ref(recording), focus)
}

/// Draws several recordings, stacked on common axes; an empty page for none.
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

/// Draws a page that explains why there is no picture.
fn empty(panel: &Panel<'_>, why: &str) -> Scene {
    let heading = Heading::of(panel, "no data");
    let mut scene = Scene::new(heading.width().max(700), TOP + 80);
    let top = heading.draw(&mut scene);
    scene.text((frame::MARGIN, top + 10), face(12, INK), why);
    heading.draw_footer(&mut scene);
    scene
}

/// Prints the figures of a picture as CSV with a header line.
/// Empty if there is no data.
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
        View::Banks => choose(recording, Of::Banks, &focus)
            .map(|a| banks::data(recording, &a))
            .unwrap_or_default(),
        View::Sectors => choose(recording, Of::Sectors, &focus)
            .map(|a| sectors::data(recording, &a))
            .unwrap_or_default(),
    }
}

/// Prints the figures of several recordings as CSV.
/// The first column is `run` (`A`, `B`, ..).
pub fn data_of_all(view: View, recordings: &[Recording], focus: impl Into<Focus>) -> String {
    let focus = focus.into();
    together(recordings.iter().map(|recording| data(view, recording, focus)))
}

/// Prints the figures of [`flows`]: a row per basic block, then a row per edge.
pub fn data_of_flows(walks: &[Walk]) -> String {
    together(walks.iter().map(flow::data))
}

/// Prints the figures of [`roofline`]: a row per run.
pub fn data_of_roofline(runs: &[(&Run, Roof)]) -> String {
    roofline::data(runs)
}

/// Prints the figures of [`bars`]: a row per counter.
/// It includes counters that the picture omits.
pub fn data_of_bars(found: &Comparison) -> String {
    bars::data(found)
}

/// Prints the figures of [`lines`]: a row per point.
pub fn data_of_lines(series: &[Series]) -> String {
    let rows = series
        .iter()
        .flat_map(|s| s.points.iter().map(move |(x, y)| format!("{},{x},{y}\n", quoted(&s.name))));
    std::iter::once("series,x,y\n".to_owned()).chain(rows).collect()
}

/// Joins tables of the same columns, with a first column `run`.
/// A single table is unchanged.
fn together(tables: impl ExactSizeIterator<Item = String>) -> String {
    let several = tables.len() > 1;
    let mut out = String::new();
    for (place, table) in tables.enumerate() {
        for (row, line) in table.lines().enumerate() {
            let head = if row == 0 { "run".to_owned() } else { letter(place).to_string() };
            match (several, row, place) {
                (true, 0, 1..) => continue, // repeated header
                (true, ..) => out += &format!("{head},{line}\n"),
                (false, ..) => out += &format!("{line}\n"),
            }
        }
    }
    out
}
