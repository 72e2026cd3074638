//! The command line: a thin shell over the library. See `cli`.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
