//! Random programs of branches, barriers, yields and returns, against the traces of an H200
//! (docs/divergence.md).

use super::*;

/// Lanes of the GPU's warp.
const LANES: u32 = 32;
/// Registers of a lane that hold masks of barriers.
const SAVED: usize = 3;

/// A number of a program: masks are hexadecimal, the rest is decimal.
fn mask(word: Option<&str>) -> LaneMask {
    LaneMask(u32::from_str_radix(word.expect("a mask"), 16).expect("hexadecimal"))
}

fn number(word: Option<&str>) -> u32 {
    word.expect("a number").parse().expect("decimal")
}

/// Runs a program. Returns the number and active mask of each `log`.
fn trace(program: &str) -> Vec<(u32, LaneMask)> {
    let program: Vec<&str> = program.split("; ").collect();
    let mut warp = Elected::new(LaneMask::FULL, Pc(0), SideOrder::Fewer);
    let mut saved = [[LaneMask::EMPTY; LANES as usize]; SAVED];
    let mut trace = Vec::new();
    while let Some((pc, active)) = warp.active() {
        let mut words = program[pc.0 as usize].split(' ');
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
            copy @ ("save" | "take") => {
                let register = &mut saved[number(words.next()) as usize];
                let value = warp.barrier(JoinId(number(words.next())), copy == "take", next);
                active.lanes().for_each(|lane| register[lane as usize] = value);
            }
            "load" => {
                let join = JoinId(number(words.next()));
                let register = &saved[number(words.next()) as usize];
                warp.set_barrier(join, register[active.lowest().expect("a lane") as usize]);
                warp.advance(Flow::Next { next });
            }
            "set" => {
                let register = &mut saved[number(words.next()) as usize];
                let (lanes, value) = (mask(words.next()) & active, mask(words.next()));
                lanes.lanes().for_each(|lane| register[lane as usize] = value);
                warp.advance(Flow::Next { next });
            }
            "ret" => {
                let mut targets = [number(words.next()); LANES as usize];
                for _ in 0..2 {
                    let (lanes, target) = (mask(words.next()), number(words.next()));
                    lanes.lanes().for_each(|lane| targets[lane as usize] = target);
                }
                let mut sides: Vec<Side> = Vec::new();
                for lane in active.lanes() {
                    let (pc, lanes) = (Pc(targets[lane as usize]), LaneMask::lane(lane));
                    match sides.iter_mut().find(|side| side.pc == pc) {
                        Some(side) => side.lanes |= lanes,
                        None => sides.push(Side { pc, lanes }),
                    }
                }
                warp.jump(&sides, true);
            }
            other => panic!("`{other}` is no operation"),
        }
    }
    assert!(warp.live().is_empty(), "lanes hang");
    trace
}

/// Returns the number of programs with the GPU's trace, and of all.
fn equal(file: &str) -> (usize, usize) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/observations/h200/parting");
    let text = std::fs::read_to_string(format!("{folder}/{file}")).expect("the observations");
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let is_equal = |pair: &&[&str]| {
        let entry = |entry: &str| {
            let mut words = entry.split(' ');
            (number(words.next()), mask(words.next()))
        };
        trace(pair[0]).into_iter().eq(pair[1].split(", ").map(entry))
    };
    let programs = lines.chunks(2);
    (programs.clone().filter(is_equal).count(), programs.len())
}

#[test]
fn random_programs_run_their_lanes_as_on_a_gpu() {
    assert_eq!([equal("rules.txt"), equal("held.txt")], [(798, 800), (994, 1000)]);
}
