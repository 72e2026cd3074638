//! The instructions of a probe, as PTX text that is parsed into statements.
//!
//! All names begin with a prefix that the program does not use. The counters are reductions, which
//! return nothing. Each lane has its own log, so plain accesses of one thread suffice, and the
//! clock orders the logs of a warp's lanes. One log per warp would need atomics or strong loads:
//! `kernel::flow` would treat a loop around them as a spin loop, and ptxas inserts YIELD into loops
//! and functions that contain them, which changes the order of sides.

use super::pass::Log;
use simt_core::ptx::parse;
use simt_core::ptx::tree::{Guard, Item, Statement};

/// Bytes of a log entry, and of the header before the first one.
pub(super) const ENTRY_BYTES: u64 = 16;

/// Writes probes for one module.
pub(super) struct Writer<'a> {
    /// Prefix of every added name, without `%`.
    pub(super) prefix: &'a str,
    /// Lanes per warp.
    pub(super) warp_size: u32,
    /// Log settings.
    pub(super) log: Option<Log>,
}

impl Writer<'_> {
    /// Name of the counters.
    pub(super) fn counters(&self) -> String {
        format!("{}_counters", self.prefix)
    }

    /// Name of the log.
    pub(super) fn log_name(&self) -> String {
        format!("{}_log", self.prefix)
    }

    /// Name of the target table of the `number`th `brx.idx`.
    pub(super) fn table_name(&self, number: usize) -> String {
        format!("{}_targets_{number}", self.prefix)
    }

    /// Registers, and the prologue of each function: the address of each lane's log.
    pub(super) fn head(&self) -> Vec<Statement> {
        let mut text = ".reg .pred $lead, $some, $keep, $logs;\n\
            .reg .b32 $all, $taken, $low, $me, $at, $id, $least, $to;\n\
            .reg .b64 $n, $log, $slot, $table;\n"
            .to_string();
        if let Some(log) = self.log {
            let (last, size) = (log.warps.saturating_sub(1), self.warp_size.max(1));
            text += &format!(
                "mov.u32 $at, %tid.z; mov.u32 $low, %ntid.y; mov.u32 $me, %tid.y; mad.lo.u32 $at, $at, $low, $me;\n\
                 mov.u32 $low, %ntid.x; mov.u32 $me, %tid.x; mad.lo.u32 $at, $at, $low, $me; div.u32 $at, $at, {size};\n\
                 mov.u32 $all, %ctaid.z; mov.u32 $low, %nctaid.y; mov.u32 $me, %ctaid.y; mad.lo.u32 $all, $all, $low, $me;\n\
                 mov.u32 $low, %nctaid.x; mov.u32 $me, %ctaid.x; mad.lo.u32 $all, $all, $low, $me;\n\
                 mov.u32 $low, %ntid.x; mov.u32 $me, %ntid.y; mul.lo.u32 $low, $low, $me;\n\
                 mov.u32 $me, %ntid.z; mul.lo.u32 $low, $low, $me; add.u32 $low, $low, {round}; div.u32 $low, $low, {size};\n\
                 mad.lo.u32 $all, $all, $low, $at; setp.lt.u32 $logs, $all, {warps}; min.u32 $all, $all, {last};\n\
                 mov.u32 $low, %laneid; mad.lo.u32 $all, $all, {size}, $low;\n\
                 mov.u64 $log, {name}; mad.wide.u32 $log, $all, {stride}, $log;\n",
                round = size - 1,
                warps = log.warps,
                name = self.log_name(),
                stride = log.stride(),
            );
        }
        self.statements(&text)
    }

    /// Writes block probe `id` with its counters at byte `offset`.
    pub(super) fn block(&self, id: usize, offset: u64) -> Vec<Statement> {
        let counters = self.counters();
        let mut text = self.present();
        text += &format!(
            "@$lead red.global.add.u64 [{counters}+{offset}], 1;\n\
             popc.b32 $low, $all; cvt.u64.u32 $n, $low; @$lead red.global.add.u64 [{counters}+{}], $n;\n",
            offset + 8
        );
        text += &self.entry(id, "$id");
        self.statements(&text)
    }

    /// Writes a branch probe for lanes whose guard is true.
    pub(super) fn branch(&self, guard: &Guard, id: usize, offset: u64) -> Vec<Statement> {
        let not = if guard.negated { "!" } else { "" };
        let mut text = self.present();
        text += &format!("vote.sync.ballot.b32 $taken, {not}{}, $all;\n", guard.predicate.text);
        text += &self.split(id, offset);
        self.statements(&text)
    }

    /// Writes a branch probe for a `brx.idx` with `targets` targets. Lanes that go to the target of
    /// the lowest index count as taken.
    pub(super) fn switch(
        &self,
        index: &str,
        table: usize,
        targets: usize,
        id: usize,
        offset: u64,
    ) -> Vec<Statement> {
        let (table, last) = (self.table_name(table), targets.saturating_sub(1));
        let mut text = self.present();
        text += &format!(
            "mov.u64 $table, {table};\n\
             min.u32 $to, {index}, {last}; redux.sync.min.u32 $least, $to, $all;\n\
             mad.wide.u32 $slot, $to, 4, $table; ld.global.u32 $to, [$slot];\n\
             mad.wide.u32 $slot, $least, 4, $table; ld.global.u32 $least, [$slot];\n\
             setp.eq.u32 $some, $to, $least; vote.sync.ballot.b32 $taken, $some, $all;\n"
        );
        text += &self.split(id, offset);
        self.statements(&text)
    }

    /// Computes the active lanes and whether this lane is their leader.
    fn present(&self) -> String {
        "activemask.b32 $all;\n\
         neg.s32 $low, $all; and.b32 $low, $low, $all; mov.u32 $me, %lanemask_eq; setp.eq.u32 $lead, $low, $me;\n"
            .to_string()
    }

    /// Counts a branch of `$all` that `$taken` take.
    fn split(&self, id: usize, offset: u64) -> String {
        let counters = self.counters();
        let at = |word: u64| format!("[{counters}+{}]", offset + 8 * word);
        format!(
            "@$lead red.global.add.u64 {}, 1;\n\
             setp.ne.u32 $some, $taken, 0; setp.ne.and.u32 $some, $taken, $all, $some; and.pred $some, $some, $lead;\n\
             @$some red.global.add.u64 {}, 1;\n\
             popc.b32 $low, $all; cvt.u64.u32 $n, $low; @$lead red.global.add.u64 {}, $n;\n\
             popc.b32 $low, $taken; cvt.u64.u32 $n, $low; @$lead red.global.add.u64 {}, $n;\n{}",
            at(0),
            at(1),
            at(2),
            at(3),
            self.entry(id, "$taken")
        )
    }

    /// Appends the probe to the lane's log. Entries that do not fit go to the last slot.
    fn entry(&self, id: usize, taken: &str) -> String {
        let Some(log) = self.log else { return String::new() };
        format!(
            "and.pred $keep, $lead, $logs; mov.u32 $at, 0; mov.u32 $id, {id}; mov.u32 $me, %clock;\n\
             @$keep ld.global.u32 $at, [$log]; add.u32 $low, $at, 1; @$keep st.global.u32 [$log], $low;\n\
             min.u32 $at, $at, {}; mad.wide.u32 $slot, $at, {ENTRY_BYTES}, $log;\n\
             @$keep st.global.v4.u32 [$slot+{ENTRY_BYTES}], {{$id, $all, {taken}, $me}};\n",
            log.events
        )
    }

    /// Parses statements from a text in which `$` is the prefix of a register.
    fn statements(&self, text: &str) -> Vec<Statement> {
        let text = text.replace('$', &format!("%{}_", self.prefix));
        let (module, _) = parse(&format!(".entry probe()\n{{\n{text}}}\n"));
        let bodies = module.items.into_iter().filter_map(|item| match item {
            Item::Function(function) => function.body,
            Item::Variable(_) | Item::Alias(_) => None,
        });
        bodies.flatten().collect()
    }
}

/// Parses declarations.
pub(super) fn items(text: &str) -> Vec<Item> {
    parse(text).0.items
}
