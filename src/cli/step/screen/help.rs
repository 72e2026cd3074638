//! All keys, over the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Borders, Clear, Paragraph, Widget};

/// What the overlay says; docs/step.md has the same table.
const TEXT: &str = "\
Capital letters go back. A number in front of a key says how often: 10n, 10000C.

 n N  -> <-   the next instruction of this warp; back to the one before
 i I          the next issue of any warp of the SM
 c C          one cycle, whether anything is issued or not
 d D          until the lanes of this warp part at a branch
 j J          until lanes of this warp meet again
 b B          until the barrier: arrival of this warp, or release
 l L          until a source line is next for this warp (asks which)
 g            to a cycle (asks which)
 m            to the next divergence of the most divergent branch
 Home End     to the beginning, to the end of the run

 w W          the next warp of the block, the one before
 [ ] v        another block on this SM; v asks for a warp
 e u          change a register and go on from there; take it back
 r PgUp PgDn  choose registers; scroll them
 x            decimal or hexadecimal

 ==> runs next   . ready, another group runs   y yielded
 w waits for lanes at a join   b waits at the barrier   x ended
 pred. a branch that is predicated: it is not issued, its sides are guarded
 q quits. Any key closes this page.";

/// Draws the page in the middle.
pub(super) fn draw(area: Rect, buf: &mut Buffer) {
    let lines = TEXT.lines().count() as u16;
    let (width, height) = (area.width.min(82), area.height.min(lines + 2));
    let place = Rect::new((area.width - width) / 2, (area.height - height) / 2, width, height);
    Clear.render(place, buf);
    Paragraph::new(TEXT).block(Block::new().borders(Borders::ALL).title(" keys ")).render(place, buf);
}
