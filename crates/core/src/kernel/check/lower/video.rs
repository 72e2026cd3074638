//! Lowering of video instructions, and the parts that their operands name.

use super::super::body::Body;
use super::super::operands::{Arg, Args};
use super::{Op, Row, comparison};
use crate::diag::Diagnostic;
use crate::isa::{FormMatch, Type};
use crate::kernel::{Video, VideoFn, VideoPart, VideoParts, VideoThen};
use crate::ptx::tree::{Instruction, Name, Operand};

/// Parts that the operands `d`, `a` and `b` name: `b0`, `h10`, `b3210` ..
pub(in crate::kernel::check) type Named = [Option<Name>; 3];

/// Splits the parts off the operands of a video instruction.
pub(in crate::kernel::check) fn without_parts(inst: &Instruction) -> (Instruction, Named) {
    let mut inst = inst.clone();
    let mut named = Named::default();
    for (operand, named) in inst.operands.iter_mut().zip(&mut named) {
        if let Operand::Name(name) = operand
            && let Some((register, part)) = name.text.rsplit_once('.')
            && part.starts_with(['b', 'h'])
            && part.len() > 1
            && part[1..].bytes().all(|b| b.is_ascii_digit())
        {
            *named = Some(Name { text: part.to_owned(), span: name.span });
            name.text = register.to_owned();
        }
    }
    (inst, named)
}

impl Body<'_> {
    /// Lowers a video instruction; `None` after reporting an error.
    pub(super) fn video(&mut self, m: &FormMatch<'_>, args: &Args, named: &Named) -> Option<Op> {
        let opcode = m.form.opcode.as_str();
        let count = match opcode.as_bytes().last() {
            Some(b'2') => 2,
            Some(b'4') => 4,
            _ => 1,
        };
        let wrap = m.has("wrap");
        let shift = m.pick(&[("shr7", 7), ("shr15", 15)]).unwrap_or(0);
        let f = match opcode.trim_end_matches(['2', '4']) {
            "vadd" => VideoFn::Add,
            "vsub" => VideoFn::Sub,
            "vabsdiff" => VideoFn::AbsDiff,
            "vmin" => VideoFn::Min,
            "vmax" => VideoFn::Max,
            "vavrg" => VideoFn::Average,
            "vshl" => VideoFn::ShiftLeft { wrap },
            "vshr" => VideoFn::ShiftRight { wrap },
            "vmad" => VideoFn::MultiplyAdd { plus_one: m.has("po"), shift },
            _ => VideoFn::Set(comparison(m)),
        };
        let types = [m.ty(), m.second_type(), m.third_type()];
        // `vset` has no type for its result; a second operation takes that of `a`.
        let types = match f {
            VideoFn::Set(_) => [types[0], types[0], types[1]],
            _ => types,
        };
        let then = m
            .pick(&[("add", VideoThen::Add), ("min", VideoThen::Min), ("max", VideoThen::Max)])
            .unwrap_or(VideoThen::Merge);
        let parts = if count == 1 { self.one(named) } else { self.each(named, count) }?;
        let c = match args.args.get(3) {
            Some(Arg::Value(value)) => value.row,
            _ => self.rows.constant(0, false),
        };
        let s: [Row; 3] = [args.row(1), args.row(2), c];
        Some(Op::Video(Box::new(Video {
            f,
            signed: types.map(Type::is_signed),
            sat: m.has("sat"),
            then,
            parts,
            d: args.row(0),
            s,
        })))
    }

    /// Returns the parts of a scalar instruction.
    fn one(&mut self, named: &Named) -> Option<VideoParts> {
        let mut parts = [VideoPart::Whole; 3];
        for (part, name) in parts.iter_mut().zip(named) {
            let Some(name) = name else { continue };
            *part = match name.text.as_str() {
                "h0" => VideoPart::Half(0),
                "h1" => VideoPart::Half(1),
                "b0" => VideoPart::Byte(0),
                "b1" => VideoPart::Byte(1),
                "b2" => VideoPart::Byte(2),
                "b3" => VideoPart::Byte(3),
                _ => return self.bad_part(name, "`.h0`, `.h1` or `.b0` to `.b3`"),
            };
        }
        Some(VideoParts::One(parts))
    }

    /// Returns the parts of an instruction on `count` parts.
    fn each(&mut self, named: &Named, count: u8) -> Option<VideoParts> {
        let (letter, n) = (if count == 2 { 'h' } else { 'b' }, usize::from(count));
        let mut from = [[0, 1, 2, 3], [0, 1, 2, 3].map(|part| part + count)];
        for (list, name) in from.iter_mut().zip(&named[1..]) {
            let Some(name) = name else { continue };
            let digits: Vec<u8> = name.text.bytes().skip(1).rev().map(|b| b - b'0').collect();
            let known = name.text.starts_with(letter) && digits.len() == n;
            if !known || digits.iter().any(|&digit| digit >= 2 * count) {
                let example = if count == 2 { "such as `.h10`" } else { "such as `.b3210`" };
                return self.bad_part(name, example);
            }
            list.iter_mut().zip(digits).for_each(|(part, digit)| *part = digit);
        }
        let mut mask = (1u8 << count) - 1;
        if let Some(name) = &named[0] {
            let digits: Vec<u8> = name.text.bytes().skip(1).map(|b| b - b'0').collect();
            let falling = digits.windows(2).all(|pair| pair[0] > pair[1]);
            let in_range = digits.iter().all(|&digit| digit < count);
            if !name.text.starts_with(letter) || !falling || !in_range {
                let example = if count == 2 { "`.h0`, `.h1` or `.h10`" } else { "such as `.b20`" };
                return self.bad_part(name, example);
            }
            mask = digits.iter().fold(0, |mask, digit| mask | 1 << digit);
        }
        Some(VideoParts::Each { count, from, mask })
    }

    fn bad_part<T>(&mut self, name: &Name, expected: &str) -> Option<T> {
        let message = format!("expected a part {expected}, found `.{}`", name.text);
        self.report(Diagnostic::error("unknown-modifier", name.span, message));
        None
    }
}
