//! The space of targets, and its owners. It changes every hour: users fill it and clean up.

use std::collections::BTreeMap;

use clap::ValueEnum;

use crate::lustre::TargetKind;
use crate::random::{Seed, log_normal};
use crate::time::{HOUR, Nanos};
use crate::world::{TargetIndex, Workload};

/// The kind of an owner, with the name that accounting of space has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum OwnerKind {
    User,
    Group,
    Project,
}

/// A user, and the group and the project that the user's files belong to.
#[derive(Debug, Clone, Copy)]
struct Owner {
    /// The ids in the order of [`OwnerKind`].
    ids: [u32; 3],
    seed: Seed,
}

/// An amount of space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    pub kbytes: u64,
    /// Files on a metadata target, objects on an object target.
    pub inodes: u64,
}

/// The space of a target at a time.
pub struct Space {
    pub total: Used,
    /// All that is used, which is the sum over the owners of each kind.
    pub used: Used,
    owners: Vec<(Owner, Used)>,
}

impl Owner {
    fn new(uid: u32, gid: u32, seed: Seed) -> Self {
        // The number in the name of the first account of people with this group.
        let project = 2_001_000 + (gid - 5_000) / 10 * 3;
        let ids = [uid, gid, project];
        Self { ids, seed }
    }

    /// Returns the owner's weight relative to other owners. A few own much.
    fn weight(&self) -> f64 {
        log_normal(&mut self.seed.of("space", &[]).random(), 1.0, 1.3)
    }

    /// Returns the part of the usual space that the owner has on a target: it grows for some weeks, until the owner cleans up.
    fn part(&self, target: TargetIndex, hour: i64) -> f64 {
        let seed = self.seed.of("part", &[target as i64]);
        let weeks = 24 * 7 * (2 + seed.of("weeks", &[]).below(7) as i64);
        let phase = seed.of("phase", &[]).below(weeks.unsigned_abs()) as i64;
        let grown = (hour + phase).rem_euclid(weeks) as f64 / weeks as f64;
        (0.5 + seed.unit()) * (0.6 + 0.8 * grown)
    }
}

/// Returns the owners: those who have jobs, and root.
fn owners(workload: &Workload) -> Vec<Owner> {
    let root = Owner {
        ids: [0; 3],
        seed: workload.seed.of("root", &[]),
    };
    let users: Vec<_> = match &workload.cluster.schedulers {
        Some(site) => {
            let people = site.people.people.iter();
            people
                .map(|person| Owner::new(person.uid, person.gid, person.seed))
                .collect()
        }
        None => {
            let users = workload.users().enumerate();
            users
                .map(|(number, (uid, seed))| Owner::new(uid, 5_000 + number as u32 / 5 * 10, seed))
                .collect()
        }
    };
    [root].into_iter().chain(users).collect()
}

impl Space {
    /// Returns the space of a target at a time, which is the same for a whole hour.
    pub fn at(workload: &Workload, target: TargetIndex, time: Nanos) -> Self {
        let cluster = workload.cluster;
        let hour = time.div_euclid(HOUR);
        let (kbytes, per_inode) = match cluster.targets[target].kind {
            TargetKind::Mdt => (4 << 30, 4),
            TargetKind::Ost => (200 << 30, 1_024),
        };
        let owners = owners(workload);
        let all: f64 = owners.iter().map(Owner::weight).sum();
        // With this, even a target that only one user has is not full.
        let usual =
            kbytes as f64 * (0.25 + 0.2 * workload.seed.of("fill", &[target as i64]).unit());
        let used = |owner: &Owner| (usual * owner.weight() / all * owner.part(target, hour)) as u64;
        let mut used: Vec<_> = owners.iter().map(used).collect();
        if let Some(full) = fullest(workload, hour).filter(|(fullest, _)| *fullest == target) {
            let most = owners.iter().enumerate().skip(1);
            let most = most.max_by(|one, other| one.1.weight().total_cmp(&other.1.weight()));
            let most = most.map_or(0, |(position, _)| position);
            let others = used.iter().sum::<u64>() - used[most];
            used[most] = ((kbytes as f64 * full.1) as u64).saturating_sub(others);
        }
        let inodes = |kbytes: u64| kbytes / per_inode + 1;
        let used = used.into_iter().map(|kbytes| Used {
            kbytes,
            inodes: inodes(kbytes),
        });
        let owners: Vec<_> = owners.into_iter().zip(used).collect();
        Self {
            total: Used {
                kbytes,
                inodes: inodes(2 * kbytes),
            },
            used: owners
                .iter()
                .map(|(_, used)| *used)
                .fold(Used::default(), Used::plus),
            owners,
        }
    }

    /// Returns what each owner of a kind uses, by id.
    pub fn by(&self, kind: OwnerKind) -> BTreeMap<u32, Used> {
        let mut sums: BTreeMap<u32, Used> = BTreeMap::new();
        for (owner, used) in &self.owners {
            let sum = sums.entry(owner.ids[kind as usize]).or_default();
            *sum = sum.plus(*used);
        }
        sums
    }
}

impl Used {
    fn plus(self, other: Self) -> Self {
        Self {
            kbytes: self.kbytes + other.kbytes,
            inodes: self.inodes + other.inodes,
        }
    }
}

/// Returns the object target that its largest user fills every morning and empties a little every night, and its used share: between 97 and
/// 98 % of the usable space, so that the health text is the same at any hour.
fn fullest(workload: &Workload, hour: i64) -> Option<(TargetIndex, f64)> {
    let targets: Vec<_> = workload.cluster.of_kind(TargetKind::Ost).collect();
    let drawn = workload.seed.of("full", &[]).below(targets.len() as u64);
    let (target, _) = targets.get(drawn as usize)?;
    Some((*target, 0.961 + 0.0007 * hour.rem_euclid(24).min(12) as f64))
}
