//! Array of a large index range, of which few parts are used.
//!
//! Buffers are near the start of the range, memory of a host process far from it. Items are in
//! pages, pages in areas; both exist from their first use on.

/// Items per page.
const PAGE: usize = 1024;
/// Pages per area.
const AREA: usize = 1 << 14;

/// Sparse array.
#[derive(Debug)]
pub(super) struct Pages<T> {
    /// Areas in the order of their first use; few, since each is a piece of an allocation.
    areas: Vec<Area<T>>,
    /// Area of the last access.
    last: usize,
    used: usize,
}

#[derive(Debug)]
struct Area<T> {
    /// Position among all areas.
    number: usize,
    pages: Vec<Option<Box<[T; PAGE]>>>,
}

impl<T> Default for Pages<T> {
    fn default() -> Pages<T> {
        Pages { areas: Vec::new(), last: 0, used: 0 }
    }
}

impl<T: Copy> Pages<T> {
    /// Returns an item; `None` if its page is not in use.
    #[inline]
    pub(super) fn get(&mut self, index: usize) -> Option<&mut T> {
        let page = index / PAGE;
        let number = page / AREA;
        if self.areas.get(self.last).is_none_or(|area| area.number != number) {
            self.last = self.areas.iter().position(|area| area.number == number)?;
        }
        let page = self.areas[self.last].pages.get_mut(page % AREA)?.as_mut()?;
        Some(&mut page[index % PAGE])
    }

    /// Takes the page of an item into use, with `empty` items. Returns false if `most` pages are.
    #[cold]
    pub(super) fn add(&mut self, index: usize, empty: T, most: usize) -> bool {
        if self.used >= most {
            return false;
        }
        let page = index / PAGE;
        let number = page / AREA;
        let found = self.areas.iter().position(|area| area.number == number);
        self.last = found.unwrap_or_else(|| {
            self.areas.push(Area { number, pages: Vec::new() });
            self.areas.len() - 1
        });
        let pages = &mut self.areas[self.last].pages;
        if pages.len() <= page % AREA {
            pages.resize_with(page % AREA + 1, || None);
        }
        let items: Box<[T]> = vec![empty; PAGE].into_boxed_slice();
        pages[page % AREA] = items.try_into().ok();
        self.used += 1;
        true
    }

    /// Sets every item of the pages in use.
    pub(super) fn fill(&mut self, item: T) {
        let pages = self.areas.iter_mut().flat_map(|area| area.pages.iter_mut().flatten());
        pages.for_each(|page| page.fill(item));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_far_apart_take_little_memory() {
        let mut pages = Pages::default();
        // Words of buffers, and of memory at addresses of a process.
        let places = [0, 1023, 1024, AREA * PAGE, 0x7fff_1234_5678 / 4, usize::MAX / 4];
        for (i, &place) in places.iter().enumerate() {
            assert!(pages.get(place).is_none_or(|item| *item == 0));
            assert!(pages.get(place).is_some() || pages.add(place, 0, 5));
            *pages.get(place).expect("a page") = i + 1;
        }
        let found: Vec<usize> = places.map(|place| *pages.get(place).expect("a page")).into();
        assert_eq!(found, [1, 2, 3, 4, 5, 6]);
        assert!(!pages.add(1 << 40, 0, 5), "five pages are in use");
        assert!(pages.get(1 << 40).is_none());
        let entries: usize = pages.areas.iter().map(|area| area.pages.len()).sum();
        assert!(entries <= 4 * AREA, "{entries}");
        pages.fill(9);
        assert_eq!(places.map(|place| *pages.get(place).expect("a page")), [9; 6]);
    }
}
