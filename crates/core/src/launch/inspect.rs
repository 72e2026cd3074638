//! Values of a launch's memory for a reader: `out[0..16]`, `sum(out)`.

use super::Launch;
use super::element::Value;
use super::expression::Parser;
use super::reference::Region;
use super::term::{Scope, Side, region, value};
use super::token::tokenize;
use crate::diag::{Diagnostic, Span};

/// Value of an expression of the directive language in the memory of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inspected {
    /// Elements of a buffer or slice.
    Elements {
        /// Name of the buffer.
        buffer: String,
        /// Index of the first element.
        first: u64,
        /// The elements as text.
        values: Vec<String>,
    },
    /// A number as text.
    Number(String),
}

impl Launch {
    /// Evaluates an expression on the buffers as they are.
    ///
    /// # Errors
    /// Returns the reason if the text is no expression, names something unknown, or reads outside
    /// of a buffer.
    pub fn inspect(&self, text: &str) -> Result<Inspected, String> {
        let mut diagnostics = Vec::new();
        let lexemes = tokenize(text, 0, &mut diagnostics);
        let said = |found: Diagnostic| match found.help {
            Some(help) => format!("{}\nhelp: {help}", found.message),
            None => found.message,
        };
        if let Some(first) = diagnostics.into_iter().next() {
            return Err(said(first));
        }
        let mut parser = Parser::new(&lexemes, Span::default());
        let expr = parser.expression().map_err(said)?;
        if !parser.at_end() {
            return Err(said(parser.expected("the end of the expression")));
        }
        let scope = Scope {
            constants: &self.constants,
            buffers: &self.buffers,
            variable: None,
            side: Side::Before,
        };
        match region(&expr, &scope).map_err(said)? {
            Some(region) => Ok(self.elements(&region)),
            None => match value(&expr, &scope).map_err(said)? {
                Value::Int(number) => Ok(Inspected::Number(number.to_string())),
                Value::Float(number) => Ok(Inspected::Number(number.to_string())),
            },
        }
    }

    fn elements(&self, region: &Region) -> Inspected {
        let buffer = self.buffers.get(region.buffer);
        let indices = region.first..region.first + region.count;
        Inspected::Elements {
            buffer: buffer.map_or_else(String::new, |buffer| buffer.name.clone()),
            first: region.first,
            values: buffer.into_iter().flat_map(|b| indices.clone().map(|i| b.number(i))).collect(),
        }
    }
}
