//! Says in a notice why an answer is empty: because nothing was ever fed, or because a filter names nothing.

use jobstats_core::nearest::{SUGGESTED, nearest};
use pgrx::spi::SpiClient;

use crate::pg::error::{Error, shown};
use crate::pg::spi::Statements;
use crate::query::filters::Filters;
use crate::query::notice::{hinted, listed};

/// The number of values of a filter that a notice names.
const NAMED: usize = 3;

/// The largest number of values of a filter that are looked up.
const CHECKED: usize = 100;

/// The number of jobs that are looked at before and after an unknown one.
const NEIGHBORS: usize = 5;

/// The largest number of names of targets or users that are compared with an unknown one.
const COMPARED: i64 = 10_000;

/// Raises a notice if the store has no targets, or for each filter that matches nothing that is known. Returns whether it did.
pub fn explain(client: &SpiClient<'_>, filters: &Filters) -> Result<bool, Error> {
    if !client.query_value::<bool>("SELECT EXISTS (SELECT FROM jobstats.targets)", &[])? {
        hinted(
            "nothing was ever fed: the store has no targets".to_owned(),
            "Run on each Lustre server: jobstats-shipper once --config /etc/jobstats/shipper.conf --verbose".to_owned(),
        );
        return Ok(true);
    }
    let mut explained = false;
    for names in NAMES {
        if let Some(values) = filters.values(names.dimension) {
            explained |= names.explain(client, &values)?;
        }
    }
    Ok(explained)
}

/// The names of a dimension.
struct Names {
    /// The name of the dimension.
    dimension: &'static str,
    /// A statement that returns whether any of the patterns, its only parameter, matches any of the names.
    exists: &'static str,
    /// A statement that lists the names; `None` if they are too many, or numbers.
    all: Option<&'static str>,
    /// The hint if no name is similar.
    hint: &'static str,
}

/// Returns a statement that returns whether any of the patterns matches this column of a job.
macro_rules! any_of_jobs {
    ($column:literal) => {
        concat!(
            "SELECT EXISTS (SELECT FROM jobstats.job_ids job WHERE job.",
            $column,
            " LIKE ANY ($1))"
        )
    };
}

/// Returns a statement that lists the values of a column of the newest jobs, of which there may be millions.
macro_rules! all_of_jobs {
    ($column:literal) => {
        concat!(
            "SELECT DISTINCT newest.",
            $column,
            " FROM (SELECT job.",
            $column,
            " FROM jobstats.job_ids job ORDER BY job.job_no DESC LIMIT 100000) newest WHERE newest.",
            $column,
            " IS NOT NULL LIMIT $1"
        )
    };
}

/// The names of every dimension, in the order of filters.
static NAMES: &[Names] = &[
    Names {
        dimension: "cluster",
        exists: "SELECT EXISTS (SELECT FROM jobstats.targets target WHERE target.cluster LIKE ANY ($1))",
        all: Some("SELECT DISTINCT target.cluster FROM jobstats.targets target LIMIT $1"),
        hint: "jobstats.health lists the clusters.",
    },
    Names {
        dimension: "filesystem",
        exists: "SELECT EXISTS (SELECT FROM jobstats.targets target WHERE target.filesystem LIKE ANY ($1))",
        all: Some(
            "SELECT DISTINCT target.filesystem FROM jobstats.targets target WHERE target.filesystem IS NOT NULL LIMIT $1",
        ),
        hint: "jobstats.targets lists the file systems.",
    },
    Names {
        dimension: "kind",
        exists: "SELECT EXISTS (SELECT FROM jobstats.targets target WHERE target.kind LIKE ANY ($1))",
        all: None,
        hint: "Valid are MDT, OST.",
    },
    Names {
        dimension: "target",
        exists: "SELECT EXISTS (SELECT FROM jobstats.targets target WHERE target.name LIKE ANY ($1))",
        all: Some("SELECT DISTINCT target.name FROM jobstats.targets target LIMIT $1"),
        hint: "jobstats.health lists the targets.",
    },
    Names {
        dimension: "server",
        exists: "SELECT EXISTS (SELECT FROM jobstats.observations observation WHERE observation.server LIKE ANY ($1))",
        all: None,
        hint: "jobstats.health lists the servers.",
    },
    Names {
        dimension: "workload",
        exists: "SELECT EXISTS (SELECT FROM jobstats.entries entry WHERE entry.workload LIKE ANY ($1))",
        all: None,
        hint: "jobstats_summary(by => '{workload}') lists the workloads of a window.",
    },
    Names {
        dimension: JOB,
        // A single pattern can be found by the index of jobs, of which there may be millions.
        exists: "SELECT EXISTS (SELECT FROM jobstats.entries entry WHERE entry.job LIKE $1) \
                 OR EXISTS (SELECT FROM jobstats.jobs run WHERE run.label LIKE $1)",
        all: None,
        hint: "jobstats_summary() lists the jobs of a window.",
    },
    Names {
        dimension: "node",
        exists: "SELECT EXISTS (SELECT FROM jobstats.entries entry WHERE entry.node LIKE ANY ($1))",
        all: None,
        hint: "jobstats_summary(by => '{node}') lists the nodes of a window.",
    },
    Names {
        dimension: "executable",
        exists: "SELECT EXISTS (SELECT FROM jobstats.entries entry WHERE entry.executable LIKE ANY ($1))",
        all: None,
        hint: "jobstats_summary(by => '{executable}') lists the programs of a window.",
    },
    Names {
        dimension: "status",
        exists: "SELECT EXISTS (SELECT FROM jobstats.entries entry WHERE entry.status LIKE ANY ($1))",
        all: None,
        hint: "Valid are ok, missing_job, truncated, partial, malformed.",
    },
    Names {
        dimension: "uid",
        exists: "SELECT EXISTS (SELECT FROM jobstats.entries entry WHERE entry.uid = ANY ($1::bigint[])) \
                 OR EXISTS (SELECT FROM jobstats.job_ids job WHERE job.uid = ANY ($1::bigint[]))",
        all: None,
        hint: "jobstats_summary(by => '{uid}') lists the users of a window.",
    },
    Names {
        dimension: "entry",
        exists: "SELECT EXISTS (SELECT FROM jobstats.entries entry WHERE entry.name LIKE ANY ($1))",
        all: None,
        hint: "jobstats_summary(by => '{entry}') lists the identifiers of a window.",
    },
    Names {
        dimension: "user_name",
        exists: concat!(
            "SELECT EXISTS (SELECT FROM jobstats.users known WHERE known.user_name LIKE ANY ($1)) \
             OR EXISTS (SELECT FROM jobstats.earlier_users earlier WHERE earlier.user_name LIKE ANY ($1)) OR (",
            any_of_jobs!("user_name"),
            ")"
        ),
        all: Some("SELECT DISTINCT known.user_name FROM jobstats.users known LIMIT $1"),
        hint: "jobstats.users lists the names that are known.",
    },
    Names {
        dimension: "group_name",
        exists: concat!(
            "SELECT EXISTS (SELECT FROM jobstats.groups known WHERE known.group_name LIKE ANY ($1)) \
             OR EXISTS (SELECT FROM jobstats.earlier_groups earlier WHERE earlier.group_name LIKE ANY ($1)) OR (",
            any_of_jobs!("group_name"),
            ")"
        ),
        all: Some("SELECT DISTINCT known.group_name FROM jobstats.groups known LIMIT $1"),
        hint: "jobstats.groups lists the names that are known.",
    },
    Names {
        dimension: "account",
        exists: any_of_jobs!("account"),
        all: Some(all_of_jobs!("account")),
        hint: "jobstats_summary(by => '{account}') lists the accounts of a window.",
    },
    Names {
        dimension: "partition",
        exists: any_of_jobs!("partition"),
        all: Some(all_of_jobs!("partition")),
        hint: "jobstats_summary(by => '{partition}') lists the partitions of a window.",
    },
    Names {
        dimension: "job_name",
        exists: any_of_jobs!("job_name"),
        all: Some(all_of_jobs!("job_name")),
        hint: "jobstats_summary(by => '{job_name}') lists the names of jobs of a window.",
    },
    Names {
        dimension: "state",
        exists: any_of_jobs!("state"),
        all: Some(all_of_jobs!("state")),
        hint: "jobstats_summary(by => '{state}') lists the states of jobs of a window.",
    },
    Names {
        dimension: "gid",
        exists: "SELECT EXISTS (SELECT FROM jobstats.users known WHERE known.gid = ANY ($1::bigint[])) \
                 OR EXISTS (SELECT FROM jobstats.job_ids job WHERE job.gid = ANY ($1::bigint[]))",
        all: None,
        hint: "jobstats_summary(by => '{gid}') lists the groups of a window.",
    },
];

/// The dimension whose patterns are looked up one by one.
const JOB: &str = "job";

impl Names {
    /// Raises a notice if none of these values of a filter names anything. Returns whether it did.
    fn explain(&self, client: &SpiClient<'_>, values: &[String]) -> Result<bool, Error> {
        if values.is_empty() || values.len() > CHECKED || self.names_any(client, values)? {
            return Ok(false);
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
        Ok(true)
    }

    /// Returns whether any of these values names something.
    fn names_any(&self, client: &SpiClient<'_>, values: &[String]) -> Result<bool, Error> {
        if self.dimension != JOB {
            return client.query_value(self.exists, &[values.to_vec().into()]);
        }
        for value in values {
            if client.query_value(self.exists, &[value.as_str().into()])? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the known names that are most like a pattern.
    fn similar(&self, client: &SpiClient<'_>, pattern: &str) -> Result<Vec<String>, Error> {
        let name = literal(pattern);
        let known = match self.all {
            Some(all) => {
                let known = client.query(all, &[COMPARED.into()])?;
                known.map(|row| row.at(1)).collect::<Result<_, _>>()?
            }
            None if self.dimension == JOB => neighbors(client, &name)?,
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
