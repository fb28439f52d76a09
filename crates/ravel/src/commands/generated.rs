//! `ravel completions` and `ravel man`: generated from the one definition of the command line.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap_complete::Shell;
use ravel_report::format::nearest;

use super::report::print;

/// The arguments of `ravel completions`.
#[derive(clap::Args, Debug)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// The arguments of `ravel man`.
#[derive(clap::Args, Debug)]
pub struct ManArgs {
    /// The command, or several for a nested one: `trace dump`; none for ravel itself
    command: Vec<String>,
}

/// Prints the completions.
pub fn completions(args: &CompletionsArgs, mut definition: clap::Command) -> Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut definition, "ravel", &mut text);
    print(&String::from_utf8(text).context("the completions are not text")?)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page.
pub fn man(args: &ManArgs, definition: clap::Command) -> Result<ExitCode> {
    let mut definition = definition.disable_help_subcommand(true);
    definition.build();
    let mut wanted = &definition;
    let mut name = "ravel".to_owned();
    for part in &args.command {
        let Some(found) = wanted.find_subcommand(part) else {
            let known: Vec<&str> = wanted.get_subcommands().map(clap::Command::get_name).collect();
            match nearest(part, known.iter().copied()) {
                Some(near) => bail!("`{name}` has no command `{part}`; did you mean `{near}`?"),
                None => bail!("`{name}` has no command `{part}`; it has {}", known.join(", ")),
            }
        };
        wanted = found;
        name = format!("{name} {part}");
    }
    let mut text = Vec::new();
    let named = wanted.clone().version(env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(named)
        .render(&mut text)
        .context("the manual page")?;
    print(&String::from_utf8(text).context("the manual page is not text")?)?;
    Ok(ExitCode::SUCCESS)
}
