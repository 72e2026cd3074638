//! The same instructions in machine code: the listing that nvcc made of `products.cu` for an H200.

use simt_core::machine::{Finish, Options};
use simt_core::spec::Mode;
use simt_core::{Job, Program};

use super::inputs::{hash, mix};
use super::{conversion_operands, operands, records, run_tiles};
use crate::support;

/// Tiles of each kernel.
const TILES: usize = 11;
/// Most words of a tile's operands or results.
const MOST: usize = 32 * 32;

/// Kernels of the listing and the instruction of each.
const KERNELS: [(&str, &str); 19] = [
    ("h1688f32", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"),
    ("h16816f16", "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"),
    ("h16816f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
    ("b16816", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"),
    ("t1684", "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32"),
    ("t1688", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"),
    ("d884", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"),
    ("d1684", "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64"),
    ("d16816", "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64"),
    ("i8816u8s8s", "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.u8.s8.s32"),
    ("i16816s8s8", "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32"),
    ("i16832s8u8", "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32"),
    ("b88128xor", "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc"),
    ("b168256and", "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc"),
    ("e4m3", "cvt.rn.satfinite.e4m3x2.f32"),
    ("e4m3h", "cvt.rn.satfinite.e4m3x2.f16x2"),
    ("unpackr", "cvt.rn.relu.f16x2.e4m3x2"),
    ("tf32z", "cvt.rz.relu.tf32.f32"),
    ("tf32a", "cvt.rna.tf32.f32"),
];

fn listing() -> Program {
    let text = format!(
        "//! grid = {TILES}
//! block = 32
//! buffer in: u32[{words}]
//! buffer out: u32[{words}]
//! arg param_0 = in
//! arg param_1 = out
{}",
        include_str!("products.sass"),
        words = TILES * MOST
    );
    Program::parse("products.sass", &text)
}

/// Returns the words of `out` after a run of a kernel of the listing.
fn run(program: &Program, kernel: &str, input: Vec<u32>) -> Vec<u32> {
    let kernel = program.kernel(Some(kernel)).expect("a kernel of the listing");
    let none = |_: &str, _| Err("no files".to_owned());
    let mut launch = program.launch(kernel, &Default::default(), &none).expect("sound directives");
    launch.buffers[0].words[..input.len()].copy_from_slice(&input);
    let machine = support::changed(&support::machine("h200"), |m| m.sms = 1);
    let options = Options::of(&machine, Mode::Volta);
    let outcome = Job::new(program, kernel, launch, &machine, options).execute(&()).expect("fits");
    assert!(matches!(outcome.finish, Finish::Ok), "{:?}", outcome.finish);
    outcome.launch.buffers[1].words.clone()
}

#[test]
fn machine_code_has_the_bits_of_an_h200() {
    let program = listing();
    let records = records();
    for (kernel, mnemonic) in KERNELS {
        let (_, hashes) = records.iter().find(|(name, _)| *name == mnemonic).expect("a record");
        let tiles = hashes.len().min(TILES);
        let (input, words) = match mnemonic.starts_with("cvt") {
            true => (conversion_operands(tiles), 32),
            false => {
                let (input, counts, bytes) = operands(mnemonic, tiles);
                (input, 32 * counts[2] * bytes / 4)
            }
        };
        let found = run(&program, kernel, input);
        let found: Vec<u32> = found.chunks(words).take(tiles).map(hash).collect();
        assert_eq!(found, hashes[..tiles], "{kernel}: {mnemonic}");
    }
}

#[test]
fn machine_code_moves_matrices_as_ptx_does() {
    let input: Vec<u32> = (0..TILES as u64 * 128).map(|i| mix(i) as u32).collect();
    let body = "mad.wide.u32 %in, %t, 16, %in;
        ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%in];
        mov.u32 %s, data;
        mad.lo.u32 %s, %t, 16, %s;
        stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%s], {%a0, %a1, %a2, %a3};
        stmatrix.sync.aligned.m8n8.x2.shared.b16 [%s+512], {%a2, %a1};
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a4, %a5, %a6, %a7}, [%s+256];
        ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%a0}, [%s];
        movmatrix.sync.aligned.m8n8.trans.b16 %a1, %a5;
        mad.wide.u32 %out, %t, 24, %out;
        st.global.b32 [%out], %a4;
        st.global.b32 [%out+4], %a5;
        st.global.b32 [%out+8], %a6;
        st.global.b32 [%out+12], %a7;
        st.global.b32 [%out+16], %a0;
        st.global.b32 [%out+20], %a1;";
    let variable = ".shared .align 16 .b8 data[2048];";
    let registers = ".reg .b32 %a<9>, %s;";
    let expected = run_tiles(registers, variable, body, input.clone(), 32 * 6, TILES);
    let found = run(&listing(), "moves", input);
    assert_eq!(found[..expected.len()], expected);
    assert!(expected.iter().filter(|&&word| word != 0).count() > expected.len() / 2);
}
