//! Questions about figures of `simt-sim ask`: each names an experiment, a row and a column; the
//! answer is that cell of the experiment, measured anew.

use super::excerpt::excerpt;
use super::{AskError, ESTIMATE, EXACT, Other, Question, Revealed};
use crate::ask::programs::{
    BARRIER_AFTER_EXIT, BREAK, EARLY_RETURN_NESTED, FOR_TID, IF_ELSE_PREDICATED, LOAD_BOTH_SIDES,
    LOAD_CHAIN, MEMORY_SIDES, NESTED, NESTED_FOUR, SHUFFLE_AFTER_EXIT, SPIN_LOCK, SWITCH,
};
use crate::ask::{self, Bundled};
use simt_report::{Cell, FigureTable};

/// A question about a figure of an experiment.
pub(super) struct Figure {
    text: &'static str,
    row: &'static str,
    column: &'static str,
    hint: &'static str,
    /// Argument of `simt-sim explain`.
    explain: &'static str,
    /// Program, and first and last line of the excerpt.
    shown: (&'static Bundled, &'static str, &'static str),
    /// Tolerance of a prediction: 0 for counts, positive for estimates of the model.
    within: f64,
}

/// Creates a question about a count.
const fn count(
    text: &'static str,
    (row, column): (&'static str, &'static str),
    hint: &'static str,
    explain: &'static str,
    shown: (&'static Bundled, &'static str, &'static str),
) -> Figure {
    Figure { text, row, column, hint, explain, shown, within: 0.0 }
}

pub(super) const TRIP_COUNTS: &[Figure] = &[
    count(
        "for (i = 0; i < threadIdx.x; i++), in one warp of 32 lanes: how many times does the warp \
         issue the body (line `%count + 1`)?",
        ("volta", "body issues"),
        "Lane 0 makes 0 trips, lane 31 makes 31. For which lane does the warp stay in the loop?",
        "divergent_branch",
        (&FOR_TID, "mov.u32 %i, 0", "bra Head"),
    ),
    count(
        "for (i = 0; i < threadIdx.x; i++), in one warp of 32 lanes: what percentage of the lane \
         slots (issues of the body x 32) does work? (within 1)",
        ("volta", "efficiency %"),
        "The trips of all lanes, divided by the issues times 32.",
        "warp_execution_efficiency",
        (&FOR_TID, "mov.u32 %i, 0", "bra Head"),
    )
    .near(1.0),
];

pub(super) const PREDICATION: &[Figure] = &[count(
    "The guards @%p and @!%p switch lanes off instead of a branch; 16 of 32 lanes have %p. How \
     many divergent branches does a profiler count?",
    ("16 of 32", "divergent, predicated"),
    "A profiler counts branches that some lanes take and others do not.",
    "divergent_branch",
    (&IF_ELSE_PREDICATED, "setp.lt.u32", "st.global"),
)];

pub(super) const NESTED_IFS: &[Figure] = &[count(
    "Four leaves of eight lanes each. On Volta, in which position (1 to 4) do the lanes with both \
     bits 0 (leaf 00) run?",
    ("00", "place, volta"),
    "If both sides have the same number of lanes, the H200 runs the fall-through side first.",
    "masked-off",
    (&NESTED, "@%outer bra", "bra ZeroZero"),
)];

pub(super) const SWITCHES: &[Figure] = &[count(
    "switch (lane % 4) as a chain of compares, one warp: how many of the three branches split the \
     warp?",
    ("volta", "divergent"),
    "Which lanes are left at the second compare, and at the third?",
    "divergent_branch",
    (&SWITCH, "and.b32 %case", "Case0:"),
)];

pub(super) const BREAKS: &[Figure] = &[count(
    "for (k = 0; k < 64; k++) { if (k * k > lane) break; }, one warp of 32 lanes: how many trips \
     does the warp make, including the last one, in which lanes only break?",
    ("volta", "trips issued"),
    "In which trip does lane 31 break?",
    "divergent_branch",
    (&BREAK, "mov.u32 %k, 0", "bra Loop"),
)];

pub(super) const STACKS: &[Figure] = &[count(
    "Before Volta a warp keeps a reconvergence stack; it has one entry while all lanes are \
     together. Three nested ifs each split the warp. How many entries are on the stack inside the \
     innermost?",
    ("3", "entries on the stack"),
    "An entry is pushed for the side that runs; the entry below it waits for that side.",
    "masked-off",
    (&NESTED_FOUR, "setp.eq.u32 %p1", "@%p3 bra"),
)];

pub(super) const NESTED_RETURN: &[Figure] = &[count(
    "if (lane & 1) { if (lane & 2) return; X } Y: how many times does the warp issue Y (the load \
     of [y])?",
    ("volta", "times Y is issued"),
    "Do the lanes of X wait for those that have returned? Do the even lanes wait for X?",
    "divergent_branch",
    (&EARLY_RETURN_NESTED, "setp", "[y]"),
)];

pub(super) const LOCKS: &[Figure] = &[
    count(
        "while (atomicCAS(&lock, 0, 1) != 0); by 32 lanes of one warp, before Volta: how many \
         lanes get through the critical section?",
        ("pre-volta", "critical sections"),
        "One lane gets the lock and leaves the loop. For which lanes does it wait there?",
        "livelock",
        (&SPIN_LOCK, "Spin:", "atom.global.exch"),
    ),
    count(
        "while (atomicCAS(&lock, 0, 1) != 0); by 32 lanes of one warp, since Volta: every lane \
         gets through, one at a time, lane 0 first. How many failed attempts has lane 31 made by \
         the end?",
        ("volta", "failed tries of lane 31"),
        "Each time the losers retry, one of them wins.",
        "livelock",
        (&SPIN_LOCK, "Spin:", "atom.global.exch"),
    ),
];

pub(super) const BARRIERS: &[Figure] = &[count(
    "A block of two warps: odd threads return, even ones write, reach __syncthreads() and read the \
     value written by the same lane of the other warp. How many threads read it?",
    ("volta", "threads that read their partner"),
    "Does a barrier wait for exited threads?",
    "deadlock",
    (&BARRIER_AFTER_EXIT, "and.b32 %bit", "ld.shared"),
)];

pub(super) const SHUFFLES: &[Figure] = &[count(
    "Lanes 16 to 31 return; then __shfl_xor_sync with the full mask 0xffffffff. How many of the \
     remaining lanes get their partner's value?",
    ("volta", "of them with their partner's value"),
    "lane ^ 1 of a lane below 16 is below 16. Does the shuffle wait for the others?",
    "mask-ended-lane",
    (&SHUFFLE_AFTER_EXIT, "setp", "shfl"),
)];

pub(super) const BOTH_SIDES: &[Figure] = &[count(
    "32 lanes read 32 adjacent words of 4 bytes, even lanes in one side of a branch and odd lanes \
     in the other. How many 32-byte sectors do both loads request together?",
    ("a load in each side", "sectors, volta"),
    "How many sectors hold a word of an even lane?",
    "gld_transactions",
    (&LOAD_BOTH_SIDES, "@%odd bra", "Join:"),
)];

pub(super) const LATENCY: &[Figure] = &[count(
    "One scheduler; each warp repeats a load of 9 cycles and one other instruction, and needs the \
     load's result for the next one. What percentage of the issue slots do four warps use? (within \
     5)",
    ("4", "slots used %"),
    "One warp issues two instructions every 9 cycles and a bit.",
    "issue_slot_utilization",
    (&LOAD_CHAIN, "ld.shared", "add.u32"),
)
.near(5.0)];

pub(super) const TWO_SIDES: &[Figure] = &[count(
    "Two sides of a branch, each a chain of 16 dependent loads from DRAM. Either side alone takes \
     about 10,500 cycles on the H200. How many do both take if half of the warp takes each side? \
     (within 2,000)",
    ("volta", "both sides"),
    "While one side waits for its load, may the other run?",
    "long_scoreboard",
    (&MEMORY_SIDES, "OddHop:", "bra OddHop"),
)
.near(2000.0)];

impl Figure {
    /// Sets the tolerance.
    const fn near(mut self, within: f64) -> Figure {
        self.within = within;
        self
    }

    /// Builds the question, named after its experiment.
    pub(super) fn question(&'static self, experiment: &'static str) -> Question<'static> {
        let (program, from, to) = self.shown;
        let shown = excerpt(program.path, program.text, from, to);
        Question {
            name: experiment.to_owned(),
            text: self.text.to_owned(),
            shown: shown.map(|excerpt| excerpt.picture),
            within: self.within,
            hint: self.hint.to_owned(),
            drawn: Default::default(),
            answer: Box::new(move || self.reveal(experiment)),
        }
    }

    fn reveal(&self, experiment: &'static str) -> Result<Revealed, AskError> {
        let missing = || AskError::Missing {
            program: experiment.to_owned(),
            what: format!("figure in row `{}`, column `{}`", self.row, self.column),
        };
        let answer = ask::find(experiment).ok_or_else(missing)?.answer()?;
        let has = |table: &&FigureTable| {
            table.cell(self.row, self.column).is_some_and(|cell| number(cell).is_some())
        };
        let table = answer.tables.iter().find(has).ok_or_else(missing)?;
        let figure = table.cell(self.row, self.column).and_then(number).ok_or_else(missing)?;
        let others = table.columns.iter().skip(1).filter(|column| **column != self.column);
        let others = others.filter_map(|column| {
            let value = table.cell(self.row, column).and_then(number)?;
            Some(Other { value, what: format!("the figure \"{column}\" of the same row") })
        });
        Ok(Revealed {
            answer: figure,
            is_stated: false,
            measured: format!(
                "row \"{}\", column \"{}\" of the table above, run now",
                self.row, self.column
            ),
            pictures: answer.pictures.iter().take(1).cloned().collect(),
            others: others.collect(),
            table: Some(table.clone()),
            because: vec![answer.short.clone()],
            trust: if self.within > 1.0 { ESTIMATE } else { EXACT }.to_owned(),
            read_on: vec![
                format!("simt-sim ask {experiment}"),
                format!("simt-sim explain {}", self.explain),
            ],
        })
    }
}

fn number(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Count(n) => Some(*n as f64),
        Cell::Real(x) => Some(*x),
        Cell::Word(word) => word.replace(',', "").parse().ok(),
    }
}
