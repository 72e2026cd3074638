//! Numbers among the arguments. A negative one is a value, not an option; errors name the range.

use std::any::TypeId;
use std::fmt::Display;
use std::str::FromStr;

use clap::{Arg, Command};

/// Sets the parser of every number of the command line.
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

/// Parses a whole number; allows `_` between digits, as in a program.
fn whole<T: FromStr + Display + Copy>(most: T) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let digits = text.replace('_', "");
        digits.parse().map_err(|_| format!("expected a whole number from 0 to {most}"))
    }
}
