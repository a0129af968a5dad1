//! The simulator for tests of other packages.
#![allow(dead_code, reason = "no test needs all of it")]

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// Builds the simulator in the profile of this test, and returns its path.
pub fn build() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let built = BUILT.get_or_init(|| build_program("jobstats-simulator"));
    built.clone()
}

/// Builds the program of a package in the same way. `JOBSTATS_TEST_BUILT` names the directory where `make test` has built it already.
pub fn build_program(package: &str) -> PathBuf {
    if let Some(directory) = std::env::var_os("JOBSTATS_TEST_BUILT") {
        return PathBuf::from(directory).join(package);
    }
    let own = std::env::current_exe().unwrap();
    let directory = own.parent().unwrap().parent().unwrap();
    let profile = match directory.file_name().unwrap().to_str().unwrap() {
        "debug" => "dev",
        profile => profile,
    };
    let mut cargo = Command::new(env!("CARGO"));
    // Otherwise Cargo would compile anew what depends on the variables that it sets for a test.
    for (name, _) in std::env::vars()
        .filter(|(name, _)| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
    {
        cargo.env_remove(name);
    }
    let built = cargo
        .args(["build", "--quiet", "--package", package])
        .args(["--profile", profile])
        .arg("--target-dir")
        .arg(directory.parent().unwrap())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .unwrap();
    assert!(built.success());
    directory.join(package)
}
