//! Debugger of a run: forward and back by issue, by cycle or to an event, with writable registers.
//!
//! [`Debugger`] moves a [`Session`](crate::machine::Session) along its history. A position in the
//! history is a number of steps. A step is one issue of one warp with the free steps after it, so
//! the machine has settled at each position. Time may pass between two steps without an issue:
//! [`Debugger::clock`] is the displayed cycle.
//!
//! *Back* replays from a checkpoint (`history`); the simulator is deterministic, so a replay equals
//! the run. A changed register is part of the history ([`Edit`]): a replay repeats the change at
//! the same step, and a change in the past leads to another future.
//!
//! A [`View`] shows a position as plain values that do not borrow the machine. `goal` defines stop
//! conditions, `notes` folds the events of the steps, `value` formats and parses register values,
//! `pattern` shows bank and sector use of an access, `survey` ranks branches by divergence.

mod debugger;
mod goal;
mod history;
mod notes;
mod pattern;
mod survey;
mod value;
mod view;

pub use debugger::{Debugger, Edit, open};
pub use goal::{Focus, Goal, Reached};
pub use notes::{Happening, Remark, StepNote};
pub use pattern::{Pattern, SectorRow};
pub use survey::BranchCount;
pub use value::{BadValue, Base, format_value, parse_value};
pub use view::{RegisterView, SchedulerView, View, WarpBrief, WarpView};

#[cfg(test)]
mod tests;
