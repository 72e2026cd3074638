//! What nvcc 13.0 makes of kernels that use half precision, 128-bit integers, atomics and integer intrinsics: every
//! instruction has a form, and `check` finds nothing.

use simt_sim::diag::Severity;
use simt_sim::kernel::{check, support};
use simt_sim::text::parse;

#[test]
fn compiled_kernels_are_accepted_whole() {
    for (name, source, kernels) in [
        ("half_ops", include_str!("nvcc/half_ops.ptx"), 3),
        ("atomics", include_str!("nvcc/atomics.ptx"), 1),
        ("bits", include_str!("nvcc/bits.ptx"), 1),
        ("simd", include_str!("nvcc/simd.ptx"), 1),
        ("int128", include_str!("nvcc/int128.ptx"), 2),
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
