//! Requests of one slice of L2, packed: a few bytes each instead of sixteen.
//!
//! A request differs little from the one before it, so its cycle and line are stored as
//! differences. Their bytes hold seven bits each, the lowest first; the sign is the lowest bit.

use crate::event::{AccessWay, MemoryKind};

/// Request for sectors of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub line: u64,
    /// Cycle of the request, saturating.
    pub cycle: u32,
    pub sectors: u8,
    pub memory: MemoryKind,
    pub way: AccessWay,
}

/// Memories whose requests reach L2.
pub(super) const MEMORIES: [MemoryKind; 4] =
    [MemoryKind::Global, MemoryKind::Local, MemoryKind::Texture, MemoryKind::Surface];
/// Directions.
pub(super) const WAYS: [AccessWay; 3] = [AccessWay::Load, AccessWay::Store, AccessWay::Atomic];

/// Requests in their order, packed.
#[derive(Clone, Default)]
pub(super) struct Packed {
    bytes: Vec<u8>,
    len: usize,
    cycle: u32,
    line: u64,
}

impl Packed {
    /// Returns the number of requests.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds a request.
    #[inline]
    pub(super) fn push(&mut self, request: Request) {
        let Request { line, cycle, sectors, memory, way } = request;
        let memory = MEMORIES.iter().position(|&known| known == memory).unwrap_or(0) as u8;
        self.bytes.push(sectors & 15 | memory << 4 | (way as u8) << 6);
        self.number(i64::from(cycle) - i64::from(self.cycle));
        self.number(line.wrapping_sub(self.line) as i64);
        (self.cycle, self.line) = (cycle, line);
        self.len += 1;
    }

    /// Adds a number.
    #[inline]
    fn number(&mut self, number: i64) {
        let mut rest = (number << 1 ^ number >> 63) as u64;
        while rest > 127 {
            self.bytes.push(rest as u8 | 128);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
    }

    /// Iterates over the requests.
    pub(super) fn iter(&self) -> impl Iterator<Item = Request> + '_ {
        let mut bytes = self.bytes.iter().copied();
        let (mut cycle, mut line) = (0_u32, 0_u64);
        std::iter::from_fn(move || {
            let head = bytes.next()?;
            cycle = cycle.wrapping_add(unpacked(&mut bytes) as u32);
            line = line.wrapping_add(unpacked(&mut bytes) as u64);
            let memory = MEMORIES[usize::from(head >> 4 & 3)];
            let way = WAYS[usize::from(head >> 6).min(2)];
            Some(Request { line, cycle, sectors: head & 15, memory, way })
        })
    }
}

/// Returns the number that the next bytes hold.
fn unpacked(bytes: &mut impl Iterator<Item = u8>) -> i64 {
    let (mut all, mut shift) = (0, 0);
    for byte in bytes {
        all |= u64::from(byte & 127) << shift;
        shift += 7;
        if byte < 128 {
            break;
        }
    }
    (all >> 1) as i64 ^ -((all & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_out_as_they_went_in() {
        let lines = [0, 7, 1 << 57, 3, u64::MAX >> 7, 64];
        let cycles = [0, u32::MAX, 5, 5, 4, 1 << 31];
        let requests: Vec<Request> = (0..72)
            .map(|i| Request {
                line: lines[i % 6],
                cycle: cycles[i / 2 % 6],
                sectors: (i % 15 + 1) as u8,
                memory: MEMORIES[i / 3 % 4],
                way: WAYS[i % 3],
            })
            .collect();
        let mut packed = Packed::default();
        requests.iter().for_each(|&request| packed.push(request));
        assert_eq!(packed.iter().collect::<Vec<_>>(), requests);
        assert_eq!(packed.len(), requests.len());
    }

    #[test]
    fn a_stream_takes_few_bytes() {
        let mut packed = Packed::default();
        for i in 0..1000_u64 {
            let (memory, way) = (MemoryKind::Global, AccessWay::Load);
            packed.push(Request { line: 64 * i, cycle: 700 * i as u32, sectors: 15, memory, way });
        }
        assert!(packed.bytes.len() < 5 * packed.len(), "{}", packed.bytes.len());
    }
}
