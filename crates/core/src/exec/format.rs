//! Formatted output of `printf` in kernels (CUDA C++ Programming Guide, "Formatted Output").
//!
//! The conversions of C with flags, width, precision and the sizes `hh h l ll j z t L`. A text has
//! at most 32 arguments; later conversions, and those that C does not know (`%n` too), are printed
//! as they are. Width and precision end at 4,096. Texts are those of the GNU C library.

use super::Fault;

/// Maximum number of arguments.
const MOST_ARGUMENTS: u32 = 32;
/// Maximum width and precision.
const MOST_WIDTH: usize = 4096;

/// Source of the arguments of one lane.
pub(super) trait Arguments {
    /// Returns the next argument of 4 or 8 bytes, each aligned to its size.
    fn next(&mut self, bytes: u64) -> Result<u64, Fault>;
    /// Returns the string at an address, at most `limit` bytes.
    fn string(&mut self, address: u64, limit: usize) -> Result<Vec<u8>, Fault>;
}

/// Flags, width and precision of a conversion.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// True for 64-bit integers.
    long: bool,
    /// Bits of `h` (16) and `hh` (8).
    short: Option<u32>,
}

/// Conversion under way.
struct Printer<'t, A> {
    text: &'t [u8],
    at: usize,
    arguments: A,
    used: u32,
    out: Vec<u8>,
}

/// Formats a text and returns it with the number of arguments used.
pub(super) fn format(text: &[u8], arguments: impl Arguments) -> Result<(Vec<u8>, u32), Fault> {
    let mut printer = Printer { text, at: 0, arguments, used: 0, out: Vec::new() };
    while let Some(&byte) = text.get(printer.at) {
        let start = printer.at;
        printer.at += 1;
        if byte != b'%' {
            printer.out.push(byte);
        } else if !printer.conversion()? {
            printer.out.extend_from_slice(&text[start..printer.at]);
        }
    }
    Ok((printer.out, printer.used))
}

impl<A: Arguments> Printer<'_, A> {
    /// Returns the next argument, or `None` after the last one allowed.
    fn argument(&mut self, bytes: u64) -> Result<Option<u64>, Fault> {
        if self.used == MOST_ARGUMENTS {
            return Ok(None);
        }
        self.used += 1;
        self.arguments.next(bytes).map(Some)
    }

    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    /// Reads the digits of a width or precision, or `*`.
    fn number(&mut self) -> Result<Option<i64>, Fault> {
        if self.peek() == b'*' {
            self.at += 1;
            return Ok(self.argument(4)?.map(|value| i64::from(value as u32 as i32)));
        }
        let mut value = None;
        while self.peek().is_ascii_digit() {
            let digit = i64::from(self.peek() - b'0');
            value = Some((value.unwrap_or(0) * 10 + digit).min(MOST_WIDTH as i64));
            self.at += 1;
        }
        Ok(value)
    }

    /// Reads flags, width, precision and size.
    fn spec(&mut self) -> Result<Spec, Fault> {
        let mut spec = Spec::default();
        loop {
            match self.peek() {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            self.at += 1;
        }
        let width = self.number()?.unwrap_or(0);
        spec.left |= width < 0;
        spec.width = (width.unsigned_abs() as usize).min(MOST_WIDTH);
        if self.peek() == b'.' {
            self.at += 1;
            let precision = self.number()?.unwrap_or(0);
            // A negative one counts as none.
            spec.precision = usize::try_from(precision).ok().map(|p| p.min(MOST_WIDTH));
        }
        loop {
            match self.peek() {
                b'l' | b'j' | b'z' | b't' | b'L' | b'q' => spec.long = true,
                b'h' => spec.short = Some(if spec.short.is_some() { 8 } else { 16 }),
                _ => break,
            }
            self.at += 1;
        }
        Ok(spec)
    }

    /// Prints one conversion. Returns false if its text is to be printed as it is.
    fn conversion(&mut self) -> Result<bool, Fault> {
        let spec = self.spec()?;
        let conversion = self.peek();
        if conversion == 0 {
            return Ok(false);
        }
        self.at += 1;
        let bytes = match conversion {
            b'%' => {
                self.out.push(b'%');
                return Ok(true);
            }
            b'd' | b'i' | b'u' | b'x' | b'X' | b'o' if !spec.long => 4,
            b'c' => 4,
            b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b's' | b'p' => 8,
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => 8,
            _ => return Ok(false),
        };
        let Some(value) = self.argument(bytes)? else { return Ok(false) };
        let (prefix, body, zeros) = match conversion {
            b'd' | b'i' => signed(value, &spec),
            b'u' | b'x' | b'X' | b'o' => unsigned(value, conversion, &spec),
            b'c' => (String::new(), vec![value as u8], false),
            b'p' if value == 0 => (String::new(), b"(nil)".to_vec(), false),
            b'p' => ("0x".to_owned(), format!("{value:x}").into_bytes(), false),
            b's' if value == 0 => {
                let whole = spec.precision.is_none_or(|p| p >= 6);
                (String::new(), if whole { b"(null)".to_vec() } else { Vec::new() }, false)
            }
            b's' => {
                let limit = spec.precision.unwrap_or(usize::MAX);
                (String::new(), self.arguments.string(value, limit)?, false)
            }
            _ => float(f64::from_bits(value), conversion, &spec),
        };
        self.pad(&spec, &prefix, &body, zeros);
        Ok(true)
    }

    /// Appends prefix and body, padded to the width; `zeros` allows the flag `0`.
    fn pad(&mut self, spec: &Spec, prefix: &str, body: &[u8], zeros: bool) {
        let missing = spec.width.saturating_sub(prefix.len() + body.len());
        let zeros = zeros && spec.zero && !spec.left;
        if !spec.left && !zeros {
            self.out.resize(self.out.len() + missing, b' ');
        }
        self.out.extend_from_slice(prefix.as_bytes());
        if zeros {
            self.out.resize(self.out.len() + missing, b'0');
        }
        self.out.extend_from_slice(body);
        if spec.left {
            self.out.resize(self.out.len() + missing, b' ');
        }
    }
}

/// Returns the sign of a number.
fn sign(negative: bool, spec: &Spec) -> &'static str {
    match (negative, spec.plus, spec.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    }
}

/// Returns digits with the zeros that the precision asks for; none for 0 at precision 0.
fn digits(magnitude: u64, digits: String, spec: &Spec) -> Vec<u8> {
    match spec.precision {
        Some(0) if magnitude == 0 => Vec::new(),
        Some(precision) => format!("{digits:0>precision$}").into_bytes(),
        None => digits.into_bytes(),
    }
}

fn signed(value: u64, spec: &Spec) -> (String, Vec<u8>, bool) {
    let value = match (spec.long, spec.short) {
        (true, _) => value as i64,
        (_, Some(8)) => i64::from(value as i8),
        (_, Some(_)) => i64::from(value as i16),
        _ => i64::from(value as i32),
    };
    let magnitude = value.unsigned_abs();
    let body = digits(magnitude, magnitude.to_string(), spec);
    (sign(value < 0, spec).to_owned(), body, spec.precision.is_none())
}

fn unsigned(value: u64, conversion: u8, spec: &Spec) -> (String, Vec<u8>, bool) {
    let value = match (spec.long, spec.short) {
        (true, _) => value,
        (_, Some(bits)) => value & ((1 << bits) - 1),
        _ => value & u64::from(u32::MAX),
    };
    let (prefix, text) = match conversion {
        b'x' => ("0x", format!("{value:x}")),
        b'X' => ("0X", format!("{value:X}")),
        b'o' => ("", format!("{value:o}")),
        _ => ("", value.to_string()),
    };
    let mut body = digits(value, text, spec);
    if conversion == b'o' && spec.alternate && body.first() != Some(&b'0') {
        body.insert(0, b'0');
    }
    let prefix = if spec.alternate && value != 0 { prefix } else { "" };
    (prefix.to_owned(), body, spec.precision.is_none())
}

fn float(value: f64, conversion: u8, spec: &Spec) -> (String, Vec<u8>, bool) {
    let mut prefix = sign(value.is_sign_negative(), spec).to_owned();
    let upper = conversion.is_ascii_uppercase();
    let magnitude = value.abs();
    if !value.is_finite() {
        let word = if value.is_nan() { "nan" } else { "inf" };
        let word = if upper { word.to_uppercase() } else { word.to_owned() };
        return (prefix, word.into_bytes(), false);
    }
    let precision = spec.precision.unwrap_or(6);
    let body = match conversion.to_ascii_lowercase() {
        b'f' => fixed(magnitude, precision, spec.alternate),
        b'e' => scientific(magnitude, precision, spec.alternate),
        b'g' => shorter(magnitude, precision.max(1), spec.alternate),
        _ => {
            prefix.push_str("0x");
            hexadecimal(magnitude, spec.precision, spec.alternate)
        }
    };
    if upper {
        return (prefix.to_uppercase(), body.to_uppercase().into_bytes(), true);
    }
    (prefix, body.into_bytes(), true)
}

fn fixed(value: f64, precision: usize, point: bool) -> String {
    let point = if point && precision == 0 { "." } else { "" };
    format!("{value:.precision$}{point}")
}

fn scientific(value: f64, precision: usize, point: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let point = if point && precision == 0 { "." } else { "" };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{point}e{sign}{:02}", exponent.abs())
}

/// The shorter of the two (`%g`), with `precision` significant digits.
fn shorter(value: f64, precision: usize, keep_zeros: bool) -> String {
    let rounded = format!("{value:.*e}", precision - 1);
    let exponent: i64 = rounded.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let digits = precision as i64;
    let text = if (-4..digits).contains(&exponent) {
        fixed(value, (digits - 1 - exponent) as usize, keep_zeros)
    } else {
        scientific(value, precision - 1, keep_zeros)
    };
    if keep_zeros {
        return text;
    }
    let (mantissa, exponent) = text.find('e').map_or((&text[..], ""), |at| text.split_at(at));
    if !mantissa.contains('.') {
        return text;
    }
    format!("{}{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
}

/// Digits of `%a` after `0x`; rounds to even.
fn hexadecimal(value: f64, precision: Option<usize>, point: bool) -> String {
    let bits = value.to_bits();
    let (raw, fraction) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
    let exponent = match (raw, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => raw as i64 - 1023,
    };
    let mut whole = u64::from(raw != 0) << 52 | fraction;
    if let Some(cut) = precision.filter(|&p| p < 13).map(|p| 4 * (13 - p)) {
        let (half, rest) = (1 << (cut - 1), whole & ((1 << cut) - 1));
        whole >>= cut;
        whole += u64::from(rest > half || (rest == half && whole & 1 == 1));
        whole <<= cut;
    }
    let digits = format!("{:013x}", whole & ((1 << 52) - 1));
    let digits = match precision {
        Some(p) if p <= 13 => digits[..p].to_owned(),
        Some(p) => format!("{digits:0<p$}"),
        None => digits.trim_end_matches('0').to_owned(),
    };
    let dot = if digits.is_empty() && !point { "" } else { "." };
    format!("{:x}{dot}{digits}p{exponent:+}", whole >> 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Given(Vec<u64>);

    impl Arguments for Given {
        fn next(&mut self, _: u64) -> Result<u64, Fault> {
            Ok(if self.0.is_empty() { 0 } else { self.0.remove(0) })
        }
        fn string(&mut self, _: u64, limit: usize) -> Result<Vec<u8>, Fault> {
            Ok(b"warp"[..limit.min(4)].to_vec())
        }
    }

    fn printed(text: &str, values: &[u64]) -> String {
        let (out, _) = format(text.as_bytes(), Given(values.to_vec())).unwrap();
        String::from_utf8(out).unwrap()
    }

    // The expected texts are those of printf of the GNU C library 2.36.
    #[test]
    fn integers_strings_and_pointers() {
        let minus = -7i64 as u64;
        for (text, values, expected) in [
            ("a%%b %d|%i", &[5, minus][..], "a%b 5|-7"),
            ("%5d|%-5d|%05d|%+d|% d", &[42, 42, 42, 42, 42], "   42|42   |00042|+42| 42"),
            ("%.3d|%8.3d|%.0d|", &[7, minus, 0], "007|    -007||"),
            ("%u %x %X %o", &[minus, 255, 255, 8], "4294967289 ff FF 10"),
            ("%#x %#X %#o %#x", &[255, 255, 8, 0], "0xff 0XFF 010 0"),
            ("%lld %lu %zx", &[minus, minus, minus], "-7 18446744073709551609 fffffffffffffff9"),
            ("%hd %hhu %hx", &[0x1_8000, 511, 0x1_ffff], "-32768 255 ffff"),
            ("%*d|%-*d|%.*d", &[4, 1, 4, 1, 3, 1], "   1|1   |001"),
            ("%*d|", &[-4i64 as u64, 1], "1   |"),
            ("%c%3c", &[65, 66], "A  B"),
            ("%s|%6s|%-6s|%.2s|%s", &[1, 1, 1, 1, 0], "warp|  warp|warp  |wa|(null)"),
            ("%p %p %10p", &[0x7f00, 0, 0x10], "0x7f00 (nil)       0x10"),
            ("%y %n|%", &[1, 2], "%y %n|%"),
            ("%08.3d|%+08d", &[5, 5], "     005|+0000005"),
        ] {
            assert_eq!(printed(text, values), expected, "{text}");
        }
    }

    #[test]
    fn floats() {
        let bits = f64::to_bits;
        for (text, value, expected) in [
            ("%f", 1.0, "1.000000"),
            ("%5.2f", 3.14859, " 3.15"),
            ("%-8.1f|", 2.25, "2.2     |"),
            ("%08.2f", -1.5, "-0001.50"),
            ("%.0f", 2.5, "2"),
            ("%#.0f", 2.5, "2."),
            ("%e", 12345.678, "1.234568e+04"),
            ("%.2E", 0.00012, "1.20E-04"),
            ("%e", 0.0, "0.000000e+00"),
            ("%.1e", 1e-300, "1.0e-300"),
            ("%g", 100_000.0, "100000"),
            ("%g", 1_000_000.0, "1e+06"),
            ("%g", 0.0001, "0.0001"),
            ("%g", 0.00001, "1e-05"),
            ("%g", 0.1, "0.1"),
            ("%.3g", 1234.5, "1.23e+03"),
            ("%#g", 1.5, "1.50000"),
            ("%g", 0.0, "0"),
            ("%.10g", 1.0 / 3.0, "0.3333333333"),
            ("%a", 1.0, "0x1p+0"),
            ("%a", 0.1, "0x1.999999999999ap-4"),
            ("%.2a", 1.999, "0x2.00p+0"),
            ("%A", -255.5, "-0X1.FFP+7"),
            ("%a", 0.0, "0x0p+0"),
            ("%f", f64::INFINITY, "inf"),
            ("%6.1F", f64::NEG_INFINITY, "  -INF"),
            ("%05f", f64::NAN, "  nan"),
            ("%+f", 0.5, "+0.500000"),
            ("%f", -0.0, "-0.000000"),
            ("%.20f", 0.1, "0.10000000000000000555"),
        ] {
            assert_eq!(printed(text, &[bits(value)]), expected, "{text} of {value}");
        }
    }

    #[test]
    fn sizes_are_bounded() {
        assert_eq!(printed("%999999999d", &[1]).len(), MOST_WIDTH);
        assert_eq!(printed("%.*f", &[i32::MAX as u64, 0]).len(), 2 + MOST_WIDTH);
        let (text, used) = format("%d".repeat(34).as_bytes(), Given(vec![1; 34])).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "1".repeat(32) + "%d%d");
        assert_eq!(used, 32);
    }
}
