//! Distinct numbers among those of a warp's lanes.

/// Number of lists, and the most numbers.
const MOST: usize = 64;
/// Numbers of an aligned window that have a table entry each.
const WINDOW: usize = 256;

/// Length of the longest list of distinct numbers, and how often the most frequent number occurs; 0
/// without numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Repeats {
    pub longest: u32,
    pub most: u32,
}

/// Returns the repeats of at most 64 numbers, which are in the list of their remainder modulo
/// `lists` (a power of two, at most 64). `None` if they are not in one aligned window of 256.
#[inline(always)]
pub(super) fn of_close(numbers: impl Iterator<Item = u64> + Clone, lists: u64) -> Option<Repeats> {
    let first = numbers.clone().next()?;
    let apart = numbers.clone().fold(0, |apart, number| apart | number ^ first);
    if apart >= WINDOW as u64 {
        return None;
    }
    let (mut times, mut lengths) = ([0_u8; WINDOW], [0_u8; MOST]);
    for number in numbers {
        let times = &mut times[number as usize % WINDOW];
        // Without a branch, which a processor could not predict.
        lengths[(number & (lists - 1)) as usize % MOST] += u8::from(*times == 0);
        *times += 1;
    }
    let [longest, most] =
        [&lengths[..], &times[..]].map(|all| all.iter().fold(0, |a, &b| b.max(a)));
    Some(Repeats { longest: longest.into(), most: most.into() })
}

/// At most 64 distinct numbers, each in one of 64 lists, with how often it was added.
pub(super) struct Distinct {
    /// By list: one more than the entry of its last number (0: none), and how many it has.
    last: [u8; MOST],
    length: [u8; MOST],
    /// By entry: the number, one more than the entry before it in its list, and how often it was
    /// added.
    numbers: [u64; MOST],
    before: [u8; MOST],
    times: [u8; MOST],
    /// Number of entries.
    len: usize,
    /// Length of the longest list.
    longest: u8,
    /// Times that the most frequent number was added.
    most: u8,
}

impl Distinct {
    /// Creates empty lists.
    #[inline]
    pub(super) fn new() -> Distinct {
        Distinct {
            last: [0; MOST],
            length: [0; MOST],
            numbers: [0; MOST],
            before: [0; MOST],
            times: [0; MOST],
            len: 0,
            longest: 0,
            most: 0,
        }
    }

    /// Adds a number to a list, by its number modulo 64.
    #[inline]
    pub(super) fn add(&mut self, list: u64, number: u64) {
        let list = list as usize % MOST;
        let mut entry = self.last[list];
        while entry != 0 {
            let at = (usize::from(entry) - 1) % MOST;
            if self.numbers[at] == number {
                self.times[at] += 1;
                self.most = self.most.max(self.times[at]);
                return;
            }
            entry = self.before[at];
        }
        let at = self.len % MOST;
        (self.numbers[at], self.before[at], self.times[at]) = (number, self.last[list], 1);
        self.len += 1;
        self.last[list] = self.len as u8;
        self.length[list] += 1;
        self.longest = self.longest.max(self.length[list]);
        self.most = self.most.max(1);
    }

    /// Returns the repeats of the numbers.
    pub(super) fn repeats(&self) -> Repeats {
        Repeats { longest: self.longest.into(), most: self.most.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_numbers_repeat_as_any_others() {
        for (stride, lists) in [(1, 32), (3, 32), (7, 16), (0, 64), (8, 64)] {
            let numbers = (0..32).map(|lane| 512 + lane * lane * stride % 256);
            let mut distinct = Distinct::new();
            numbers.clone().for_each(|number| distinct.add(number % lists, number));
            assert_eq!(of_close(numbers, lists), Some(distinct.repeats()), "{stride} {lists}");
        }
        assert_eq!(of_close([255, 256].into_iter(), 32), None, "two windows");
        assert_eq!(of_close(std::iter::empty(), 32), None);
    }
}
