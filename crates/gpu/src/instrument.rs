//! Probes that count divergence: a pass adds counters to a kernel, so that a real GPU and the
//! simulator count the same events in the same way. The simulator can also count these events
//! without probes.
//!
//! [`instrument`] inserts *probes* into a text. A *branch probe* precedes each conditional branch
//! (`@p bra`, `brx.idx`, and the guarded `ret` of a device function): the active lanes
//! (`activemask`) and the lanes that will branch (a ballot over exactly these) give executions,
//! divergent executions, lanes and taken lanes. A *block probe* is at the head of each basic block
//! and counts executions and lanes. The lowest active lane does 64-bit reductions into a hidden
//! variable that the host reads by name, [`Instrumented::counters`]. With a [`Log`], the first
//! warps of the grid also record every probe they pass, in order; this shows which side of a branch
//! ran first (`sequence::first_sides`).
//!
//! The pass changes nothing else: it splits no edge and touches no register or predicate of the
//! program, and no added result decides a branch, so it adds no spin loop. Blocks that consist of
//! an exit get no probe, because compilers turn the branches to them into predicated exits; neither
//! does a guarded `brx.idx`.
//!
//! A compiler may translate the longer text differently (a predicated `if` becomes a branch, a
//! block is duplicated). Therefore three figures are compared: the simulator's count of the
//! original kernel ([`witness`]), its count of the instrumented text ([`measure`]), and a GPU's
//! count of that text (`gpu::run_reading`).
//!
//! Sources: PTX ISA, "activemask", "vote.sync", "red"; the leader idiom is the warp-aggregated
//! atomic of the CUDA programming guide.

mod code;
mod counts;
mod pass;
mod sequence;
mod simulate;
mod witness;

pub use counts::{BlockCount, BranchCount, Divergence};
pub use pass::{Instrumented, Log, Probe, ProbeKind, instrument};
pub use sequence::{Passed, Sequence};
pub use simulate::{Counted, Failed, measure, witness};
