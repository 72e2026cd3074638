//! An assignment: `assignment.ron`, checked against the programs beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;

use super::rules::{Answer, Band, Criterion, Rule, Than};
use simt_core::Program;
use simt_core::checks::Checks;
use simt_core::diag::closest;
use simt_core::launch::Overrides;
use simt_core::machine::{Options, Timing};
use simt_core::spec::{Machine, Mode};
use simt_report::evidence::Fingerprint;
use simt_report::metrics;
use simt_report::simulate;

/// Contents of `assignment.ron`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Title.
    pub title: String,
    /// Name of the submitted kernel. A submission with only one kernel may use another name.
    pub kernel: String,
    /// File with the task.
    #[serde(default = "statement")]
    pub statement: String,
    /// File that students start from.
    pub starter: String,
    /// File with the solution. Its directives are the assignment's.
    pub reference: String,
    /// File that [`Than::Baseline`] refers to [default: the starter].
    #[serde(default)]
    pub baseline: Option<String>,
    /// Machines: preset, optional mode (`:pre-volta`, `:volta`), optional warp size (`:32`).
    #[serde(default = "machines")]
    pub machines: Vec<String>,
    /// Inputs and launches.
    pub cases: Vec<Case>,
    /// Constants that a submission may choose, with the allowed values.
    #[serde(default)]
    pub choices: BTreeMap<String, Vec<i64>>,
    /// Criteria.
    pub criteria: Vec<Criterion>,
    /// Leaderboard entries.
    #[serde(default)]
    pub leaderboard: Vec<LeaderboardEntry>,
    /// Limits of a submission.
    #[serde(default)]
    pub limits: Limits,
}

fn statement() -> String {
    "statement.md".to_owned()
}

fn machines() -> Vec<String> {
    [Mode::PreVolta, Mode::Volta].map(|mode| mode.default_machine().to_owned()).to_vec()
}

/// One launch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Name, visible to students.
    pub name: String,
    /// Changed constants of the reference's directives.
    #[serde(default)]
    pub set: BTreeMap<String, i64>,
    /// Grid, if not set by the directives.
    #[serde(default)]
    pub grid: Option<[u32; 3]>,
    /// Block, if not set by the directives.
    #[serde(default)]
    pub block: Option<[u32; 3]>,
    /// Machines it runs on [default: all].
    #[serde(default)]
    pub machines: Vec<String>,
    /// True if students learn only its name and whether it passes.
    #[serde(default)]
    pub hidden: bool,
}

/// A leaderboard figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaderboardEntry {
    /// Column name.
    pub name: String,
    /// Metric.
    pub metric: String,
    /// Case.
    pub case: String,
    /// Machine.
    pub machine: String,
    /// True if more is better.
    #[serde(default)]
    pub more_is_better: bool,
}

/// Limits of a submission.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Cycles of one run.
    pub cycles: u64,
    /// Cycles of one run as a multiple of the reference's (at least 1,000).
    pub times_reference: u64,
    /// Seconds for all runs: the last resort, because it depends on the host.
    pub seconds: u64,
    /// Host memory in MiB.
    pub memory_mib: u64,
    /// KiB of each thread's stack: ends infinite recursion.
    pub stack_kib: u32,
    /// KiB of a submitted file.
    pub file_kib: u64,
    /// KiB of text that a submission can add to a report.
    pub output_kib: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            cycles: 20_000_000,
            times_reference: 20,
            seconds: 60,
            memory_mib: 512,
            stack_kib: 4,
            file_kib: 512,
            output_kib: 64,
        }
    }
}

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
    /// Program that [`Than::Baseline`] refers to.
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

    fn check(&self, faults: &mut Vec<String>) {
        let spec = &self.spec;
        let mut fault = |ok: bool, text: &dyn Fn() -> String| {
            if !ok {
                faults.push(text());
            }
        };
        fault(!spec.cases.is_empty(), &|| "`cases`: expected at least one case".into());
        fault(!spec.criteria.is_empty(), &|| "`criteria`: expected at least one criterion".into());
        fault(self.reference.kernel(Some(&spec.kernel)).is_ok(), &|| {
            format!("`kernel`: `{}` has no kernel `{}`", spec.reference, spec.kernel)
        });
        for (what, names) in [
            ("case", spec.cases.iter().map(|c| c.name.as_str()).collect::<Vec<_>>()),
            ("criterion", spec.criteria.iter().map(|c| c.id.as_str()).collect()),
            ("machine", spec.machines.iter().map(String::as_str).collect()),
        ] {
            let mut seen = BTreeSet::new();
            for name in names {
                fault(seen.insert(name), &|| format!("two {what} entries are named `{name}`"));
            }
        }
        for name in spec.choices.keys().chain(spec.cases.iter().flat_map(|case| case.set.keys())) {
            let known = self.reference.plan.constants().any(|constant| constant == name);
            fault(known, &|| {
                format!(
                    "`{}` has no constant `{name}`; add `//! const {name} = ..`",
                    spec.reference
                )
            });
        }
        let known_case = |name: &String| spec.cases.iter().any(|case| case.name == *name);
        let known_machine = |name: &String| spec.machines.contains(name);
        for case in &spec.cases {
            for machine in &case.machines {
                fault(known_machine(machine), &|| {
                    format!("case `{}`: `{machine}` is not in `machines`", case.name)
                });
            }
        }
        for criterion in &spec.criteria {
            let id = &criterion.id;
            let (cases, machines) = criterion.rule.runs().unwrap_or_default();
            for case in cases.iter().filter(|case| !known_case(case)) {
                fault(false, &|| format!("criterion `{id}`: unknown case `{case}`"));
            }
            for machine in machines.iter().filter(|machine| !known_machine(machine)) {
                fault(false, &|| format!("criterion `{id}`: `{machine}` is not in `machines`"));
            }
            fault(criterion.points.is_finite() && criterion.points >= 0.0, &|| {
                format!("criterion `{id}`: expected 0 or more points, found {}", criterion.points)
            });
            let bounded = |band: &Band| {
                (band.at_most.is_some() || band.at_least.is_some())
                    && (0.0..=criterion.points).contains(&band.points)
            };
            fault(criterion.bands.iter().all(bounded), &|| {
                format!(
                    "criterion `{id}`: expected a band with `at_most` or `at_least` and 0 to {} \
                     points",
                    criterion.points
                )
            });
            let full = |bands: &[Band]| {
                bands.iter().any(|band| (band.points - criterion.points).abs() < 1e-9)
            };
            let bands = if criterion.bands.is_empty() {
                criterion.rule.usual_bands(criterion.points)
            } else {
                criterion.bands.clone()
            };
            fault(full(&bands), &|| {
                format!(
                    "criterion `{id}`: no band gives the full {} points; add one with `points: \
                     {0}`",
                    criterion.points
                )
            });
            match &criterion.rule {
                Rule::Checks { kinds, .. } => {
                    if let Err(unknown) = Checks::named(kinds.iter().map(String::as_str)) {
                        let all = Checks::NAMES.join(", ");
                        fault(false, &|| {
                            format!(
                                "criterion `{id}`: unknown check `{unknown}`; expected one of {all}"
                            )
                        });
                    }
                }
                Rule::Metric { name, .. } => {
                    fault(metrics::find(name).is_some(), &|| unknown_metric(id, name))
                }
                Rule::Question { answer: Answer::Metric { name, of, case, machine }, .. } => {
                    fault(metrics::find(name).is_some(), &|| unknown_metric(id, name));
                    fault(*of != Than::Absolute, &|| {
                        format!("criterion `{id}`: expected `of: Reference` or `of: Baseline`")
                    });
                    fault(known_case(case) && known_machine(machine), &|| {
                        format!("criterion `{id}`: no case `{case}` on `{machine}`")
                    });
                }
                _ => {}
            }
        }
        for entry in &spec.leaderboard {
            fault(metrics::find(&entry.metric).is_some(), &|| {
                unknown_metric(&entry.name, &entry.metric)
            });
            fault(known_case(&entry.case) && known_machine(&entry.machine), &|| {
                format!(
                    "leaderboard `{}`: no case `{}` on `{}`",
                    entry.name, entry.case, entry.machine
                )
            });
            let hidden = spec.cases.iter().any(|case| case.hidden && case.name == entry.case);
            fault(!hidden, &|| {
                format!(
                    "leaderboard `{}`: `{}` is hidden, but a leaderboard is public",
                    entry.name, entry.case
                )
            });
        }
    }
}

fn unknown_metric(of: &str, name: &str) -> String {
    format!("`{of}`: {}", metrics::unknown(name))
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
