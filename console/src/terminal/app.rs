//! The state of the screen, and the effects of keys on it.

use jobstats_core::base::instant::{MINUTE, Micros, SECOND};
use jobstats_core::base::target::TargetKind;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::live::history::{LONGEST_WINDOW, TargetStates};
use crate::live::rows::Table;
use crate::live::view::{By, Choice, Filter, View};
use crate::show::line::Line;
use crate::show::page::{Mode, ScreenState, page, tables};
use crate::source::{Step, Update};
use crate::terminal::help::help;

#[cfg(test)]
mod tests;

/// The windows over which rates can be averaged.
const WINDOWS: [Micros; 6] = [
    0,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    LONGEST_WINDOW,
];

/// The minimums of requests per second.
const MINIMUMS: [f64; 8] = [0.0, 0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4];

/// The shortest and the longest time between readings.
const INTERVALS: (Micros, Micros) = (SECOND, 10 * MINUTE);

/// The slowest and the fastest replay.
const SPEEDS: (f64, f64) = (0.125, 16384.0);

/// The work of the program after a key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Action {
    Draw,
    Quit,
    /// Go to another reading of the recording.
    Step(Step),
}

/// The state of the screen.
#[derive(Default)]
pub struct App {
    /// The rows that are looked at.
    pub view: View,
    /// The way in which they are shown.
    pub look: ScreenState,
    /// The state of the targets in the last round.
    history: TargetStates,
    /// The state at which the screen was paused.
    frozen: Option<TargetStates>,
    /// The rows, and the targets next to them, as they were shown last.
    tables: [Table; 2],
    is_help: bool,
    /// The filter before one is typed.
    previous_filter: Filter,
}

impl App {
    /// Starts without a reading.
    pub fn new(view: View, look: ScreenState) -> Self {
        Self {
            view,
            look,
            ..Self::default()
        }
    }

    /// Returns the state of the targets that is shown.
    #[cfg(test)]
    pub fn history(&self) -> &TargetStates {
        self.frozen.as_ref().unwrap_or(&self.history)
    }

    /// Takes new readings.
    pub fn take(&mut self, update: Update) {
        if let Some(is_live) = update.is_live {
            self.go(is_live);
        }
        self.look.position = update.position;
        update.apply(&mut self.history, &mut self.view.users);
    }

    /// Returns the lines of the screen.
    pub fn lines(&mut self, width: usize, height: usize) -> Vec<Line> {
        let history = self.frozen.as_ref().unwrap_or(&self.history);
        let (view, look, size) = (&self.view, &mut self.look, (width, height));
        if self.is_help {
            let example = history.owner(None).map(|it| it.decoded(&view.users));
            return help(width, height, example);
        }
        let new = tables(history, view, look, size, &self.tables);
        let before = std::mem::replace(&mut self.tables, new);
        // The selection stays with its row as long as that is shown. The first row is no selection.
        let [rows, before] = [&self.tables[0].rows, &before[0].rows];
        let selected = before.get(look.selected).filter(|_| look.selected > 0);
        let place = selected.and_then(|it| rows.iter().position(|row| row.key == it.key));
        let last = rows.len().saturating_sub(1);
        look.selected = place.unwrap_or(look.selected).min(last);
        page(history, &self.tables, view, look, size)
    }

    /// Handles a key.
    pub fn key(&mut self, key: KeyEvent) -> Action {
        self.look.message = None;
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c' | 'd') => Action::Quit,
                _ => Action::Draw,
            };
        }
        if self.look.typing.is_some() {
            self.type_filter(key.code);
            return Action::Draw;
        }
        if self.is_help {
            self.is_help = false;
            return match key.code {
                KeyCode::Char('q') => Action::Quit,
                _ => Action::Draw,
            };
        }
        match key.code {
            KeyCode::Char('q') => return Action::Quit,
            KeyCode::Char('?') | KeyCode::F(1) => self.is_help = true,
            KeyCode::Char(letter) => self.letter(letter),
            KeyCode::Tab => self.letter('g'),
            KeyCode::BackTab => self.letter('G'),
            KeyCode::Down => self.letter('j'),
            KeyCode::Up => self.letter('k'),
            KeyCode::Enter => self.enter(),
            KeyCode::Esc | KeyCode::Backspace => self.leave(),
            KeyCode::F(11) => self.letter('h'),
            KeyCode::Left => return self.move_by(Step::By(-1)),
            KeyCode::Right => return self.move_by(Step::By(1)),
            KeyCode::PageUp => return self.move_by(Step::By(-10)),
            KeyCode::PageDown => return self.move_by(Step::By(10)),
            KeyCode::Home => return self.move_by(Step::Begin),
            KeyCode::End => return self.move_by(Step::End),
            _ => {}
        }
        Action::Draw
    }

    fn letter(&mut self, letter: char) {
        match letter {
            'j' => self.look.selected += 1,
            'k' => self.look.selected = self.look.selected.saturating_sub(1),
            'g' => self.group(self.view.group_moved(1)),
            'G' => self.group(self.view.group_moved(-1)),
            'u' => self.group(By::User),
            'J' => self.group(By::Job),
            'A' if self.view.is_store => self.group(By::Account),
            't' => self.group(By::Target),
            'O' => self.group(By::Operation),
            's' => self.view.sort = self.view.sort.moved(1),
            'S' => self.view.sort = self.view.sort.moved(-1),
            'm' => {
                self.view.kind = match self.view.kind {
                    None => Some(TargetKind::Mdt),
                    Some(TargetKind::Mdt) => Some(TargetKind::Ost),
                    Some(TargetKind::Ost) => None,
                }
            }
            'a' | 'c' => self.view.clear(),
            'x' => self.view.minimum = beside(&MINIMUMS, self.view.minimum, true),
            'X' => self.view.minimum = beside(&MINIMUMS, self.view.minimum, false),
            'r' => self.look.amounts = !self.look.amounts,
            '+' | '=' => self.view.window = beside(&WINDOWS, self.view.window, true),
            '-' => self.view.window = beside(&WINDOWS, self.view.window, false),
            '/' => {
                self.previous_filter = self.view.filter.clone();
                self.look.typing = Some(self.view.filter.0.clone());
            }
            ' ' | 'p' => self.pause(),
            _ => self.letter_of_look(letter),
        }
    }

    fn letter_of_look(&mut self, letter: char) {
        let look = &mut self.look;
        let rows = look.rows.unwrap_or(self.tables[0].rows.len());
        match letter {
            'n' => look.rows = Some(rows.saturating_add(1)),
            'N' => look.rows = Some(rows.saturating_sub(1).max(1)),
            '1' => look.head = !look.head,
            '2' => look.bars = !look.bars,
            '3' => look.foot = !look.foot,
            'h' => {
                let is_shown = look.head || look.foot;
                (look.head, look.foot) = (!is_shown, !is_shown);
            }
            'l' => look.legend = !look.legend,
            'L' => look.log = !look.log,
            '[' => self.change_interval(-SECOND),
            ']' => self.change_interval(SECOND),
            '<' | ',' => self.change_speed(0.5),
            '>' | '.' => self.change_speed(2.0),
            _ => {}
        }
    }

    /// Goes through a recording, or from now into the past that a store keeps and back.
    fn move_by(&mut self, step: Step) -> Action {
        match (self.look.mode, step) {
            (Mode::Replay, _) => {}
            (_, Step::End | Step::By(1..)) if self.view.is_store => {
                return self.message("already live");
            }
            _ if self.view.is_store => {
                self.go(false);
                self.look.is_paused = true;
            }
            _ => return self.message("only recordings and stores have a past"),
        }
        Action::Step(step)
    }

    /// Shows live readings, or the past.
    fn go(&mut self, is_live: bool) {
        match (self.look.mode, is_live) {
            (Mode::Replay, true) => (self.look.mode, self.look.is_paused) = (Mode::Live, false),
            (Mode::Live, false) => (self.look.mode, self.frozen) = (Mode::Replay, None),
            _ => {}
        }
    }

    /// Takes a key of the filter, which counts from its first letter on.
    fn type_filter(&mut self, code: KeyCode) {
        let Some(mut typed) = self.look.typing.take() else {
            return;
        };
        match code {
            KeyCode::Char(letter) if typed.len() < 200 => typed.push(letter),
            KeyCode::Backspace => {
                typed.pop();
            }
            KeyCode::Enter => return,
            KeyCode::Esc => {
                self.view.filter = std::mem::take(&mut self.previous_filter);
                return;
            }
            _ => {}
        }
        self.view.filter = Filter::new(&typed);
        self.look.typing = Some(typed);
    }

    fn group(&mut self, by: By) {
        self.view.by = by;
        self.look.selected = 0;
    }

    fn enter(&mut self) {
        if let Some(row) = self.tables[0].rows.get(self.look.selected) {
            self.view.enter(row.key.clone());
            self.look.selected = 0;
        }
    }

    fn leave(&mut self) {
        if !self.view.filter.is_empty() {
            self.view.filter = Filter::default();
        } else if self.view.leave() {
            self.look.selected = 0;
        }
    }

    /// Lets the screen stand still, or go on with the last reading.
    fn pause(&mut self) {
        self.look.is_paused = !self.look.is_paused;
        // A recording pauses by itself.
        let is_live = self.look.mode == Mode::Live;
        self.frozen = (self.look.is_paused && is_live).then(|| self.history.clone());
    }

    fn change_interval(&mut self, by: Micros) {
        if self.look.mode == Mode::Live {
            self.look.interval = (self.look.interval + by).clamp(INTERVALS.0, INTERVALS.1);
        }
    }

    fn change_speed(&mut self, by: f64) {
        if self.look.mode == Mode::Replay {
            self.look.speed = (self.look.speed * by).clamp(SPEEDS.0, SPEEDS.1);
        } else {
            self.message("only playback has a speed");
        }
    }

    fn message(&mut self, message: &str) -> Action {
        self.look.message = Some(message.to_owned());
        Action::Draw
    }
}

/// Returns the next larger or smaller value of a list, or the value itself at the end of the list.
fn beside<T: Copy + PartialOrd>(list: &[T], value: T, larger: bool) -> T {
    let found = match larger {
        true => list.iter().find(|it| **it > value),
        false => list.iter().rev().find(|it| **it < value),
    };
    found.copied().unwrap_or(value)
}
