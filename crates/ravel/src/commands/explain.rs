//! `ravel explain`: explains a rule, a pattern or a level of evidence, with an example and its fix.

use std::process::ExitCode;

use ravel_report::rules::{Page, pages};

use super::report::{ColorArgs, print};

/// The arguments of `ravel explain`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A rule (data-race, atomicity, …), a pattern ("R W' W"), patterns, evidence or config [default: list all names]
    topic: Option<String>,
    /// Print the page as Markdown
    #[arg(long)]
    markdown: bool,
    #[command(flatten)]
    color: ColorArgs,
}

/// Runs `ravel explain`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Some(topic) = &args.topic else {
        let widest = pages().map(|p| p.name.len()).max().unwrap_or(0);
        let mut text = String::from("ravel explain NAME prints the page of:\n\n");
        for page in pages() {
            let summary = page.summary();
            let sentence = summary.split_inclusive(". ").next().unwrap_or_default();
            let room = args.color.width().saturating_sub(widest + 4);
            for (row, line) in ravel_report::layout::wrap(sentence, room).iter().enumerate() {
                let name = if row == 0 { page.name } else { "" };
                text.push_str(&format!("  {name:widest$}  {line}\n"));
            }
        }
        print(&text)?;
        return Ok(ExitCode::SUCCESS);
    };
    let page = Page::find(topic)?;
    let text = if args.markdown {
        page.text.to_owned()
    } else {
        page.render(args.color.width(), args.color.color(), args.color.unicode())
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
