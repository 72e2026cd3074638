//! Orders of nodes, which are numbers here: each list has the nodes that a node depends on.

/// Returns an order in which each node follows those that it depends on, among them the first in
/// the order of creation; `None` if nodes depend on each other in a circle.
pub(super) fn topological(needs: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut open: Vec<usize> = needs.iter().map(Vec::len).collect();
    let mut dependents = vec![Vec::new(); needs.len()];
    for (node, needs) in needs.iter().enumerate() {
        for &need in needs {
            dependents.get_mut(need)?.push(node);
        }
    }
    let mut ready: std::collections::BTreeSet<usize> =
        (0..needs.len()).filter(|node| open[*node] == 0).collect();
    let mut order = Vec::with_capacity(needs.len());
    while let Some(node) = ready.pop_first() {
        order.push(node);
        for &dependent in &dependents[node] {
            open[dependent] -= 1;
            if open[dependent] == 0 {
                ready.insert(dependent);
            }
        }
    }
    (order.len() == needs.len()).then_some(order)
}

/// Returns an order that two graphs share if they were made alike: from each node that no other
/// depends on, in the order of creation, back along the edges in their order.
pub(super) fn alike(needs: &[Vec<usize>]) -> Vec<usize> {
    let mut is_sink = vec![true; needs.len()];
    for &need in needs.iter().flatten() {
        is_sink[need] = false;
    }
    let (mut seen, mut order) = (vec![false; needs.len()], Vec::with_capacity(needs.len()));
    for sink in (0..needs.len()).filter(|node| is_sink[*node]) {
        // Nodes on the way back, each with the edges that were followed.
        let mut way = vec![(sink, 0)];
        seen[sink] = true;
        while let Some((node, followed)) = way.last_mut() {
            match needs[*node].get(*followed) {
                Some(&next) => {
                    *followed += 1;
                    if !std::mem::replace(&mut seen[next], true) {
                        way.push((next, 0));
                    }
                }
                None => {
                    order.push(*node);
                    way.pop();
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_follow_what_they_need_and_else_their_creation() {
        assert_eq!(topological(&[vec![], vec![], vec![1], vec![]]), Some(vec![0, 1, 2, 3]));
        assert_eq!(topological(&[vec![3], vec![], vec![0, 1], vec![]]), Some(vec![1, 3, 0, 2]));
        assert_eq!(topological(&[vec![1], vec![0]]), None);
        assert_eq!(topological(&[]), Some(vec![]));
    }

    #[test]
    fn graphs_that_are_made_alike_have_one_order() {
        // A diamond, once from the top and once with its sides created late.
        let one = [vec![], vec![0], vec![0], vec![1, 2]];
        let two = [vec![], vec![3, 2], vec![0], vec![0]];
        assert_eq!((alike(&one), alike(&two)), (vec![0, 1, 2, 3], vec![0, 3, 2, 1]));
        assert_eq!(alike(&[vec![1], vec![0]]), Vec::<usize>::new(), "no end, no order");
    }
}
