//! Distinct numbers among those of a warp's lanes.

/// Number of lists, and the most numbers.
const MOST: usize = 64;

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

    /// Returns the length of the longest list; 0 without numbers.
    #[inline]
    pub(super) fn longest(&self) -> u32 {
        self.longest.into()
    }

    /// Returns how often the most frequent number was added; 0 without numbers.
    #[inline]
    pub(super) fn most(&self) -> u32 {
        self.most.into()
    }
}
