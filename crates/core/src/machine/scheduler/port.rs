//! Ports of issue, and those that an SM's schedulers share.

use crate::base::Cycle;

/// Port that a step needs at issue: a scheduler's own unit, or one shared by the SM's schedulers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::machine) enum Port {
    /// Integer and logic.
    Alu,
    /// Single precision.
    Fma,
    /// Integer products of machine code.
    FmaHeavy,
    /// Double precision.
    Fp64,
    /// Special functions.
    Sfu,
    /// Tensor core.
    Tensor,
    /// Branches and barriers.
    Branch,
    /// Uniform datapath, which computes once per warp.
    Uniform,
    /// Load/store unit of the SM.
    Lsu,
    /// Load/store unit and a free entry in the queue to L2.
    Global,
    /// Texture unit, with its queue.
    Texture,
    /// Constant cache.
    Constant,
    /// Special registers.
    Special,
    /// No port, only an issue slot.
    None,
}

impl Port {
    /// Returns true if the port's unit has a queue of requests.
    #[inline]
    pub(super) fn has_queue(self) -> bool {
        QUEUES >> self as u32 & 1 == 1
    }

    /// Returns true if warps that wait for the port get it in turn.
    #[inline]
    pub(super) fn takes_turns(self) -> bool {
        (QUEUES | 1 << Port::FmaHeavy as u32) >> self as u32 & 1 == 1
    }

    /// Returns true if the SM's schedulers share the port.
    #[inline]
    pub(in crate::machine) fn is_shared(self) -> bool {
        matches!(self, Port::Lsu | Port::Global)
    }
}

/// Ports whose units have queues of requests, a bit each.
const QUEUES: u32 = 1 << Port::Lsu as u32
    | 1 << Port::Global as u32
    | 1 << Port::Texture as u32
    | 1 << Port::Constant as u32
    | 1 << Port::Special as u32
    | 1 << Port::Sfu as u32;

/// Number of ports, rounded up to a power of two.
pub(super) const PORTS: usize = 16;

/// Availability of the ports that an SM's schedulers share.
#[derive(Clone, Copy, Default)]
pub(in crate::machine) struct SharedPorts {
    /// Cycle until which each shared port is busy.
    ///
    /// A scheduler's own ports are always free here.
    pub(super) busy: [Cycle; PORTS],
    /// Cycle from which the queue to L2 has room.
    queue: Cycle,
}

impl SharedPorts {
    /// Makes the load/store unit busy at least until `until`.
    #[inline]
    pub(in crate::machine) fn occupy_lsu(&mut self, until: Cycle) {
        let lsu = self.busy[Port::Lsu as usize].max(until);
        self.busy[Port::Lsu as usize] = lsu;
        self.busy[Port::Global as usize] = lsu.max(self.queue);
    }

    /// Returns true if no shared port is busy at `at`: the queue is, if the load/store unit is.
    #[inline(always)]
    pub(super) fn are_free(&self, at: Cycle) -> bool {
        self.busy[Port::Global as usize] <= at
    }

    /// Gives the queue to L2 room from `from` on.
    #[inline]
    pub(in crate::machine) fn queue_accepts(&mut self, from: Cycle) {
        self.queue = from;
        self.busy[Port::Global as usize] = self.busy[Port::Lsu as usize].max(from);
    }
}

/// Returns the warps that need a port which is busy until `busy`, after `at`: the sign of a
/// difference as a mask, instead of a branch.
#[inline(always)]
pub(super) fn waiting(busy: Cycle, needs: &[u64; PORTS], port: Port, at: Cycle) -> u64 {
    let left = at.wrapping_sub(busy) as i64;
    (left >> 63) as u64 & needs[port as usize]
}
