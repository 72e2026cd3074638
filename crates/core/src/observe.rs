//! Folding events into values.
//!
//! [`Counts`] is the fold that every run carries: it answers for all metrics of the report, and [`Totals`] is what it
//! leaves behind, public integers only. [`Trace`] keeps the issues of chosen blocks one by one; [`Timeline`] keeps a window of a
//! block's warps with the state of every lane, for pictures; [`Slots`] keeps what their schedulers did meanwhile;
//! [`Passages`] counts the ways that lanes took between basic blocks. Nothing here derives a ratio or knows a metric's
//! name; that is the report's business.

mod counts;
mod passages;
mod slots;
mod timeline;
mod totals;
mod trace;

pub use crate::event::{AccessWay, MemoryKind, SlotLoss, Stall};
pub use counts::Counts;
pub use passages::{Edges, Passage, Passages, Visits};
pub use slots::{SlotSpan, SlotUse, Slots};
pub use timeline::{Control, Issue, LaneState, Part, Places, Span, Strip, Timeline, Window};
pub use totals::{StepTotals, Totals, TrafficTotals};
pub use trace::{Trace, TraceEntry};

#[doc(hidden)]
pub mod samples;
