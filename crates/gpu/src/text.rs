//! Program text for a device, and its digest.

pub use simt_core::base::digest;

use simt_core::ptx::tree::{Module, Name};
use simt_core::ptx::{parse, print};

/// Oldest target whose PTX the drivers of CUDA 13 still compile.
pub(super) const OLDEST_TARGET: u32 = 75;

/// Prepares the text for a device. `.ptx` stays unchanged, because compilers write complete PTX; an
/// `.ir` file is printed canonically, with the header lines that it lacks. A `.target` that current
/// drivers no longer support is raised to the oldest that they do.
pub fn device_text(name: &str, text: &str) -> String {
    let (mut module, _) = parse(text);
    let raised = raise(&mut module);
    if name.ends_with(".ptx") && module.version.is_some() && !raised {
        text.to_string()
    } else {
        print(&module)
    }
}

/// Raises a target that is too old; returns true if it was.
fn raise(module: &mut Module) -> bool {
    let number = |name: &Name| name.text.strip_prefix("sm_")?.parse::<u32>().ok();
    match module.target.first_mut() {
        Some(target) if number(target).is_some_and(|n| n < OLDEST_TARGET) => {
            target.text = format!("sm_{OLDEST_TARGET}");
            true
        }
        _ => false,
    }
}

/// [`digest`] of the lines that a driver compiles. Leaves out indentation and comments. A changed
/// comment or directive does not make an observation stale; a changed launch does, and has its own
/// digest.
pub fn source_digest(text: &str) -> u64 {
    let lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    digest(lines.flat_map(|line| line.bytes().chain(std::iter::once(b'\n'))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_targets_are_raised_and_complete_texts_are_kept() {
        let text =
            |target: &str| format!(".version 7.0\n.target {target}\n.address_size 64\n// kept\n");
        for (target, expected) in
            [("sm_90", "sm_90"), ("sm_75", "sm_75"), ("sm_52", "sm_75"), ("sm_90a", "sm_90a")]
        {
            let out = device_text("a.ptx", &text(target));
            assert!(out.contains(&format!(".target {expected}\n")), "{out}");
            assert_eq!(out.contains("// kept"), target == expected, "{out}");
        }
        assert!(device_text("a.ir", "").contains(".version"));
    }

    #[test]
    fn comments_do_not_count_and_code_does() {
        let base = source_digest("// a\n//! grid = 1\n  ret;\n");
        assert_eq!(base, source_digest("ret;"));
        assert_ne!(base, source_digest("ret ;"));
        // The published check values of FNV-1a.
        assert_eq!(digest(*b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(digest(*b"foobar"), 0x8594_4171_f739_67e8);
    }
}
