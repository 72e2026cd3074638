//! Printer: from the syntax tree to canonical PTX that a driver can load.
//!
//! Adds missing header lines (`.version 9.0`, `.target sm_90`, `.address_size 64`), puts directive
//! comments at the top and drops other comments. Constant expressions print as numbers, floats as
//! their exact bits. Parsing the output gives the same tree except for spans and the added header
//! lines, and printing that tree gives the same text.

mod operands;

use super::tree::*;
use std::fmt::{self, Display, Formatter, Write};

use operands::joined;

/// Prints a module as canonical, complete PTX.
pub fn print(module: &Module) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(out, "{}", Page(module));
    out
}

struct Page<'a>(&'a Module);

impl Display for Page<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let module = self.0;
        for directive in &module.directives {
            writeln!(f, "{}", format!("//! {}", directive.text).trim_end())?;
        }
        let (major, minor) = module.version.unwrap_or((9, 0));
        writeln!(f, ".version {major}.{minor}")?;
        match module.target.as_slice() {
            [] => writeln!(f, ".target sm_90")?,
            words => writeln!(f, ".target {}", joined(words.iter().map(|w| &w.text)))?,
        }
        writeln!(f, ".address_size {}", module.address_size.unwrap_or(64))?;
        for (index, path) in &module.files {
            writeln!(f, ".file {index} \"{path}\"")?;
        }
        for item in &module.items {
            writeln!(f)?;
            match item {
                Item::Function(function) => print_function(f, function)?,
                Item::Variable(variable) => writeln!(f, "{};", Declaration(variable))?,
                Item::Alias(alias) => {
                    writeln!(f, ".alias {}, {};", alias.name.text, alias.target.text)?
                }
            }
        }
        for section in &module.sections {
            writeln!(f, "\n{}", section.text)?;
        }
        Ok(())
    }
}

fn print_function(f: &mut Formatter<'_>, function: &Function) -> fmt::Result {
    for word in &function.linkage {
        write!(f, ".{} ", word.text)?;
    }
    match function.kind {
        FunctionKind::Entry => write!(f, ".entry ")?,
        FunctionKind::Func => write!(f, ".func ")?,
    }
    if !function.returns.is_empty() {
        write!(f, "({}) ", joined(function.returns.iter().map(Declaration)))?;
    }
    write!(f, "{}(", function.name.text)?;
    for (i, param) in function.params.iter().enumerate() {
        write!(f, "{}\n\t{}", if i == 0 { "" } else { "," }, Declaration(param))?;
    }
    f.write_str(if function.params.is_empty() { ")" } else { "\n)" })?;
    for (word, numbers) in &function.performance {
        write!(f, "\n.{}", word.text)?;
        if !numbers.is_empty() {
            write!(f, " {}", joined(numbers))?;
        }
    }
    let Some(body) = &function.body else { return writeln!(f, ";") };
    writeln!(f, "\n{{")?;
    print_statements(f, body, 1)?;
    writeln!(f, "}}")
}

fn print_statements(f: &mut Formatter<'_>, statements: &[Statement], depth: usize) -> fmt::Result {
    for statement in statements {
        // Labels are indented one level less.
        let indent = if matches!(statement, Statement::Label(_)) { depth - 1 } else { depth };
        for _ in 0..indent {
            f.write_char('\t')?;
        }
        match statement {
            Statement::Label(name) => writeln!(f, "{}:", name.text)?,
            Statement::Instruction(instruction) => print_instruction(f, instruction)?,
            Statement::Registers(registers) => print_registers(f, registers)?,
            Statement::Variable(variable) => writeln!(f, "{};", Declaration(variable))?,
            Statement::Block(inner, _) => {
                writeln!(f, "{{")?;
                print_statements(f, inner, depth + 1)?;
                for _ in 0..depth {
                    f.write_char('\t')?;
                }
                writeln!(f, "}}")?;
            }
            Statement::Loc { file, line, column, rest, span: _ } => {
                let comma = if rest.is_empty() { "" } else { ", " };
                writeln!(f, ".loc {file} {line} {column}{comma}{rest}")?;
            }
            Statement::Pragma(strings, _) => {
                writeln!(f, ".pragma {};", joined(strings.iter().map(|s| format!("\"{s}\""))))?;
            }
            Statement::Targets(Targets { label, kind, names, span: _ }) => {
                let word = match kind {
                    TargetKind::Branch => "branchtargets",
                    TargetKind::Call => "calltargets",
                };
                writeln!(f, "{}: .{word} {};", label.text, joined(names.iter().map(|n| &n.text)))?;
            }
            Statement::Prototype(Prototype { label, returns, params, performance, span: _ }) => {
                write!(f, "{}: .callprototype ", label.text)?;
                if !returns.is_empty() {
                    write!(f, "({}) ", joined(returns.iter().map(Declaration)))?;
                }
                write!(f, "_ ({})", joined(params.iter().map(Declaration)))?;
                for (word, numbers) in performance {
                    write!(f, " .{}", word.text)?;
                    if !numbers.is_empty() {
                        write!(f, " {}", joined(numbers))?;
                    }
                }
                writeln!(f, ";")?;
            }
        }
    }
    Ok(())
}

fn print_instruction(f: &mut Formatter<'_>, instruction: &Instruction) -> fmt::Result {
    if let Some(Guard { negated, predicate }) = &instruction.guard {
        write!(f, "@{}{} ", if *negated { "!" } else { "" }, predicate.text)?;
    }
    write!(f, "{}", instruction.mnemonic.text)?;
    if !instruction.operands.is_empty() {
        write!(f, " {}", joined(&instruction.operands))?;
    }
    writeln!(f, ";")
}

fn print_registers(f: &mut Formatter<'_>, registers: &Registers) -> fmt::Result {
    write!(f, ".reg ")?;
    if registers.vector != 1 {
        write!(f, ".v{} ", registers.vector)?;
    }
    let names = registers.names.iter().map(|(name, count)| match count {
        Some(count) => format!("{}<{count}>", name.text),
        None => name.text.clone(),
    });
    writeln!(f, ".{} {};", registers.ty.text, joined(names))
}

/// Variable declaration without the terminating `;` or `,`.
struct Declaration<'a>(&'a Variable);

impl Display for Declaration<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Variable { space, linkage, align, vector, ty, name, dims, init, pointer, span: _ } =
            self.0;
        for word in linkage {
            write!(f, ".{} ", word.text)?;
        }
        write!(f, ".{} ", space.text)?;
        if let Some(align) = align {
            write!(f, ".align {align} ")?;
        }
        if *vector != 1 {
            write!(f, ".v{vector} ")?;
        }
        write!(f, ".{} ", ty.text)?;
        if let Some(PointerAttributes { space, align }) = pointer {
            write!(f, ".ptr ")?;
            if let Some(space) = space {
                write!(f, ".{} ", space.text)?;
            }
            if let Some(align) = align {
                write!(f, ".align {align} ")?;
            }
        }
        write!(f, "{}", name.text)?;
        for dim in dims {
            match dim {
                Some(dim) => write!(f, "[{dim}]")?,
                None => write!(f, "[]")?,
            }
        }
        match init {
            Some(init) => write!(f, " = {init}"),
            None => Ok(()),
        }
    }
}
