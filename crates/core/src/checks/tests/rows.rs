//! Accesses of whole warps: recorded by line, they are found as if recorded by word.

use super::*;

/// Places of the words that lanes access, in three lines and further ones.
const WORDS: [u64; 8] = [0, 1, 2, 3, 31, 32, 64, 500];

/// Step of a warp.
#[derive(Clone, Debug)]
enum Step {
    /// Each of `lanes` accesses the words from its own on.
    Access {
        warp: u32,
        lanes: u32,
        words: Box<[u64; MAX_LANES]>,
        bytes: u32,
        way: AccessWay,
        /// A volatile access.
        strong: bool,
        values: [u32; 2],
    },
    /// The lowest lane accesses one byte.
    Byte {
        warp: u32,
        word: u64,
    },
    Sync(Act),
}

fn access(strong: bool) -> impl Strategy<Value = Step> {
    let way = prop_oneof![
        4 => Just(AccessWay::Load),
        2 => Just(AccessWay::Store),
        1 => Just(if strong { AccessWay::Atomic } else { AccessWay::Load }),
    ];
    let bytes = prop_oneof![4 => Just(4), 1 => Just(8), 1 => Just(16)];
    let volatile = prop_oneof![3 => Just(false), 1 => Just(strong)];
    (warp(), lanes(), words(), bytes, way, volatile, any::<[bool; 2]>()).prop_map(
        |(warp, lanes, words, bytes, way, strong, values)| {
            let values = values.map(u32::from);
            Step::Access { warp, lanes, words: Box::new(words), bytes, way, strong, values }
        },
    )
}

fn warp() -> impl Strategy<Value = u32> {
    0..BLOCKS * WARPS
}

fn lanes() -> impl Strategy<Value = u32> {
    prop_oneof![
        2 => Just(u32::MAX),
        1 => any::<u32>().prop_map(|lanes| lanes | 1),
        1 => (0..32u32).prop_map(|lane| 1 << lane),
        1 => (0..32u32).prop_map(|lanes| u32::MAX >> lanes),
    ]
}

/// A row, words at equal distances, one word for all lanes, or any words.
fn words() -> impl Strategy<Value = [u64; MAX_LANES]> {
    let strides = prop_oneof![Just(2u64), Just(5), Just(8), Just(33)];
    prop_oneof![
        3 => (0..40u64).prop_map(|first| std::array::from_fn(|lane| first + lane as u64)),
        1 => (0..3u64, strides)
            .prop_map(|(first, by)| std::array::from_fn(|lane| first + by * lane as u64)),
        1 => (0..WORDS.len()).prop_map(|word| [WORDS[word]; MAX_LANES]),
        1 => any::<[usize; MAX_LANES]>().prop_map(|words| words.map(|word| WORDS[word % WORDS.len()])),
        1 => (0..40u64).prop_map(|first| std::array::from_fn(|lane| first + lane as u64 / 3)),
    ]
}

/// Loads that no barrier divides, so that lists become long.
fn loads() -> impl Strategy<Value = Vec<Step>> {
    let load = (warp(), lanes(), words()).prop_map(|(warp, lanes, words)| Step::Access {
        warp,
        lanes,
        words: Box::new(words),
        bytes: 4,
        way: AccessWay::Load,
        strong: false,
        values: [0; 2],
    });
    prop::collection::vec(load, 15..60)
}

/// Accesses of whole warps to one row, mostly loads, and barriers.
fn tiles() -> impl Strategy<Value = Vec<Step>> {
    let way = prop_oneof![6 => Just(AccessWay::Load), 1 => Just(AccessWay::Store)];
    let access = (warp(), way).prop_map(|(warp, way)| Step::Access {
        warp,
        lanes: u32::MAX,
        words: Box::new(std::array::from_fn(|lane| lane as u64)),
        bytes: 4,
        way,
        strong: false,
        values: [0; 2],
    });
    let barrier = (0..BLOCKS).prop_map(|block| Step::Sync(Act::BlockBarrier { block }));
    prop::collection::vec(prop_oneof![5 => access, 1 => barrier], 1..40)
}

fn step(setting: Setting) -> impl Strategy<Value = Step> {
    let block = 0..BLOCKS;
    let barrier = block.clone().prop_map(move |block| match setting.counted {
        false => Act::BlockBarrier { block },
        true => Act::Counted { block, parts: [1, 1, 0] },
    });
    let fence = (warp(), lanes()).prop_map(move |(warp, lanes)| match setting.strong {
        true => Act::Fence { warp, lanes },
        false => Act::WarpBarrier { warp, lanes },
    });
    prop_oneof![
        24 => access(setting.strong),
        1 => (warp(), 0..WORDS.len()).prop_map(|(warp, word)| Step::Byte { warp, word: WORDS[word] }),
        2 => (warp(), lanes())
            .prop_map(|(warp, lanes)| Step::Sync(Act::WarpBarrier { warp, lanes })),
        4 => block.prop_map(|block| Step::Sync(Act::BlockBarrier { block })),
        2 => barrier.prop_map(Step::Sync),
        1 => fence.prop_map(Step::Sync),
    ]
}

/// Returns the findings of steps that are recorded by line or by word.
fn found(setting: Setting, steps: &[Step], by_word: bool) -> String {
    let strong = if setting.strong { STRONG } else { "" };
    let mut driver = driver(setting, strong, MAX_LANES as u32);
    if by_word {
        driver.checker.record_by_word();
    }
    let base = if setting.shared { 0 } else { BUFFER_BASE };
    for step in steps {
        match step {
            Step::Access { warp, lanes, words, bytes, way, strong, values } => {
                let addresses = words.map(|word| base + 4 * word);
                let row = std::array::from_fn(|lane| values[lane % 2]);
                let pc = driver.step_of(*way, *strong);
                driver.tell(pc, (*warp, LaneMask(*lanes)), (&addresses, *bytes), *way, &row);
            }
            Step::Byte { warp, word } => {
                let addresses = [base + 4 * word + 1; MAX_LANES];
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
fn accesses_recorded_by_line_are_found_as_if_recorded_by_word() {
    let mut config = ProptestConfig::with_cases(4000);
    config.rng_seed = proptest::test_runner::RngSeed::Fixed(0x40e5);
    config.failure_persistence = None;
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let settings = any::<[bool; 4]>().prop_map(|[strong, lock_step, shared, counted]| Setting {
        strong,
        lock_step,
        shared,
        counted,
    });
    let steps = settings.prop_flat_map(|setting| {
        let steps = || prop::collection::vec(step(setting), 1..40);
        let long = (loads(), steps()).prop_map(|(loads, steps)| [loads, steps].concat());
        (Just(setting), prop_oneof![3 => steps(), 1 => long, 1 => tiles()])
    });
    let same = |(setting, steps): (Setting, Vec<Step>)| {
        prop_assert_eq!(found(setting, &steps, false), found(setting, &steps, true));
        Ok(())
    };
    runner.run(&steps, same).unwrap_or_else(|e| panic!("{e}"));
}
