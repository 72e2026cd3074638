//! What an access moves, and what fits: sectors of global memory, banks of shared memory, blocks on an SM.

use crate::ask::programs::{SHARED_CONFLICTS, STRIDED_LOAD, VECTOR_ADD};
use crate::quiz::bench::{Setup, other};
use crate::quiz::pictures::{access, banks, sectors, slots};
use crate::quiz::{Dice, Question};
use simt_core::spec::{MachineSpec, Mode};
use simt_report::numbers::grouped;

/// Words some way apart.
pub(in crate::quiz) fn coalescing(dice: &mut Dice) -> Question<'static> {
    let (stride, offset) = (dice.of(&[1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 12]), dice.of(&[0, 0, 1, 3, 4, 6, 8]));
    let setup = Setup::new(
        &STRIDED_LOAD,
        ("ld.param.u32 %stride", "ld.global.u32 %x"),
        [("stride", stride), ("offset", offset)],
    );
    let text = format!(
        "One warp loads 32 words of 4 bytes, {}, from word {offset} of an array that begins on a sector. Memory moves in sectors of 32 bytes. \
         How many sectors does the load touch?",
        if stride == 1 { "one beside the other".to_owned() } else { format!("{stride} words apart") }
    );
    let hint = "Eight words are a sector. In which sector is the word of lane 0, and in which that of lane 31?";
    setup.question("coalescing", text, hint, |setup| {
        let (mut revealed, done) = setup.measure("gld_transactions", |done| Ok(done.loads()?.sectors))?;
        let load = done.loads()?;
        let (stride, offset) = (setup.get("stride"), setup.get("offset"));
        let watched = setup.watch(0)?;
        revealed
            .pictures
            .extend(access(&watched, "ld.global.u32 %x").map(|load| sectors("What the load touches", load)));
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
                0 => format!("The words span {words} words from the start of a sector on."),
                within => format!("The words span {words} words from word {within} of a sector on."),
            },
        ];
        revealed.others = vec![
            other(32, "one for each lane: lanes whose words lie in one sector share it"),
            other(load.requests, "the number of requests: one moves several sectors"),
            other(words.div_ceil(8), "what the words would span from the start of a sector on"),
            other(4, "what 32 neighbouring words need from the start of a sector on"),
            other(load.sectors * 8, "the number of words moved"),
        ];
        Ok(revealed)
    })
}

/// Words of shared memory some way apart.
pub(in crate::quiz) fn bank_conflicts(dice: &mut Dice) -> Question<'static> {
    let stride = if dice.once_in(3) { dice.of(&[2, 4, 8, 16, 32, 64]) } else { dice.between(1, 60) };
    let setup = Setup::new(&SHARED_CONFLICTS, ("mul.lo.u32 %at", "ld.shared"), [("stride", stride), ("loads", 1)]);
    let text = format!(
        "Lane l of a warp reads word {stride} * l of shared memory, which has 32 banks: word w is in bank w % 32. How many passes does the \
         load take (1: no conflict)?"
    );
    let hint =
        "In which banks are the words of lanes 0, 1, 2, ..? After how many lanes does the first bank come again?";
    setup.question("bank-conflicts", text, hint, |setup| {
        let passes = |done: &crate::ask::lab::Done| done.count("shared_load_transactions");
        let (mut revealed, _) = setup.measure("shared_load_transactions", passes)?;
        let (stride, ways) = (setup.get("stride"), revealed.answer as u64);
        let watched = setup.watch(0)?;
        let load = access(&watched, "ld.shared.u32");
        revealed.pictures.extend(load.map(|load| banks("What the lanes want of each bank", load)));
        revealed.because = vec![match ways {
            1 => format!("{stride} has no factor in common with 32, so the 32 words lie in 32 banks."),
            32 => "All 32 words lie in one bank, which gives one word a pass.".to_owned(),
            _ => format!(
                "The 32 words lie in {} banks, {ways} in each, and a bank gives one word a pass.",
                32 / ways.max(1)
            ),
        }];
        revealed.others = vec![
            other(stride, "the stride: only what it has in common with 32 makes conflicts"),
            other(32 / ways.max(1), "the number of banks that are used"),
            other(32, "one for each lane, which takes a stride of a multiple of 32"),
            other(1, "no conflict, which takes an odd stride"),
        ];
        Ok(revealed)
    })
}

/// Blocks on an SM.
pub(in crate::quiz) fn occupancy(dice: &mut Dice) -> Question<'static> {
    let block = dice.of(&[32, 48, 64, 96, 100, 128, 160, 192, 250, 256, 320, 384, 448, 512, 640, 768, 1000, 1024]);
    let setup = Setup::new(&VECTOR_ADD, ("mov.u32 %t", "mov.u32 %t"), [("n", 8 * block), ("block", block)]);
    let spec = MachineSpec::preset_text(Mode::Volta.default_machine()).and_then(|text| MachineSpec::parse(text).ok());
    let (name, warps, blocks, threads) =
        spec.map_or((String::new(), 0, 0, 0), |spec| (spec.name, spec.max_warps, spec.max_blocks, spec.max_threads));
    let text = format!(
        "An SM of the {name} holds at most {warps} warps, {} threads and {blocks} blocks. Registers and shared memory are plentiful here. How \
         many blocks of {block} threads does it hold at a time?",
        grouped(threads.into())
    );
    let mut question = setup.question(
        "occupancy",
        text,
        "How many warps is a block? A part of a warp takes a whole one.",
        move |setup| {
            let resident = |done: &crate::ask::lab::Done| Ok(done.report().launch.blocks_per_sm.into());
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
                format!("What runs out first: {}.", done.report().launch.limited_by),
            ];
            revealed.others = vec![
                other(u64::from(threads) / block, "what the threads alone would allow"),
                other(u64::from(warps) / each, "what the warps alone would allow"),
                other(blocks.into(), "the most blocks of any size"),
                other(each, "the number of warps in a block"),
                other(u64::from(fits) * each, "the number of warps that are resident then"),
            ];
            Ok(revealed)
        },
    );
    question.shown = None; // nothing in the program decides
    question
}
