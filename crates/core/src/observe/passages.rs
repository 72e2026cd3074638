//! Lane and warp counts for each edge of a control-flow graph.
//!
//! An edge is counted where it is left: at a branch by its outcome, at the end of any other block
//! with the lanes that continue. If a block has more successors than a branch has sides (a jump
//! table), lanes are counted on arrival. A call is a step like others: the edge after it is counted
//! at the call.

use crate::base::{BlockId, Cycle, LaneMask, MAX_LANES, Pc};
use crate::code::{Code, MicroOp};
use crate::event::{Event, Observer};
use crate::kernel::Op;

use super::Window;

/// Traffic along an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// Lanes that took the edge, summed over all times.
    pub lanes: u64,
    /// Number of times that a warp took it, with any number of lanes.
    pub warps: u64,
}

impl Passage {
    fn add(&mut self, lanes: LaneMask) {
        self.lanes += u64::from(lanes.count());
        self.warps += u64::from(!lanes.is_empty());
    }

    fn merge(&mut self, other: Passage) {
        self.lanes += other.lanes;
        self.warps += other.warps;
    }
}

/// Executions of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visits {
    /// Entries into the block.
    pub entered: Passage,
    /// Executions of the conditional branch at its end by a warp.
    pub branched: u64,
    /// Divergent executions of that branch.
    pub diverged: u64,
    /// Lanes that exited at an instruction before the last, summed over all times.
    pub exited: u64,
}

/// Role of a step for the edges.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Block that begins here.
    enters: Option<u32>,
    /// Block that goes on after this exit, for other lanes.
    exits: Option<u32>,
    leaves: Leave,
}

/// Edges taken after a step.
#[derive(Clone, Copy, Debug, Default)]
enum Leave {
    /// No edge: the block continues, or ends for good.
    #[default]
    None,
    /// Only edge; with `exits`, for the lanes that the step does not end.
    Only { edge: u32, exits: bool },
    /// One edge for the lanes that branch, one for the others.
    Sides { taken: u32, fall: u32 },
    /// One of many edges, known when lanes arrive.
    Many { block: u32 },
}

/// Edges of a kernel's control-flow graph.
#[derive(Clone, Debug)]
pub struct Edges {
    /// Source and target block of each edge, ordered by block and successor.
    pub ends: Vec<(u32, u32)>,
    places: Vec<Place>,
    blocks: usize,
}

impl Edges {
    /// Collects the edges between the basic blocks of a code.
    pub fn new(code: &Code) -> Edges {
        let kernel = code.kernel();
        let blocks = kernel.flow.blocks();
        let mut ends = Vec::new();
        let mut first = Vec::new();
        for block in blocks {
            first.push(ends.len() as u32);
            ends.extend(
                block.successors.iter().map(|to| (block.id.index() as u32, to.index() as u32)),
            );
        }
        let place = |step: &MicroOp| {
            let Some(source) = step.source else { return Place::default() };
            let Some(id) = kernel.flow.block_of(source as usize) else { return Place::default() };
            let block = &blocks[id.index()];
            let edge = first[id.index()];
            let leaves = match (block.last() == source as usize, block.successors.len()) {
                (false, _) | (_, 0) => Leave::None,
                (true, 1) => Leave::Only {
                    edge,
                    exits: matches!(step.inst.op, Op::Exit | Op::Trap | Op::Return),
                },
                (true, 2) if matches!(step.inst.op, Op::Branch { .. }) => {
                    Leave::Sides { taken: edge, fall: edge + 1 }
                }
                (true, _) => Leave::Many { block: id.index() as u32 },
            };
            let enters = (block.first == source).then_some(id.index() as u32);
            let inside = block.last() != source as usize && matches!(step.inst.op, Op::Exit);
            let exits = inside.then_some(id.index() as u32);
            Place { enters, exits, leaves }
        };
        Edges { places: code.ops().iter().map(place).collect(), ends, blocks: blocks.len() }
    }

    fn of(&self, from: u32, to: u32) -> Option<usize> {
        self.ends.iter().position(|&ends| ends == (from, to))
    }
}

/// Counter of the edges taken by the warps of a window, or by all warps.
#[derive(Clone, Debug)]
pub struct Passages<'a> {
    edges: &'a Edges,
    window: Option<Window>,
    /// Traffic by edge.
    counts: Vec<Passage>,
    /// Executions by block.
    visits: Vec<Visits>,
    /// By warp slot: the block with many successors that each lane has left without arriving yet;
    /// `None` for a warp that is not counted.
    slots: Vec<Option<[Option<u32>; MAX_LANES]>>,
    /// Warps of the window in the block, and those that have finished.
    expected: Option<usize>,
    through: usize,
}

impl<'a> Passages<'a> {
    /// Creates a counter for the warps, block and cycles of `window`, or for all.
    pub fn new(edges: &'a Edges, window: Option<Window>) -> Passages<'a> {
        Passages {
            edges,
            window,
            counts: vec![Passage::default(); edges.ends.len()],
            visits: vec![Visits::default(); edges.blocks],
            slots: Vec::new(),
            expected: None,
            through: 0,
        }
    }

    /// Returns the counts by edge and by block.
    pub fn into_counts(self) -> (Vec<Passage>, Vec<Visits>) {
        (self.counts, self.visits)
    }

    fn is_in(&self, cycle: Cycle) -> bool {
        self.window.as_ref().is_none_or(|window| window.cycles.contains(&cycle))
    }

    fn starts(&mut self, slot: usize, block: BlockId, index: u32) {
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, None);
        }
        let counts =
            self.window.as_ref().is_none_or(|w| w.block == block && w.warps.contains(&index));
        self.slots[slot] = counts.then_some([None; MAX_LANES]);
    }

    fn issue(&mut self, slot: usize, pc: Pc, active: LaneMask, executed: LaneMask) {
        let Some(Some(pending)) = self.slots.get_mut(slot) else { return };
        let place = self.edges.places.get(pc.index()).copied().unwrap_or_default();
        if let Some(block) = place.enters {
            self.visits[block as usize].entered.add(active);
            let mut rest =
                active.lanes().filter(|&lane| pending[lane as usize % MAX_LANES].is_some());
            let mut arrived: Vec<(u32, LaneMask)> = Vec::new();
            for lane in rest.by_ref() {
                let Some(from) = pending[lane as usize % MAX_LANES] else { continue };
                match arrived.iter_mut().find(|(block, _)| *block == from) {
                    Some((_, lanes)) => *lanes |= LaneMask::lane(lane),
                    None => arrived.push((from, LaneMask::lane(lane))),
                }
            }
            for (from, lanes) in arrived {
                if let Some(edge) = self.edges.of(from, block) {
                    self.counts[edge].add(lanes);
                }
                lanes.lanes().for_each(|lane| pending[lane as usize % MAX_LANES] = None);
            }
        }
        if let Some(block) = place.exits {
            self.visits[block as usize].exited += u64::from(executed.count());
        }
        match place.leaves {
            Leave::None | Leave::Sides { .. } => {}
            Leave::Only { edge, exits } => {
                self.counts[edge as usize].add(if exits { active - executed } else { active });
            }
            Leave::Many { block } => {
                active.lanes().for_each(|lane| pending[lane as usize % MAX_LANES] = Some(block))
            }
        }
    }
}

impl Observer for Passages<'_> {
    fn on(&mut self, event: Event) {
        match event {
            Event::BlockStart { block, warps, .. } => {
                if let Some(window) = self.window.as_ref().filter(|w| w.block == block) {
                    self.expected = Some(
                        window.warps.end.min(warps).saturating_sub(window.warps.start) as usize,
                    );
                }
            }
            Event::WarpStart { warp, block, index, .. } => self.starts(warp.index(), block, index),
            Event::WarpEnd { warp, .. } => {
                if let Some(slot) = self.slots.get_mut(warp.index()) {
                    self.through += usize::from(slot.take().is_some());
                }
            }
            Event::Issue { cycle, warp, pc, active, lanes, .. } => {
                if self.is_in(cycle) {
                    self.issue(warp.index(), pc, active, lanes);
                } else if self.window.as_ref().is_some_and(|window| cycle >= window.cycles.end)
                    && let Some(slot) = self.slots.get_mut(warp.index())
                {
                    self.through += usize::from(slot.take().is_some());
                }
            }
            Event::Branch { cycle, warp, pc, active, taken, .. } if self.is_in(cycle) => {
                let counted = self.slots.get(warp.index()).is_some_and(Option::is_some);
                let place = self.edges.places.get(pc.index()).copied().unwrap_or_default();
                if let (true, Leave::Sides { taken: to, fall }) = (counted, place.leaves) {
                    self.counts[to as usize].add(taken);
                    self.counts[fall as usize].add(active - taken);
                    let visits = &mut self.visits[self.edges.ends[to as usize].0 as usize];
                    visits.branched += 1;
                    visits.diverged += u64::from(!taken.is_empty() && taken != active);
                }
            }
            _ => {}
        }
    }

    fn is_done(&self) -> bool {
        self.expected.is_some_and(|warps| self.through >= warps)
    }

    fn merge(&mut self, other: Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(mine, theirs)| mine.merge(theirs));
        for (mine, theirs) in self.visits.iter_mut().zip(other.visits) {
            mine.entered.merge(theirs.entered);
            mine.branched += theirs.branched;
            mine.diverged += theirs.diverged;
            mine.exited += theirs.exited;
        }
        self.expected = self.expected.or(other.expected);
        self.through += other.through;
    }
}
