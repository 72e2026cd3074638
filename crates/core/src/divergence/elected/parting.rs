//! Random programs of branches, barriers, yields and returns, against the traces of an H200
//! (docs/elections.md).

use super::*;

/// Lanes of the GPU's warp.
const LANES: u32 = 32;
/// Registers of a lane.
const REGISTERS: usize = 32;
/// Register that holds where lanes return to.
const RETURN: usize = 8;

/// Registers of the lanes.
struct Registers([[u32; LANES as usize]; REGISTERS]);

impl Registers {
    /// Sets a register of `lanes`.
    fn set(&mut self, register: usize, lanes: LaneMask, value: u32) {
        lanes.lanes().for_each(|lane| self.0[register][lane as usize] = value);
    }

    /// Returns the lanes that a register sends to each target.
    fn sides(&self, register: usize, lanes: LaneMask) -> Vec<Side> {
        let mut sides: Vec<Side> = Vec::new();
        for lane in lanes.lanes() {
            let (pc, lanes) = (Pc(self.0[register][lane as usize]), LaneMask::lane(lane));
            match sides.iter_mut().find(|side| side.pc == pc) {
                Some(side) => side.lanes |= lanes,
                None => sides.push(Side { pc, lanes }),
            }
        }
        sides
    }
}

/// A number of a program: masks are hexadecimal, the rest is decimal.
fn mask(word: Option<&str>) -> LaneMask {
    LaneMask(u32::from_str_radix(word.expect("a mask"), 16).expect("hexadecimal"))
}

fn number(word: Option<&str>) -> u32 {
    word.expect("a number").parse().expect("decimal")
}

/// Trace and instruction count of a warp.
struct Run {
    /// Number and active mask of each `log`.
    trace: Vec<(u32, LaneMask)>,
    /// Machine instructions executed.
    executed: u32,
}

/// Instructions before a program.
const PROLOGUE: u32 = 17;

/// Returns the number of machine instructions of an operation (`assemble.py`).
fn instructions(operation: &str) -> u32 {
    match operation.split(' ').next().expect("an operation") {
        "log" | "ret" => 6,
        "bra" | "break" | "save" | "take" | "set" | "bit" | "call" => 2,
        "exit" if operation != "exit" => 2,
        _ => 1,
    }
}

/// Runs a program.
fn run(program: &str) -> Run {
    let program: Vec<&str> = program.split("; ").collect();
    let mut executed = PROLOGUE;
    let mut warp = Elected::new(LaneMask::FULL, Pc(0), SideOrder::Fewer);
    let mut registers = Registers([[0; LANES as usize]; REGISTERS]);
    let mut trace = Vec::new();
    while let Some((pc, active)) = warp.active() {
        let operation = program[pc.0 as usize];
        let mut words = operation.split(' ');
        executed += if warp.are_left() { 1 } else { instructions(operation) };
        let next = Pc(pc.0 + 1);
        match words.next().expect("an operation") {
            "log" => {
                trace.push((number(words.next()), active));
                warp.advance(Flow::Next { next });
            }
            "bra" => {
                let taken = mask(words.next()) & active;
                let target = Pc(number(words.next()));
                warp.advance(Flow::Branch { taken, target, next, reconverge: None });
            }
            "bssy" => warp.advance(Flow::Set { join: JoinId(number(words.next())), next }),
            "bsync" => warp.advance(Flow::Sync { join: JoinId(number(words.next())), next }),
            "break" => {
                let lanes = mask(words.next()) & active;
                warp.leave(JoinId(number(words.next())), lanes, next);
            }
            "exit" => {
                let lanes = words.next().map_or(LaneMask::FULL, |word| mask(Some(word))) & active;
                let flow = Flow::Exit { lanes, next };
                warp.advance(if lanes.is_empty() { Flow::Next { next } } else { flow });
            }
            "yield" => warp.advance(Flow::Yield { next }),
            save @ ("save" | "take") => {
                let register = number(words.next()) as usize;
                let value = warp.barrier(JoinId(number(words.next())), save == "take", next);
                registers.set(register, active, value.0);
            }
            "load" => {
                let join = JoinId(number(words.next()));
                let register = &registers.0[number(words.next()) as usize];
                let lowest = active.lowest().expect("a lane");
                warp.set_barrier(join, LaneMask(register[lowest as usize]));
                warp.advance(Flow::Next { next });
            }
            "set" => {
                let register = number(words.next()) as usize;
                let (lanes, value) = (mask(words.next()) & active, mask(words.next()));
                registers.set(register, lanes, value.0);
                warp.advance(Flow::Next { next });
            }
            "copy" => {
                let (to, from) = (number(words.next()) as usize, number(words.next()) as usize);
                for lane in active.lanes().map(|lane| lane as usize) {
                    registers.0[to][lane] = registers.0[from][lane];
                }
                warp.advance(Flow::Next { next });
            }
            "add" => {
                let register = &mut registers.0[number(words.next()) as usize];
                let value = mask(words.next()).0;
                for lane in active.lanes().map(|lane| lane as usize) {
                    register[lane] = register[lane].wrapping_add(value);
                }
                warp.advance(Flow::Next { next });
            }
            "bit" => {
                let register = registers.0[number(words.next()) as usize];
                let (flip, target) = (mask(words.next()), Pc(number(words.next())));
                let has = |lane: &u32| LaneMask(register[*lane as usize] ^ flip.0).contains(*lane);
                let taken = active.lanes().filter(has).map(LaneMask::lane);
                let taken = taken.fold(LaneMask::EMPTY, |all, lane| all | lane);
                warp.advance(Flow::Branch { taken, target, next, reconverge: None });
            }
            "call" => {
                registers.set(RETURN, active, next.0);
                warp.advance(Flow::Next { next: Pc(number(words.next())) });
            }
            "return" => warp.split(&registers.sides(RETURN, active)),
            "ret" => {
                registers.set(RETURN, active, number(words.next()));
                for _ in 0..2 {
                    let (lanes, target) = (mask(words.next()), number(words.next()));
                    registers.set(RETURN, lanes & active, target);
                }
                warp.split(&registers.sides(RETURN, active));
            }
            other => panic!("`{other}` is no operation"),
        }
    }
    assert!(warp.live().is_empty(), "lanes hang");
    Run { trace, executed }
}

/// Returns the lines of a file of the observations.
fn lines(file: &str) -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/observations/h200/parting");
    let text = std::fs::read_to_string(format!("{folder}/{file}")).expect("the observations");
    text.lines().filter(|line| !line.starts_with('#')).map(String::from).collect()
}

/// Programs whose lanes ran as on a GPU.
#[derive(Debug, PartialEq, Eq)]
struct Equal {
    /// Programs with the GPU's trace.
    trace: usize,
    /// Programs with the GPU's trace and number of instructions, where that was counted.
    executed: usize,
    of: usize,
}

impl Equal {
    fn new(trace: usize, executed: usize, of: usize) -> Equal {
        Equal { trace, executed, of }
    }
}

/// Compares the programs of a file.
fn equal(file: &str) -> Equal {
    let counts = lines("executed.txt");
    let counts = counts.iter().find_map(|line| line.strip_prefix(file)?.strip_prefix(' '));
    let mut counts = counts.map(|line| line.split(' ').map(|word| number(Some(word))));
    let mut equal = Equal::new(0, 0, 0);
    for pair in lines(file).chunks(2) {
        let entry = |entry: &str| {
            let mut words = entry.split(' ');
            (number(words.next()), mask(words.next()))
        };
        let Run { trace, executed } = run(&pair[0]);
        let same = trace.into_iter().eq(pair[1].split(", ").map(entry));
        let count = counts.as_mut().map(|counts| counts.next().expect("a count"));
        equal.trace += usize::from(same);
        equal.executed += usize::from(same && count == Some(executed));
        equal.of += 1;
    }
    equal
}

#[test]
fn random_programs_run_their_lanes_as_on_a_gpu() {
    assert_eq!(equal("rules.txt"), Equal::new(800, 800, 800));
    assert_eq!(equal("held.txt"), Equal::new(999, 998, 1000));
    assert_eq!(equal("members.txt"), Equal::new(994, 994, 1000));
    assert_eq!(equal("recursive.txt"), Equal::new(293, 293, 300));
    assert_eq!(equal("reduced.txt"), Equal::new(106, 0, 120));
}
