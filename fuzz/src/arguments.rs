//! Values of command-line arguments.

use std::sync::LazyLock;

use simt_core::Program;
use simt_core::checks::Checks;
use simt_core::debug::{Base, format_value, parse_value};
use simt_core::divergence::SideOrder;
use simt_core::isa::Type;
use simt_core::launch::{self, Overrides};
use simt_core::observe::Window;
use simt_report::metrics;
use simt_teach::sweep::{Setting, Shard, Step};

use super::{laws, text_of};

/// A program with settable constants that depend on each other.
static PROGRAM: LazyLock<Program> = LazyLock::new(|| {
    let text = "//! const n = 4\n//! const m = n * 2 + 1\n//! grid = ceil_div(n, 2)\n//! block = m\n\
        //! buffer x: u16[n] = iota(m)\n//! arg p = n\n.entry k(.param .u64 p) { ret; }\n";
    let program = Program::parse("fuzz.ir", text);
    assert!(program.is_sound(), "{:?}", program.findings);
    program
});

/// Parses each line as every kind of value: sizes, ranges, settings of constants, steps and shards
/// of sweeps, register values, side orders.
pub fn arguments(data: &[u8]) {
    for line in text_of(data).lines().take(16) {
        value(line);
    }
}

fn value(typed: &str) {
    if let Some(extent) = launch::extent(typed) {
        assert!(extent.iter().all(|&n| n > 0), "{typed:?} is {extent:?}");
    }
    for warps in [1, 32, u32::MAX] {
        if let Some(range) = Window::warps_named(typed, warps) {
            assert!(
                range.start < range.end && range.end <= warps,
                "{typed:?} of {warps} warps is {range:?}"
            );
        }
    }
    if let Some((name, value)) = launch::setting(typed) {
        set(&[(name, value)]);
    }
    set(&[("n".to_owned(), typed.to_owned()), ("m".to_owned(), typed.to_owned())]);
    let _ = typed.parse::<SideOrder>().map_err(|e| e.to_string());
    let _ = typed.parse::<Step>().map_err(|e| e.to_string());
    let _ = typed.parse::<Shard>().map_err(|e| e.to_string());
    let _ = Setting::parse(typed).to_string();
    let _ = Checks::named(typed.split(',')).is_ok();
    let _ = metrics::find(typed);
    for ty in [
        Type::Pred,
        Type::U8,
        Type::S16,
        Type::B32,
        Type::U64,
        Type::S64,
        Type::F16,
        Type::F32,
        Type::F64,
    ] {
        let Ok(bits) = parse_value(typed, ty) else { continue };
        assert!(
            ty.bits() >= 64 || bits >> ty.bits() == 0,
            "{typed:?} as {} is {bits:x}",
            ty.name()
        );
        // Floats are shown rounded, and large numbers in a form that cannot be typed.
        let shown = format_value(bits, ty, Base::Natural);
        if !ty.is_float() && !shown.starts_with('x') {
            assert_eq!(
                parse_value(&shown, ty),
                Ok(bits),
                "{typed:?} as {} is shown as {shown}",
                ty.name()
            );
        }
    }
}

/// Launches the program with constants set, with at most a mebibyte of buffers.
fn set(constants: &[(String, String)]) {
    let program = &*PROGRAM;
    let overrides = Overrides {
        set: constants.to_vec(),
        most_buffer_bytes: Some(1 << 20),
        ..Overrides::default()
    };
    match program.launch(&program.kernels[0], &overrides, &|_, _| Err("no files".to_owned())) {
        Ok(launch) => {
            assert!(launch.buffers.iter().map(|buffer| buffer.bytes).sum::<u64>() <= 1 << 20)
        }
        Err(found) => laws::findings(&found, &program.text),
    }
}
