//! Execution of one block: a thread runs until it must wait, then the next one.

use super::{OracleError, Settings};
use crate::base::{BlockId, LaneMask, MAX_LANES, Pc};
use crate::exec::{
    self, CopyArrival, Effect, Env, Fault, GlobalMemory, LocalMemory, Members, RegisterFile,
    SharedMemory, WarpPlace, arrive_by_copies, barrier_votes, block_shared_bytes,
    finish_barrier_reduction, finish_call, guarded, land_copies, members, shuffle_reads,
};
use crate::kernel::{Inst, Kernel, Op};
use crate::launch::Launch;

/// Maximum instructions per turn of a thread.
/// Only programs that spin on another thread's write need this limit; it is large, so that other
/// programs run one thread after another.
const TURN: u64 = 1 << 14;

/// State of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Ready to execute its next instruction.
    Ready,
    /// Waiting at a collective for the lanes in its mask.
    Gathering,
    /// Waiting at a block barrier.
    AtBarrier { id: u8, count: Option<u32> },
    /// Ended.
    Exited,
}

/// One warp: each thread is a lane of the register file.
struct Warp {
    registers: RegisterFile,
    local: LocalMemory,
    /// Linear index in the block of lane 0.
    first_thread: u32,
    pcs: [u32; MAX_LANES],
    /// Active calls by thread.
    calls: Vec<Vec<u32>>,
    states: [State; MAX_LANES],
    /// By barrier: the lanes that have arrived in its current phase.
    come: [LaneMask; 16],
}

impl Warp {
    fn lanes_where(&self, holds: impl Fn(State) -> bool) -> LaneMask {
        let bits =
            self.states.iter().enumerate().filter(|&(_, &s)| holds(s)).map(|(lane, _)| 1 << lane);
        LaneMask(bits.fold(0, |mask, bit| mask | bit))
    }

    /// Returns exited lanes that a counted barrier still counts.
    /// Counts are in whole warps of `size` lanes, and the live lanes have all arrived.
    fn ended_with(&self, id: u8, size: u32) -> LaneMask {
        let come = self.come[usize::from(id & 15)];
        let all_here = !come.is_empty() && self.lanes_where(|s| s != State::Exited).is_subset(come);
        if all_here { LaneMask::first_n(size) - come } else { LaneMask::EMPTY }
    }
}

/// State of a barrier: arrived threads and their votes.
#[derive(Clone, Copy, Debug, Default)]
struct Arrivals {
    threads: u32,
    votes: u32,
    count: Option<u32>,
}

/// A run in progress.
pub(super) struct Run<'a> {
    kernel: &'a Kernel,
    launch: &'a Launch,
    settings: &'a Settings,
    memory: &'a GlobalMemory,
    shared: SharedMemory,
    barriers: [Arrivals; 16],
    addresses: [u64; MAX_LANES],
    system: exec::SystemLog,
    /// Instructions executed so far.
    pub(super) steps: u64,
    /// Traces as in [`super::OracleOutcome::traces`].
    pub(super) traces: Vec<Vec<u32>>,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        kernel: &'a Kernel,
        launch: &'a Launch,
        settings: &'a Settings,
        memory: &'a GlobalMemory,
    ) -> Self {
        let shared = block_shared_bytes(kernel.shared_bytes, launch.dynamic_shared);
        Run {
            kernel,
            launch,
            settings,
            memory,
            shared: SharedMemory::new(kernel.granted_shared(shared))
                .after(kernel.reserved_shared()),
            barriers: [Arrivals::default(); 16],
            addresses: [0; MAX_LANES],
            system: exec::SystemLog::default(),
            steps: 0,
            traces: vec![Vec::new(); settings.traced.len()],
        }
    }

    /// Runs a block to its end.
    pub(super) fn block(&mut self, block: BlockId, ctaid: [u32; 3]) -> Result<(), OracleError> {
        self.shared.clear();
        self.barriers = [Arrivals::default(); 16];
        let mut warps = self.warps(ctaid);
        loop {
            let mut ran = false;
            for warp in &mut warps {
                for lane in 0..MAX_LANES as u32 {
                    ran |= self.turn(block, warp, lane)?;
                }
                ran |= self.gather(block, warp)?;
            }
            let opened = !ran && self.open_barriers(&mut warps);
            if ran || opened {
                continue;
            }
            // No thread can proceed: either all have exited, or the first that has not is stuck.
            let waiting = warps
                .iter()
                .find_map(|w| w.lanes_where(|s| s != State::Exited).lowest().map(|l| (w, l)));
            return match waiting {
                None => Ok(()),
                Some((warp, lane)) => Err(OracleError::Stuck {
                    block,
                    thread: warp.first_thread + lane,
                    pc: Pc(warp.pcs[lane as usize]),
                }),
            };
        }
    }

    fn warps(&self, ctaid: [u32; 3]) -> Vec<Warp> {
        let ntid = self.launch.block;
        let threads = ntid.iter().fold(1, |product: u32, &n| product.saturating_mul(n));
        let size = self.settings.warp_size.clamp(1, MAX_LANES as u32);
        let nwarps = threads.div_ceil(size);
        (0..nwarps)
            .map(|warp_id| {
                let first_thread = warp_id * size;
                let place = WarpPlace {
                    ctaid,
                    nctaid: self.launch.grid,
                    ntid,
                    first_thread,
                    warp_id,
                    nwarps,
                    sm_id: 0,
                    nsm: 1,
                    dynamic_smem: self.launch.dynamic_shared,
                    total_smem: self.shared.bytes() as u32,
                    workspace: self.launch.workspace(),
                };
                let mut registers = RegisterFile::new(&self.kernel.registers);
                registers.start(&self.kernel.registers, &place);
                let live = LaneMask::first_n(size.min(threads - first_thread));
                Warp {
                    registers,
                    local: LocalMemory::of(self.kernel, self.kernel.local_limit(self.launch.stack)),
                    first_thread,
                    pcs: [0; MAX_LANES],
                    calls: vec![Vec::new(); MAX_LANES],
                    states: std::array::from_fn(|l| {
                        if live.contains(l as u32) { State::Ready } else { State::Exited }
                    }),
                    come: [LaneMask::EMPTY; 16],
                }
            })
            .collect()
    }

    /// Runs one thread until it waits, exits or has used up its turn.
    /// Returns true if it executed anything.
    fn turn(&mut self, block: BlockId, warp: &mut Warp, lane: u32) -> Result<bool, OracleError> {
        let kernel = self.kernel;
        let me = LaneMask::lane(lane);
        let mut executed = 0;
        while warp.states[lane as usize] == State::Ready && executed < TURN {
            let pc = warp.pcs[lane as usize];
            let inst = &kernel.insts[pc as usize];
            let lanes = guarded(inst, me, &warp.registers);
            if members(inst, lanes, &warp.registers).next().is_some() {
                warp.states[lane as usize] = State::Gathering;
                break;
            }
            executed += 1;
            let effect = self.step(block, warp, inst, pc, lanes, me)?;
            let mut next = pc + 1;
            match effect {
                Effect::Branch { taken } if !taken.is_empty() => {
                    if let Op::Branch { target, .. } = inst.op {
                        next = target.0;
                    }
                }
                Effect::Switch { lanes } if !lanes.is_empty() => {
                    if let Op::Switch(switch) = &inst.op {
                        next = switch.targets[self.addresses[lane as usize] as usize].0;
                    }
                }
                Effect::Call { lanes } if !lanes.is_empty() => {
                    warp.calls[lane as usize].push(pc);
                    next = kernel.functions[self.addresses[lane as usize] as usize].first;
                }
                Effect::Return { lanes } => {
                    // The thread's own call stack, not the one that `exec` keeps.
                    let Some(call) = warp.calls[lane as usize].pop() else {
                        unreachable!("a return without a call")
                    };
                    finish_call(
                        &kernel.insts[call as usize],
                        lanes,
                        &mut warp.registers,
                        &mut warp.local,
                    );
                    next = call + 1;
                }
                Effect::Exit { lanes } if !lanes.is_empty() => {
                    warp.states[lane as usize] = State::Exited
                }
                Effect::Barrier { lanes, id, count, wait } if !lanes.is_empty() => {
                    let arrivals = &mut self.barriers[usize::from(id & 15)];
                    arrivals.threads += 1;
                    arrivals.votes += barrier_votes(inst, lanes, &warp.registers).count();
                    arrivals.count = count;
                    warp.come[usize::from(id & 15)] |= lanes;
                    if wait {
                        // A waiting thread stays at its barrier, so that a reduction can be
                        // finished there.
                        warp.states[lane as usize] = State::AtBarrier { id, count };
                        next = pc;
                    }
                }
                Effect::ArriveByCopies(access) => {
                    land_copies(&mut warp.registers, &mut self.shared, access.lanes, None);
                    let arrival = CopyArrival::of(&inst.op, self.addresses[lane as usize]);
                    arrive_by_copies(&mut self.shared, arrival);
                }
                Effect::WaitCopies { lanes, groups } => {
                    land_copies(&mut warp.registers, &mut self.shared, lanes, groups);
                }
                Effect::BulkCopies => {
                    for data in std::mem::take(&mut self.system.bulk) {
                        exec::land_bulk(&mut self.shared, &data);
                    }
                }
                _ => {}
            }
            warp.pcs[lane as usize] = next;
            if matches!(&inst.op, Op::MBarrier(op) if op.f.tests()) {
                break; // the phase ends by arrivals of others
            }
        }
        Ok(executed > 0)
    }

    /// Executes the collectives of a warp whose members have all arrived or exited.
    /// Returns true if there was one.
    fn gather(&mut self, block: BlockId, warp: &mut Warp) -> Result<bool, OracleError> {
        let kernel = self.kernel;
        let waiting = warp.lanes_where(|s| s == State::Gathering);
        let alive = warp.lanes_where(|s| s != State::Exited);
        let pcs = warp.pcs;
        let mut rest = waiting;
        let mut any = false;
        while let Some(lane) = rest.lowest() {
            let pc = warp.pcs[lane as usize];
            let inst = &kernel.insts[pc as usize];
            let here = waiting.lanes().filter(|&l| warp.pcs[l as usize] == pc);
            let here = here.fold(LaneMask::EMPTY, |m, l| m | LaneMask::lane(l));
            // The set of the lowest lane comes first: `lane` is in it or has had its turn.
            let mut sets = members(inst, here & rest, &warp.registers);
            let Some(Members { named: mask, lanes: group, omitted }) = sets.next() else { break };
            rest -= group;
            // A lane outside its own mask continues to its fault, or takes part with all others.
            if omitted && !group.is_subset(mask) && !alive.is_subset(here) {
                continue;
            }
            let missing = (mask & alive) - group;
            if !missing.is_empty() && mask.contains(lane) {
                // Lanes of two shuffles with one mask go on if none reads a lane of the other.
                let Op::Shuffle(shuffle) = &inst.op else { continue };
                let shuffles = |l: u32| {
                    let inst = &kernel.insts[pcs[l as usize] as usize];
                    let mut own = members(inst, LaneMask::lane(l), &warp.registers);
                    matches!(inst.op, Op::Shuffle(_)) && own.next().is_some_and(|m| m.named == mask)
                };
                let read = shuffle_reads(shuffle, group, &warp.registers);
                if !missing.lanes().all(|l| waiting.contains(l) && shuffles(l))
                    || read.intersects(missing)
                {
                    continue;
                }
            }
            any = true;
            self.step(block, warp, inst, pc, group, group)?;
            for l in group.lanes() {
                warp.pcs[l as usize] = pc + 1;
                warp.states[l as usize] = State::Ready;
            }
        }
        Ok(any)
    }

    /// Opens the barriers that all expected threads have reached. Returns true if any opened.
    fn open_barriers(&mut self, warps: &mut [Warp]) -> bool {
        let alive: u32 = warps.iter().map(|w| w.lanes_where(|s| s != State::Exited).count()).sum();
        let mut opened = false;
        for id in 0..16u8 {
            let Arrivals { threads, votes, count } = self.barriers[usize::from(id)];
            let size = self.settings.warp_size.clamp(1, MAX_LANES as u32);
            let ended = || warps.iter().map(|w| w.ended_with(id, size).count()).sum::<u32>();
            let here = threads + count.map_or(0, |_| ended());
            if threads == 0 || here < count.unwrap_or(alive) {
                continue;
            }
            opened = true;
            self.barriers[usize::from(id)] = Arrivals::default();
            for warp in warps.iter_mut() {
                warp.come[usize::from(id)] = LaneMask::EMPTY;
                let waiting =
                    warp.lanes_where(|s| matches!(s, State::AtBarrier { id: at, .. } if at == id));
                for lane in waiting.lanes() {
                    let pc = warp.pcs[lane as usize];
                    let inst = &self.kernel.insts[pc as usize];
                    let (all, some) = (votes == threads, votes > 0);
                    finish_barrier_reduction(
                        inst,
                        LaneMask::lane(lane),
                        &mut warp.registers,
                        votes,
                        all,
                        some,
                    );
                    warp.pcs[lane as usize] = pc + 1;
                    warp.states[lane as usize] = State::Ready;
                }
            }
        }
        opened
    }

    /// Executes one instruction for `lanes` of `active`, counting and recording it.
    fn step(
        &mut self,
        block: BlockId,
        warp: &mut Warp,
        inst: &Inst,
        pc: u32,
        lanes: LaneMask,
        active: LaneMask,
    ) -> Result<Effect, OracleError> {
        self.steps += u64::from(active.count());
        if self.steps > self.settings.max_steps {
            return Err(OracleError::StepLimit { steps: self.settings.max_steps });
        }
        let block_threads: u64 = self.launch.block.iter().map(|&n| u64::from(n)).product();
        for (trace, &thread) in self.traces.iter_mut().zip(&self.settings.traced) {
            let first = u64::from(block.0) * block_threads + u64::from(warp.first_thread);
            let lane = thread.checked_sub(first).and_then(|l| u32::try_from(l).ok());
            if lane.is_some_and(|l| l < MAX_LANES as u32 && active.contains(l)) {
                trace.push(pc);
            }
        }
        self.system = exec::SystemLog::default();
        let mut env = Env {
            global: self.memory,
            shared: &mut self.shared,
            local: &mut warp.local,
            params: &self.launch.params,
            functions: &self.kernel.functions,
            warp_size: self.settings.warp_size,
            live: active,
            pc,
            clock: self.steps,
            nanoseconds: self.steps,
            addresses: &mut self.addresses,
            system: &mut self.system,
        };
        exec::step(inst, lanes, active, &mut warp.registers, &mut env).map_err(|fault: Fault| {
            OracleError::Fault { thread: warp.first_thread + fault.lane, fault, pc: Pc(pc), block }
        })
    }
}
