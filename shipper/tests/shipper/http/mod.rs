//! The way over HTTP: against the statement of PostgREST in a real database, and against proxies of all kinds.

mod answers;
mod certificates;
mod delivery;
mod doctor;
mod postgrest;
mod secrets;
mod server;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::common::machine::Machine;
use crate::common::{Database, unpack};
use postgrest::Postgrest;
use serde_json::Value;
use server::{Request, Server};

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Creates a file next to lctl that only its owner can read.
fn secret(machine: &Machine, name: &str, text: &str) -> PathBuf {
    let file = machine.lctl.file(name);
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    file
}

/// The objects of a request.
fn objects(request: &Request) -> Vec<Value> {
    serde_json::from_slice(&request.body).unwrap()
}

/// The texts of a request.
fn bodies(request: &Request) -> Vec<String> {
    let text = |object: &Value| {
        let hex = object["body_zstd"]
            .as_str()
            .unwrap()
            .strip_prefix("\\x")
            .unwrap();
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        unpack(&(0..hex.len()).step_by(2).map(byte).collect::<Vec<_>>())
    };
    objects(request).iter().map(text).collect()
}

/// The texts that a server took from this request on.
fn arrived(server: &Server, from: usize) -> Vec<String> {
    server.requests()[from..].iter().flat_map(bodies).collect()
}

/// A PostgREST before this database, for whoever is called like one of its roles.
fn postgrest(database: &Database) -> Server {
    let postgrest = Postgrest {
        url: database.url(),
    };
    Server::new(move |request| postgrest.answer(request))
}
