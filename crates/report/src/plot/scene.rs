//! A picture as a list of shapes, in pixels of a 100 % view.
//! The origin is the upper left corner.

/// A colour: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// Mixes the colour with white: 0 is white, 256 the colour itself.
    pub(super) const fn tint(self, of_256: u32) -> Rgb {
        const fn mix(channel: u8, of_256: u32) -> u8 {
            (255 - (255 - channel as u32) * of_256 / 256) as u8
        }
        Rgb(mix(self.0, of_256), mix(self.1, of_256), mix(self.2, of_256))
    }
}

/// A pattern of thin lines.
/// It is anchored to the page so that it continues over neighbouring areas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hatch {
    Rising,
    Falling,
    Cross,
    Level,
    Upright,
    Dots,
}

/// An axis-parallel area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub x: i32,
    pub y: i32,
    pub w: i32,
    pub h: i32,
}

impl Area {
    pub(super) const fn right(self) -> i32 {
        self.x + self.w
    }

    pub(super) const fn bottom(self) -> i32 {
        self.y + self.h
    }
}

/// Horizontal anchor of a text; vertically it is always the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Font style of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Face {
    /// Em height in pixels.
    pub size: i32,
    pub bold: bool,
    pub colour: Rgb,
    pub anchor: Anchor,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Fill(Area, Rgb),
    Line { from: (i32, i32), to: (i32, i32), colour: Rgb, width: u32 },
    Path { points: Vec<(i32, i32)>, colour: Rgb, width: u32 },
    Polygon { points: Vec<(i32, i32)>, colour: Rgb },
    Disc { at: (i32, i32), radius: i32, colour: Rgb },
    Text { at: (i32, i32), face: Face, text: String },
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) shapes: Vec<Shape>,
}

/// Distance between the lines of a pattern.
const PITCH: i32 = 6;

impl Scene {
    /// Returns the size in pixels, width times height.
    pub fn pixels(&self) -> u64 {
        u64::from(self.width.unsigned_abs()) * u64::from(self.height.unsigned_abs())
    }

    pub(super) fn new(width: i32, height: i32) -> Scene {
        Scene { width, height, shapes: Vec::new() }
    }

    pub(super) fn fill(&mut self, area: Area, colour: Rgb) {
        if area.w > 0 && area.h > 0 {
            self.shapes.push(Shape::Fill(area, colour));
        }
    }

    pub(super) fn line(&mut self, from: (i32, i32), to: (i32, i32), colour: Rgb) {
        self.shapes.push(Shape::Line { from, to, colour, width: 1 });
    }

    pub(super) fn path(&mut self, points: Vec<(i32, i32)>, colour: Rgb, width: u32) {
        self.shapes.push(Shape::Path { points, colour, width });
    }

    pub(super) fn polygon(&mut self, points: Vec<(i32, i32)>, colour: Rgb) {
        self.shapes.push(Shape::Polygon { points, colour });
    }

    pub(super) fn disc(&mut self, at: (i32, i32), radius: i32, colour: Rgb) {
        self.shapes.push(Shape::Disc { at, radius, colour });
    }

    /// Adds a polyline with strokes and gaps of these lengths.
    /// They continue around its corners.
    pub(super) fn dashed(
        &mut self,
        points: &[(i32, i32)],
        pattern: &[i32],
        colour: Rgb,
        width: u32,
    ) {
        let period: i32 = pattern.iter().sum();
        if period <= 0 {
            return self.path(points.to_vec(), colour, width);
        }
        let mut phase = 0.0_f64;
        for ends in points.windows(2) {
            let (a, b) = (ends[0], ends[1]);
            let (dx, dy) = (f64::from(b.0 - a.0), f64::from(b.1 - a.1));
            let length = (dx * dx + dy * dy).sqrt();
            let along = |at: f64| {
                (
                    (f64::from(a.0) + dx * at / length).round(),
                    (f64::from(a.1) + dy * at / length).round(),
                )
            };
            let point = |at: f64| (along(at).0 as i32, along(at).1 as i32);
            let mut at = 0.0;
            while at < length {
                let mut left = phase % f64::from(period);
                let piece = pattern.iter().position(|&n| {
                    let here = left < f64::from(n);
                    left -= if here { 0.0 } else { f64::from(n) };
                    here
                });
                let Some(piece) = piece else { break };
                let to = (at + f64::from(pattern[piece]) - left).min(length);
                if piece % 2 == 0 && point(at) != point(to) {
                    self.path(vec![point(at), point(to)], colour, width);
                }
                phase += to - at;
                at = to;
            }
        }
    }

    /// Stacks this picture above another one.
    pub(super) fn above(mut self, below: Scene) -> Scene {
        let down = self.height;
        let moved = |(x, y): (i32, i32)| (x, y + down);
        let all = |points: Vec<(i32, i32)>| points.into_iter().map(moved).collect();
        self.shapes.extend(below.shapes.into_iter().map(|shape| match shape {
            Shape::Fill(area, colour) => Shape::Fill(Area { y: area.y + down, ..area }, colour),
            Shape::Line { from, to, colour, width } => {
                Shape::Line { from: moved(from), to: moved(to), colour, width }
            }
            Shape::Path { points, colour, width } => {
                Shape::Path { points: all(points), colour, width }
            }
            Shape::Polygon { points, colour } => Shape::Polygon { points: all(points), colour },
            Shape::Disc { at, radius, colour } => Shape::Disc { at: moved(at), radius, colour },
            Shape::Text { at, face, text } => Shape::Text { at: moved(at), face, text },
        }));
        self.width = self.width.max(below.width);
        self.height += below.height;
        self
    }

    pub(super) fn outline(&mut self, area: Area, colour: Rgb) {
        let (l, t, r, b) = (area.x, area.y, area.right(), area.bottom());
        self.path(vec![(l, t), (r, t), (r, b), (l, b), (l, t)], colour, 1);
    }

    pub(super) fn text(&mut self, at: (i32, i32), face: Face, text: impl Into<String>) {
        let text: String = text.into().split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            self.shapes.push(Shape::Text { at, face, text });
        }
    }

    /// Draws a pattern over an area.
    pub(super) fn hatch(&mut self, area: Area, hatch: Hatch, colour: Rgb) {
        if area.w < 2 || area.h < 2 {
            return;
        }
        let (l, t, r, b) = (area.x, area.y, area.right() - 1, area.bottom() - 1);
        let first = |from: i32, pitch: i32| from + (pitch - from.rem_euclid(pitch)) % pitch;
        match hatch {
            Hatch::Level => (first(t, PITCH)..=b)
                .step_by(PITCH as usize)
                .for_each(|y| self.line((l, y), (r, y), colour)),
            Hatch::Upright => {
                (first(l, PITCH)..=r)
                    .step_by(PITCH as usize)
                    .for_each(|x| self.line((x, t), (x, b), colour));
            }
            Hatch::Dots => {
                for y in (first(t, PITCH)..b).step_by(PITCH as usize) {
                    for x in (first(l, PITCH)..r).step_by(PITCH as usize) {
                        self.fill(Area { x, y, w: 1, h: 1 }, colour);
                    }
                }
            }
            Hatch::Falling => {
                // x - y is constant along a line.
                for c in (first(l - b, PITCH)..=r - t).step_by(PITCH as usize) {
                    let (x0, x1) = (l.max(c + t), r.min(c + b));
                    if x1 > x0 {
                        self.line((x0, x0 - c), (x1, x1 - c), colour);
                    }
                }
            }
            Hatch::Rising => {
                for c in (first(l + t, PITCH)..=r + b).step_by(PITCH as usize) {
                    let (x0, x1) = (l.max(c - b), r.min(c - t));
                    if x1 > x0 {
                        self.line((x0, c - x0), (x1, c - x1), colour);
                    }
                }
            }
            Hatch::Cross => {
                self.hatch(area, Hatch::Rising, colour);
                self.hatch(area, Hatch::Falling, colour);
            }
        }
    }
}
