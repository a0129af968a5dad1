//! The people of a site: users, their groups, and the accounts that pay for their jobs.

use rand::RngExt;

use crate::random::{Random, Seed, log_normal};

/// A user with jobs.
#[derive(Debug, Clone)]
pub struct Person {
    /// The name of the user.
    pub name: String,
    /// The number of the user.
    pub uid: u32,
    /// The name of the user's group.
    pub group: String,
    /// The number of the user's group.
    pub gid: u32,
    /// The accounts that may pay for the user's jobs; at least one.
    pub accounts: Vec<String>,
    /// The seed of the user's habits.
    pub seed: Seed,
    /// The weight of this user and all users before.
    weight: f64,
}

/// The users of a site.
#[derive(Debug, Clone)]
pub struct People(Vec<Person>);

/// The names of users. The last ones are such as directories of other systems have.
const NAMES: [&str; 16] = [
    "ada",
    "bela",
    "chen",
    "dora",
    "emil",
    "fatima",
    "grace",
    "hugo",
    "ines",
    "jan",
    "kofi",
    "lena",
    "müller",
    "o'brien",
    "x.y-z",
    "AD\\carol",
];

/// More names, none of which is hard to read.
const EASY_NAMES: [&str; 28] = [
    "mika", "noor", "olga", "pavel", "rosa", "sven", "tuomas", "uma", "vera", "wei", "yuki", "zoe",
    "anders", "birgit", "carlos", "dana", "eero", "farid", "gita", "hanna", "igor", "jonas",
    "kaisa", "luca", "maria", "nils", "oona", "petra",
];

impl People {
    /// Draws the users for so many jobs per day.
    pub fn new(seed: Seed, jobs: u64) -> Self {
        let count = (jobs / 10).clamp(32, 2_000);
        let mut weight = 0.0;
        let people = (0..count).map(|number| {
            let seed = seed.of("person", &[number as i64]);
            weight += log_normal(&mut seed.random(), 1.0, 0.9);
            Person::new(number, seed, weight)
        });
        Self(people.collect())
    }

    /// Draws a user; a few users submit most jobs.
    pub fn draw(&self, random: &mut Random) -> usize {
        let total = self.0.last().map_or(0.0, |person| person.weight);
        let weight = random.random::<f64>() * total;
        self.0
            .partition_point(|person| person.weight <= weight)
            .min(self.0.len() - 1)
    }

    /// Gives names that are easy to read to those whose names are not, or are those of others with a number.
    pub fn take_easy_names(&mut self) {
        let easy = NAMES[..12].iter().chain(&EASY_NAMES);
        for (number, person) in self.0.iter_mut().enumerate() {
            let round = match number / 40 {
                0 => String::new(),
                round => round.to_string(),
            };
            if let Some(name) = easy.clone().nth(number % 40) {
                person.name = format!("{name}{round}");
            }
        }
    }

    /// Returns what `getent passwd` prints about the users. The real names of some hold a colon.
    pub fn passwd(&self) -> String {
        let lines = self.0.iter().map(|person| {
            let (name, uid, gid) = (&person.name, person.uid, person.gid);
            let real = if uid % 3 == 0 { "Room 1:23" } else { "" };
            format!("{name}:x:{uid}:{gid}:{real}:/home/{name}:/bin/bash\n")
        });
        lines.collect()
    }

    /// Returns what `getent group` prints about their groups, whose primary members are not listed.
    pub fn group(&self) -> String {
        let adjacent = self.0.chunk_by(|a, b| a.gid == b.gid);
        let lines = adjacent.map(|members| format!("{}:x:{}:\n", members[0].group, members[0].gid));
        lines.collect()
    }

    /// Returns a user.
    pub fn get(&self, person: usize) -> &Person {
        &self.0[person]
    }
}

impl Person {
    fn new(number: u64, seed: Seed, weight: f64) -> Self {
        let name = NAMES[number as usize % NAMES.len()];
        let round = number as usize / NAMES.len();
        let group = number / 5;
        let accounts = (0..1 + seed.below(3))
            .map(|account| format!("project_{}", 2_001_000 + group * 3 + account))
            .collect();
        Self {
            name: if round == 0 {
                name.to_owned()
            } else {
                format!("{name}{round}")
            },
            uid: 20_000 + number as u32 * 17,
            group: format!("grp{group}"),
            gid: 5_000 + group as u32 * 10,
            accounts,
            seed,
            weight,
        }
    }
}
