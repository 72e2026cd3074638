//! The bundled programs: each parses, checks, resolves and has expectations.

use std::path::{Path, PathBuf};

use super::super::{Overrides, plan};
use crate::diag::{Severity, Source, has_errors, render};
use crate::{kernel, ptx};

/// Returns every `.ir` file below `programs/`, in order.
fn programs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let mut files = Vec::new();
    for directory in [root.clone(), root.join("small")] {
        let entries =
            std::fs::read_dir(directory).expect("the programs are part of the repository");
        files.extend(
            entries
                .map(|e| e.expect("readable").path())
                .filter(|p| p.extension().is_some_and(|e| e == "ir")),
        );
    }
    files.sort();
    files
}

#[test]
fn every_program_resolves_without_a_finding() {
    let files = programs();
    assert!(files.len() >= 25, "{files:?}");
    for path in files {
        let source = std::fs::read_to_string(&path).expect("a text file");
        let name = path.display().to_string();
        let (module, mut diagnostics) = ptx::parse(&source);
        let (kernels, found) = kernel::check(&module, &source);
        // Programs about barriers in divergent code cause warnings on purpose.
        diagnostics.extend(found.into_iter().filter(|d| d.severity == Severity::Error));
        let (plan, found) = plan(&module, &source);
        diagnostics.extend(found);
        let shown = render(&diagnostics, Source { name: &name, text: &source }, false);
        assert!(!has_errors(&diagnostics) && diagnostics.is_empty(), "{shown}");
        let [kernel] = &kernels[..] else { panic!("{name}: {} kernels", kernels.len()) };
        // The large programs run on less data.
        let set = plan
            .constants()
            .filter(|c| *c == "n")
            .map(|c| (c.to_owned(), "1024".to_owned()))
            .collect();
        let overrides = Overrides { set, ..Overrides::default() };
        let launch = plan.resolve(kernel, &overrides, &|_, _| Err("no files".to_owned()));
        let launch = launch.unwrap_or_else(|d| {
            panic!("{}", render(&d, Source { name: &name, text: &source }, false))
        });
        assert!(launch.title.is_some() && !launch.expectations.is_empty(), "{name}");
    }
}
