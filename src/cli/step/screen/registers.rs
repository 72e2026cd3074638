//! Registers, lane by lane: one row if a rule describes all values, else a grid.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use simt_core::base::LaneMask;
use simt_core::debug::{Base, RegisterView, View, format_value};
use simt_core::isa::Type;

use super::{Panel, clip};
use crate::cli::step::app::App;

/// Columns before the values.
const NAME: usize = 14;

/// Draws the chosen registers, or all: those of the next and the last step first.
pub(super) fn panel(app: &App<'_>, view: &View, (width, height): (usize, usize)) -> Panel {
    let registers = view.warp.as_ref().map(|w| w.registers.as_slice()).unwrap_or_default();
    let order: Vec<&RegisterView> = if app.chosen.is_empty() {
        let (used, others): (Vec<_>, Vec<_>) =
            registers.iter().partition(|r| r.next || !r.written.is_empty());
        used.into_iter().chain(others).collect()
    } else {
        app.chosen.iter().filter_map(|name| registers.iter().find(|r| r.name == *name)).collect()
    };
    let running = view
        .warp
        .as_ref()
        .and_then(|w| w.groups.first())
        .map_or(LaneMask::EMPTY, |group| group.lanes);
    let mut lines = Vec::new();
    let mut shown = app.skipped.min(order.len());
    for register in &order[shown..] {
        let mut rows = rows(register, running, app.base, width.saturating_sub(NAME));
        let room = height - lines.len();
        // The first register may be cut; any other is shown in full or not at all.
        if rows.len() > room && !lines.is_empty() {
            break;
        }
        rows.truncate(room);
        shown += 1;
        let written = !register.written.is_empty();
        let bold = if written { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
        let marks =
            format!("{}{}", if written { '*' } else { ' ' }, if register.next { '>' } else { ' ' });
        for (i, row) in rows.into_iter().enumerate() {
            let name = if i == 0 {
                format!("{marks} {}", clip(&register.name, NAME - 4))
            } else {
                String::new()
            };
            lines.push(Line::from(Span::styled(clip(&format!("{name:<NAME$}{row}"), width), bold)));
        }
    }
    let hidden = match order.len() - shown + app.skipped.min(order.len()) {
        0 => String::new(),
        more => format!("; {more} more: PgDn, PgUp"),
    };
    let base = if app.base == Base::Hex { ", hexadecimal" } else { "" };
    Panel {
        title: format!("registers{base}: * just written, > used by the next instruction{hidden}"),
        lines,
    }
}

/// Formats a register in few rows of `width` columns; `running` lanes issue next.
fn rows(register: &RegisterView, running: LaneMask, base: Base, width: usize) -> Vec<String> {
    let texts: Vec<String> =
        register.values.iter().map(|&bits| format_value(bits, register.ty, base)).collect();
    let all = LaneMask::first_n(texts.len() as u32);
    if let Some(rule) = rule(register, all, base) {
        let few = texts.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
        let uniform = texts.iter().all(|text| *text == texts[0]);
        return vec![if uniform {
            format!("{rule} in every lane")
        } else {
            format!("{few}, ..   = {rule}")
        }];
    }
    if register.ty == Type::Pred {
        let groups: Vec<String> = texts.chunks(8).map(|eight| eight.concat()).collect();
        let holds = register.values.iter().filter(|&&bits| bits != 0).count();
        return vec![format!("{}   true in {holds}", groups.join(" "))];
    }
    let others = all - running;
    if running.count() > 1
        && let Some((here, there)) = rule(register, running, base).zip(rule(register, others, base))
    {
        let text =
            format!("{here} in the {} running lanes, {there} in the others", running.count());
        if text.chars().count() <= width {
            return vec![text];
        }
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

/// Describes the values of lanes if they are constant or linear in the lane.
fn rule(register: &RegisterView, lanes: LaneMask, base: Base) -> Option<String> {
    let value = |lane: u32| register.values.get(lane as usize).copied();
    let unused = 64 - register.ty.bits().min(64);
    let signed = |bits: u64| (bits << unused) as i64 >> unused;
    let mut among = lanes.lanes();
    let first = among.next()?;
    let start = value(first)?;
    let Some(second) = among.next() else { return Some(format_value(start, register.ty, base)) };
    let (rise, run) = (signed(value(second)?.wrapping_sub(start)), i64::from(second - first));
    let step = if rise % run == 0 { rise / run } else { return None };
    let follows = |lane: u32| {
        let expected =
            start.wrapping_add(step.wrapping_mul(i64::from(lane) - i64::from(first)) as u64);
        value(lane).is_some_and(|bits| signed(bits.wrapping_sub(expected)) == 0)
    };
    // A larger step is clearer as numbers; floats and predicates have no linear rule.
    let number = !register.ty.is_float() && register.ty != Type::Pred;
    let clear = step == 0 || step.unsigned_abs() < 1 << 20 && number && lanes.count() > 2;
    if !clear || !lanes.lanes().all(follows) {
        return None;
    }
    let zero = start.wrapping_sub(step.wrapping_mul(i64::from(first)) as u64);
    let zero = format_value(zero, register.ty, base);
    Some(match (step, zero.as_str()) {
        (0, _) => zero,
        (1, "0") => "lane".to_string(),
        (_, "0") => format!("{step} * lane"),
        (1, _) => format!("{zero} + lane"),
        _ => format!("{zero} + {step} * lane"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use simt_core::kernel::{Register, Row};

    fn shown(ty: Type, value: impl Fn(u64) -> u64) -> Vec<String> {
        let values = (0..32).map(value).collect();
        let (register, written) = (Register::Narrow(Row(0)), LaneMask::EMPTY);
        let view = RegisterView { name: "%x".into(), register, ty, values, written, next: false };
        rows(&view, LaneMask(0x5555_5555), Base::Natural, 86)
    }

    #[test]
    fn a_rule_is_said_in_one_row() {
        assert_eq!(shown(Type::U32, |_| 7), ["7 in every lane"]);
        assert_eq!(shown(Type::U32, |l| 8 + 4 * l), ["8, 12, 16, ..   = 8 + 4 * lane"]);
        assert_eq!(
            shown(Type::S32, |l| (5 - l as i64) as u32 as u64),
            ["5, 4, 3, ..   = 5 + -1 * lane"]
        );
        assert_eq!(shown(Type::U64, |l| l), ["0, 1, 2, ..   = lane"]);
        assert_eq!(
            shown(Type::U32, |l| if l % 2 == 0 { 4 } else { 4 * l }),
            ["4 in the 16 running lanes, 4 * lane in the others"]
        );
        assert_eq!(
            shown(Type::Pred, |l| l % 2),
            ["01010101 01010101 01010101 01010101   true in 16"]
        );
    }

    #[test]
    fn values_without_a_rule_make_a_grid() {
        let squares = shown(Type::U32, |l| l * l);
        assert_eq!(squares.len(), 2);
        assert_eq!(
            squares[0],
            " 0:   0   1   4   9  16  25  36  49  64  81 100 121 144 169 196 225"
        );
        assert_eq!(shown(Type::U32, |l| l % 3).len(), 1);
        assert_eq!(shown(Type::U32, |l| l * l * 123_456).len(), 4);
    }
}
