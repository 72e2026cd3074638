//! Values of an expression for one index after another.
//!
//! A *column* is the values for many indices, all integers of 64 bits or all doubles. It is
//! computed operator by operator, each in a loop over the column. What does not fit (an overflow,
//! an index out of bounds, a slice, a result of either kind) gives no column: its indices are
//! evaluated one by one, with the same values and errors.

use std::array;
use std::ops::Range;

use super::arithmetic::Function;
use super::element::{Value, bits, decode};
use super::expression::{Binary, Unary};
use super::reference::Region;
use super::term::{MemoryView, Term, eval_next};
use super::window::Windows;
use crate::diag::Diagnostic;

/// Indices of a column.
const ROWS: usize = 128;
/// Operators of a term within each other, at most: each takes some columns of the host's stack.
const MOST_DEPTH: u32 = 24;

/// Values for [`ROWS`] indices.
#[derive(Clone, Copy)]
enum Column {
    Ints([i64; ROWS]),
    Floats([f64; ROWS]),
}

/// The values of a term for the indices of a range, in order.
pub(super) struct Values<'a> {
    term: &'a Term,
    memory: &'a dyn MemoryView,
    /// Indices without a value yet.
    indices: Range<i128>,
    windows: Windows,
    /// Column of the next indices, if they have one.
    column: Option<Column>,
    /// Its next row, or as many indices without a column; at least [`ROWS`]: the next column.
    row: usize,
}

impl<'a> Values<'a> {
    /// Returns the values of `term` for `indices`, read from `memory`.
    pub(super) fn new(
        term: &'a Term,
        memory: &'a dyn MemoryView,
        indices: Range<i128>,
    ) -> Values<'a> {
        Values { term, memory, indices, windows: Windows::default(), column: None, row: ROWS }
    }
}

impl Iterator for Values<'_> {
    type Item = Result<Value, Diagnostic>;

    fn next(&mut self) -> Option<Result<Value, Diagnostic>> {
        if self.row >= ROWS {
            self.column = column(self.term, self.memory, self.indices.start, MOST_DEPTH);
            self.row = 0;
        }
        let index = self.indices.next()?;
        let row = self.row;
        self.row += 1;
        Some(match &self.column {
            Some(column) => Ok(column.value(row)),
            None => eval_next(self.term, self.memory, index, &mut self.windows),
        })
    }
}

impl Column {
    fn value(&self, row: usize) -> Value {
        match self {
            Column::Ints(values) => Value::Int(values[row].into()),
            Column::Floats(values) => Value::Float(values[row]),
        }
    }

    fn floats(&self) -> [f64; ROWS] {
        match self {
            Column::Ints(values) => values.map(|v| v as f64),
            Column::Floats(values) => *values,
        }
    }

    fn ints(&self) -> Option<&[i64; ROWS]> {
        if let Column::Ints(values) = self { Some(values) } else { None }
    }

    /// Returns which values are true.
    fn truth(&self) -> [bool; ROWS] {
        match self {
            Column::Ints(values) => values.map(|v| v != 0),
            Column::Floats(values) => values.map(|v| v != 0.0),
        }
    }
}

/// Returns the values of a term for [`ROWS`] indices from `first` on.
///
/// Gives none for a term of more than `depth` operators within each other.
fn column(term: &Term, memory: &dyn MemoryView, first: i128, depth: u32) -> Option<Column> {
    let depth = depth.checked_sub(1)?;
    let sub = |term: &Term| column(term, memory, first, depth);
    match term {
        Term::Value(Value::Int(v)) => Some(Column::Ints([i64::try_from(*v).ok()?; ROWS])),
        Term::Value(Value::Float(v)) => Some(Column::Floats([*v; ROWS])),
        Term::Index => {
            let first = i64::try_from(first).ok()?;
            first.checked_add(ROWS as i64)?;
            Some(Column::Ints(array::from_fn(|row| first + row as i64)))
        }
        Term::Element { region, index, .. } => elements(region, sub(index)?.ints()?, memory),
        Term::Unary(operator, operand, _) => unary(*operator, sub(operand)?),
        Term::Binary(operator, left, right, _) => binary(*operator, &sub(left)?, &sub(right)?),
        Term::Choice(parts, _) => {
            let [condition, yes, no] = &**parts;
            let condition = sub(condition)?.truth();
            match (sub(yes)?, sub(no)?) {
                (Column::Ints(yes), Column::Ints(no)) => {
                    Some(Column::Ints(rows(|i| if condition[i] { yes[i] } else { no[i] })))
                }
                (Column::Floats(yes), Column::Floats(no)) => {
                    Some(Column::Floats(rows(|i| if condition[i] { yes[i] } else { no[i] })))
                }
                _ => None,
            }
        }
        Term::Function(Function::Min, terms, _) => extreme(terms.iter().map(sub), true),
        Term::Function(Function::Max, terms, _) => extreme(terms.iter().map(sub), false),
        Term::Function(function, terms, _) => match &terms[..] {
            [operand] => of_one(*function, sub(operand)?),
            _ => None,
        },
        Term::Reduce(..) | Term::Window { .. } => None,
    }
}

fn rows<T>(of: impl FnMut(usize) -> T) -> [T; ROWS] {
    array::from_fn(of)
}

/// Returns the integers that `of` gives for all rows, unless one does not fit.
fn checked(of: impl Fn(usize) -> Option<i64>) -> Option<Column> {
    let mut fits = true;
    let values = rows(|row| {
        let value = of(row);
        fits &= value.is_some();
        value.unwrap_or(0)
    });
    fits.then_some(Column::Ints(values))
}

/// Returns the elements of a buffer at the indices.
fn elements(region: &Region, at: &[i64; ROWS], memory: &dyn MemoryView) -> Option<Column> {
    let Region { buffer, element, count, .. } = *region;
    let words = memory.words(buffer)?;
    // A negative index is a huge one.
    if at.iter().any(|&at| at as u64 >= count) {
        return None;
    }
    let word = |w: u64| words.get(w as usize).copied().unwrap_or(0);
    let value = |row: usize| decode(bits(&word, element, at[row] as u64), element);
    if element.is_float() {
        return Some(Column::Floats(rows(|row| value(row).as_float())));
    }
    checked(|row| match value(row) {
        Value::Int(v) => i64::try_from(v).ok(),
        Value::Float(_) => None,
    })
}

fn unary(operator: Unary, operand: Column) -> Option<Column> {
    match (operator, operand) {
        (Unary::Minus, Column::Ints(values)) => checked(|row| values[row].checked_neg()),
        (Unary::Minus, Column::Floats(values)) => Some(Column::Floats(values.map(|v| -v))),
        (Unary::Complement, Column::Ints(values)) => Some(Column::Ints(values.map(|v| !v))),
        (Unary::Complement, Column::Floats(_)) => None,
        (Unary::Not, values) => Some(Column::Ints(values.truth().map(|v| i64::from(!v)))),
    }
}

fn binary(operator: Binary, left: &Column, right: &Column) -> Option<Column> {
    if matches!(operator, Binary::And | Binary::Or) {
        return logic(operator, left, right);
    }
    match (left, right) {
        (Column::Ints(a), Column::Ints(b)) => {
            compared(operator, a, b).or_else(|| of_ints(operator, a, b))
        }
        _ => {
            let (a, b) = (left.floats(), right.floats());
            compared(operator, &a, &b).or_else(|| of_floats(operator, &a, &b))
        }
    }
}

/// Returns which rows a comparison holds for.
fn compared<T: PartialOrd>(operator: Binary, a: &[T; ROWS], b: &[T; ROWS]) -> Option<Column> {
    let flags =
        |of: fn(&T, &T) -> bool| Some(Column::Ints(rows(|row| i64::from(of(&a[row], &b[row])))));
    match operator {
        Binary::Eq => flags(T::eq),
        Binary::Ne => flags(T::ne),
        Binary::Lt => flags(T::lt),
        Binary::Le => flags(T::le),
        Binary::Gt => flags(T::gt),
        Binary::Ge => flags(T::ge),
        _ => None,
    }
}

fn of_floats(operator: Binary, a: &[f64; ROWS], b: &[f64; ROWS]) -> Option<Column> {
    let all = |of: fn(f64, f64) -> f64| Some(Column::Floats(rows(|row| of(a[row], b[row]))));
    match operator {
        Binary::Add => all(|a, b| a + b),
        Binary::Sub => all(|a, b| a - b),
        Binary::Mul => all(|a, b| a * b),
        Binary::Div => all(|a, b| a / b),
        _ => None,
    }
}

fn of_ints(operator: Binary, a: &[i64; ROWS], b: &[i64; ROWS]) -> Option<Column> {
    let any = |of: fn(i64, i64) -> Option<i64>| checked(|row| of(a[row], b[row]));
    let all = |of: fn(i64, i64) -> i64| Some(Column::Ints(rows(|row| of(a[row], b[row]))));
    match operator {
        Binary::Add => any(i64::checked_add),
        Binary::Sub => any(i64::checked_sub),
        Binary::Mul => any(i64::checked_mul),
        Binary::Div => any(i64::checked_div),
        Binary::Rem => any(i64::checked_rem),
        Binary::Shl => any(|a, b| {
            let amount = u32::try_from(b).ok().filter(|amount| *amount < 64)?;
            Some(a << amount).filter(|shifted| shifted >> amount == a)
        }),
        Binary::Shr => any(|a, b| a.checked_shr(u32::try_from(b).ok()?)),
        Binary::BitAnd => all(|a, b| a & b),
        Binary::BitOr => all(|a, b| a | b),
        Binary::BitXor => all(|a, b| a ^ b),
        _ => None,
    }
}

/// Returns `&&` or `||` of two columns.
fn logic(operator: Binary, left: &Column, right: &Column) -> Option<Column> {
    let (a, b) = (left.truth(), right.truth());
    Some(Column::Ints(rows(|row| {
        i64::from(if operator == Binary::And { a[row] && b[row] } else { a[row] || b[row] })
    })))
}

/// Returns the smallest or the largest of columns of one kind, row by row.
fn extreme(mut columns: impl Iterator<Item = Option<Column>>, smallest: bool) -> Option<Column> {
    fn pick<T: PartialOrd + Copy>(a: &[T; ROWS], b: &[T; ROWS], smallest: bool) -> [T; ROWS] {
        rows(|row| {
            let (a, b) = (a[row], b[row]);
            if if smallest { b < a } else { b > a } { b } else { a }
        })
    }
    let first = columns.next()??;
    columns.try_fold(first, |a, b| match (a, b?) {
        (Column::Ints(a), Column::Ints(b)) => Some(Column::Ints(pick(&a, &b, smallest))),
        (Column::Floats(a), Column::Floats(b)) => Some(Column::Floats(pick(&a, &b, smallest))),
        _ => None,
    })
}

/// Returns a function of one number, row by row.
fn of_one(function: Function, operand: Column) -> Option<Column> {
    let floats = |of: fn(f64) -> f64| Some(Column::Floats(operand.floats().map(of)));
    match (function, &operand) {
        (Function::Abs, Column::Ints(values)) => checked(|row| values[row].checked_abs()),
        (Function::Abs, Column::Floats(_)) => floats(f64::abs),
        (Function::Popcount, Column::Ints(values)) => {
            Some(Column::Ints(values.map(|v| v.count_ones().into())))
        }
        (Function::Sqrt, _) => floats(f64::sqrt),
        (Function::Exp, _) => floats(f64::exp),
        (Function::Log, _) => floats(f64::ln),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
