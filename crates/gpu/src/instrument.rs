//! Counting divergence with the program's own instructions: a pass that adds counters to a kernel, so that a real GPU and the
//! simulator count the same events in the same way, and the simulator's own view of those events.
//!
//! [`instrument`] puts *probes* into a text. A *branch probe* stands before each conditional branch (`@p bra`, `brx.idx`, and
//! the guarded `ret` of a device function): the lanes that are there (`activemask`) and those that will branch (a ballot over
//! exactly these) give executions, divergent executions, lanes and lanes taken. A *block probe* stands at the head of each basic
//! block: executions and lanes. The lowest lane there does 64-bit reductions into a hidden variable that the host reads by name,
//! [`Instrumented::counters`]. With a [`Log`], the first warps of the grid also write down every probe that they pass, in order:
//! from that follows which side of a branch ran first (`sequence::first_sides`).
//!
//! Nothing else changes: no edge is split, no register or predicate of the program is touched, no added result decides a branch,
//! so a loop that did not spin does not spin now. Blocks that are nothing but an exit get no probe, because compilers make
//! predicated exits of the branches to them; neither does a guarded `brx.idx`.
//!
//! A compiler is free to treat the longer text otherwise (an `if` that was predicated becomes a branch, a block is
//! duplicated). Therefore three figures are held against each other: what the simulator counts of the kernel as it is
//! ([`witness`]), what the simulator's run of the instrumented text counts ([`measure`]), and what a GPU's run of it does
//! (`gpu::run_reading`).
//!
//! Sources: PTX ISA, "activemask", "vote.sync", "red"; the leader idiom is the warp-aggregated atomic of the CUDA programming guide.

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
