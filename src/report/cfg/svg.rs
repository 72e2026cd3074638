//! The control-flow graph as an SVG picture, drawn with plotters.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::layout::{Area, CHARACTER, LINE, Layout, PADDING, Point, lay_out};
use super::{EdgeKind, block_text, diverges, edges, meetings};
use crate::kernel::Kernel;

/// The page is never narrower than the legend.
const NARROWEST: i32 = 420;

const INK: RGBColor = RGBColor(0x20, 0x20, 0x20);
const GREY: RGBColor = RGBColor(0x40, 0x40, 0x40);
const BLUE_EDGE: RGBColor = RGBColor(0x00, 0x72, 0xb2);
const VERMILLION: RGBColor = RGBColor(0xd5, 0x5e, 0x00);
const PALE_ORANGE: RGBColor = RGBColor(0xff, 0xf1, 0xdc);
const GREEN: RGBColor = RGBColor(0x00, 0x9e, 0x73);

type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// The graph as SVG. `source` is the text that the kernel was parsed from.
pub fn svg(kernel: &Kernel, source: &str) -> String {
    let blocks = kernel.flow.blocks();
    let texts: Vec<Vec<String>> = blocks.iter().map(|b| block_text(kernel, b, source)).collect();
    let size = |t: &Vec<String>| (t.iter().map(|l| l.chars().count()).max().unwrap_or(0), t.len());
    let sizes: Vec<(usize, usize)> = texts.iter().map(size).collect();
    let kinds: Vec<EdgeKind> = edges(kernel).iter().map(|e| e.kind).collect();
    let ends: Vec<_> = edges(kernel).iter().map(|e| (e.from, e.to)).collect();
    let pairs: Vec<_> = meetings(kernel).collect();
    let layout = lay_out(blocks, &sizes, &ends, &pairs);
    let page = (layout.width.max(NARROWEST).unsigned_abs(), layout.height.unsigned_abs());
    let mut out = String::new();
    {
        let canvas = SVGBackend::with_string(&mut out, page).into_drawing_area();
        // A string takes all that is written to it: there is no error to report.
        let _ = draw(&canvas, kernel, &texts, &kinds, &layout);
    }
    out
}

fn draw(canvas: &Canvas<'_>, kernel: &Kernel, texts: &[Vec<String>], kinds: &[EdgeKind], layout: &Layout) -> Drawn {
    canvas.fill(&WHITE)?;
    for line in &layout.pairs {
        dashed(canvas, line)?;
        arrow_head(canvas, line, GREEN)?;
    }
    for (line, kind) in layout.edges.iter().zip(kinds) {
        let colour = if *kind == EdgeKind::Taken { BLUE_EDGE } else { GREY };
        canvas.draw(&PathElement::new(line.clone(), colour.stroke_width(1)))?;
        arrow_head(canvas, line, colour)?;
        if let [(x, y), (next, _), ..] = line[..] {
            // On the side that the line leaves free.
            let beside = if next > x { -3 - kind.name().len() as i32 * 5 } else { 3 };
            label(canvas, kind.name(), (x + beside, y + 2), colour, 10)?;
        }
    }
    for ((block, text), &area) in kernel.flow.blocks().iter().zip(texts).zip(&layout.boxes) {
        let Area { left, top, right, bottom } = area;
        let (fill, border) = if diverges(kernel, block) { (PALE_ORANGE, VERMILLION) } else { (WHITE, INK) };
        canvas.draw(&Rectangle::new([(left, top), (right, bottom)], fill.filled()))?;
        canvas.draw(&Rectangle::new([(left, top), (right, bottom)], border.stroke_width(1)))?;
        for (n, line) in text.iter().enumerate() {
            let colour = if n == 0 { border } else { INK };
            label(canvas, line, (left + PADDING, top + PADDING + n as i32 * LINE), colour, 12)?;
        }
    }
    let legend = "blue: taken, grey: fall, green dashes: where the sides meet, orange: can diverge";
    label(canvas, legend, (PADDING, 4), GREY, 10)?;
    canvas.present()?;
    Ok(())
}

fn label(canvas: &Canvas<'_>, text: &str, at: Point, colour: RGBColor, size: i32) -> Drawn {
    if !text.is_empty() {
        let font = (FontFamily::Monospace, size).into_font();
        canvas.draw(&Text::new(text.to_string(), at, font.color(&colour)))?;
    }
    Ok(())
}

/// A line of horizontal and vertical pieces, dashed.
fn dashed(canvas: &Canvas<'_>, line: &[Point]) -> Drawn {
    for ends in line.windows(2) {
        let (a, b) = (ends[0], ends[1]);
        let length = (b.0 - a.0).abs() + (b.1 - a.1).abs();
        let along = |by: i32| (a.0 + (b.0 - a.0).signum() * by, a.1 + (b.1 - a.1).signum() * by);
        for start in (0..length).step_by(8) {
            let dash = vec![along(start), along((start + 5).min(length))];
            canvas.draw(&PathElement::new(dash, GREEN.stroke_width(1)))?;
        }
    }
    Ok(())
}

/// A head at the end of the line; every line arrives from above.
fn arrow_head(canvas: &Canvas<'_>, line: &[Point], colour: RGBColor) -> Drawn {
    if let Some(&(x, y)) = line.last() {
        let half = CHARACTER / 2;
        canvas.draw(&Polygon::new(vec![(x, y), (x - half, y - 7), (x + half, y - 7)], colour.filled()))?;
    }
    Ok(())
}
