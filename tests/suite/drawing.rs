//! SVG pictures as short texts: every text with its place, and of the other shapes of a kind and
//! colour how many there are, the box around them, and a digest of their coordinates. Fonts, number
//! formats and the order of attributes do not show.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Shapes of one kind and colour.
#[derive(Default)]
struct Group {
    count: usize,
    /// Left, top, right, bottom.
    around: Option<[i64; 4]>,
    digest: u64,
}

impl Group {
    fn add(&mut self, numbers: &[i64], corners: &[(i64, i64)]) {
        self.count += 1;
        for &(x, y) in corners {
            let [l, t, r, b] = self.around.unwrap_or([x, y, x, y]);
            self.around = Some([l.min(x), t.min(y), r.max(x), b.max(y)]);
        }
        // A sum: the order in which shapes of a group are drawn does not matter.
        self.digest = self.digest.wrapping_add(fnv(numbers));
    }
}

/// FNV-1a over numbers.
fn fnv(numbers: &[i64]) -> u64 {
    let bytes = numbers.iter().flat_map(|n| n.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// The value of an attribute.
fn attribute<'a>(element: &'a str, name: &str) -> &'a str {
    element
        .split_once(&format!(" {name}=\""))
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("", |(value, _)| value)
}

fn number(text: &str) -> i64 {
    text.parse::<f64>().map_or(0, |value| value.round() as i64)
}

/// The picture in short.
pub(crate) fn summary(svg: &str) -> String {
    let mut out = String::new();
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for element in
        svg.split('<').filter(|element| !element.starts_with('/') && !element.trim().is_empty())
    {
        let (head, content) = element.split_once('>').unwrap_or((element, ""));
        let kind = head.split_whitespace().next().unwrap_or_default();
        let numbers = |names: &[&str]| {
            names.iter().map(|name| number(attribute(head, name))).collect::<Vec<i64>>()
        };
        let stroke =
            || format!("{} wide {}", attribute(head, "stroke-width"), attribute(head, "stroke"));
        let mut add = |name: String, numbers: &[i64], corners: &[(i64, i64)]| {
            groups.entry(name).or_default().add(numbers, corners);
        };
        match kind {
            "svg" => {
                _ = writeln!(out, "{} x {}", attribute(head, "width"), attribute(head, "height"))
            }
            "text" => {
                let bold = if attribute(head, "font-weight") == "bold" { " bold" } else { "" };
                let place = ["x", "y", "text-anchor", "font-size", "fill"]
                    .map(|name| attribute(head, name));
                let [x, y, anchor, size, colour] = place;
                let _ = writeln!(
                    out,
                    "text {x},{y} {anchor} {size}{bold} {colour}: {}",
                    content.trim()
                );
            }
            "rect" => {
                let all = numbers(&["x", "y", "width", "height"]);
                let corners = [(all[0], all[1]), (all[0] + all[2], all[1] + all[3])];
                add(format!("rect {}", attribute(head, "fill")), &all, &corners);
            }
            "line" => {
                let all = numbers(&["x1", "y1", "x2", "y2"]);
                add(format!("line {}", stroke()), &all, &[(all[0], all[1]), (all[2], all[3])]);
            }
            "circle" => {
                let all = numbers(&["cx", "cy", "r"]);
                add(format!("circle {}", attribute(head, "fill")), &all, &[(all[0], all[1])]);
            }
            "polyline" | "polygon" => {
                let all: Vec<i64> = attribute(head, "points")
                    .split([' ', ','])
                    .filter(|n| !n.is_empty())
                    .map(number)
                    .collect();
                let corners: Vec<(i64, i64)> =
                    all.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
                let name = if kind == "polygon" {
                    format!("polygon {}", attribute(head, "fill"))
                } else {
                    format!("path {}", stroke())
                };
                add(name, &all, &corners);
            }
            _ => add(format!("other {kind}"), &[], &[]),
        }
    }
    for (name, Group { count, around, digest }) in groups {
        let [l, t, r, b] = around.unwrap_or_default();
        let _ = writeln!(out, "{name}: {count} within {l},{t} to {r},{b}, {digest:016x}");
    }
    out
}
