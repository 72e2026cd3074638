//! State of the stepper, and its reaction to keys. Independent of terminal and size.

use simt_core::base::{BlockId, Cycle};
use simt_core::debug::{Base, Debugger, Edit, Focus, Goal, Reached, View};

use super::facts::Facts;
use super::keys::Key;
use super::prompt::{self, Ask, Prompt};

/// The stepper.
pub(crate) struct App<'a> {
    debugger: Debugger<'a>,
    pub(crate) facts: &'a Facts<'a>,
    focus: Focus,
    /// Repeat count typed before a key.
    pub(crate) count: Option<u64>,
    pub(crate) prompt: Option<Prompt>,
    /// Effect of the last key, if the screen does not show it.
    pub(crate) message: String,
    pub(crate) base: Base,
    /// Registers to show; empty: registers in use first.
    pub(crate) chosen: Vec<String>,
    /// Registers skipped at the top of the list.
    pub(crate) skipped: usize,
    pub(crate) help: bool,
    quit: bool,
    running: Option<Running>,
}

/// A running search.
struct Running {
    target: Target,
    /// Times to reach the goal, and times reached.
    times: u64,
    met: u64,
    /// Steps and cycle of the last hit or of the start, to return to after a failure.
    at: (u64, Cycle),
}

#[derive(Clone, Copy)]
enum Target {
    Goal(Goal),
    Cycle(Cycle),
    End,
}

/// Largest repeat count.
const MOST_TIMES: u64 = 1_000_000_000;

impl<'a> App<'a> {
    /// Creates a stepper at the start, or where the block of the focus is resident.
    pub(crate) fn new(debugger: Debugger<'a>, facts: &'a Facts<'a>, focus: Focus) -> App<'a> {
        let mut app = App {
            debugger,
            facts,
            focus,
            count: None,
            prompt: None,
            message: "? shows all keys. n: issue the next instruction of this warp. N: go back."
                .to_string(),
            base: Base::Natural,
            chosen: Vec::new(),
            skipped: 0,
            help: false,
            quit: false,
            running: None,
        };
        if !app.view().blocks.contains(&focus.block) {
            app.run(Target::Goal(Goal::Issue), 1);
            app.message.clear();
        }
        app
    }

    /// Returns the visible state.
    pub(crate) fn view(&self) -> View {
        self.debugger.view(self.focus)
    }

    /// Returns the source line of a step.
    pub(crate) fn line(&self, pc: simt_core::base::Pc) -> u32 {
        self.debugger.line(pc)
    }

    /// Describes the end of the run, if it has been reached.
    pub(crate) fn ending(&self) -> Option<String> {
        self.debugger.finish().map(|finish| self.facts.ending(finish))
    }

    /// Returns true if the user has quit.
    pub(crate) fn is_over(&self) -> bool {
        self.quit
    }

    /// Returns true if a search is running, which [`App::advance`] continues.
    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Continues the running search for at most `budget` steps.
    pub(crate) fn advance(&mut self, budget: u64) {
        let Some(mut running) = self.running.take() else { return };
        let until = self.debugger.steps().saturating_add(budget);
        while running.met < running.times {
            let left = until.saturating_sub(self.debugger.steps());
            let reached = match running.target {
                Target::Goal(goal) => self.debugger.forward(goal, self.focus, left),
                Target::Cycle(cycle) => self.debugger.forward_to_cycle(cycle, left),
                Target::End => self.debugger.forward(Goal::AnyIssue, self.focus, left),
            };
            match (reached, running.target) {
                (Reached::Goal, Target::End) => {}
                (Reached::Goal, _) => {
                    running.met += 1;
                    running.at = (self.debugger.steps(), self.debugger.clock());
                }
                (Reached::Budget, _) => {
                    self.running = Some(running);
                    return;
                }
                (Reached::End, Target::Goal(goal)) => {
                    self.message = self.nothing_more(goal);
                    if running.met > 0 {
                        self.message = format!("{} times, then {}", running.met, self.message);
                    }
                    self.debugger.come_back(running.at.0, running.at.1);
                    return;
                }
                (Reached::End, _) => return,
            }
        }
    }

    /// Explains at the end of the run why a search found nothing.
    fn nothing_more(&self, goal: Goal) -> String {
        let warp = format!("block {} warp {}", self.focus.block.0, self.focus.warp);
        let what = match goal {
            Goal::Issue => format!("{warp} issues no more instructions"),
            Goal::AnyIssue => "no more instructions are issued".to_string(),
            Goal::Divergence => format!("{warp} does not diverge again"),
            Goal::Join => format!("{warp} does not reconverge again"),
            Goal::Barrier => format!("{warp} reaches no further barrier"),
            Goal::Line(line) => format!("{warp} does not reach line {line} again"),
            Goal::BranchDiverges(_) => "the branch does not diverge again".to_string(),
        };
        let end = self.ending().unwrap_or_default();
        format!("{what}; the run ends in cycle {}: {end}", self.debugger.clock())
    }

    /// Handles a key.
    pub(crate) fn press(&mut self, key: Key) {
        if key == Key::Interrupt {
            self.quit = true;
            return;
        }
        if self.running.take().is_some() {
            self.message = "stopped".to_string();
            return;
        }
        self.message.clear();
        if let Some(prompt) = self.prompt.take() {
            return self.type_answer(prompt, key);
        }
        if self.help {
            self.help = false;
            return;
        }
        if let Key::Char(digit @ '0'..='9') = key {
            let digit = u64::from(digit as u32 - '0' as u32);
            self.count = Some((self.count.unwrap_or(0) * 10 + digit).min(MOST_TIMES));
            return;
        }
        let count = self.count.take();
        self.command(key, count.unwrap_or(1).max(1), count);
    }

    fn command(&mut self, key: Key, times: u64, count: Option<u64>) {
        match key {
            Key::Char('n' | ' ') | Key::Right => self.run(Target::Goal(Goal::Issue), times),
            Key::Char('N') | Key::Left | Key::Backspace => self.back(Goal::Issue, times),
            Key::Char('i') => self.run(Target::Goal(Goal::AnyIssue), times),
            Key::Char('I') => self.back(Goal::AnyIssue, times),
            Key::Char('d') => self.run(Target::Goal(Goal::Divergence), times),
            Key::Char('D') => self.back(Goal::Divergence, times),
            Key::Char('j') => self.run(Target::Goal(Goal::Join), times),
            Key::Char('J') => self.back(Goal::Join, times),
            Key::Char('b') => self.run(Target::Goal(Goal::Barrier), times),
            Key::Char('B') => self.back(Goal::Barrier, times),
            Key::Char('c') => self.go_to_cycle(self.debugger.clock().saturating_add(times)),
            Key::Char('C') => self.go_to_cycle(self.debugger.clock().saturating_sub(times)),
            Key::Char('l') => self.ask(Ask::Line),
            Key::Char('L') => self.ask(Ask::LineBack),
            Key::Char('g') => self.ask(Ask::Cycle),
            Key::Char('e') => self.ask(Ask::Edit),
            Key::Char('r') => self.ask(Ask::Registers),
            Key::Char('v') => self.ask(Ask::Warp),
            Key::Char('m') => self.most_divergent(),
            Key::Char('w') | Key::Down => self.next_warp(times, true),
            Key::Char('W') | Key::Up => self.next_warp(times, false),
            Key::Char(']') => self.next_block(true),
            Key::Char('[') => self.next_block(false),
            Key::Char('x') => {
                self.base = if self.base == Base::Hex { Base::Natural } else { Base::Hex };
            }
            Key::Char('u') => {
                let undone = self.debugger.undo_edit();
                self.message = if undone {
                    "change undone"
                } else {
                    "no register was changed before this point"
                }
                .into();
            }
            Key::PageDown => {
                self.skipped =
                    (self.skipped + 1).min(self.view().warp.map_or(0, |w| w.registers.len()))
            }
            Key::PageUp => self.skipped = self.skipped.saturating_sub(1),
            Key::Home => self.debugger.seek(0),
            Key::End => self.run(Target::End, 1),
            Key::Char('?' | 'h') => self.help = true,
            Key::Char('q') => self.quit = true,
            Key::Char(other) => self.message = format!("unknown key {other}; ? shows all keys"),
            Key::Enter | Key::Escape => {}
            Key::Interrupt => self.quit = true,
        }
        if count.is_some() && self.message.is_empty() && matches!(key, Key::Char('x' | 'm' | 'u')) {
            self.message = "this key takes no repeat count".to_string();
        }
    }

    /// Starts a search, which [`App::advance`] performs.
    fn run(&mut self, target: Target, times: u64) {
        if let Some(end) = self.ending() {
            self.message = format!("the run has ended: {end}");
            return;
        }
        let at = (self.debugger.steps(), self.debugger.clock());
        self.running = Some(Running { target, times, met: 0, at });
    }

    fn back(&mut self, goal: Goal, times: u64) {
        if self.debugger.back(goal, self.focus, times) == Reached::End {
            self.message = "the beginning of the run".to_string();
        }
    }

    fn go_to_cycle(&mut self, cycle: Cycle) {
        if cycle > self.debugger.clock() {
            self.run(Target::Cycle(cycle), 1);
        } else {
            self.debugger.seek_cycle(cycle);
        }
    }

    fn most_divergent(&mut self) {
        let whole = self.debugger.survey().1;
        let Some((count, focus)) = self.debugger.to_most_divergent() else {
            self.message = match self.facts.predication() {
                None => "no divergent branch in this run".to_string(),
                Some(those) => format!("no divergent branch; {those}. Try --lowering as-written"),
            };
            return;
        };
        self.focus = focus;
        let part = if whole { "this run" } else { "the surveyed part of this run" };
        self.message = format!(
            "line {} diverges most in {part}: {} of {} executions; here in block {} warp {}",
            count.line, count.divergent, count.executed, focus.block.0, focus.warp
        );
    }

    fn next_warp(&mut self, times: u64, up: bool) {
        let warps = u64::from(self.view().extent.1.max(1));
        let by = if up { times % warps } else { warps - times % warps };
        self.focus.warp = ((u64::from(self.focus.warp) + by) % warps) as u32;
    }

    fn next_block(&mut self, up: bool) {
        let blocks = self.view().blocks;
        let here = self.focus.block;
        let found = match up {
            true => blocks.iter().find(|&&b| b > here).or(blocks.first()),
            false => blocks.iter().rev().find(|&&b| b < here).or(blocks.last()),
        };
        match found {
            Some(&block) if block != here => self.focus.block = block,
            _ => self.message = "no other block is on this SM now".to_string(),
        }
    }

    fn ask(&mut self, ask: Ask) {
        self.prompt = Some(Prompt { ask, text: String::new() });
    }

    fn type_answer(&mut self, mut prompt: Prompt, key: Key) {
        match key {
            Key::Escape => return,
            Key::Enter => return self.answer(prompt.ask, prompt.text.trim()),
            Key::Backspace => _ = prompt.text.pop(),
            Key::Char(c) if prompt.text.len() < 200 && !c.is_control() => prompt.text.push(c),
            _ => {}
        }
        self.prompt = Some(prompt);
    }

    fn answer(&mut self, ask: Ask, text: &str) {
        let number = text.parse::<u64>().ok();
        match (ask, number) {
            (Ask::Line | Ask::LineBack, Some(line)) => {
                let line = u32::try_from(line).unwrap_or(u32::MAX);
                if !self.facts.has_steps(line) {
                    self.message = format!("line {line} has no instruction of this kernel");
                } else if ask == Ask::Line {
                    self.run(Target::Goal(Goal::Line(line)), 1);
                } else {
                    self.back(Goal::Line(line), 1);
                }
            }
            (Ask::Cycle, Some(cycle)) => self.go_to_cycle(cycle),
            (Ask::Line | Ask::LineBack | Ask::Cycle, None) => {
                self.message = format!("expected a number, found `{text}`")
            }
            (Ask::Edit, _) => self.message = self.change(text),
            (Ask::Registers, _) => self.choose(text),
            (Ask::Warp, _) => self.look_at(text),
        }
    }

    fn change(&mut self, text: &str) -> String {
        let Some(warp) = self.view().warp else {
            return "this warp has no registers now".to_string();
        };
        let change = match prompt::change(text, &warp.registers) {
            Ok(change) => change,
            Err(why) => return why,
        };
        let found = &warp.registers[change.register];
        let lanes = found.values.len() as u32;
        let lanes = change.lane.map_or(0..lanes, |lane| lane..lane + 1);
        let of =
            |lane| Edit { focus: self.focus, lane, register: found.register, bits: change.bits };
        let edits: Vec<Edit> = lanes.map(of).collect();
        let done = edits.into_iter().filter(|&edit| self.debugger.edit(edit)).count();
        format!(
            "changed {} in {done} lane{}; the run continues from here with the new \
             value (u undoes it)",
            found.name,
            plural(done)
        )
    }

    fn choose(&mut self, text: &str) {
        let registers = self.view().warp.map(|w| w.registers).unwrap_or_default();
        let mut chosen = Vec::new();
        for name in prompt::words(text) {
            match prompt::find(name, &registers) {
                Some(i) => chosen.push(registers[i].name.clone()),
                None => {
                    self.message = format!("no register `{name}`");
                    return;
                }
            }
        }
        (self.chosen, self.skipped) = (chosen, 0);
    }

    fn look_at(&mut self, text: &str) {
        let numbers: Vec<Option<u32>> =
            prompt::words(text).into_iter().map(|word| word.parse().ok()).collect();
        let (block, warp) = match numbers[..] {
            [Some(warp)] => (self.focus.block.0, warp),
            [Some(block), Some(warp)] => (block, warp),
            _ => {
                self.message =
                    "expected a warp, as in 3, or a block and a warp, as in 7 3".to_string();
                return;
            }
        };
        let (blocks, warps) = self.view().extent;
        if u64::from(block) >= blocks || warp >= warps {
            self.message = format!(
                "expected a block from 0 to {} and a warp from 0 to {}",
                blocks - 1,
                warps - 1
            );
            return;
        }
        self.focus = Focus { block: BlockId(block), warp };
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
