//! Per-user limits: one question at a time, so that a user's loop does not slow down others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::Args;
use jobstats_client::program::duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The limits of a service.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Limits")]
pub struct Limits {
    /// Concurrent queries to the database, at most one per user
    #[arg(long, value_name = "NUMBER", default_value = "4", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub at_once: u8,
    /// Open connections per user; further ones are closed
    #[arg(long, value_name = "NUMBER", default_value = "16", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub connections: u16,
    /// Time limit of a request, including its wait in the queue
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration::parse)]
    pub time: Duration,
}

/// A connection that is held, or a turn that is taken, until the value is dropped.
pub type Permit = OwnedSemaphorePermit;

/// The places of a user.
struct UserLimits {
    connections: Arc<Semaphore>,
    turn: Arc<Semaphore>,
}

/// The places of all users.
pub struct Turns {
    pub limits: Limits,
    all: Arc<Semaphore>,
    users: Mutex<HashMap<u32, UserLimits>>,
}

impl Turns {
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            all: Arc::new(Semaphore::new(limits.at_once.into())),
            users: Mutex::default(),
        }
    }

    /// Returns the places of a user.
    fn of<T>(&self, uid: u32, take: impl FnOnce(&UserLimits) -> T) -> T {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        let most = usize::from(self.limits.connections);
        // A user without permits has no connection.
        users.retain(|_, user| user.connections.available_permits() < most);
        take(users.entry(uid).or_insert_with(|| UserLimits {
            connections: Arc::new(Semaphore::new(most)),
            turn: Arc::new(Semaphore::new(1)),
        }))
    }

    /// Takes a connection of a user; `None` if the user has too many.
    pub fn connection(&self, uid: u32) -> Option<Permit> {
        self.of(uid, |user| {
            Arc::clone(&user.connections).try_acquire_owned().ok()
        })
    }

    /// Waits for the turn of a user who holds a connection, and then for a place among all; `None` if they do not come in time.
    pub async fn turn(&self, uid: u32) -> Option<(Permit, Permit)> {
        let own = self.of(uid, |user| Arc::clone(&user.turn));
        let both = async {
            (
                own.acquire_owned().await,
                Arc::clone(&self.all).acquire_owned().await,
            )
        };
        match timeout(self.limits.time, both).await {
            Ok((Ok(own), Ok(all))) => Some((own, all)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::*;

    #[test]
    fn a_user_who_waits_takes_no_place_of_another() {
        let mut runtime = Builder::new_current_thread();
        let runtime = runtime.enable_all().start_paused(true);
        let limits = Limits {
            at_once: 2,
            connections: 3,
            time: Duration::from_secs(30),
        };
        runtime.build().unwrap().block_on(async {
            let turns = Turns::new(limits);
            let held: Vec<_> = (0..5).filter_map(|_| turns.connection(1)).collect();
            assert_eq!(held.len(), 3);
            let other = turns.connection(2);
            assert!(other.is_some());
            let first = turns.turn(1).await;
            assert!(first.is_some());
            // The second question of a user times out, while another user's is answered.
            let (second, another) = tokio::join!(turns.turn(1), turns.turn(2));
            assert!(second.is_none() && another.is_some());
            drop(first);
            assert!(turns.turn(1).await.is_some());
            drop((held, other));
            assert!(turns.connection(3).is_some());
            assert_eq!(turns.users.lock().unwrap().len(), 1);
        });
    }
}
