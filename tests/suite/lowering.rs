//! Machine instructions against an H200's counters, against published figures, and against the disassembly of what ptxas made of the
//! same kernels.

use simt_sim::launch::Overrides;
use simt_sim::machine::{self, Lowering};
use simt_sim::pipeline::{Program, Simulation, simulate};
use simt_sim::report::metrics::Value;

use crate::support::{launch, machine, options};
use simt_sim::divergence::SideOrder;

fn program(path: &str) -> Program {
    let path = format!("programs/{path}");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    Program::parse(&path, &text)
}

/// Runs a program in `blocks` blocks of 512. Nothing per warp depends on how many there are.
fn run(path: &str, preset: &str, blocks: i64, lowering: Lowering) -> Simulation {
    let program = program(path);
    let spec = simt_sim::machine::MachineSpec { lowering, ..machine(preset) };
    let set = vec![("n".to_string(), (512 * blocks).to_string())];
    let (kernel, launch) = launch(&program, &Overrides { set, ..Overrides::default() }).unwrap_or_else(|e| panic!("{e}"));
    let options = options(spec.modes[0], SideOrder::Fewer, 10_000_000);
    simulate(&program, kernel, launch, &spec, &options, &()).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn metric(done: &Simulation, name: &str) -> f64 {
    done.run.metric(name).map(Value::as_f64).unwrap_or_else(|| panic!("no {name}"))
}

/// Panics unless `simulated` is within `percent` of `measured`.
fn close(what: &str, simulated: f64, measured: f64, percent: f64) {
    let error = 100.0 * (simulated - measured) / measured;
    assert!(error.abs() <= percent, "{what}: {simulated:.2}, measured {measured:.2}: {error:+.1} %");
}

#[test]
fn print_static() {
    for file in std::fs::read_dir("programs/cuda").unwrap().flatten().map(|e| e.path()) {
        if file.extension().is_none_or(|e| e != "ptx") { continue; }
        let name = file.file_stem().unwrap().to_string_lossy().to_string();
        let program = program(&format!("cuda/{name}.ptx"));
        let mut line = name;
        for preset in ["volta", "ampere", "h200"] {
            let spec = machine(preset);
            for kernel in &program.kernels {
                let code = machine::lower(kernel, &spec, spec.modes[0]);
                let stream = machine::stream(code.kernel(), spec.modes[0], true);
                let joins = stream.steps.iter().filter(|s| s.source.is_none()).count();
                let bra = code.kernel().flow.branches().len();
                line += &format!(" {}+{joins}/{bra}", code.static_count());
            }
        }
        println!("{line}");
    }
}
