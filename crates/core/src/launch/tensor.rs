//! `tensor` directives: buffers shaped as tensors whose tiles bulk copies move.

use super::Buffer;
use super::expression::{Expr, Parsed, Parser};
use super::plan::Plan;
use super::resolve::Signature;
use super::term::{Scope, integer};
use crate::diag::{Diagnostic, Span};
use crate::exec::{MAP_BYTES, TensorElement, TensorMap};
use crate::isa::Type;
use crate::kernel::MAX_RANK;
use crate::ptx::tree::Name;

/// Words after the tile.
const WORDS: [&str; 6] = ["swizzle32", "swizzle64", "swizzle128", "nan", "tf32", "ftz"];

/// `tensor NAME: BUFFER[SIZES] tile [SIZES] step [STEPS] WORD ..`
#[derive(Clone, Debug)]
pub(super) struct TensorPlan {
    pub(super) name: Name,
    pub(super) buffer: Name,
    pub(super) sizes: Vec<Expr>,
    pub(super) tile: Vec<Expr>,
    /// Empty: each element of the extent belongs to the tile.
    pub(super) steps: Vec<Expr>,
    words: Vec<Name>,
    span: Span,
}

/// Evaluated line: the name and the bytes of the map.
pub(super) type NamedMap = (String, Vec<u8>);

/// Parses the line after its keyword.
pub(super) fn tensor(parser: &mut Parser<'_>, keyword: &Name) -> Parsed<TensorPlan> {
    let name = parser.word("a name")?;
    parser.sign(":")?;
    let buffer = parser.word("a buffer name")?;
    let sizes = list(parser)?;
    let word = parser.word("`tile`")?;
    if word.text != "tile" {
        let message = format!("expected `tile`, found `{}`", word.text);
        return Err(Diagnostic::error("directive-syntax", word.span, message)
            .help("write `tensor NAME: BUFFER[SIZES] tile [SIZES]`"));
    }
    let tile = list(parser)?;
    let (mut steps, mut words) = (Vec::new(), Vec::new());
    while !parser.at_end() {
        let word = parser.word("a word such as `swizzle128`")?;
        if word.text == "step" {
            steps = list(parser)?;
            continue;
        }
        if !WORDS.contains(&word.text.as_str()) {
            let message = format!("unknown property `{}` of a tensor", word.text);
            let help = format!("use `step [..]` or one of `{}`", WORDS.join("`, `"));
            return Err(Diagnostic::error("directive-syntax", word.span, message).help(help));
        }
        words.push(word);
    }
    let span = keyword.span.to(parser.before());
    let others = [&tile, &steps].into_iter().filter(|list| !list.is_empty());
    if sizes.len() > MAX_RANK || others.into_iter().any(|list| list.len() != sizes.len()) {
        let message = "expected one to five sizes, and as many for the tile";
        return Err(Diagnostic::error("directive-syntax", span, message));
    }
    Ok(TensorPlan { name, buffer, sizes, tile, steps, words, span })
}

/// Parses `[a, b, ..]`.
fn list(parser: &mut Parser<'_>) -> Parsed<Vec<Expr>> {
    parser.sign("[")?;
    let mut values = vec![parser.expression()?];
    while parser.take_sign(",") {
        values.push(parser.expression()?);
    }
    parser.sign("]")?;
    Ok(values)
}

impl TensorPlan {
    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|given| given.text == word)
    }

    /// Evaluates the line.
    fn resolve(&self, scope: &Scope<'_>) -> Result<TensorMap, Diagnostic> {
        let named = |b: &&Buffer| b.name == self.buffer.text;
        let buffer = scope.buffers.iter().find(named).ok_or_else(|| {
            let message = format!("unknown buffer `{}`", self.buffer.text);
            Diagnostic::error("unknown-name", self.buffer.span, message)
        })?;
        let element = self.element(buffer.element)?;
        let sizes = numbers(&self.sizes, 1 << 32, scope)?;
        let row = u64::from(element.ty().bytes());
        let mut strides = [0; MAX_RANK - 1];
        let mut bytes = row;
        for (i, size) in sizes.iter().enumerate() {
            bytes = bytes.saturating_mul(*size);
            if let Some(stride) = strides.get_mut(i) {
                *stride = bytes;
            }
        }
        if bytes != buffer.bytes {
            let message = format!(
                "expected the {} bytes of buffer `{}`, found {bytes} bytes of elements",
                buffer.bytes, buffer.name
            );
            return Err(Diagnostic::error("out-of-range", self.span, message));
        }
        let swizzle = WORDS[..3].iter().position(|word| self.has(word));
        let map = TensorMap {
            element,
            rank: self.sizes.len(),
            address: buffer.address,
            sizes,
            strides,
            tile: numbers(&self.tile, 256, scope)?.map(|size| size as u32),
            steps: numbers(&self.steps, 8, scope)?.map(|step| step as u32),
            interleave: 0,
            swizzle: swizzle.map_or(0, |place| place as u32 + 1),
            promotion: 0,
            nan: self.has("nan"),
        };
        match map.mistake() {
            None => Ok(map),
            Some(why) => {
                let message = format!("no such tensor: {why}");
                Err(Diagnostic::error("out-of-range", self.span, message))
            }
        }
    }

    fn element(&self, ty: Type) -> Result<TensorElement, Diagnostic> {
        use TensorElement::*;
        Ok(match (ty, self.has("tf32"), self.has("ftz")) {
            (Type::F32, false, true) => F32Ftz,
            (Type::F32, true, false) => Tf32,
            (Type::F32, true, true) => Tf32Ftz,
            (_, tf32, ftz) if tf32 || ftz => {
                let message = format!("`tf32` and `ftz` of `{}` elements", ty.name());
                return Err(Diagnostic::error("directive-syntax", self.span, message)
                    .help("use a buffer of `f32`"));
            }
            (Type::F32, ..) => F32,
            (Type::U8 | Type::B8 | Type::S8, ..) => U8,
            (Type::U16 | Type::B16 | Type::S16, ..) => U16,
            (Type::S32, ..) => S32,
            (Type::U64 | Type::B64, ..) => U64,
            (Type::S64, ..) => S64,
            (Type::F16, ..) => F16,
            (Type::F64, ..) => F64,
            (Type::BF16, ..) => Bf16,
            _ => U32,
        })
    }
}

/// Evaluates numbers from 1 to `most`; missing ones are 1.
fn numbers(list: &[Expr], most: i128, scope: &Scope<'_>) -> Result<[u64; MAX_RANK], Diagnostic> {
    let mut all = [1; MAX_RANK];
    for (place, expr) in all.iter_mut().zip(list) {
        let value = integer(expr, scope)?;
        if !(1..=most).contains(&value) {
            let message = format!("expected a number from 1 to {most}, found {value}");
            return Err(Diagnostic::error("out-of-range", expr.span(), message));
        }
        *place = value as u64;
    }
    Ok(all)
}

impl Plan {
    /// Returns the tensor maps, and the variables of their names that hold them.
    pub(super) fn place_tensors(
        &self,
        kernel: &Signature<'_>,
        scope: &Scope<'_>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> (Vec<NamedMap>, Vec<Buffer>) {
        let (mut maps, mut buffers) = (Vec::new(), Vec::new());
        for plan in &self.tensors {
            let words = match plan.resolve(scope) {
                Ok(map) => map.encode(),
                Err(diagnostic) => {
                    diagnostics.push(diagnostic);
                    continue;
                }
            };
            let name = plan.name.text.clone();
            let variable = kernel.variable(&name);
            if let Some(variable) = variable.filter(|v| v.bytes.len() as u64 == MAP_BYTES) {
                buffers.push(Buffer {
                    name: name.clone(),
                    address: variable.address,
                    bytes: MAP_BYTES,
                    reach: MAP_BYTES,
                    element: Type::B32,
                    words: words.iter().flat_map(|&w| [w as u32, (w >> 32) as u32]).collect(),
                    lent: None,
                    unset: None,
                    mapped: true,
                    writable: false,
                });
            }
            maps.push((name, words.into_iter().flat_map(u64::to_le_bytes).collect()));
        }
        (maps, buffers)
    }
}
