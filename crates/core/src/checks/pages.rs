//! Array of a large index range, of which few parts are used.
//!
//! Buffers are near the start of the range, memory of a host process far from it. Items are in
//! pages, pages in areas; both exist from their first use on.

/// Items per page.
const PAGE: usize = 64;
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
    number: u64,
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
    pub(super) fn get(&mut self, index: u64) -> Option<&mut T> {
        let page = index / PAGE as u64;
        let number = page / AREA as u64;
        if self.areas.get(self.last).is_none_or(|area| area.number != number) {
            self.last = self.areas.iter().position(|area| area.number == number)?;
        }
        let page = self.areas[self.last].pages.get_mut(page as usize % AREA)?.as_mut()?;
        Some(&mut page[index as usize % PAGE])
    }

    /// Returns an item, of `empty` ones if its page was not in use; `None` if `most` pages are.
    #[inline]
    pub(super) fn at(&mut self, index: u64, empty: T, most: usize) -> Option<&mut T> {
        let page = index / PAGE as u64;
        let number = page / AREA as u64;
        let page = page as usize % AREA;
        let is_there = |area: &Area<T>| {
            area.number == number && area.pages.get(page).is_some_and(Option::is_some)
        };
        if !self.areas.get(self.last).is_some_and(is_there) {
            self.find(number, page, empty, most)?;
        }
        let page = self.areas[self.last].pages[page].as_mut()?;
        Some(&mut page[index as usize % PAGE])
    }

    /// Makes the area of a page the last one, with the page in use.
    #[cold]
    fn find(&mut self, number: u64, page: usize, empty: T, most: usize) -> Option<()> {
        let found = self.areas.iter().position(|area| area.number == number);
        let is_there = |area: usize| self.areas[area].pages.get(page).is_some_and(Option::is_some);
        if let Some(area) = found.filter(|&area| is_there(area)) {
            self.last = area;
            return Some(());
        }
        if self.used >= most {
            return None;
        }
        self.last = found.unwrap_or_else(|| {
            self.areas.push(Area { number, pages: Vec::new() });
            self.areas.len() - 1
        });
        let pages = &mut self.areas[self.last].pages;
        if pages.len() <= page {
            pages.resize_with(page + 1, || None);
        }
        let items: Box<[T]> = vec![empty; PAGE].into_boxed_slice();
        pages[page] = items.try_into().ok();
        self.used += 1;
        Some(())
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
        // Lines of buffers, and of memory at addresses of a process.
        let places = [0, 63, 64, (AREA * PAGE) as u64, 0x7fff_1234_5678 / 128, u64::MAX / 128];
        for (i, &place) in places.iter().enumerate() {
            assert!(pages.get(place).is_none_or(|item| *item == 0));
            *pages.at(place, 0, 5).expect("a page") = i + 1;
        }
        let found: Vec<usize> = places.map(|place| *pages.get(place).expect("a page")).into();
        assert_eq!(found, [1, 2, 3, 4, 5, 6]);
        assert!(pages.at(1 << 40, 0, 5).is_none(), "five pages are in use");
        assert!(pages.get(1 << 40).is_none());
        let entries: usize = pages.areas.iter().map(|area| area.pages.len()).sum();
        assert!(entries <= 4 * AREA, "{entries}");
        pages.fill(9);
        assert_eq!(places.map(|place| *pages.get(place).expect("a page")), [9; 6]);
    }
}
