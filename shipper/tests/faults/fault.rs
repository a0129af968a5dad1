//! The faults, and how each is injected.

use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use fastrand::Rng;

use crate::database::Database;
use crate::place::{Mode, SECOND, wait_for};
use crate::proxy::{Proxy, Trouble, WORDS};
use crate::server::{Ballast, Running, Server};

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    DatabaseStopped,
    DatabaseStoppedForAnHour,
    DatabaseFull,
    PostmasterKilled,
    BackendKilled,
    ShipperKilledSending,
    ShipperKilledReading,
    ShipperKilledAnywhere,
    ConnectionCut,
    ConnectionStalled,
    ConnectionHalfClosed,
    AnswerLost,
    LctlHangs,
    LctlFails,
    LctlHalf,
    ClockAhead,
    ClockBehind,
    ClockInTheFuture,
    ClockWrongForLong,
    TwoShippers,
    SpoolFull,
    SpoolFullAndDatabaseAway,
    SizeLimit,
    AgeLimit,
}

impl Kind {
    /// All kinds, with their names in the table.
    pub const ALL: [(Self, &str); 24] = [
        (
            Self::DatabaseStopped,
            "database stopped for 1 to 50 readings",
        ),
        (
            Self::DatabaseStoppedForAnHour,
            "database stopped for 30 readings (an hour)",
        ),
        (Self::DatabaseFull, "disk of the database full"),
        (Self::PostmasterKilled, "`kill -9` of the postmaster"),
        (Self::BackendKilled, "`kill -9` of the shipper's backend"),
        (
            Self::ShipperKilledSending,
            "`kill -9` of the shipper while it sends",
        ),
        (
            Self::ShipperKilledReading,
            "`kill -9` of the shipper while lctl hangs",
        ),
        (
            Self::ShipperKilledAnywhere,
            "`kill -9` of a running shipper at any moment",
        ),
        (Self::ConnectionCut, "connection cut"),
        (Self::ConnectionStalled, "connection stalled"),
        (Self::ConnectionHalfClosed, "connection half-closed"),
        (Self::AnswerLost, "answer to COMMIT lost"),
        (Self::LctlHangs, "lctl hangs"),
        (Self::LctlFails, "lctl fails"),
        (Self::LctlHalf, "lctl prints half of the text"),
        (Self::ClockAhead, "clock ahead by up to 20 minutes"),
        (Self::ClockBehind, "clock behind by up to 20 minutes"),
        (Self::ClockInTheFuture, "clock years ahead"),
        (Self::ClockWrongForLong, "clock wrong for more than an hour"),
        (Self::TwoShippers, "two to four shippers at once"),
        (Self::SpoolFull, "disk of the spool full"),
        (
            Self::SpoolFullAndDatabaseAway,
            "disk of the spool full, and database stopped",
        ),
        (Self::SizeLimit, "`--spool-size` reached"),
        (Self::AgeLimit, "`--spool-age` reached"),
    ];

    /// Returns true if the fault kills a shipper, which loses the reading that was not yet in the spool.
    pub fn has_kills(self) -> bool {
        matches!(
            self,
            Self::ClockAhead
                | Self::ClockBehind
                | Self::ClockWrongForLong
                | Self::DatabaseStopped
                | Self::DatabaseStoppedForAnHour
                | Self::ShipperKilledAnywhere
                | Self::ShipperKilledReading
                | Self::ShipperKilledSending
        )
    }

    /// Returns true if readings may be dropped, which the shipper must report.
    pub fn may_drop(self) -> bool {
        matches!(
            self,
            Self::AgeLimit | Self::SizeLimit | Self::SpoolFullAndDatabaseAway
        )
    }

    /// Returns true if the fault needs a small file system.
    pub fn needs_small_disk(self) -> bool {
        use Kind::{DatabaseFull, SpoolFull, SpoolFullAndDatabaseAway};
        matches!(self, DatabaseFull | SpoolFull | SpoolFullAndDatabaseAway)
    }
}

/// Everything that a fault can happen to.
pub struct Scene<'a> {
    /// The database.
    pub database: &'a Database,
    /// The way to the database.
    pub proxy: &'a Proxy,
    /// All servers.
    pub servers: &'a [Server],
    /// The server that has the trouble.
    pub server: &'a Server,
}

impl Scene<'_> {
    fn url(&self) -> String {
        Database::url(self.proxy.port)
    }

    /// Injects a fault. Afterwards everything works again, but readings may wait.
    pub fn inject(&self, kind: Kind, random: &mut Rng) {
        match kind {
            // Short outages are as frequent as long ones.
            Kind::DatabaseStopped => self.stop_database(50_f64.powf(random.f64()).round() as usize),
            Kind::DatabaseStoppedForAnHour => self.stop_database(30),
            Kind::DatabaseFull => self.fill_database(random),
            Kind::PostmasterKilled => self.hold(random, || self.database.kill_postmaster()),
            Kind::BackendKilled => self.hold(random, || {
                self.database.kill_backends();
            }),
            Kind::ShipperKilledSending => self.kill_sending(random),
            Kind::ShipperKilledReading => self.kill_reading(random),
            Kind::ShipperKilledAnywhere => self.kill_anywhere(random),
            Kind::ConnectionCut => self.trouble(Trouble::Cut, random),
            Kind::ConnectionStalled => self.trouble(Trouble::Stall, random),
            Kind::ConnectionHalfClosed => {
                let ways = [Trouble::CloseToDatabase, Trouble::CloseToShipper];
                self.trouble(ways[random.usize(..2)], random);
            }
            Kind::AnswerLost => self.lose_answer(),
            Kind::LctlHangs => self.lctl(&[Mode::Hangs, Mode::HangsHalf], random),
            Kind::LctlFails => self.lctl(&[Mode::Fails], random),
            Kind::LctlHalf => self.lctl(&[Mode::FailsHalf, Mode::Killed, Mode::Hides], random),
            Kind::ClockAhead => self.step_clock(1, random),
            Kind::ClockBehind => self.step_clock(-1, random),
            Kind::ClockInTheFuture => {
                self.read_with_error(5 * 365 * 86400 * SECOND, random.usize(1..5))
            }
            Kind::ClockWrongForLong => self.step_clock_for_long(random),
            Kind::TwoShippers => self.two_shippers(random),
            Kind::SpoolFull => self.fill_spool(random),
            Kind::SpoolFullAndDatabaseAway => self.fill_spool_without_database(random),
            Kind::SizeLimit => self.reach_size(random),
            Kind::AgeLimit => self.reach_age(random),
        }
    }

    /// Stops the database while all servers are read at least so many times.
    fn stop_database(&self, readings: usize) {
        let url = self.url();
        let start = |server: &Server| server.start_run(&url);
        let mut running: Vec<_> = self.servers.iter().map(start).collect();
        self.database.stop();
        let before = |server: &Server| server.place.calls().len();
        let before: Vec<_> = self.servers.iter().map(before).collect();
        for (server, (running, before)) in self.servers.iter().zip(running.iter_mut().zip(before)) {
            server.read_on(running, &url, before, readings);
        }
        self.database.start();
    }

    /// Fills the disk of the database, or stops the database if there is no small one.
    fn fill_database(&self, random: &mut Rng) {
        let ballast = self.database.small_disk.as_deref().map(Ballast::fill);
        self.read(random.usize(1..6));
        drop(ballast);
    }

    /// Holds a connection at a random moment, does something, and lets it go on.
    fn hold(&self, random: &mut Rng, action: impl FnOnce()) {
        self.proxy.plan(Trouble::Hold, word(random));
        let mut running = self
            .server
            .start(&mut self.server.shipper("once", &self.url()));
        self.wait_for_trouble(&mut running);
        action();
        self.proxy.release();
        let _ = running.0.wait();
        self.database.start();
    }

    fn kill_sending(&self, random: &mut Rng) {
        self.read_without_database(random.usize(0..4));
        self.proxy.plan(Trouble::Hold, word(random));
        let mut running = self
            .server
            .start(&mut self.server.shipper("once", &self.url()));
        self.wait_for_trouble(&mut running);
        drop(running);
        self.proxy.release();
    }

    /// Waits until the planned trouble has begun. A shipper that could not read and has nothing to send does not meet it.
    fn wait_for_trouble(&self, running: &mut Running) {
        wait_for("connection", || {
            self.proxy.has_begun() || running.0.try_wait().is_ok_and(|ended| ended.is_some())
        });
    }

    fn kill_reading(&self, random: &mut Rng) {
        self.server
            .place
            .set_mode([Mode::Hangs, Mode::HangsHalf][random.usize(..2)]);
        let calls = self.server.place.calls().len();
        let running = self
            .server
            .start(&mut self.server.shipper("once", &self.url()));
        wait_for("call of lctl", || self.server.place.calls().len() > calls);
        drop(running);
        self.server.place.set_mode(Mode::Whole);
    }

    fn kill_anywhere(&self, random: &mut Rng) {
        let url = self.url();
        for _ in 0..random.usize(1..4) {
            let running = self.server.start_run(&url);
            sleep(Duration::from_millis(random.u64(1..500)));
            drop(running);
        }
    }

    /// Makes trouble for a connection that sends some readings.
    fn trouble(&self, trouble: Trouble, random: &mut Rng) {
        self.read_without_database(random.usize(0..3));
        self.proxy.plan(trouble, word(random));
        self.server.once(&self.url());
        // A connection that was silent is forgotten sooner or later.
        if random.bool() {
            self.proxy.calm();
        }
        self.read(1);
    }

    fn lose_answer(&self) {
        self.proxy.plan(Trouble::LoseAnswer, WORDS[WORDS.len() - 1]);
        self.read(1);
    }

    fn lctl(&self, modes: &[Mode], random: &mut Rng) {
        for _ in 0..random.usize(1..3) {
            self.server
                .place
                .set_mode(modes[random.usize(..modes.len())]);
            self.read(1);
        }
        self.server.place.set_mode(Mode::Whole);
    }

    /// Steps the clock by up to ten readings and back, and reads until the times are the newest again in any case.
    fn step_clock(&self, sign: i64, random: &mut Rng) {
        let (steps, error) = step(sign, random);
        self.read_with_error(error, random.usize(1..6));
        self.read_often(steps + 1);
    }

    /// Steps the clock for so long that the wrong time counts, and back for so long that the right time counts again.
    fn step_clock_for_long(&self, random: &mut Rng) {
        let sign = [1, -1][random.usize(..2)];
        let (steps, error) = step(sign, random);
        self.server.place.set_error(error);
        self.read_often(AN_HOUR + random.usize(2..5));
        self.server.place.set_error(0);
        self.read_often(AN_HOUR + steps + 2);
    }

    /// Reads many times without a pause.
    fn read_often(&self, times: usize) {
        let before = self.server.place.calls().len();
        let mut running = self.server.start_run(&self.url());
        self.server
            .read_on(&mut running, &self.url(), before, times + 1);
    }

    fn read_with_error(&self, error: i64, readings: usize) {
        self.server.place.set_error(error);
        self.read(readings);
        self.server.place.set_error(0);
    }

    fn two_shippers(&self, random: &mut Rng) {
        self.read_without_database(random.usize(0..6));
        let url = self.url();
        for _ in 0..random.usize(1..4) {
            let start = |_| self.server.start(&mut self.server.shipper("once", &url));
            let running: Vec<_> = (0..random.usize(2..5)).map(start).collect();
            for mut shipper in running {
                let _ = shipper.0.wait();
            }
        }
    }

    fn fill_spool(&self, random: &mut Rng) {
        let full = self.server.fill_disk();
        self.read(random.usize(1..4));
        drop(full);
    }

    fn fill_spool_without_database(&self, random: &mut Rng) {
        self.read_without_database(random.usize(0..3));
        let full = self.server.fill_disk();
        self.read_without_database(random.usize(1..4));
        drop(full);
    }

    fn reach_size(&self, random: &mut Rng) {
        self.read_without_database(1);
        let one = self.server.waiting()[0].bytes as usize;
        let size = (one * random.usize(1..5) + one / 2).to_string();
        let limited = |url: &str| {
            let mut shipper = self.server.shipper("once", url);
            shipper.args(["--spool-size", &size]).status().unwrap();
        };
        (0..random.usize(2..10)).for_each(|_| limited(AWAY));
        limited(&self.url());
    }

    fn reach_age(&self, random: &mut Rng) {
        self.read_without_database(random.usize(1..6));
        for entry in self.server.waiting() {
            if random.bool() {
                // Before the simulated time.
                let file = fs::File::open(&entry.path).unwrap();
                file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
            }
        }
        let mut shipper = self.server.shipper("once", &self.url());
        shipper.args(["--spool-age", "1h"]).status().unwrap();
    }

    fn read(&self, times: usize) {
        (0..times).for_each(|_| {
            self.server.once(&self.url());
        });
    }

    fn read_without_database(&self, times: usize) {
        (0..times).for_each(|_| {
            self.server.once(AWAY);
        });
    }
}

/// The number of readings in an hour.
const AN_HOUR: usize = 30;

/// Chooses the error of a clock, in readings. Also returns the exact error, with which the times of two readings never coincide.
fn step(sign: i64, random: &mut Rng) -> (usize, i64) {
    let steps = random.i64(1..10);
    (steps as usize, sign * (steps * 120 + 60) * SECOND)
}

/// A database that is away.
const AWAY: &str = "postgresql://postgres@127.0.0.1:1/faults?sslmode=disable";

fn word(random: &mut Rng) -> &'static [u8] {
    WORDS[random.usize(..WORDS.len())]
}

/// Mounts a small file system. Returns false if this user may not do so.
pub fn mount_small(directory: &std::path::Path, megabytes: u32) -> bool {
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "tmpfs"]);
    mount.arg(directory).stderr(std::process::Stdio::null());
    mount.status().is_ok_and(|status| status.success())
}

/// Undoes that.
pub fn unmount(directory: &std::path::Path) {
    let _ = Command::new("umount").arg(directory).status();
}
