//! Values to text, pictures and files.
//!
//! [`Run`] is the value behind every output: the text report ([`text`]), JSON ([`Run::to_json`])
//! and selected metrics ([`selected`]). [`timeline::Recording`] is its counterpart for a window of
//! a run, issue by issue. Names, units and formulas of metrics exist only in the table of
//! [`metrics`].

pub mod annotate;
mod answer;
pub mod cfg;
pub mod compare;
pub mod evidence;
pub mod explain;
pub mod export;
pub mod html;
pub mod launches;
pub mod metrics;
pub mod numbers;
pub mod plot;
pub mod profile;
mod run;
pub mod simulate;
mod text;
pub mod timeline;
pub mod validation;

pub use text::wrap;
pub use timeline::quoted;

pub use answer::{
    Answer, Cell, FigureRow, FigureTable, Hardware, Picture, Question, Questions, Source,
};
pub use run::{
    Branch, CacheHits, CheckFinding, CheckPlace, Checked, Ending, ExpectationResult,
    InstructionRow, LaneGroup, LaunchFacts, MachineFacts, MachinePlace, MemoryRow, Named, Origin,
    Output, OutputCall, Predicated, ReplacedBranch, Run, RunInput, Series, Slots, StepInfo,
    StepWait, Verdict, predication,
};
pub use text::{
    Style, UnknownMetric, answer as answer_text, comparison, ending, evidence as evidence_text,
    known, profiled, questions as questions_text, selected, table, table_of as figures_text, text,
    validation as validation_text,
};
