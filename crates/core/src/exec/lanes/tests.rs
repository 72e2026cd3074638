//! Loops compiled for AVX2 and for every processor give the same bytes.

use std::cell::Cell;

use crate::divergence::SideOrder;
use crate::launch::Overrides;
use crate::machine::{Options, Timing};
use crate::spec::{Machine, Mode};
use crate::{Job, Program};

thread_local! {
    /// True if this thread runs loops as on a processor without AVX2.
    pub(super) static BASELINE: Cell<bool> = const { Cell::new(false) };
}

/// Returns the memory after a run of a program of this repository.
fn memory_after(path: &str, set: &[(&str, &str)], baseline: bool) -> Vec<Vec<u32>> {
    let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("a program");
    let program = Program::parse(&path, &text);
    let kernel = program.kernel(None).expect("one kernel");
    let set = set.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    let launch = program
        .launch(kernel, &Overrides { set, ..Overrides::default() }, &|_, _| Err("no files".into()))
        .unwrap_or_else(|e| panic!("{path}: {e:?}"));
    let machine = Machine::preset("h200").expect("a machine");
    let options = Options {
        order: SideOrder::Fewer,
        timing: Timing::Off,
        ..Options::of(&machine, Mode::Volta)
    };
    BASELINE.set(baseline);
    let outcome = Job::new(&program, kernel, launch, &machine, options).count(&());
    BASELINE.set(false);
    outcome.expect("a run").launch.buffers.iter().map(|buffer| buffer.words.clone()).collect()
}

#[test]
fn memory_does_not_depend_on_the_vector_units() {
    let small: &[_] = &[("n", "4096")];
    for (path, set) in [
        ("programs/cuda/reduce_neighbored.ptx", small),
        ("programs/sass/reduce_neighbored.sass", small),
        ("programs/unseen/mend/matmul.ptx", &[]),
        ("programs/unseen/mend/matmul.sass", &[]),
        ("programs/unseen/mend/matmul_double.sass", &[]),
        ("programs/unseen/mend/double_divide_sqrt.sass", &[]),
        ("programs/unseen/mend/half2_polynomial.sass", &[]),
        ("programs/cuda/square_wave.ptx", &[("n", "256")]),
        ("programs/sass/square_wave.sass", &[("n", "256")]),
        ("programs/sass/reduce_shuffle.sass", small),
    ] {
        let (wide, baseline) = (memory_after(path, set, false), memory_after(path, set, true));
        assert!(wide.iter().flatten().any(|&word| word != 0), "{path}");
        assert!(wide == baseline, "{path}");
    }
}
