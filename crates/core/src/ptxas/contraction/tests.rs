//! Contractions that ptxas 13.0 makes for sm_90, as its machine code shows, and what they compute.

use super::*;
use crate::kernel::check;
use crate::ptx;
use crate::ptxas::compile;
use crate::spec::{Machine, Mode, Target};

/// Returns the arithmetic of a body of f32 on `h200`: `-` for a product without an issue slot,
/// `(/)` for a quotient with one fewer.
///
/// `t = a * b` stands for `mul.f32 %t, %a, %b`, `t = a + b` for `add.f32`; `rn`, `ftz` and `sat`
/// after an operation are modifiers, `!t` stores `t`.
fn arithmetic(body: &str) -> String {
    let line = |text: &str| {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let guard = if words[0] == "@p" { words.remove(0) } else { "" };
        match &words[..] {
            [stored] if stored.starts_with('!') => format!("st.shared.f32 [s], %{};", &stored[1..]),
            [d, "=", a, op, rest @ ..] => {
                let name = match *op {
                    "*" => "mul",
                    "/" => "div.approx",
                    "+" => "add",
                    _ => "sub",
                };
                let (b, modifiers) = rest.split_last().expect("two operands");
                let modifiers: String = modifiers.iter().map(|m| format!(".{m}")).collect();
                format!("{guard} {name}{modifiers}.f32 %{d}, %{a}, %{b};")
            }
            _ => format!("{text};"),
        }
    };
    let body: String = body.split(';').map(|part| line(part.trim())).collect();
    let source = format!(
        ".entry k() {{ .reg .pred p; .reg .f32 %a, %b, %c, %d, %t, %u, %v, %o, %q; \
         .shared .align 4 .b8 s[4]; ld.shared.f32 %a, [s]; {body} ret; }}"
    );
    let (module, faults) = ptx::parse(&source);
    assert!(faults.is_empty(), "{faults:?}");
    let (kernels, found) = check(&module, &source);
    let kernel = kernels.first().unwrap_or_else(|| panic!("{found:?}"));
    let text = Machine::preset_text("h200").expect("a preset");
    let spec = Machine::parse(text).expect("a sound file");
    let code = compile(kernel, &Target::new(&spec, true), Mode::Volta);
    let name = |f: LaneFn, count: u32| match f {
        LaneFn::FMul(_) if count == 0 => Some("-"),
        LaneFn::FMul(_) => Some("*"),
        LaneFn::DivApprox { .. } if count == 5 => Some("/"),
        LaneFn::DivApprox { .. } => Some("(/)"),
        LaneFn::FusedQuotient { sum: FusedSum::Add, .. } => Some("/+"),
        LaneFn::FusedQuotient { sum: FusedSum::Sub, .. } => Some("/sub"),
        LaneFn::FusedQuotient { .. } => Some("sub/"),
        LaneFn::FAdd(_) => Some("+"),
        LaneFn::FSub(_) => Some("sub"),
        LaneFn::Fma(_) => Some("*+"),
        LaneFn::FusedProduct { sum: FusedSum::Sub, .. } => Some("*sub"),
        LaneFn::FusedProduct { .. } => Some("sub*"),
        _ => None,
    };
    let of = |step: &crate::code::MicroOp| name(lane(&step.inst)?.f, step.count);
    code.ops().iter().filter_map(of).collect::<Vec<_>>().join(" ")
}

#[test]
fn sums_take_the_place_of_products() {
    for (body, expected) in [
        ("t = a * b; o = t + c; !o", "- *+"),
        ("t = a * b; o = c + t; !o", "- *+"),
        ("t = a * b; o = t - c; !o", "- *sub"),
        ("t = a * b; o = c - t; !o", "- sub*"),
        ("t = a * b; t = t + c; !t", "- *+"),
        ("t = a * b; @p o = t + c; !o", "- *+"),
        ("t = a * b; o = t + sat c; !o", "- *+"),
        ("t = a * ftz b; o = t + ftz c; !o", "- *+"),
        ("t = a * b; bar.sync 0; o = t + c; !o", "- *+"),
        // Each use is a sum.
        ("t = a * b; o = t + c; !o; u = t + d; !u; v = a - t; !v", "- *+ *+ sub*"),
        ("t = a * b; o = t + c; o = o + t; !o", "- *+ *+"),
        ("t = a * b; u = t + c; v = u * d; o = v + a; !o", "- *+ - *+"),
        ("t = a * b; u = t * c; o = u + t; !o", "* - *+"),
        // A new value of the register is no use.
        ("t = a * b; o = t + c; t = c * d; !o; !t", "- *+ *"),
    ] {
        assert_eq!(arithmetic(body), expected, "{body}");
    }
}

#[test]
fn other_products_stay() {
    for (body, expected) in [
        ("t = a * b; o = t + c; !o; !t", "* +"),
        ("t = a * b; o = t + c; u = t * d; !o; !u", "* + *"),
        ("t = a * b; o = t + t; !o", "* +"),
        ("t = a * rn b; o = t + c; !o", "* +"),
        ("t = a * b; o = t + rn c; !o", "* +"),
        ("t = a * b; o = t + c; !o; u = t - rn d; !u", "* + sub"),
        ("t = a * ftz b; o = t + c; !o", "* +"),
        ("t = a * b; o = t + ftz c; !o", "* +"),
        ("t = a * sat b; o = t + c; !o", "* +"),
        ("@p t = a * b; @p o = t + c; !o", "* +"),
        ("t = a * b; @p t = t + c; !t", "* +"),
        // Other blocks.
        ("t = a * b; o = t + c; !o; @p ret; u = t + d; !u", "* + +"),
    ] {
        assert_eq!(arithmetic(body), expected, "{body}");
    }
}

#[test]
fn of_two_products_one_is_fused() {
    for (body, expected) in [
        ("t = a * b; u = c * d; o = t + u; !o", "- * *+"),
        ("t = a * b; u = c * d; o = u + t; !o", "* - *+"),
        ("t = a * b; u = c * d; o = t - u; !o", "- * *sub"),
        ("u = c * d; t = a * b; o = t + u; !o", "* - *+"),
        ("t = a * b; u = c * d; o = t + u; !o; !t", "* - *+"),
        // The one without another use.
        ("t = a * b; u = c * d; o = u + t; !o; v = u + c; !v", "- * *+ +"),
        ("t = a * b; u = c * d; v = u + c; !v; o = t + u; !o", "- * + *+"),
        ("t = a * b; u = c * d; v = a * d; o = t + u; !o; o = t + v; !o", "* - - *+ *+"),
        ("t = a * b; u = c * d; o = t + c; !o; v = t + u; !v", "* - + *+"),
        // Products with several uses, sum by sum.
        ("t = a * b; u = c * d; o = t + c; !o; v = u + t; !v; v = u + d; !v", "* - *+ *+ *+"),
        ("t = a * b; u = c * d; v = t + u; !v; v = u + d; !v; v = t + d; !v", "- * *+ + *+"),
        (
            "t = a * b; u = c * d; v = a * d; o = t + u; !o; q = u + v; !q; o = v + t; !o",
            "* * - *+ *+ *+",
        ),
    ] {
        assert_eq!(arithmetic(body), expected, "{body}");
    }
}

#[test]
fn quotients_end_with_a_product() {
    for (body, expected) in [
        ("t = a / b; o = t + c; !o", "(/) /+"),
        ("t = a / ftz b; o = t + ftz c; !o", "(/) /+"),
        ("t = a / b; o = t - c; !o", "(/) /sub"),
        ("t = a / b; o = c - t; !o", "(/) sub/"),
        ("t = a / b; o = t + c; !o; !t", "/ +"),
        ("t = a / b; u = c * d; o = t + u; !o", "(/) * /+"),
        ("t = a / b; u = c / d; o = u - t; !o", "/ (/) /sub"),
    ] {
        assert_eq!(arithmetic(body), expected, "{body}");
    }
}
