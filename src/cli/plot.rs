//! `simt-sim plot`: pictures of windows and of runs.

use std::path::Path;

use simt_core::spec::MachineSpec;
use simt_report::compare::Comparison;
use simt_report::plot::{self, Focus, Kind, Roof, Scene, View, Walk};
use simt_report::simulate;
use simt_report::timeline::{Axis, Recording};
use simt_report::{Finish, Run};
use simt_teach::sweep::Chart;

use super::args::{PlotArgs, ProgramChoice, RunArgs, WindowChoice};
use super::job::Setup;
use super::timeline::{Warps, axis, record, resolve};
use super::{Exit, Failure, cfg, compare, output, runs, sweep};
use simt_threads::Threads;

/// The most pixels of a picture, at 100 %; larger ones no viewer shows.
const MAX_PIXELS: u64 = 60_000_000;
/// The most runs in one picture: more cannot be told apart.
const MAX_RUNS: usize = 12;

/// Draws one picture, or prints its data.
pub(crate) fn plot(args: &PlotArgs) -> Result<Exit, Failure> {
    let subject = Subject::of(args)?;
    if args.data.is_some() {
        subject.endings().into_iter().for_each(|ending| output::warn_of(Some(ending)));
        output::print(&subject.data())?;
    }
    match &args.output {
        Some(path) => write(&subject.scene(), path)?,
        None if args.data.is_none() => output::print(&plot::svg(&checked(&subject.scene())?))?,
        None => {}
    }
    Ok(Exit::Ok)
}

/// What is drawn.
enum Subject {
    Windows(View, Vec<Recording>, Focus),
    Walks(Vec<Walk>),
    Runs(Vec<(Run, Roof)>),
    Pair(Box<Comparison>),
    Sweep(Chart),
}

impl Subject {
    fn of(args: &PlotArgs) -> Result<Subject, Failure> {
        if args.kind == Kind::Sweep {
            return sweep(args).map(Subject::Sweep);
        }
        let most = if args.kind == Kind::Compare { 2 } else { MAX_RUNS };
        let chosen = runs::deal(&args.runs, most)?;
        Ok(match args.kind {
            Kind::Window(view) => {
                let focus = Focus { axis: axis(args.axis), line: args.line, issue: args.issue };
                let recordings = chosen.iter().map(|run| window(view, run, &args.window, &focus));
                Subject::Windows(view, recordings.collect::<Result<_, _>>()?, focus)
            }
            Kind::Cfg => {
                let window = (!args.whole_run).then_some(&args.window);
                let walks = chosen.iter().map(|run| walk(run, window, args.jobs));
                Subject::Walks(walks.collect::<Result<_, _>>()?)
            }
            Kind::Roofline => Subject::Runs(chosen.iter().map(|run| whole(run, args.jobs)).collect::<Result<_, _>>()?),
            Kind::Compare => Subject::Pair(Box::new(compare::comparison(&chosen, args.jobs)?)),
            Kind::Sweep => Subject::Sweep(sweep(args)?),
        })
    }

    fn scene(&self) -> Scene {
        match self {
            Subject::Windows(view, recordings, focus) => plot::pictures(*view, recordings, *focus),
            Subject::Walks(walks) => plot::flows(walks),
            Subject::Runs(runs) => plot::roofline(&borrowed(runs)),
            Subject::Pair(found) => plot::bars(found),
            Subject::Sweep(chart) => plot::lines(&chart.captions, &chart.lines),
        }
    }

    /// How those runs ended of which figures are printed that cannot say it; of windows that is said already.
    fn endings(&self) -> Vec<String> {
        let title = |finish: Finish| (finish != Finish::Ok).then(|| finish.title().to_uppercase());
        match self {
            Subject::Windows(..) | Subject::Sweep(_) => Vec::new(),
            Subject::Walks(walks) => walks.iter().filter_map(|walk| title(walk.finish?)).collect(),
            Subject::Runs(runs) => runs.iter().filter_map(|(run, _)| run.ending()).collect(),
            Subject::Pair(found) => {
                let sides = [("A", &found.a), ("B", &found.b)];
                sides.iter().filter_map(|(letter, side)| Some(format!("{letter}: {}", title(side.finish)?))).collect()
            }
        }
    }

    fn data(&self) -> String {
        match self {
            Subject::Windows(view, recordings, focus) => plot::data_of_all(*view, recordings, *focus),
            Subject::Walks(walks) => plot::data_of_flows(walks),
            Subject::Runs(runs) => plot::data_of_roofline(&borrowed(runs)),
            Subject::Pair(found) => plot::data_of_bars(found),
            Subject::Sweep(chart) => plot::data_of_lines(&chart.lines),
        }
    }
}

/// What the files of a sweep say, all together.
fn sweep(args: &PlotArgs) -> Result<Chart, Failure> {
    let all = sweep::together(&args.runs.files)?;
    Chart::new(all.records(), args.x.as_deref(), &args.y).map_err(Failure::new)
}

fn borrowed(runs: &[(Run, Roof)]) -> Vec<(&Run, Roof)> {
    runs.iter().map(|(run, roof)| (run, roof.clone())).collect()
}

/// A recorded window that has something to show.
fn window(view: View, run: &ProgramChoice, window: &WindowChoice, focus: &Focus) -> Result<Recording, Failure> {
    let default = if view.is_of_block() { Warps::All } else { Warps::First };
    let recording = record(run, window, default)?;
    plot::drawable(view, &recording, *focus).map_err(|none| {
        let place = format!("{} ({} on {})", recording.program, recording.mode, recording.machine);
        Failure::new(format!(
            "{place}: {none}\nhelp: --line and --issue choose the access; --warp, --block-id, --from, --to and --limit the window"
        ))
    })?;
    Ok(recording)
}

/// The ways that lanes took, in a window or in the whole run.
fn walk(run: &ProgramChoice, window: Option<&WindowChoice>, jobs: usize) -> Result<Walk, Failure> {
    let (setup, launch) = Setup::new(run, true)?;
    cfg::drawable(setup.kernel())?;
    let window = window.map(|w| resolve(w, Warps::All, &launch, setup.machine.warp_size)).transpose()?;
    simulate::walk(setup.job(launch), window.as_ref(), &Threads::new(jobs)).map_err(Failure::new)
}

/// A whole run, and what its machine could do.
fn whole(run: &ProgramChoice, jobs: usize) -> Result<(Run, Roof), Failure> {
    let (setup, launch) = Setup::new(run, true)?;
    let done = simulate::simulate(setup.job(launch), &Threads::new(jobs)).map_err(Failure::new)?;
    Ok((done.run, simulate::roof(&setup.machine)))
}

/// Draws a picture of what `run` ran: of a window, as `plot` chooses it by itself; of the control flow, all of it.
pub(crate) fn draw_of_run(
    kind: Kind,
    path: &Path,
    args: &RunArgs,
    run: &Run,
    spec: &MachineSpec,
) -> Result<(), Failure> {
    let scene = match kind {
        Kind::Window(view) => {
            let default = WindowChoice::default();
            let focus = Focus::from(Axis::Issue);
            plot::picture(view, &window(view, &args.program, &default, &focus)?, focus)
        }
        Kind::Cfg => plot::flows(&[walk(&args.program, None, args.jobs)?]),
        Kind::Roofline => plot::roofline(&[(run, simulate::roof(spec))]),
        Kind::Compare | Kind::Sweep => return Err(Failure::new("`run` has one run; use `simt-sim plot`")),
    };
    write(&scene, path)
}

/// The scene, unless no viewer could show it.
fn checked(scene: &Scene) -> Result<Scene, Failure> {
    if scene.pixels() > MAX_PIXELS {
        return Err(Failure::new(
            "the picture would be too large\nhelp: choose a smaller window by --warp, --from, --to or --limit",
        ));
    }
    Ok(scene.clone())
}

/// Writes a picture; the file's ending says which sort.
pub(crate) fn write(scene: &Scene, path: &Path) -> Result<(), Failure> {
    let scene = checked(scene)?;
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("png") => output::write_file(path, &plot::png(&scene).map_err(Failure::new)?),
        _ => output::write_file(path, plot::svg(&scene).as_bytes()),
    }
}
