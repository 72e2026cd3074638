//! Shrinks a program on which the GPU and the simulator disagree, and keeps it.

use std::io::Write;
use std::path::Path;

use super::super::Program;
use super::family::Tree;
use super::{DISAGREEING, Held, SIMULATED, hold, in_words, parse};

/// Attempts at shrinking a program that disagrees.
const SHRINKS: u32 = 200;

/// A fault to keep while shrinking.
pub(super) type Fault = fn(Held) -> Option<String>;

/// Describes the first execution count that differs; nothing if the probes miscounted.
pub(super) fn counted_otherwise(held: Held) -> Option<String> {
    if held.is_miscounted() {
        return None;
    }
    let mut both = in_words(&held.device).into_iter().zip(in_words(&held.simulated));
    let ((what, line, device), (_, _, simulated)) =
        both.find(|(device, simulated)| device != simulated)?;
    Some(format!("{what} of line {line}: device {device}{SIMULATED}{simulated}"))
}

/// Returns the smallest program found that still has the fault, and its description.
fn shrink(mut tree: Tree, mut what: String, fault: Fault) -> (String, String) {
    let wrong = |program: &Program| fault(hold(&parse(&program.print())).ok()?);
    let mut smallest = tree.current().print();
    for _ in 0..SHRINKS {
        if !tree.simplify() {
            break;
        }
        loop {
            // Signs of life for the parent.
            let _ = writeln!(std::io::stdout(), ".");
            let now = tree.current();
            if let Some(still) = wrong(&now) {
                (smallest, what) = (now.print(), still);
                break;
            }
            if !tree.complicate() {
                return (smallest, what);
            }
        }
    }
    (smallest, what)
}

/// Stores a faulty program, shrunk, for inspection.
pub(super) fn keep(name: &str, tree: Tree, what: String, fault: Fault) -> String {
    let (smallest, what) = shrink(tree, what, fault);
    let _ = std::fs::create_dir_all(DISAGREEING);
    let file = Path::new(DISAGREEING).join(format!("{name}.ir"));
    let _ = std::fs::write(file, format!("// {what}\n{smallest}"));
    what
}
