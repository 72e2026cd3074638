//! Topics of the quiz without an assignment, named after the experiments that continue them.

use super::figures::{self, Figure};
use super::{Dice, Question, families};
use simt_core::diag::closest;

/// A topic of the quiz.
pub struct Topic {
    /// Name: that of an experiment of `simt-sim ask`.
    pub name: &'static str,
    /// Quantity to predict.
    pub about: &'static str,
    kind: Kind,
}

enum Kind {
    /// Any number of randomly drawn questions.
    Drawn(fn(&mut Dice) -> Question<'static>),
    /// A fixed list of questions.
    Fixed(&'static [Figure]),
}

const fn drawn(
    name: &'static str,
    about: &'static str,
    draw: fn(&mut Dice) -> Question<'static>,
) -> Topic {
    Topic { name, about, kind: Kind::Drawn(draw) }
}

const fn fixed(name: &'static str, about: &'static str, figures: &'static [Figure]) -> Topic {
    Topic { name, about, kind: Kind::Fixed(figures) }
}

/// Every topic, in the order of a course.
pub const TOPICS: &[Topic] = &[
    drawn("same-path", "instructions of an if / else, by lanes per side", families::same_path),
    fixed("predication", "predication and the count of divergent branches", figures::PREDICATION),
    fixed("trip-counts", "a loop with a different trip count in each lane", figures::TRIP_COUNTS),
    drawn(
        "uniform-loop",
        "a loop with one trip count per group of threads",
        families::uniform_loop,
    ),
    fixed("break", "trips of a loop that lanes leave one by one", figures::BREAKS),
    fixed("nested", "the order of the leaves of nested ifs", figures::NESTED_IFS),
    fixed("stack-example", "the depth of the reconvergence stack", figures::STACKS),
    fixed("switch", "divergent branches in a chain of compares", figures::SWITCHES),
    drawn("k-paths", "instructions of several paths in one warp", families::k_paths),
    drawn("early-return", "instructions of a warp after an early return", families::early_return),
    fixed(
        "return-in-nested-if",
        "reconvergence after a return in a nested if",
        figures::NESTED_RETURN,
    ),
    drawn("picture-warps", "warps split by the border of an image", families::picture_warps),
    drawn("ragged-end", "warps at the end of a vector", families::ragged_end),
    drawn("warp-aligned", "warps with both heavy and light threads", families::warp_aligned),
    fixed("spin-lock", "a lock within a warp, before Volta and since", figures::LOCKS),
    fixed("barrier-after-return", "a barrier after some threads have returned", figures::BARRIERS),
    fixed("shuffle-after-exit", "a shuffle after some lanes have returned", figures::SHUFFLES),
    drawn("reductions", "divergent branches of the textbook reductions", families::reductions),
    drawn("coalescing", "sectors touched by a strided load", families::coalescing),
    fixed("memory-both-sides", "sectors loaded by both sides of a branch", figures::BOTH_SIDES),
    drawn(
        "bank-conflicts",
        "passes of a strided load from shared memory",
        families::bank_conflicts,
    ),
    fixed("latency-hiding", "issue slots used by a few warps", figures::LATENCY),
    fixed("divergent-latency", "cycles of two sides that both wait for memory", figures::TWO_SIDES),
    drawn("occupancy", "resident blocks of an SM", families::occupancy),
];

impl Topic {
    /// Number of questions, or `None` if they are drawn at random.
    pub const fn questions(&self) -> Option<usize> {
        match self.kind {
            Kind::Drawn(_) => None,
            Kind::Fixed(figures) => Some(figures.len()),
        }
    }

    /// Draws at most `count` distinct questions.
    pub fn draw(&self, count: usize, dice: &mut Dice) -> Vec<Question<'static>> {
        let mut questions: Vec<Question<'static>> = Vec::new();
        match self.kind {
            Kind::Fixed(figures) => questions
                .extend(figures.iter().take(count).map(|figure| figure.question(self.name))),
            Kind::Drawn(draw) => {
                // A family with few members runs out of new questions.
                for _ in 0..count.saturating_mul(20) {
                    let question = draw(dice);
                    if questions.iter().all(|known| known.text != question.text) {
                        questions.push(question);
                    }
                    if questions.len() >= count {
                        break;
                    }
                }
            }
        }
        questions
    }
}

/// Returns the topic named `name`.
pub fn find(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}

/// Returns the closest topic name to a misspelt `name`.
pub fn suggest(name: &str) -> Option<&'static str> {
    closest(name, TOPICS.iter().map(|topic| topic.name))
}

/// Draws from all topics. One question of each, then further ones from the random topics.
pub fn mixed(count: usize, dice: &mut Dice) -> Vec<Question<'static>> {
    let mut order: Vec<usize> = (0..TOPICS.len()).collect();
    dice.shuffle(&mut order);
    let topics: Vec<&Topic> = order.iter().filter_map(|&at| TOPICS.get(at)).collect();
    let mut questions = Vec::new();
    for topic in &topics {
        let mut some = topic.draw(topic.questions().unwrap_or(1), dice);
        let which = dice.below(some.len() as u64) as usize;
        if questions.len() < count && which < some.len() {
            questions.push(some.swap_remove(which));
        }
    }
    for topic in topics
        .iter()
        .filter(|topic| topic.questions().is_none())
        .cycle()
        .take(count.saturating_sub(questions.len()))
    {
        questions.extend(topic.draw(1, dice));
    }
    questions
}
