//! `simt-sim crosscheck --suite [DIR]` and `--unseen [DIR]`: programs of a folder, or the bundled
//! ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use simt_core::Program;
use simt_gpu::crosscheck::unseen::{Found, Texts};
use simt_gpu::crosscheck::{Sources, Verdict, suite as compare};
use simt_report::evidence::CodeKind;
use simt_report::{evidence_text, validation_text};

use super::super::args::{CrosscheckArgs, Format, SassChoice, UnseenCode, ValidationPage};
use super::super::{Exit, Failure, job, output, source};
use super::{exit, style, with_bench, with_subject};

/// Compares all programs; fails if something differs without a known reason.
pub(super) fn suite(
    args: &CrosscheckArgs,
    folder: Option<&Path>,
    sources: &Sources<'_>,
) -> Result<Exit, Failure> {
    if args.suite.page == Some(ValidationPage::Summary) {
        output::print(&compare::summary(sources.records)?)?;
        return Ok(Exit::Ok);
    }
    let programs = folder.map_or_else(|| Ok(compare::bundled()), below)?;
    let all = with_bench(args, |bench| {
        let mut suite = compare::Suite::new(bench.clone(), sources, &programs, args.suite.quick)?;
        for program in &programs {
            with_subject(args, program, None, None, |subject| suite.add(subject))?;
        }
        Ok(suite.finish()?)
    })?;
    output::print(&match args.suite.format {
        _ if args.suite.page == Some(ValidationPage::Programs) => all.appendix(),
        Format::Json => all.to_json().map_err(Failure::new)?,
        Format::Table => validation_text(&all, args.verbose, style()),
    })?;
    Ok(if all.is_explained() { Exit::Ok } else { Exit::ExpectationFailed })
}

/// Reads every program below a folder, sorted by path. Left out are assignments, whose submissions
/// `grade` judges, unseen kernels, and programs that leave clock stamps.
fn below(folder: &Path) -> Result<Vec<Program>, Failure> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(inside) = folders.pop() {
        if ["assignment.ron", "recorded.ron"].iter().any(|name| inside.join(name).exists()) {
            continue;
        }
        for path in entries(&inside, folder)? {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "ir" || e == "ptx")
                && !compare::leaves_stamps(&path)
            {
                found.insert(path);
            }
        }
    }
    if found.is_empty() {
        return Err(unreadable(folder, &"there is no program (.ir, .ptx) in it"));
    }
    found
        .iter()
        .map(|path| source::read_runnable(path, &SassChoice::default(), None, true))
        .collect()
}

/// Lists a folder; errors name `whole`.
fn entries(folder: &Path, whole: &Path) -> Result<Vec<PathBuf>, Failure> {
    let listed =
        std::fs::read_dir(folder).and_then(|entries| entries.map(|e| Ok(e?.path())).collect());
    listed.map_err(|e: std::io::Error| unreadable(whole, &e))
}

fn unreadable(folder: &Path, e: &dyn std::fmt::Display) -> Failure {
    Failure::new(format!("cannot read the folder `{}`: {e}", folder.display()))
}

/// Runs both halves of the unseen kernels; fails if an output is not the GPU's.
pub(super) fn unseen(args: &CrosscheckArgs, folder: Option<&Path>) -> Result<Exit, Failure> {
    let overrides = job::overrides(&args.launch)?;
    let texts = folder.map_or_else(|| Ok(Texts::bundled()), texts)?;
    let kinds: Vec<CodeKind> = match args.suite.code {
        Some(UnseenCode::Ptx) => vec![CodeKind::Ptx],
        Some(UnseenCode::Sass) => vec![CodeKind::Sass],
        None => CodeKind::ALL.into_iter().filter(|&code| texts.has(code)).collect(),
    };
    let compare = |&code: &CodeKind| {
        Ok((code, with_bench(args, |bench| Ok(texts.compare(bench, code, &overrides)?))?))
    };
    let all = kinds.iter().map(compare).collect::<Result<Vec<(CodeKind, Found)>, Failure>>()?;
    output::print(&match args.suite.format {
        _ if args.suite.evidence => {
            let files = all.iter().map(|(_, found)| found.evidence.to_text());
            files.collect::<Result<String, _>>().map_err(Failure::new)?
        }
        Format::Json => {
            let both: BTreeMap<_, _> = all
                .iter()
                .map(|(code, found)| (code.name(), (&found.evidence, &found.rows)))
                .collect();
            serde_json::to_string_pretty(&both).map_err(Failure::new)? + "\n"
        }
        Format::Table => {
            let tables = all.iter().map(|(_, f)| evidence_text(&f.evidence, args.verbose, style()));
            tables.collect::<Vec<_>>().join("\n")
        }
    })?;
    let mut worst = Verdict::Agrees;
    for (code, found) in &all {
        for line in found.wrong.lines() {
            output::error(&format!("{}: {line}\n", code.name()));
        }
        worst = worst.max(found.verdict);
    }
    Ok(exit(worst))
}

/// Reads the unseen kernels of a folder, and the GPU's outputs and counters.
fn texts(folder: &Path) -> Result<Texts, Failure> {
    let mut files = vec![folder.join("recorded.ron")];
    for half in ["mend", "held"].map(|half| folder.join(half)) {
        let listed = entries(&half, &half)?;
        let is_code = |path: &PathBuf| {
            CodeKind::ALL.iter().any(|code| path.extension().is_some_and(|e| e == code.name()))
        };
        files.extend(listed.into_iter().filter(is_code));
        files.extend(["profile.csv", "outputs.txt"].map(|name| half.join(name)));
    }
    let mut texts = BTreeMap::new();
    for file in files {
        let below = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
        texts.insert(below, source::read_text(&file)?.1);
    }
    Ok(Texts { folder: folder.display().to_string(), texts })
}
