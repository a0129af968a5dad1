//! Says in a notice why an answer is empty: because nothing was ever fed, or because a filter names nothing.

use jobstats_core::nearest::nearest;
use pgrx::spi::SpiClient;

use crate::pg::error::{Error, shown};
use crate::pg::spi::Statements;
use crate::query::filters::Filters;
use crate::query::notice::{hinted, listed};

/// The number of names that a hint suggests.
const SUGGESTED: usize = 3;

/// The number of values of a filter that a notice names.
const NAMED: usize = 3;

/// The largest number of values of a filter that are looked up one by one.
const CHECKED: usize = 100;

/// The number of jobs that are looked at before and after an unknown one.
const NEIGHBORS: usize = 5;

/// The largest number of names of targets or users that are compared with an unknown one.
const COMPARED: i64 = 10_000;

/// Raises a notice if the store has no targets, or for each filter by target, job or user that names none that is known.
pub fn explain(client: &SpiClient<'_>, filters: &Filters) -> Result<(), Error> {
    if !client.query_value::<bool>("SELECT EXISTS (SELECT FROM jobstats.targets)", &[])? {
        hinted(
            "nothing was ever fed: the store has no targets".to_owned(),
            "Run on each Lustre server: jobstats-shipper once --config /etc/jobstats/shipper.conf --verbose".to_owned(),
        );
        return Ok(());
    }
    for names in [&TARGETS, &JOBS, &UIDS, &USERS] {
        if let Some(values) = filters.values(names.dimension) {
            names.explain(client, &values)?;
        }
    }
    Ok(())
}

/// The names of a dimension.
struct Names {
    /// The name of the dimension.
    dimension: &'static str,
    /// A statement that returns whether a pattern, its only parameter, matches any of the names.
    exists: &'static str,
    /// A statement that lists the names; `None` if they are too many, or numbers.
    all: Option<&'static str>,
    /// The hint if no name is similar.
    hint: &'static str,
}

const TARGETS: Names = Names {
    dimension: "target",
    exists: "SELECT EXISTS (SELECT FROM jobstats.targets target WHERE target.name LIKE $1)",
    all: Some("SELECT DISTINCT target.name FROM jobstats.targets target LIMIT $1"),
    hint: "jobstats.health lists the targets.",
};

const JOBS: Names = Names {
    dimension: "job",
    exists: "SELECT EXISTS (SELECT FROM jobstats.entries entry WHERE entry.job LIKE $1)",
    all: None,
    hint: "jobstats_summary() lists the jobs of a window.",
};

const UIDS: Names = Names {
    dimension: "uid",
    exists: "SELECT EXISTS (SELECT FROM jobstats.entries entry WHERE entry.uid = $1::bigint)",
    all: None,
    hint: "jobstats_summary(by => '{uid}') lists the users of a window.",
};

const USERS: Names = Names {
    dimension: "user_name",
    exists: "SELECT EXISTS (SELECT FROM jobstats.users known WHERE known.user_name LIKE $1)",
    all: Some("SELECT DISTINCT known.user_name FROM jobstats.users known LIMIT $1"),
    hint: "jobstats.users lists the names that are known.",
};

impl Names {
    /// Raises a notice if none of these values of a filter names anything.
    fn explain(&self, client: &SpiClient<'_>, values: &[String]) -> Result<(), Error> {
        if values.len() > CHECKED {
            return Ok(());
        }
        for value in values {
            if client.query_value(self.exists, &[value.as_str().into()])? {
                return Ok(());
            }
        }
        if values.is_empty() {
            return Ok(());
        }
        let quoted = values
            .iter()
            .map(|it| format!("\"{}\"", shown(&literal(it))));
        let quoted: Vec<String> = quoted.collect();
        let similar = self.similar(client, &values[0])?;
        let hint = if similar.is_empty() {
            self.hint.to_owned()
        } else {
            format!("Similar names are {}.", similar.join(", "))
        };
        hinted(
            format!(
                "no {} is known that matches {}",
                self.dimension,
                listed(&quoted, NAMED)
            ),
            hint,
        );
        Ok(())
    }

    /// Returns the known names that are most like a pattern.
    fn similar(&self, client: &SpiClient<'_>, pattern: &str) -> Result<Vec<String>, Error> {
        let name = literal(pattern);
        let known = match self.all {
            Some(all) => {
                let known = client.query(all, &[COMPARED.into()])?;
                known.map(|row| row.at(1)).collect::<Result<_, _>>()?
            }
            None if self.dimension == "job" => neighbors(client, &name)?,
            None => Vec::new(),
        };
        let similar = nearest(&name, known.iter().map(String::as_str), SUGGESTED);
        Ok(similar.iter().map(|it| shown(it).into_owned()).collect())
    }
}

/// Returns the jobs whose names come before and after a name, which the index of jobs finds one by one: there may be
/// millions, and each may have thousands of entries.
fn neighbors(client: &SpiClient<'_>, name: &str) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for statement in [
        "SELECT entry.job FROM jobstats.entries entry WHERE entry.job ~>~ $1 ORDER BY entry.job USING ~<~ LIMIT 1",
        "SELECT entry.job FROM jobstats.entries entry WHERE entry.job ~<~ $1 ORDER BY entry.job USING ~>~ LIMIT 1",
    ] {
        let mut last = name.to_owned();
        for _ in 0..NEIGHBORS {
            match client.query_value::<Option<String>>(statement, &[last.as_str().into()])? {
                Some(job) => found.push(std::mem::replace(&mut last, job)),
                None => break,
            }
        }
        found.push(last);
    }
    found.retain(|it| it != name);
    Ok(found)
}

/// Returns the text that a LIKE pattern stands for: without escape characters. Wildcards stay as they are.
fn literal(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => text.extend(characters.next()),
            character => text.push(character),
        }
    }
    text
}
