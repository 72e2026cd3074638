//! Renders scenes to SVG and PNG with the backends of plotters.
//!
//! PNG is drawn at twice the size, for projectors and print. Its text is set in DejaVu Sans Mono,
//! reduced to ASCII and embedded in the binary (`assets/fonts`). SVG uses the viewer's monospaced
//! font; the layout does not depend on it.

use std::sync::Once;

use plotters::prelude::{BitMapBackend, DrawingBackend, RGBColor, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, TextStyle, register_font};

use super::scene::{Anchor, Face, Rgb, Scene, Shape};

/// PNG pixels per scene pixel.
const PNG_SCALE: i32 = 2;

/// Ratio of plotters' SVG text size to the em.
const SVG_SIZE: f64 = 1.24;

/// Ascent plus descent of DejaVu Sans Mono in em.
/// plotters scales an embedded font by it.
const FONT_HEIGHT: f64 = 1.164;

/// Distance from the middle of a line of text to its baseline, in em.
/// Half the font's x-height, as in SVG's `0.5ex`.
const MIDDLE_TO_BASE: f64 = 0.27;

/// Renders a scene as SVG.
pub fn svg(scene: &Scene) -> String {
    let mut out = String::new();
    {
        let size = (scene.width.unsigned_abs(), scene.height.unsigned_abs());
        let mut backend = SVGBackend::with_string(&mut out, size);
        // Writing to a string cannot fail.
        let _ = draw(&mut backend, scene, 1, |backend, at, face, text| {
            let style = style(face, f64::from(face.size) * SVG_SIZE, VPos::Center);
            backend.draw_text(text, &style, at).map_err(|_| ())
        });
    }
    out
}

/// Renders a scene as a PNG file.
///
/// # Errors
/// Fails if the picture is too large for the format.
pub fn png(scene: &Scene) -> Result<Vec<u8>, png::EncodingError> {
    register_fonts();
    let (width, height) = (
        scene.width.unsigned_abs() * PNG_SCALE as u32,
        scene.height.unsigned_abs() * PNG_SCALE as u32,
    );
    let mut pixels = vec![255; width as usize * height as usize * 3];
    {
        let mut backend = BitMapBackend::with_buffer(&mut pixels, (width, height));
        // Pixels outside the buffer are skipped; drawing in memory has no other error.
        let _ = draw(&mut backend, scene, PNG_SCALE, |backend, at, face, text| {
            let em = f64::from(face.size * PNG_SCALE);
            // plotters puts a glyph's baseline half its size below the top.
            let top = MIDDLE_TO_BASE * em - FONT_HEIGHT * em / 2.0;
            let at = (at.0, at.1 + top.round() as i32);
            backend.draw_text(text, &style(face, em * FONT_HEIGHT, VPos::Top), at).map_err(|_| ())
        });
    }
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(out)
}

/// Registers the embedded fonts with plotters.
fn register_fonts() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let normal = include_bytes!("../../assets/fonts/DejaVuSansMono.ttf");
        let bold = include_bytes!("../../assets/fonts/DejaVuSansMono-Bold.ttf");
        // The embedded files are valid fonts.
        let _ = register_font("monospace", FontStyle::Normal, normal);
        let _ = register_font("monospace", FontStyle::Bold, bold);
    });
}

fn style(face: Face, size: f64, v: VPos) -> TextStyle<'static> {
    let h = match face.anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    let weight = if face.bold { FontStyle::Bold } else { FontStyle::Normal };
    let font = FontDesc::new(FontFamily::Monospace, size, weight);
    TextStyle { font, color: rgb(face.colour).to_backend_color(), pos: Pos::new(h, v) }
}

fn rgb(Rgb(r, g, b): Rgb) -> RGBColor {
    RGBColor(r, g, b)
}

type Drawn = Result<(), ()>;

fn draw<B: DrawingBackend>(
    backend: &mut B,
    scene: &Scene,
    scale: i32,
    text_at: impl Fn(&mut B, (i32, i32), Face, &str) -> Drawn,
) -> Drawn {
    let at = |(x, y): (i32, i32)| (x * scale, y * scale);
    let stroke = |colour: Rgb, width: u32| rgb(colour).stroke_width(width * scale.unsigned_abs());
    let white = RGBColor(255, 255, 255);
    backend.draw_rect((0, 0), at((scene.width, scene.height)), &white, true).map_err(|_| ())?;
    for shape in &scene.shapes {
        match shape {
            Shape::Fill(a, colour) => {
                let (right, bottom) = at((a.right(), a.bottom()));
                backend.draw_rect(at((a.x, a.y)), (right, bottom), &rgb(*colour), true)
            }
            Shape::Line { from, to, colour, width } => {
                backend.draw_line(at(*from), at(*to), &stroke(*colour, *width))
            }
            Shape::Path { points, colour, width } => {
                backend.draw_path(points.iter().copied().map(at), &stroke(*colour, *width))
            }
            Shape::Polygon { points, colour } => {
                backend.fill_polygon(points.iter().copied().map(at), &rgb(*colour))
            }
            Shape::Disc { at: place, radius, colour } => backend.draw_circle(
                at(*place),
                (radius * scale).unsigned_abs(),
                &rgb(*colour),
                true,
            ),
            Shape::Text { at: place, face, text } => {
                text_at(backend, at(*place), *face, text)?;
                Ok(())
            }
        }
        .map_err(|_| ())?;
    }
    backend.present().map_err(|_| ())
}
