//! `mov` in all its forms, and `cvta` in both directions (PTX ISA, "Data Movement and Conversion
//! Instructions").

use simt_core::isa::{Isa, Sem};

use super::harness::{Case, lookup};
use super::inputs::Bits;
use super::mnemonics;

/// A case and the expected contents of `out`.
type Checked = (Case, Vec<u64>);

const LANES: usize = 48;

/// Returns every case of this module.
pub(crate) fn cases() -> Vec<Checked> {
    let rows =
        |sem: Sem| Isa::ptx().rows().iter().filter(move |f| f.sem == sem).flat_map(mnemonics::of);
    let plain = rows(Sem::Mov).map(|m| copy(&m));
    let spaces = rows(Sem::Isspacep).map(|m| space(&m));
    plain.chain(packs()).chain(rows(Sem::Cvta).map(|m| address(&m))).chain(spaces).collect()
}

/// Builds a case that maps one 64-bit cell per lane to another by `body`, with the registers it
/// declares.
fn case(
    subjects: Vec<String>,
    declarations: &str,
    body: &str,
    f: impl Fn(usize, u64) -> u64,
) -> Checked {
    let mut bits = Bits::new(body.len() as u64);
    let input: Vec<u64> = (0..LANES).map(|_| bits.next()).collect();
    let expected: Vec<u64> = input.iter().enumerate().map(|(lane, &x)| f(lane, x)).collect();
    let text = format!(
        "//! grid = 1\n//! block = {LANES}\n.global .align 8 .b8 constants[8];\n\
         .visible .entry form(.param .u64 in, .param .u64 out)\n{{\n{declarations}\n.reg .u32 %i;\n.reg .u64 %in, %out, %x;\n\
         mov.u32 %i, %tid.x;\nld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n\
         mad.wide.u32 %in, %i, 8, %in;\nmad.wide.u32 %out, %i, 8, %out;\nld.global.b64 %x, [%in];\n\
         {body}\nst.global.b64 [%out], %x;\nexit;\n}}\n"
    );
    (Case { subjects, text, input, outputs: LANES }, expected)
}

/// Copies between registers, and a special register.
fn copy(mnemonic: &str) -> Checked {
    let bits = lookup(mnemonic).ty().bits();
    let body = format!(
        "st.global.b64 [%out], 0;\nld.global.b{bits} %a, [%in];\n{mnemonic} %b, %a;\nst.global.b{bits} [%out], %b;\nld.global.b64 %x, [%out];"
    );
    let mask = u64::MAX >> (64 - bits);
    case(vec![mnemonic.into()], &format!(".reg .b{bits} %a, %b;"), &body, move |_, x| x & mask)
}

/// Packs and unpacks; the first part is the lowest.
fn packs() -> Vec<Checked> {
    let b = |w: u32| format!("mov.b{w}");
    let halves = ".reg .b32 %a, %b;";
    let quarters = ".reg .b16 %a, %b, %c, %d;";
    let mut all = vec![
        case(vec![b(64)], halves, "mov.b64 {%a, %b}, %x;\nmov.b64 %x, {%b, %a};", |_, x| {
            x.rotate_left(32)
        }),
        case(vec![b(64)], halves, "mov.b64 {_, %b}, %x;\ncvt.u64.u32 %x, %b;", |_, x| x >> 32),
        case(
            vec![b(64)],
            quarters,
            "mov.b64 {%a, %b, %c, %d}, %x;\nmov.b64 %x, {%d, %a, %b, %c};",
            |_, x| x.rotate_left(16),
        ),
        case(
            vec![b(32)],
            ".reg .b32 %w;\n.reg .b16 %a, %b;",
            "cvt.u32.u64 %w, %x;\nmov.b32 {%a, %b}, %w;\nmov.b32 %w, {%b, %a};\ncvt.u64.u32 %x, %w;",
            |_, x| (x as u32).rotate_left(16).into(),
        ),
    ];
    for (name, f) in SPECIAL {
        all.push(case(
            vec!["mov.u32".into()],
            ".reg .u32 %s;",
            &format!("mov.u32 %s, %{name};\ncvt.u64.u32 %x, %s;"),
            move |lane, _| f(lane as u64),
        ));
    }
    all
}

/// A special register's value from the thread's index.
type FromIndex = fn(u64) -> u64;

/// Special registers of one block of [`LANES`] threads, from the thread's index.
const SPECIAL: [(&str, FromIndex); 14] = [
    ("tid.x", |i| i),
    ("tid.y", |_| 0),
    ("ntid.x", |_| LANES as u64),
    ("ntid.z", |_| 1),
    ("ctaid.x", |_| 0),
    ("nctaid.x", |_| 1),
    ("laneid", |i| i % 32),
    ("warpid", |i| i / 32),
    ("nwarpid", |_| 64),
    ("lanemask_eq", |i| 1 << (i % 32)),
    ("lanemask_lt", |i| (1 << (i % 32)) - 1),
    ("lanemask_le", |i| (2 << (i % 32)) - 1),
    ("lanemask_gt", |i| 0xffff_ffff & !((2 << (i % 32)) - 1)),
    ("lanemask_ge", |i| 0xffff_ffff & !((1 << (i % 32)) - 1)),
];

/// Writes a value in its space and reads it through the generic address, or vice versa.
fn address(mnemonic: &str) -> Checked {
    let m = lookup(mnemonic);
    let space = m
        .words
        .iter()
        .flatten()
        .map(|w| w.split("::").next().unwrap_or(w))
        .find(|w| *w != "to" && *w != "u64");
    let space = space.unwrap_or("global");
    let back = m.has("to");
    let variable = match space {
        "shared" => format!(".shared .align 8 .b8 v[{}];", 8 * LANES),
        "local" => ".local .align 8 .b8 v[8];".to_string(),
        _ => String::new(),
    };
    let step = if space == "shared" { "mad.wide.u32 %p, %i, 8, %p;" } else { "" };
    let write = format!("mov.u64 %p, v;\n{step}\nst.{space}.b64 [%p], %x;\nmov.b64 %x, 0;\n");
    let declarations = format!("{variable}\n.reg .u64 %p, %q;");
    let body = match (space, back) {
        ("global", false) => format!("{mnemonic} %q, %in;\nld.b64 %x, [%q];"),
        ("global", true) => format!("{mnemonic} %q, %in;\nld.global.b64 %x, [%q];"),
        // A parameter is not written; its value is the same by both addresses.
        ("param", _) => {
            let (to, load) = match back {
                true => (format!("cvta.param.u64 %p, %p;\n{mnemonic} %q, %p;"), "ld.param.b64"),
                false => (format!("{mnemonic} %q, %p;"), "ld.b64"),
            };
            let both = "ld.param.u64 %p, [in];\nsub.u64 %q, %q, %p;\nadd.u64 %x, %x, %q;";
            format!("mov.u64 %p, in;\n{to}\n{load} %q, [%q];\n{both}")
        }
        // Constants are not written; the module's zeros stand for the value.
        ("const", _) => {
            let to = if back {
                format!("cvta.const.u64 %p, table;\n{mnemonic} %q, %p;\nld.const.b64 %x, [%q];")
            } else {
                format!("{mnemonic} %q, table;\nld.b64 %x, [%q];")
            };
            let mut made =
                case(vec![mnemonic.into()], &declarations, &to, |_, _| 0x0123_4567_89ab_cdef);
            made.0.text = made.0.text.replace(
                ".global .align 8 .b8 constants[8];",
                ".const .b64 table = 0x0123456789abcdef;",
            );
            return made;
        }
        (_, false) => format!("{write}{mnemonic} %q, %p;\nld.b64 %x, [%q];"),
        (_, true) => {
            format!("{write}cvta.{space}.u64 %p, %p;\n{mnemonic} %q, %p;\nld.{space}.b64 %x, [%q];")
        }
    };
    case(vec![mnemonic.into()], &declarations, &body, |_, x| x)
}

/// Tests a generic address of each space for being in the mnemonic's space.
fn space(mnemonic: &str) -> Checked {
    const SPACES: [(&str, &str); 4] =
        [("global", "g"), ("shared", "s"), ("local", "l"), ("const", "constant")];
    let m = lookup(mnemonic);
    let asked = |name: &str| m.words.iter().flatten().any(|w| w.split("::").next() == Some(name));
    let declarations =
        ".shared .b64 s;\n.local .b64 l;\n.reg .u64 %p;\n.reg .u32 %r;\n.reg .pred %q;";
    let mut body = "mov.u64 %x, 0;\n".to_string();
    let mut expected = 0;
    for (i, (name, variable)) in SPACES.iter().enumerate() {
        let bit = 1 << i;
        body += &format!(
            "cvta.{name}.u64 %p, {variable};\n{mnemonic} %q, %p;\nselp.u64 %p, {bit}, 0, %q;\nor.b64 %x, %x, %p;\n"
        );
        expected |= if asked(name) { bit } else { 0 };
    }
    let mut made = case(vec![mnemonic.into()], declarations, &body, move |_, _| expected);
    let old = ".global .align 8 .b8 constants[8];";
    made.0.text = made.0.text.replace(old, ".global .b64 g;\n.const .b64 constant = 1;");
    made
}
