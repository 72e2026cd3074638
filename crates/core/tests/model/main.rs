//! Tests of the core across its modules, in one binary so that it links once. Their data lies in
//! `tests/` of the repository.

mod ahead;
mod asynchronous;
mod bulk;
mod copies;
mod corpus;
mod forms;
#[expect(dead_code, reason = "the tests of the command line generate programs as well")]
mod generator;
mod laws;
mod limits;
mod linking;
mod mbarrier;
mod nvcc;
mod support;
mod system;
mod tensor;
mod tiles;
mod truth;
mod untimed;
mod variables;
mod vectors;
mod video;
mod warpgroup;

/// Goes to the root of the repository, from where the tests name files.
fn enter_repository() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::env::set_current_dir(root).expect("the root of the repository");
}
