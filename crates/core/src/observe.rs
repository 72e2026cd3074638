//! Observers that fold events into values.
//!
//! [`Counts`] runs with every simulation: all metrics of the report derive from it, and [`Totals`]
//! is its result, public integers only. [`Trace`] keeps the single issues of chosen blocks.
//! [`Timeline`] keeps a window of a block's warps with the state of every lane, for pictures.
//! [`Slots`] keeps the issue slots of their schedulers. [`Passages`] counts lanes along
//! control-flow edges. [`Output`] keeps the texts of `printf`. Nothing here derives a ratio or
//! knows a metric's name; the report does that.

mod counts;
mod output;
mod passages;
mod slots;
mod timeline;
mod totals;
mod trace;

pub use crate::event::{AccessWay, MemoryKind, SlotLoss, Stall};
pub use counts::Counts;
pub use output::{Output, PrintedText};
pub use passages::{Edges, Passage, Passages, Visits};
pub use slots::{SlotSpan, SlotUse, Slots};
pub use timeline::{Control, Issue, LaneState, Part, Places, Span, Strip, Timeline, Window};
pub use totals::{OpcodeTotals, StepTotals, Totals, TrafficTotals};
pub use trace::{Trace, TraceEntry};

#[doc(hidden)]
pub mod samples;
