//! Runs a minimal program around some instructions and returns its memory.
//!
//! A program reads 64-bit cells from the buffer `in` and writes 64-bit cells to the buffer `out`;
//! every value has one cell, zero-extended. [`Case::run`] runs it like any program: text, check,
//! launch, machine.

use simt_core::Job;
use simt_core::Program;
use simt_core::divergence::SideOrder;
use simt_core::isa::Isa;
use simt_core::launch::Overrides;
use simt_core::machine::Finish;
use simt_core::spec::Mode;

use crate::support;

/// A program with instructions under test.
pub(crate) struct Case {
    /// Mnemonics under test; each occurs in the program.
    pub(crate) subjects: Vec<String>,
    /// Directives for grid and block, variables, and the kernel `form` with the parameters `in` and
    /// `out`.
    pub(crate) text: String,
    /// Cells of `in`.
    pub(crate) input: Vec<u64>,
    /// Number of cells of `out`.
    pub(crate) outputs: usize,
}

impl Case {
    /// Runs to the end and returns the cells of `out`.
    pub(crate) fn run(&self) -> Vec<u64> {
        let (input, output) = (self.input.len().max(1), self.outputs.max(1));
        let text = format!(
            "//! buffer in: u64[{input}]\n//! buffer out: u64[{output}]\n//! arg in = in\n//! arg out = out\n{}",
            self.text
        );
        let program = Program::parse("form", &text);
        let (kernel, mut launch) = support::launch(&program, &Overrides::default())
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        for subject in &self.subjects {
            let form = lookup(subject).index;
            assert!(kernel.insts.iter().any(|i| i.form == form), "no `{subject}` in\n{text}");
        }
        launch.buffers[0].words =
            self.input.iter().flat_map(|&x| [x as u32, (x >> 32) as u32]).collect();
        let options = support::options(Mode::Volta, SideOrder::Fewer, 50_000_000);
        let spec = support::changed(&support::machine("h200"), |m| m.sms = 1);
        let outcome = Job::new(&program, kernel, launch, &spec, options)
            .execute(&())
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert!(matches!(outcome.finish, Finish::Ok), "{:?}\n{text}", outcome.finish);
        let words = &outcome.launch.buffers[1].words;
        words.chunks_exact(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect()
    }
}

/// Returns the form of a mnemonic.
pub(crate) fn lookup(mnemonic: &str) -> simt_core::isa::FormMatch<'static> {
    Isa::ptx().lookup(mnemonic).unwrap_or_else(|e| panic!("{mnemonic}: {}", e.message))
}
