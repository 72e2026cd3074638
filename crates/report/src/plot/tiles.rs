//! Merges a grid of cells into rectangles of equal cells.

/// A rectangle of equal cells: columns and rows, ends excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tile<T> {
    pub columns: (usize, usize),
    pub rows: (usize, usize),
    pub cell: T,
}

/// Covers a grid, given column by column, with rectangles of equal cells.
pub(super) fn tiles<T: Copy + PartialEq>(grid: &[Vec<T>]) -> Vec<Tile<T>> {
    let mut done: Vec<Tile<T>> = Vec::new();
    let mut open: Vec<Tile<T>> = Vec::new();
    for (x, column) in grid.iter().enumerate() {
        let mut now: Vec<Tile<T>> = Vec::new();
        for run in column.chunk_by(|a, b| a == b) {
            let top = now.last().map_or(0, |tile| tile.rows.1);
            let rows = (top, top + run.len());
            let before = open.iter().position(|t| t.rows == rows && t.cell == run[0]);
            let start = before.map_or(x, |i| open.swap_remove(i).columns.0);
            now.push(Tile { columns: (start, x + 1), rows, cell: run[0] });
        }
        done.append(&mut open);
        open = now;
    }
    done.append(&mut open);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_each_cell_once_with_its_value() {
        let grid: Vec<Vec<char>> =
            ["aab", "aab", "abb", "abb", "aaa"].iter().map(|c| c.chars().collect()).collect();
        let found = tiles(&grid);
        assert_eq!(found.len(), 5);
        for (x, column) in grid.iter().enumerate() {
            for (y, &cell) in column.iter().enumerate() {
                let over: Vec<_> = found
                    .iter()
                    .filter(|t| {
                        (t.columns.0..t.columns.1).contains(&x) && (t.rows.0..t.rows.1).contains(&y)
                    })
                    .collect();
                assert_eq!((over.len(), over[0].cell), (1, cell), "{x} {y}");
            }
        }
    }
}
