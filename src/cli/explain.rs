//! `simt-sim explain`: the meaning of a name, and its figures in a run.

use std::path::Path;

use simt_core::{Job, Program};
use simt_report::explain::{self, Page, Subject};
use simt_report::simulate;

use super::args::{ExplainArgs, SassChoice};
use super::search::{self, Fields, MOST_HITS};
use super::{Exit, Failure, job, output, source};
use simt_threads::Threads;

/// Lists the names, explains one, or searches the pages.
pub(crate) fn explain(args: &ExplainArgs) -> Result<Exit, Failure> {
    let width = output::width();
    if args.name.is_empty() {
        output::print(&explain::listing(width))?;
        return Ok(Exit::Ok);
    }
    let typed = args.name.join(" ");
    let mut pages = found(&typed);
    if pages.len() > 1 {
        if args.run.is_some() {
            return Err(ambiguous(&typed, &pages));
        }
        output::print(&hits(&typed, &pages, width))?;
        return Ok(Exit::Ok);
    }
    let page = pages.pop().ok_or_else(|| unknown(&typed))?;
    let mut text = explain::page_text(&page, width);
    if let Some(file) = &args.run {
        text.push('\n');
        text += &in_file(&page, file, args, width)?;
    }
    output::print(&text)?;
    Ok(Exit::Ok)
}

/// Words that name a subject, for the metrics with these prefixes.
const SUBJECTS: [(&str, &str); 8] = [
    ("gld_", "coalesced uncoalesced memory access"),
    ("gst_", "coalesced uncoalesced memory access"),
    ("shared_", "bank conflicts"),
    ("branch_efficiency", "divergence"),
    ("divergent_branch", "divergence"),
    ("warp_execution_efficiency", "divergence"),
    ("average_active_lanes", "divergence"),
    ("achieved_occupancy", "latency hiding"),
];

/// Returns the page of this name, or all pages with the typed words, best first.
fn found(typed: &str) -> Vec<Page> {
    if let Some(page) = explain::find(typed) {
        return vec![page];
    }
    let fields = |page: Page| {
        let elsewhere = page.elsewhere.iter().map(|other| other.name.as_str());
        let name: Vec<&str> = [page.name].into_iter().chain(page.aliases.iter().copied()).collect();
        let text: Vec<&str> = [page.meaning.as_str(), &page.formula, page.remedy]
            .into_iter()
            .chain(elsewhere)
            .collect();
        let subject = SUBJECTS
            .iter()
            .find(|(prefix, _)| page.name.starts_with(prefix))
            .map_or("", |&(_, words)| words);
        let title = format!("{} {subject}", first_sentence(&page.meaning));
        let fields = Fields { name: name.join(" "), title, text: text.join("\n") };
        (page, fields)
    };
    search::best(typed, explain::pages().into_iter().map(fields))
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text.trim_end_matches('.'), |(first, _)| first)
}

/// Lists the hits of a search, one line each.
fn hits(typed: &str, pages: &[Page], width: usize) -> String {
    let mut text = search::heading(pages.len(), "page", typed);
    for page in pages.iter().take(MOST_HITS) {
        let room = width.saturating_sub(36);
        let about = first_sentence(&page.meaning);
        let cut: String = about.chars().take(room.saturating_sub(2)).collect();
        let about = if about.chars().count() > room { cut + ".." } else { about.to_owned() };
        text += &format!("  {:<32}  {about}\n", page.name);
    }
    text + "\nOpen a page with `simt-sim explain NAME`.\n"
}

fn ambiguous(typed: &str, pages: &[Page]) -> Failure {
    let names: Vec<&str> = pages.iter().take(MOST_HITS).map(|page| page.name).collect();
    let count = pages.len();
    Failure::new(format!(
        "`{typed}` matches {count} pages\nhelp: choose one of {}",
        names.join(", ")
    ))
}

fn unknown(typed: &str) -> Failure {
    let hint = match explain::nearest(typed).as_slice() {
        [] => "list all names with `simt-sim explain --list`".to_owned(),
        [near] => format!("did you mean `{near}`? List all names with `simt-sim explain --list`"),
        near => format!(
            "did you mean one of {}? List all names with `simt-sim explain --list`",
            near.join(", ")
        ),
    };
    Failure::new(format!("no page matches `{typed}`\nhelp: {hint}"))
}

/// Returns the findings of a kind in a file, or the figures of its run.
fn in_file(page: &Page, file: &Path, args: &ExplainArgs, width: usize) -> Result<String, Failure> {
    match page.subject {
        Subject::Code(_) => findings(page.name, &source::read(file, &SassChoice::default())?, args),
        Subject::Lane => {
            Ok(format!("`simt-sim timeline {}` draws the lanes of a run.\n", file.display()))
        }
        _ => {
            let machine = job::machine(&args.machine)?;
            let program =
                source::read_runnable(file, &SassChoice::default(), args.kernel.as_deref(), true)?;
            let kernel = program.kernel(args.kernel.as_deref()).map_err(Failure::new)?;
            machine.check(kernel)?;
            let launch = job::launch(&program, kernel, &args.launch)?;
            let options = machine.options(&args.limit);
            let job = Job::new(&program, kernel, launch, &machine.spec, options);
            let done = simulate::simulate(job, &Threads::new(0)).map_err(Failure::new)?;
            Ok(explain::in_run(page, &done.run, width))
        }
    }
}

/// Returns the findings with this code in a file, those of its directives included.
fn findings(code: &str, program: &Program, args: &ExplainArgs) -> Result<String, Failure> {
    let mut found = program.findings.clone();
    if program.is_sound()
        && let Ok(kernel) = program.kernel(args.kernel.as_deref())
    {
        found.extend(job::resolve(program, kernel, &args.launch)?.err().unwrap_or_default());
    }
    found.retain(|finding| finding.code == code);
    Ok(match found.len() {
        0 => format!("{} has no finding with this code.\n", program.name),
        _ => source::excerpts(program, &found, output::color_out()),
    })
}
