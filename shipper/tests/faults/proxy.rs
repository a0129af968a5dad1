//! A proxy between shippers and database that cuts, stalls, half-closes and holds connections.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// The trouble that a connection gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Both directions are closed.
    Cut,
    /// Passes nothing on, and closes nothing.
    Stall,
    /// The database sees the end of the connection first.
    CloseToDatabase,
    /// The shipper sees the end of the connection first.
    CloseToShipper,
    /// The database still gets the text, but the shipper does not get the answer.
    LoseAnswer,
    /// Passes nothing on until [`Proxy::release`].
    Hold,
}

/// The trigger of a trouble: this word from the shipper.
pub const WORDS: [&[u8]; 5] = [
    b"application_name",
    b"START TRANSACTION",
    b"SET LOCAL",
    b"COPY jobstats.feed",
    // The zero byte distinguishes the statement from READ COMMITTED.
    b"COMMIT\0",
];

/// The plan of the proxy, and how far it has come.
#[derive(Default)]
struct State {
    /// The next trouble, and the word that it waits for.
    next: Option<(Trouble, &'static [u8])>,
    /// True after the trouble has begun.
    has_begun: bool,
    is_held: bool,
    /// Connections that are kept open.
    kept: Vec<(TcpStream, UnixStream)>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    released: Condvar,
}

/// A proxy on a random port.
pub struct Proxy {
    /// The port.
    pub port: u16,
    shared: Arc<Shared>,
}

impl Proxy {
    /// Starts to pass on connections to the database behind this socket.
    pub fn start(socket: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::<Shared>::default();
        let (socket, of_thread) = (socket.to_owned(), Arc::clone(&shared));
        thread::spawn(move || accept(&listener, &socket, &of_thread));
        Self { port, shared }
    }

    /// Gives this trouble to the next connection on which this word is sent.
    pub fn plan(&self, trouble: Trouble, word: &'static [u8]) {
        let mut state = self.shared.state.lock().unwrap();
        state.next = Some((trouble, word));
        state.has_begun = false;
        state.is_held = trouble == Trouble::Hold;
    }

    /// Returns true if the planned trouble has begun.
    pub fn has_begun(&self) -> bool {
        self.shared.state.lock().unwrap().has_begun
    }

    /// Passes on the bytes that were held.
    pub fn release(&self) {
        self.shared.state.lock().unwrap().is_held = false;
        self.shared.released.notify_all();
    }

    /// Ends all trouble, and closes the connections that were kept open.
    pub fn calm(&self) {
        self.release();
        let mut state = self.shared.state.lock().unwrap();
        state.next = None;
        for (client, server) in state.kept.drain(..) {
            let _ = (
                client.shutdown(Shutdown::Both),
                server.shutdown(Shutdown::Both),
            );
        }
    }
}

fn accept(listener: &TcpListener, socket: &PathBuf, shared: &Arc<Shared>) {
    for client in listener.incoming() {
        let client = client.unwrap();
        // A database that is away closes the connection.
        let Ok(server) = UnixStream::connect(socket) else {
            continue;
        };
        let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
        thread::spawn(move || pass_back(back.0, back.1));
        let shared = Arc::clone(shared);
        thread::spawn(move || pass_on(client, server, &shared));
    }
}

fn pass_back(mut server: UnixStream, mut client: TcpStream) {
    let mut buffer = [0; 65536];
    while let Ok(read @ 1..) = server.read(&mut buffer) {
        if client.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = (
        client.shutdown(Shutdown::Both),
        server.shutdown(Shutdown::Both),
    );
}

/// Passes on the shipper's data. Messages with the words are small, so each arrives in one piece.
fn pass_on(mut client: TcpStream, mut server: UnixStream, shared: &Shared) {
    let mut buffer = [0; 65536];
    while let Ok(read @ 1..) = client.read(&mut buffer) {
        let text = &buffer[..read];
        if let Some(trouble) = trouble(text, shared)
            && !goes_on(trouble, text, &mut client, &mut server, shared)
        {
            return;
        }
        if server.write_all(text).is_err() {
            break;
        }
    }
    let _ = (
        client.shutdown(Shutdown::Both),
        server.shutdown(Shutdown::Both),
    );
}

/// Takes the planned trouble, if its word is in the text.
fn trouble(text: &[u8], shared: &Shared) -> Option<Trouble> {
    let mut state = shared.state.lock().unwrap();
    let (trouble, word) = state.next?;
    let is_said = text.windows(word.len()).any(|window| window == word);
    is_said.then(|| {
        state.next = None;
        state.has_begun = true;
        trouble
    })
}

/// Makes the trouble. Returns true if the connection goes on with this text.
fn goes_on(
    trouble: Trouble,
    text: &[u8],
    client: &mut TcpStream,
    server: &mut UnixStream,
    shared: &Shared,
) -> bool {
    let _ = match trouble {
        Trouble::Cut => client
            .shutdown(Shutdown::Both)
            .and(server.shutdown(Shutdown::Both)),
        Trouble::Stall => Ok(()),
        Trouble::CloseToDatabase => server.shutdown(Shutdown::Write),
        Trouble::CloseToShipper => client.shutdown(Shutdown::Write),
        Trouble::LoseAnswer => {
            let closed = client.shutdown(Shutdown::Both);
            // The database reads to the end before it sees that the connection is closed.
            server
                .write_all(text)
                .and(server.shutdown(Shutdown::Write))
                .and(closed)
        }
        Trouble::Hold => {
            let state = shared.state.lock().unwrap();
            drop(shared.released.wait_while(state, |state| state.is_held));
            return true;
        }
    };
    let kept = (client.try_clone().unwrap(), server.try_clone().unwrap());
    shared.state.lock().unwrap().kept.push(kept);
    false
}
