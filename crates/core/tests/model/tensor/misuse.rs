//! Errors of instructions on matrices.

use simt_core::exec::FaultKind;
use simt_core::machine::{Finish, Options};
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program};

use crate::support;

const PRODUCT: &str =
    "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%c0, %c1}, {%a}, {%a}, {%c0, %c1};";

fn program(block: u32, body: &str) -> Program {
    let text = format!(
        "//! grid = 1\n//! block = {block}
.shared .align 16 .b8 data[512];
.visible .entry k()
{{
    .reg .pred %p;
    .reg .b32 %a, %c<4>, %t, %s;
    mov.u32 %t, %tid.x;
    mov.u32 %a, 1;
    mov.u32 %c0, 0;
    mov.u32 %c1, 0;
    mov.u32 %s, data;
    setp.lt.u32 %p, %t, 20;
    {body}
    ret;
}}
"
    );
    Program::parse("k.ir", &text)
}

fn finish(block: u32, body: &str, preset: &str, mode: Mode) -> Finish {
    let program = program(block, body);
    let (kernel, launch) = support::launch(&program, &Default::default()).expect("sound");
    let machine = Machine::preset(preset).expect("a preset");
    let options = Options::of(&machine, mode);
    Job::new(&program, kernel, launch, &machine, options).execute(&()).expect("fits").finish
}

#[test]
fn all_lanes_of_the_warp_take_part() {
    let divergent = format!("@!%p bra Out;\n{PRODUCT}\nOut:");
    let guarded = format!("@%p {PRODUCT}");
    let load = "@!%p bra Out;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%a}, [%s];\nOut:";
    let transposed = "@%p movmatrix.sync.aligned.m8n8.trans.b16 %a, %a;";
    for (preset, mode) in [("h200", Mode::Volta), ("fermi", Mode::PreVolta)] {
        for body in [divergent.as_str(), &guarded, load, transposed] {
            let Finish::Fault(report) = finish(32, body, preset, mode) else {
                panic!("{preset}: no fault in {body}");
            };
            let missing = match &report.fault.kind {
                FaultKind::MissingLanes { lanes } | FaultKind::GatheredElsewhere { lanes } => {
                    lanes.0
                }
                other => panic!("{preset}: {other:?} in {body}"),
            };
            assert_eq!(missing, 0xfff0_0000, "{preset}: {body}");
        }
        // A warp of 16 threads has no whole fragment.
        let Finish::Fault(report) = finish(16, PRODUCT, preset, mode) else {
            panic!("{preset}: no fault in half a warp");
        };
        assert!(matches!(report.fault.kind, FaultKind::MissingLanes { .. }), "{preset}");
        assert!(matches!(finish(32, PRODUCT, preset, mode), Finish::Ok), "{preset}");
    }
}

#[test]
fn addresses_of_rows_are_checked() {
    let load = |offset: &str| {
        let body = format!(
            "add.u32 %s, %s, {offset};\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%a}}, [%s];"
        );
        match finish(32, &body, "h200", Mode::Volta) {
            Finish::Fault(report) => report.fault.kind,
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(load("8"), FaultKind::Misaligned { bytes: 16, .. }));
    assert!(matches!(load("512"), FaultKind::OutOfBounds { bytes: 16, .. }));
}

#[test]
fn wrong_fragments_are_reported() {
    let message = |body: &str| {
        let program = program(32, body);
        assert!(!program.is_sound(), "{body}");
        program.findings[0].message.clone()
    };
    let short = "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%c0}, {%a}, {%a}, {%c0, %c1};";
    assert!(message(short).starts_with("expected 2 registers for `d` of"), "{}", message(short));
    let volta = "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%a}, {%a}, {%a}, {%a};";
    assert!(message(volta).contains("Volta's own shape"), "{}", message(volta));
}
