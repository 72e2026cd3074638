//! Probes: the simulator's own count of every branch and block equals what the probes in the program's text count, for every
//! program of the repository in both modes, in numbers and in the order in which the sides ran.

use std::fs;
use std::path::{Path, PathBuf};

use simt_sim::instrument::{Counted, Log, instrument, measure, witness};
use simt_sim::launch::Overrides;
use simt_sim::machine::{Finish, Mode};
use simt_sim::pipeline::Program;

use super::support::{MODES, launch, machine, options};

/// What is logged here: enough to see the order in several blocks.
const LOG: Log = Log { warps: 8, events: 2_000 };

/// Every program under a folder, sorted.
fn programs(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()) {
        match path.extension().and_then(|e| e.to_str()) {
            _ if path.is_dir() => found.extend(programs(&path.display().to_string())),
            Some("ir" | "ptx") => found.push(path),
            _ => {}
        }
    }
    found.sort();
    found
}

/// The launch options that make the large programs small.
fn small(program: &Program) -> Overrides {
    let large = program.plan.constants().any(|name| name == "n") && program.text.contains("n = 1 <<");
    let set = if large { vec![("n".to_string(), "1 << 13".to_string())] } else { Vec::new() };
    Overrides { set, ..Overrides::default() }
}

/// Both counts of a program.
fn counted(path: &Path, mode: Mode) -> Result<(Counted, Counted), String> {
    let text = fs::read_to_string(path).map_err(|e| e.to_string())?;
    let program = Program::parse(&path.display().to_string(), &text);
    let (kernel, launch) = launch(&program, &small(&program))?;
    let spec = machine(mode.default_machine());
    let options = options(mode, spec.side_order(), 20_000_000);
    let probes = instrument(&program.module, spec.warp_size, Some(LOG));
    let own = witness(kernel, launch.clone(), &spec, &options, &probes).map_err(|e| e.to_string())?;
    if !matches!(own.finish, Finish::Ok) {
        return Ok((
            own,
            Counted { finish: Finish::CycleLimit, divergence: Default::default(), sequences: Vec::new() },
        ));
    }
    let probed = measure(kernel, launch, &spec, &options, &probes).map_err(|e| e.to_string())?;
    Ok((own, probed))
}

#[test]
fn probes_count_what_the_simulator_counts() {
    let (mut wrong, mut branches) = (Vec::new(), 0);
    for path in programs("programs") {
        for mode in MODES {
            match counted(&path, mode) {
                Err(e) => wrong.push(format!("{} {}: {e}", path.display(), mode.name())),
                // A hang is not proved while probes count.
                Ok((own, _)) if !matches!(own.finish, Finish::Ok) => {}
                Ok((own, probed)) => {
                    branches += own.divergence.branches.len();
                    if own.divergence != probed.divergence || own.sequences != probed.sequences {
                        wrong.push(format!("{} {}: {:?}", path.display(), mode.name(), probed.finish));
                        for (a, b) in
                            own.divergence.branches.iter().zip(&probed.divergence.branches).filter(|(a, b)| a != b)
                        {
                            wrong.push(format!("  {a:?}\n  {b:?}"));
                        }
                        for (a, b) in
                            own.divergence.blocks.iter().zip(&probed.divergence.blocks).filter(|(a, b)| a != b)
                        {
                            wrong.push(format!("  {a:?}\n  {b:?}"));
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(branches > 150, "only {branches} branches were compared");
}
