//! Lines of real listings, executed in all lanes and compared with plain Rust.

mod bits;
mod chains;
mod compare;
mod sums;

use super::super::{Lowering, Missing, Rows, element_wise, text};
use crate::base::LaneMask;
use crate::exec::{RegisterFile, element_wise as execute};
use crate::kernel::{Op, Predicate, Register, Row};

/// Thread and uniform registers of the tests.
const THREADS: u16 = 40;
const UNIFORMS: u16 = 12;
/// Lanes that execute.
const LANES: LaneMask = LaneMask(0xff3d_91f7);
/// Values at which integer functions change.
const EDGES: [u32; 20] = [
    0,
    1,
    2,
    3,
    8,
    24,
    31,
    32,
    33,
    63,
    64,
    0x7f,
    0x80,
    0xffff,
    0x8000,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fffe,
    0xffff_ffff,
];

/// Expected value of a register or predicate.
#[derive(Clone, Copy, Debug)]
enum Out {
    R(u8, u32),
    /// A pair.
    W(u8, u64),
    P(u8, bool),
    U(u8, u32),
    UP(u8, bool),
}
use Out::{P, R, U, UP, W};

/// Registers before an instruction, as one lane sees them.
struct Before<'a> {
    file: &'a RegisterFile,
    lane: usize,
}

impl Before<'_> {
    fn r(&self, number: u16) -> u32 {
        self.file.narrow[usize::from(number)][self.lane]
    }
    fn w(&self, number: u16) -> u64 {
        u64::from(self.r(number + 1)) << 32 | u64::from(self.r(number))
    }
    fn u(&self, number: u16) -> u32 {
        self.r(THREADS + 2 + number)
    }
    fn p(&self, number: u16) -> bool {
        self.file.predicates[usize::from(number)] >> self.lane & 1 == 1
    }
    fn up(&self, number: u16) -> bool {
        self.p(8 + number)
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as u32
    }
    fn value(&mut self) -> u32 {
        match self.next() % 3 {
            0 => self.next(),
            1 => EDGES[self.next() as usize % EDGES.len()],
            _ => self.next() >> (self.next() % 32),
        }
    }
    /// Fills registers and predicates; uniform ones with one value.
    fn fill(&mut self, file: &mut RegisterFile) {
        for number in 0..THREADS {
            file.narrow[usize::from(number)] = std::array::from_fn(|_| self.value());
        }
        for number in 0..UNIFORMS {
            file.narrow[usize::from(THREADS + 2 + number)] = [self.value(); 32];
        }
        for number in 0..7 {
            file.predicates[number] = self.next();
            file.predicates[8 + number] = if self.next() & 1 == 1 { u32::MAX } else { 0 };
        }
    }
}

/// A lowered line: operation, registers read, registers written, rows.
fn lowered(line: &str) -> Result<(Op, Vec<Register>, Vec<Register>, Rows), Missing> {
    let (instruction, encoding) = line.split_once(';').unwrap_or((line, ""));
    let encoding = encoding.trim().trim_start_matches("/* 0x").trim_end_matches(" */");
    let encoding = u128::from_str_radix(encoding, 16).unwrap_or_default();
    let text = text::parse(instruction.trim()).unwrap_or_else(|e| panic!("{line}: {e:?}"));
    let mut rows = Rows::new(THREADS, UNIFORMS);
    let mut lowering = Lowering::new(text, encoding, &mut rows);
    let native = element_wise(&mut lowering)?;
    let (reads, writes) = (lowering.reads, lowering.writes);
    Ok((Op::Native(Box::new(native)), reads, writes, rows))
}

/// Executes a line on many register files and compares every register with `expect`.
///
/// A result of `expect` that the lowering does not list as written is an error, and so is one that
/// changes with a register that the lowering does not list as read.
#[track_caller]
fn check(line: &str, expect: impl Fn(&Before<'_>) -> Vec<Out>) {
    check_some(line, 12, expect);
}

/// As [`check`], on a number of register files.
#[track_caller]
fn check_some(line: &str, files: u32, expect: impl Fn(&Before<'_>) -> Vec<Out>) {
    let (op, reads, writes, rows) = lowered(line).unwrap_or_else(|e| panic!("{line}: {e:?}"));
    let name = line.split(['.', ' ']).find(|word| !word.starts_with('@')).unwrap_or_default();
    assert!(crate::isa::opcode(name).is_some(), "{line}: isa/sass.ron has no row");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..files {
        let mut before = RegisterFile::new(&rows.registers);
        random.fill(&mut before);
        let mut after = before.clone();
        execute(&op, LANES, &mut after);
        let mut others = RegisterFile::new(&rows.registers);
        random.fill(&mut others);
        for register in &reads {
            copy(*register, &before, &mut others);
        }
        execute(&op, LANES, &mut others);

        let mut expected = before.clone();
        for lane in 0..32 {
            for out in expect(&Before { file: &before, lane }) {
                for (register, value) in cells(out) {
                    assert!(writes.contains(&register), "{line}: {register:?} is not in writes");
                    let uniform = matches!(out, U(..) | UP(..));
                    if uniform || LANES.0 >> lane & 1 == 1 {
                        expected.set(register, lane as u32, value.into());
                        let seen = others.get(register, lane as u32);
                        assert_eq!(seen, value.into(), "{line}: reads {reads:?}, lane {lane}");
                    }
                }
            }
        }
        for (number, (was, is)) in expected.narrow.iter().zip(after.narrow.iter()).enumerate() {
            for lane in 0..32 {
                let from = &before.narrow;
                let inputs: Vec<String> = (reads.iter())
                    .filter_map(|r| match r {
                        Register::Narrow(row) => Some(usize::from(row.0)),
                        _ => None,
                    })
                    .map(|row| format!("{row}={:#x}", from[row][lane]))
                    .collect();
                assert_eq!(was[lane], is[lane], "{line}: row {number} lane {lane}: {inputs:x?}");
            }
        }
        assert_eq!(expected.predicates, after.predicates, "{line}: predicates");
    }
}

/// Registers and values of an expectation.
fn cells(out: Out) -> Vec<(Register, u32)> {
    let narrow = |number: u16, value| (Register::Narrow(Row(number)), value);
    let bit = |number: u16, value| (Register::Predicate(Predicate(number)), u32::from(value));
    match out {
        R(number, value) => vec![narrow(number.into(), value)],
        W(number, value) => vec![
            narrow(number.into(), value as u32),
            narrow(u16::from(number) + 1, (value >> 32) as u32),
        ],
        U(number, value) => vec![narrow(THREADS + 2 + u16::from(number), value)],
        P(number, value) => vec![bit(number.into(), value)],
        UP(number, value) => vec![bit(8 + u16::from(number), value)],
    }
}

fn copy(register: Register, from: &RegisterFile, to: &mut RegisterFile) {
    for lane in 0..32 {
        to.set(register, lane, from.get(register, lane));
    }
}

#[test]
fn a_pair_counts_as_two_registers() {
    let row = |number| Register::Narrow(Row(number));
    let (_, reads, writes, _) = lowered("IMAD.WIDE R4, R0, 0x4, R4").expect("supported");
    assert_eq!(reads, [row(0), row(4), row(5)]);
    assert_eq!(writes, [row(4), row(5)]);
    let (_, reads, writes, _) = lowered("IADD3.X RZ, P0, R2, UR5, RZ, P0, !PT").expect("supported");
    let p0 = Register::Predicate(Predicate(0));
    assert_eq!(reads, [row(2), row(THREADS + 2 + 5), p0]);
    assert_eq!(writes, [p0]);
}

#[test]
fn unknown_forms_are_missing() {
    let operands = |line| assert_eq!(lowered(line).err(), Some(Missing::Operands), "{line}");
    let modifier = |line, name: &str| {
        assert_eq!(lowered(line).err(), Some(Missing::Modifier(name.to_owned())), "{line}");
    };
    modifier("IADD3.Q R0, R1, R2, R3", "Q");
    modifier("ISETP.LTU.AND P0, PT, R1, R2, PT", "LTU");
    modifier("IDP.8A.U8.U8 R0, R1, R2, R3", "neither 4A nor 2A");
    operands("IADD3 R0, R1, R2");
    operands("IADD3 R0, R1, R2, R3, R4");
    operands("IADD3 R0, R1, R2, R3, P0, P1, P2");
    operands("LOP3.LUT R0, R1, R2, R3, 0x100, !PT");
    operands("LEA R0, R1, R2, 0x20");
    operands("LEA.HI R0, -R1, R2, R3, 0x2");
    operands("LEA.X R0, ~R1, R2, 0x2, P0");
    operands("IADD3 R0, R1.H0, R2, R3");
    operands("IADD3 R0, |R1|, R2, R3");
    operands("MOV R0, SR_TID.X");
    // The pair ends in a register that the kernel does not have.
    operands("IMAD.WIDE R39, R0, R1, R2");
    operands("IMAD.WIDE R2, R0, R1, R254");
    assert_eq!(lowered("FROB R0, R1").err(), Some(Missing::Opcode));
}
