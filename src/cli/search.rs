//! Search in the titles and texts of `ask` and `explain`.

use simt_teach::grade::plain;

/// Hits shown of one search.
pub(crate) const MOST_HITS: usize = 15;

/// Words that say nothing about the subject.
const COMMON: [&str; 16] = [
    "and", "are", "can", "did", "does", "for", "from", "how", "not", "the", "what", "when",
    "where", "which", "why", "with",
];

/// Searched fields of an entry.
pub(crate) struct Fields {
    /// Name, and other names.
    pub(crate) name: String,
    /// One line about the entry.
    pub(crate) title: String,
    /// Everything else.
    pub(crate) text: String,
}

/// Returns the entries that have all typed words, best first.
pub(crate) fn best<T>(typed: &str, entries: impl Iterator<Item = (T, Fields)>) -> Vec<T> {
    let wanted: Vec<String> =
        words(typed).filter(|word| word.len() > 2 && !COMMON.contains(&word.as_str())).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let scored = entries.filter_map(|(entry, fields)| Some((score(&wanted, &fields)?, entry)));
    let mut scored: Vec<(u32, T)> = scored.collect();
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(_, entry)| entry).collect()
}

/// First line above the hits of a search.
pub(crate) fn heading(hits: usize, what: &str, typed: &str) -> String {
    let shown = if hits > MOST_HITS { format!("; the first {MOST_HITS}") } else { String::new() };
    format!("{hits} {what}s match `{}`, best first{shown}:\n\n", plain(typed, 200))
}

/// Sums the scores of the wanted words; none if a word is missing.
fn score(wanted: &[String], fields: &Fields) -> Option<u32> {
    let weighted = [(&fields.name, 100), (&fields.title, 30), (&fields.text, 3)];
    let of_word = |word: &String| {
        let stem = stem(word);
        let in_field = |&(text, weight): &(&String, u32)| {
            let hits: Vec<bool> =
                words(text).filter(|w| w.starts_with(stem)).map(|w| w == *word).collect();
            let exact = u32::from(hits.contains(&true));
            hits.first().map_or(0, |_| weight * (1 + exact) + hits.len().min(5) as u32)
        };
        let sum: u32 = weighted.iter().map(in_field).sum();
        (sum > 0).then_some(sum)
    };
    wanted.iter().map(of_word).sum()
}

/// Lower-case words of letters and digits.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// Removes the English ending of a word, so that `coalescing` finds `coalesced`.
fn stem(word: &str) -> &str {
    const ENDINGS: [&str; 14] = [
        "ences", "ings", "ence", "ions", "ing", "ion", "ent", "ers", "ed", "er", "es", "or", "e",
        "s",
    ];
    let short =
        ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending)).find(|stem| stem.len() >= 4);
    short.unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(typed: &str) -> Vec<&'static str> {
        let entries = [
            ("spin-lock", "Why does my spin lock hang?", "atom.cas"),
            ("block-barrier", "What if a warp misses the barrier?", "unlocked"),
            ("sectors", "How many sectors does a load take?", "coalesced loads; a lock"),
        ];
        let fields = |(name, title, text): (&'static str, &str, &str)| {
            (name, Fields { name: name.into(), title: title.into(), text: text.into() })
        };
        best(typed, entries.into_iter().map(fields))
    }

    #[test]
    fn names_go_before_titles_and_titles_before_texts() {
        assert_eq!(found("lock"), ["spin-lock", "sectors"]);
        assert_eq!(found("Locks"), ["spin-lock", "sectors"]);
        assert_eq!(found("coalescing"), ["sectors"]);
        assert_eq!(found("why is there a barrier missed?"), Vec::<&str>::new());
        assert_eq!(found("missed barriers"), ["block-barrier"]);
        assert_eq!(found("the how"), Vec::<&str>::new());
        assert_eq!(found("lok"), Vec::<&str>::new());
    }
}
