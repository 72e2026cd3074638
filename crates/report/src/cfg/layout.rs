//! Page layout of a control-flow graph (Sugiyama's scheme).
//! Rows are by longest path, with one pass of barycentres. Long edges bend through the rows
//! between, back edges are on the right, lines to reconvergence points on the left.

use simt_core::base::BasicBlockId;
use simt_core::kernel::BasicBlock;

/// Height of a line of text.
const LINE: i32 = 15;
/// Width of a character of the monospace font.
const CHARACTER: i32 = 7;
/// Space between a box's border and its text.
const PADDING: i32 = 7;
const COLUMN_GAP: i32 = 34;
/// Space between rows without the label band below the upper one; lines turn here.
const ROW_GAP: i32 = 58;
/// Band below each row in which edges run straight down beside their labels.
const BAND: i32 = 18;
const LANE_GAP: i32 = 14;
const MARGIN: i32 = 24;
/// Width that a long edge occupies in a row that it crosses.
const BEND: i32 = 12;

type Point = (i32, i32);

/// Size of a block on the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub characters: usize,
    pub lines: usize,
    /// Minimum width, for the labels of the outgoing edges.
    pub least: i32,
    /// Maximum distance between those edges.
    pub apart: i32,
}

/// A box on the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub left: i32,
    pub top: i32,
    pub right: i32,
    pub bottom: i32,
}

impl Place {
    const fn middle(self) -> i32 {
        (self.left + self.right) / 2
    }
}

/// A finished layout.
pub(crate) struct Layout {
    pub width: i32,
    pub height: i32,
    /// Box of each block.
    pub boxes: Vec<Place>,
    /// Line of each edge, from source to target.
    pub edges: Vec<Vec<Point>>,
    /// Line of each branch to its reconvergence point.
    pub pairs: Vec<Vec<Point>>,
}

/// An item of a row: a block, or the bend of a long edge.
#[derive(Clone, Copy)]
struct Item {
    row: usize,
    width: i32,
    height: i32,
    left: i32,
}

/// Lays out blocks of these sizes, their edges, and lines to reconvergence points. The page begins
/// at `top`.
pub(crate) fn lay_out(
    top: i32,
    blocks: &[BasicBlock],
    sizes: &[Sizes],
    edges: &[(BasicBlockId, BasicBlockId)],
    pairs: &[(BasicBlockId, BasicBlockId)],
) -> Layout {
    let rank = walk_order(blocks);
    let forward =
        |&(from, to): &(BasicBlockId, BasicBlockId)| rank[from.index()] < rank[to.index()];
    let rows = rows(blocks.len(), &rank, edges);
    // Edges back to the first row run above it.
    let top = top + if edges.iter().any(|edge| rows[edge.1.index()] == 0) { 26 } else { 0 };

    // Blocks first, then one item for each row that a long edge crosses.
    let item = |(row, size): (&usize, &Sizes)| Item {
        row: *row,
        width: (size.characters as i32 * CHARACTER + 2 * PADDING).max(size.least),
        height: size.lines as i32 * LINE + 2 * PADDING,
        left: 0,
    };
    let mut items: Vec<Item> = rows.iter().zip(sizes).map(item).collect();
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
    let mut paths: Vec<Vec<usize>> = Vec::new();
    for edge in edges {
        let (from, to) = (edge.0.index(), edge.1.index());
        let mut path = vec![from];
        if forward(edge) {
            for row in rows[from] + 1..rows[to] {
                above.push(vec![path[path.len() - 1]]);
                path.push(items.len());
                items.push(Item { row, width: BEND, height: 0, left: 0 });
            }
            above[to].push(path[path.len() - 1]);
        }
        path.push(to);
        paths.push(path);
    }

    let ups = edges.iter().filter(|e| !forward(e)).count() as i32;
    // One lane for each reconvergence point.
    let mut places: Vec<BasicBlockId> = pairs.iter().map(|pair| pair.1).collect();
    places.sort_unstable();
    places.dedup();
    let left_margin = MARGIN + places.len() as i32 * LANE_GAP;
    let row_count = rows.iter().max().map_or(0, |r| r + 1);
    let right = place_columns(&mut items, &above, row_count, left_margin);
    let (tops, bottom) = place_rows(top, &items, row_count);
    let area = |i: &Item| {
        let top = tops[i.row].0;
        Place { left: i.left, top, right: i.left + i.width, bottom: top + i.height }
    };
    let boxes: Vec<Place> = items[..blocks.len()].iter().map(area).collect();

    let ports = ports(edges, &paths, &items, &boxes, &rank, sizes);
    let mut lane = right + COLUMN_GAP / 2;
    let mut drawn = Vec::new();
    for ((edge, path), &(source, target)) in edges.iter().zip(&paths).zip(&ports) {
        let (from, to) = (boxes[edge.0.index()], boxes[edge.1.index()]);
        if forward(edge) {
            let mut line =
                vec![(source, from.bottom), (source, tops[rows[edge.0.index()]].1 + BAND)];
            for &bend in &path[1..path.len() - 1] {
                let (top, row_bottom) = tops[items[bend].row];
                let x = items[bend].left + BEND / 2;
                line.extend([(x, top - 8), (x, row_bottom + BAND)]);
            }
            line.extend([(target, to.top - 18), (target, to.top)]);
            drawn.push(line);
        } else {
            drawn.push(around(
                (source, from.bottom),
                (target, to.top),
                lane,
                tops[rows[edge.0.index()]].1,
            ));
            lane += LANE_GAP;
        }
    }
    let mut dashed = Vec::new();
    for pair in pairs {
        let (from, to) = (boxes[pair.0.index()], boxes[pair.1.index()]);
        let place = places.iter().position(|&place| place == pair.1).unwrap_or(0) as i32;
        let lane = left_margin - (place + 1) * LANE_GAP;
        // The line runs between box borders and left lanes; it passes boxes further left in the
        // gaps below and above.
        let (below, over) = (tops[rows[pair.0.index()]].1 + BAND + 4, to.top - 20);
        let (a, b) = (from.left + 10, to.left + 10);
        dashed.push(vec![
            (a, from.bottom),
            (a, below),
            (lane, below),
            (lane, over),
            (b, over),
            (b, to.top),
        ]);
    }
    Layout {
        width: right + COLUMN_GAP / 2 + ups * LANE_GAP + MARGIN,
        height: bottom + MARGIN,
        boxes,
        edges: drawn,
        pairs: dashed,
    }
}

/// Routes a back edge.
/// Down into the gap, out to its lane, up to the gap above the target, in.
fn around(source: Point, target: Point, lane: i32, row_bottom: i32) -> Vec<Point> {
    let (below, over) = (row_bottom + BAND + 14, target.1 - 30);
    vec![source, (source.0, below), (lane, below), (lane, over), (target.0, over), target]
}

/// Places the ends of edges on the borders of their blocks.
/// They are on the lower border of the source and the upper border of the target. Edges on one
/// border are ordered by the direction they leave in, back edges to the right.
fn ports(
    edges: &[(BasicBlockId, BasicBlockId)],
    paths: &[Vec<usize>],
    items: &[Item],
    boxes: &[Place],
    rank: &[usize],
    sizes: &[Sizes],
) -> Vec<(i32, i32)> {
    let middle = |item: usize| items[item].left + items[item].width / 2;
    let heading = |n: usize, towards: usize| {
        let (from, to) = edges[n];
        if rank[from.index()] < rank[to.index()] { middle(towards) } else { i32::MAX }
    };
    let departing = |n: usize| heading(n, paths[n][1]);
    let arriving = |n: usize| heading(n, paths[n][paths[n].len() - 2]);
    let place =
        |n: usize, mates: Vec<usize>, key: &dyn Fn(usize) -> i32, area: Place, apart: i32| {
            let place = mates.iter().filter(|&&m| (key(m), m) < (key(n), n)).count();
            spread(area, place, mates.len(), apart)
        };
    let port = |n: usize| {
        let (from, to) = edges[n];
        let leaving = (0..edges.len()).filter(|&m| edges[m].0 == from).collect();
        let coming = (0..edges.len()).filter(|&m| edges[m].1 == to).collect();
        let source =
            place(n, leaving, &departing, boxes[from.index()], sizes[from.index()].apart.max(40));
        (source, place(n, coming, &arriving, boxes[to.index()], 40))
    };
    (0..edges.len()).map(port).collect()
}

fn spread(area: Place, place: usize, places: usize, apart: i32) -> i32 {
    let step = ((area.right - area.left) / (places as i32 + 1)).min(apart);
    area.middle() + step * (2 * place as i32 - (places as i32 - 1)) / 2
}

/// Returns the place of each block in a reverse postorder of the graph.
/// Unreachable blocks are last. An edge to a later place leads down, any other edge is a back edge.
fn walk_order(blocks: &[BasicBlock]) -> Vec<usize> {
    let mut seen = vec![false; blocks.len()];
    let mut postorder = Vec::new();
    // Unreachable blocks are roots as well, so that every block has a place.
    for start in 0..blocks.len() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut tree = Vec::new();
        let mut open = vec![(start, 0)];
        while let Some((block, next)) = open.pop() {
            // Later successors first, so that the fall-through side gets the smaller numbers.
            let successors = &blocks[block].successors;
            match successors.len().checked_sub(next + 1).map(|i| successors[i].index()) {
                Some(successor) => {
                    open.push((block, next + 1));
                    if !std::mem::replace(&mut seen[successor], true) {
                        open.push((successor, 0));
                    }
                }
                None => tree.push(block),
            }
        }
        tree.extend(std::mem::take(&mut postorder));
        postorder = tree;
    }
    let mut rank = vec![0; blocks.len()];
    for (place, &block) in postorder.iter().rev().enumerate() {
        rank[block] = place;
    }
    rank
}

/// Returns the row of each block.
/// It is one below the lowest block with a downward edge to it.
fn rows(blocks: usize, rank: &[usize], edges: &[(BasicBlockId, BasicBlockId)]) -> Vec<usize> {
    let mut rows = vec![0; blocks];
    let mut order: Vec<usize> = (0..blocks).collect();
    order.sort_unstable_by_key(|&b| rank[b]);
    for from in order {
        for to in edges.iter().filter(|e| e.0.index() == from).map(|e| e.1.index()) {
            if rank[from] < rank[to] {
                rows[to] = rows[to].max(rows[from] + 1);
            }
        }
    }
    rows
}

/// Sets `left` of every item, row by row; returns the right end.
/// Items are below their predecessors.
fn place_columns(items: &mut [Item], above: &[Vec<usize>], rows: usize, left_margin: i32) -> i32 {
    let mut right = left_margin;
    for row in 0..rows {
        let mut members: Vec<usize> = (0..items.len()).filter(|&i| items[i].row == row).collect();
        let wish = |items: &[Item], i: usize| {
            let middles = above[i].iter().map(|&a| items[a].left + items[a].width / 2);
            middles.sum::<i32>() / (above[i].len().max(1) as i32) - items[i].width / 2
        };
        members.sort_by_key(|&i| (wish(items, i) + items[i].width / 2, i));
        let mut x = left_margin;
        for i in members {
            items[i].left = wish(items, i).max(x);
            x = items[i].left + items[i].width + COLUMN_GAP;
            right = right.max(items[i].left + items[i].width);
        }
    }
    right
}

/// Returns the upper and lower end of each row, and the lower end of all.
fn place_rows(top: i32, items: &[Item], rows: usize) -> (Vec<(i32, i32)>, i32) {
    let mut y = top;
    let mut tops = Vec::new();
    for row in 0..rows {
        let height = items.iter().filter(|i| i.row == row).map(|i| i.height).max().unwrap_or(0);
        tops.push((y, y + height));
        y += height + BAND + ROW_GAP;
    }
    (tops, y - ROW_GAP)
}
