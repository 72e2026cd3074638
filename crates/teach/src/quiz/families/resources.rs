//! Sectors of global memory, banks of shared memory, resident blocks of an SM.

use crate::ask::programs::{SHARED_CONFLICTS, STRIDED_LOAD, VECTOR_ADD};
use crate::quiz::bench::{Setup, other};
use crate::quiz::pictures::{access, banks, sectors, slots};
use crate::quiz::{Dice, Question};
use simt_core::spec::{Machine, Mode};
use simt_report::numbers::grouped;

/// A load with a stride.
pub(in crate::quiz) fn coalescing(dice: &mut Dice) -> Question<'static> {
    let (stride, offset) =
        (dice.of(&[1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 12]), dice.of(&[0, 0, 1, 3, 4, 6, 8]));
    let setup = Setup::new(
        &STRIDED_LOAD,
        ("ld.param.u32 %stride", "ld.global.u32 %x"),
        [("stride", stride), ("offset", offset)],
    );
    let text = format!(
        "One warp loads 32 words of 4 bytes, {}, from word {offset} of an array that starts on a \
         sector boundary. Memory moves in sectors of 32 bytes. How many sectors does the load \
         touch?",
        if stride == 1 { "adjacent".to_owned() } else { format!("{stride} words apart") }
    );
    let hint = "A sector has eight words. In which sector is the word of lane 0, and in which that \
                of lane 31?";
    setup.question("coalescing", text, hint, |setup| {
        let (mut revealed, done) =
            setup.measure("gld_transactions", |done| Ok(done.loads()?.sectors))?;
        let load = done.loads()?;
        let (stride, offset) = (setup.get("stride"), setup.get("offset"));
        let watched = setup.watch(0)?;
        revealed.pictures.extend(
            access(&watched, "ld.global.u32 %x")
                .map(|load| sectors("Sectors touched by the load", load)),
        );
        let words = 31 * stride + 1;
        revealed.because = vec![
            format!(
                "{} request for {} bytes moves {} sectors, {} bytes.",
                load.requests,
                grouped(load.requested_bytes),
                load.sectors,
                grouped(load.sectors * 32)
            ),
            match offset % 8 {
                0 => format!("The access spans {words} words from the start of a sector."),
                within => format!("The access spans {words} words from word {within} of a sector."),
            },
        ];
        revealed.others = vec![
            other(32, "one per lane; lanes whose words lie in one sector share it"),
            other(load.requests, "the number of requests; one request moves several sectors"),
            other(
                words.div_ceil(8),
                "what the access would need if it started on a sector \
                                      boundary",
            ),
            other(4, "what 32 adjacent words need from the start of a sector"),
            other(load.sectors * 8, "the number of words moved"),
        ];
        Ok(revealed)
    })
}

/// A shared-memory load with a stride.
pub(in crate::quiz) fn bank_conflicts(dice: &mut Dice) -> Question<'static> {
    let stride =
        if dice.once_in(3) { dice.of(&[2, 4, 8, 16, 32, 64]) } else { dice.between(1, 60) };
    let setup = Setup::new(
        &SHARED_CONFLICTS,
        ("mul.lo.u32 %at", "ld.shared"),
        [("stride", stride), ("loads", 1)],
    );
    let text = format!(
        "Lane l of a warp reads word {stride} * l of shared memory, which has 32 banks: word w is \
         in bank w % 32. How many passes does the load take (1: no conflict)?"
    );
    let hint = "In which banks are the words of lanes 0, 1, 2, ..? After how many lanes does the first \
         bank repeat?";
    setup.question("bank-conflicts", text, hint, |setup| {
        let passes = |done: &crate::ask::lab::Done| done.count("shared_load_transactions");
        let (mut revealed, _) = setup.measure("shared_load_transactions", passes)?;
        let (stride, ways) = (setup.get("stride"), revealed.answer as u64);
        let watched = setup.watch(0)?;
        let load = access(&watched, "ld.shared.u32");
        revealed.pictures.extend(load.map(|load| banks("Words requested from each bank", load)));
        revealed.because = vec![match ways {
            1 => format!("{stride} has no common factor with 32, so the 32 words lie in 32 banks."),
            32 => "All 32 words lie in one bank, which delivers one word per pass.".to_owned(),
            _ => format!(
                "The 32 words lie in {} banks, {ways} in each, and a bank delivers one word per \
                 pass.",
                32 / ways.max(1)
            ),
        }];
        revealed.others = vec![
            other(stride, "the stride; only its common factor with 32 causes conflicts"),
            other(32 / ways.max(1), "the number of banks used"),
            other(32, "one per lane, which needs a stride that is a multiple of 32"),
            other(1, "no conflict, which needs an odd stride"),
        ];
        Ok(revealed)
    })
}

/// Resident blocks of an SM.
pub(in crate::quiz) fn occupancy(dice: &mut Dice) -> Question<'static> {
    let block = dice.of(&[
        32, 48, 64, 96, 100, 128, 160, 192, 250, 256, 320, 384, 448, 512, 640, 768, 1000, 1024,
    ]);
    let setup =
        Setup::new(&VECTOR_ADD, ("mov.u32 %t", "mov.u32 %t"), [("n", 8 * block), ("block", block)]);
    let spec = Machine::preset(Mode::Volta.default_machine());
    let (name, warps, blocks, threads) = spec.map_or((String::new(), 0, 0, 0), |spec| {
        (spec.name.clone(), spec.max_warps, spec.max_blocks, spec.max_threads)
    });
    let text = format!(
        "An SM of the {name} holds at most {warps} warps, {} threads and {blocks} blocks. \
         Registers and shared memory do not limit it here. How many blocks of {block} threads does \
         it hold at a time?",
        grouped(threads.into())
    );
    let mut question = setup.question(
        "occupancy",
        text,
        "How many warps is a block? A partial warp takes a whole slot.",
        move |setup| {
            let resident =
                |done: &crate::ask::lab::Done| Ok(done.report().launch.blocks_per_sm.into());
            let (mut revealed, done) = setup.measure("achieved_occupancy", resident)?;
            let block = setup.get("block").max(1);
            let (fits, each) = (done.report().launch.blocks_per_sm, block.div_ceil(32));
            let title = format!("The {warps} warp slots of an SM");
            revealed.pictures.push(slots(title, warps, fits, u32::try_from(each).unwrap_or(1)));
            revealed.because = vec![
                format!(
                    "A block is {each} warp{}; {fits} blocks take {} of {warps} warp slots.",
                    if each == 1 { "" } else { "s" },
                    u64::from(fits) * each
                ),
                format!("Limited by: {}.", done.report().launch.limited_by),
            ];
            revealed.others = vec![
                other(u64::from(threads) / block, "what the thread limit alone would allow"),
                other(u64::from(warps) / each, "what the warp limit alone would allow"),
                other(blocks.into(), "the block limit of the SM"),
                other(each, "the number of warps in a block"),
                other(u64::from(fits) * each, "the number of resident warps"),
            ];
            Ok(revealed)
        },
    );
    question.shown = None; // the answer does not depend on the text
    question
}
