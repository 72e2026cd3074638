//! Everything that is tested across modules, in one binary so that it links once.

mod architecture;
mod ask;
mod calls;
mod cli;
mod compare;
mod corpus;
mod cuda;
mod docs;
mod explain;
mod figures;
mod forms;
mod generated;
mod instrument;
mod lowering;
mod nonsense;
mod nvcc;
mod observations;
mod pictures;
mod seeds;
mod support;
mod truth;
mod validation;
