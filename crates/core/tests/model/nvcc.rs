//! nvcc 13.0's code for kernels with half precision, 128-bit integers, atomics and integer
//! intrinsics: every instruction has a form, `check` has no findings, and results equal the host's.

use simt_core::Job;
use simt_core::Program;
use simt_core::diag::Severity;
use simt_core::divergence::SideOrder;
use simt_core::kernel::{check, support};
use simt_core::launch::Overrides;
use simt_core::machine::Finish;
use simt_core::ptx::parse;

use super::support::{MODES, launch, machine, options};

#[test]
fn compiled_kernels_are_accepted_whole() {
    for (name, source, kernels) in [
        ("half_ops", include_str!("nvcc/half_ops.ptx"), 3),
        ("atomics", include_str!("nvcc/atomics.ptx"), 1),
        ("bits", include_str!("nvcc/bits.ptx"), 1),
        ("simd", include_str!("nvcc/simd.ptx"), 1),
        ("int128", include_str!("nvcc/int128.ptx"), 2),
        ("int128_division", DIVISION, 1),
    ] {
        let (module, faults) = parse(source);
        let (found, diagnostics) = check(&module, source);
        let errors: Vec<_> = diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
        assert!(faults.is_empty() && errors.is_empty(), "{name}: {errors:#?}");
        assert_eq!(found.len(), kernels, "{name}");
        let (known, all) = support(&module);
        assert_eq!(known, all, "{name}");
    }
}

const DIVISION: &str = include_str!("nvcc/int128_division.ptx");
/// Divisions of a run: 8 blocks of 128 threads.
const DIVISIONS: usize = 1024;

/// Returns numbers of every length, including long runs of equal bits (splitmix64, cut and filled
/// by its own bits).
fn numbers(seed: u64) -> impl Iterator<Item = u128> {
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    };
    std::iter::repeat_with(move || {
        let value = u128::from(next()) << 64 | u128::from(next());
        let how = next();
        let short = value >> (how % 128);
        match how >> 8 & 3 {
            0 => short,
            1 => !short,
            2 => short & !(u128::from(u32::MAX) << (how >> 16 & 96)),
            _ => short | u128::from(u32::MAX) << (how >> 16 & 96),
        }
    })
}

/// Runs `int128_division` in a mode: quotients and remainders, unsigned and signed.
fn divide(mode: simt_core::spec::Mode, a: &[u128], b: &[u128]) -> [Vec<u128>; 4] {
    let program = Program::parse("int128_division.ptx", DIVISION);
    let (kernel, mut launch) =
        launch(&program, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    for (buffer, values) in launch.buffers.iter_mut().zip([a, b]) {
        buffer.words =
            values.iter().flat_map(|v| [0, 32, 64, 96].map(|shift| (v >> shift) as u32)).collect();
    }
    let options = options(mode, SideOrder::Fewer, 50_000_000);
    let outcome = Job::new(&program, kernel, launch, &machine(mode.default_machine()), options)
        .execute(&())
        .unwrap_or_else(|e| panic!("{e}"));
    assert!(matches!(outcome.finish, Finish::Ok), "{:?}", outcome.finish);
    let joined =
        |words: &[u32]| words.iter().rev().fold(0, |all, &word| all << 32 | u128::from(word));
    [2, 3, 4, 5].map(|i| outcome.launch.buffers[i].words.chunks_exact(4).map(joined).collect())
}

/// nvcc's 128-bit division lets an `addc` read the carry of `subc.cc`.
#[test]
fn quotients_of_128_bits_are_those_of_the_host() {
    let mut a: Vec<u128> =
        vec![100, u128::MAX, u128::MAX - 99, 1 << 127, 0, 1 << 64, (1 << 96) - 1];
    let mut b: Vec<u128> = vec![7, 3, 7, u128::MAX, 5, (1 << 64) - 1, 1 << 32];
    a.extend(numbers(1).take(DIVISIONS - a.len()));
    b.extend(numbers(2).filter(|&b| b != 0).take(DIVISIONS - b.len()));
    for mode in MODES {
        let [q, r, signed_q, signed_r] = divide(mode, &a, &b);
        for i in 0..DIVISIONS {
            let (a, b) = (a[i], b[i]);
            assert_eq!((q[i], r[i]), (a / b, a % b), "[{}] {a:#x} / {b:#x}", mode.name());
            let (a, b) = (a as i128, b as i128);
            let expected = (a.wrapping_div(b) as u128, a.wrapping_rem(b) as u128);
            assert_eq!((signed_q[i], signed_r[i]), expected, "[{}] {a} / {b}", mode.name());
        }
    }
}
