//! PTX instruction forms and machine files as text.
//!
//! `simt-core` parses and validates them.

/// PTX instruction forms, one row each, in RON.
pub const PTX: &str = include_str!("ptx.ron");

/// Machine instructions (SASS), one row per opcode, in RON.
pub const SASS: &str = include_str!("sass.ron");

/// Machine presets: name and machine file in RON, in the order in which they are listed.
pub const MACHINES: [(&str, &str); 9] = [
    ("teaching", include_str!("machines/teaching.ron")),
    ("fermi", include_str!("machines/fermi.ron")),
    ("kepler", include_str!("machines/kepler.ron")),
    ("pascal", include_str!("machines/pascal.ron")),
    ("volta", include_str!("machines/volta.ron")),
    ("turing", include_str!("machines/turing.ron")),
    ("ampere", include_str!("machines/ampere.ron")),
    ("ada", include_str!("machines/ada.ron")),
    ("h200", include_str!("machines/h200.ron")),
];
