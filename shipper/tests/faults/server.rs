//! A simulated server: its shippers, and their readings.

use std::collections::HashSet;
use std::ffi::CStr;
use std::fs::{self, File, OpenOptions};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use jobstats_client::spool::{Directory, Entry, Losses};
use rustix::fs::inotify;

use crate::Programs;
use crate::place::{Mode, Place, wait_for};

/// The usual time limit for storing a text.
pub const STATEMENT: Duration = Duration::from_secs(3);

/// A server with an MDT or with OSTs.
pub struct Server {
    /// The name of the server.
    pub name: String,
    /// The number of its targets.
    pub targets: usize,
    /// The files.
    pub place: Place,
    /// The cluster.
    cluster: String,
    shipper: String,
    clock: String,
    watch: OwnedFd,
    /// The numbers of the readings that reached the spool.
    pub spooled: HashSet<u64>,
}

/// A process that is killed when this value is dropped.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    /// Sets up a server in an empty directory.
    pub fn new(
        name: &str,
        targets: usize,
        cluster: &str,
        seed: u64,
        directory: &Path,
        programs: &Programs,
    ) -> Self {
        let place = Place::new(directory);
        let spool = place.spool();
        Directory::open(&spool).unwrap();
        write_lctl(&place, name, cluster, seed, programs);
        place.set_mode(Mode::Whole);
        place.show_time();
        let watch =
            inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC).unwrap();
        inotify::add_watch(&watch, &spool, inotify::WatchFlags::MOVED_TO).unwrap();
        Self {
            name: name.to_owned(),
            targets,
            cluster: cluster.to_owned(),
            shipper: programs.shipper.clone(),
            clock: programs.clock.clone(),
            place,
            watch,
            spooled: HashSet::new(),
        }
    }

    /// Returns a command of the shipper. Its messages go to the file `said`.
    pub fn shipper(&self, command: &str, url: &str) -> Command {
        self.shipper_within(command, url, STATEMENT)
    }

    fn shipper_within(&self, command: &str, url: &str, statement: Duration) -> Command {
        let said = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.place.file("said"))
            .unwrap();
        let timeout = if self.place.hangs() { "1s" } else { "20s" };
        let mut shipper = Command::new(&self.shipper);
        shipper
            .args([
                command,
                "--server",
                &self.name,
                "--cluster",
                &self.cluster,
                "--database-url",
                url,
            ])
            .args(["--lctl-timeout", timeout, "--connect-timeout", "10s"])
            .args(["--statement-timeout", &format!("{}s", statement.as_secs())])
            .args(["--busy-limit", "100"])
            // The truth of whole targets is without what the metadata server does by itself.
            .args(["--mds-nids", "10.0.0.1@o2ib"])
            .arg("--lctl")
            .arg(self.place.file("lctl"))
            .arg("--lock")
            .arg(self.place.file("lock"))
            .arg("--spool")
            .arg(self.place.spool())
            .env("LD_PRELOAD", &self.clock)
            .env("JOBSTATS_FAULTS_CLOCK", self.place.file("clock"))
            .env("TMPDIR", self.place.disk())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said);
        shipper
    }

    /// Reads and sends once. Returns the exit code.
    pub fn once(&self, url: &str) -> Option<i32> {
        self.once_within(url, STATEMENT)
    }

    /// Does that with another time limit for storing a text.
    pub fn once_within(&self, url: &str, statement: Duration) -> Option<i32> {
        let mut shipper = self.shipper_within("once", url, statement);
        shipper.status().unwrap().code()
    }

    /// Starts a shipper in the background.
    pub fn start(&self, command: &mut Command) -> Running {
        Running(command.spawn().unwrap())
    }

    /// Starts a shipper that reads without a pause.
    pub fn start_run(&self, url: &str) -> Running {
        self.start(self.shipper("run", url).args(["--interval", "50ms"]))
    }

    /// Waits until such a shipper has read this many times since this number of calls. Restarts it if it ended because the lctl of a killed
    /// one still held the lock.
    pub fn read_on(&self, running: &mut Running, url: &str, before: usize, readings: usize) {
        for reading in 1..=readings {
            wait_for("reading", || {
                if running.0.try_wait().is_ok_and(|ended| ended.is_some()) {
                    *running = self.start_run(url);
                }
                self.place.calls().len() >= before + reading
            });
        }
    }

    /// Returns the readings that wait in the spool.
    pub fn waiting(&self) -> Vec<Entry> {
        Directory::open(&self.place.spool())
            .unwrap()
            .waiting()
            .unwrap()
    }

    /// Removes the readings that were set aside, as an administrator would.
    pub fn clean_up(&self) {
        let spool = Directory::open(&self.place.spool()).unwrap();
        for entry in spool.rejected().unwrap() {
            spool.remove(&entry).unwrap();
        }
    }

    /// Returns the losses that the shipper reports.
    pub fn losses(&self) -> Losses {
        Losses::read(&self.place.spool()).unwrap()
    }

    /// Notes which readings have reached the spool since the last call.
    pub fn note_spooled(&mut self) {
        let mut buffer = [MaybeUninit::uninit(); 65536];
        let mut events = inotify::Reader::new(&self.watch, &mut buffer);
        while let Ok(event) = events.next() {
            assert!(!event.events().contains(inotify::ReadFlags::QUEUE_OVERFLOW));
            let name = event
                .file_name()
                .map(CStr::to_string_lossy)
                .unwrap_or_default();
            if let Some(number) = name.strip_suffix(".lctl.zst") {
                self.spooled.insert(number.parse().unwrap());
            }
        }
    }

    /// Counts the messages of the shipper that contain this text.
    pub fn count_said(&self, text: &str) -> usize {
        let said = fs::read(self.place.file("said")).unwrap_or_default();
        String::from_utf8_lossy(&said).matches(text).count()
    }

    /// Fills the disk of the spool. Returns the file that fills it.
    pub fn fill_disk(&self) -> Ballast {
        Ballast::fill(&self.place.disk())
    }
}

/// A file that fills a disk until it is dropped.
pub struct Ballast(std::path::PathBuf);

impl Ballast {
    /// Fills the disk of this directory.
    pub fn fill(directory: &Path) -> Self {
        let path = directory.join("ballast");
        let mut file = File::create(&path).unwrap();
        let piece = vec![1; 4096];
        while std::io::Write::write_all(&mut file, &piece).is_ok() {}
        Self(path)
    }
}

impl Drop for Ballast {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn write_lctl(place: &Place, name: &str, cluster: &str, seed: u64, programs: &Programs) {
    let path = place.file("lctl");
    let script = format!(
        "#!/bin/sh
unset LD_PRELOAD
export JOBSTATS_SIMULATOR_PRESET=small JOBSTATS_SIMULATOR_CLUSTER='{cluster}' JOBSTATS_SIMULATOR_SEED={seed}
export JOBSTATS_SIMULATOR_SERVER='{name}' JOBSTATS_SIMULATOR_INTERVAL=120s JOBSTATS_SIMULATOR_UNDISTURBED=true
exec '{}' lctl '{}' '{}' \"$@\"
",
        programs.own,
        path.parent().unwrap_or(Path::new("/")).display(),
        programs.simulator,
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}
