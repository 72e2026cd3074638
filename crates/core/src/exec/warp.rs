//! Instructions that read other lanes: shuffle, vote, match, redux, activemask (PTX ISA, "Data
//! Movement: shfl.sync", "Parallel Synchronization and Communication").
//!
//! The machine has gathered the lanes before these instructions execute. Lanes with different masks
//! form separate groups, as when each group of a `match.any` reduces on its own.

use super::lanes::{fill_each, predicate, set_predicate, splat, vectorized};
use super::{Effect, Fault, FaultKind, RegisterFile};
use crate::base::{LaneMask, MAX_LANES};
use crate::isa::Type;
use crate::kernel::{
    Inst, MACHINE_FORM, Match, MemberMask, Op, Redux, ReduxFn, Row, Shuffle, ShuffleMode, Vote,
    VoteKind,
};

/// Lanes with the same mask at a `.sync` instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Members {
    /// The mask.
    pub named: LaneMask,
    /// The executing lanes with that mask.
    pub lanes: LaneMask,
    /// True if lanes outside of the mask take part.
    pub omitted: bool,
}

/// Masks of lanes: one for all, or a row.
enum Masks {
    Common(LaneMask),
    ByLane([u32; MAX_LANES]),
}

/// Splits the executing lanes of a `.sync` collective or `bar.warp.sync` by mask.
/// Instructions on matrices name all 32 lanes.
/// The set of the lowest lane comes first. Empty for other instructions.
#[inline]
pub fn members(
    inst: &Inst,
    lanes: LaneMask,
    registers: &RegisterFile,
) -> impl Iterator<Item = Members> + use<> {
    let mask = inst.op.member_mask();
    let omitted = mask.is_some_and(|mask| mask.omitted);
    let whole = inst.form != MACHINE_FORM
        && matches!(
            inst.op,
            Op::Mma(_) | Op::GroupMma(_) | Op::MatrixAccess(_) | Op::MatrixTranspose { .. }
        );
    let (masks, mut rest) = match mask {
        Some(MemberMask { common: Some(mask), .. }) => (Masks::Common(mask), lanes),
        Some(mask) => (Masks::ByLane(registers.narrow[usize::from(mask.row.0)]), lanes),
        None if whole => (Masks::Common(LaneMask::FULL), lanes),
        None => (Masks::Common(LaneMask::EMPTY), LaneMask::EMPTY),
    };
    std::iter::from_fn(move || {
        let lowest = rest.lowest()?;
        let set = match &masks {
            Masks::Common(named) => Members { named: *named, lanes: rest, omitted },
            Masks::ByLane(row) => Members {
                named: LaneMask(row[lowest as usize & (MAX_LANES - 1)]),
                lanes: equal_to(row, rest, lowest),
                omitted,
            },
        };
        rest -= set.lanes;
        Some(set)
    })
}

/// Returns the lanes of `among` whose cell equals that of `lane`.
#[inline(always)]
fn equal_to<C: Copy + PartialEq>(row: &[C; MAX_LANES], among: LaneMask, lane: u32) -> LaneMask {
    let value = row[lane as usize & (MAX_LANES - 1)];
    let mut same = 0;
    for (lane, &cell) in row.iter().enumerate() {
        same |= if cell == value { 1 << lane } else { 0 };
    }
    among & LaneMask(same)
}

/// Checks that the mask of every executing lane includes the lane, unless compilers omit it.
#[inline(always)]
pub(super) fn check_members(
    mask: MemberMask,
    lanes: LaneMask,
    registers: &RegisterFile,
) -> Result<(), Fault> {
    if mask.omitted {
        return Ok(());
    }
    let row = &registers.narrow[usize::from(mask.row.0)];
    let named = mask.common.unwrap_or_else(|| {
        let own = row.iter().zip(0..).map(|(mask, lane)| mask & 1 << lane);
        LaneMask(own.fold(0, |all, one| all | one))
    });
    match (lanes - named).lowest() {
        None => Ok(()),
        Some(lane) => {
            Err(Fault { lane, kind: FaultKind::NotInMask { mask: LaneMask(row[lane as usize]) } })
        }
    }
}

/// Calls `f` for each set of lanes with the same mask.
#[inline(always)]
fn groups(
    mask: MemberMask,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    mut f: impl FnMut(&mut RegisterFile, LaneMask),
) {
    if mask.common.is_some() {
        if !lanes.is_empty() {
            f(registers, lanes);
        }
        return;
    }
    let row = registers.narrow[usize::from(mask.row.0)];
    equal_groups(&row, lanes, |group| f(registers, group));
}

/// Calls `f` for each set of lanes with equal cells.
#[inline(always)]
fn equal_groups<C: Copy + PartialEq>(
    row: &[C; MAX_LANES],
    lanes: LaneMask,
    mut f: impl FnMut(LaneMask),
) {
    let mut rest = lanes;
    while let Some(lowest) = rest.lowest() {
        let group = equal_to(row, rest, lowest);
        f(group);
        rest -= group;
    }
}

/// Returns the source lane, and true if it is in the reader's segment.
/// Outside the segment, a lane reads itself.
#[inline(always)]
fn shuffle_source(mode: ShuffleMode, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let (segment, clamp) = (c >> 8 & 31, c & 31);
    let lowest = lane & segment;
    // The manual's maxLane; for `up`, whose clamp is usually 0, the lowest readable lane.
    let limit = lowest | clamp & !segment;
    let b = b & 31;
    let (source, inside) = match mode {
        ShuffleMode::Up => (lane.wrapping_sub(b), lane as i32 - b as i32 >= limit as i32),
        ShuffleMode::Down => (lane + b, lane + b <= limit),
        ShuffleMode::Butterfly => (lane ^ b, lane ^ b <= limit),
        ShuffleMode::Index => {
            let source = lowest | b & !segment;
            (source, source <= limit)
        }
    };
    (if inside { source } else { lane }, inside)
}

/// Returns the source of each lane, and the lanes whose source is in their segment.
#[inline(always)]
pub(super) fn shuffle_sources(
    mode: ShuffleMode,
    b: &[u32; MAX_LANES],
    c: &[u32; MAX_LANES],
) -> ([u32; MAX_LANES], u32) {
    let (mut sources, mut inside) = ([0; MAX_LANES], [0; MAX_LANES]);
    let mut all = |mode: ShuffleMode| {
        for lane in 0..MAX_LANES {
            let (source, good) = shuffle_source(mode, lane as u32, b[lane], c[lane]);
            sources[lane] = source;
            inside[lane] = if good { 1 << lane } else { 0 };
        }
    };
    // One loop per mode, so that each vectorises.
    match mode {
        ShuffleMode::Up => all(ShuffleMode::Up),
        ShuffleMode::Down => all(ShuffleMode::Down),
        ShuffleMode::Butterfly => all(ShuffleMode::Butterfly),
        ShuffleMode::Index => all(ShuffleMode::Index),
    }
    (sources, inside.iter().fold(0, |all, lane| all | lane))
}

/// Returns the lanes that `lanes` read by `shfl.sync`.
pub fn shuffle_reads(op: &Shuffle, lanes: LaneMask, registers: &RegisterFile) -> LaneMask {
    let of = |row: Row, lane: u32| registers.narrow[usize::from(row.0)][lane as usize % MAX_LANES];
    lanes.lanes().fold(LaneMask::EMPTY, |all, lane| {
        let (source, _) = shuffle_source(op.mode, lane, of(op.b, lane), of(op.c, lane));
        all | LaneMask::lane(source)
    })
}

/// Executes `shfl.sync`.
/// A lane that reads an inactive one gets 0: PTX leaves the value undefined, and NVIDIA's own
/// reduction (`reduce7` of the CUDA samples) adds it to its sum.
pub(super) fn shuffle(
    op: &Shuffle,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) -> Result<Effect, Fault> {
    check_members(op.mask, lanes, registers)?;
    let (mut undefined, mut source) = (LaneMask::EMPTY, 0);
    let row = |r: Row| &registers.narrow[usize::from(r.0)];
    let (mode, b, c) = (op.mode, row(op.b), row(op.c));
    let (sources, inside) = vectorized(
        registers.vectors,
        #[inline(always)]
        move |_| shuffle_sources(mode, b, c),
    );
    if let Some(d) = op.d {
        let source_of = |lane: u32| sources[lane as usize & (MAX_LANES - 1)];
        // Values come from lanes that execute the instruction with the same mask.
        let masks = &registers.narrow[usize::from(op.mask.row.0)];
        let one_mask = op.mask.common.is_some()
            || masks.iter().fold(true, |same, mask| same & (*mask == masks[0]));
        let mask_of = |lane: u32| masks[lane as usize & (MAX_LANES - 1)];
        let has_source = |lane: u32| {
            let source = source_of(lane);
            lanes.contains(source) && mask_of(lane) == mask_of(source)
        };
        // With all lanes present, no lane can read an absent one.
        if !(lanes == LaneMask::FULL && one_mask) {
            undefined =
                LaneMask(lanes.lanes().filter(|&l| !has_source(l)).fold(0, |all, l| all | 1 << l));
            source = undefined.lowest().map_or(0, source_of);
        }
        let a = registers.narrow[usize::from(op.a.0)];
        let d = &mut registers.narrow[usize::from(d.0)];
        fill_each(d, lanes, |lane| a[sources[lane] as usize & (MAX_LANES - 1)]);
        if !undefined.is_empty() {
            fill_each(d, undefined, |_| 0);
        }
    }
    if let Some(p) = op.p {
        set_predicate(registers, p, lanes, inside);
    }
    Ok(if undefined.is_empty() {
        Effect::Done
    } else {
        Effect::Undefined { lanes: undefined, source }
    })
}

/// Executes `vote.sync`.
pub(super) fn vote(op: &Vote, lanes: LaneMask, registers: &mut RegisterFile) -> Result<(), Fault> {
    check_members(op.mask, lanes, registers)?;
    let votes = op.p.map_or(0, |p| predicate(registers, p));
    groups(op.mask, lanes, registers, |registers, group| {
        let yes = votes & group.0;
        let all = if yes == group.0 { u32::MAX } else { 0 };
        let none = if yes == 0 { u32::MAX } else { 0 };
        match op.kind {
            VoteKind::All(p) => set_predicate(registers, p, group, all),
            VoteKind::Any(p) => set_predicate(registers, p, group, !none),
            VoteKind::Uni(p) => set_predicate(registers, p, group, all | none),
            VoteKind::Ballot(d) => splat(registers, d, group, yes),
            VoteKind::Elect(d, p) => {
                let leader = group.lowest().unwrap_or(0);
                d.into_iter().for_each(|d| splat(registers, d, group, leader));
                p.into_iter().for_each(|p| set_predicate(registers, p, group, 1 << leader));
            }
        }
    });
    Ok(())
}

/// Executes `match.any.sync` and `match.all.sync`.
pub(super) fn match_op(
    op: &Match,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) -> Result<(), Fault> {
    check_members(op.mask, lanes, registers)?;
    groups(op.mask, lanes, registers, |registers, group| {
        let mut peers = [0; MAX_LANES];
        let mut agree = 0;
        let mut class = |same: LaneMask| {
            agree = if same == group { u32::MAX } else { 0 };
            for lane in same.lanes() {
                peers[lane as usize & (MAX_LANES - 1)] = same.0;
            }
        };
        if op.ty == Type::B64 || op.ty.is_wide() {
            equal_groups(&registers.wide[usize::from(op.a.0)], group, &mut class);
        } else {
            equal_groups(&registers.narrow[usize::from(op.a.0)], group, &mut class);
        }
        let all = if op.all { agree } else { u32::MAX };
        fill_each(&mut registers.narrow[usize::from(op.d.0)], group, |lane| peers[lane] & all);
        if let Some(p) = op.p {
            set_predicate(registers, p, group, agree);
        }
    });
    Ok(())
}

/// Returns `f` of two values.
pub(super) fn reduce(f: ReduxFn, signed: bool, x: u32, y: u32) -> u32 {
    // Flipping the sign bit orders signed numbers as unsigned ones.
    let order = |x: u32| if signed { x ^ 1 << 31 } else { x };
    match f {
        ReduxFn::Add => x.wrapping_add(y),
        ReduxFn::Min if order(y) < order(x) => y,
        ReduxFn::Max if order(y) > order(x) => y,
        ReduxFn::Min | ReduxFn::Max => x,
        ReduxFn::And => x & y,
        ReduxFn::Or => x | y,
        ReduxFn::Xor => x ^ y,
    }
}

/// Executes `redux.sync`.
pub(super) fn redux(
    op: &Redux,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) -> Result<(), Fault> {
    check_members(op.mask, lanes, registers)?;
    let a = registers.narrow[usize::from(op.a.0)];
    let signed = op.ty.is_signed();
    groups(op.mask, lanes, registers, |registers, group| {
        let values = group.lanes().map(|lane| a[lane as usize & (MAX_LANES - 1)]);
        let reduced = values.reduce(|x, y| reduce(op.f, signed, x, y));
        splat(registers, op.d, group, reduced.unwrap_or(0));
    });
    Ok(())
}

#[cfg(test)]
mod tests;
