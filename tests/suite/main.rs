//! Everything that is tested across modules, in one binary so that it links once.

mod architecture;
mod ask;
mod cli;
mod compare;
mod corpus;
mod cuda;
mod docs;
mod figures;
mod forms;
mod generated;
mod nonsense;
mod pictures;
mod nvcc;
mod support;
