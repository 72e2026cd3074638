//! Many runs of one program: the points of a sweep, what came of each, and how that is kept.
//!
//! A [`Point`] gives each swept name a value; [`product`] makes all points of several [`Axis`]es and [`Shard`] deals them out to the
//! jobs of an array. [`run`] works on points side by side and hands over each [`Record`] as soon as there is one. Records are lines
//! of JSON (tag [`Record::SCHEMA`]), so that a sweep that was stopped goes on where it was ([`Results`]) and those of several
//! machines are put together. Nothing here simulates or touches a file: the caller does.

mod chart;
mod record;
mod results;
mod table;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use chart::{Chart, NoChart};
pub use record::{Record, fingerprint};
pub use results::{BadLine, Conflict, Results, Tail};
pub use table::Columns;

/// The most points of a sweep.
pub const MAX_POINTS: usize = 1_000_000;

/// A value that a name has at a point. Numbers come before texts, and are in order of size.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Setting {
    /// A number.
    Number(i64),
    /// Anything else: a mode, a machine, an expression.
    Text(String),
}

impl Setting {
    /// A number where the text is one.
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
        let texts: Vec<String> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&texts.join(" "))
    }
}

/// A name and the values it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The name.
    pub name: String,
    /// Its values, each once.
    pub values: Vec<Setting>,
}

/// From one value of a scan to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Add this.
    Add(i64),
    /// Multiply by this.
    Times(i64),
}

impl FromStr for Step {
    type Err = SweepError;

    /// `32` adds, `x2` multiplies.
    fn from_str(text: &str) -> Result<Step, SweepError> {
        let step = match text.strip_prefix('x') {
            Some(factor) => factor.parse().ok().filter(|&n| n > 1).map(Step::Times),
            None => text.parse().ok().filter(|&n| n > 0).map(Step::Add),
        };
        step.ok_or_else(|| SweepError::Step(text.to_owned()))
    }
}

/// What cannot be swept.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SweepError {
    /// A step that leads nowhere.
    #[error("`{0}` is no step: write a positive number to add, as in 32, or x and a factor of at least 2, as in x2")]
    Step(String),
    /// From more to less.
    #[error("{name} goes from {from} to {to}: the range is empty")]
    Empty {
        /// The name.
        name: String,
        /// The first value.
        from: i64,
        /// The last value.
        to: i64,
    },
    /// Zero times something is zero.
    #[error("{name} starts at {from}, which no factor makes larger; start at 1 or more, or add a number instead")]
    NoFactor {
        /// The name.
        name: String,
        /// The first value.
        from: i64,
    },
    /// No value at all.
    #[error("{0} has no value")]
    NoValue(String),
    /// A name twice.
    #[error("{0} is swept twice")]
    Twice(String),
    /// More runs than anybody waits for.
    #[error("the sweep has more than {MAX_POINTS} points")]
    TooMany,
    /// No such part.
    #[error("`{0}` is no shard: write I/N with I from 1 to N, as in 3/8")]
    Shard(String),
}

impl Axis {
    /// The values from `from` to `to`, both included where the step meets them.
    ///
    /// # Errors
    /// When there is no value, or too many.
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

    /// The values of a list with commas; one that comes again is left out. A comma within parentheses belongs to the value.
    ///
    /// # Errors
    /// When there is none.
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

/// Every combination of the axes' values; the last axis varies fastest.
///
/// # Errors
/// When a name is there twice, or there are more than [`MAX_POINTS`].
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
        points = points.iter().flat_map(|point| axis.values.iter().map(move |value| with(point, value))).collect();
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
    /// Whether this job runs the `i`-th point.
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
            Some((i, of)) if 1 <= i && i <= of => Ok(Shard { index: i - 1, of }),
            _ => Err(SweepError::Shard(text.to_owned())),
        }
    }
}

/// Works on all points, `jobs` at a time (0: as many as the host has threads for). `keep` is given each record as soon as there is
/// one, one at a time; the answer has them in the order of the points.
///
/// # Errors
/// The first error of `keep`; what has not been begun by then is left.
pub fn run<P: Sync, E: Send>(
    jobs: usize,
    points: &[P],
    work: impl Fn(&P) -> Record + Sync,
    keep: impl FnMut(&Record) -> Result<(), E> + Send,
) -> Result<Vec<Record>, E> {
    let keep = Mutex::new(keep);
    let one = |point: &P| {
        let record = work(point);
        keep.lock().unwrap_or_else(PoisonError::into_inner)(&record)?;
        Ok(record)
    };
    match rayon::ThreadPoolBuilder::new().num_threads(jobs).build() {
        Ok(pool) if jobs != 1 => pool.install(|| points.par_iter().with_max_len(1).map(one).collect()),
        // One job, or a host that gives us no threads.
        _ => points.iter().map(one).collect(),
    }
}

#[cfg(test)]
mod tests;
