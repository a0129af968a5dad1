//! One probe of a directory: a file is made, looked at, written, read and removed.
//!
//! A hanging file system blocks the process that uses it, and no signal can end that process. So a child process probes. It prints a line
//! for each finished step, and one for a failure.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read, Seek, Write, stdout};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use rustix::fs::{
    Access, Advice, AtFlags, CWD, FileType, Mode, OFlags, accessat, fadvise, fstat, openat, statat,
    unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;
use rustix::system::uname;
use rustix::thread::set_name;

use crate::read::probe::fault::{ERROR, FULL, Fault, UNUSABLE};

/// The steps in their order.
pub const STEPS: [&str; 5] = ["create", "stat", "write", "read", "unlink"];

/// The options of the process that probes one directory.
#[derive(Debug, Args)]
pub struct Attempt {
    /// Bytes to write and read; with 0 the directory is only checked
    #[arg(long)]
    pub size: u64,
    /// Directory to probe
    pub directory: PathBuf,
}

impl Attempt {
    /// Probes the directory and prints the steps. `job_stats` names entries after the process, so the process gets a recognizable name.
    pub fn execute(&self) {
        let _ = set_name(c"jobstats-probe");
        let name = file_name();
        let done = open(&self.directory).and_then(|directory| {
            remove(&directory, &name)?;
            let done = match self.size {
                0 => Ok(()),
                size => probe(&directory, &name, size),
            };
            // A file that stays would count against a quota.
            done.inspect_err(|_| drop(remove(&directory, &name)))
        });
        if let Err(fault) = done {
            say(fault);
        }
    }
}

/// Opens the directory. No other user may have write access: another user's file could replace the file of the probe.
fn open(directory: &Path) -> Result<File, Fault> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = openat(CWD, directory, flags, Mode::empty()).map_err(|cause| match cause {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS => Fault::new(UNUSABLE, cause),
        _ => failed("open")(cause.into()),
    })?;
    let stat = fstat(&directory).map_err(|cause| failed("open")(cause.into()))?;
    let (owner, user) = (stat.st_uid, geteuid().as_raw());
    if owner != user {
        let why = format!("it is owned by user {owner}; chown it to {user}, the user of the probe");
        return Err(Fault::new(UNUSABLE, why));
    }
    if stat.st_mode & 0o022 != 0 {
        let why = "it is writable by other users; chmod go-w it";
        return Err(Fault::new(UNUSABLE, why));
    }
    let writable = Access::WRITE_OK | Access::EXEC_OK;
    accessat(&directory, ".", writable, AtFlags::empty())
        .map_err(|cause| Fault::new(UNUSABLE, cause))?;
    Ok(directory.into())
}

/// Removes the file of a killed probe, and no other file of that name.
fn remove(directory: &File, name: &str) -> Result<(), Fault> {
    let is_own = match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(()),
        Err(cause) => return Err(failed("stat")(cause.into())),
        Ok(stat) => {
            let is_file = FileType::from_raw_mode(stat.st_mode).is_file();
            is_file && stat.st_uid == geteuid().as_raw()
        }
    };
    match is_own {
        true => unlinkat(directory, name, AtFlags::empty())
            .map_err(|cause| failed("unlink")(cause.into())),
        false => {
            let why = format!("{name} is not a file of the probe; remove it");
            Err(Fault::new(UNUSABLE, why))
        }
    }
}

fn probe(directory: &File, name: &str, size: u64) -> Result<(), Fault> {
    let [create, stat, write, read, unlink] = STEPS;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    let file = step(create, || Ok(openat(directory, name, flags, mode)?))?;
    step(stat, || {
        Ok(statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?)
    })?;
    let mut file = File::from(file);
    // Bytes that a server could compress would be written too fast.
    let mut bytes = vec![0; size as usize];
    fastrand::fill(&mut bytes);
    step(write, || {
        file.write_all(&bytes).and_then(|()| file.sync_all())
    })?;
    // Otherwise the file would be read from this machine's memory. File systems without this call can still be measured.
    let _ = fadvise(&file, 0, None, Advice::DontNeed);
    let mut found = vec![0; bytes.len()];
    step(read, || {
        file.rewind().and_then(|()| file.read_exact(&mut found))
    })?;
    if found != bytes {
        return Err(failed(read)(io::Error::other(
            "its contents differ from the written data",
        )));
    }
    step(unlink, || Ok(unlinkat(directory, name, AtFlags::empty())?))
}

/// Does a step and prints how long it took.
fn step<T>(name: &'static str, work: impl FnOnce() -> io::Result<T>) -> Result<T, Fault> {
    let start = Instant::now();
    let done = work().map_err(failed(name))?;
    say(format_args!("{name} {:.6}", start.elapsed().as_secs_f64()));
    Ok(done)
}

fn failed(step: &'static str) -> impl Fn(io::Error) -> Fault {
    move |cause| {
        let reason = match cause.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::NOSPC | Errno::DQUOT) => FULL,
            _ => ERROR,
        };
        Fault::new(reason, format_args!("{step}: {cause}"))
    }
}

/// Returns the name of the file, which no other machine uses.
fn file_name() -> String {
    let machine = uname().nodename().to_string_lossy().into_owned();
    format!(".jobstats-probe.{}", machine.replace('/', "_"))
}

/// Prints a line. If the reader is gone, this process is killed soon.
fn say(line: impl Display) {
    let _ = writeln!(stdout(), "{line}");
}
