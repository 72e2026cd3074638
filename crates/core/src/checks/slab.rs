//! Items with numbers; a number is free again once its item is removed.

/// Numbered items.
#[derive(Debug)]
pub(super) struct Slab<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Slab<T> {
        Slab { items: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Adds an item and returns its number.
    pub(super) fn add(&mut self, item: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.items[number as usize] = item;
            return number;
        }
        self.items.push(item);
        (self.items.len() - 1) as u32
    }

    /// Adds an item that the caller sets, and returns its number.
    #[inline]
    pub(super) fn place(&mut self, empty: &T) -> (u32, &mut T)
    where
        T: Clone,
    {
        let number = self.free.pop().unwrap_or_else(|| {
            self.items.push(empty.clone());
            (self.items.len() - 1) as u32
        });
        (number, &mut self.items[number as usize])
    }

    /// Frees the number of an item.
    pub(super) fn remove(&mut self, number: u32) {
        self.free.push(number);
    }

    pub(super) fn get(&self, number: u32) -> Option<&T> {
        self.items.get(number as usize)
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.items.get_mut(number as usize)
    }

    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.free.clear();
    }
}
