//! `simt-sim --help`: the commands by task.

use std::fmt::Write as _;

use clap::Command;

/// Commands by task, in the order of the help.
const TASKS: [(&str, &[&str]); 6] = [
    ("See", &["run", "exec", "timeline", "step", "plot", "cfg"]),
    ("Ask", &["ask", "explain", "quiz"]),
    ("Check", &["check", "print", "isa"]),
    ("Grade", &["grade", "new"]),
    ("Compare", &["compare", "sweep", "crosscheck", "calibrate"]),
    ("Build on", &["import", "export", "metrics", "machine", "completions", "man", "help"]),
];

/// Returns the command line with its commands grouped by task in the help.
pub(crate) fn grouped(command: Command) -> Command {
    let header = *command.get_styles().get_header();
    let literal = *command.get_styles().get_literal();
    let about = |name: &str| match command.find_subcommand(name).and_then(Command::get_about) {
        Some(about) => about.to_string(),
        None => "Print the help of a command".to_owned(), // clap adds `help` later
    };
    let mut commands = String::new();
    for (task, names) in TASKS {
        let _ = writeln!(commands, "{header}{task}:{header:#}");
        for name in names {
            let _ = writeln!(commands, "  {literal}{name:<11}{literal:#}  {}", about(name));
        }
        commands.push('\n');
    }
    let head = "{about-with-newline}\n{usage-heading} {usage}\n";
    let options = format!("{header}Options:{header:#}\n{{options}}{{after-help}}");
    command.help_template(format!("{head}\n{commands}{options}"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::args::Args;

    #[test]
    fn every_command_has_one_task_and_one_line() {
        let mut listed: Vec<&str> =
            TASKS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        listed.sort_unstable();
        let command = Args::command();
        let mut all: Vec<&str> =
            command.get_subcommands().map(Command::get_name).chain(["help"]).collect();
        all.sort_unstable();
        assert_eq!(listed, all);
        for of in command.get_subcommands() {
            let about = of.get_about().map(ToString::to_string).unwrap_or_default();
            assert!((1..=85).contains(&about.chars().count()), "{}: {about}", of.get_name());
        }
    }
}
