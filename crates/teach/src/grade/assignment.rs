//! An assignment: `assignment.ron`, checked against the programs beside it.

mod check;
mod spec;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::rules::{Answer, Rule};
use simt_core::Program;
use simt_core::checks::Checks;
use simt_core::diag::closest;
use simt_core::launch::Overrides;
use simt_core::machine::{Options, Timing};
use simt_core::spec::{Machine, Mode};
use simt_report::evidence::Fingerprint;
use simt_report::metrics;
use simt_report::simulate;
pub use spec::{Case, LeaderboardEntry, Limits, Spec};

/// A machine in a mode.
#[derive(Clone, Debug)]
pub struct Site {
    /// Name in the assignment.
    pub name: String,
    /// Machine.
    pub spec: Machine,
    /// Mode.
    pub mode: Mode,
}

impl Site {
    /// Options of its runs.
    pub fn options(&self, max_cycles: u64) -> Options {
        Options {
            mode: self.mode,
            order: self.spec.side_order(),
            yields: true,
            max_cycles,
            max_issues: u64::MAX,
            timing: Timing::Cycles,
        }
    }
}

/// A checked assignment.
pub struct Assignment {
    /// Contents of its file.
    pub spec: Spec,
    /// Machines.
    pub sites: Vec<Site>,
    /// Case and site of each run, by index, in order of execution.
    pub runs: Vec<(usize, usize)>,
    /// The solution, whose directives decide.
    pub reference: Program,
    /// Program that [`Than::Baseline`](super::Than::Baseline) refers to.
    pub baseline: Program,
}

/// Errors of an assignment, a line each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults(pub Vec<String>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl Assignment {
    /// Reads an assignment. `text` is `assignment.ron`; `read` returns the text of a file beside
    /// it.
    ///
    /// # Errors
    /// If the assignment has errors; each message says how to fix it.
    pub fn load(
        text: &str,
        read: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Assignment, Faults> {
        let options = ron::Options::default()
            .with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
        let spec: Spec = options
            .from_str(text)
            .map_err(|e| Faults(vec![format!("assignment.ron:{}: {}", e.span, e.code)]))?;
        let mut faults = Vec::new();
        let mut program = |what: &str, file: &str| match read(file) {
            Err(why) => {
                faults.push(format!("`{what}`: {why}"));
                Program::parse(file, "")
            }
            Ok(text) => {
                let program = Program::parse(file, &text);
                if let Some(first) = program.findings.iter().find(|_| !program.is_sound()) {
                    faults.push(format!("`{what}`: {file}: {}", first.message));
                }
                program
            }
        };
        let starter = program("starter", &spec.starter);
        let reference = program("reference", &spec.reference);
        let baseline = spec.baseline.as_deref().map_or(starter, |file| program("baseline", file));
        let sites = spec
            .machines
            .iter()
            .filter_map(|name| site(name).map_err(|e| faults.push(e)).ok())
            .collect();
        let mut assignment = Assignment { spec, sites, runs: Vec::new(), reference, baseline };
        if !faults.is_empty() {
            return Err(Faults(faults));
        }
        assignment.check(&mut faults);
        if !faults.is_empty() {
            return Err(Faults(faults));
        }
        for (case, one) in assignment.spec.cases.iter().enumerate() {
            let here = |site: &Site| one.machines.is_empty() || one.machines.contains(&site.name);
            let sites = assignment.sites.iter().enumerate().filter(|(_, site)| here(site));
            assignment.runs.extend(sites.map(|(site, _)| (case, site)));
        }
        Ok(assignment)
    }

    /// Changes of a case to the directives, with a submission's choices.
    pub(super) fn overrides(&self, case: &Case, choices: &BTreeMap<String, i64>) -> Overrides {
        let set = choices
            .iter()
            .chain(&case.set)
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect();
        Overrides { set, grid: case.grid, block: case.block, ..Overrides::default() }
    }

    /// Runs that a rule refers to, as indices into [`Assignment::runs`].
    pub fn runs_of(&self, rule: &Rule) -> Vec<usize> {
        let Some((cases, machines)) = rule.runs() else { return Vec::new() };
        let named =
            |names: &[String], name: &str| names.is_empty() || names.iter().any(|n| n == name);
        let wanted = |&(case, site): &(usize, usize)| {
            let case = self.spec.cases.get(case).is_some_and(|case| named(cases, &case.name));
            case && self.sites.get(site).is_some_and(|site| named(machines, &site.name))
        };
        self.runs.iter().enumerate().filter(|(_, run)| wanted(run)).map(|(i, _)| i).collect()
    }

    /// Index of the run of a case on a machine.
    pub fn run_at(&self, case: &str, machine: &str) -> Option<usize> {
        let is = |&(c, s): &(usize, usize)| {
            self.spec.cases.get(c).is_some_and(|c| c.name == case)
                && self.sites.get(s).is_some_and(|s| s.name == machine)
        };
        self.runs.iter().position(is)
    }

    /// Name of a run: `case on machine`.
    pub fn run_name(&self, run: usize) -> String {
        let (case, site) = self.runs.get(run).copied().unwrap_or_default();
        let case = self.spec.cases.get(case).map_or("?", |c| c.name.as_str());
        format!("{case} on {}", self.sites.get(site).map_or("?", |s| s.name.as_str()))
    }

    /// Machine of a run.
    pub fn machine(&self, run: usize) -> &str {
        let site = self.runs.get(run).and_then(|&(_, site)| self.sites.get(site));
        site.map_or("?", |site| site.spec.name.as_str())
    }

    /// Fingerprint that evidence must match to apply to a run.
    pub fn fingerprint(&self, run: usize) -> Option<Fingerprint> {
        let site = self.runs.get(run).and_then(|&(_, site)| self.sites.get(site))?;
        let options = site.options(u64::MAX);
        Some(simulate::fingerprint_of(&self.reference, &site.spec, &options))
    }

    /// Returns true if students learn only the name of a run and whether it passes.
    pub fn is_hidden(&self, run: usize) -> bool {
        let case = self.runs.get(run).and_then(|&(case, _)| self.spec.cases.get(case));
        case.is_some_and(|case| case.hidden)
    }

    /// Checks that a run needs; `None` if no criterion uses any.
    pub fn checks_of(&self, run: usize) -> Option<Checks> {
        let mut names: Vec<&str> = Vec::new();
        for criterion in &self.spec.criteria {
            if let Rule::Checks { kinds, .. } = &criterion.rule
                && self.runs_of(&criterion.rule).contains(&run)
            {
                names.extend(kinds.iter().map(String::as_str));
                names.extend(kinds.is_empty().then_some("all"));
            }
        }
        (!names.is_empty()).then(|| Checks::named(names).ok()).flatten()
    }

    /// Returns true if a criterion or a leaderboard reads a metric of time from a run.
    pub fn needs_time(&self, run: usize) -> bool {
        let timed = |name: &str| metrics::find(name).is_some_and(metrics::Metric::needs_time);
        let here = |case: &str, machine: &str| self.run_at(case, machine) == Some(run);
        let criteria = self.spec.criteria.iter().any(|criterion| match &criterion.rule {
            rule @ Rule::Metric { name, .. } => timed(name) && self.runs_of(rule).contains(&run),
            Rule::Question { answer: Answer::Metric { name, case, machine, .. }, .. } => {
                timed(name) && here(case, machine)
            }
            _ => false,
        });
        let mut boards = self.spec.leaderboard.iter();
        criteria || boards.any(|entry| timed(&entry.metric) && here(&entry.case, &entry.machine))
    }

    /// Metrics used by criteria and leaderboards, by first name.
    pub fn metrics(&self) -> BTreeSet<&'static str> {
        let of_criteria = self.spec.criteria.iter().filter_map(|criterion| match &criterion.rule {
            Rule::Metric { name, .. }
            | Rule::Question { answer: Answer::Metric { name, .. }, .. } => Some(name),
            _ => None,
        });
        let boards = self.spec.leaderboard.iter().map(|entry| &entry.metric);
        of_criteria
            .chain(boards)
            .filter_map(|name| metrics::find(name))
            .map(|metric| metric.name)
            .collect()
    }
}

fn site(name: &str) -> Result<Site, String> {
    let mut words = name.split(':');
    let preset = words.next().unwrap_or_default();
    let Some(mut spec) = Machine::preset(preset) else {
        let near =
            closest(preset, Machine::presets()).map(|near| format!("; did you mean `{near}`?"));
        return Err(format!("`machines`: unknown machine `{preset}`{}", near.unwrap_or_default()));
    };
    let mut mode = spec.modes.first().copied();
    for word in words {
        match (spec.modes.iter().copied().find(|mode| mode.name() == word), word.parse()) {
            (Some(named), _) => mode = Some(named),
            (None, Ok(lanes)) if (2..=32).contains(&lanes) => {
                spec = spec
                    .changed(|spec| spec.warp_size = lanes)
                    .map_err(|_| format!("`machines`: `{name}`"))?;
            }
            (None, Ok(_)) => return Err(format!("`machines`: `{name}`: a warp has 2 to 32 lanes")),
            (None, Err(_)) => {
                return Err(format!("`machines`: `{name}`: {preset} has no mode `{word}`"));
            }
        }
    }
    let mode = mode.ok_or_else(|| format!("`machines`: `{name}`: {preset} has no mode"))?;
    Ok(Site { name: name.to_owned(), spec, mode })
}
