//! Everything that is tested across modules, in one binary so that it links once.

mod architecture;
mod corpus;
mod docs;
mod generated;
mod nonsense;
mod support;
