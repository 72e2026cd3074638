//! Views of launches: pages and pictures.
//!
//! A view shows a window of the launch, issue by issue, so the launch is simulated as far as the
//! window goes before it runs as a whole.

use std::path::{Path, PathBuf};

use simt_core::base::BlockId;
use simt_core::machine::Timing;
use simt_core::observe::Window;
use simt_core::{Job, Program};
use simt_report::annotate::{Source, origins};
use simt_report::html::{self, Part};
use simt_report::plot::{self, Focus, Kind, Scene, View, Walk};
use simt_report::timeline::{Axis, Recording};
use simt_report::{Run, simulate};

use crate::say;

/// Issues of all warps of a page together.
const PAGE_ISSUES: usize = 24_000;
/// Issues of a warp of a page, at least and at most.
const WARP_ISSUES: (usize, usize) = (200, 4000);
/// Launches that get a page unless one is chosen.
const MOST_PAGES: u64 = 100;
/// Pixels of the largest picture, at 100 %.
const MOST_PIXELS: u64 = 60_000_000;
/// Largest source file of a page, in bytes.
const MOST_SOURCE: u64 = 4 << 20;

/// Views that were asked for.
#[derive(Debug, Default)]
pub(crate) struct Views {
    /// Folder of pages.
    pub(crate) html: Option<PathBuf>,
    /// Pictures with their files.
    pub(crate) plots: Vec<(Kind, PathBuf)>,
    /// Number of the launch; `None`: all for pages, the first for pictures.
    pub(crate) launch: Option<u64>,
}

/// Recordings of a launch.
pub(crate) struct Recorded {
    /// File and window of the page; no window without a clock.
    page: Option<(PathBuf, Option<Recording>)>,
    pictures: Vec<(PathBuf, Picture)>,
}

enum Picture {
    Window(View, Box<Recording>),
    Walk(Box<Walk>),
    Roofline,
}

impl Views {
    /// Returns true if a launch has views.
    pub(crate) fn shows(&self, number: u64) -> bool {
        self.has_page(number) || self.has_pictures(number)
    }

    fn has_page(&self, number: u64) -> bool {
        self.html.is_some() && self.launch.map_or(number <= MOST_PAGES, |n| n == number)
    }

    fn has_pictures(&self, number: u64) -> bool {
        !self.plots.is_empty() && number == self.launch.unwrap_or(1)
    }

    /// Records what the views of a launch show.
    pub(crate) fn record(&self, job: &Job<'_>, number: u64) -> Recorded {
        let threads: u64 = job.launch.block.iter().map(|&n| u64::from(n)).product();
        let warps = threads.div_ceil(u64::from(job.machine.warp_size.max(1))) as u32;
        let window = |warps: u32, limit| Window {
            block: BlockId(0),
            warps: 0..warps,
            cycles: 0..u64::MAX,
            limit,
        };
        let mut recorded = Recorded { page: None, pictures: Vec::new() };
        if let Some(folder) = self.html.as_ref().filter(|_| self.has_page(number)) {
            let limit = (PAGE_ISSUES / warps.max(1) as usize).clamp(WARP_ISSUES.0, WARP_ISSUES.1);
            let file = folder.join(format!("{}-{number}.html", std::process::id()));
            recorded.page = match job.options.timing {
                Timing::Off => Some((file, None)),
                Timing::Cycles => simulate::record(job, &window(warps, limit))
                    .ok()
                    .map(|recording| (file, Some(recording))),
            };
        }
        for (kind, file) in self.plots.iter().filter(|_| self.has_pictures(number)) {
            let picture = match kind {
                Kind::Window(view) => {
                    let warps = if view.is_of_block() { warps } else { 1 };
                    let recording = simulate::record(job, &window(warps, WARP_ISSUES.0)).ok();
                    recording.map(|recording| Picture::Window(*view, Box::new(recording)))
                }
                Kind::Cfg => simulate::walk(job.clone(), None, &())
                    .ok()
                    .map(|walk| Picture::Walk(Box::new(walk))),
                Kind::Roofline => Some(Picture::Roofline),
                Kind::Compare | Kind::Sweep => None,
            };
            recorded.pictures.extend(picture.map(|picture| (file.clone(), picture)));
        }
        recorded
    }
}

impl Recorded {
    /// Writes the views of a launch that has run.
    pub(crate) fn write(&self, run: &Run, program: &Program, machine: &simt_core::spec::Machine) {
        if let Some((file, recording)) = &self.page {
            let sources = sources(run, program);
            let part = Part { run, recording: recording.as_ref(), sources: &sources };
            let page = html::run_page(part);
            save(file, page.as_bytes());
        }
        for (file, picture) in &self.pictures {
            let scene = match picture {
                Picture::Window(view, recording) => {
                    let focus = Focus::from(Axis::Issue);
                    if let Err(why) = plot::drawable(*view, recording, focus) {
                        say(&format!("simt-sim: `{}` is not drawn: {why}\n", file.display()));
                        continue;
                    }
                    plot::picture(*view, recording, focus)
                }
                Picture::Walk(walk) => plot::flows(std::slice::from_ref(walk)),
                Picture::Roofline => plot::roofline(&[(run, simulate::roof(machine))]),
            };
            draw(file, &scene);
        }
    }
}

fn draw(file: &Path, scene: &Scene) {
    if scene.pixels() > MOST_PIXELS {
        say(&format!("simt-sim: `{}` is not drawn: it is too large\n", file.display()));
        return;
    }
    if file.extension().is_some_and(|ending| ending == "png") {
        match plot::png(scene) {
            Ok(bytes) => save(file, &bytes),
            Err(e) => say(&format!("simt-sim: cannot draw `{}`: {e}\n", file.display())),
        }
    } else {
        save(file, plot::svg(scene).as_bytes());
    }
}

fn save(file: &Path, bytes: &[u8]) {
    if let Err(e) = std::fs::write(file, bytes) {
        say(&format!("simt-sim: cannot write `{}`: {e}\n", file.display()));
    }
}

/// Returns the source texts of a run: the files that it was compiled from, and its own.
fn sources(run: &Run, program: &Program) -> Vec<Source> {
    let text = |name: &str| {
        let meta = std::fs::metadata(name).ok()?;
        let sane = meta.is_file() && meta.len() <= MOST_SOURCE;
        sane.then(|| std::fs::read_to_string(name).ok()).flatten()
    };
    let origin = |name: String| Source { text: text(&name), name };
    let own = Source { name: program.name.clone(), text: Some(program.text.clone()) };
    origins(run).into_iter().map(origin).chain([own]).collect()
}
