//! Shares of the warp states in the time of a kernel's warps, against a GPU's.
//!
//! A share is the time of all warps in a state, in percent of their time in all states. Errors are
//! in points: 12 % instead of 20 % is off by 8. States that a profile does not have are left out on
//! both sides; states that only the GPU has count as 0 % in the simulator.

use serde::{Deserialize, Serialize};

use super::UnseenRow;
use crate::profile::Launched;
use crate::run::Run;

/// Points that a share may be off in a kernel of unseen code.
pub const POINTS: f64 = 8.0;

/// Name of the row of [`StateErrors`] that takes all states together.
pub const ALL_STATES: &str = "all";

/// Share of one state in the time of a kernel's warps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Name of the state: `long_scoreboard`.
    pub state: String,
    /// Percent in the simulator.
    pub simulated: f64,
    /// Percent on the GPU.
    pub measured: f64,
}

/// Errors of one state's share on both sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateErrors {
    /// Name of the state, or [`ALL_STATES`].
    pub state: String,
    /// Errors on the set *mend*.
    pub mend: Option<Points>,
    /// Errors on the set *held*.
    pub held: Option<Points>,
}

/// Errors of shares, in points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Points {
    /// Compared kernels.
    pub kernels: usize,
    /// Kernels whose share is at most [`POINTS`] off; of all states, those where every share is.
    pub within: usize,
    /// Mean absolute error.
    pub mean: f64,
    /// Mean error with its sign; 0 for all states.
    pub bias: f64,
}

impl Share {
    /// Returns the shares of a launch's states in a run of it. Empty if the profile has no states.
    pub fn of(launched: &Launched, run: &Run) -> Vec<Share> {
        let counter = |name: &str| {
            let state = name.strip_prefix("smsp__average_warps_issue_stalled_")?;
            Some(state.strip_suffix("_per_issue_active.ratio")?.to_owned())
        };
        let measured: Vec<(String, f64)> = launched
            .measurements
            .iter()
            .filter_map(|m| Some((counter(&m.name)?, m.value)))
            .collect();
        let issued = run.metrics.get(&"inst_executed").map_or(0.0, |value| value.as_f64());
        let mut simulated: Vec<(String, f64)> = run
            .stalls
            .0
            .iter()
            .map(|(name, cycles)| ((*name).to_owned(), *cycles as f64))
            .collect();
        simulated.push(("selected".to_owned(), issued));
        // A state of the simulator that a profiler would have counted, but this one did not.
        let recorded = |state: &str| measured.iter().any(|(name, _)| name == state);
        simulated.retain(|(state, _)| recorded(state) || state == "blocked");
        let sum = |all: &[(String, f64)]| all.iter().map(|(_, time)| time).sum::<f64>();
        let (ours, theirs) = (sum(&simulated), sum(&measured));
        if ours <= 0.0 || theirs <= 0.0 {
            return Vec::new();
        }
        let share = |all: &[(String, f64)], state: &str, sum: f64| {
            all.iter().find(|(name, _)| name == state).map_or(0.0, |(_, time)| 100.0 * time / sum)
        };
        let mut states: Vec<String> =
            [&simulated, &measured].into_iter().flatten().map(|(state, _)| state.clone()).collect();
        states.sort_unstable();
        states.dedup();
        let shares = states.into_iter().map(|state| Share {
            simulated: share(&simulated, &state, ours),
            measured: share(&measured, &state, theirs),
            state,
        });
        shares.filter(|share| share.simulated > 0.0 || share.measured > 0.0).collect()
    }

    /// Returns the error in points.
    pub fn error(&self) -> f64 {
        self.simulated - self.measured
    }
}

/// Computes the errors of all states, and of each: a state that a kernel lacks is 0 % there.
pub(super) fn errors(rows: &[UnseenRow]) -> Vec<StateErrors> {
    let mut states: Vec<&str> =
        rows.iter().flat_map(|row| &row.states).map(|share| share.state.as_str()).collect();
    states.sort_unstable();
    states.dedup();
    if states.is_empty() {
        return Vec::new();
    }
    let number = states.len();
    let of = |state: Option<&str>, mend: bool| {
        let kernels: Vec<&UnseenRow> =
            rows.iter().filter(|row| row.mend == mend && !row.states.is_empty()).collect();
        let away = |row: &UnseenRow| -> Vec<f64> {
            let chosen = |share: &&Share| state.is_none_or(|state| share.state == state);
            row.states.iter().filter(chosen).map(Share::error).collect()
        };
        let all: Vec<Vec<f64>> = kernels.iter().map(|row| away(row)).collect();
        let figures = (kernels.len() * if state.is_some() { 1 } else { number }) as f64;
        let mean = |value: fn(f64) -> f64| {
            hundredths(all.iter().flatten().map(|error| value(*error)).sum::<f64>() / figures)
        };
        (!kernels.is_empty()).then(|| Points {
            kernels: kernels.len(),
            within: all.iter().filter(|kernel| kernel.iter().all(|e| e.abs() <= POINTS)).count(),
            mean: mean(f64::abs),
            bias: if state.is_some() { mean(|error| error) } else { 0.0 },
        })
    };
    let row = |state: Option<&str>| StateErrors {
        state: state.unwrap_or(ALL_STATES).to_owned(),
        mend: of(state, true),
        held: of(state, false),
    };
    std::iter::once(row(None)).chain(states.iter().map(|state| row(Some(state)))).collect()
}

/// Rounds to a hundredth of a point.
fn hundredths(points: f64) -> f64 {
    (points * 100.0).round() / 100.0 + 0.0
}

/// Columns of a state's row.
pub const STATES: [&str; 7] =
    ["state", "mend: mean error", "mean", "within 8", "held: mean error", "mean", "within 8"];

/// Returns the row of a state: for each set, the mean absolute error, the mean error with its sign
/// and the kernels within [`POINTS`].
pub fn state_row(errors: &StateErrors) -> Vec<String> {
    let all = errors.state == ALL_STATES;
    let half = |half: Option<&Points>| match half {
        None => vec![String::new(); 3],
        Some(points) => vec![
            format!("{:.1}", points.mean),
            if all { String::new() } else { format!("{:+.1}", points.bias + 0.0) },
            format!("{} of {}", points.within, points.kernels),
        ],
    };
    let name = if all { "all states".to_owned() } else { format!("`{}`", errors.state) };
    [vec![name], half(errors.mend.as_ref()), half(errors.held.as_ref())].concat()
}
