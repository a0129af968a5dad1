//! The behaviour of programs: the mix of their calls, and the bursts in which the calls come.

use rand::RngExt;

use crate::lustre::operation::Op::{self, *};
use crate::lustre::operation::{
    OPEN_CREATE, READ, RENAME_CROSS, RENAME_DIR_PARALLEL, RENAME_FILE_PARALLEL, RENAME_SAME,
    Request, WRITE, plain as request,
};
use crate::lustre::{Calls, TargetKind};
use crate::random::{Random, log_normal, weighted};
use crate::world::service::service_time;

/// The number of bytes that a call moves.
#[derive(Debug, Clone, Copy)]
pub enum Size {
    /// Complete stripes of 1, 4 or 16 MiB.
    Stripes,
    /// A power of two of pages.
    Pages,
    /// Any number, with this median.
    Around(f64),
}

/// One kind of call in a program's mix, with its weight and the usual number of calls at once.
#[derive(Debug, Clone, Copy)]
pub struct Mix(Request, f64, f64);

const fn plain(op: Op, weight: f64, count: f64) -> Mix {
    Mix(request(op), weight, count)
}

/// A kind of program.
#[derive(Debug)]
pub struct Profile {
    /// The weight of the program among jobs.
    weight: f64,
    /// The name.
    pub program: &'static str,
    /// The rhythm of the program, in seconds: the usual burst, the pause between bursts, and the gap between calls of a burst.
    pub rhythm: [f64; 3],
    size: Size,
    mdt: &'static [Mix],
    ost: &'static [Mix],
}

/// The programs of jobs.
#[rustfmt::skip]
static JOBS: &[Profile] = &[
    // Simulations write a checkpoint, then compute for so long that their entries may expire.
    Profile { weight: 3.0, program: "gmx_mpi", rhythm: [60.0, 900.0, 8.0], size: Size::Stripes,
        mdt: &[Mix(OPEN_CREATE, 3.0, 1.0), plain(Close, 3.0, 2.0), plain(Setattr, 1.0, 1.0), plain(Getattr, 2.0, 3.0), plain(Sync, 0.5, 1.0), Mix(RENAME_SAME, 0.5, 1.0)],
        ost: &[Mix(WRITE, 8.0, 24.0), Mix(READ, 0.5, 4.0), plain(Sync, 0.5, 1.0), plain(Punch, 0.3, 1.0), plain(Setattr, 0.2, 1.0)] },
    // Training reads many small files without end.
    Profile { weight: 2.0, program: "python3", rhythm: [600.0, 20.0, 12.0], size: Size::Around(90_000.0),
        mdt: &[plain(Open, 5.0, 120.0), plain(Close, 5.0, 120.0), plain(Getattr, 6.0, 300.0), plain(Getxattr, 1.0, 40.0), Mix(READ, 0.3, 10.0), plain(Statfs, 0.1, 1.0)],
        ost: &[Mix(READ, 9.0, 150.0), plain(Getattr, 1.0, 20.0), Mix(WRITE, 0.2, 3.0)] },
    // Unpacking and installing creates many files, then deletes them.
    Profile { weight: 1.0, program: "tar", rhythm: [150.0, 240.0, 5.0], size: Size::Around(3_000.0),
        mdt: &[Mix(OPEN_CREATE, 8.0, 400.0), plain(Close, 8.0, 400.0), plain(Mkdir, 2.0, 30.0), plain(Setattr, 4.0, 300.0), plain(Unlink, 3.0, 300.0), plain(Rmdir, 1.0, 30.0), plain(Setxattr, 0.5, 10.0), plain(Link, 0.3, 5.0), Mix(WRITE, 0.3, 20.0)],
        ost: &[Mix(WRITE, 6.0, 80.0), plain(Setattr, 2.0, 60.0), plain(Punch, 1.0, 40.0), plain(Destroy, 1.0, 60.0), plain(Create, 0.5, 32.0)] },
    // Analysis works in steps: it reads, computes, writes, and renames results into place.
    Profile { weight: 4.0, program: "Rscript", rhythm: [40.0, 700.0, 6.0], size: Size::Pages,
        mdt: &[plain(Open, 3.0, 4.0), Mix(OPEN_CREATE, 1.0, 2.0), plain(Close, 4.0, 5.0), plain(Getattr, 3.0, 10.0), Mix(RENAME_SAME, 0.4, 1.0), Mix(RENAME_CROSS, 0.4, 1.0), Mix(RENAME_FILE_PARALLEL, 0.4, 2.0), Mix(RENAME_DIR_PARALLEL, 0.2, 1.0), plain(Punch, 0.2, 1.0)],
        ost: &[Mix(READ, 5.0, 30.0), Mix(WRITE, 3.0, 20.0), plain(Getattr, 0.6, 3.0), plain(Punch, 0.3, 1.0), plain(Prealloc, 0.2, 1.0)] },
    // Streams never rest.
    Profile { weight: 1.0, program: "ffmpeg", rhythm: [1800.0, 60.0, 15.0], size: Size::Stripes,
        mdt: &[plain(Open, 1.0, 1.0), plain(Close, 1.0, 1.0), plain(Getattr, 1.0, 2.0), plain(Fallocate, 0.2, 1.0)],
        ost: &[Mix(READ, 5.0, 12.0), Mix(WRITE, 5.0, 12.0)] },
];

/// The interactive work of users on login nodes.
#[rustfmt::skip]
pub static INTERACTIVE: Profile = Profile { weight: 1.0, program: "bash", rhythm: [40.0, 420.0, 7.0], size: Size::Around(20_000.0),
    mdt: &[plain(Getattr, 6.0, 20.0), plain(Open, 4.0, 4.0), plain(Close, 4.0, 4.0), Mix(OPEN_CREATE, 1.0, 1.0), plain(Getxattr, 2.0, 10.0), plain(Unlink, 0.5, 2.0), Mix(RENAME_CROSS, 0.3, 1.0), plain(Statfs, 0.3, 1.0), plain(Migrate, 0.1, 1.0)],
    ost: &[Mix(READ, 5.0, 4.0), Mix(WRITE, 2.0, 3.0), plain(Getattr, 2.0, 5.0), plain(Quotactl, 0.2, 1.0), plain(Statfs, 0.4, 1.0)] };

/// A program that copies between sites.
#[rustfmt::skip]
pub static COPYING: Profile = Profile { weight: 1.0, program: "rsync", rhythm: [600.0, 120.0, 9.0], size: Size::Around(600_000.0),
    mdt: &[Mix(OPEN_CREATE, 4.0, 30.0), plain(Close, 4.0, 30.0), Mix(RENAME_SAME, 3.0, 30.0), plain(Setattr, 3.0, 60.0), plain(Getattr, 4.0, 90.0), plain(Mkdir, 0.6, 4.0)],
    ost: &[Mix(WRITE, 7.0, 40.0), Mix(READ, 2.0, 20.0), plain(Setattr, 1.0, 20.0)] };

/// A program that checks now and then how full the file system is.
#[rustfmt::skip]
pub static PROBE: Profile = Profile { weight: 1.0, program: "df", rhythm: [1.0, 1_500.0, 2.0], size: Size::Pages,
    mdt: &[plain(Statfs, 1.0, 1.5)], ost: &[plain(Statfs, 5.0, 1.5), plain(Sync, 1.0, 1.0)] };

/// A daemon that checks the file system every minute.
#[rustfmt::skip]
pub static DAEMON: Profile = Profile { weight: 1.0, program: "node_exporter", rhythm: [100_000.0, 60.0, 55.0], size: Size::Pages,
    mdt: &[plain(Statfs, 1.0, 1.0)], ost: &[plain(Statfs, 1.0, 1.0), plain(GetInfo, 0.3, 1.0), plain(SetInfo, 0.1, 1.0), plain(Sync, 0.2, 1.0)] };

/// A kernel thread: write-back and read-ahead.
#[rustfmt::skip]
pub static KERNEL: Profile = Profile { weight: 1.0, program: "kworker", rhythm: [90.0, 600.0, 10.0], size: Size::Pages,
    mdt: &[plain(Getattr, 3.0, 40.0), plain(Close, 1.0, 5.0)], ost: &[Mix(WRITE, 4.0, 20.0), Mix(READ, 1.0, 10.0)] };

impl Profile {
    /// Draws the program of a job.
    pub fn of_job(random: &mut Random) -> Option<&'static Self> {
        weighted(random, JOBS.iter().map(|profile| (profile, profile.weight)))
    }

    /// Draws the next calls of such a program.
    pub fn calls(&self, kind: TargetKind, random: &mut Random) -> Option<Calls> {
        let mixes = match kind {
            TargetKind::Mdt => self.mdt,
            TargetKind::Ost => self.ost,
        };
        let weights = mixes.iter().map(|mix| (mix, mix.1));
        let &Mix(request, _, count) = weighted(random, weights)?;
        let count = log_normal(random, count, 0.8).round();
        Some(Calls::new(
            request,
            count.clamp(1.0, 100_000.0) as u32,
            self.bytes(random),
            service_time(request, random),
        ))
    }

    fn bytes(&self, random: &mut Random) -> u32 {
        match self.size {
            Size::Stripes => 1 << [20, 20, 22, 22, 24][random.random_range(0..5)],
            Size::Pages => 4096 << random.random_range(0..9),
            Size::Around(median) => log_normal(random, median, 1.2).clamp(1.0, 16_777_216.0) as u32,
        }
    }
}
