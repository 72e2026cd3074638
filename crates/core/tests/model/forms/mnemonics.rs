//! Mnemonics of a row.

use simt_core::isa::{Form, Slot};

/// Rows with more mnemonics than this are sampled.
const MOST: usize = 200;

/// Returns every mnemonic of a row, or a [`sample`] if there are too many.
pub(crate) fn of(form: &Form) -> Vec<String> {
    let count: usize = form.slots.iter().map(|s| s.words.len() + usize::from(s.optional)).product();
    if count > MOST { sample(form) } else { every(form, |slot| slot.optional, |_| true) }
}

/// Returns every combination of the required words without optional ones, and each optional word
/// with the first required ones.
pub(crate) fn sample(form: &Form) -> Vec<String> {
    let mut all = every(form, |slot| slot.optional, |slot| !slot.optional);
    for (chosen, slot) in form.slots.iter().enumerate().filter(|(_, slot)| slot.optional) {
        for word in &slot.words {
            let words = form.slots.iter().enumerate().filter_map(|(i, s)| {
                match (i == chosen, s.optional) {
                    (true, _) => Some(word),
                    (false, true) => None,
                    (false, false) => s.words.first(),
                }
            });
            all.push(words.fold(form.opcode.clone(), |text, word| text + "." + word));
        }
    }
    all.retain(|m| meaningful(m));
    all
}

/// Returns every mnemonic with words in the slots chosen by `fills`; slots chosen by `skips` may
/// stay empty.
fn every(form: &Form, skips: impl Fn(&Slot) -> bool, fills: impl Fn(&Slot) -> bool) -> Vec<String> {
    let mut all = vec![form.opcode.clone()];
    for slot in &form.slots {
        let mut next = if skips(slot) { all.clone() } else { Vec::new() };
        for prefix in all.iter().filter(|_| fills(slot)) {
            next.extend(slot.words.iter().map(|word| format!("{prefix}.{word}")));
        }
        all = next;
    }
    all.retain(|m| meaningful(m));
    all
}

/// Returns true if `.ftz` is meaningful: on f32 and f16 values and the f64 approximations. The
/// table accepts it on others where a set of types shares a row.
fn meaningful(mnemonic: &str) -> bool {
    let of_doubles = mnemonic.starts_with("set") && mnemonic.ends_with("f64");
    !mnemonic.contains(".ftz")
        || !of_doubles && ["f32", "f16", "approx.ftz.f64"].iter().any(|w| mnemonic.contains(w))
}
