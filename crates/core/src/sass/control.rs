//! Control word of a machine instruction: what the compiler decided about time.
//!
//! Bits 105 to 125 of the 128-bit encoding (Volta on; Jia et al., "Dissecting the NVIDIA Volta GPU
//! Architecture via Microbenchmarking", checked on the cubins of this project).

use crate::isa::ControlWord;

/// Decodes the control word of an encoding.
pub(super) fn decode(encoding: u128) -> ControlWord {
    let c = (encoding >> 105) as u32 & 0x1f_ffff;
    let counter = |bits: u32| u8::try_from(bits & 7).ok().filter(|&n| n < 6);
    ControlWord {
        stall: (c & 15) as u8,
        yields: c >> 4 & 1 == 0,
        write_counter: counter(c >> 5),
        read_counter: counter(c >> 8),
        waits: (c >> 11 & 0x3f) as u8,
        reuse: (c >> 17 & 15) as u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_and_its_user() {
        // LDC R1, c[0x0][0x28], S2R R0, SR_CTAID.X and IMAD R5, R11, R0, RZ of a reduction.
        let of = |high: u64, low: u64| decode(u128::from(high) << 64 | u128::from(low));
        let load = of(0x000f_e200_0000_0800, 0x0000_0a00_ff01_7b82);
        assert_eq!((load.stall, load.write_counter, load.read_counter), (1, None, None));
        let special = of(0x000e_2e00_0000_2500, 0x0000_0000_0000_7919);
        assert_eq!((special.stall, special.write_counter, special.waits), (7, Some(0), 0));
        let user = of(0x001f_ca00_078e_02ff, 0x0000_0000_0b05_7224);
        assert_eq!((user.stall, user.write_counter, user.waits), (5, None, 1));
    }
}
