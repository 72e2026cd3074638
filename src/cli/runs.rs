//! Options of several runs on one command line.

use std::path::PathBuf;

use super::args::{LaunchChoice, MachineChoice, ProgramChoice, RunsChoice};
use super::{Failure, source};

/// Deals options out to at most `most` runs. An option given once goes to all of them.
pub(crate) fn deal(choice: &RunsChoice, most: usize) -> Result<Vec<ProgramChoice>, Failure> {
    let sets: Vec<(String, Vec<String>)> = choice.set.iter().map(|set| values(set)).collect();
    let counts = [
        choice.files.len(),
        choice.kernel.len(),
        choice.mode.len(),
        choice.machine.len(),
        choice.its_order.len(),
        choice.warp_size.len(),
        choice.lowering.len(),
        choice.grid.len(),
        choice.block.len(),
    ];
    let of_sets = sets.iter().map(|(_, values)| values.len());
    let runs = counts.into_iter().chain(of_sets).max().unwrap_or(1).clamp(1, most);
    let files = each("FILE", &choice.files, runs)?;
    let kernels = each("--kernel", &choice.kernel, runs)?;
    let modes = each("--mode", &choice.mode, runs)?;
    let machines = each("--machine", &choice.machine, runs)?;
    let orders = each("--its-order", &choice.its_order, runs)?;
    let warp_sizes = each("--warp-size", &choice.warp_size, runs)?;
    let lowerings = each("--lowering", &choice.lowering, runs)?;
    let grids = each("--grid", &choice.grid, runs)?;
    let blocks = each("--block", &choice.block, runs)?;
    // Modes run on one machine; several machines run in modes of their own.
    let compares_modes = choice.mode.len() > 1 && choice.machine.len() <= 1;
    let mut constants: Vec<Vec<String>> = vec![Vec::new(); runs];
    for (name, values) in &sets {
        let dealt = each(&format!("--set {name}"), values, runs)?;
        for (of_run, value) in constants.iter_mut().zip(dealt) {
            of_run.push(format!("{name}{}", value.unwrap_or_default()));
        }
    }
    source::has_compiled(&choice.files, &choice.sass)?;
    let sass = |file: &Option<PathBuf>| file.as_deref().map(|file| choice.sass.of(file));
    let run = |(i, set): (usize, Vec<String>)| ProgramChoice {
        file: files[i].clone().unwrap_or_default(),
        kernel: kernels[i].clone(),
        sass: sass(&files[i]).unwrap_or_default(),
        machine: MachineChoice {
            mode: modes[i],
            machine: machines[i].clone(),
            its_order: orders[i].clone(),
            warp_size: warp_sizes[i],
            lowering: lowerings[i],
            no_yield: choice.no_yield,
            compares_modes,
            fields: Vec::new(),
        },
        launch: LaunchChoice {
            set,
            grid: grids[i].clone(),
            block: blocks[i].clone(),
            max_memory: choice.max_memory,
            number: choice.launch,
        },
        limit: choice.limit,
    };
    Ok(constants.into_iter().enumerate().map(run).collect())
}

/// Nothing, one value for all, or one each.
fn each<T: Clone>(option: &str, given: &[T], runs: usize) -> Result<Vec<Option<T>>, Failure> {
    match given {
        [] => Ok(vec![None; runs]),
        [all] => Ok(vec![Some(all.clone()); runs]),
        one_each if one_each.len() == runs => Ok(one_each.iter().cloned().map(Some).collect()),
        other => Err(Failure::new(format!(
            "{option} is given {} times; there are {runs} runs\n\
             help: give one value for all, or one for each",
            other.len()
        ))),
    }
}

/// Splits `NAME=VALUE,VALUE` into the name and each `=VALUE`. A comma in parentheses belongs to the
/// value.
fn values(set: &str) -> (String, Vec<String>) {
    let Some((name, values)) = set.split_once('=') else {
        return (set.to_owned(), vec![String::new()]); // `run` reports the fault
    };
    let mut depth = 0_i32;
    let mut parts = vec![String::from("=")];
    for c in values.chars() {
        match c {
            ',' if depth == 0 => parts.push(String::from("=")),
            c => {
                depth += i32::from(c == '(') - i32::from(c == ')');
                if let Some(part) = parts.last_mut() {
                    part.push(c);
                }
            }
        }
    }
    (name.to_owned(), parts)
}
