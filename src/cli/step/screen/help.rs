//! The help page, over the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Borders, Clear, Paragraph, Widget};

/// Text of the help page; docs/step.md has the same table.
const TEXT: &str = "\
Capital letters go back. A number before a key repeats it: 10n, 10000C.

 n N  -> <-   the next instruction of this warp; back to the one before
 i I          the next issue of any warp of the SM
 c C          one cycle, with or without an issue
 d D          until this warp diverges at a branch
 j J          until lanes of this warp reconverge
 b B          until the barrier: arrival of this warp, or release
 l L          until a source line is next for this warp (asks which)
 g            to a cycle (asks which)
 m            to the next divergence of the most divergent branch
 Home End     to the beginning, to the end of the run

 w W          the next warp of the block, the one before
 [ ] v        another block on this SM; v asks for a warp
 e u          change a register and continue from there; undo the change
 r PgUp PgDn  choose registers; scroll them
 x            decimal or hexadecimal

 ==> runs next   . ready, another group runs   y yielded
 w waits for lanes at a join   b waits at the barrier   x exited
 pred. a predicated branch: guarded instructions are issued in its place
 q quits. Any key closes this page.";

/// Draws the page centred.
pub(super) fn draw(area: Rect, buf: &mut Buffer) {
    let lines = TEXT.lines().count() as u16;
    let (width, height) = (area.width.min(82), area.height.min(lines + 2));
    let place = Rect::new((area.width - width) / 2, (area.height - height) / 2, width, height);
    Clear.render(place, buf);
    Paragraph::new(TEXT)
        .block(Block::new().borders(Borders::ALL).title(" keys "))
        .render(place, buf);
}
