//! Initial registers of a warp: variables read 0; immediates and special registers are set.
//!
//! PTX leaves an uninitialised register undefined; here it reads 0 in both modes and in every run.

use super::{AlignedRows, CallStack, Copies, RegisterFile, Vectors};
use crate::base::MAX_LANES;
use crate::kernel::layout::RESERVED_SHARED;
use crate::kernel::{GROUP_WARPS, Register, Registers, Special, WARPGROUP_COMPLETE};

/// Unit in which `%total_smem_size` is given, in bytes, as on an H200.
const SHARED_UNIT: u32 = 128;

/// Values of the special registers of one warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpPlace {
    /// The block's index in the grid.
    pub ctaid: [u32; 3],
    /// Blocks of the grid.
    pub nctaid: [u32; 3],
    /// Threads of the block.
    pub ntid: [u32; 3],
    /// Linear index in the block of the thread in lane 0.
    pub first_thread: u32,
    /// The warp's index (`%warpid`).
    pub warp_id: u32,
    /// Maximum number of warps per SM (`%nwarpid`).
    pub nwarps: u32,
    /// The SM (`%smid`).
    pub sm_id: u32,
    /// The number of SMs (`%nsmid`).
    pub nsm: u32,
    /// Dynamic shared memory in bytes.
    pub dynamic_smem: u32,
    /// Total shared memory of the block in bytes.
    pub total_smem: u32,
    /// Address of the grid's workspace; 0 unless the launch is cooperative.
    pub workspace: u64,
}

impl RegisterFile {
    /// Creates a register file of the kernel's size: constants set, all else 0.
    pub fn new(registers: &Registers) -> RegisterFile {
        let mut file = RegisterFile {
            narrow: AlignedRows::new(registers.narrow.into()),
            wide: AlignedRows::new(registers.wide.into()),
            predicates: vec![0; usize::from(registers.predicates)],
            calls: Vec::new(),
            copies: Copies::default(),
            vectors: Vectors::default(),
        };
        file.fill_constants(registers);
        file
    }

    /// Resets the file for a starting warp.
    /// Variables are 0; constants and special registers are set.
    pub fn start(&mut self, registers: &Registers, place: &WarpPlace) {
        self.narrow.clear();
        self.wide.clear();
        self.fill_constants(registers);
        self.start_with(&[], registers, place);
    }

    /// As [`RegisterFile::start`], but of the registers only the `unset` ones and predicates are 0,
    /// others arbitrary ([`Kernel::unset_registers`](crate::kernel::Kernel::unset_registers)).
    pub fn start_with(&mut self, unset: &[Register], registers: &Registers, place: &WarpPlace) {
        for register in unset {
            match register {
                Register::Narrow(row) => self.narrow[usize::from(row.0)].fill(0),
                Register::Wide(row) => self.wide[usize::from(row.0)].fill(0),
                Register::Predicate(_) => {}
            }
        }
        self.predicates.fill(0);
        self.calls.iter_mut().for_each(CallStack::clear);
        self.copies.clear();
        for &(row, special) in &registers.specials {
            fill_special(special, place, &mut self.narrow[usize::from(row.0)]);
        }
    }

    /// Returns the value of one lane in a register.
    pub fn get(&self, register: Register, lane: u32) -> u64 {
        let l = lane as usize % MAX_LANES;
        match register {
            Register::Narrow(row) => {
                self.narrow.get(usize::from(row.0)).map_or(0, |row| row[l].into())
            }
            Register::Wide(row) => self.wide.get(usize::from(row.0)).map_or(0, |row| row[l]),
            Register::Predicate(p) => {
                self.predicates.get(usize::from(p.0)).map_or(0, |bits| (bits >> l & 1).into())
            }
        }
    }

    /// Overwrites one lane's value in a register. Returns false if there is no such register.
    pub fn set(&mut self, register: Register, lane: u32, bits: u64) -> bool {
        let l = lane as usize % MAX_LANES;
        match register {
            Register::Narrow(row) => {
                self.narrow.get_mut(usize::from(row.0)).map(|row| row[l] = bits as u32)
            }
            Register::Wide(row) => self.wide.get_mut(usize::from(row.0)).map(|row| row[l] = bits),
            Register::Predicate(p) => {
                let keep = |mask: &mut u32| *mask = *mask & !(1 << l) | u32::from(bits != 0) << l;
                self.predicates.get_mut(usize::from(p.0)).map(keep)
            }
        }
        .is_some()
    }

    fn fill_constants(&mut self, registers: &Registers) {
        for &(row, value) in &registers.narrow_constants {
            self.narrow[usize::from(row.0)] = [value; MAX_LANES];
        }
        for &(row, value) in &registers.wide_constants {
            self.wide[usize::from(row.0)] = [value; MAX_LANES];
        }
    }
}

/// Returns the value of [`Special::Warpgroup`].
fn warpgroup(place: &WarpPlace) -> u32 {
    let lanes = MAX_LANES as u32;
    let threads = place.ntid.iter().fold(1, |all: u32, &n| all.saturating_mul(n));
    let quarter = place.first_thread / lanes % GROUP_WARPS;
    let first = place.first_thread - quarter * lanes;
    let complete = threads.saturating_sub(first) >= GROUP_WARPS * lanes;
    quarter | if complete { WARPGROUP_COMPLETE } else { 0 }
}

/// Sets a row to the values of a special register.
fn fill_special(special: Special, place: &WarpPlace, row: &mut [u32; MAX_LANES]) {
    let axis = |values: [u32; 3], i: u8| values[usize::from(i.min(2))];
    let lanes = |f: fn(u32) -> u32| std::array::from_fn(|lane| f(lane as u32));
    let uniform = match special {
        Special::Tid(i) => return fill_thread_index(i, place, row),
        Special::Laneid => return *row = lanes(|l| l),
        Special::Virtid => {
            let place = place.sm_id << 20 | place.warp_id << 8;
            return *row = std::array::from_fn(|lane| place | lane as u32);
        }
        Special::LanemaskEq => return *row = lanes(|l| 1 << l),
        Special::LanemaskLt => return *row = lanes(|l| (1 << l) - 1),
        Special::LanemaskLe => return *row = lanes(|l| u32::MAX >> (31 - l)),
        Special::LanemaskGe => return *row = lanes(|l| u32::MAX << l),
        Special::LanemaskGt => return *row = lanes(|l| !(u32::MAX >> (31 - l))),
        Special::Ntid(i) => axis(place.ntid, i),
        Special::Ctaid(i) => axis(place.ctaid, i),
        Special::Nctaid(i) => axis(place.nctaid, i),
        Special::Warpid => place.warp_id,
        Special::Nwarpid => place.nwarps,
        Special::Smid => place.sm_id,
        Special::Nsmid => place.nsm,
        Special::Gridid => 0,
        Special::DynamicSmemSize => place.dynamic_smem,
        Special::TotalSmemSize => place.total_smem.next_multiple_of(SHARED_UNIT),
        Special::AggrSmemSize => RESERVED_SHARED.saturating_add(place.total_smem),
        Special::Warpgroup => warpgroup(place),
        Special::Virtcfg => place.nwarps << 8 | MAX_LANES as u32,
        Special::Workspace(word) => (place.workspace >> (32 * u32::from(word.min(1)))) as u32,
    };
    row.fill(uniform);
}

/// Sets a row to `%tid` of each lane: one division for the first lane, then counting.
fn fill_thread_index(axis: u8, place: &WarpPlace, row: &mut [u32; MAX_LANES]) {
    let [nx, ny, _] = place.ntid.map(|n| n.max(1));
    let first = place.first_thread;
    let mut tid = [first % nx, first / nx % ny, first / nx / ny];
    let axis = usize::from(axis.min(2));
    if tid[0] + MAX_LANES as u32 <= nx {
        // All lanes are in one row of the block.
        let step = u32::from(axis == 0);
        row.iter_mut().zip(0..).for_each(|(cell, lane)| *cell = tid[axis] + lane * step);
        return;
    }
    for cell in row {
        *cell = tid[axis];
        tid[0] += 1;
        if tid[0] == nx {
            tid = [0, tid[1] + 1, tid[2]];
            if tid[1] == ny {
                tid = [0, 0, tid[2] + 1];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Row;

    #[test]
    fn a_starting_warp_sees_its_place() {
        let specials = [
            Special::Tid(0),
            Special::Tid(1),
            Special::Tid(2),
            Special::Laneid,
            Special::LanemaskEq,
            Special::LanemaskLt,
            Special::LanemaskLe,
            Special::LanemaskGt,
            Special::LanemaskGe,
            Special::Ctaid(1),
            Special::TotalSmemSize,
        ];
        let registers = Registers {
            narrow: 13,
            wide: 1,
            predicates: 1,
            narrow_constants: vec![(Row(11), 42)],
            wide_constants: vec![(Row(0), 1 << 40)],
            specials: specials.iter().enumerate().map(|(i, &s)| (Row(i as u16), s)).collect(),
            frame_pointer: None,
            always_false: None,
            names: Vec::new(),
        };
        let place = WarpPlace {
            ctaid: [7, 8, 9],
            nctaid: [10, 11, 12],
            ntid: [5, 3, 4],
            first_thread: 32,
            warp_id: 1,
            nwarps: 64,
            sm_id: 2,
            nsm: 4,
            dynamic_smem: 100,
            total_smem: 356,
            workspace: 0,
        };
        let mut file = RegisterFile::new(&registers);
        file.narrow[12] = [5; MAX_LANES];
        file.predicates[0] = 5;
        file.start(&registers, &place);
        for lane in 0..32u32 {
            let thread = 32 + lane;
            let column: Vec<u32> = file.narrow.iter().map(|row| row[lane as usize]).collect();
            let bit = 1u64 << lane;
            let below = (bit - 1) as u32;
            assert_eq!(
                column,
                [
                    thread % 5,
                    thread / 5 % 3,
                    thread / 15,
                    lane,
                    bit as u32,
                    below,
                    below | bit as u32,
                    !(below | bit as u32),
                    !below,
                    8,
                    384,
                    42,
                    0
                ]
            );
        }
        assert_eq!(file.wide[0], [1 << 40; MAX_LANES]);
        assert_eq!(file.predicates, [0]);
    }
}
