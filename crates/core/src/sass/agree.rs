//! Comparison of a machine instruction's text with its encoding.
//!
//! Fields of the 128-bit encoding (seen in all listings of nvcc 13 for sm_90): opcode in bits 0 to
//! 8, guard in 12 to 15, result register in 16 to 23, 32-bit immediate in 32 to 63, constant
//! operand as offset / 4 in 40 to 53 and bank in 54 to 58.

use super::text::{Operand, Text};
use crate::isa::Opcode;

/// Opcodes whose first register is read.
const READ_FIRST: [&str; 9] =
    ["BAR", "BRA", "BRX", "BRXU", "CALL", "JMX", "NANOSLEEP", "RET", "WARPSYNC"];
/// Opcodes whose integer operand is the 32-bit immediate.
const IMMEDIATE: [&str; 15] = [
    "IADD3", "IMAD", "ISETP", "MOV", "PRMT", "SEL", "SHF", "UIADD3", "UIMAD", "UISETP", "UMOV",
    "USEL", "USHF", "VIADD", "VIMNMX",
];

/// Describes how the encoding contradicts the text; `None` if they agree.
pub(super) fn contradiction(text: &Text<'_>, row: &Opcode, encoding: u128) -> Option<String> {
    let bits = |from: u32, count: u32| (encoding >> from) as u64 & ((1 << count) - 1);
    let opcode = bits(0, 9);
    if !row.codes.iter().any(|&code| u64::from(code) == opcode) {
        return Some(format!("opcode 0x{opcode:x}"));
    }
    let guard = text.guard.map_or(7, |p| p.number | u8::from(p.negated) << 3);
    if bits(12, 4) != u64::from(guard) {
        return Some("another guard".to_owned());
    }
    // A fetch has two vectors of results; the first two results are in the second one.
    let result = usize::from(matches!(text.name, "TEX" | "TLD" | "TLD4" | "TXD" | "TXQ"));
    if let Some(Operand::Register(name, _)) = text.operands.get(result)
        && !READ_FIRST.contains(&text.name)
    {
        let (number, letter) = if name.uniform { (bits(16, 6), "UR") } else { (bits(16, 8), "R") };
        if number != u64::from(name.number) {
            return Some(format!("result register {letter}{number}"));
        }
    }
    for operand in &text.operands {
        match *operand {
            Operand::Integer(value) if IMMEDIATE.contains(&text.name) => {
                let immediate = bits(32, 32);
                if immediate != u64::from(value as u32) {
                    return Some(format!("immediate 0x{immediate:x}"));
                }
            }
            Operand::Constant { bank, index: None, offset, .. } if offset % 4 == 0 => {
                let (in_bank, at) = (bits(54, 5), 4 * bits(40, 14));
                if in_bank != u64::from(bank) || i64::try_from(at) != Ok(offset) {
                    return Some(format!("constant c[0x{in_bank:x}][0x{at:x}]"));
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::opcode;
    use crate::sass::text;

    fn found(line: &str, encoding: u128) -> Option<String> {
        let text = text::parse(line).expect("readable");
        contradiction(&text, opcode(text.name).expect("a known opcode"), encoding)
    }

    #[test]
    fn each_field_is_compared() {
        let multiply = 0x004f_ca00_078e_0207_0000_0003_0207_7824;
        assert_eq!(found("IMAD R7, R2, 0x3, R7", multiply), None);
        for (text, expected) in [
            ("IADD3 R7, R2, 0x3, R7", "opcode 0x24"),
            ("@P0 IMAD R7, R2, 0x3, R7", "another guard"),
            ("IMAD R8, R2, 0x3, R7", "result register R7"),
            ("IMAD R7, R2, 0x5, R7", "immediate 0x3"),
        ] {
            assert_eq!(found(text, multiply).as_deref(), Some(expected), "{text}");
        }
        let signs = 0x000f_e400_0870_0204_0000_0008_0500_729f;
        let text = "UPLOP3.LUT UP0, UPT, UR5.SIGN, UR8.SIGN, UR4.SIGN, 0x2, 0x0";
        assert_eq!(found(text, signs), None);
        let load = 0x000f_c800_0000_0800_0000_8800_0004_7ab9;
        assert_eq!(found("ULDC UR4, c[0x0][0x220]", load), None);
        assert_eq!(
            found("ULDC UR4, c[0x0][0x224]", load).as_deref(),
            Some("constant c[0x0][0x220]")
        );
        assert_eq!(found("ULDC UR5, c[0x0][0x220]", load).as_deref(), Some("result register UR4"));
    }
}
