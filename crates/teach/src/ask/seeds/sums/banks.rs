//! Finds the bank conflicts of a reduction in shared memory.

use super::super::bench::Bench;
use super::super::verdict::{Line, Referee, Rule};
use super::super::{Evidence, held, measured};
use super::per;
use crate::ask::AskError;
use crate::ask::lab::{Trial, each};
use crate::ask::programs::*;
use simt_core::spec::Mode;
use simt_report::FigureTable;

pub(super) fn conflicts(bench: &Bench) -> Result<Evidence, AskError> {
    let columns =
        ["kernel", "loads of the additions", "passes", "passes a load", "divergent branches"];
    let mut table = FigureTable::new("One block of 512 words", &columns);
    let kernels =
        [("first: `t % (2 * s)`", 0_u64), ("second: `i = 2 * s * t`", 1), ("third: `t < s`", 2)];
    let [first, second, third] = each(kernels, |(name, order)| {
        let trial = || Trial::new(&SHARED_REDUCTION, Mode::Volta).set("n", 512).set("order", order);
        let (whole, none) = (trial().run()?, trial().set("steps", 0).run()?);
        let added =
            |metric| Ok::<u64, AskError>(whole.count(metric)?.saturating_sub(none.count(metric)?));
        let (loads, passes) = (added("shared_load_requests")?, added("shared_load_transactions")?);
        let (each_load, divergent) =
            (passes as f64 / loads.max(1) as f64, added("divergent_branch")?);
        table.row(name, [loads.into(), passes.into(), each_load.into(), divergent.into()]);
        Ok((each_load, divergent))
    })?;
    let facts = &bench.facts;
    // Lanes 2 s words apart, s = 1, 2, .. 256: active warps, and lanes of a warp per bank.
    let ways = [(8, 2), (4, 4), (2, 8), (1, 16), (1, 16), (1, 8), (1, 4), (1, 2), (1, 1_u64)];
    let passes: u64 = ways.iter().map(|&(warps, ways)| warps * ways).sum();
    let warps: u64 = ways.iter().map(|w| w.0).sum();
    let meets = |passes: f64| if passes > 1.0 { "yes" } else { "no" };
    Ok(Evidence {
        lines: vec![
            held(
                "second kernel: bank conflicts",
                Rule::Exact,
                facts.word("conflicts of the second kernel")?,
                meets(second.0),
                None,
            ),
            held(
                "third kernel: bank conflicts",
                Rule::Exact,
                facts.word("conflicts of the third kernel")?,
                meets(third.0),
                None,
            ),
            Line {
                source: None,
                referee: Referee::Counted(per(passes, warps)),
                ..held("second kernel: passes a load", Rule::Exact, "".into(), second.0, None)
            },
            measured(
                "second kernel: divergent branches",
                Rule::Exact,
                second.1,
                facts.number("h200 divergent less")?.into(),
            ),
        ],
        tables: vec![table],
        why: vec![format!(
            "The second and the third kernel diverge alike ({} and {} branches, {} in the first); \
             the {warps} warp-wide additions of the second take {passes} passes over the banks for \
             each operand. A tool that reports only divergence rates the two equal.",
            second.1, third.1, first.1
        )],
        ..Evidence::default()
    })
}
