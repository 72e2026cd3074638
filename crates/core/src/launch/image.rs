//! `texture` and `surface` directives: buffers shaped as textures and surfaces.

use super::Buffer;
use super::expression::{Expr, Parsed, Parser};
use super::plan::Plan;
use super::resolve::Signature;
use super::term::{Scope, integer};
use crate::diag::{Diagnostic, Span};
use crate::exec::{AddressMode, Channel, HEADER_BYTES, Image, ImageShape};
use crate::isa::Type;
use crate::kernel::layout::IMAGE_TABLE;
use crate::ptx::tree::Name;

/// Name of the buffer with the table of headers.
const TABLE: &str = "(textures)";
/// Maximum size of a dimension.
const MOST: i128 = 1 << 27;

/// `texture NAME: BUFFER[WIDTH, ..] WORD ..`
#[derive(Clone, Debug)]
pub(super) struct ImagePlan {
    pub(super) name: Name,
    pub(super) surface: bool,
    pub(super) buffer: Name,
    pub(super) sizes: Vec<Expr>,
    words: Vec<Name>,
    span: Span,
}

/// Words of a sampler that only arrays have.
const ARRAY_WORDS: [&str; 6] = ["linear", "wrap", "clamp", "mirror", "border", "normalized"];

/// Words after the sizes.
const WORDS: &[&str] = &[
    "point",
    "linear",
    "wrap",
    "clamp",
    "mirror",
    "border",
    "normalized",
    "floats",
    "half",
    "layered",
    "x2",
    "x4",
];

/// Parses the line after its keyword.
pub(super) fn image(parser: &mut Parser<'_>, keyword: &Name) -> Parsed<ImagePlan> {
    let name = parser.word("a name")?;
    parser.sign(":")?;
    let buffer = parser.word("a buffer name")?;
    parser.sign("[")?;
    let mut sizes = vec![parser.expression()?];
    while parser.take_sign(",") {
        sizes.push(parser.expression()?);
    }
    parser.sign("]")?;
    let surface = keyword.text == "surface";
    let mut words = Vec::new();
    while !parser.at_end() {
        let word = parser.word("a word such as `linear`")?;
        let known = WORDS.contains(&word.text.as_str());
        let sampler = !matches!(word.text.as_str(), "half" | "layered" | "x2" | "x4");
        if !known || surface && sampler {
            let what = if surface { "surface" } else { "texture" };
            let message = format!("unknown property `{}` of a {what}", word.text);
            let help = match surface {
                true => "use `layered`, `half`, `x2` or `x4`".to_owned(),
                false => format!("use one of `{}`", WORDS.join("`, `")),
            };
            return Err(Diagnostic::error("directive-syntax", word.span, message).help(help));
        }
        words.push(word);
    }
    let span = keyword.span.to(parser.before());
    if sizes.len() > 3 {
        let message = format!("expected at most three sizes, found {}", sizes.len());
        return Err(Diagnostic::error("directive-syntax", span, message));
    }
    Ok(ImagePlan { name, surface, buffer, sizes, words, span })
}

impl ImagePlan {
    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|given| given.text == word)
    }

    /// Evaluates the line.
    ///
    /// A texture of one size is an array, or linear memory if the kernel `fetches_memory`.
    fn resolve(&self, scope: &Scope<'_>, fetches_memory: bool) -> Result<Image, Diagnostic> {
        let named = |b: &&Buffer| b.name == self.buffer.text;
        let buffer = scope.buffers.iter().find(named).ok_or_else(|| {
            let message = format!("unknown buffer `{}`", self.buffer.text);
            Diagnostic::error("unknown-name", self.buffer.span, message)
        })?;
        let channel = match Channel::of(buffer.element) {
            Some(Channel::U16) if self.has("half") => Channel::F16,
            Some(channel) => channel,
            None => {
                let message = format!("a texture of `{}` elements", buffer.element.name());
                return Err(Diagnostic::error("unknown-type", self.buffer.span, message)
                    .help("use a buffer of 8, 16 or 32 bits per element"));
            }
        };
        let channels = if self.has("x4") {
            4
        } else if self.has("x2") {
            2
        } else {
            1
        };
        let mut size = [1u32; 3];
        let layered = self.has("layered");
        let count = self.sizes.len();
        for (i, expr) in self.sizes.iter().enumerate() {
            let value = integer(expr, scope)?;
            let place = if layered && i + 1 == count { 2 } else { i };
            if !(1..=MOST).contains(&value) {
                let message = format!("expected a size from 1 to {MOST}, found {value}");
                return Err(Diagnostic::error("out-of-range", expr.span(), message));
            }
            size[place] = value as u32;
        }
        let array = self.surface || ARRAY_WORDS.iter().any(|word| self.has(word));
        let shape = match (count, layered) {
            (1, false) if fetches_memory && !array => ImageShape::Buffer,
            (1, false) => ImageShape::D1,
            (2, false) => ImageShape::D2,
            (3, false) => ImageShape::D3,
            (2, true) => ImageShape::A1,
            (3, true) => ImageShape::A2,
            _ => {
                let message = "expected a number of layers after the width";
                return Err(Diagnostic::error("directive-syntax", self.span, message));
            }
        };
        let modes = [
            ("wrap", AddressMode::Wrap),
            ("mirror", AddressMode::Mirror),
            ("border", AddressMode::Border),
        ];
        let mode = modes.into_iter().find(|(word, _)| self.has(word));
        let mode = mode.map_or(AddressMode::Clamp, |(_, mode)| mode);
        let image = Image {
            surface: self.surface,
            shape,
            channel,
            channels,
            size,
            address: buffer.address,
            pitch: u64::from(size[0]) * u64::from(channel.bits() / 8 * channels),
            tiled: false,
            linear: self.has("linear"),
            // Axes that the texture lacks have no border.
            modes: std::array::from_fn(|axis| {
                if axis < count - usize::from(layered) { mode } else { AddressMode::Clamp }
            }),
            normalized: self.has("normalized"),
            as_float: self.has("floats"),
            border: [0.0; 4],
        };
        if image.bytes() != buffer.bytes {
            let message = format!(
                "expected the {} bytes of buffer `{}`, found {} bytes of texels",
                buffer.bytes,
                buffer.name,
                image.bytes()
            );
            return Err(Diagnostic::error("out-of-range", self.span, message));
        }
        if image.linear && !image.gives_floats() {
            let message = "a linear filter of integers";
            return Err(Diagnostic::error("directive-syntax", self.span, message)
                .help("add `floats`, or use a buffer of floats"));
        }
        Ok(image)
    }
}

impl Plan {
    /// Returns the names of textures and surfaces with their objects.
    pub(super) fn objects(&self) -> impl Iterator<Item = (String, i64)> + '_ {
        self.images.iter().zip(1..).map(|(plan, object)| (plan.name.text.clone(), object))
    }

    /// Returns the table of textures and surfaces, and the references bound to them.
    pub(super) fn place_images(
        &self,
        kernel: &Signature<'_>,
        scope: &Scope<'_>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<Buffer> {
        let mut images = Vec::new();
        let mut buffers = Vec::new();
        for (plan, object) in self.images.iter().zip(1u32..) {
            match plan.resolve(scope, kernel.fetches_memory) {
                Ok(image) => images.push(image),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
            if let Some(variable) = kernel.variable(&plan.name.text) {
                buffers.push(Buffer {
                    name: plan.name.text.clone(),
                    address: variable.address,
                    bytes: 8,
                    reach: 8,
                    element: Type::B64,
                    words: vec![object, 0],
                    lent: None,
                    unset: None,
                    mapped: true,
                    writable: false,
                });
            }
        }
        if !images.is_empty() {
            let words = Image::table(images.iter().map(Some));
            let bytes = HEADER_BYTES * (images.len() as u64 + 1);
            buffers.push(Buffer {
                name: TABLE.to_owned(),
                address: IMAGE_TABLE,
                bytes,
                reach: bytes,
                element: Type::B32,
                words,
                lent: None,
                unset: None,
                mapped: true,
                writable: false,
            });
        }
        buffers
    }
}
