//! What can be asked without an assignment: topics under the names of the experiments that go on where they end.

use super::figures::{self, Figure};
use super::{Dice, Question, families};
use simt_core::diag::closest;

/// Questions on one thing.
pub struct Topic {
    /// Its name: that of an experiment of `simt-sim ask`.
    pub name: &'static str,
    /// What is to be predicted.
    pub about: &'static str,
    kind: Kind,
}

enum Kind {
    /// As many as are wanted.
    Drawn(fn(&mut Dice) -> Question<'static>),
    /// These.
    Fixed(&'static [Figure]),
}

const fn drawn(name: &'static str, about: &'static str, draw: fn(&mut Dice) -> Question<'static>) -> Topic {
    Topic { name, about, kind: Kind::Drawn(draw) }
}

const fn fixed(name: &'static str, about: &'static str, figures: &'static [Figure]) -> Topic {
    Topic { name, about, kind: Kind::Fixed(figures) }
}

/// Every topic, in the order of a course.
pub const TOPICS: &[Topic] = &[
    drawn("same-path", "what an if / else issues, by who takes which side", families::same_path),
    fixed("predication", "whether guards count as divergence", figures::PREDICATION),
    fixed("trip-counts", "a loop with a number of trips of its own for each lane", figures::TRIP_COUNTS),
    drawn("uniform-loop", "trips and splits of a loop that threads go round in groups", families::uniform_loop),
    fixed("break", "trips of a loop that lanes leave one by one", figures::BREAKS),
    fixed("nested", "the order in which the leaves of nested ifs run", figures::NESTED_IFS),
    fixed("stack-example", "the height of the reconvergence stack", figures::STACKS),
    fixed("switch", "splits in a chain of compares", figures::SWITCHES),
    drawn("k-paths", "what several paths in one warp issue", families::k_paths),
    drawn("early-return", "what a warp issues when some of its lanes return", families::early_return),
    fixed("return-in-nested-if", "who waits for lanes that have returned", figures::NESTED_RETURN),
    drawn("picture-warps", "warps that the border of a picture splits", families::picture_warps),
    drawn("ragged-end", "warps at the end of a vector", families::ragged_end),
    drawn("warp-aligned", "warps in which heavy and light threads meet", families::warp_aligned),
    fixed("spin-lock", "a lock within a warp, before Volta and since", figures::LOCKS),
    fixed("barrier-after-return", "a barrier after some threads have returned", figures::BARRIERS),
    fixed("shuffle-after-exit", "a shuffle after some lanes have returned", figures::SHUFFLES),
    drawn("reductions", "divergent branches of the textbook's reductions", families::reductions),
    drawn("coalescing", "sectors that a strided load touches", families::coalescing),
    fixed("memory-both-sides", "sectors when both sides of a branch load", figures::BOTH_SIDES),
    drawn("bank-conflicts", "passes of a strided load from shared memory", families::bank_conflicts),
    fixed("latency-hiding", "issue slots that a few warps use", figures::LATENCY),
    fixed("divergent-latency", "cycles of two sides that both wait for memory", figures::TWO_SIDES),
    drawn("occupancy", "blocks that fit onto an SM", families::occupancy),
];

impl Topic {
    /// How many questions it has; none: as many as are wanted, drawn at random.
    pub const fn questions(&self) -> Option<usize> {
        match self.kind {
            Kind::Drawn(_) => None,
            Kind::Fixed(figures) => Some(figures.len()),
        }
    }

    /// At most so many of its questions, no two alike.
    pub fn draw(&self, count: usize, dice: &mut Dice) -> Vec<Question<'static>> {
        let mut questions: Vec<Question<'static>> = Vec::new();
        match self.kind {
            Kind::Fixed(figures) => {
                questions.extend(figures.iter().take(count).map(|figure| figure.question(self.name)))
            }
            Kind::Drawn(draw) => {
                // A family with few members runs out of new ones.
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

/// The topic of this name.
pub fn find(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}

/// The name that `name` may have been meant to be.
pub fn suggest(name: &str) -> Option<&'static str> {
    closest(name, TOPICS.iter().map(|topic| topic.name))
}

/// Questions from all topics: one of each before a second of any, those with drawn numbers only from then on.
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
    for topic in
        topics.iter().filter(|topic| topic.questions().is_none()).cycle().take(count.saturating_sub(questions.len()))
    {
        questions.extend(topic.draw(1, dice));
    }
    questions
}
