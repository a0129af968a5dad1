//! Draws the jobs of a day.

use rand::RngExt;

use crate::random::{Random, Seed, log_normal};
use crate::time::{DAY, HOUR, MINUTE, Nanos, SECOND, Span};

use crate::jobs::names::Name;
use crate::jobs::run::Element;
use crate::jobs::{
    FIRST_NUMBER, LONGEST_LIFE, LONGEST_SHELL, NUMBERS_LAST, Outcome, Run, Scenario, Site,
};

const PARTITIONS: [&str; 4] = ["small", "large", "gpu", "interactive"];
/// The time after the start of a gap at which its short job is submitted at the earliest.
const INSIDE_GAP: Nanos = 25 * MINUTE;

impl Site {
    /// Returns the runs of all clusters that may matter to accounting or to `job_stats` in a span: those submitted before
    /// its end, and not so long before its start that even a shell left over from them is gone. They are sorted by
    /// cluster, submission and number.
    pub fn runs(&self, span: Span) -> Vec<Run> {
        let from = span.from - LONGEST_LIFE - LONGEST_SHELL;
        let mut runs = Vec::new();
        for cluster in 0..self.clusters {
            for day in (Span { from, ..span }).days() {
                self.day(cluster, day, &mut runs);
            }
        }
        runs.retain(|run| run.submitted < span.until);
        runs.sort_by_key(|run| (run.cluster, run.submitted, run.number, run.attempt));
        runs
    }

    /// Draws the jobs that are submitted to a cluster on a day.
    fn day(&self, cluster: usize, day: i64, runs: &mut Vec<Run>) {
        let gap = self.gap(day).from + INSIDE_GAP;
        let mut in_gap = false;
        let (mut position, mut ordinal) = (0, 0);
        // An array or a heterogeneous job takes several positions.
        while position < self.jobs {
            let seed = self.seed.of("job", &[cluster as i64, day, position as i64]);
            let mut random = seed.random();
            let submitted = self.submission(day, position, &mut random);
            let mut scenario = Scenario::draw(self.scheduler, ordinal, &mut random);
            if submitted >= gap && !in_gap {
                in_gap = true;
                scenario = Scenario::Gap;
            }
            let count = day.rem_euclid(NUMBERS_LAST) as u64 * self.jobs + position;
            let draft = Run {
                cluster,
                number: FIRST_NUMBER + count,
                submitted,
                ended: submitted,
                scenario,
                ..self.draft(seed, &mut random)
            };
            position += self.submit(draft, &mut random, runs);
            ordinal += 1;
        }
    }

    /// Returns the time at which the job at a position of the day is submitted; later positions are submitted later.
    fn submission(&self, day: i64, position: u64, random: &mut Random) -> Nanos {
        let step = DAY / self.jobs as Nanos;
        let jitter = (random.random::<f64>() * step as f64) as Nanos;
        self.whole(day * DAY + position as Nanos * step + jitter)
    }

    /// Returns a time as exactly as the scheduler's texts show it.
    fn whole(&self, time: Nanos) -> Nanos {
        let grain = self.scheduler.grain;
        time.div_euclid(grain) * grain
    }

    /// Draws the properties of a job that do not depend on its submission.
    fn draft(&self, seed: Seed, random: &mut Random) -> Run {
        let person = self.people.draw(random);
        let accounts = self.people.get(person).accounts.len();
        let nodes = if random.random_bool(0.75) {
            1
        } else {
            (log_normal(random, 3.0, 0.7) as u64).clamp(2, 12)
        };
        Run {
            cluster: 0,
            number: 0,
            element: None,
            component: None,
            person,
            account: random.random_range(0..accounts),
            partition: PARTITIONS[random.random_range(0..PARTITIONS.len())],
            name: Name::draw(self, seed),
            submitted: 0,
            started: None,
            ended: 0,
            outcome: outcome(random),
            first_node: random.random_range(0..self.nodes - nodes),
            nodes,
            cpus: if nodes == 1 {
                random.random_range(1..=16)
            } else {
                16 * nodes
            },
            attempt: 1,
            scenario: Scenario::Plain,
            seed,
        }
    }

    /// Adds the runs of a submission and returns how many numbers it takes.
    fn submit(&self, draft: Run, random: &mut Random, runs: &mut Vec<Run>) -> u64 {
        let left = self.jobs - (draft.number - FIRST_NUMBER) % self.jobs;
        match draft.scenario {
            Scenario::Array => {
                let size = random.random_range(3..=12).min(left);
                let elements = 1..=size;
                runs.extend(elements.map(|index| self.element(&draft, index, size, random)));
                size
            }
            Scenario::Het if left > 1 => {
                let leader = self.run(draft, random);
                let mut second = leader.clone();
                second.number += 1;
                second.component = Some(1);
                second.first_node = random.random_range(0..self.nodes - second.nodes);
                runs.push(Run {
                    component: Some(0),
                    ..leader
                });
                runs.push(second);
                2
            }
            Scenario::Requeued => {
                let first = self.run(draft, random);
                runs.extend(self.requeued(first, random));
                1
            }
            Scenario::Cancelled => {
                let ended = self.whole(draft.submitted + pending(random));
                runs.push(Run {
                    ended,
                    outcome: Outcome::Cancelled,
                    ..draft
                });
                1
            }
            _ => {
                runs.push(self.run(draft, random));
                1
            }
        }
    }

    /// Draws start and end of a job.
    fn run(&self, draft: Run, random: &mut Random) -> Run {
        let (wait, length) = match draft.scenario {
            Scenario::Gap => (5 * SECOND, random.random_range(4..10) * MINUTE),
            Scenario::Long => (pending(random), random.random_range(26..60) * HOUR),
            _ => (pending(random), length(random)),
        };
        let started = self.whole(draft.submitted + wait);
        Run {
            started: Some(started),
            ended: self.whole(started + length),
            ..draft
        }
    }

    fn element(&self, draft: &Run, index: u64, size: u64, random: &mut Random) -> Run {
        let mut run = self.run(draft.clone(), random);
        run.element = Some(Element {
            array: draft.number,
            index,
            size,
        });
        // The last element keeps the number of the array.
        if self.scheduler.numbers_elements && index < size {
            run.number += index;
        }
        run.first_node = random.random_range(0..self.nodes - run.nodes);
        run.outcome = outcome(random);
        run.seed = draft.seed.of("element", &[index as i64]);
        run
    }

    /// Cuts a run short and adds another one, which begins within five minutes on other nodes.
    fn requeued(&self, mut first: Run, random: &mut Random) -> [Run; 2] {
        let started = first.started.unwrap_or(first.submitted);
        first.ended = self.whole(started + random.random_range(2..=20) * MINUTE);
        first.outcome = Outcome::Requeued;
        let start = self.whole(first.ended + random.random_range(60..290) * SECOND);
        let second = Run {
            submitted: if self.scheduler.resubmits {
                first.ended
            } else {
                first.submitted
            },
            started: Some(start),
            ended: self.whole(start + length(random)),
            outcome: outcome(random),
            first_node: random.random_range(0..self.nodes - first.nodes),
            attempt: 2,
            seed: first.seed.of("again", &[]),
            ..first.clone()
        };
        [first, second]
    }
}

fn pending(random: &mut Random) -> Nanos {
    let wait = log_normal(random, 90.0, 1.5).clamp(1.0, 6.0 * 3600.0);
    (wait * SECOND as f64) as Nanos
}

fn length(random: &mut Random) -> Nanos {
    let length = log_normal(random, 40.0 * 60.0, 1.0).clamp(45.0, 20.0 * 3600.0);
    (length * SECOND as f64) as Nanos
}

fn outcome(random: &mut Random) -> Outcome {
    match random.random_range(0..100) {
        0..5 => Outcome::Failed(random.random_range(1..=127)),
        5..8 => Outcome::Timeout,
        8..11 => Outcome::Cancelled,
        11 => Outcome::NodeFail,
        12 => Outcome::OutOfMemory,
        _ => Outcome::Completed,
    }
}
