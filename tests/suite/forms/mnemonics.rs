//! The mnemonics of a row.

use simt_sim::isa::Form;

/// Rows with more mnemonics than this are sampled: every word of every slot once.
const MOST: usize = 600;

/// Every mnemonic of a row, or, where they are too many, each word once beside plain others.
pub(crate) fn of(form: &Form) -> Vec<String> {
    let count: usize = form.slots.iter().map(|s| s.words.len() + usize::from(s.optional)).product();
    if count > MOST { each_word(form) } else { every(form) }
}

/// Every mnemonic, optional words in every combination.
fn every(form: &Form) -> Vec<String> {
    let mut all = vec![form.opcode.clone()];
    for slot in &form.slots {
        let mut next = if slot.optional { all.clone() } else { Vec::new() };
        for prefix in &all {
            next.extend(slot.words.iter().map(|word| format!("{prefix}.{word}")));
        }
        all = next;
    }
    all.retain(|m| meaningful(m));
    all
}

/// `.ftz` speaks of f32 (and f16) values; the table accepts it beside others where a set of types shares a row.
fn meaningful(mnemonic: &str) -> bool {
    !mnemonic.contains(".ftz")
        || mnemonic.contains("f32")
        || mnemonic.contains("f16")
        || mnemonic.contains("approx.ftz.f64")
}

/// For each slot each of its words, beside the first word of every required slot.
fn each_word(form: &Form) -> Vec<String> {
    let mut all = Vec::new();
    for (chosen, slot) in form.slots.iter().enumerate() {
        for word in &slot.words {
            let words = form.slots.iter().enumerate().filter_map(|(i, s)| {
                if i == chosen {
                    Some(word)
                } else if s.optional {
                    None
                } else {
                    s.words.first()
                }
            });
            let mnemonic = words.fold(form.opcode.clone(), |text, word| text + "." + word);
            if !all.contains(&mnemonic) {
                all.push(mnemonic);
            }
        }
    }
    all
}
