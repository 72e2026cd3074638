//! The screen: a pure function of the state and a size.
//!
//! The screen is readable without colour: states are letters and words, marks are signs. Colour and
//! weight only repeat them.

mod help;
mod memory;
mod registers;
mod schedulers;
mod source;
mod warp;

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph, Widget};
use simt_core::debug::{Happening, StepNote, View};
use simt_core::event::Stall;
use simt_report::timeline::quoted_text;

use super::app::App;

/// Smallest usable size, in columns and rows.
const LEAST: (u16, u16) = (80, 24);

/// A panel: title and lines.
struct Panel {
    title: String,
    lines: Vec<Line<'static>>,
}

/// Draws the state.
pub(crate) fn draw(app: &App<'_>, area: Rect, buf: &mut Buffer) {
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let text = format!(
            "the stepper needs {} x {} characters, found {} x {}",
            LEAST.0, LEAST.1, area.width, area.height
        );
        return Paragraph::new(text).render(area, buf);
    }
    let view = app.view();
    let [head, top, registers, bottom, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(5),
        Constraint::Fill(4),
        Constraint::Length(if area.height < 40 { 7 } else { 10 }),
        Constraint::Length(3),
    ])
    .areas(area);
    let right = (area.width * 21 / 50).clamp(38, 60);
    let [source, _, warp] =
        Layout::horizontal([Constraint::Fill(1), Constraint::Length(1), Constraint::Length(right)])
            .areas(top);
    let [schedulers, _, memory] =
        Layout::horizontal([Constraint::Fill(1), Constraint::Length(1), Constraint::Length(right)])
            .areas(bottom);
    Paragraph::new(title(app, &view))
        .style(Style::new().add_modifier(Modifier::REVERSED))
        .render(head, buf);
    panel(source::panel(app, &view, inner(source)), source, buf);
    panel(warp::panel(app, &view, inner(warp)), warp, buf);
    panel(registers::panel(app, &view, inner(registers)), registers, buf);
    panel(schedulers::panel(app, &view, inner(schedulers)), schedulers, buf);
    panel(memory::panel(app, &view, inner(memory)), memory, buf);
    Paragraph::new(feet(app, &view, foot.width)).render(foot, buf);
    if app.help {
        help::draw(area, buf);
    }
}

/// Draws the screen as text, for scripts and tests.
pub(crate) fn text(app: &App<'_>, width: u16, height: u16) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    draw(app, area, &mut buf);
    let row = |y: u16| -> String {
        let cells = (0..width).filter_map(|x| buf.cell((x, y)));
        cells.map(ratatui::buffer::Cell::symbol).collect::<String>().trim_end().to_string() + "\n"
    };
    (0..height).map(row).collect()
}

/// Columns and rows inside a panel, below its title.
fn inner(area: Rect) -> (usize, usize) {
    (area.width.into(), usize::from(area.height).saturating_sub(1))
}

fn panel(panel: Panel, area: Rect, buf: &mut Buffer) {
    let title = format!(" {} ", clip(&panel.title, usize::from(area.width).saturating_sub(4)));
    let title = Span::styled(title, Style::new().add_modifier(Modifier::BOLD));
    let block = Block::new().borders(Borders::TOP).title(Line::from(vec![Span::raw("─"), title]));
    Paragraph::new(panel.lines).block(block).render(area, buf);
}

fn title(app: &App<'_>, view: &View) -> String {
    let warp = format!("block {}, warp {}", view.focus.block.0, view.focus.warp);
    format!(
        " cycle {}   {warp} of {}   {}   {}, {}",
        view.clock, view.extent.1, view.sm, app.facts.file, app.facts.how
    )
}

/// Draws the last step, the message or prompt, and the keys.
fn feet(app: &App<'_>, view: &View, width: u16) -> Vec<Line<'static>> {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let width = usize::from(width);
    let done = match (&app.ending(), &view.last) {
        (Some(end), _) => format!(" THE END: {end}"),
        (None, Some(last)) => format!(" {}", told(app, last)),
        (None, None) => " before the first instruction".to_string(),
    };
    let (done, rest) = broken(&done, width);
    let second = match (&app.prompt, app.count) {
        (Some(prompt), _) => {
            let typed = format!(" {} {}_", prompt.ask.question(), prompt.text);
            Line::from(Span::styled(typed, bold))
        }
        (None, Some(count)) => Line::from(format!(" {count} .. (repeat count: press a key)")),
        (None, None) if app.is_running() => Line::from(" running; press any key to stop"),
        (None, None) if app.message.is_empty() => {
            Line::from(format!(" {}", clip(rest, width.saturating_sub(1))))
        }
        (None, None) => Line::from(Span::styled(
            format!(" {}", clip(&app.message, width.saturating_sub(1))),
            bold,
        )),
    };
    let keys = keys(width);
    let keys =
        Span::styled(format!("{keys:<width$}"), Style::new().add_modifier(Modifier::REVERSED));
    vec![Line::from(done.to_string()), second, Line::from(keys)]
}

/// Returns the line of keys: those that fit, and the help.
fn keys(width: usize) -> String {
    const KEYS: [&str; 9] = [
        "n next",
        "N back",
        "c cycle",
        "d divergence",
        "j join",
        "b barrier",
        "l line",
        "m worst branch",
        "w warp",
    ];
    const HELP: &str = "  ? help";
    let mut line = String::new();
    for key in KEYS {
        if 2 + line.len() + key.len() + HELP.len() <= width {
            line += if line.is_empty() { " " } else { "  " };
            line += key;
        }
    }
    line + HELP
}

/// Splits a text so that the first part fits a row.
fn broken(text: &str, width: usize) -> (&str, &str) {
    if text.chars().count() <= width {
        return (text, "");
    }
    let fits = text
        .char_indices()
        .take(width + 1)
        .filter(|(_, c)| *c == ' ')
        .last()
        .map_or(0, |(at, _)| at);
    let (first, rest) = text.split_at(fits);
    (first, rest.trim_start())
}

/// Describes an issued step.
fn told(app: &App<'_>, note: &StepNote) -> String {
    let place = app.facts.place(note.pc, app.line(note.pc));
    let what = app.facts.compiled(note.pc).map_or_else(String::new, |text| format!(", `{text}`,"));
    let who = format!(
        "cycle {}: block {} warp {} issued {place}{what}",
        note.cycle, note.block.0, note.warp
    );
    let lanes = match (note.lanes.count(), note.active.count()) {
        (on, active) if on == active => format!("for {on} lane{}", if on == 1 { "" } else { "s" }),
        (on, active) => format!("for {on} of {active} active lanes"),
    };
    let mut text = format!("{who} {lanes}");
    if let Some(taken) = note.taken.filter(|_| note.diverges()) {
        text = format!(
            "{who}: diverged: {} taken, {} fall through",
            taken.count(),
            (note.active - taken).count()
        );
    }
    if let Some(would) = app.facts.would_branch(note.pc, note.active, note.lanes) {
        text += &format!("; {would}");
    }
    if let Some(met) = note.met {
        text += &format!("; reconverged: {} lanes", met.count());
    }
    if note.arrived {
        text += "; arrived at the barrier";
    }
    if note.released > 0 {
        text += &format!("; the barrier releases {} warps", note.released);
    }
    for (lane, printed) in &note.printed {
        text += &format!("; lane {lane} prints {}", quoted_text(printed));
    }
    text
}

/// Describes an event in a few words.
fn remark(app: &App<'_>, what: Happening) -> String {
    match what {
        Happening::Diverged { pc, taken, others } => {
            format!("diverged at line {}: {}/{}", app.line(pc), taken.count(), others.count())
        }
        Happening::Met { lanes, .. } => format!("{} lanes reconverged", lanes.count()),
        Happening::Arrived { pc } => format!("at the barrier of line {}", app.line(pc)),
        Happening::Released { warps } => format!("the barrier releases {warps} warps"),
        Happening::WarpEnded => "exits".to_string(),
        Happening::BlockEnded => "the block ends".to_string(),
        Happening::BlockStarted => "the block starts".to_string(),
        Happening::Changed { lanes } => format!("registers of lanes {} changed", lanes.list()),
    }
}

/// Names the cause of a stall in plain words.
fn reason(stall: Stall) -> &'static str {
    match stall {
        Stall::Wait => "a result",
        Stall::ShortScoreboard => "shared memory",
        Stall::LongScoreboard => "memory",
        Stall::Barrier => "the barrier",
        Stall::Membar => "a fence",
        Stall::BranchResolving => "a branch",
        Stall::MathPipeThrottle => "a busy unit",
        Stall::MioThrottle | Stall::LgThrottle | Stall::TexThrottle => "a full queue",
        Stall::NotSelected => "its turn",
        Stall::Sleeping => "sleeping",
        Stall::Blocked => "its own lanes",
        Stall::Drain => "its stores",
        Stall::NoInstruction => "its instruction",
        Stall::ImcMiss => "constants",
        Stall::DispatchStall => "the register file",
    }
}

/// Cuts a text to a width, with two dots at the cut.
fn clip(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_string();
    }
    let kept: String = text.chars().take(width.saturating_sub(2)).collect();
    kept + ".."
}
