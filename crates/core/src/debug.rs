//! A run under the debugger: forward and back by issue, by cycle or to an event, with registers that can be changed.
//!
//! [`Debugger`] moves a [`Session`](crate::machine::Session) along its history. A place in the history is a number of steps;
//! a step is one issue of one warp (with the free steps behind it), so everything that the machine does in between is
//! settled. Between two steps time may pass in which nothing is issued: [`Debugger::clock`] is the cycle that is shown.
//!
//! *Back* is forward from a checkpoint (`history`): the simulator is deterministic, so a replay is the run. A changed
//! register is part of the history ([`Edit`]): a replay changes it again at the same step, and a change in the past makes
//! another future.
//!
//! What is shown of a place is a [`View`]: plain values, no borrow of the machine. `goal` says where one can run to, `notes`
//! folds the events of the steps, `value` writes and reads what registers hold, `pattern` what an access did to banks and
//! sectors, `survey` which branches diverge most.

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
