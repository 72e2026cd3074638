//! Line chart of a sweep: one line per metric or setting.
//!
//! Each line has its own colour, dash pattern and marker, and its name at its end. An axis is
//! logarithmic if its values are positive and span more than a factor of 20.

use super::frame::{Heading, MARGIN, TOP};
use super::palette::{
    BLUE, GREEN, GREY, INK, ORANGE, PALE, PURPLE, SKY, VERMILLION, face, text_width,
};
use super::ruler::{Ruler, label};
use super::scene::{Area, Rgb, Scene};

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name.
    pub name: String,
    /// Points, x and y.
    /// Points that are not numbers are omitted, the others are joined in order of x.
    pub points: Vec<(f64, f64)>,
}

/// Captions of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captions {
    /// Title.
    pub title: String,
    /// Program, mode, machine.
    pub subtitle: String,
    /// Label of the x axis.
    pub x: String,
    /// Label of the y axis, with unit.
    pub y: String,
    /// Source of the figures, one sentence.
    pub footer: String,
}

/// Minimum size of the plane.
const PLANE: (i32, i32) = (820, 420);
const LEFT: i32 = MARGIN + 76;
/// Height of a line's name.
const NAME: i32 = 17;

/// Draws a line chart.
pub fn lines(captions: &Captions, series: &[Series]) -> Scene {
    let heading = Heading {
        title: captions.title.clone(),
        subtitle: captions.subtitle.clone(),
        ending: None,
        footer: captions.footer.clone(),
    };
    let series: Vec<Series> = series.iter().map(ordered).collect();
    let top = TOP + 34;
    let count = i32::try_from(series.len()).unwrap_or(0).min(400);
    let plane = Area { x: LEFT, y: top, w: PLANE.0, h: PLANE.1.max(count * NAME) };
    let points = || series.iter().flat_map(|s| &s.points);
    let (xs, ys): (Vec<f64>, Vec<f64>) = points().copied().unzip();
    let x = Ruler::over(&xs, plane.x + 16, plane.right() - 16);
    let wide = ys.iter().all(|&y| y > 0.0)
        && ys.iter().copied().fold(0.0, f64::max)
            > 20.0 * ys.iter().copied().fold(f64::MAX, f64::min);
    let (bottom, ceiling) = (plane.bottom(), plane.y);
    let y = match wide {
        true => Ruler::decades(
            ys.iter().copied().fold(f64::MAX, f64::min),
            ys.iter().copied().fold(0.0, f64::max),
            bottom,
            ceiling,
        ),
        false => Ruler::from_zero(&ys, bottom, ceiling),
    };
    let names = series.iter().map(|s| text_width(s.name.chars().count(), 11)).max().unwrap_or(0);
    let width = (plane.right() + 30 + 44 + names + MARGIN).max(heading.width());
    let mut scene = Scene::new(width, plane.bottom() + 100);
    heading.draw(&mut scene);
    axes(&mut scene, plane, &x, &y, &captions.x, &captions.y);
    for (i, line) in series.iter().enumerate() {
        let pixels: Vec<(i32, i32)> =
            line.points.iter().map(|&(a, b)| (x.at(a), y.at(b))).collect();
        let style = Style::of(i);
        scene.dashed(&pixels, style.dashes, style.colour, 2);
        pixels.iter().for_each(|&at| style.marker(&mut scene, at, 5));
    }
    // Names in the order in which the lines end, each as close to its line's end as the others
    // allow.
    let mut ends: Vec<(i32, usize)> = series
        .iter()
        .enumerate()
        .filter_map(|(i, s)| Some((y.at(s.points.last()?.1), i)))
        .collect();
    ends.sort_unstable();
    let mut lowest = plane.y - NAME;
    for (k, &(end, i)) in (0..).zip(&ends) {
        let below = i32::try_from(ends.len()).unwrap_or(0) - k - 1;
        let at = end.max(lowest + NAME).min(plane.bottom() - below * NAME);
        lowest = at;
        let (from, to) = (plane.right() + 30, plane.right() + 64);
        let style = Style::of(i);
        scene.line((plane.right() - 10, end), (from - 4, at), PALE);
        scene.dashed(&[(from, at), (to, at)], style.dashes, style.colour, 2);
        style.marker(&mut scene, ((from + to) / 2, at), 5);
        scene.text((to + 8, at), face(11, INK), series[i].name.clone());
    }
    heading.draw_footer(&mut scene);
    scene
}

fn ordered(series: &Series) -> Series {
    let mut points: Vec<(f64, f64)> =
        series.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Series { name: series.name.clone(), points }
}

/// Draws both axes of a plane: ticks, faint lines and labels.
pub(super) fn axes(
    scene: &mut Scene,
    plane: Area,
    x: &Ruler,
    y: &Ruler,
    x_name: &str,
    y_name: &str,
) {
    scene.text((MARGIN, plane.y - 20), face(11, INK).bold(), y.named(y_name));
    for (value, at) in y.ticks(|_| 16) {
        scene.line((plane.x, at), (plane.right(), at), PALE);
        scene.text((plane.x - 8, at), face(10, GREY).end(), label(value));
    }
    for (value, at) in x.ticks(|value| text_width(label(value).len(), 10) + 12) {
        scene.line((at, plane.y), (at, plane.bottom()), PALE);
        scene.line((at, plane.bottom()), (at, plane.bottom() + 4), GREY);
        scene.text((at, plane.bottom() + 14), face(10, GREY).middle(), label(value));
    }
    scene.line((plane.x, plane.bottom()), (plane.right(), plane.bottom()), GREY);
    scene.text(
        ((plane.x + plane.right()) / 2, plane.bottom() + 36),
        face(11, INK).bold().middle(),
        x.named(x_name),
    );
}

/// Style of a line.
/// Colour, dashes and marker change together, so that any one of them identifies it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub colour: Rgb,
    pub dashes: &'static [i32],
    place: usize,
}

impl Style {
    /// Returns the style of the line with this number.
    pub(super) fn of(place: usize) -> Style {
        const COLOURS: [Rgb; 7] = [BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY, INK];
        const DASHES: [&[i32]; 5] = [&[], &[9, 4], &[2, 3], &[9, 3, 2, 3], &[16, 4]];
        Style {
            colour: COLOURS[place % COLOURS.len()],
            dashes: DASHES[place % DASHES.len()],
            place,
        }
    }

    /// Draws the marker: disc, square, triangle, diamond, inverted triangle or bar.
    pub(super) fn marker(self, scene: &mut Scene, (x, y): (i32, i32), r: i32) {
        let points = match self.place % 6 {
            0 => return scene.disc((x, y), r, self.colour),
            1 => vec![(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)],
            2 => vec![(x - r - 1, y + r), (x + r + 1, y + r), (x, y - r - 1)],
            3 => vec![(x - r - 1, y), (x, y - r - 1), (x + r + 1, y), (x, y + r + 1)],
            4 => vec![(x - r - 1, y - r), (x + r + 1, y - r), (x, y + r + 1)],
            _ => {
                vec![(x - 2, y - r - 1), (x + 2, y - r - 1), (x + 2, y + r + 1), (x - 2, y + r + 1)]
            }
        };
        scene.polygon(points, self.colour);
    }
}
