//! Answer keys of textbook exercises: divergent warps and active lanes.

use super::{assert_expected, count, program, run_as_written, run_on};
use crate::support::MODES;

#[test]
fn warps_that_the_edge_of_a_picture_divides() {
    let program = program("small/picture.ir");
    for mode in MODES {
        for (width, height, divergent, warps) in
            [(800, 600, 0, 15_200), (600, 800, 400, 15_200), (200, 150, 75, 1_040)]
        {
            let done = run_as_written(
                &program,
                mode.default_machine(),
                &[("width", width), ("height", height)],
            );
            assert_expected(&done);
            let counts = ["divergent_branch", "conditional_branches", "warps_launched"]
                .map(|name| count(&done, name));
            assert_eq!(counts, [divergent, warps, warps], "{width} x {height}, {}", mode.name());
        }
    }
}

#[test]
fn one_warp_of_a_ragged_vector_diverges() {
    let program = program("small/vector_add.ir");
    for mode in MODES {
        let done = run_as_written(&program, mode.default_machine(), &[("n", 2000), ("block", 512)]);
        assert_expected(&done);
        assert_eq!(
            ["divergent_branch", "conditional_branches"].map(|name| count(&done, name)),
            [1, 64],
            "{}",
            mode.name()
        );
    }
}

#[test]
fn a_loop_up_to_the_lane_keeps_half_of_the_lanes_busy() {
    let program = program("small/for_tid.ir");
    for mode in MODES {
        let done = run_on(&program, mode.default_machine(), &[]);
        assert_expected(&done);
        let body =
            done.run.instructions.iter().find(|i| i.text.starts_with("add.u32             %count"));
        let body = body.expect("the body");
        let lanes = body.average_active_lanes.expect("executed") * body.executed as f64;
        assert_eq!((body.executed, lanes.round()), (31, 496.0), "{}", mode.name());
        assert_eq!(lanes / (32.0 * body.executed as f64), 0.5);
    }
}
