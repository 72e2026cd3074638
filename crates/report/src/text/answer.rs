//! An answer as a student reads it: question, answer, what the lanes did, the figures, what a real GPU did, who asks.

use super::Style;
use super::layout::{Page, clip};
use crate::answer::{Answer, Cell, FigureTable, Questions};
use crate::numbers::{grouped, real};

/// An answer, printed.
pub fn answer(answer: &Answer, style: Style) -> String {
    let mut page = Page::new(style);
    page.paragraph(&format!("{}: {}", answer.name, answer.question), "", "  ");
    page.line("");
    page.paragraph(&answer.short, "  ", "  ");
    for picture in &answer.pictures {
        page.heading(&picture.title);
        for line in &picture.lines {
            page.verbatim(&format!("  {}", clip(line, style.width.max(60).saturating_sub(2))));
        }
    }
    for table in &answer.tables {
        figures(&mut page, table);
    }
    if !answer.sentences.is_empty() {
        page.heading("What this shows");
        page.paragraph(&answer.sentences.join(" "), "  ", "  ");
    }
    if let Some(hardware) = &answer.hardware {
        page.heading("On a real GPU");
        page.paragraph(hardware.says, "  ", "  ");
        page.paragraph(&format!("({})", hardware.device), "  ", "  ");
    }
    page.heading("Asked and said");
    for source in answer.sources {
        page.paragraph(source.says, "  ", "  ");
        if source.place.starts_with("http") {
            page.verbatim(&format!("    {}", source.place));
        } else {
            page.paragraph(source.place, "    ", "    ");
        }
    }
    page.heading(match answer.programs.len() {
        1 => "Program (run as written: each PTX instruction is one issue)",
        _ => "Programs (run as written: each PTX instruction is one issue)",
    });
    for program in &answer.programs {
        page.line(&format!("  {program}"));
    }
    page.finish()
}

/// What can be asked, a line each.
pub fn questions(listed: &Questions, style: Style) -> String {
    let mut page = Page::new(style);
    let widest = listed.questions.iter().map(|q| q.name.len()).max().unwrap_or(0);
    let hang = " ".repeat(widest + 4);
    for q in &listed.questions {
        page.paragraph(q.question, &format!("  {:<widest$}  ", q.name), &hang);
    }
    page.line("");
    page.line("`simt-sim ask NAME` answers by experiment, `simt-sim ask --all` answers all.");
    page.finish()
}

/// One table of figures, under its title.
pub fn table_of(table: &FigureTable, style: Style) -> String {
    let mut page = Page::new(style);
    figures(&mut page, table);
    page.finish()
}

fn figures(page: &mut Page, table: &FigureTable) {
    page.heading(&table.title);
    let header: Vec<&str> = table.columns.iter().map(String::as_str).collect();
    let rows =
        table.rows.iter().map(|row| std::iter::once(row.name.clone()).chain(row.cells.iter().map(cell)).collect());
    page.table(&header, rows.collect(), &[0], None);
}

/// A figure for people.
fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Count(n) => grouped(*n),
        Cell::Real(x) => real(*x),
        Cell::Word(word) => word.clone(),
    }
}
