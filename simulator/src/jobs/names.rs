//! The names that users give to jobs.

use rand::RngExt;

use crate::jobs::Site;
use crate::random::Seed;

/// A name that is hard to read in the texts of a scheduler, and the reason why.
pub type OddName = (&'static [u8], &'static str);

/// The name of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    stem: &'static [u8],
    /// The number that a workflow engine appends.
    number: Option<u32>,
    /// The reason why the name is hard to read, if it is.
    pub oddity: Option<&'static str>,
}

const ORDINARY: &str = "run.sh train wrf_12km bash gmx_md STDIN interactive align-reads vasp.std";

impl Name {
    /// Draws the name of a job. A share of names is hard to read in the texts of the scheduler.
    pub fn draw(site: &Site, job: Seed) -> Self {
        let random = &mut job.of("name", &[]).random();
        let (mut number, mut oddity) = (None, None);
        let stem = if random.random_bool(site.odd.clamp(0.0, 1.0)) {
            let odd_names = site.scheduler.odd_names;
            let (stem, reason) = odd_names[random.random_range(0..odd_names.len())];
            oddity = Some(reason);
            stem
        } else if random.random_bool(0.2) {
            number = Some(random.random_range(0..1_000));
            b"task_"
        } else {
            let ordinary: Vec<_> = ORDINARY.split(' ').collect();
            ordinary[random.random_range(0..ordinary.len())].as_bytes()
        };
        Self {
            stem,
            number,
            oddity,
        }
    }

    /// Returns the bytes of the name.
    pub fn bytes(&self) -> Vec<u8> {
        let number = self.number.map(|number| number.to_string());
        [self.stem, number.unwrap_or_default().as_bytes()].concat()
    }
}
