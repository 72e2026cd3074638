//! Accesses of whole warps to shared memory: kept by line, they are found as if recorded at once.

use super::*;

/// Words that lanes access: some of two lines.
const WORDS: [u64; 6] = [0, 1, 2, 3, 31, 32];

/// Step of a warp.
#[derive(Clone, Debug)]
enum Step {
    /// Each of `lanes` accesses the word of its position.
    Access {
        warp: u32,
        lanes: u32,
        words: [usize; LANES as usize],
        way: AccessWay,
        values: [u32; 4],
    },
    /// Lane 0 accesses one byte.
    Byte {
        warp: u32,
        word: usize,
    },
    Sync(Act),
}

fn access(strong: bool) -> impl Strategy<Value = Step> {
    let way = prop_oneof![
        4 => Just(AccessWay::Load),
        2 => Just(AccessWay::Store),
        1 => Just(if strong { AccessWay::Atomic } else { AccessWay::Load }),
    ];
    (0..WARPS, lanes(), words(), way, any::<[bool; 4]>()).prop_map(
        |(warp, lanes, words, way, values)| {
            let values = values.map(u32::from);
            Step::Access { warp, lanes, words, way, values }
        },
    )
}

fn lanes() -> impl Strategy<Value = u32> {
    prop_oneof![2 => Just((1u32 << LANES) - 1), 1 => 1..1u32 << LANES]
}

/// A row, one word for all lanes, or any words.
fn words() -> impl Strategy<Value = [usize; LANES as usize]> {
    prop_oneof![
        (0..3usize).prop_map(|first| std::array::from_fn(|lane| first + lane)),
        (0..WORDS.len()).prop_map(|word| [word; LANES as usize]),
        any::<[usize; LANES as usize]>().prop_map(|words| words.map(|word| word % WORDS.len())),
    ]
}

/// Loads that no barrier divides, so that lists become long.
fn loads() -> impl Strategy<Value = Vec<Step>> {
    let load = (0..WARPS, lanes(), words()).prop_map(|(warp, lanes, words)| Step::Access {
        warp,
        lanes,
        words,
        way: AccessWay::Load,
        values: [0; 4],
    });
    prop::collection::vec(load, 15..100)
}

fn step(setting: Setting) -> impl Strategy<Value = Step> {
    let barrier = match setting.counted {
        false => Act::BlockBarrier { block: 0 },
        true => Act::Counted { block: 0, parts: [1, 1, 0] },
    };
    prop_oneof![
        12 => access(setting.strong),
        1 => (0..WARPS, 0..WORDS.len()).prop_map(|(warp, word)| Step::Byte { warp, word }),
        1 => (0..WARPS, lanes())
            .prop_map(|(warp, lanes)| Step::Sync(Act::WarpBarrier { warp, lanes })),
        2 => Just(Step::Sync(Act::BlockBarrier { block: 0 })),
        1 => Just(Step::Sync(barrier)),
    ]
}

/// Returns the findings of steps that are kept by line, or recorded at once.
fn found(setting: Setting, steps: &[Step], kept: bool) -> String {
    let mut driver = driver(setting, if setting.strong { STRONG } else { "" });
    driver.checker.keep_rows(if kept { 256 } else { 0 });
    for step in steps {
        match step {
            Step::Access { warp, lanes, words, way, values } => {
                let mut addresses = [0; MAX_LANES];
                let mut row = [0; MAX_LANES];
                for lane in 0..LANES as usize {
                    (addresses[lane], row[lane]) = (4 * WORDS[words[lane]], values[lane]);
                }
                let pc = driver.step_of(*way, false);
                driver.tell(pc, (*warp, LaneMask(*lanes)), (&addresses, 4), *way, &row);
            }
            Step::Byte { warp, word } => {
                let addresses = [4 * WORDS[*word] + 1; MAX_LANES];
                let (lane, row) = (LaneMask::lane(0), [7; MAX_LANES]);
                let pc = driver.step_of(AccessWay::Store, false);
                driver.tell(pc, (*warp, lane), (&addresses, 1), AccessWay::Store, &row);
            }
            Step::Sync(act) => driver.act(act),
        }
    }
    format!("{:#?}", driver.checker.finish())
}

#[test]
fn kept_accesses_are_found_as_if_recorded_at_once() {
    let mut config = ProptestConfig::with_cases(6000);
    config.rng_seed = proptest::test_runner::RngSeed::Fixed(0x40e5);
    config.failure_persistence = None;
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let settings = any::<[bool; 3]>().prop_map(|[strong, lock_step, counted]| Setting {
        strong,
        lock_step,
        shared: true,
        counted,
    });
    let steps = settings.prop_flat_map(|setting| {
        let steps = || prop::collection::vec(step(setting), 1..40);
        let long = (loads(), steps()).prop_map(|(loads, steps)| [loads, steps].concat());
        (Just(setting), prop_oneof![3 => steps(), 1 => long])
    });
    let same = |(setting, steps): (Setting, Vec<Step>)| {
        prop_assert_eq!(found(setting, &steps, true), found(setting, &steps, false));
        Ok(())
    };
    runner.run(&steps, same).unwrap_or_else(|e| panic!("{e}"));
}
