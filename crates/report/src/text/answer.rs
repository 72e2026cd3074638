//! The text of an answer.
//! Question, answer, lane pictures, figures, result on a real GPU, sources.

use super::Style;
use super::layout::{Page, clip};
use crate::answer::{Answer, Cell, FigureTable, Questions};
use crate::numbers::{grouped, real};

/// Prints an answer.
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
        page.heading("Conclusion");
        page.paragraph(&answer.sentences.join(" "), "  ", "  ");
    }
    if let Some(hardware) = &answer.hardware {
        page.heading("On a real GPU");
        page.paragraph(hardware.says, "  ", "  ");
        page.paragraph(&format!("({})", hardware.device), "  ", "  ");
    }
    page.heading("Sources");
    for source in answer.sources {
        page.paragraph(source.says, "  ", "  ");
        if source.place.starts_with("http") {
            page.verbatim(&format!("    {}", source.place));
        } else {
            page.paragraph(source.place, "    ", "    ");
        }
    }
    page.heading(match answer.programs.len() {
        1 => "Program (issued as written, one issue per PTX instruction)",
        _ => "Programs (issued as written, one issue per PTX instruction)",
    });
    for program in &answer.programs {
        page.line(&format!("  {program}"));
    }
    page.finish()
}

/// Lists the questions, one per line.
pub fn questions(listed: &Questions, style: Style) -> String {
    let mut page = Page::new(style);
    let widest = listed.questions.iter().map(|q| q.name.len()).max().unwrap_or(0);
    let hang = " ".repeat(widest + 4);
    for q in &listed.questions {
        page.paragraph(q.question, &format!("  {:<widest$}  ", q.name), &hang);
    }
    page.line("");
    page.line(
        "`simt-sim ask NAME` runs the experiment and answers, `simt-sim ask --all` answers all.",
    );
    page.finish()
}

/// Prints one table of figures under its title.
pub fn table_of(table: &FigureTable, style: Style) -> String {
    let mut page = Page::new(style);
    figures(&mut page, table);
    page.finish()
}

fn figures(page: &mut Page, table: &FigureTable) {
    page.heading(&table.title);
    let header: Vec<&str> = table.columns.iter().map(String::as_str).collect();
    let rows = table
        .rows
        .iter()
        .map(|row| std::iter::once(row.name.clone()).chain(row.cells.iter().map(cell)).collect());
    page.table(&header, rows.collect(), &[0], None);
}

/// Formats a figure for the table.
fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Count(n) => grouped(*n),
        Cell::Real(x) => real(*x),
        Cell::Word(word) => word.clone(),
    }
}
