//! Bulk copies of tiles: `cp.async.bulk.tensor`. What copies move is compared with an H200 by
//! `tests/exec/tensor_answers.c`.

use simt_core::event::AccessWay;
use simt_core::exec::FaultKind;
use simt_core::isa::{Space, Type};
use simt_core::machine::Finish;

use super::copies::{outputs, run_text};

/// Loads of a tile with a border, and stores.
const PROGRAM: &str = include_str!("../../../../tests/memory/tiles.ir");

fn changed(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(PROGRAM.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

fn fault(changes: &[(&str, &str)]) -> FaultKind {
    match run_text(&changed(changes)).finish {
        Finish::Fault(report) => report.fault.kind,
        other => panic!("{other:?}: {changes:?}"),
    }
}

#[test]
fn tiles_are_those_of_the_oracle_in_both_modes() {
    let row = |x: i64, y: i64| if (0..64).contains(&x) { (y * 64 + x) % 7 } else { 0 };
    let sum = |i: i64| (-1..2).map(|dx| row(i % 64 + dx, i / 64)).sum::<i64>() as u32;
    assert_eq!(outputs(PROGRAM), (0..64 * 32).map(sum).collect::<Vec<_>>());
}

#[test]
fn sectors_and_bytes_are_those_of_the_rows() {
    let copies = run_text(PROGRAM).observer.finish().bulk_copies;
    // Rows of four tiles start 16 bytes before a multiple of 64, and are cut at both ends.
    assert_eq!(copies[AccessWay::Load as usize].sectors, 32 * (3 + 4 + 4 + 3));
    assert_eq!(copies[AccessWay::Store as usize].sectors, 32 * 4 * 2);
}

#[test]
fn misuse_is_a_fault() {
    use FaultKind::{
        BadReduction, BadTensorMap, Misaligned, NegativeTile, OutOfBounds, UnalignedTile,
    };
    let column = "sub.s32 %r8, %r5, 4;";
    assert_eq!(fault(&[(column, "sub.s32 %r8, %r5, 3;")]), UnalignedTile { element: -3 });
    let negative = fault(&[("shl.b32 %r6, %r4, 3;", "sub.s32 %r6, %r4, 2;")]);
    assert_eq!(negative, NegativeTile { dimension: 1, value: -2 });
    let shared = fault(&[("[tile], [%d1", "[tile+64], [%d1"), ("tile[768]", "tile[896]")]);
    assert!(matches!(shared, Misaligned { space: Space::Shared, bytes: 128, .. }), "{shared:?}");
    let past = fault(&[("[tile], [%d1", "[tile+1024], [%d1")]);
    assert!(matches!(past, OutOfBounds { space: Space::Shared, bytes: 768, .. }), "{past:?}");
    let rank = fault(&[("tensor.2d.shared", "tensor.1d.shared"), ("{%r8, %r6}", "{%r8}")]);
    assert!(matches!(rank, BadTensorMap { rank: 1, .. }), "{rank:?}");
    let map =
        fault(&[("mov.b64 %d1, from;", "mov.b64 %d1, 64;"), ("cvta.param.u64 %d1, %d1;", "")]);
    assert!(matches!(map, OutOfBounds { bytes: 128, .. }), "{map:?}");
    let map =
        fault(&[("cvta.param.u64 %d1, %d1;", "cvta.param.u64 %d1, %d1;\nadd.u64 %d1, %d1, 8;")]);
    assert!(matches!(map, OutOfBounds { .. } | Misaligned { bytes: 64, .. }), "{map:?}");
    let inc = (
        "cp.async.bulk.tensor.2d.global.shared::cta.tile",
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.inc",
    );
    assert_eq!(fault(&[inc]), BadReduction { ty: Type::S32 });
}
