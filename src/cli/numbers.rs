//! Numbers among the arguments: a negative one is a value, not an option, and is told which values are possible.

use std::any::TypeId;
use std::fmt::Display;
use std::str::FromStr;

use clap::{Arg, Command};

/// The command line with its numbers read as described.
pub(crate) fn read(command: Command) -> Command {
    command.mut_args(of_one).mut_subcommands(read)
}

fn of_one(arg: Arg) -> Arg {
    let ty = arg.get_value_parser().type_id();
    if ty == TypeId::of::<u32>() {
        arg.allow_negative_numbers(true).value_parser(whole::<u32>(u32::MAX))
    } else if ty == TypeId::of::<u64>() {
        arg.allow_negative_numbers(true).value_parser(whole::<u64>(u64::MAX))
    } else if ty == TypeId::of::<usize>() {
        arg.allow_negative_numbers(true).value_parser(whole::<usize>(usize::MAX))
    } else {
        arg
    }
}

/// Reads a whole number, `_` between digits allowed as in a program.
fn whole<T: FromStr + Display + Copy>(most: T) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let digits = text.replace('_', "");
        digits.parse().map_err(|_| format!("expected a whole number from 0 to {most}"))
    }
}
