//! The terminal: draws the lines, waits for keys and readings.

use std::io;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use jobstats_client::program::exit;
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use ratatui::layout::Rect;

use super::app::{Action, App};
use crate::ask::error::Error;
use crate::show::page::{Mode, ScreenState};
use crate::source::{Source, Step, Update, process};

/// The longest time between two looks at the updates of the source.
const GLANCE: Duration = Duration::from_millis(50);

/// The shortest time between two readings of a recording.
const SHORTEST: Duration = Duration::from_millis(100);

/// Shows the screen until it is quit.
pub fn run(app: &mut App, source: Box<dyn Source>) -> Result<(), Error> {
    let mut terminal = ratatui::try_init().map_err(broken)?;
    let is_coloured = super::wants_colours();
    let worker = Worker::start(source);
    let ended = follow(app, worker, |app| {
        let drawn = terminal.draw(|frame| draw(frame, app, is_coloured));
        drawn.map(|_| ()).map_err(broken)
    });
    ratatui::restore();
    process::end_all();
    ended
}

fn broken(error: io::Error) -> Error {
    Error::other(exit::SYSTEM, format!("cannot use the terminal: {error}"))
}

/// A thread that makes readings, so that keys are answered meanwhile.
struct Worker {
    steps: Sender<Step>,
    updates: Receiver<Result<Update, Error>>,
    /// True while a reading is made.
    is_busy: bool,
    /// A step requested during a round.
    waiting: Option<Step>,
}

impl Worker {
    fn start(mut source: Box<dyn Source>) -> Self {
        let (steps, asked) = channel();
        let (answer, updates) = channel();
        // The thread ends with the program: a command that hangs must not keep a person waiting.
        thread::spawn(move || {
            for step in asked {
                if answer.send(source.step(step)).is_err() {
                    break;
                }
            }
        });
        Self {
            steps,
            updates,
            is_busy: false,
            waiting: None,
        }
    }

    fn ask(&mut self, step: Step) {
        if self.is_busy {
            self.waiting = joined(self.waiting, step);
            return;
        }
        self.is_busy = self.steps.send(step).is_ok();
    }

    /// Returns the readings that were made since the last call.
    fn updates(&mut self) -> Result<Option<Update>, Error> {
        match self.updates.try_recv() {
            Ok(update) => {
                self.is_busy = false;
                if let Some(step) = self.waiting.take() {
                    self.ask(step);
                }
                update.map(Some)
            }
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => Ok(None),
        }
    }
}

/// Returns the next step after the current round, when a key requests another one.
fn joined(waiting: Option<Step>, step: Step) -> Option<Step> {
    match (waiting, step) {
        (Some(Step::By(first)), Step::By(second)) => Some(Step::By(first + second)),
        (Some(waiting), Step::Next) => Some(waiting),
        _ => Some(step),
    }
}

/// Draws, and waits for keys and readings, until the screen is quit.
fn follow(
    app: &mut App,
    mut worker: Worker,
    mut draw: impl FnMut(&mut App) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut due = Some(Instant::now());
    let mut first = match app.look.mode {
        Mode::Replay => Step::Begin,
        Mode::Live | Mode::Print => Step::Next,
    };
    draw(app)?;
    loop {
        if due.is_some_and(|due| due <= Instant::now()) && !worker.is_busy {
            let is_still = app.look.is_paused && app.look.mode == Mode::Replay;
            due = match app.look.mode {
                Mode::Live => due.map(|due| next(due, app.look.interval)),
                Mode::Replay | Mode::Print => None,
            };
            match is_still {
                true => due = Some(Instant::now() + SHORTEST),
                false => worker.ask(std::mem::replace(&mut first, Step::Next)),
            }
        }
        let mut is_new = false;
        while let Some(update) = worker.updates()? {
            let gap = update.until_next;
            app.take(update);
            due = due_after(&app.look, gap, due);
            is_new = true;
        }
        if is_new {
            draw(app)?;
        }
        let left = due.map_or(GLANCE, |due| due.saturating_duration_since(Instant::now()));
        if !event::poll(left.min(GLANCE)).map_err(broken)? {
            continue;
        }
        let action = match event::read().map_err(broken)? {
            Event::Key(key) if key.kind != KeyEventKind::Release => app.key(key),
            _ => Action::Draw,
        };
        match action {
            Action::Quit => return Ok(()),
            Action::Step(step) => worker.ask(step),
            Action::Draw => {}
        }
        draw(app)?;
    }
}

/// Returns the time of the next round.
fn due_after(look: &ScreenState, gap: Option<i64>, due: Option<Instant>) -> Option<Instant> {
    let after = |gap: f64| Some(Instant::now() + Duration::from_secs_f64(gap.clamp(0.0, 1e6)));
    match (look.mode, gap) {
        (Mode::Replay, Some(gap)) => {
            after(gap as f64 / 1e6 / look.speed).map(|due| due.max(Instant::now() + SHORTEST))
        }
        // A failed reading is tried again after a pause. At the end of the past, live readings go on.
        (Mode::Live, Some(gap)) => after(gap as f64 / 1e6),
        (Mode::Live, None) => due.or_else(|| after(look.interval as f64 / 1e6)),
        _ => due,
    }
}

/// Returns the time of the next reading. Readings that were missed are not made up for.
fn next(due: Instant, interval: i64) -> Instant {
    let interval = Duration::from_micros(interval.unsigned_abs());
    (due + interval).max(Instant::now())
}

/// Draws the lines on the whole screen.
pub fn draw(frame: &mut Frame<'_>, app: &mut App, is_coloured: bool) {
    let area = frame.area();
    let lines = app.lines(usize::from(area.width), usize::from(area.height));
    for (mut line, y) in lines.into_iter().zip(area.y..area.bottom()) {
        if !is_coloured {
            line.spans.iter_mut().for_each(|span| span.style.fg = None);
        }
        frame.render_widget(line, Rect::new(area.x, y, area.width, 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_wait_are_joined() {
        assert_eq!(joined(None, Step::By(1)), Some(Step::By(1)));
        assert_eq!(joined(Some(Step::By(1)), Step::By(-10)), Some(Step::By(-9)));
        assert_eq!(joined(Some(Step::By(1)), Step::Next), Some(Step::By(1)));
        assert_eq!(joined(Some(Step::By(1)), Step::End), Some(Step::End));
    }

    #[test]
    fn readings_that_were_missed_are_not_made_up_for() {
        let now = Instant::now();
        let hour = Duration::from_secs(3600);
        assert_eq!(next(now, 3_600_000_000), now + hour);
        let past = now.checked_sub(Duration::from_secs(60)).unwrap_or(now);
        assert!(next(past, 1_000) >= now);
    }
}
