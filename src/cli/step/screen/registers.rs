//! Registers, lane by lane: one row where a few words say it all, a grid otherwise.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use simt_sim::debug::{Base, RegisterView, View, format_value};
use simt_sim::isa::Type;

use super::{Panel, clip};
use crate::cli::step::app::App;

/// Columns in front of the values.
const NAME: usize = 14;

/// The chosen registers; without a choice those of the next and the last step first, then the others.
pub(super) fn panel(app: &App<'_>, view: &View, (width, height): (usize, usize)) -> Panel {
    let registers = view.warp.as_ref().map(|w| w.registers.as_slice()).unwrap_or_default();
    let order: Vec<&RegisterView> = if app.chosen.is_empty() {
        let (used, others): (Vec<_>, Vec<_>) = registers.iter().partition(|r| r.next || !r.written.is_empty());
        used.into_iter().chain(others).collect()
    } else {
        app.chosen.iter().filter_map(|name| registers.iter().find(|r| r.name == *name)).collect()
    };
    let mut lines = Vec::new();
    let mut left = 0;
    for register in order.iter().skip(app.skipped) {
        let rows = rows(register, app.base, width.saturating_sub(NAME));
        if lines.len() + rows.len() > height {
            left += 1;
            continue;
        }
        if left > 0 {
            left += 1;
            continue; // no gaps: what follows a register that does not fit is not shown either
        }
        let bold = if register.written.is_empty() { Style::new() } else { Style::new().add_modifier(Modifier::BOLD) };
        for (i, row) in rows.into_iter().enumerate() {
            let marks = format!(
                "{}{}",
                if register.written.is_empty() { ' ' } else { '*' },
                if register.next { '>' } else { ' ' }
            );
            let name = if i == 0 { format!("{marks} {}", clip(&register.name, NAME - 4)) } else { String::new() };
            lines.push(Line::from(Span::styled(clip(&format!("{name:<NAME$}{row}"), width), bold)));
        }
    }
    let hidden = match (left, app.skipped) {
        (0, 0) => String::new(),
        (left, skipped) => format!("; {} more, PgDn/PgUp", left + skipped.min(order.len())),
    };
    let base = if app.base == Base::Hex { ", hexadecimal" } else { "" };
    Panel { title: format!("registers{base}: * just written, > used by the next instruction{hidden}"), lines }
}

/// The values of a register in as few rows of `width` columns as are clear.
fn rows(register: &RegisterView, base: Base, width: usize) -> Vec<String> {
    let texts: Vec<String> = register.values.iter().map(|&bits| format_value(bits, register.ty, base)).collect();
    let Some(first) = texts.first() else { return Vec::new() };
    if texts.iter().all(|text| text == first) {
        return vec![format!("{first} in every lane")];
    }
    if register.ty == Type::Pred {
        let groups: Vec<String> = texts.chunks(8).map(|eight| eight.concat()).collect();
        let holds = register.values.iter().filter(|&&bits| bits != 0).count();
        return vec![format!("{}   holds in {holds}", groups.join(" "))];
    }
    if let Some(step) = stride(register) {
        return vec![format!("{first}, {}, .. {}   ({first} + lane * {step})", texts[1], texts[texts.len() - 1])];
    }
    let cell = texts.iter().map(|text| text.chars().count()).max().unwrap_or(1) + 1;
    let label = 4;
    let fits = width.saturating_sub(label) / cell;
    let row = [32, 16, 8, 4, 2].into_iter().find(|&row| row <= fits).unwrap_or(1);
    let chunks = texts.chunks(row).enumerate();
    chunks
        .map(|(i, chunk)| {
            let cells: String = chunk.iter().map(|text| format!("{text:>cell$}")).collect();
            format!("{:>2}:{cells}", i * row)
        })
        .collect()
}

/// The difference between every lane and the one before it, where that is the same and not 0.
fn stride(register: &RegisterView) -> Option<i64> {
    if register.ty.is_float() || register.values.len() < 3 {
        return None;
    }
    let unused = 64 - register.ty.bits().min(64);
    let difference = |pair: &[u64]| (pair[1].wrapping_sub(pair[0]) << unused) as i64 >> unused;
    let first = register.values.get(..2).map(difference)?;
    let same = register.values.windows(2).all(|pair| difference(pair) == first);
    // Beyond this the numbers tell more than the rule.
    (same && first != 0 && first.unsigned_abs() < 1 << 20).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use simt_sim::base::LaneMask;
    use simt_sim::kernel::{Register, Row};

    fn shown(ty: Type, value: impl Fn(u64) -> u64) -> Vec<String> {
        let values = (0..32).map(value).collect();
        let (register, written) = (Register::Narrow(Row(0)), LaneMask::EMPTY);
        rows(&RegisterView { name: "%x".into(), register, ty, values, written, next: false }, Base::Natural, 86)
    }

    #[test]
    fn a_rule_is_said_in_one_row() {
        assert_eq!(shown(Type::U32, |_| 7), ["7 in every lane"]);
        assert_eq!(shown(Type::U32, |l| 8 + 4 * l), ["8, 12, .. 132   (8 + lane * 4)"]);
        assert_eq!(shown(Type::S32, |l| (5 - l as i64) as u32 as u64), ["5, 4, .. -26   (5 + lane * -1)"]);
        assert_eq!(shown(Type::Pred, |l| l % 2), ["01010101 01010101 01010101 01010101   holds in 16"]);
    }

    #[test]
    fn values_without_a_rule_make_a_grid() {
        let squares = shown(Type::U32, |l| l * l);
        assert_eq!(squares.len(), 2);
        assert_eq!(squares[0], " 0:   0   1   4   9  16  25  36  49  64  81 100 121 144 169 196 225");
        assert_eq!(shown(Type::U32, |l| l % 3).len(), 1);
        assert_eq!(shown(Type::U32, |l| l * l * 123_456).len(), 4);
    }
}
