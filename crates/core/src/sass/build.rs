//! A listing and its facts to checked kernels, and a kernel to code.

use std::sync::Arc;

use super::absent::absent;
use super::agree::contradiction;
use super::control::decode;
use super::data::{self, MOST_BANKS, Places, place};
use super::facts::{self, KernelFacts, ModuleFacts};
use super::link::{self, AGAIN, Linked};
use super::listing::{self, Function, Line};
use super::lower::{
    Lowered, Lowering, Missing, Module, PREDICATES, Rows, lower, matrix_class, predicate,
};
use super::text::{self, Operand, Text};
use super::uses::{names_heap, names_reserved};
use crate::base::Pc;
use crate::code::{Code, Dependences, MicroOp, Scheme};
use crate::diag::{Diagnostic, Span, has_errors};
use crate::isa::{Isa, Opcode, Pipe, Space, Type, opcode};
use crate::kernel::layout::{Bases, RESERVED_NAME};
use crate::kernel::{
    Checked, ControlFlow, ConvergenceOp, CopyGroups, Inst, Kernel, MACHINE_FORM, NativeKernel,
    NativeTiming, Op, Parameter, Predicate, Refused, Register, Row,
};

/// Maximum number of instructions of a kernel.
const MOST_INSTRUCTIONS: usize = 1_000_000;
/// Maximum number of register rows: registers, immediates and constants.
const MOST_ROWS: u16 = 60_000;
/// Architectures whose encodings are read.
const ARCHITECTURES: [u32; 7] = [75, 80, 86, 87, 89, 90, 100];

/// Reads a listing with its facts.
pub(super) fn read(source: &str, bases: Bases) -> Checked {
    let (functions, mut findings) = listing::read(source);
    let facts = match facts::read(source) {
        Ok(facts) => facts,
        Err(error) => {
            findings.push(error);
            ModuleFacts::default()
        }
    };
    let is_data = facts.kernels.is_empty() && facts.has_data();
    if !has_errors(&findings) && functions.is_empty() && !is_data {
        let span = Span::new(0, source.find('\n').unwrap_or(source.len()));
        let error = Diagnostic::error("listing", span, "the listing has no function");
        findings.push(error.help(AGAIN));
    }
    let mut checked = Checked::default();
    if has_errors(&findings) {
        checked.refused = functions.iter().map(|f| refused(f, Vec::new())).collect();
        checked.findings = findings;
        return checked;
    }
    let mut first_bank = 1 + facts.banks.len() as u64 + u64::from(facts.banks_before);
    let shared = facts.variables.len() + facts.banks.len();
    let own: usize = facts.kernels.iter().map(|kernel| kernel.banks.len()).sum();
    let before = facts.banks_before as usize;
    if before.saturating_add(own + facts.banks.len()) > MOST_BANKS {
        let message = format!("the module has more than {MOST_BANKS} constant banks");
        findings.push(Diagnostic::error("too-large", Span::new(0, 0), message));
        checked.refused = functions.iter().map(|f| refused(f, Vec::new())).collect();
        checked.findings = findings;
        return checked;
    }
    if facts.kernels.is_empty() {
        match data::alone(&facts, bases) {
            Ok(variables) => checked.variables = Arc::new(variables),
            Err(error) => findings.push(error),
        }
    }
    for kernel in &facts.kernels {
        let Some(function) = functions.iter().find(|f| f.name == kernel.name) else {
            let message = format!("the listing has no function `{}`", kernel.name);
            let span = functions.first().map_or(Span::new(0, 0), |function| function.span);
            findings.push(Diagnostic::error("listing", span, message).help(AGAIN));
            continue;
        };
        let places = Places { bases, first_bank };
        let linked = link::link(function, kernel, &facts, &functions);
        let built = match linked {
            Ok(linked) => build(&linked, &facts, places),
            Err(error) => Err(vec![error]),
        };
        first_bank += kernel.banks.len() as u64;
        match built {
            Ok(built) => {
                let known = if checked.kernels.is_empty() { 0 } else { shared };
                let variables = Arc::make_mut(&mut checked.variables);
                variables.extend(built.variables.iter().skip(known).cloned());
                checked.kernels.push(built);
            }
            Err(errors) => {
                findings.extend(errors.iter().cloned());
                checked.refused.push(refused(function, errors));
            }
        }
    }
    checked.findings = findings;
    checked
}

fn refused(function: &Function<'_>, errors: Vec<Diagnostic>) -> Refused {
    let name = function.name.to_owned();
    Refused { symbol: name.clone(), name, errors, span: function.span }
}

/// Counts the instructions of a listing that can be executed, and all.
pub(super) fn support(source: &str) -> (usize, usize) {
    let (functions, _) = listing::read(source);
    let lines = functions.iter().flat_map(|function| &function.lines);
    // Any constant bank: the facts tell which ones there are.
    let banks: Vec<(u8, u64)> = (1..32).map(|bank| (bank, 0)).collect();
    let mut counts = (0, 0);
    for line in lines {
        counts.1 += 1;
        let mut rows = Rows::new(256, 64);
        let Ok(text) = text::parse(line.text) else { continue };
        if opcode(text.name).is_none() {
            continue;
        }
        let module = Module {
            count: u32::MAX,
            address: 0,
            start: 0,
            reserved_shared: 0,
            banks: &banks,
            indirect: &[],
        };
        let mut lowering = Lowering::new(text, line.encoding, &mut rows);
        counts.0 += usize::from(lower(&mut lowering, &module).is_ok());
    }
    counts
}

fn build(
    linked: &Linked<'_>,
    module: &ModuleFacts,
    places: Places,
) -> Result<Kernel, Vec<Diagnostic>> {
    let Linked { function, facts, .. } = linked;
    let mut errors = Vec::new();
    if !ARCHITECTURES.contains(&module.arch) {
        let message = format!("sm_{} is not supported", module.arch);
        let error = Diagnostic::error("architecture", function.span, message);
        return Err(vec![error.help("compile for sm_75 to sm_90, for example with `-arch=sm_90`")]);
    }
    if function.lines.len() > MOST_INSTRUCTIONS {
        let message = format!("the kernel has more than {MOST_INSTRUCTIONS} instructions");
        return Err(vec![Diagnostic::error("too-large", function.span, message)]);
    }
    data::check_size(module, facts, function.span).map_err(|error| vec![error])?;
    let mut texts = texts(function, &mut errors);
    link::relocate(linked, module, places, &mut texts, &mut errors);
    let data = place(module, facts, places);
    let mut rows = rows(&texts, facts);
    // A kernel that knows where the system's shared memory is uses it as its own.
    let shares = texts.iter().flatten().any(|(text, _)| names_reserved(text));
    let reserved_shared = if shares { 0 } else { facts.reserved_shared };
    let mut native = NativeKernel {
        arch: module.arch,
        params_at: facts.params_at,
        reserved_shared,
        stack: facts.stack,
        registers: rows.threads,
        banks: data.banks,
        heap: names_heap(module),
        ..NativeKernel::default()
    };
    let mut insts = Vec::with_capacity(texts.len());
    for (line, text) in function.lines.iter().zip(texts) {
        if rows.registers.narrow > MOST_ROWS {
            let message = "the kernel has too many different immediates and constants";
            errors.push(Diagnostic::error("too-large", line.span, message));
            break;
        }
        let Some((text, row)) = text else { continue };
        let about = Module {
            count: function.lines.len() as u32,
            address: line.address,
            start: linked.start(line.address),
            reserved_shared,
            banks: &native.banks,
            indirect: &facts.indirect,
        };
        let (name, guard) = (text.name, text.guard);
        let mut lowering = Lowering::new(text, line.encoding, &mut rows);
        match lower(&mut lowering, &about) {
            Ok(lowered) => {
                let (reads, writes) = (lowering.reads, lowering.writes);
                let guard = guard.map(predicate);
                let inst = instruction(lowered.clone(), guard, reads, writes, row, line);
                native.timing.push(NativeTiming {
                    word: decode(line.encoding),
                    opcode: row,
                    falls_to: lowered.falls_to,
                });
                if lowered.invalidates_l1 {
                    native.invalidates_l1.push(insts.len() as u32);
                }
                insts.push(inst);
            }
            Err(missing) => errors.push(unsupported(name, missing, line.span)),
        }
    }
    if insts.is_empty() && errors.is_empty() {
        errors.push(Diagnostic::error("listing", function.span, "the function has no code"));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    wait_for_copies(&mut insts, &native.timing);
    native.constants = rows.banks;
    native.source = facts.source.clone().map(|name| (name, by_instruction(&facts.lines, &insts)));
    native.ptx_lines = by_instruction(&facts.ptx_lines, &insts);
    let uses_local = insts.iter().any(|inst| match &inst.op {
        Op::Load(load) => matches!(load.access.space, Space::Local | Space::Generic),
        Op::Store(store) => matches!(store.access.space, Space::Local | Space::Generic),
        _ => false,
    });
    let registers = rows.registers;
    Ok(Kernel {
        isa: Isa::ptx(),
        name: function.name.to_owned(),
        symbol: function.name.to_owned(),
        params: parameters(facts, function.span),
        param_bytes: facts.params.iter().map(|p| p.offset + p.bytes).max().unwrap_or(0),
        flow: ControlFlow::build(&insts, &[], &registers),
        insts,
        functions: Vec::new(),
        registers,
        shared_bytes: facts.shared.saturating_add(facts.reserved_shared - reserved_shared),
        local_bytes: if uses_local { native.stack_of(None) } else { 0 },
        variables: Arc::new(data.variables),
        shared_variables: match facts.reserved_shared - reserved_shared {
            0 => Vec::new(),
            bytes => vec![(RESERVED_NAME.to_string(), 0, bytes)],
        },
        block_limit: facts.block_limit,
        cluster: facts.cluster.unwrap_or([1; 3]),
        registers_per_thread: facts.registers,
        native: Some(Arc::new(native)),
        span: function.span,
    })
}

/// Makes DEPBAR wait for groups of copies where its counter is LDGDEPBAR's, or UTMACMDFLUSH's.
fn wait_for_copies(insts: &mut [Inst], timing: &[NativeTiming]) {
    let commits = |op: CopyGroups| {
        let all = insts.iter().zip(timing).filter(move |(inst, _)| inst.op == Op::CopyGroups(op));
        all.map(|(_, timing)| timing.word)
    };
    let copies: Vec<u8> = commits(CopyGroups::Commit).filter_map(|w| w.write_counter).collect();
    // A bulk group is done when its sources have been read.
    let bulk: Vec<u8> = commits(CopyGroups::CommitBulk).filter_map(|w| w.read_counter).collect();
    for (inst, timing) in insts.iter_mut().zip(timing) {
        let Some((counter, left)) = timing.falls_to else { continue };
        if copies.contains(&counter) {
            inst.op = Op::CopyGroups(CopyGroups::Wait(left.into()));
        } else if bulk.contains(&counter) {
            inst.op = Op::CopyGroups(CopyGroups::WaitBulk(left.into()));
        }
    }
}

/// Returns the texts of the instructions with their rows of the table.
fn texts<'a>(
    function: &Function<'a>,
    errors: &mut Vec<Diagnostic>,
) -> Vec<Option<(Text<'a>, &'static Opcode)>> {
    let read = |line: &Line<'a>| {
        if let Some(error) = absent(line) {
            return Err(error);
        }
        let text = text::parse(line.text).map_err(|(at, message)| {
            let start = line.span.start as usize + at;
            Diagnostic::error("listing", Span::new(start, line.span.end as usize), message)
        })?;
        let row =
            opcode(text.name).ok_or_else(|| unsupported(text.name, Missing::Opcode, line.span))?;
        agrees(&text, row, line)?;
        Ok((text, row))
    };
    let keep = |result: Result<_, Diagnostic>| result.map_err(|error| errors.push(error)).ok();
    function.lines.iter().map(read).map(keep).collect()
}

/// Checks that an encoding agrees with its text.
fn agrees(text: &Text<'_>, row: &Opcode, line: &Line<'_>) -> Result<(), Diagnostic> {
    let Some(what) = contradiction(text, row, line.encoding) else { return Ok(()) };
    let message = format!("the encoding of `{}` has {what}, which contradicts the text", text.name);
    Err(Diagnostic::error("encoding", line.span, message).help(AGAIN))
}

fn unsupported(name: &str, missing: Missing, span: Span) -> Diagnostic {
    let message = match missing {
        Missing::Opcode => format!("`{name}` is not supported"),
        Missing::Modifier(modifier) => format!("`.{modifier}` of `{name}` is not supported"),
        Missing::Operands => format!("these operands of `{name}` are not supported"),
    };
    Diagnostic::error("unsupported-opcode", span, message)
        .help("run the kernel's .ptx; `simt-sim check` lists all that is missing")
}

/// Makes rows for the registers that the instructions name.
fn rows(texts: &[Option<(Text<'_>, &Opcode)>], facts: &KernelFacts) -> Rows {
    // A vector of four registers may begin at the last one named.
    const VECTOR: u16 = 4;
    let (mut threads, mut uniforms) = (0, 0);
    let mut see = |name: &text::RegisterName| {
        if !name.is_zero() {
            let most = if name.uniform { &mut uniforms } else { &mut threads };
            *most = u16::from(name.number).max(*most);
        }
    };
    let mut any_uniform = false;
    for (text, _) in texts.iter().flatten() {
        for operand in &text.operands {
            let names = match operand {
                Operand::Register(name, _) => [Some(*name), None, None],
                Operand::Constant { index, .. } => [*index, None, None],
                Operand::Matrices(first, _) => [Some(*first), None, None],
                Operand::Address(a) => [a.register, a.uniform, a.descriptor],
                _ => [None; 3],
            };
            for name in names.iter().flatten() {
                any_uniform |= name.uniform;
                see(name);
            }
        }
    }
    let threads = (threads + VECTOR).max(facts.registers as u16).min(255);
    let uniforms = if any_uniform { (uniforms + VECTOR).min(63) } else { 0 };
    let mut rows = Rows::new(threads, uniforms);
    let own = threads.min(facts.registers as u16);
    let own = (0..own).map(|i| (format!("R{i}"), Register::Narrow(Row(i)), Type::B32));
    let mut names: Vec<_> = own.collect();
    for i in 0..uniforms.saturating_sub(VECTOR - 1) {
        let row = rows.row(text::RegisterName { number: i as u8, uniform: true });
        names.push((format!("UR{i}"), Register::Narrow(row), Type::B32));
    }
    for i in 0..7.min(PREDICATES) {
        names.push((format!("P{i}"), Register::Predicate(Predicate(i)), Type::Pred));
    }
    rows.registers.names = names;
    rows
}

fn instruction(
    lowered: Lowered,
    guard: Option<crate::kernel::PredicateUse>,
    mut reads: Vec<Register>,
    mut writes: Vec<Register>,
    row: &Opcode,
    line: &Line<'_>,
) -> Inst {
    // `@PT` is no guard.
    let always = predicate(text::PredicateName { number: 7, uniform: false, negated: false });
    let guard = guard.filter(|guard| *guard != always);
    for used in guard.into_iter().chain(lowered.also) {
        let register = Register::Predicate(used.predicate);
        if used.predicate != always.predicate && !reads.contains(&register) {
            reads.push(register);
        }
    }
    match lowered.op {
        Op::Join(ConvergenceOp::Save { d: Some(d), .. }) => writes.push(Register::Narrow(d)),
        Op::Clock { d, .. } => {
            let register = Register::Narrow(d);
            if !writes.contains(&register) {
                writes.push(register);
            }
        }
        _ => {}
    }
    writes.dedup();
    let class = matrix_class(&lowered.op).unwrap_or(row.class);
    Inst {
        op: lowered.op,
        // A second predicate needs a first one.
        guard: guard.or(lowered.also.map(|_| always)),
        also: lowered.also,
        compiled: None,
        class,
        form: MACHINE_FORM,
        contracts: false,
        reads,
        writes,
        span: line.span,
        line: line.number,
    }
}

/// Returns the parameters; only their places are known.
fn parameters(facts: &KernelFacts, span: Span) -> Vec<Parameter> {
    let parameter = |(i, p): (usize, &facts::ParameterFacts)| Parameter {
        name: format!("param_{i}"),
        ty: match p.bytes {
            1 => Type::B8,
            2 => Type::B16,
            8 => Type::B64,
            bytes if bytes % 8 == 0 => Type::B64,
            bytes if bytes % 4 == 0 => Type::B32,
            _ => Type::B8,
        },
        offset: p.offset,
        bytes: p.bytes,
        span,
    };
    facts.params.iter().enumerate().map(parameter).collect()
}

/// Returns the line of each instruction; 0 if unknown.
fn by_instruction(lines: &[(u32, u32)], insts: &[Inst]) -> Vec<u32> {
    let line = |i: usize| {
        let address = i as u32 * 16;
        let after = lines.partition_point(|(from, _)| *from <= address);
        after.checked_sub(1).and_then(|at| lines.get(at)).map_or(0, |(_, line)| *line)
    };
    (0..insts.len()).map(line).collect()
}

/// Returns the code of a kernel of machine code; `None` for a kernel of PTX.
pub(super) fn code(kernel: &Kernel) -> Option<Code> {
    let native = kernel.native.as_ref()?;
    let op = |((i, inst), timing): ((usize, &Inst), &NativeTiming)| {
        let &NativeTiming { word, opcode, falls_to } = timing;
        MicroOp {
            inst: inst.clone(),
            source: Some(i as u32),
            next: Pc(i as u32 + 1),
            reconverge: None,
            count: 1,
            on_unit: 1,
            uniform: opcode.pipe == Pipe::Uniform,
            invalidates_l1: native.invalidates_l1.contains(&(i as u32)),
            dependences: Dependences::Control { word, opcode, falls_to },
        }
    };
    Some(Code {
        ops: kernel.insts.iter().enumerate().zip(&native.timing).map(op).collect(),
        kernel: kernel.clone(),
        entry: Pc(0),
        functions: Vec::new(),
        scheme: Scheme::BarrierRegisters,
        is_machine_code: true,
        predicated: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    fn refusal(facts: &str, code: &str) -> String {
        let text = format!(
            "//@ Module(arch: 90, kernels: [Kernel(name: \"k\", registers: 8, params_at: 0x210)], \
             {facts})\n\tcode for sm_90\n\t\tFunction : k\n{code}"
        );
        let read = read(&text, Bases::default());
        assert!(read.kernels.is_empty(), "refused");
        read.findings.first().map(|d| d.message.clone()).unwrap_or_default()
    }

    const EXIT: &str = "/*0000*/ EXIT ; /* 0x000000000000794d */\n/* 0x000fea0003800000 */\n";

    #[test]
    fn memory_that_a_file_can_ask_for_is_bounded() {
        let large = "variables: [Variable(name: \"v\", offset: 0, size: 4000000000)]";
        assert!(refusal(large, EXIT).contains("more than"), "{}", refusal(large, EXIT));
    }

    #[test]
    fn rows_do_not_run_out() {
        let mut code = String::new();
        for i in 0..61_000_u64 {
            let (address, low) = (16 * i, (i + 1) << 32 | 0x0000_7802);
            let _ = writeln!(
                code,
                "/*{address:04x}*/ MOV R0, 0x{:x} ; /* 0x{low:016x} */\n/* 0x000fe20000000f00 */",
                i + 1
            );
        }
        let message = refusal("", &code);
        assert!(message.contains("too many different immediates"), "{message}");
    }
}
