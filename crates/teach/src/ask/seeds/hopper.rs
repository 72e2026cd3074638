//! Claims of a study of divergence from Pascal to Blackwell, on machine code for Hopper.

use super::bench::Bench;
use super::sums::per;
use super::verdict::Rule;
use super::warps::{ask, figure};
use super::{Claim, Evidence, held, measured};
use crate::ask::compiled::{PATHS, lanes_of_chain, measured_paths, run_paths};
use crate::ask::lab::{Trial, each};
use crate::ask::observed::Launched;
use crate::ask::programs::*;
use crate::ask::{AskError, reconvergence};
use simt_core::spec::MachineSpec;
use simt_report::{Cell, FigureTable};

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        title: "k paths cost k times one path: T(k) = s k",
        says: "The time of a warp grows in proportion to the number of paths its lanes take; many \
               paths have no extra cost, so there is no term beyond the linear one.",
        sources: &["paths", "H200 divergence"],
        runs: "one warp; 64 dependent additions per path as PTX on `h200` and `fermi`, and 64 \
               multiply-adds as machine code for sm_90 on `h200`, which the H200 ran as well",
        repeat: &["simt-sim ask k-paths"],
        find: linear,
    },
    Claim {
        title: "k paths use 32 / k of the lanes",
        says: "Warp execution efficiency falls as exactly 32 / k.",
        sources: &["paths", "H200 divergence"],
        runs: "machine code of k paths for sm_90 on `h200`, one warp: mean active lanes on the \
               multiply-adds of the paths",
        repeat: &["simt-sim run programs/sass/paths_k.sass --set k=8 --annotate"],
        find: efficiency,
    },
    Claim {
        title: "The cost of paths does not depend on occupancy",
        says: "Divergent paths cost the same with few and with many warps on an SM: other warps do \
               not hide it, and do not add to it.",
        sources: &["paths", "H200 divergence"],
        runs: "machine code of k paths for sm_90 on one SM of `h200`, one block of 1 to 32 warps; \
               cycles of the block",
        repeat: &["simt-sim run programs/sass/paths_k.sass --set k=32 --set block=1024"],
        find: occupancy,
    },
    Claim {
        title: "Predication removes the cost of divergence",
        says: "Without a branch the paths do not run one after the other: a predicated kernel takes \
               the same time whatever its lanes choose.",
        sources: &["paths", "H200 divergence"],
        runs: "machine code for sm_90 on `h200`, one warp: 32 tests that branch to a path or select \
               its constants, with 1 and with 32 different paths; an if/else with arms that ptxas \
               predicated (6 operations) and branched around (7)",
        repeat: &["simt-sim ask predication", "simt-sim ask k-paths"],
        find: predication,
    },
    Claim {
        title: "Reconvergence beyond the immediate post-dominator is rare",
        says: "Deferred reconvergence falls from 29 cases on Ampere to 2 on Blackwell: since Hopper, \
               compilers let lanes meet at the first point that all of them reach.",
        sources: &["paths"],
        runs: "no run: every BSSY in the bundled listings for sm_90, its BSYNC against the immediate \
               post-dominator of its branch",
        repeat: &["simt-sim cfg programs/sass/even_odd_aligned.sass"],
        find: deferred,
    },
];

/// Restricts the machine to one SM; the kernels use no other.
fn one_sm(spec: &mut MachineSpec) {
    spec.sms = 1;
}

/// Growth of the time from 16 to 32 paths, relative to that from 8 to 16.
fn growth(eight: f64, sixteen: f64, all: f64) -> Cell {
    per(all - sixteen, sixteen - eight)
}

fn linear(bench: &Bench) -> Result<Evidence, AskError> {
    let facts = &bench.facts;
    let answer = ask("k-paths")?;
    let written = |column: &str| -> Result<Cell, AskError> {
        let [eight, sixteen, all] = each(["8", "16", "32"], |k| figure(&answer, k, column))?;
        Ok(growth(eight, sixteen, all))
    };
    let ours = |k| Ok::<_, AskError>(run_paths("paths", k)?.clocked()? as f64);
    let theirs = |k| Ok::<_, AskError>(measured_paths("paths", k).cycles()? as f64);
    let [one, eight, sixteen, all] = each([1, 8, 16, 32], ours)?;
    let [one_h200, eight_h200, sixteen_h200, all_h200] = each([1, 8, 16, 32], theirs)?;
    let old = each(["h200 paths 8", "h200 paths 16", "h200 paths 32"], |name| facts.number(name))?;
    let is_linear = || Ok::<Cell, AskError>(facts.number("paths are linear")?.into());
    let what = "(T(32) - T(16)) / (T(16) - T(8)), 2 for a straight line";
    Ok(Evidence {
        lines: vec![
            held(
                &format!("machine code, `h200`: {what}"),
                Rule::Within(1.0),
                is_linear()?,
                growth(eight, sixteen, all),
                Some(growth(eight_h200, sixteen_h200, all_h200)),
            ),
            held(
                &format!("PTX, `h200`: {what}"),
                Rule::Within(1.0),
                is_linear()?,
                written("volta (h200) cycles")?,
                Some(growth(old[0], old[1], old[2])),
            ),
            held(
                &format!("PTX, `fermi`: {what}"),
                Rule::Within(1.0),
                is_linear()?,
                written("pre-volta (fermi) cycles")?,
                None,
            ),
            held(
                "machine code: T(32) / (32 T(1))",
                Rule::Within(10.0),
                facts.number("paths have no other cost")?.into(),
                per(all, 32.0 * one),
                Some(per(all_h200, 32.0 * one_h200)),
            ),
            measured(
                "machine code: s, cycles of a further path",
                Rule::Within(5.0),
                (all - sixteen) / 16.0,
                ((all_h200 - sixteen_h200) / 16.0).into(),
            ),
        ],
        tables: answer.tables,
        why: vec![
            "The paths run one after the other, each with its own active lanes. What a warp pays \
             once makes 32 paths a little cheaper than 32 times one."
                .to_owned(),
        ],
        ..Evidence::default()
    })
}

fn efficiency(bench: &Bench) -> Result<Evidence, AskError> {
    let lanes = bench.facts.number("lanes of a warp")?;
    let mut lines = Vec::new();
    for k in [2, 4, 8, 16, 32] {
        lines.push(held(
            &format!("{k} paths: active lanes in a path"),
            Rule::Exact,
            (lanes / k as f64).into(),
            lanes_of_chain(&run_paths("paths", k)?),
            Some(measured_paths("paths", k).lanes_of_chain()?.into()),
        ));
    }
    let mut table = FigureTable::new(
        "Counters of the whole kernel, tests between the paths included",
        &["paths", "inst", "inst, H200", "divergent", "divergent, H200", "active lanes"],
    );
    for k in PATHS {
        let done = run_paths("paths", k)?;
        let counted = measured_paths("paths", k).counted()?;
        table.row(
            k.to_string(),
            [
                done.count("inst_executed")?.into(),
                counted.instructions.into(),
                done.count("divergent_branch")?.into(),
                counted.divergent.into(),
                done.real("average_active_lanes")?.into(),
            ],
        );
    }
    Ok(Evidence {
        lines,
        tables: vec![table],
        why: vec![
            "It holds inside the paths. The metric of the whole kernel is an average that includes \
             what all lanes do together, so it is higher."
                .to_owned(),
        ],
        ..Evidence::default()
    })
}

fn occupancy(bench: &Bench) -> Result<Evidence, AskError> {
    let twice = bench.facts.number("twice the paths, twice the time")?;
    let mut table = FigureTable::new(
        "Cycles of a block, ours and the H200's",
        &["warps on the SM", "k = 1", "H200", "k = 16", "H200, 16", "k = 32", "H200, 32"],
    );
    let mut lines = Vec::new();
    for warps in [1, 4, 8, 16, 32] {
        let ours = |k| {
            let trial = Trial::of_machine_code(&SASS_PATHS).on("h200", one_sm);
            trial.kernel("paths").set("k", k).set("block", 32 * warps).run()?.clocked()
        };
        let theirs = |k| {
            let constants = [("k", k), ("cases", k), ("trips", 4)];
            Launched::of("paths", 1, 32 * warps, &constants).cycles()
        };
        let [one, half, all] = each([1, 16, 32], ours)?;
        let [one_h200, half_h200, all_h200] = each([1, 16, 32], theirs)?;
        table.row(
            warps.to_string(),
            [one, one_h200, half, half_h200, all, all_h200].map(Cell::from),
        );
        lines.push(held(
            &format!("T(32) / T(16), warps on the SM: {warps}"),
            Rule::Within(2.0),
            twice.into(),
            per(all, half),
            Some(per(all_h200, half_h200)),
        ));
    }
    Ok(Evidence {
        lines,
        tables: vec![table],
        why: vec![
            "Up to one warp a scheduler nothing changes. Beyond two, the warps share the \
             multiply-add units, and every path takes longer, but all of them by the same factor."
                .to_owned(),
        ],
        ..Evidence::default()
    })
}

fn predication(bench: &Bench) -> Result<Evidence, AskError> {
    let free = || Ok::<Cell, AskError>(bench.facts.number("predication costs nothing")?.into());
    let of_paths = |kernel: &'static str| {
        let [ours, theirs] = [1, 32].map(|k| {
            let trial = Trial::of_machine_code(&SASS_PATHS).kernel(kernel);
            let ours = trial.set("k", k).set("cases", 32).run().and_then(|done| done.clocked());
            let theirs = Launched::warp(kernel, &[("k", k), ("cases", 32), ("trips", 4)]).cycles();
            (ours, theirs)
        });
        Ok::<_, AskError>((per(theirs.0?, ours.0?), per(theirs.1?, ours.1?)))
    };
    let of_arms = |kernel: &'static str| {
        let [agree, split] = [32, 16].map(|low| {
            let trial = Trial::of_machine_code(&SASS_ARMS).kernel(kernel);
            let ours = trial.set("low", low).run().and_then(|done| done.clocked());
            (ours, Launched::warp(kernel, &[("low", low), ("rounds", 16)]).cycles())
        });
        Ok::<_, AskError>((per(split.0?, agree.0?), per(split.1?, agree.1?)))
    };
    let (selected, branched) = (of_paths("pathsSelected")?, of_paths("paths")?);
    let (short, long) = (of_arms("arms6")?, of_arms("arms7")?);
    Ok(Evidence {
        lines: vec![
            held(
                "constants selected: 32 paths / 1 path",
                Rule::Exact,
                free()?,
                selected.0,
                Some(selected.1),
            ),
            held("arms predicated: split / agree", Rule::Exact, free()?, short.0, Some(short.1)),
            measured("with branches: 32 paths / 1 path", Rule::Within(5.0), branched.0, branched.1),
            measured("arms branched around: split / agree", Rule::Within(5.0), long.0, long.1),
        ],
        why: vec![
            "It removes the order of the paths, not their work: a predicated warp issues both arms \
             always, so this pays for short arms, and for paths that differ in their operands only."
                .to_owned(),
        ],
        ..Evidence::default()
    })
}

fn deferred(bench: &Bench) -> Result<Evidence, AskError> {
    let found = reconvergence::of_listings()?;
    let mut table =
        FigureTable::new("BSSY in the bundled listings", &["BSYNC", "number", "kernels"]);
    let rows = [
        ("at the immediate post-dominator", found.at_once),
        ("beyond it", found.deferred),
        ("before it; the other lanes leave by BREAK", found.early),
        ("not examined: no branch, a call before it, or in a function", found.other),
    ];
    for (name, (number, kernels)) in rows {
        table.row(name, [number.into(), kernels.into()]);
    }
    let all = found.at_once.0 + found.deferred.0;
    Ok(Evidence {
        lines: vec![held(
            "BSYNC at the immediate post-dominator, % of those at or beyond it",
            Rule::Within(5.0),
            bench.facts.number("reconverge at once %")?.into(),
            100.0 * found.at_once.0 as f64 / all.max(1) as f64,
            None,
        )],
        tables: vec![table],
        why: vec![
            "What looks deferred in a listing is mostly a loop: the BSSY before it waits for its \
             end, and an inner BSSY joins the lanes of each trip. Where lanes leave by BREAK, as \
             after a break out of two loops, the others meet before that post-dominator."
                .to_owned(),
        ],
        ..Evidence::default()
    })
}
