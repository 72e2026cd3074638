//! Textures and surfaces in both modes, against closed forms, and against each other.

use std::fs;

use super::cli::{good, simt_sim};

const PROGRAMS: [&str; 11] = [
    "tests/textures/fetch.ir",
    "tests/textures/surface.ir",
    "tests/textures/sum_of_blocks.ir",
    "tests/textures/formatted.ir",
    "tests/textures/linear.ir",
    "tests/textures/sampler.ir",
    "tests/textures/rate.ir",
    "programs/cuda/convolve_texture.ptx",
    "programs/cuda/convolve_shared.ptx",
    "programs/sass/convolve_texture.sass",
    "programs/sass/convolve_shared.sass",
];

#[test]
fn results_are_the_closed_forms_in_both_modes() {
    for program in PROGRAMS {
        for mode in ["pre-volta", "volta"] {
            if program.ends_with(".sass") && mode == "pre-volta" {
                continue;
            }
            let report = good(&["run", program, "--mode", mode, "--checks"]);
            assert!(report.contains("ok ") && !report.contains("FAIL"), "{program}\n{report}");
        }
    }
}

/// A fault of one lane leaves memory as it was.
#[test]
fn a_formatted_store_outside_changes_nothing() {
    for mode in ["pre-volta", "volta"] {
        let store = ["run", "tests/textures/outside.ir", "--mode", mode, "--show", "bytes[0..8]"];
        let ended = simt_sim(&store);
        assert_eq!(ended.code, 5, "{}{}", ended.out, ended.err);
        assert!(ended.out.contains("FAULT: outside of the surface"), "{}", ended.out);
        assert!(ended.out.contains("bytes[0]: 9 9 9 9 9 9 9 9"), "{}", ended.out);
    }
}

/// Reductions of a surface are atomics: their blocks communicate, so their SMs run interleaved.
#[test]
fn reductions_of_many_blocks_lose_nothing() {
    let many = ["run", "tests/textures/sum_of_blocks.ir", "--set", "blocks=4000", "--jobs", "2"];
    let report = good(&many);
    assert!(report.contains("ok ") && report.contains("interleaved"), "{report}");
}

/// The texture unit takes four lanes at a time.
#[test]
fn fetches_are_requests_and_sectors_of_the_texture_cache() {
    let report = good(&[
        "run",
        "programs/cuda/convolve_texture.ptx",
        "--metrics",
        "tex_cache_requests,tex_cache_transactions,gld_requests",
    ]);
    let value = |name: &str| {
        let line = report.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok())
    };
    // 128 x 64 threads are 2,048 quads with nine fetches, as an H200 counts.
    assert_eq!(value("tex_cache_requests"), Some(18_432), "{report}");
    assert_eq!(value("gld_requests"), Some(0), "{report}");
    // In linear memory every second quad that is a texel off touches two sectors, but at the edges.
    let row = 32 + 2 * (32 + 15);
    assert_eq!(value("tex_cache_transactions"), Some(3 * 64 * row), "{report}");
}

/// The unit serves a quad in a cycle, and its queue fills.
#[test]
fn fetches_wait_for_the_texture_unit() {
    const FETCHES: f64 = 32.0 * 8.0 * 16.0;
    let metrics = "elapsed_cycles,warp_state_tex_throttle,warp_state_lg_throttle";
    let report = good(&["run", "tests/textures/rate.ir", "--metrics", metrics]);
    let value = |name: &str| {
        let line = report.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        let number = line.split_whitespace().nth(1).map(|n| n.replace(',', ""));
        number.and_then(|n| n.parse::<f64>().ok()).unwrap_or_else(|| panic!("{report}"))
    };
    let each = value("elapsed_cycles") / FETCHES;
    assert!((8.0..9.0).contains(&each), "{each} cycles\n{report}");
    assert!(value("warp_state_tex_throttle") > 10.0, "{report}");
    assert_eq!(value("warp_state_lg_throttle"), 0.0, "{report}");
}

#[test]
fn bad_objects_and_places_are_faults_with_a_line() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("textures");
    fs::create_dir_all(&folder).expect("a folder");
    let surface = fs::read_to_string("tests/textures/surface.ir").expect("a program");
    let cases = [
        ("arg    source = source", "arg    source = 77", "0x4d is no surface object"),
        (
            "surface source: in[w, h]",
            "texture source: in[w, h]",
            "expected a surface object, found a texture object",
        ),
        (
            "surface source: in[w, h]",
            "surface source: in[w * h]",
            "a `.2d` instruction does not suit a texture or surface of shape D1",
        ),
        ("block  = (w, h)", "block  = (w, h + 1)", "outside of the surface: byte 0 of row 4"),
    ];
    for (i, (old, new, words)) in cases.into_iter().enumerate() {
        let path = folder.join(format!("{i}.ir"));
        fs::write(&path, surface.replace(old, new)).expect("a file");
        let ended = simt_sim(&["run", path.to_str().expect("a path")]);
        assert_eq!(ended.code, 5, "{}{}", ended.out, ended.err);
        assert!(ended.out.contains(words), "{words}\n{}", ended.out);
    }
}
