//! Element-wise rows: the mnemonics to run, and their programs.

use std::collections::BTreeMap;

use simt_core::isa::{Agreement, Class, Form, FormMatch, Isa, OperandKind, Sem, Type};

use super::print::Page;
use super::tables::Layout;

/// A row with at most this many mnemonics runs in every combination of its words.
const ALL: usize = 36;
/// Limits for running every combination of types with one modifier at a time: of conversions, whose
/// types matter most, and of other rows.
const TYPES: (usize, usize) = (200, 40);

/// Returns the programs of element-wise forms.
pub(super) fn pages() -> BTreeMap<String, Page> {
    let isa = Isa::ptx();
    let mut pages: BTreeMap<String, Page> = BTreeMap::new();
    for row in isa.rows().iter().filter(|row| is_element_wise(row)) {
        for mnemonic in mnemonics(row, ALL, if row.sem == Sem::Cvt { TYPES.0 } else { TYPES.1 }) {
            let Ok(found) = isa.lookup(&mnemonic) else { continue };
            if refused(&found) {
                continue;
            }
            let (name, layout) = place(&found);
            pages.entry(name.clone()).or_insert_with(|| Page::new(&name, layout)).form(&found);
        }
    }
    pages
}

/// Returns true if each lane's result depends only on that lane's registers.
fn is_element_wise(row: &Form) -> bool {
    let shaped = row.operands.iter().all(|o| {
        matches!(
            o.kind,
            OperandKind::Value(_)
                | OperandKind::Wider(_)
                | OperandKind::Moved(_)
                | OperandKind::Predicate
                | OperandKind::PredicatePair
                | OperandKind::Immediate
        ) && (!o.optional || row.sem == Sem::Video)
    });
    let among_lanes = matches!(
        row.class,
        Class::Barrier
            | Class::WarpSync
            | Class::Shuffle
            | Class::Vote
            | Class::WarpReduce
            | Class::Sleep
            | Class::Fence
    );
    let has_result = row.operands.iter().any(|o| o.result);
    // A GPU chooses other addresses; states of barrier objects and cache policies are opaque.
    let opaque = matches!(
        row.sem,
        Sem::Cvta | Sem::PendingCount | Sem::CvtTensor | Sem::Policy | Sem::Alloca | Sem::StackSave
    );
    shaped && has_result && !among_lanes && !opaque
}

/// Returns the mnemonics of a row to run: up to `most` in every combination, up to `types` in every
/// combination of types with one modifier at a time, and beyond that each type and modifier at
/// least once.
pub(super) fn mnemonics(row: &Form, most: usize, types_most: usize) -> Vec<String> {
    let choices = |slot: usize| -> Vec<Option<&str>> {
        let slot = &row.slots[slot];
        slot.optional
            .then_some(None)
            .into_iter()
            .chain(slot.words.iter().map(|w| Some(w.as_str())))
            .collect()
    };
    let slots: Vec<Vec<Option<&str>>> = (0..row.slots.len()).map(choices).collect();
    let product = |lists: &[Vec<Option<&str>>]| lists.iter().map(Vec::len).product::<usize>();
    let chosen = if product(&slots) <= most {
        combinations(&slots)
    } else {
        // One modifier at a time differs from the plainest.
        let is_type = |slot: usize| row.slots[slot].is_type();
        let plain: Vec<Option<&str>> = slots.iter().map(|list| list[0]).collect();
        let mut variants = vec![plain.clone()];
        for (slot, list) in slots.iter().enumerate().filter(|(slot, _)| !is_type(*slot)) {
            for word in &list[1..] {
                variants.push(plain.clone());
                if let Some(last) = variants.last_mut() {
                    last[slot] = *word;
                }
            }
        }
        let only_types: Vec<Vec<Option<&str>>> = slots
            .iter()
            .enumerate()
            .map(|(slot, list)| if is_type(slot) { list.clone() } else { vec![None] })
            .collect();
        let types = combinations(&only_types);
        let merge =
            |variant: &[Option<&'_ str>], types: &[Option<&'_ str>]| -> Vec<Option<String>> {
                let words = variant.iter().zip(types).enumerate();
                words
                    .map(|(slot, (v, t))| if is_type(slot) { *t } else { *v }.map(str::to_string))
                    .collect()
            };
        let all: Vec<Vec<Option<String>>> = if variants.len() * types.len() <= types_most {
            variants.iter().flat_map(|v| types.iter().map(move |t| merge(v, t))).collect()
        } else {
            let count = variants.len().max(types.len());
            (0..count)
                .map(|i| merge(&variants[i % variants.len()], &types[i % types.len()]))
                .collect()
        };
        return all
            .iter()
            .map(|words| written(&row.opcode, words.iter().map(Option::as_deref)))
            .collect();
    };
    chosen.iter().map(|words| written(&row.opcode, words.iter().copied())).collect()
}

fn combinations<'a>(slots: &[Vec<Option<&'a str>>]) -> Vec<Vec<Option<&'a str>>> {
    slots.iter().fold(vec![Vec::new()], |all, list| {
        all.iter()
            .flat_map(|start| list.iter().map(move |word| [start.as_slice(), &[*word]].concat()))
            .collect()
    })
}

fn written<'a>(opcode: &str, words: impl Iterator<Item = Option<&'a str>>) -> String {
    words.flatten().fold(opcode.to_string(), |text, word| text + "." + word)
}

/// Returns true for mnemonics that the rows accept and NVIDIA's assembler refuses.
fn refused(found: &FormMatch<'_>) -> bool {
    let (to, from) = (found.ty(), found.second_type());
    let flushes = found.has("ftz");
    match found.form.sem {
        Sem::Cvt => {
            let float32 = to == Type::F32 || from == Type::F32;
            let integers = !to.is_float() && !from.is_float();
            let brain = to == Type::BF16 || from == Type::BF16;
            (flushes && !float32)
                || (integers && found.has("sat") && holds_all(to, from))
                || (brain && (found.has("sat") || to.bits() == 8 || from.bits() == 8))
        }
        Sem::Set | Sem::SetBool => flushes && !matches!(from, Type::F32 | Type::F16 | Type::F16x2),
        _ if found.form.opcode == "sub" && matches!(to, Type::U16x2 | Type::S16x2) => true,
        // Buffers have no 16-bit float elements, so there is no distance in units in the last
        // place.
        _ if found.form.agreement != Agreement::Exact && to.name().contains("f16") => true,
        _ => false,
    }
}

/// Returns true if type `to` includes every integer of type `from`.
fn holds_all(to: Type, from: Type) -> bool {
    match (to.is_signed(), from.is_signed()) {
        (a, b) if a == b => to.bits() >= from.bits(),
        (true, _) => to.bits() > from.bits(),
        (false, _) => false,
    }
}

/// Returns the program of a form, and its layout of values.
fn place(found: &FormMatch<'_>) -> (String, Layout) {
    let (ty, from, opcode) = (found.ty(), found.second_type(), found.form.opcode.as_str());
    let is_half = |ty: Type| ty.name().contains("f16");
    let is_float = |ty: Type| ty.is_float() || is_half(ty);
    if found.form.sem == Sem::Cvt {
        let name = match (is_float(ty), is_float(from)) {
            (false, false) => "convert_integer".to_string(),
            (false, true) => "convert_to_integer".to_string(),
            (true, false) => "convert_from_integer".to_string(),
            (true, true) => "convert_float".to_string(),
        };
        return (name, Layout::Single);
    }
    if found.form.agreement != Agreement::Exact {
        let operands = found.form.operands.len();
        let width = match ty {
            Type::F32 => String::new(),
            ty => format!("_{}", ty.name()),
        };
        let layout = match opcode {
            "sin" | "cos" => Layout::Angles,
            _ if operands > 2 => Layout::Pairs,
            _ => Layout::Single,
        };
        return (format!("approx_{opcode}{width}"), layout);
    }
    let wide = if from.bits() == 64 { "64" } else { "32" };
    let name = match found.form.sem {
        Sem::AddCarry | Sem::SubCarry | Sem::MadCarry => "carry".to_string(),
        Sem::Div | Sem::Rem => "division".to_string(),
        Sem::Video => "video".to_string(),
        Sem::Setp | Sem::Set | Sem::SetBool => match is_float(from) {
            true if is_half(from) => "compare_half".to_string(),
            true => format!("compare_float{wide}"),
            false => format!("compare_integer{wide}"),
        },
        Sem::Selp | Sem::Slct | Sem::Mov => "select".to_string(),
        Sem::FDiv | Sem::Rcp | Sem::Sqrt => format!("roots{wide}"),
        Sem::FMin | Sem::FMax | Sem::FNeg | Sem::FAbs | Sem::CopySign if !is_half(ty) => {
            "minmax".to_string()
        }
        _ if is_half(ty) => "half".to_string(),
        Sem::FAdd | Sem::FSub | Sem::FMul | Sem::Fma => format!("float{wide}"),
        _ if is_float(ty) => "minmax".to_string(),
        _ if matches!(found.form.class, Class::Logic | Class::Shift | Class::BitCount) => {
            "bits".to_string()
        }
        _ => format!("integer{wide}"),
    };
    (name, Layout::Pairs)
}
