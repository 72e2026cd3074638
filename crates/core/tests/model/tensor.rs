//! Instructions of tensor cores against what an H200 did
//! (`tests/observations/h200/tensor.txt`).

mod code;
mod inputs;
mod misuse;

use simt_core::kernel::{FactorType, SumType};
use simt_core::launch::Overrides;
use simt_core::{Program, oracle};

use super::support;
use inputs::{A, B, C, Format, register};
pub(super) use inputs::{hash, mix};

const RECORD: &str = include_str!("../../../../tests/observations/h200/tensor.txt");

/// Recorded instructions, each with the hash of every tile.
fn records() -> Vec<(&'static str, Vec<u32>)> {
    let mut all: Vec<(&str, Vec<u32>)> = Vec::new();
    for line in RECORD.lines().filter(|line| !line.starts_with('#')) {
        let hashes = line.split_whitespace().map(|word| u32::from_str_radix(word, 16));
        match (line.starts_with(' '), all.last_mut()) {
            (true, Some((_, list))) => list.extend(hashes.map(|hash| hash.expect("a hash"))),
            _ => all.push((line, Vec::new())),
        }
    }
    assert!(all.len() > 300 && all.iter().all(|(_, list)| !list.is_empty()));
    all
}

/// Returns the buffer `out` after a run of one warp per tile.
fn run(registers: &str, variables: &str, body: &str, input: Vec<u32>, words: usize) -> Vec<u32> {
    run_tiles(registers, variables, body, input, words, 1)
}

/// As [`run`], of several tiles; `%in` and `%out` are the addresses of the tile.
fn run_tiles(
    registers: &str,
    variables: &str,
    body: &str,
    input: Vec<u32>,
    words: usize,
    tiles: usize,
) -> Vec<u32> {
    let text = format!(
        "//! grid = {tiles}
//! block = 32
//! buffer in: u32[{inputs}]
//! buffer out: u32[{outputs}]
//! arg in = in
//! arg out = out
{variables}
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .b32 %t, %c, %r<8>;
    .reg .b64 %in, %out, %p;
{registers}
    mov.u32 %t, %tid.x;
    mov.u32 %c, %ctaid.x;
    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
    mad.wide.u32 %in, %c, {in_bytes}, %in;
    mad.wide.u32 %out, %c, {out_bytes}, %out;
{body}
    ret;
}}
",
        inputs = input.len().max(1),
        outputs = words * tiles,
        in_bytes = input.len() / tiles * 4,
        out_bytes = words * 4,
    );
    let program = Program::parse("tensor.ir", &text);
    let (kernel, mut launch) =
        support::launch(&program, &Overrides::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    launch.buffers[0].words = input;
    let outcome = oracle::run(kernel, &launch, 1 << 24);
    let buffers = outcome.unwrap_or_else(|e| panic!("{e:?}\n{text}")).buffers;
    buffers.into_iter().nth(1).expect("two buffers")
}

/// Types, shape and registers of a product, from its mnemonic.
struct Product {
    shape: [u32; 3],
    factors: [FactorType; 2],
    /// Types of D and C.
    sums: [SumType; 2],
}

fn product(mnemonic: &str) -> Product {
    let words: Vec<&str> = mnemonic.split('.').collect();
    let at = words.iter().position(|w| w.starts_with('m') && w.contains('n') && w.contains('k'));
    let at = at.expect("a shape");
    let numbers = words[at].split(['m', 'n', 'k']).filter_map(|n| n.parse().ok());
    let shape: Vec<u32> = numbers.collect();
    let known = |w: &&&str| FactorType::from_name(w).is_some() || SumType::from_name(w).is_some();
    let types: Vec<&str> = words[at + 1..].iter().filter(known).copied().collect();
    let sum = |name: &str| SumType::from_name(name).expect("a type of sums");
    let factor = |name: &str| FactorType::from_name(name).expect("a type of factors");
    let (factors, sums) = match types[..] {
        [d, a, b, c] => ([factor(a), factor(b)], [sum(d), sum(c)]),
        [d, c] => ([FactorType::F16; 2], [sum(d), sum(c)]),
        _ => panic!("{mnemonic}"),
    };
    Product { shape: [shape[0], shape[1], shape[2]], factors, sums }
}

fn list(name: &str, count: usize) -> String {
    let names: Vec<String> = (0..count).map(|i| format!("%{name}{i}")).collect();
    format!("{{{}}}", names.join(", "))
}

/// Registers of C or D.
fn sums(product: &Product, ty: SumType) -> usize {
    let [m, n, _] = product.shape;
    (m * n / if ty == SumType::F16 { 64 } else { 32 }) as usize
}

/// Returns the operands of a product, registers of A, B and C, and the bytes of a register.
fn operands(mnemonic: &str, tiles: usize) -> (Vec<u32>, [usize; 3], usize) {
    let p = product(mnemonic);
    let [m, n, k] = p.shape;
    let per = |ty: FactorType| 32 * ty.per_register();
    let counts = [
        (m * k / per(p.factors[0])) as usize,
        (k * n / per(p.factors[1])) as usize,
        sums(&p, p.sums[1]),
    ];
    let of_a = Format::of_factor(p.factors[0]);
    let formats = [of_a, Format::of_factor(p.factors[1]), Format::of_sum(p.sums[1])];
    let mut input = Vec::new();
    for tile in 0..tiles as u64 {
        for lane in 0..32 {
            for (matrix, (format, count)) in formats.into_iter().zip(counts).enumerate() {
                for r in 0..count as u64 {
                    input.extend(register(format, of_a, (tile, matrix as u64), (lane, r)));
                }
            }
        }
    }
    (input, counts, if p.sums[0] == SumType::F64 { 8 } else { 4 })
}

/// Runs `mma` on the recorded operands.
fn mma(mnemonic: &str, tiles: usize) -> Vec<u32> {
    let (input, counts, bytes) = operands(mnemonic, tiles);
    let bits = bytes * 8;
    let all: usize = counts.iter().sum();
    let mut body = format!(
        "mad.wide.u32 %in, %t, {}, %in;\nmad.wide.u32 %out, %t, {}, %out;\n",
        all * bytes,
        counts[2] * bytes
    );
    let mut at = 0;
    for (name, count) in ["a", "b", "c"].into_iter().zip(counts) {
        for i in 0..count {
            body += &format!("ld.global.b{bits} %{name}{i}, [%in+{at}];\n");
            at += bytes;
        }
    }
    let [a, b, c] = ["a", "b", "c"].map(|name| name.to_string());
    let [na, nb, nc] = counts;
    body += &format!(
        "{mnemonic} {}, {}, {}, {};\n",
        list("d", nc),
        list(&a, na),
        list(&b, nb),
        list(&c, nc)
    );
    for i in 0..nc {
        body += &format!("st.global.b{bits} [%out+{}], %d{i};\n", i * bytes);
    }
    let registers = format!(".reg .b{bits} %a<16>, %b<16>, %c<16>, %d<16>;");
    run_tiles(&registers, "", &body, input, 32 * counts[2] * bytes / 4, tiles)
}

fn wmma(mnemonic: &str, tiles: usize) -> Vec<u32> {
    let p = product(mnemonic);
    let [m, n, k] = p.shape;
    let words: Vec<&str> = mnemonic.split('.').collect();
    let layouts: Vec<&str> =
        words.iter().filter(|w| matches!(**w, "row" | "col")).copied().collect();
    let shape = words.iter().find(|w| w.starts_with('m') && w.contains('k')).expect("a shape");
    let of_a = Format::of_factor(p.factors[0]);
    let bits_of = |ty: SumType| match ty {
        SumType::F16 => 16,
        SumType::F64 => 64,
        _ => 32,
    };
    let element = p.factors[0].bits();
    let sizes = [m * k * element / 32, k * n * element / 32, m * n * bits_of(p.sums[1]) / 32];
    let formats = [of_a, of_a, Format::of_sum(p.sums[1])];
    let mut input = Vec::new();
    for tile in 0..tiles as u64 {
        for ((matrix, size), format) in [A, B, C].into_iter().zip(sizes).zip(formats) {
            let mut matrix_words = Vec::new();
            let mut r = 0;
            while matrix_words.len() < size as usize {
                for lane in 0..32 {
                    matrix_words.extend(register(format, of_a, (tile, matrix), (lane, r)));
                }
                r += 1;
            }
            matrix_words.truncate(size as usize);
            input.extend(matrix_words);
        }
    }
    let wide = p.sums[0] == SumType::F64;
    let factor = |outer: u32| match p.factors[0] {
        FactorType::F16 => 8,
        ty => outer * k / (32 * ty.per_register()),
    };
    let counts = [factor(m), factor(n), sums(&p, p.sums[1]) as u32, sums(&p, p.sums[0]) as u32];
    let [na, nb, nc, nd] = counts.map(|count| count as usize);
    let name = |ty: FactorType| format!("{ty:?}").to_lowercase();
    let sum_name = |ty: SumType| format!("{ty:?}").to_lowercase();
    let stride = |layout: &str, rows: u32, columns: u32| {
        if layout == "row" { columns } else { rows }
    };
    let body = format!(
        "add.u64 %p, %in, {};
wmma.load.a.sync.aligned.{}.{shape}.global.{} {}, [%in], {};
wmma.load.b.sync.aligned.{}.{shape}.global.{} {}, [%p], {};
add.u64 %p, %p, {};
wmma.load.c.sync.aligned.row.{shape}.global.{} {}, [%p], {n};
{mnemonic} {}, {}, {}, {};
wmma.store.d.sync.aligned.row.{shape}.{} [%out], {};\n",
        sizes[0] * 4,
        layouts[0],
        name(p.factors[0]),
        list("a", na),
        stride(layouts[0], m, k),
        layouts[1],
        name(p.factors[1]),
        list("b", nb),
        stride(layouts[1], k, n),
        sizes[1] * 4,
        sum_name(p.sums[1]),
        list("c", nc),
        list("d", nd),
        list("a", na),
        list("b", nb),
        list("c", nc),
        sum_name(p.sums[0]),
        list("d", nd)
    );
    let bits = if wide { 64 } else { 32 };
    let registers = format!(".reg .b{bits} %a<9>, %b<9>, %c<9>, %d<9>;");
    run_tiles(&registers, "", &body, input, (m * n * bits_of(p.sums[0]) / 32) as usize, tiles)
}

/// Loads a fragment of a matrix whose element `i` in memory is a part of the number `i`.
fn fragment(mnemonic: &str, passes: usize) -> Vec<u32> {
    let words: Vec<&str> = mnemonic.split('.').collect();
    let [matrix, layout, shape, ty] = [words[2], words[5], words[6], words[7]];
    let numbers: Vec<u32> = shape.split(['m', 'n', 'k']).filter_map(|n| n.parse().ok()).collect();
    let (m, n, k) = (numbers[0], numbers[1], numbers[2]);
    let (rows, columns) = match matrix {
        "a" => (m, k),
        "b" => (k, n),
        _ => (m, n),
    };
    let bits = FactorType::from_name(ty).map_or(32, FactorType::bits);
    let chunk = bits.min(8);
    let mut input = Vec::new();
    for pass in 0..passes as u32 {
        let mut memory = vec![0u32; (rows * columns * bits / 32) as usize];
        for i in 0..rows * columns {
            let part = i >> (chunk * pass) & ((1 << chunk) - 1);
            memory[(i * bits / 32) as usize] |= part << (i * bits % 32);
        }
        input.extend(memory);
    }
    let registers = match (matrix, ty) {
        ("a" | "b", "f16") => 8,
        _ => rows * columns / 32 / (32 / bits).max(1),
    } as usize;
    let (reg, bytes) = if bits == 64 { (64, 8) } else { (32, 4) };
    let stride = if layout == "row" { columns } else { rows };
    let mut body = format!(
        "{mnemonic} {}, [%in], {stride};\nmad.wide.u32 %out, %t, {}, %out;\n",
        list("a", registers),
        registers * bytes
    );
    for i in 0..registers {
        body += &format!("st.global.b{reg} [%out+{}], %a{i};\n", i * bytes);
    }
    run_tiles(&format!(".reg .b{reg} %a<9>;"), "", &body, input, 32 * registers * bytes / 4, passes)
}

/// Runs `ldmatrix`, `stmatrix` or `movmatrix` on the recorded operands of a tile.
fn matrices(name: &str, tile: u64) -> Vec<u32> {
    let (opcode, suffix) = name.split_once(' ').unwrap_or((name, ""));
    let (number, transposed) = suffix.split_once('.').unwrap_or((suffix, ""));
    let count = number.strip_prefix('x').and_then(|n| n.parse().ok()).unwrap_or(1usize);
    let dot = if transposed.is_empty() { "" } else { ".trans" };
    let word = |i: u64| mix(tile * 1024 + i) as u32;
    let variable = ".shared .align 16 .b8 data[4096];";
    let registers = ".reg .b32 %a<9>, %s;";
    if opcode == "movmatrix" {
        let body = "mad.wide.u32 %in, %t, 4, %in;\nld.global.b32 %a0, [%in];
            movmatrix.sync.aligned.m8n8.trans.b16 %a1, %a0;
            mad.wide.u32 %out, %t, 4, %out;\nst.global.b32 [%out], %a1;";
        return run(registers, "", body, (0..32).map(word).collect(), 32);
    }
    let mut body = String::from("mov.u32 %s, data;\nmad.lo.u32 %r1, %t, 4, %s;\n");
    let stores = |body: &mut String, words: usize| {
        for i in 0..words {
            *body += &format!("st.global.b32 [%out+{}], %a{i};\n", 4 * i);
        }
    };
    if opcode == "ldmatrix" {
        // Words of shared memory, then the rows that the lanes name.
        let rows = (0..32).map(|t| (mix(tile * 32 + t + 77777) as u32) % 256);
        let input: Vec<u32> = (0..1024).map(word).chain(rows).collect();
        body += "mad.wide.u32 %p, %t, 4, %in;\n";
        for i in 0..32 {
            body +=
                &format!("ld.global.b32 %r2, [%p+{0}];\nst.shared.b32 [%r1+{0}], %r2;\n", i * 128);
        }
        body += &format!(
            "ld.global.b32 %r3, [%p+4096];\nmad.lo.u32 %r3, %r3, 16, %s;\nbar.sync 0;
             ldmatrix.sync.aligned.m8n8.{number}{dot}.shared.b16 {}, [%r3];
             mad.wide.u32 %out, %t, {}, %out;\n",
            list("a", count),
            4 * count
        );
        stores(&mut body, count);
        return run(registers, variable, &body, input, 32 * count);
    }
    let input: Vec<u32> =
        (0..32u64).flat_map(|t| (0..count as u64).map(move |i| word(i * 32 + t))).collect();
    body += &format!("mad.wide.u32 %p, %t, {}, %in;\n", 4 * count);
    for i in 0..count {
        body += &format!("ld.global.b32 %a{i}, [%p+{}];\n", 4 * i);
    }
    body += &format!(
        "mad.lo.u32 %r3, %t, 7, {};\nrem.u32 %r3, %r3, 32;\nmad.lo.u32 %r3, %r3, 16, %s;
         stmatrix.sync.aligned.m8n8.{number}{dot}.shared.b16 [%r3], {};\nbar.sync 0;
         mad.wide.u32 %out, %t, 4, %out;\n",
        tile * 3,
        list("a", count)
    );
    for i in 0..4 {
        body +=
            &format!("ld.shared.b32 %r2, [%r1+{0}];\nst.global.b32 [%out+{0}], %r2;\n", i * 128);
    }
    run(registers, variable, &body, input, 128)
}

/// Returns the recorded operands of conversions: two words of each lane.
fn conversion_operands(tiles: usize) -> Vec<u32> {
    let mut input = Vec::new();
    for tile in 0..tiles as u64 {
        for t in 0..32 {
            let (r, q) = (mix(tile * 64 + t * 2), mix(tile * 64 + t * 2 + 1));
            for bits in [r, q] {
                let mut x = bits as u32;
                if tile & 1 == 1 {
                    let exponent = 100 + (bits >> 32) as u32 % 50;
                    x = x & 0x807f_ffff | exponent << 23;
                }
                if tile % 4 == 3 {
                    x &= if bits == r { 0xfff8_0000 } else { 0xffff_f000 };
                }
                if tile % 8 == 7 && bits == r {
                    x = x & !0x7f80_0fff | 0x3880_0000;
                }
                input.push(x);
            }
        }
    }
    input
}

/// Runs a conversion on the recorded operands.
fn conversion(mnemonic: &str, tiles: usize) -> Vec<u32> {
    let input = conversion_operands(tiles);
    let words: Vec<&str> = mnemonic.split('.').collect();
    let (to, from) = (words[words.len() - 2], words[words.len() - 1]);
    let half = |ty: &str| matches!(ty, "e4m3x2" | "e5m2x2" | "bf16" | "f16");
    let d = if half(to) { "%h0" } else { "%a2" };
    let pair = to.ends_with("x2") && from == "f32";
    let source = match (pair, half(from)) {
        (true, _) => "%a0, %a1",
        (false, true) => "%h1",
        (false, false) => "%a0",
    };
    let mut body = format!(
        "mad.wide.u32 %p, %t, 8, %in;\nmad.wide.u32 %out, %t, 4, %out;
         ld.global.b32 %a0, [%p];\nld.global.b32 %a1, [%p+4];\ncvt.u16.u32 %h1, %a0;
         {mnemonic} {d}, {source};\n"
    );
    if half(to) {
        body += "cvt.u32.u16 %a2, %h0;\n";
    }
    body += "st.global.b32 [%out], %a2;\n";
    run_tiles(".reg .b32 %a<9>;\n.reg .b16 %h<4>;", "", &body, input, 32, tiles)
}

/// Compares instructions that `chosen` accepts with their records; returns how many there are.
fn compare(chosen: impl Fn(&str) -> bool, most: usize) -> usize {
    let mut count = 0;
    let mut wrong = Vec::new();
    for (name, hashes) in records().into_iter().filter(|(name, _)| chosen(name)) {
        count += 1;
        let tiles = hashes.len().min(most);
        let words = match name.split(['.', ' ']).next() {
            Some("mma") => mma(name, tiles),
            Some("cvt") => conversion(name, tiles),
            Some("wmma") if name.contains(".load.") => fragment(name, tiles),
            Some("wmma") => wmma(name, tiles),
            _ => (0..tiles as u64).flat_map(|tile| matrices(name, tile)).collect(),
        };
        let found: Vec<u32> = words.chunks(words.len() / tiles).map(hash).collect();
        let other: Vec<usize> = (0..tiles).filter(|&i| found[i] != hashes[i]).collect();
        if !other.is_empty() {
            wrong.push(format!("{name}: tiles {other:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    count
}

#[test]
fn products_have_the_bits_of_an_h200() {
    assert_eq!(compare(|name| name.starts_with("mma."), 11), 66);
}

#[test]
fn wmma_has_the_bits_of_an_h200() {
    let product = |name: &str| name.starts_with("wmma.mma");
    assert_eq!(compare(product, 4), 122);
}

#[test]
fn fragments_are_laid_out_as_on_an_h200() {
    assert_eq!(compare(|name| name.starts_with("wmma.load"), 16), 88);
}

#[test]
fn matrices_move_as_on_an_h200() {
    let count = compare(|name| name.contains("matrix"), 16);
    assert_eq!(count, 13);
}

#[test]
fn conversions_for_tensor_cores_have_the_bits_of_an_h200() {
    assert_eq!(compare(|name| name.starts_with("cvt."), 16), 30);
}
