//! A small HTTP/1.1 server on loopback whose answers the test decides, and a proxy for CONNECT.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub at: Instant,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(other, _)| other == name);
        header.map(|(_, value)| value.as_str())
    }

    fn length(&self) -> u64 {
        self.header("content-length")
            .map_or(0, |length| length.parse().unwrap())
    }
}

/// The reaction of the server to a request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// Answers with a status, headers and a body.
    Answer(u16, Vec<(&'static str, String)>, String),
    /// Writes these bytes, which need not be an answer, and closes the connection.
    Bytes(&'static str),
    /// Leaves the connection open without an answer.
    Silence,
}

impl Reply {
    pub fn of(status: u16, body: &str) -> Self {
        Self::Answer(status, Vec::new(), body.to_owned())
    }

    pub fn with(self, name: &'static str, value: &str) -> Self {
        match self {
            Self::Answer(status, mut headers, body) => {
                headers.push((name, value.to_owned()));
                Self::Answer(status, headers, body)
            }
            other => other,
        }
    }

    pub fn created() -> Self {
        Self::of(201, "")
    }
}

/// The page of a proxy.
pub const HTML: &str = "<html><body><h1>502 Bad Gateway</h1></body></html>";

type Handler = dyn Fn(&Request) -> Reply + Send + Sync;

/// A server that answers until the process ends.
pub struct Server {
    pub address: SocketAddr,
    scheme: &'static str,
    requests: Arc<Mutex<Vec<Request>>>,
}

/// The state that all connections share.
struct Shared {
    tls: Option<Arc<ServerConfig>>,
    /// The size above which a request is refused before its body is read.
    limit: u64,
    handler: Box<Handler>,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    pub fn new(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::start(None, u64::MAX, handler)
    }

    /// Answers the requests with these in turn, and the last one again and again.
    pub fn saying(replies: Vec<Reply>) -> Self {
        let next = Mutex::new(replies.into_iter().peekable());
        Self::new(move |_| {
            let mut next = next.lock().unwrap();
            let reply = next.next().unwrap();
            if next.peek().is_none() {
                *next = vec![reply.clone()].into_iter().peekable();
            }
            reply
        })
    }

    /// A server behind a proxy that takes no request above this size.
    pub fn limited(
        limit: u64,
        handler: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::start(None, limit, handler)
    }

    pub fn with_tls(
        config: ServerConfig,
        handler: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::start(Some(Arc::new(config)), u64::MAX, handler)
    }

    fn start(
        tls: Option<Arc<ServerConfig>>,
        limit: u64,
        handler: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let requests = Arc::default();
        let shared = Arc::new(Shared {
            tls,
            limit,
            handler: Box::new(handler),
            requests: Arc::clone(&requests),
        });
        thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.serve(stream.unwrap()));
            }
        });
        Self {
            address,
            scheme,
            requests,
        }
    }

    pub fn url(&self) -> String {
        format!("{}://localhost:{}", self.scheme, self.address.port())
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Shared {
    /// Errors of a connection are of the tests' making.
    fn serve(&self, stream: TcpStream) {
        let _ = match &self.tls {
            None => self.answer(BufReader::new(stream)),
            Some(config) => {
                let connection = ServerConnection::new(Arc::clone(config)).unwrap();
                let mut socket = stream.try_clone().unwrap();
                self.answer(BufReader::new(StreamOwned::new(connection, stream)))
                    .or_else(|_| drain(&mut socket))
            }
        };
    }

    fn answer<S: Read + Write>(&self, mut stream: BufReader<S>) -> io::Result<()> {
        while let Some(mut request) = head(&mut stream)? {
            if request.length() > self.limit {
                // Proxies read what comes nevertheless, or their answer would be lost.
                write(&mut stream, &Reply::of(413, HTML))?;
                let mut body = stream.by_ref().take(request.length());
                io::copy(&mut body, &mut io::sink())?;
                continue;
            }
            request.body = vec![0; request.length() as usize];
            stream.read_exact(&mut request.body)?;
            self.requests.lock().unwrap().push(request.clone());
            let reply = (self.handler)(&request);
            write(&mut stream, &reply)?;
            if !matches!(reply, Reply::Answer(..)) {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Reads the data that a client sent before its handshake failed. Closing the socket before that would reset the connection, and the client
/// would not receive the alert with the reason.
fn drain(socket: &mut TcpStream) -> io::Result<()> {
    socket.shutdown(Shutdown::Write)?;
    io::copy(socket, &mut io::sink()).map(drop)
}

/// Reads a request up to its body. Returns `None` at the end of the connection.
fn head<S: Read>(stream: &mut BufReader<S>) -> io::Result<Option<Request>> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let mut words = lines[0].split(' ').map(str::to_owned);
    let header = |line: &String| {
        let (name, value) = line.split_once(':').unwrap();
        (name.to_ascii_lowercase(), value.trim().to_owned())
    };
    Ok(Some(Request {
        method: words.next().unwrap(),
        path: words.next().unwrap(),
        headers: lines[1..].iter().map(header).collect(),
        body: Vec::new(),
        at: Instant::now(),
    }))
}

fn write<S: Read + Write>(stream: &mut BufReader<S>, reply: &Reply) -> io::Result<()> {
    let stream = stream.get_mut();
    match reply {
        Reply::Answer(status, headers, body) => {
            write!(
                stream,
                "HTTP/1.1 {status} -\r\nContent-Length: {}\r\n",
                body.len()
            )?;
            for (name, value) in headers {
                write!(stream, "{name}: {value}\r\n")?;
            }
            write!(stream, "\r\n{body}")
        }
        Reply::Bytes(bytes) => stream.write_all(bytes.as_bytes()),
        Reply::Silence => {
            // The connection stays open until the test ends.
            thread::sleep(Duration::MAX);
            Ok(())
        }
    }
}

/// A proxy that accepts every CONNECT, or answers with a status.
pub struct ConnectProxy {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<Request>>>,
}

impl ConnectProxy {
    pub fn new(refusal: Option<u16>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::default();
        let noted = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let noted = Arc::clone(&noted);
                thread::spawn(move || connect(stream.unwrap(), refusal, &noted));
            }
        });
        Self { address, asked }
    }

    /// The requested destinations.
    pub fn asked(&self) -> Vec<Request> {
        self.asked.lock().unwrap().clone()
    }
}

fn connect(stream: TcpStream, refusal: Option<u16>, noted: &Mutex<Vec<Request>>) -> io::Result<()> {
    let mut from = BufReader::new(stream.try_clone()?);
    let mut to = stream;
    let Some(request) = head(&mut from)? else {
        return Ok(());
    };
    noted.lock().unwrap().push(request.clone());
    if let Some(status) = refusal {
        return write!(
            to,
            "HTTP/1.1 {status} -\r\nContent-Length: {}\r\n\r\n{HTML}",
            HTML.len()
        );
    }
    let mut target = TcpStream::connect(request.path)?;
    to.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
    let mut back = target.try_clone()?;
    thread::spawn(move || {
        let _ = io::copy(&mut back, &mut to);
        let _ = to.shutdown(Shutdown::Both);
    });
    io::copy(&mut from, &mut target)?;
    target.shutdown(Shutdown::Both)
}
