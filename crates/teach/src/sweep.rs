//! Sweeps: points, records of their runs, and result files.
//!
//! A [`Point`] gives each swept name a value; [`product`] combines several [`Axis`]es, and
//! [`Shard`] distributes the points to the jobs of an array. [`run`] works on points in parallel
//! and passes on each [`Record`] at once. Records are lines of JSON (tag [`Record::SCHEMA`]), so an
//! interrupted sweep can resume ([`crate::results`]) and result files of several machines can be
//! merged. Nothing here simulates or touches a file; the caller does.

mod chart;
mod record;
mod table;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use chart::{Chart, NoChart};
pub use record::{Record, Results, fingerprint};
pub use table::Columns;

/// Maximum number of points of a sweep.
pub const MAX_POINTS: usize = 1_000_000;

/// Value of a name at a point. Numbers sort before texts, by size.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Setting {
    /// A number.
    Number(i64),
    /// Any other value: a mode, a machine, an expression.
    Text(String),
}

impl Setting {
    /// Parses a number if possible, else keeps the text.
    pub fn parse(text: &str) -> Setting {
        let text = text.trim();
        text.parse().map_or_else(|_| Setting::Text(text.to_owned()), Setting::Number)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Number(n) => n.fmt(f),
            Setting::Text(text) => text.fmt(f),
        }
    }
}

/// One run of a sweep: each swept name with its value.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Point(pub BTreeMap<String, Setting>);

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> =
            self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&texts.join(" "))
    }
}

/// A name and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Name.
    pub name: String,
    /// Distinct values.
    pub values: Vec<Setting>,
}

/// Step from one value of a range to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Added to the value.
    Add(i64),
    /// Factor of the value.
    Times(i64),
}

impl FromStr for Step {
    type Err = SweepError;

    /// Parses a step: `32` adds, `x2` multiplies.
    fn from_str(text: &str) -> Result<Step, SweepError> {
        let step = match text.strip_prefix('x') {
            Some(factor) => factor.parse().ok().filter(|&n| n > 1).map(Step::Times),
            None => text.parse().ok().filter(|&n| n > 0).map(Step::Add),
        };
        step.ok_or_else(|| SweepError::Step(text.to_owned()))
    }
}

/// Errors of a sweep's arguments.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SweepError {
    /// Invalid step.
    #[error(
        "invalid step `{0}`: expected a positive number to add, such as 32, or x and a factor of \
         at least 2, such as x2"
    )]
    Step(String),
    /// Range from a larger to a smaller value.
    #[error("empty range: {name} goes from {from} to {to}")]
    Empty {
        /// Name.
        name: String,
        /// First value.
        from: i64,
        /// Last value.
        to: i64,
    },
    /// Multiplication that cannot increase the value.
    #[error(
        "{name} starts at {from}, which a factor cannot increase; start at 1 or more, or use a \
         number to add"
    )]
    NoFactor {
        /// Name.
        name: String,
        /// First value.
        from: i64,
    },
    /// Axis without values.
    #[error("{0} has no value")]
    NoValue(String),
    /// Repeated name.
    #[error("{0} is swept twice")]
    Twice(String),
    /// Too many points.
    #[error("the sweep has more than {MAX_POINTS} points")]
    TooMany,
    /// Invalid shard.
    #[error("invalid shard `{0}`: expected I/N with I from 1 to N, such as 3/8")]
    Shard(String),
}

impl Axis {
    /// Creates the values from `from` to `to`; `to` is included if a step reaches it.
    ///
    /// # Errors
    /// If there is no value, or too many.
    pub fn scan(name: &str, from: i64, to: i64, step: Step) -> Result<Axis, SweepError> {
        let name = name.to_owned();
        if from > to {
            return Err(SweepError::Empty { name, from, to });
        }
        if matches!(step, Step::Times(_)) && from < 1 {
            return Err(SweepError::NoFactor { name, from });
        }
        let next = |&value: &i64| match step {
            Step::Add(n) => value.checked_add(n),
            Step::Times(n) => value.checked_mul(n),
        };
        let values = std::iter::successors(Some(from), next).take_while(|&value| value <= to);
        let values: Vec<Setting> = values.take(MAX_POINTS + 1).map(Setting::Number).collect();
        if values.len() > MAX_POINTS {
            return Err(SweepError::TooMany);
        }
        Ok(Axis { name, values })
    }

    /// Parses a comma-separated list and drops repeated values. A comma within parentheses belongs
    /// to its value.
    ///
    /// # Errors
    /// If the list is empty.
    pub fn list(name: &str, list: &str) -> Result<Axis, SweepError> {
        let mut depth = 0_i32;
        let between = |c: char| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == ',' && depth == 0
        };
        let mut values: Vec<Setting> = Vec::new();
        for text in list.split(between).filter(|text| !text.trim().is_empty()) {
            let value = Setting::parse(text);
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if values.is_empty() {
            return Err(SweepError::NoValue(name.to_owned()));
        }
        Ok(Axis { name: name.to_owned(), values })
    }
}

/// Combines the values of all axes; the last axis varies fastest.
///
/// # Errors
/// If a name is repeated, or there are more than [`MAX_POINTS`] points.
pub fn product(axes: &[Axis]) -> Result<Vec<Point>, SweepError> {
    for (i, axis) in axes.iter().enumerate() {
        if axes[..i].iter().any(|before| before.name == axis.name) {
            return Err(SweepError::Twice(axis.name.clone()));
        }
    }
    let count = axes.iter().try_fold(1_usize, |n, axis| n.checked_mul(axis.values.len()));
    if count.is_none_or(|n| n > MAX_POINTS) {
        return Err(SweepError::TooMany);
    }
    let mut points = vec![Point::default()];
    for axis in axes {
        let with = |point: &Point, value: &Setting| {
            let mut point = point.clone();
            point.0.insert(axis.name.clone(), value.clone());
            point
        };
        points = points
            .iter()
            .flat_map(|point| axis.values.iter().map(move |value| with(point, value)))
            .collect();
    }
    Ok(points)
}

/// One of several jobs that share a sweep; they take the points in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    of: usize,
}

impl Shard {
    /// Job `index` of `of`, from 1.
    ///
    /// # Errors
    /// If there is no such job.
    pub fn new(index: usize, of: usize) -> Result<Shard, SweepError> {
        match 1 <= index && index <= of {
            true => Ok(Shard { index: index - 1, of }),
            false => Err(SweepError::Shard(format!("{index}/{of}"))),
        }
    }

    /// The job that runs the `i`-th point of a sweep with `of` jobs, from 1.
    pub const fn of_point(i: usize, of: usize) -> usize {
        i % of + 1
    }

    /// Returns true if this job runs the `i`-th point.
    pub const fn takes(self, i: usize) -> bool {
        i % self.of == self.index
    }
}

impl FromStr for Shard {
    type Err = SweepError;

    fn from_str(text: &str) -> Result<Shard, SweepError> {
        let number = |text: &str| text.trim().parse::<usize>().ok();
        let parts = text.split_once('/').and_then(|(i, n)| number(i).zip(number(n)));
        match parts {
            Some((i, of)) => Shard::new(i, of),
            None => Err(SweepError::Shard(text.to_owned())),
        }
    }
}

/// Works on all points with `jobs` threads (0: one per host thread). Calls `keep` with each result
/// as soon as it exists, one at a time; returns the results in the order of the points.
///
/// # Errors
/// The first error of `keep`; points not started by then are skipped.
pub fn run<P: Sync, R: Send, E: Send>(
    jobs: usize,
    points: &[P],
    work: impl Fn(&P) -> R + Sync,
    keep: impl FnMut(&R) -> Result<(), E> + Send,
) -> Result<Vec<R>, E> {
    let keep = Mutex::new(keep);
    let one = |point: &P| {
        let record = work(point);
        keep.lock().unwrap_or_else(PoisonError::into_inner)(&record)?;
        Ok(record)
    };
    match rayon::ThreadPoolBuilder::new().num_threads(jobs).build() {
        Ok(pool) if jobs != 1 => {
            pool.install(|| points.par_iter().with_max_len(1).map(one).collect())
        }
        // One job, or a host that cannot start threads.
        _ => points.iter().map(one).collect(),
    }
}

#[cfg(test)]
mod tests;
