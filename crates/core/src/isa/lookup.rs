//! Lookup of the form of a mnemonic.
//!
//! A mnemonic matches a form if its words fill the slots in order. If none matches, [`Isa::lookup`]
//! returns an error that names the wrong word and the valid ones.

use super::Type;
use super::form::{Form, FormMatch, Isa, Slot};
use crate::diag::{Diagnostic, Span, closest};

/// Error of a mnemonic without a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupError {
    /// Code of the diagnostic.
    pub code: &'static str,
    /// Message.
    pub message: String,
    /// Help line.
    pub help: Option<String>,
}

impl LookupError {
    fn new(code: &'static str, message: String, help: Option<String>) -> LookupError {
        LookupError { code, message, help }
    }

    /// Returns the error as a diagnostic at `span`.
    pub fn at(self, span: Span) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.code, span, self.message);
        diagnostic.help = self.help;
        diagnostic
    }
}

impl Isa {
    /// Finds the form of a mnemonic such as `setp.lt.and.u32`.
    pub fn lookup(&self, mnemonic: &str) -> Result<FormMatch<'_>, LookupError> {
        let words: Vec<&str> = mnemonic.split('.').collect();
        let (opcode, words) =
            words.split_first().map_or(("", &[][..]), |(first, rest)| (*first, rest));
        let Some(rows) = self.by_opcode.get(opcode) else {
            let known = self.unsupported_start(mnemonic);
            return Err(known.unwrap_or_else(|| self.unknown_opcode(opcode)));
        };
        let mut words = usual_order(opcode, words);
        let hint = takes_hint(opcode, &words);
        if hint {
            words.retain(|word| *word != CACHE_HINT);
        }
        let words = &halves(opcode, words)[..];
        for &index in rows {
            let form = &self.rows[usize::from(index)];
            if let Some(words) = fill(&form.slots, words) {
                return Ok(FormMatch { index, form, words, hint });
            }
        }
        if let Some(error) = self.unsupported_start(mnemonic) {
            return Err(error);
        }
        let forms: Vec<&Form> = rows.iter().map(|&i| &self.rows[usize::from(i)]).collect();
        Err(explain(opcode, words, &forms, mnemonic))
    }

    /// Returns the error of a mnemonic whose start is known to be unsupported.
    fn unsupported_start(&self, mnemonic: &str) -> Option<LookupError> {
        let ends = mnemonic.match_indices('.').map(|(end, _)| end).chain([mnemonic.len()]);
        // The longest start has the most precise reason.
        let mut starts = ends.rev().map(|end| &mnemonic[..end]);
        // An instruction on the shared memory of another block.
        let remote = mnemonic.split('.').any(|word| word == "shared::cluster").then_some("mapa");
        let found = starts.find_map(|start| Some((start, self.unsupported.get(start)?)));
        let remote =
            remote.and_then(|opcode| Some(("shared::cluster", self.unsupported.get(opcode)?)));
        let (what, (why, help)) = found.or(remote)?;
        let message = format!("`{what}` is not supported: {why}");
        Some(LookupError::new("unsupported-instruction", message, help.clone()))
    }

    fn unknown_opcode(&self, opcode: &str) -> LookupError {
        let help = closest(opcode, self.by_opcode.keys().map(String::as_str))
            .map(|c| format!("did you mean `{c}`?"));
        LookupError::new("unknown-instruction", format!("unknown instruction `{opcode}`"), help)
    }
}

/// Modifier whose operand is a cache policy.
const CACHE_HINT: &str = "L2::cache_hint";

/// Returns true for a mnemonic with a cache hint that an access to global memory or a bulk copy may
/// have.
fn takes_hint(opcode: &str, words: &[&str]) -> bool {
    const OTHERS: [&str; 6] = ["shared", "shared::cta", "local", "const", "volatile", "cas"];
    let bulk = opcode == "cp" && words.contains(&"bulk");
    (bulk || matches!(opcode, "ld" | "st" | "atom" | "red"))
        && words.iter().filter(|word| **word == CACHE_HINT).count() == 1
        && (bulk || !words.iter().any(|word| OTHERS.contains(word) || word.starts_with("param")))
}

/// Replaces the type of 128 bits of loads, stores and moves by that of its halves.
///
/// A register of 128 bits is two of 64 (`kernel::check::quads`).
fn halves<'w>(opcode: &str, mut words: Vec<&'w str>) -> Vec<&'w str> {
    if words.last() == Some(&"b128") {
        let halves: &[&str] = match opcode {
            "ld" | "ldu" | "st" => &["v2", "b64"],
            "mov" => &["b64"],
            _ => return words,
        };
        words.pop();
        words.extend(halves);
    }
    words
}

/// Sorts modifiers into the order of the PTX ISA.
///
/// ptxas accepts other orders, which compilers and libraries use: order, scope and space of an
/// atomic (`atom.global.gpu.add.u32`, `atom.add.relaxed.gpu.u32`, `atom.v2.f32.add`), the `.sync`
/// of warp-level instructions (`vote.ballot.sync.b32`), and the words of matrix instructions
/// (`ldmatrix.sync.aligned.x4.m8n8.shared.b16`).
fn usual_order<'w>(opcode: &str, words: &[&'w str]) -> Vec<&'w str> {
    let rank: fn(&str) -> u32 = match opcode {
        "atom" | "red" => |word| match word {
            "relaxed" | "acquire" | "release" | "acq_rel" => 0,
            "cta" | "cluster" | "gpu" | "sys" => 1,
            "global" | "shared" | "shared::cta" => 2,
            "noftz" => 4,
            "v2" | "v4" | "v8" => 5,
            "f16" | "bf16" | "f16x2" | "bf16x2" | "f32" | "b128" => 6,
            _ => 3,
        },
        "shfl" | "vote" | "redux" => |word| u32::from(word != "sync"),
        "ldmatrix" | "stmatrix" => |word| match word {
            "sync" | "aligned" | "m8n8" => 0,
            "x1" | "x2" | "x4" => 1,
            _ => 2,
        },
        // nvcc writes the rounding of f64 products last.
        "wmma" => |word| match word {
            "f64" => 2,
            "rn" => 1,
            _ => 0,
        },
        "match" => |word| u32::from(!matches!(word, "any" | "all")),
        _ => |_| 0,
    };
    let mut words = words.to_vec();
    words.sort_by_key(|word| rank(word));
    words
}

/// Returns the word in each slot if `words` fill `slots` exactly.
///
/// Prefers to fill optional slots.
fn fill<'a>(slots: &'a [Slot], words: &[&str]) -> Option<Vec<Option<&'a str>>> {
    let Some((slot, rest)) = slots.split_first() else {
        return words.is_empty().then(Vec::new);
    };
    let filled = words.split_first().and_then(|(word, others)| {
        let word = slot.words.iter().find(|w| w == word)?;
        Some((Some(word.as_str()), fill(rest, others)?))
    });
    let (word, mut tail) = match filled {
        Some(filled) => filled,
        None if slot.optional => (None, fill(rest, words)?),
        None => return None,
    };
    tail.insert(0, word);
    Some(tail)
}

/// Returns the number of leading `words` that fit `slots`, and the next slots.
fn progress<'a>(slots: &'a [Slot], words: &[&str]) -> (usize, Vec<&'a Slot>) {
    let mut best = (0, Vec::new());
    let mut expected = Vec::new();
    for (i, slot) in slots.iter().enumerate() {
        expected.push(slot);
        if let Some((word, rest)) = words.split_first()
            && slot.words.iter().any(|w| w == word)
        {
            let (placed, next) = progress(&slots[i + 1..], rest);
            if placed + 1 > best.0 {
                best = (placed + 1, next);
            }
        }
        if !slot.optional {
            break;
        }
    }
    if best.0 == 0 { (0, expected) } else { best }
}

fn explain(opcode: &str, words: &[&str], forms: &[&Form], mnemonic: &str) -> LookupError {
    if let Some(error) = one_word_missing(words, forms, mnemonic) {
        return error;
    }
    let reached: Vec<(usize, Vec<&Slot>)> =
        forms.iter().map(|form| progress(&form.slots, words)).collect();
    let furthest = reached.iter().map(|(placed, _)| *placed).max().unwrap_or(0);
    let expected: Vec<&Slot> =
        reached.iter().filter(|r| r.0 == furthest).flat_map(|r| r.1.iter().copied()).collect();
    let upto = std::iter::once(opcode)
        .chain(words[..furthest].iter().copied())
        .collect::<Vec<_>>()
        .join(".");
    let choices = |types_only: bool| {
        let mut choices: Vec<&str> = Vec::new();
        for slot in expected.iter().filter(|slot| !types_only || slot.is_type()) {
            for word in
                slot.words.iter().filter(|w| !choices.contains(&w.as_str())).collect::<Vec<_>>()
            {
                choices.push(word);
            }
        }
        choices
    };
    let Some(word) = words.get(furthest) else {
        let help = format!("continue `{upto}` with one of {}", list(&choices(false)));
        let message = format!("incomplete instruction `{mnemonic}`");
        return LookupError::new("incomplete-instruction", message, Some(help));
    };
    let is_type = Type::from_name(word).is_some();
    let candidates = choices(is_type && expected.iter().any(|slot| slot.is_type()));
    if candidates.is_empty() {
        let message = format!("unexpected `.{word}` after `{upto}`");
        return LookupError::new("unknown-modifier", message, None);
    }
    let noun = if is_type { "type" } else { "modifier" };
    let help = match closest(word, candidates.iter().copied()) {
        Some(near) if !is_type => format!("did you mean `.{near}`?"),
        _ => format!("use one of {}", list(&candidates)),
    };
    LookupError::new("unknown-modifier", format!("`{upto}` has no {noun} `.{word}`"), Some(help))
}

/// Returns the error for a mnemonic that lacks one required word.
fn one_word_missing(words: &[&str], forms: &[&Form], mnemonic: &str) -> Option<LookupError> {
    let mut found: Option<(&Slot, String)> = None;
    let mut choices: Vec<&str> = Vec::new();
    for form in forms {
        for (i, slot) in form.slots.iter().enumerate().filter(|(_, slot)| !slot.optional) {
            let mut relaxed = form.slots.clone();
            relaxed[i].optional = true;
            let Some(mut filled) = fill(&relaxed, words) else { continue };
            filled[i] = slot.words.first().map(String::as_str);
            let example = || {
                filled.iter().flatten().fold(form.opcode.clone(), |text, word| text + "." + word)
            };
            let (first, _) = found.get_or_insert_with(|| (slot, example()));
            // Forms that differ only in the missing word share the error.
            if first.noun() == slot.noun() {
                choices.extend(slot.words.iter().map(String::as_str));
            }
        }
    }
    let (slot, example) = found?;
    let mut seen = Vec::new();
    choices.retain(|word| {
        !seen.contains(word) && {
            seen.push(*word);
            true
        }
    });
    let help = format!("add one of {}, as in `{example}`", list(&choices));
    let message = format!("missing {} in `{mnemonic}`", slot.noun());
    Some(LookupError::new("incomplete-instruction", message, Some(help)))
}

/// Formats words as `.a .b .c`, shortened after 20.
fn list(words: &[&str]) -> String {
    const SHOWN: usize = 20;
    let mut text = words.iter().take(SHOWN).map(|w| format!(".{w}")).collect::<Vec<_>>().join(" ");
    if words.len() > SHOWN {
        text.push_str(" ..");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::Isa;

    fn error(mnemonic: &str) -> String {
        let e = Isa::ptx().lookup(mnemonic).expect_err(mnemonic);
        format!("{}: {} ({})", e.code, e.message, e.help.unwrap_or_default())
    }

    #[test]
    fn a_wrong_word_is_named_with_what_could_stand_there() {
        for (mnemonic, expected) in [
            (
                "add.b32",
                "unknown-modifier: `add` has no type `.b32` (use one of .u16 .s16 .u32 .s32",
            ),
            ("ad.u32", "unknown-instruction: unknown instruction `ad` (did you mean `add`?)"),
            (
                "cvt.f32.s32",
                "missing rounding mode in `cvt.f32.s32` \
                 (add one of .rn .rz .rm .rp, as in `cvt.rn.f32.s32`)",
            ),
            (
                "mul.u32",
                "missing modifier in `mul.u32` (add one of .lo .hi .wide, as in `mul.lo.u32`)",
            ),
            ("add", "incomplete-instruction: missing type in `add`"),
            ("setp.lt", "incomplete-instruction: missing type in `setp.lt`"),
            ("setp.tl.u32", "unknown-modifier: `setp` has no modifier `.tl`"),
            ("ret.uni.x", "unknown-modifier: unexpected `.x` after `ret.uni`"),
            ("call.unx", "unknown-modifier: `call` has no modifier `.unx`"),
            ("ld.globl.u32", "did you mean `.global`?"),
            ("", "unknown-instruction"),
            ("multimem.red.add.u32", "unsupported-instruction: `multimem` is not supported"),
            (
                "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes",
                "`cp.async.bulk.tensor` is not supported: this form of a copy of a tensor's tile",
            ),
            (
                "cp.async.bulk.global.shared::cta.bulk_group.cp_mask",
                "`cp.async.bulk` is not supported: this form of a bulk copy is not modelled (",
            ),
            ("barrier.cluster.arrive", "`barrier.cluster` is not supported: clusters and"),
            ("ld.shared::cluster.u32", "`shared::cluster` is not supported: clusters and"),
            ("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16", "sparse matrices are not"),
            ("tcgen05.alloc.sync", "tensor memory and its tensor cores are not modelled (compile"),
        ] {
            let text = error(mnemonic);
            assert!(text.contains(expected), "{mnemonic}: {text}");
        }
    }

    #[test]
    fn other_orders_name_the_same_form() {
        let isa = Isa::ptx();
        for (usual, other) in [
            ("atom.relaxed.gpu.global.add.u32", "atom.add.relaxed.gpu.global.u32"),
            (
                "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
                "ldmatrix.sync.aligned.x4.m8n8.shared.b16",
            ),
            (
                "wmma.mma.sync.aligned.row.col.m8n8k4.rn.f64.f64.f64.f64",
                "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn",
            ),
        ] {
            let [usual, other] = [usual, other].map(|text| isa.lookup(text).expect(text));
            assert_eq!((usual.index, usual.words), (other.index, other.words));
        }
    }

    #[test]
    fn slots_are_filled_in_order() {
        let isa = Isa::ptx();
        let m = isa.lookup("ld.volatile.shared.v2.u32").expect("a form");
        assert!(m.has("volatile") && m.has("shared") && m.has("v2"));
        assert_eq!(m.ty().name(), "u32");
        let m = isa.lookup("cvt.rzi.ftz.s16.f32").expect("a form");
        assert_eq!((m.ty().name(), m.second_type().name()), ("s16", "f32"));
        assert!(isa.lookup("ld.u32.global").is_err());
        let usual = isa.lookup("atom.relaxed.gpu.global.add.u32").expect("a form").index;
        for order in ["atom.global.relaxed.gpu.add.u32", "atom.add.relaxed.gpu.global.u32"] {
            assert_eq!(isa.lookup(order).map(|m| m.index), Ok(usual), "{order}");
        }
        for (usual, order) in [
            ("vote.sync.ballot.b32", "vote.ballot.sync.b32"),
            ("vote.sync.all.pred", "vote.all.sync.pred"),
            ("shfl.sync.down.b32", "shfl.down.sync.b32"),
            ("redux.sync.add.u32", "redux.add.sync.u32"),
            ("match.any.sync.b32", "match.sync.any.b32"),
        ] {
            let index = |mnemonic| isa.lookup(mnemonic).map(|m| m.index);
            assert!(index(usual).is_ok());
            assert_eq!(index(usual), index(order), "{order}");
        }
    }
}
