//! Everything that is tested across modules, in one binary so that it links once.

mod architecture;
mod cli;
mod corpus;
mod cuda;
mod docs;
mod figures;
mod generated;
mod nonsense;
mod observations;
mod support;
mod truth;
