//! Checks the instruction sequences around calls.
//!
//! "All st.param instructions used for passing arguments to function call must immediately precede
//! the corresponding call instruction and ld.param instruction used for collecting return value
//! must immediately follow the call instruction without any control flow alteration. st.param and
//! ld.param instructions used for argument passing cannot be predicated." (PTX ISA, Function
//! Declarations and Definitions). ptxas accepts other sequences silently and passes an argument to
//! one of the calls only. In the simulator `.param` variables keep their value, so these are
//! warnings.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Span};
use crate::ptx::tree::{Instruction, Operand, Statement};

/// Checks the calls in a function body.
pub(super) fn sequences(body: &[Statement]) -> Vec<Diagnostic> {
    let mut reader = Reader::default();
    reader.read(body);
    reader.found
}

/// State of a `.param` variable at this point of the text.
#[derive(Clone, Copy)]
enum Known {
    /// Not stored since the last call.
    Empty,
    /// Stored, without control flow since.
    Stored(Span),
    /// Stored, followed by a label, a branch or another call.
    Cut(Span, Span),
    /// Result of the last call.
    Result,
}

#[derive(Default)]
struct Reader<'a> {
    /// `.param` variables of the body.
    variables: BTreeMap<&'a str, Known>,
    found: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    fn read(&mut self, body: &'a [Statement]) {
        for statement in body {
            match statement {
                Statement::Variable(variable) if variable.space.text == "param" => {
                    self.variables.insert(&variable.name.text, Known::Empty);
                }
                Statement::Label(name) => self.cut(name.span),
                Statement::Instruction(inst) => self.instruction(inst),
                Statement::Block(inner, _) => self.read(inner),
                _ => {}
            }
        }
    }

    fn instruction(&mut self, inst: &'a Instruction) {
        let mut words = inst.mnemonic.text.split('.');
        match (words.next().unwrap_or_default(), words.next().unwrap_or_default()) {
            ("st", "param") => {
                if let Some(name) = self.variable(inst) {
                    self.unguarded(inst);
                    self.variables.insert(name, Known::Stored(inst.span));
                }
            }
            ("ld", "param") => {
                if let Some(name) = self.variable(inst) {
                    self.unguarded(inst);
                    self.collects(name, inst.span);
                }
            }
            ("call", _) => self.call(inst),
            ("bra" | "brx" | "ret" | "exit" | "trap", _) => self.cut(inst.span),
            _ => {}
        }
    }

    /// Returns the `.param` variable of a load or store.
    fn variable(&self, inst: &'a Instruction) -> Option<&'a str> {
        inst.operands.iter().find_map(|operand| match operand {
            Operand::Address { base: Some(name), .. }
                if self.variables.contains_key(name.text.as_str()) =>
            {
                Some(name.text.as_str())
            }
            _ => None,
        })
    }

    fn unguarded(&mut self, inst: &Instruction) {
        if inst.guard.is_some() {
            let message = "predicated access to a parameter or result of a call";
            let finding = Diagnostic::warning("call-sequence", inst.span, message);
            self.found.push(finding.help("select the value first, and pass it unconditionally"));
        }
    }

    /// Records a change of control flow at `at`: a label, a branch or another call.
    fn cut(&mut self, at: Span) {
        for known in self.variables.values_mut() {
            *known = match *known {
                Known::Stored(store) => Known::Cut(store, at),
                Known::Result => Known::Empty,
                other => other,
            };
        }
    }

    fn call(&mut self, inst: &'a Instruction) {
        let (results, arguments) = match &inst.operands[..] {
            [Operand::List(results, _), _, rest @ ..] => (&results[..], rest),
            [_, rest @ ..] => (&[][..], rest),
            [] => return,
        };
        let arguments = match arguments {
            [Operand::List(arguments, _), ..] => &arguments[..],
            _ => &[],
        };
        for operand in arguments {
            let Operand::Name(name) = operand else { continue };
            if let Some(&Known::Cut(store, cut)) = self.variables.get(name.text.as_str()) {
                let message =
                    format!("control flow between the store to `{}` and the call", name.text);
                let finding =
                    Diagnostic::warning("call-sequence", name.span, message).label("passed here");
                let finding =
                    finding.also(store, "stored here").also(cut, "control flow may change here");
                self.found.push(finding.help("store every argument directly before its call"));
            }
        }
        self.cut(inst.span);
        for operand in results {
            if let Operand::Name(name) = operand
                && let Some(known) = self.variables.get_mut(name.text.as_str())
            {
                *known = Known::Result;
            }
        }
    }

    /// Checks a load from a `.param` variable.
    fn collects(&mut self, name: &str, at: Span) {
        if matches!(self.variables.get(name), Some(Known::Empty)) {
            let message = format!("control flow between the call and the load of `{name}`");
            let finding = Diagnostic::warning("call-sequence", at, message);
            let help = "load the results of a call directly after it";
            self.found.push(finding.help(help));
        }
    }
}
