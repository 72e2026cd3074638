//! Warps split by a condition. A warp diverges if its own 32 threads disagree, whatever the others
//! do.

use crate::ask::lab::Done;
use crate::ask::programs::{PICTURE, SQUARE_WAVE, VECTOR_ADD};
use crate::quiz::bench::{Setup, issued, other, split};
use crate::quiz::pictures::in_each_warp;
use crate::quiz::{AskError, Dice, Question, Revealed};
use simt_report::numbers::grouped;

/// Threads per warp on the machines that answer.
const WARP: u64 = 32;
/// Lines of the bounds check and of the code it guards.
const CHECK: (&str, &str) = ("ld.param.u32 %n, [n]", "add.u32 %x, %x, %y");
const HINT: &str = "A warp is 32 consecutive threads. It diverges if some of them take the branch \
                    and some do not.";

/// `if (i < n)` at the end of a vector.
pub(in crate::quiz) fn ragged_end(dice: &mut Dice) -> Question<'static> {
    let block = dice.of(&[64, 96, 128, 192, 256, 512]);
    let n = if dice.once_in(4) { WARP * dice.between(4, 60) } else { dice.between(100, 2000) };
    let setup = Setup::new(&VECTOR_ADD, CHECK, [("n", n), ("block", block)]);
    let given = format!(
        "c[i] = a[i] + b[i] for n = {} elements, one thread per element, in blocks of {block} \
         threads; the grid covers all elements.",
        grouped(n)
    );
    if dice.once_in(2) {
        let text = format!("{given} How many warps diverge at the bounds check?");
        setup.question("ragged-end", text, HINT, |setup| {
            bounds_check(setup, |done| split(done, "bra End").divergent)
        })
    } else {
        let text = format!("{given} How many warps issue the addition?");
        let hint = "A warp issues an instruction if at least one of its lanes is active.";
        setup.question("ragged-end", text, hint, |setup| {
            bounds_check(setup, |done| issued(done, "add.u32 %x"))
        })
    }
}

fn bounds_check(setup: &Setup, count: fn(&Done) -> u64) -> Result<Revealed, AskError> {
    let (mut revealed, done) = setup.measure("divergent_branch", |done| Ok(count(done)))?;
    let check = split(&done, "bra End");
    let adds = issued(&done, "add.u32 %x");
    let (n, block) = (setup.get("n"), setup.get("block").max(1));
    let blocks = n.div_ceil(block);
    revealed.pictures.push(in_each_warp(
        format!("The bounds check in the last block, block {}", blocks.saturating_sub(1)),
        &setup.watch(u32::try_from(blocks.saturating_sub(1)).unwrap_or(0))?,
        "bra End",
        "# returns   - stays",
    ));
    revealed.because = vec![
        format!(
            "{} warps execute the check: {} with all threads below n, {} with none, and {} with \
             both, which diverges.",
            grouped(check.executed),
            grouped(adds.saturating_sub(check.divergent)),
            grouped(check.executed.saturating_sub(adds)),
            check.divergent
        ),
        match n % WARP {
            0 => format!(
                "{} is a multiple of 32, so the end of the data falls between two warps.",
                grouped(n)
            ),
            rest => format!(
                "{} = 32 x {} + {rest}, so one warp has {rest} threads in range.",
                grouped(n),
                n / WARP
            ),
        },
    ];
    revealed.others = vec![
        other(check.executed, "the number of warps launched: all of them execute the check"),
        other(adds, "the number of warps that issue the addition"),
        other(
            check.executed.saturating_sub(adds),
            "the number of warps that return as a whole, \
            which do not diverge",
        ),
        other(check.divergent, "the number of warps that diverge"),
        other(blocks * block - n, "the number of threads past the end"),
        other(n % WARP, "the number of threads in range in the last warp that has any"),
        other(blocks, "the number of blocks"),
        other(block / WARP, "the number of warps in a block"),
    ];
    Ok(revealed)
}

/// `if (x < width && y < height)` in blocks of 16 x 16.
pub(in crate::quiz) fn picture_warps(dice: &mut Dice) -> Question<'static> {
    let mut size = |least, most| {
        let drawn = dice.between(least, most);
        if dice.once_in(4) { drawn.next_multiple_of(16) } else { drawn }
    };
    let (width, height) = (size(20, 120), size(17, 80));
    let setup = Setup::new(
        &PICTURE,
        ("setp.ge.u32 %out, %x", "st.global"),
        [("width", width), ("height", height)],
    );
    let text = format!(
        "An image {width} pixels wide and {height} high, blocks of 16 x 16 threads, one thread per \
         pixel; the grid covers the image. How many warps diverge at the border check?"
    );
    let hint = "A warp of a block 16 wide is two rows of 16 threads. Look at the right edge, then \
                at the bottom edge.";
    setup.question("picture-warps", text, hint, |setup| {
        let (mut revealed, done) = setup.measure("divergent_branch", |done| Ok(split(done, "bra End").divergent))?;
        let check = split(&done, "bra End");
        let (width, height) = (setup.get("width"), setup.get("height"));
        let (across, down) = (width.div_ceil(16), height.div_ceil(16));
        let corner = (across * down).saturating_sub(1);
        revealed.pictures.push(in_each_warp(
            format!("The border check in the last block: from column {}, row {}", 16 * (across - 1), 16 * (down - 1)),
            &setup.watch(u32::try_from(corner).unwrap_or(0))?,
            "bra End",
            "# returns   - stays; 16 lanes per row of the block",
        ));
        let inside = issued(&done, "add.u32 %value");
        revealed.because = vec![
            format!(
                "{} x {} blocks are {} warps: {} with all pixels inside, {} with none, {} with both.",
                across,
                down,
                grouped(check.executed),
                grouped(inside.saturating_sub(check.divergent)),
                grouped(check.executed.saturating_sub(inside)),
                check.divergent
            ),
            match width % 16 {
                0 => "The width is a multiple of 16: the right edge cuts no row.".to_owned(),
                rest => format!(
                    "The right edge leaves {rest} of 16 columns in the last blocks: it cuts every \
                     warp there that has a row inside."
                ),
            },
            match height % 2 {
                0 => "The height is even: the bottom edge falls between two warps.".to_owned(),
                _ => {
                    "The height is odd: the bottom edge falls inside a warp, once in each column of blocks.".to_owned()
                }
            },
        ];
        revealed.others = vec![
            other(check.executed, "the number of warps launched"),
            other(inside, "the number of warps with a pixel inside"),
            other(check.executed.saturating_sub(inside), "the number of warps entirely outside, whose lanes agree"),
            other(down * 8, "all warps of the last column of blocks; those below the image do not diverge"),
            other(across * down, "the number of blocks"),
            other(across * 8, "all warps of the last row of blocks"),
        ];
        Ok(revealed)
    })
}

/// Alternating heavy and light threads.
pub(in crate::quiz) fn warp_aligned(dice: &mut Dice) -> Question<'static> {
    let period = if dice.once_in(3) { WARP * dice.between(1, 4) } else { dice.between(8, 150) };
    let heavy = if dice.once_in(3) { (period / 2).max(1) } else { dice.between(1, period - 1) };
    let (block, blocks) = (dice.of(&[64, 128, 256]), dice.between(1, 2));
    let set = [("period", period), ("heavy", heavy), ("block", block), ("blocks", blocks)];
    let setup = Setup::new(&SQUARE_WAVE, ("rem.u32 %phase", "Join:"), set);
    let text = format!(
        "{blocks} block{} of {block} threads, numbered consecutively. Of every {period} threads \
         the first {heavy} have heavy work, the others light work. How many warps diverge at that \
         branch?",
        if blocks == 1 { "" } else { "s" }
    );
    let hint = "Write down the first thread of each warp, modulo the period. Does a boundary lie \
                within the next 31 threads?";
    setup.question("warp-aligned", text, hint, |setup| {
        let (mut revealed, done) =
            setup.measure("divergent_branch", |done| Ok(split(done, "bra Light").divergent))?;
        let fork = split(&done, "bra Light");
        let heavy = issued(&done, "mov.u32 %left, 16");
        revealed.pictures.push(in_each_warp(
            "The branch on heavy or light, in block 0",
            &setup.watch(0)?,
            "bra Light",
            "# light   - heavy",
        ));
        revealed.because = vec![
            format!(
                "Of {} warps {} are all heavy, {} all light, {} mixed.",
                fork.executed,
                heavy.saturating_sub(fork.divergent),
                fork.executed.saturating_sub(heavy),
                fork.divergent
            ),
            format!(
                "{heavy} warps take the time of the heavy work: a mixed warp executes the heavy \
                 lanes, then the light ones.",
            ),
        ];
        revealed.others = vec![
            other(fork.executed, "the number of warps launched"),
            other(heavy, "the number of warps with a heavy thread, including the all-heavy ones"),
            other(fork.executed.saturating_sub(heavy), "the number of warps that are all light"),
            other(heavy.saturating_sub(fork.divergent), "the number of warps that are all heavy"),
        ];
        Ok(revealed)
    })
}
