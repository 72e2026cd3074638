//! `simt-sim plot`: pictures of windows and of runs, and their figures.

use std::path::Path;

use simt_core::spec::Machine;
use simt_report::compare::Comparison;
use simt_report::plot::{self, Focus, Kind, Roof, Scene, View, Walk};
use simt_report::simulate;
use simt_report::timeline::{Axis, Recording};
use simt_report::{Ending, Run};
use simt_teach::sweep::{Chart, Results};

use super::args::{PlotArgs, PlotFormat, ProgramChoice, RunArgs, WindowChoice};
use super::job::Setup;
use super::timeline::{Warps, axis, record, resolve};
use super::{Exit, Failure, cfg, compare, output, results, runs};
use simt_threads::Threads;

/// Pixels of the largest picture, at 100 %. Viewers fail on larger ones.
const MAX_PIXELS: u64 = 60_000_000;
/// Runs of one picture. More cannot be told apart.
const MAX_RUNS: usize = 12;

/// Draws one picture, or prints its figures.
pub(crate) fn plot(args: &PlotArgs) -> Result<Exit, Failure> {
    let format = format(args)?;
    let subject = Subject::of(args)?;
    match (format, &args.output) {
        (PlotFormat::Csv, file) => {
            subject.endings().into_iter().for_each(|ending| output::warn_of(Some(ending)));
            output::deliver(file.as_deref(), &subject.data())?;
        }
        (PlotFormat::Png, Some(file)) => {
            output::write_file(file, &png(&checked(&subject.scene())?)?)?
        }
        (_, file) => output::deliver(file.as_deref(), &plot::svg(&checked(&subject.scene())?))?,
    }
    Ok(Exit::Ok)
}

/// Returns the format that was chosen, or that of the file's ending.
fn format(args: &PlotArgs) -> Result<PlotFormat, Failure> {
    let Some(file) = args.output.as_deref() else {
        return match args.format {
            Some(PlotFormat::Png) => {
                Err(Failure::new("--format png needs a file\nhelp: add --output FILE.png"))
            }
            format => Ok(format.unwrap_or(PlotFormat::Svg)),
        };
    };
    match (args.format, PlotFormat::of_name(file)) {
        (Some(format), Some(other)) if format != other => Err(Failure::new(format!(
            "--format contradicts the ending of `{}`\n\
             help: leave out --format, or change the ending",
            file.display()
        ))),
        (Some(format), _) | (None, Some(format)) => Ok(format),
        (None, None) => Err(Failure::new(format!(
            "expected a file name that ends in .svg, .png or .csv, found `{}`\n\
             help: change the ending, or add --format",
            file.display()
        ))),
    }
}

/// Subject of a picture.
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
            Kind::Roofline => Subject::Runs(
                chosen.iter().map(|run| whole(run, args.jobs)).collect::<Result<_, _>>()?,
            ),
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

    /// Returns how runs ended that did not finish. Recording a window has reported it already.
    fn endings(&self) -> Vec<String> {
        let title = |finish: Ending| (finish != Ending::Ok).then(|| finish.title().to_uppercase());
        match self {
            Subject::Windows(..) | Subject::Sweep(_) => Vec::new(),
            Subject::Walks(walks) => walks.iter().filter_map(|walk| title(walk.finish?)).collect(),
            Subject::Runs(runs) => runs.iter().filter_map(|(run, _)| run.ending()).collect(),
            Subject::Pair(found) => {
                let sides = [("A", &found.a), ("B", &found.b)];
                sides
                    .iter()
                    .filter_map(|(letter, side)| Some(format!("{letter}: {}", title(side.finish)?)))
                    .collect()
            }
        }
    }

    fn data(&self) -> String {
        match self {
            Subject::Windows(view, recordings, focus) => {
                plot::data_of_all(*view, recordings, *focus)
            }
            Subject::Walks(walks) => plot::data_of_flows(walks),
            Subject::Runs(runs) => plot::data_of_roofline(&borrowed(runs)),
            Subject::Pair(found) => plot::data_of_bars(found),
            Subject::Sweep(chart) => plot::data_of_lines(&chart.lines),
        }
    }
}

/// Merges the results of a sweep's files.
fn sweep(args: &PlotArgs) -> Result<Chart, Failure> {
    let all: Results = results::together(&args.runs.files)?;
    Chart::new(all.records(), args.x.as_deref(), &args.y).map_err(Failure::new)
}

fn borrowed(runs: &[(Run, Roof)]) -> Vec<(&Run, Roof)> {
    runs.iter().map(|(run, roof)| (run, roof.clone())).collect()
}

/// Records a window that the view can draw.
fn window(
    view: View,
    run: &ProgramChoice,
    window: &WindowChoice,
    focus: &Focus,
) -> Result<Recording, Failure> {
    let default = if view.is_of_block() { Warps::All } else { Warps::First };
    let recording = record(run, window, default)?;
    plot::drawable(view, &recording, *focus).map_err(|none| {
        let place = format!("{} ({} on {})", recording.program, recording.mode, recording.machine);
        Failure::new(format!(
            "{place}: {none}\nhelp: choose the access with --line or --issue, the \
             window with --warp, --block-id, --from, \
             --to or --limit"
        ))
    })?;
    Ok(recording)
}

/// Counts the edges that lanes took, in a window or in the whole run.
fn walk(run: &ProgramChoice, window: Option<&WindowChoice>, jobs: usize) -> Result<Walk, Failure> {
    let (setup, launch) = Setup::new(run, true)?;
    cfg::drawable(setup.kernel())?;
    let window =
        window.map(|w| resolve(w, Warps::All, &launch, setup.machine.warp_size)).transpose()?;
    simulate::walk(setup.job(launch), window.as_ref(), &Threads::new(jobs)).map_err(Failure::new)
}

/// Simulates a whole run; returns it with the roofline of its machine.
fn whole(run: &ProgramChoice, jobs: usize) -> Result<(Run, Roof), Failure> {
    let (setup, launch) = Setup::new(run, true)?;
    let done = simulate::simulate(setup.job(launch), &Threads::new(jobs)).map_err(Failure::new)?;
    Ok((done.run, simulate::roof(&setup.machine)))
}

/// Draws a picture for `run --plot`: the default window, or the whole control flow.
pub(crate) fn draw_of_run(
    kind: Kind,
    path: &Path,
    args: &RunArgs,
    run: &Run,
    spec: &Machine,
) -> Result<(), Failure> {
    let scene = match kind {
        Kind::Window(view) => {
            let default = WindowChoice::default();
            let focus = Focus::from(Axis::Issue);
            plot::picture(view, &window(view, &args.program, &default, &focus)?, focus)
        }
        Kind::Cfg => plot::flows(&[walk(&args.program, None, args.jobs)?]),
        Kind::Roofline => plot::roofline(&[(run, simulate::roof(spec))]),
        Kind::Compare | Kind::Sweep => {
            return Err(Failure::new("`run` has only one run\nhelp: use `simt-sim plot`"));
        }
    };
    write(&scene, path)
}

/// Returns the scene unless it is too large for viewers.
fn checked(scene: &Scene) -> Result<Scene, Failure> {
    if scene.pixels() > MAX_PIXELS {
        return Err(Failure::new(
            "the picture is too large\n\
             help: choose a smaller window with --warp, --from, --to or --limit; a graph has none: \
             `simt-sim cfg` draws it without the run",
        ));
    }
    Ok(scene.clone())
}

/// Writes a picture in the format of the file's ending.
pub(crate) fn write(scene: &Scene, path: &Path) -> Result<(), Failure> {
    let scene = checked(scene)?;
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("png") => output::write_file(path, &png(&scene)?),
        _ => output::write_file(path, plot::svg(&scene).as_bytes()),
    }
}

fn png(scene: &Scene) -> Result<Vec<u8>, Failure> {
    plot::png(scene).map_err(Failure::new)
}
