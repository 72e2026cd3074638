//! Tensor maps: the 128 bytes that describe a tensor in global memory and the tiles of it that bulk
//! copies move. A tile is split into runs of consecutive bytes.
//!
//! The layout of the 128 bytes, where elements lie, and what is outside are as measured on an H200
//! (`tests/exec/tensor_answers.c`). Interleaved layouts and `im2col` have no tiles here.

use crate::isa::Type;
use crate::kernel::MAX_RANK;

/// Words of a tensor map.
pub(super) const MAP_WORDS: usize = 32;
/// Bytes of a tensor map.
pub const MAP_BYTES: u64 = 128;
/// Bytes to which a tensor map is aligned.
pub(super) const MAP_ALIGN: u64 = 64;
/// Bytes to which a tile in shared memory is aligned.
pub(super) const TILE_ALIGN: u64 = 128;
/// Bytes to which bulk copies are aligned, and that a swizzle moves together.
pub(super) const UNIT: u64 = 16;
/// Largest tile in bytes.
const MOST_BYTES: u64 = 228 << 10;
/// NaN of two bytes that fills tiles outside of a tensor.
const NAN: u16 = 0x7ff7;

/// Element of a tensor, in the order of `CUtensorMapDataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "names of types")]
pub enum TensorElement {
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F32,
    F64,
    Bf16,
    /// `f32` whose reductions flush subnormal values to 0.
    F32Ftz,
    /// `f32` that loads round to ten bits of mantissa.
    Tf32,
    /// Both.
    Tf32Ftz,
}

impl TensorElement {
    /// All, by number.
    pub const ALL: [TensorElement; 13] = {
        use TensorElement::*;
        [U8, U16, U32, S32, U64, S64, F16, F32, F64, Bf16, F32Ftz, Tf32, Tf32Ftz]
    };
    /// Bits of a map, by number.
    const BITS: [u32; 13] = {
        const TF32: u32 = 1 << 9;
        [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 7 | TF32, 8 | TF32]
    };

    /// Returns the type in memory.
    pub fn ty(self) -> Type {
        use TensorElement::*;
        match self {
            U8 => Type::U8,
            U16 => Type::U16,
            U32 => Type::U32,
            S32 => Type::S32,
            U64 => Type::U64,
            S64 => Type::S64,
            F16 => Type::F16,
            F64 => Type::F64,
            Bf16 => Type::BF16,
            F32 | F32Ftz | Tf32 | Tf32Ftz => Type::F32,
        }
    }

    /// Returns true if reductions flush subnormal values to 0.
    pub(super) fn flushes(self) -> bool {
        matches!(self, TensorElement::F32Ftz | TensorElement::Tf32Ftz)
    }

    /// Returns true if loads round to TF32.
    pub(super) fn rounds(self) -> bool {
        matches!(self, TensorElement::Tf32 | TensorElement::Tf32Ftz)
    }
}

/// Tensor in global memory and the size of its tiles. Innermost dimension first; dimensions past
/// `rank` have size 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// Type of the elements.
    pub element: TensorElement,
    /// Number of dimensions, 1 to 5.
    pub rank: usize,
    /// Address of the first element, a multiple of 16.
    pub address: u64,
    /// Elements by dimension.
    pub sizes: [u64; MAX_RANK],
    /// Bytes from one element to the next in all dimensions but the first, multiples of 16.
    pub strides: [u64; MAX_RANK - 1],
    /// Extent of a tile in elements of the tensor by dimension, 1 to 256.
    pub tile: [u32; MAX_RANK],
    /// Every which element of the extent belongs to the tile, by dimension, 1 to 8; the first one
    /// has no effect.
    pub steps: [u32; MAX_RANK],
    /// Interleaved layout: 0 for none, 1 for 16 and 2 for 32 bytes.
    pub interleave: u32,
    /// Swizzle: 0 for none, 1 to 3 for 32, 64 and 128 bytes.
    pub swizzle: u32,
    /// Number of the hint that L2 fetches more than the tile needs. Without effect.
    pub promotion: u32,
    /// True if NaN fills what is outside of the tensor, not zeros.
    pub nan: bool,
}

/// Bytes of a tile that follow each other in shared and in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TileRun {
    /// Address in shared memory, a multiple of 16.
    pub shared: u64,
    /// Address in global memory, a multiple of 16, if `inside` is not 0.
    pub global: u64,
    /// Bytes inside of the tensor.
    pub inside: u64,
    /// Bytes in shared memory; those past `inside` have no place in the tensor.
    pub bytes: u64,
}

impl TensorMap {
    /// Returns what is wrong with the map, for which CUDA's driver makes none.
    pub fn mistake(&self) -> Option<&'static str> {
        let bytes = u64::from(self.element.ty().bytes());
        let (rank, row) = (self.rank, u64::from(self.tile[0]) * bytes);
        let sizes = &self.sizes[..rank.min(MAX_RANK)];
        let strides = &self.strides[..rank.clamp(1, MAX_RANK) - 1];
        let each = |values: &[u32; MAX_RANK], most| {
            values.iter().take(rank).all(|value| (1..=most).contains(value))
        };
        let align = if self.interleave == 2 { 2 * UNIT } else { UNIT };
        let wrong = [
            (!(1..=MAX_RANK).contains(&rank), "it has 1 to 5 dimensions"),
            (!sizes.iter().all(|size| (1..=1 << 32).contains(size)), "a size is 1 to 2^32"),
            (!each(&self.tile, 256), "a tile has 1 to 256 elements in each dimension"),
            (!each(&self.steps, 8), "steps are 1 to 8"),
            (
                !self.address.is_multiple_of(align) || self.address >= 1 << 57,
                "it starts at a multiple of 16 bytes (32 if interleaved by 32)",
            ),
            (
                strides.iter().any(|stride| !stride.is_multiple_of(align) || *stride >= 1 << 40),
                "strides are multiples of 16 bytes (32 if interleaved by 32) below 2^40",
            ),
            (!row.is_multiple_of(UNIT), "rows of a tile are multiples of 16 bytes"),
            (
                self.interleave == 0 && self.swizzle != 0 && row > UNIT << self.swizzle,
                "rows of a swizzled tile are at most as long as the swizzle",
            ),
            (self.nan && !self.element.ty().is_float(), "only floats can be filled by NaN"),
            (self.interleave != 0 && rank < 3, "an interleaved tensor has 3 dimensions or more"),
            (self.interleave > 2 || self.swizzle > 3 || self.promotion > 3, "an option is unknown"),
            (self.tile_bytes() > MOST_BYTES, "a tile has at most 228 KB"),
        ];
        wrong.into_iter().find_map(|(wrong, why)| wrong.then_some(why))
    }

    /// Returns the bytes of a tile by the driver's count, which rounds down.
    fn tile_bytes(&self) -> u64 {
        let counts = self.tile.iter().zip(&self.steps).take(self.rank);
        let elements = counts.map(|(&tile, &step)| u64::from(tile / step.max(1)));
        elements.product::<u64>() * u64::from(self.element.ty().bytes())
    }

    /// Returns the 128 bytes of the map. The map must have no [mistake](TensorMap::mistake).
    pub fn encode(&self) -> [u64; MAP_WORDS / 2] {
        let mut words = [0; MAP_WORDS / 2];
        let stride = |i: usize| if i + 1 < self.rank { self.strides[i] / UNIT } else { 0 };
        let size = |i: usize| if i < self.rank { (self.sizes[i] - 1) & LOW } else { 0 };
        let tile = |i: usize| if i < self.rank { u64::from(self.tile[i] - 1) } else { 0 };
        let step = |i: usize| if i < self.rank { u64::from(self.steps[i] - 1) } else { 0 };
        let flags = TensorElement::BITS[self.element as usize] << 7
            | (self.rank as u32 - 1) << 4
            | self.interleave << 11
            | self.swizzle << 13
            | u32::from(self.nan) << 15
            | self.promotion << 17;
        words[0] = self.address;
        words[1] = u64::from(flags) | (stride(0) & LOW) << 32;
        words[2] = stride(1) & LOW | (stride(2) & LOW) << 32;
        words[3] = (0..4).fold(stride(3) & LOW, |word, i| word | stride(i) >> 32 << (32 + 4 * i));
        words[4] = size(0) | size(1) << 32;
        words[5] = size(2) | size(3) << 32;
        words[6] = (0..MAX_RANK).fold(size(4), |word, i| word | step(i) << (32 + 3 * i));
        words[6] |= tile(0) << 56;
        words[7] = (1..MAX_RANK).fold(0, |word, i| word | tile(i) << (8 * (i - 1)));
        // For the driver alone: copies do not read the rest.
        words[8] = self.tile_bytes();
        words[9] = if self.swizzle == 0 { UNIT } else { 128 << self.swizzle };
        words
    }

    /// Reads a map, which may have a [mistake](TensorMap::mistake). `None` if it is none.
    pub(super) fn decode(words: &[u32; MAP_WORDS]) -> Option<TensorMap> {
        let word = |i: usize| u64::from(words[2 * i + 1]) << 32 | u64::from(words[2 * i]);
        let flags = words[2];
        let number = TensorElement::BITS.iter().position(|&bits| bits == flags >> 7 & 0x20f)?;
        let rank = (flags >> 4 & 7) as usize + 1;
        let stride = |i: usize| {
            let low = [words[3], words[4], words[5], words[6]][i];
            (u64::from(low) | (word(3) >> (32 + 4 * i) & 0xf) << 32) * UNIT
        };
        let size = |i: usize| u64::from(words[8 + i]) + 1;
        let tile = |i: usize| match i {
            0 => (words[13] >> 24) + 1,
            _ => (words[14] >> (8 * (i - 1)) & 0xff) + 1,
        };
        Some(TensorMap {
            element: *TensorElement::ALL.get(number)?,
            rank,
            address: word(0),
            sizes: std::array::from_fn(size),
            strides: std::array::from_fn(stride),
            tile: std::array::from_fn(tile),
            steps: std::array::from_fn(|i| (words[13] >> (3 * i) & 7) + 1),
            interleave: flags >> 11 & 3,
            swizzle: flags >> 13 & 3,
            promotion: flags >> 17 & 3,
            nan: flags >> 15 & 1 != 0,
        })
    }

    /// Returns the bytes that a tile takes in shared memory. Rows of a swizzled tile are as far
    /// apart as the swizzle is long.
    pub(super) fn shared_bytes(&self) -> u64 {
        let rows = self.counts().iter().map(|&count| u64::from(count)).product::<u64>();
        rows.saturating_mul(self.pitch())
    }

    /// Returns the rows of a tile by dimension. The first dimension is in the rows.
    fn counts(&self) -> [u32; MAX_RANK] {
        std::array::from_fn(|i| if i == 0 { 1 } else { self.tile[i].div_ceil(self.steps[i]) })
    }

    /// Returns the bytes from one row of a tile to the next in shared memory.
    fn pitch(&self) -> u64 {
        match self.swizzle {
            0 => u64::from(self.tile[0] * self.element.ty().bytes()),
            swizzle => UNIT << swizzle,
        }
    }

    /// Returns the two bytes that fill a tile outside of the tensor.
    pub(super) fn fill(&self) -> u16 {
        if self.nan { NAN } else { 0 }
    }

    /// Returns the coordinates' first problem: the first one must be a multiple of 16 bytes.
    pub(super) fn is_aligned(&self, at: i32) -> bool {
        (i64::from(at) * i64::from(self.element.ty().bytes())).rem_euclid(UNIT as i64) == 0
    }

    /// Returns the runs of the tile at coordinates `at`, which is at `shared` in shared memory.
    pub(super) fn runs(&self, at: [i32; MAX_RANK], shared: u64) -> Vec<TileRun> {
        let bytes = i64::from(self.element.ty().bytes());
        let row = i64::from(self.tile[0]) * bytes;
        let (pitch, counts) = (self.pitch(), self.counts());
        // Bytes of a row that are inside.
        let from = -(i64::from(at[0]) * bytes).min(0);
        let until = (self.sizes[0] as i64 - i64::from(at[0])) * bytes;
        let rows: u64 = counts.iter().map(|&count| u64::from(count)).product();
        let mut runs: Vec<TileRun> = Vec::new();
        for number in 0..rows {
            let mut rest = number;
            let (mut inside, mut start) = (true, i64::from(at[0]) * bytes);
            for i in 1..MAX_RANK {
                let count = u64::from(counts[i]);
                let step = rest % count * u64::from(self.steps[i]);
                rest /= count;
                let place = i64::from(at[i]) + step as i64;
                inside &= (0..self.sizes[i] as i64).contains(&place);
                start = start.wrapping_add(place.wrapping_mul(self.strides[i - 1] as i64));
            }
            for unit in (0..row).step_by(UNIT as usize) {
                let valid = (until - unit).clamp(0, UNIT as i64) as u64;
                let valid = if inside && unit >= from { valid } else { 0 };
                let place = shared + number * pitch + unit as u64;
                let run = TileRun {
                    shared: self.swizzled(place),
                    global: self.address.wrapping_add_signed(start + unit),
                    inside: valid,
                    bytes: UNIT,
                };
                match runs.last_mut() {
                    Some(last) if last.continues(&run) => {
                        last.inside += run.inside;
                        last.bytes += run.bytes;
                    }
                    _ => runs.push(run),
                }
            }
        }
        runs
    }

    /// Returns where a byte of a tile is in shared memory.
    fn swizzled(&self, address: u64) -> u64 {
        let mask = (1 << self.swizzle) - 1;
        address ^ (address >> 7 & mask) << 4
    }
}

impl TileRun {
    /// Returns true if `next` follows in both memories, or follows it without a place in the
    /// tensor.
    fn continues(&self, next: &TileRun) -> bool {
        let whole = self.inside == self.bytes && next.global == self.global + self.bytes;
        next.shared == self.shared + self.bytes && (whole || next.inside == 0)
    }
}

/// Lower half of a 64-bit word.
const LOW: u64 = 0xffff_ffff;

/// Rounds a float to TF32: to the nearest with ten bits of mantissa. NaN is one value.
pub(super) fn tf32(bits: u32) -> u32 {
    const EXPONENT: u32 = 0x7f80_0000;
    match bits & !(1 << 31) {
        special if special > EXPONENT => 0x7fff_e000,
        EXPONENT => bits,
        _ => (bits + 0x0fff + (bits >> 13 & 1)) & !0x1fff,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> TensorMap {
        TensorMap {
            element: TensorElement::F32,
            rank: 2,
            address: 0x1000,
            sizes: [10, 4, 1, 1, 1],
            strides: [48, 0, 0, 0],
            tile: [8, 2, 1, 1, 1],
            steps: [1; MAX_RANK],
            interleave: 0,
            swizzle: 0,
            promotion: 0,
            nan: true,
        }
    }

    #[test]
    fn an_encoded_map_is_read_again() {
        let strides = [1 << 36, (1 << 40) - 16, 48, 1 << 39];
        let large = TensorMap {
            element: TensorElement::Tf32Ftz,
            rank: 5,
            sizes: [1 << 32, 7, 8, 9, 1],
            strides,
            tile: [8, 3, 4, 2, 16],
            steps: [1, 2, 8, 1, 3],
            swizzle: 2,
            promotion: 3,
            ..map()
        };
        for map in [map(), large] {
            assert_eq!(map.mistake(), None);
            let words: Vec<u32> =
                map.encode().iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect();
            assert_eq!(TensorMap::decode(words.first_chunk().expect("32 words")), Some(map));
        }
        assert_eq!(TensorMap::decode(&[u32::MAX; MAP_WORDS]), None);
    }

    #[test]
    fn runs_end_where_memories_part() {
        let run = |shared, global, inside, bytes| TileRun { shared, global, inside, bytes };
        // Columns 4 to 11 of rows 3 and 4: two columns and one row are outside.
        assert_eq!(map().runs([4, 3, 0, 0, 0], 128), [run(128, 0x10a0, 24, 64)]);
        // Columns -4 to 3 of rows -1 and 0.
        let left = map().runs([-4, -1, 0, 0, 0], 128);
        assert_eq!(left[0], run(128, 0x1000 - 64, 0, 48));
        assert_eq!(left[1..], [run(176, 0x1000, 16, 16)]);
        // Rows of 32 bytes; bit 4 of an address changes by bit 7.
        let swizzled = TensorMap { swizzle: 1, ..map() };
        let last = swizzled.runs([0, 2, 0, 0, 0], 128 + 32);
        assert_eq!(last[0], run(128 + 48, 0x1060, 16, 16));
        assert_eq!(last[1], run(128 + 32, 0x1070, 16, 16));
        let every_second = TensorMap { steps: [1, 2, 1, 1, 1], tile: [4, 3, 1, 1, 1], ..map() };
        let rows = every_second.runs([0; MAX_RANK], 0);
        assert_eq!(rows, [run(0, 0x1000, 16, 16), run(16, 0x1060, 16, 16)]);
    }

    #[test]
    fn tf32_has_ten_bits_of_mantissa() {
        for (bits, rounded) in [
            (0x3f80_1000, 0x3f80_0000),
            (0x3f80_3000, 0x3f80_4000),
            (0x3f80_1001, 0x3f80_2000),
            (0x7f7f_ffff, 0x7f80_0000),
            (0xff80_0000, 0xff80_0000),
            (0xff80_0001, 0x7fff_e000),
            (0x8000_0001, 0x8000_0000),
        ] {
            assert_eq!(tf32(bits), rounded, "{bits:08x}");
        }
    }
}
