//! The people of a site: users, their groups, and the accounts that pay for their jobs.

use crate::random::{Random, Seed, Weights, log_normal};

/// A user with jobs.
#[derive(Debug, Clone)]
pub struct Person {
    pub uid: u32,
    pub name: String,
    pub gid: u32,
    pub group: String,
    /// The accounts that may pay for the user's jobs; at least one.
    pub accounts: Vec<String>,
    /// The seed of the user's habits.
    pub seed: Seed,
}

/// The users of a site.
#[derive(Debug, Clone)]
pub struct People {
    pub people: Vec<Person>,
    /// The shares of the users in all submissions.
    weights: Weights,
}

/// The names of users. The last four are such as directories of other systems have.
const NAMES: &str =
    "ada bela chen dora emil fatima grace hugo ines jan kofi lena müller o'brien x.y-z AD\\carol";
/// More names, all easy to read.
const EASY_NAMES: &str = "mika noor olga pavel rosa sven tuomas uma vera wei yuki zoe anders birgit carlos dana eero \
                          farid gita hanna igor jonas kaisa luca maria nils oona petra";

impl People {
    /// Draws the users for so many jobs per day.
    pub fn new(seed: Seed, jobs: u64) -> Self {
        let count = (jobs / 10).clamp(32, 2_000);
        let people: Vec<_> = (0..count)
            .map(|number| Person::new(number, seed.of("person", &[number as i64])))
            .collect();
        let weight = |person: &Person| log_normal(&mut person.seed.random(), 1.0, 0.9);
        Self {
            weights: Weights::new(people.iter().map(weight)),
            people,
        }
    }

    /// Draws a user; a few users submit most jobs.
    pub fn draw(&self, random: &mut Random) -> usize {
        self.weights.draw(random)
    }

    /// Replaces names that are hard to read, or that repeat another with a number, by easy ones.
    pub fn take_easy_names(&mut self) {
        let easy = NAMES.split(' ').take(12).chain(EASY_NAMES.split(' '));
        let easy: Vec<&str> = easy.collect();
        for (number, person) in self.people.iter_mut().enumerate() {
            person.name = numbered(&easy, number);
        }
    }

    /// Returns the users as `getent passwd` prints them. The real names of some hold a colon.
    pub fn passwd(&self) -> String {
        let lines = self.people.iter().map(|person| {
            let (name, uid, gid) = (&person.name, person.uid, person.gid);
            let real = if uid % 3 == 0 { "Room 1:23" } else { "" };
            format!("{name}:x:{uid}:{gid}:{real}:/home/{name}:/bin/bash\n")
        });
        lines.collect()
    }

    /// Returns their groups as `getent group` prints them, whose primary members are not listed.
    pub fn group(&self) -> String {
        let adjacent = self.people.chunk_by(|a, b| a.gid == b.gid);
        let lines = adjacent.map(|members| format!("{}:x:{}:\n", members[0].group, members[0].gid));
        lines.collect()
    }

    /// Returns a user.
    pub fn get(&self, person: usize) -> &Person {
        &self.people[person]
    }
}

impl Person {
    fn new(number: u64, seed: Seed) -> Self {
        let group = number / 5;
        let accounts = (0..1 + seed.below(3))
            .map(|account| format!("project_{}", 2_001_000 + group * 3 + account))
            .collect();
        Self {
            name: numbered(&NAMES.split(' ').collect::<Vec<_>>(), number as usize),
            uid: 20_000 + number as u32 * 17,
            group: format!("grp{group}"),
            gid: 5_000 + group as u32 * 10,
            accounts,
            seed,
        }
    }
}

/// Returns one of the names; if there are fewer names than users, they come again with a number behind them.
fn numbered(names: &[&str], number: usize) -> String {
    let name = names[number % names.len()];
    match number / names.len() {
        0 => name.to_owned(),
        round => format!("{name}{round}"),
    }
}
