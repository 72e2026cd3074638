//! Calls of the runtime system: `vprintf`, `__assertfail`, `malloc`, `free`.
//!
//! Texts are formatted lane by lane at the issue of the call, and the driver passes them on.
//! Arguments are in the caller's frame (PTX), or from R4 on (machine code, in CUDA's calling
//! convention).

use super::format::{self, Arguments};
use super::memory::Words;
use super::{Assertion, BulkData, Env, Fault, FaultKind, MemoryAccess, RegisterFile};
use crate::base::{LaneMask, MAX_LANES};
use crate::isa::Space;
use crate::kernel::layout::{GLOBAL_BASE, LOCAL_WINDOW, RAISED, SHARED_WINDOW, WINDOW_BYTES};
use crate::kernel::{SystemCall, SystemFn};

/// Maximum bytes of a format or of a string.
const MOST_TEXT: usize = 64 << 10;
/// First register of arguments and results of machine code.
const FIRST_ARGUMENT: usize = 4;

/// Results of calls of the runtime system, and what an effect is too small to hold.
#[derive(Clone, Debug, Default)]
pub struct SystemLog {
    /// Printed texts with their lanes, in order.
    pub printed: Vec<(u32, Vec<u8>)>,
    /// True if the heap has changed.
    pub heap_changed: bool,
    /// Accesses of an instruction whose lanes reached several memories: global, shared, local.
    pub parts: Vec<MemoryAccess>,
    /// Addresses in shared memory of the pieces of 16 bytes that a product of a warpgroup has read,
    /// up to 32 at a time.
    pub pieces: Vec<([u64; MAX_LANES], LaneMask)>,
    /// Addresses of further texels by lane, of a fetch that reads several.
    pub taps: Vec<[u64; MAX_LANES]>,
    /// Bulk copies that the instruction started.
    pub bulk: Vec<BulkData>,
    /// Lanes that the texture unit takes together, of the last access to a texture or surface.
    pub group: u32,
    /// True if it filters lanes one by one: texels of 16 bytes.
    pub one_by_one: bool,
}

/// Executes a call in PTX for all lanes.
pub(super) fn call(
    op: &SystemCall,
    lanes: LaneMask,
    registers: &RegisterFile,
    env: &mut Env<'_>,
) -> Result<(), Fault> {
    let frames = registers.wide[usize::from(op.frame_pointer.0)];
    let mut printed = Vec::new();
    for lane in lanes.lanes() {
        let l = lane as usize % MAX_LANES;
        let mut values = [0; 5];
        let places = op.arguments.iter().zip(op.function.parameters());
        for (value, (&offset, &bytes)) in values.iter_mut().zip(places) {
            let at = frames[l] + u64::from(offset);
            *value = u64::from(env.local.load(l, at));
            if bytes == 8 {
                *value |= u64::from(env.local.load(l, at + 4)) << 32;
            }
        }
        let result = perform(op.function, lane, lanes, values, env, &mut printed)?;
        if let Some(offset) = op.result {
            let at = frames[l] + u64::from(offset);
            env.local.store(l, at, result as u32);
            if op.function.result() == 8 {
                env.local.store(l, at + 4, (result >> 32) as u32);
            }
        }
    }
    env.system.printed.append(&mut printed);
    Ok(())
}

/// Executes a call in machine code for all lanes.
pub(super) fn native_call(
    function: SystemFn,
    lanes: LaneMask,
    registers: &mut RegisterFile,
    env: &mut Env<'_>,
) -> Result<(), Fault> {
    let mut printed = Vec::new();
    for lane in lanes.lanes() {
        let l = lane as usize % MAX_LANES;
        let word = |at: usize| registers.narrow.get(at).map_or(0, |row| row[l]);
        let (mut values, mut at) = ([0; 5], FIRST_ARGUMENT);
        for (value, &bytes) in values.iter_mut().zip(function.parameters()) {
            let words = usize::from(bytes / 4);
            at = at.next_multiple_of(words);
            *value = u64::from(word(at));
            if words == 2 {
                *value |= u64::from(word(at + 1)) << 32;
            }
            at += words;
        }
        let result = perform(function, lane, lanes, values, env, &mut printed)?;
        for i in 0..usize::from(function.result() / 4) {
            if let Some(row) = registers.narrow.get_mut(FIRST_ARGUMENT + i) {
                row[l] = (result >> (32 * i)) as u32;
            }
        }
    }
    env.system.printed.append(&mut printed);
    Ok(())
}

/// Executes a call of one of `lanes` and returns its result.
fn perform(
    function: SystemFn,
    lane: u32,
    lanes: LaneMask,
    values: [u64; 5],
    env: &mut Env<'_>,
    printed: &mut Vec<(u32, Vec<u8>)>,
) -> Result<u64, Fault> {
    match function {
        // The guide: -1 without a format.
        SystemFn::Print if values[0] == 0 => Ok(u64::MAX),
        SystemFn::Print => {
            let text = string(env, lane, values[0], MOST_TEXT)?;
            let list = List { env, lane, at: values[1] };
            let (text, used) = format::format(&text, list)?;
            printed.push((lane, text));
            Ok(used.into())
        }
        SystemFn::AssertFail => {
            let text = |address: u64| match address {
                0 => Ok(String::new()),
                address => {
                    let bytes = string(env, lane, address, MOST_TEXT)?;
                    Ok(String::from_utf8_lossy(&bytes).into_owned())
                }
            };
            let failed = Assertion {
                message: text(values[0])?,
                file: text(values[1])?,
                line: values[2] as u32,
                function: text(values[3])?,
                lanes,
            };
            Err(Fault { lane, kind: FaultKind::Assertion(Box::new(failed)) })
        }
        SystemFn::Malloc => {
            env.system.heap_changed = true;
            Ok(env.global.allocate(values[0]).unwrap_or(0))
        }
        SystemFn::Free => {
            env.system.heap_changed = true;
            let address = values[0];
            if address == 0 || env.global.free(address) {
                return Ok(0);
            }
            Err(Fault { lane, kind: FaultKind::WildFree { address } })
        }
    }
}

/// Argument list of one lane in memory.
struct List<'e, 'a> {
    env: &'e Env<'a>,
    lane: u32,
    at: u64,
}

impl Arguments for List<'_, '_> {
    fn next(&mut self, bytes: u64) -> Result<u64, Fault> {
        let at = self.at.checked_next_multiple_of(bytes).unwrap_or(u64::MAX);
        self.at = at.saturating_add(bytes);
        let mut value = 0;
        for i in (0..bytes).rev() {
            let byte = byte_at(self.env, self.lane, at.saturating_add(i));
            value = value << 8 | u64::from(byte.ok_or(missing(self.lane, at, bytes as u32))?);
        }
        Ok(value)
    }

    fn string(&mut self, address: u64, limit: usize) -> Result<Vec<u8>, Fault> {
        string(self.env, self.lane, address, limit.min(MOST_TEXT))
    }
}

/// Returns the bytes of a string up to its end or the limit.
fn string(env: &Env<'_>, lane: u32, address: u64, limit: usize) -> Result<Vec<u8>, Fault> {
    let mut text = Vec::new();
    while text.len() < limit {
        let at = address.saturating_add(text.len() as u64);
        match byte_at(env, lane, at) {
            Some(0) => break,
            Some(byte) => text.push(byte),
            None => return Err(missing(lane, at, 1)),
        }
    }
    Ok(text)
}

fn missing(lane: u32, address: u64, bytes: u32) -> Fault {
    Fault { lane, kind: FaultKind::OutOfBounds { space: Space::Generic, address, bytes } }
}

/// Returns the byte at a generic address; `None` if no memory is there.
fn byte_at(env: &Env<'_>, lane: u32, address: u64) -> Option<u8> {
    let l = lane as usize % MAX_LANES;
    let raised = address.wrapping_sub(RAISED) < GLOBAL_BASE;
    let address = if raised { address - RAISED } else { address };
    let (shared, local) = (address.wrapping_sub(SHARED_WINDOW), address.wrapping_sub(LOCAL_WINDOW));
    let word = if shared < WINDOW_BYTES {
        let at = shared.wrapping_sub(env.shared.start());
        (at < env.shared.bytes()).then(|| env.shared.load(l, at))
    } else if local < WINDOW_BYTES {
        (local.wrapping_sub(env.local.start()) < env.local.bytes())
            .then(|| env.local.load(l, local))
    } else {
        let segment = env.global.segment(address).filter(|segment| segment.holds(address, 1))?;
        Some(env.global.view(segment).load(l, address))
    };
    word.map(|word| (word >> (8 * (address % 4))) as u8)
}
