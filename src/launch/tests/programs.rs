//! The programs that come with the simulator: each parses, checks and resolves, and says something checkable.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::{Overrides, plan};
use crate::diag::{Severity, Source, has_errors, render};
use crate::{kernel, text};

/// Every `.ir` file below `programs/`, in order.
fn programs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut files = Vec::new();
    for directory in [root.clone(), root.join("small")] {
        let entries = std::fs::read_dir(directory).expect("the programs are part of the repository");
        files.extend(entries.map(|e| e.expect("readable").path()).filter(|p| p.extension().is_some_and(|e| e == "ir")));
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
        let (module, mut diagnostics) = text::parse(&source);
        let (kernels, found) = kernel::check(&module, &source);
        // Programs about barriers in divergent code are meant to be warned about.
        diagnostics.extend(found.into_iter().filter(|d| d.severity == Severity::Error));
        let (plan, found) = plan(&module, &source);
        diagnostics.extend(found);
        let shown = render(&diagnostics, Source { name: &name, text: &source }, false);
        assert!(!has_errors(&diagnostics) && diagnostics.is_empty(), "{shown}");
        let [kernel] = &kernels[..] else { panic!("{name}: {} kernels", kernels.len()) };
        // The large programs are the same on less data.
        let set = plan.constants().filter(|c| *c == "n").map(|c| (c.to_owned(), "1024".to_owned())).collect();
        let overrides = Overrides { set, ..Overrides::default() };
        let launch = plan.resolve(kernel, &overrides, &|_| Err("no files".to_owned()));
        let launch = launch.unwrap_or_else(|d| panic!("{}", render(&d, Source { name: &name, text: &source }, false)));
        assert!(launch.title.is_some() && !launch.expectations.is_empty(), "{name}");
    }
}

/// Which lanes of a block work in a step, and the elements they add: index and partner.
fn step(program: &str, block: u32, stride: u32, thread: u32) -> Option<[u32; 2]> {
    match program {
        "neighbored" => (thread % (2 * stride) == 0).then_some([thread, thread + stride]),
        "less" => Some(2 * stride * thread).filter(|i| *i < block).map(|i| [i, i + stride]),
        _ => (thread < stride).then_some([thread, thread + stride]),
    }
}

/// The figures that the reductions' comments state, counted from the addresses alone; they are also what an H200 counts.
#[test]
fn the_reductions_figures_follow_from_their_addresses() {
    let expected = BTreeMap::from([
        ("neighbored", ([16, 16, 16, 16, 16, 8, 4, 2, 1], 191, 511)),
        ("less", ([0, 0, 0, 0, 1, 1, 1, 1, 1], 41, 511)),
        ("interleaved", ([0, 0, 0, 0, 1, 1, 1, 1, 1], 41, 133)),
    ]);
    for (program, (divergent, requests, sectors)) in expected {
        let mut counted = ([0; 9], 1, 1); // lane 0 loads the sum: one request, one sector
        for k in 0..9 {
            let stride = if program == "interleaved" { 256 >> k } else { 1 << k };
            for warp in 0..16 {
                let pairs: Vec<[u32; 2]> =
                    (32 * warp..32 * warp + 32).filter_map(|t| step(program, 512, stride, t)).collect();
                counted.0[k] += i32::from(!pairs.is_empty() && pairs.len() < 32);
                for side in 0..2 {
                    let mut touched: Vec<u32> = pairs.iter().map(|pair| pair[side] / 8).collect();
                    touched.dedup();
                    counted.1 += u32::from(!pairs.is_empty());
                    counted.2 += touched.len();
                }
            }
        }
        assert_eq!(counted, (divergent, requests, sectors), "{program}");
    }
}
