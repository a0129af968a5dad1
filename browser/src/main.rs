//! `jobstats-browser`: checks pages, and takes pictures of pages and terminals for the documentation.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use jobstats_browser::chromium::{self, Chromium, Error};
use jobstats_browser::view::{Scheme, View};
use jobstats_browser::{axe, inspect, terminal};

/// Looks at pages in headless Chromium.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Say what is wrong with pages.
    Check {
        /// The pages.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Take a picture of a page.
    Picture {
        /// The page.
        file: PathBuf,
        /// The file to write, as PNG.
        picture: PathBuf,
        #[command(flatten)]
        window: Window,
        /// Take all of the page, however high.
        #[arg(long)]
        whole: bool,
    },
    /// Take a picture of a terminal.
    Terminal {
        /// The output of `tmux capture-pane -e -p`.
        captured: PathBuf,
        /// The file to write, as PNG.
        picture: PathBuf,
    },
    /// Print a page.
    Print {
        /// The page.
        file: PathBuf,
        /// The file to write, as PDF.
        paper: PathBuf,
    },
}

#[derive(Debug, Args)]
struct Window {
    /// The width of the window.
    #[arg(long, default_value_t = 1100)]
    width: u32,
    /// The height of the window.
    #[arg(long, default_value_t = 800)]
    height: u32,
    /// The colours.
    #[arg(long, value_enum, default_value = "light")]
    scheme: Scheme,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Some(program) = chromium::program() else {
        eprintln!("jobstats-browser: Chromium is missing: run make setup-dev");
        return ExitCode::from(69);
    };
    match run(arguments.command, &program) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("jobstats-browser: {error}");
            ExitCode::from(71)
        }
    }
}

/// Returns false if a page has a fault.
fn run(command: Command, program: &Path) -> Result<bool, Error> {
    let chromium = Chromium::start(program)?;
    match command {
        Command::Check { files } => return check(&chromium, &files),
        Command::Picture {
            file,
            picture,
            window,
            whole,
        } => {
            let view = View::Screen {
                width: window.width,
                height: window.height,
                scheme: window.scheme,
            };
            let taken = chromium.open(&file, view)?.picture(whole)?;
            write(&picture, &taken)?;
        }
        Command::Terminal { captured, picture } => {
            let page = tempfile::Builder::new().suffix(".html").tempfile()?;
            fs::write(page.path(), terminal::page(&fs::read_to_string(captured)?))?;
            let tab = chromium.open(page.path(), View::screen(1440, Scheme::Dark))?;
            write(&picture, &tab.picture_of("pre")?)?;
        }
        Command::Print { file, paper } => {
            let printed = chromium.open(&file, View::Paper)?.print()?;
            write(&paper, &printed)?;
        }
    }
    Ok(true)
}

fn check(chromium: &Chromium, files: &[PathBuf]) -> Result<bool, Error> {
    let mut is_good = true;
    let axe = axe::file();
    for file in files {
        let mut faults = inspect::faults(chromium, file)?;
        match &axe {
            Some(axe) => faults.extend(axe::faults(chromium, axe, file)?),
            None => eprintln!("jobstats-browser: axe was not run: JOBSTATS_TEST_AXE names no file"),
        }
        is_good &= faults.is_empty();
        for fault in faults {
            println!("{} {fault}", file.display());
        }
    }
    Ok(is_good)
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), Error> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", file.display()));
    Ok(fs::write(file, bytes).map_err(named)?)
}
