//! `simt-sim compare`: one command line for two runs.

use std::path::PathBuf;

use simt_sim::html::{self, Part};
use simt_sim::machine::Options;
use simt_sim::pipeline;
use simt_sim::report::annotate::Source;
use simt_sim::report::compare::{Comparison, IssueStreams};
use simt_sim::report::timeline::Recording;
use simt_sim::report::{self, Run, Style};

use super::args::{CompareArgs, Format, LaunchChoice, MachineChoice};
use super::{Exit, Failure, job, output, page, source};

/// The most issues of block 0 whose order is compared.
const STREAM_LIMIT: usize = 4_000_000;

/// Runs both and prints what differs. How the runs ended is part of that, not of the exit code.
pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    page::sensible(&args.page)?;
    let sides = sides(args)?;
    let [a, b] = [simulate(&sides[0], args)?, simulate(&sides[1], args)?];
    let found = Comparison::new(&a.run, &b.run, [&a.streams, &b.streams]);
    if let (Some(path), Some(a), Some(b)) = (&args.page.html, a.part(), b.part()) {
        output::write_file(path, html::comparison_page(&found, [a, b]).as_bytes())?;
    }
    let text = match args.format {
        Format::Json => found.to_json().map_err(Failure::new)?,
        Format::Table => report::comparison(&found, Style { width: output::width(), color: output::color_out() }),
    };
    output::print(&text)?;
    Ok(Exit::Ok)
}

/// One of the two runs, as `run` would have it.
struct Chosen {
    file: PathBuf,
    kernel: Option<String>,
    machine: MachineChoice,
    launch: LaunchChoice,
}

/// One of the two runs, done.
struct Side {
    run: Run,
    streams: IssueStreams,
    /// What a page shows of it; nothing when none is wanted.
    recording: Option<Recording>,
    sources: Vec<Source>,
}

impl Side {
    fn part(&self) -> Option<Part<'_>> {
        Some(Part { run: &self.run, recording: self.recording.as_ref()?, sources: &self.sources })
    }
}

fn simulate(chosen: &Chosen, args: &CompareArgs) -> Result<Side, Failure> {
    let machine = job::machine(&chosen.machine)?;
    let program = source::read_sound(&chosen.file, true)?;
    let kernel = program.kernel(chosen.kernel.as_deref()).map_err(Failure::new)?;
    let launch = job::launch(&program, kernel, &chosen.launch)?;
    let options = Options {
        mode: machine.mode,
        order: machine.order,
        yields: true,
        max_cycles: args.max_cycles,
        jobs: args.jobs,
    };
    let streams = pipeline::issue_streams(&program, kernel, launch.clone(), &machine.spec, &options, STREAM_LIMIT);
    let recording = page::recording(&args.page, &program, kernel, &launch, &machine.spec, &options)?;
    let done = pipeline::simulate(&program, kernel, launch, &machine.spec, &options, &()).map_err(Failure::new)?;
    let (streams, sources) = (streams.map_err(Failure::new)?, page::sources(&done.run, &program));
    Ok(Side { run: done.run, streams, recording, sources })
}

/// Deals the options out to the two runs.
fn sides(args: &CompareArgs) -> Result<[Chosen; 2], Failure> {
    let files = deal("FILE", &args.files)?;
    let kernels = deal("--kernel", &args.kernel)?;
    let modes = deal("--mode", &args.mode)?;
    let machines = deal("--machine", &args.machine)?;
    let orders = deal("--its-order", &args.its_order)?;
    let warp_sizes = deal("--warp-size", &args.warp_size)?;
    let lowerings = deal("--lowering", &args.lowering)?;
    let grids = deal("--grid", &args.grid)?;
    let blocks = deal("--block", &args.block)?;
    let sets: Vec<[String; 2]> = args.set.iter().map(|set| deal_set(set)).collect::<Result<_, _>>()?;
    let side = |i: usize| Chosen {
        file: files[i].clone().unwrap_or_default(),
        kernel: kernels[i].clone(),
        machine: MachineChoice {
            mode: modes[i],
            machine: machines[i].clone(),
            its_order: orders[i].clone(),
            warp_size: warp_sizes[i],
            lowering: lowerings[i],
            no_yield: false,
        },
        launch: LaunchChoice {
            set: sets.iter().map(|pair| pair[i].clone()).collect(),
            grid: grids[i].clone(),
            block: blocks[i].clone(),
        },
    };
    let two = |lists: &[usize]| lists.contains(&2);
    let given = [args.files.len(), args.kernel.len(), args.mode.len(), args.machine.len(), args.its_order.len()];
    let differs = two(&given)
        || two(&[args.warp_size.len(), args.lowering.len(), args.grid.len(), args.block.len()])
        || sets.iter().any(|[a, b]| a != b);
    if !differs {
        return Err(Failure::new(
            "there is one run to compare, and it takes two\nhelp: name a second program, or two values of an option: \
             --mode pre-volta,volta, --machine fermi,h200, --set n=1024,65536",
        ));
    }
    Ok([side(0), side(1)])
}

/// Nothing, one value for both, or one each.
fn deal<T: Clone>(option: &str, given: &[T]) -> Result<[Option<T>; 2], Failure> {
    match given {
        [] => Ok([None, None]),
        [both] => Ok([Some(both.clone()), Some(both.clone())]),
        [a, b] => Ok([Some(a.clone()), Some(b.clone())]),
        more => Err(Failure::new(format!("{option} is given {} times; two runs are compared", more.len()))),
    }
}

/// `NAME=VALUE` for both, or `NAME=VALUE,VALUE` for each; a comma within parentheses belongs to the value.
fn deal_set(set: &str) -> Result<[String; 2], Failure> {
    let Some((name, values)) = set.split_once('=') else {
        return Ok([set.to_owned(), set.to_owned()]); // `run` has the words for what is wrong with it
    };
    let mut depth = 0_i32;
    let mut parts = vec![String::new()];
    for c in values.chars() {
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            c => {
                depth += i32::from(c == '(') - i32::from(c == ')');
                if let Some(part) = parts.last_mut() {
                    part.push(c);
                }
            }
        }
    }
    let dealt = deal(&format!("--set {name}"), &parts)?;
    Ok(dealt.map(|value| format!("{name}={}", value.unwrap_or_default())))
}
