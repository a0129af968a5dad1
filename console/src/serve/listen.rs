//! Takes connections, and serves HTTP on them.

use std::convert::Infallible;
use std::future::{Future, pending};
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use jobstats_client::program::exit;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::time::{sleep, timeout};

use super::answer::{Answer, Service, WAITING};
use super::question::Route;
use super::turns::Permit;
use super::web::Proxy;
use crate::ask::error::Error;

/// The timeout of a request, and the timeout of a connection.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(120);

/// The bytes of a request that are read.
const REQUEST: usize = 16 << 10;

/// The grace period at shutdown.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// The rights of a page: it has its style in it, and no script, and its forms go nowhere else.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'self'; base-uri 'none'";

/// The header with the exit code of a command.
pub const CODE: &str = "jobstats-code";

/// The source of the caller's identity.
#[derive(Clone)]
enum Caller {
    Kernel(u32),
    Proxy(Arc<Proxy>),
}

/// Serves requests until `stop`, and then completes the accepted ones. At the socket, the caller is known from the kernel, and at the
/// address for a web server, from its header.
pub async fn listen(
    socket: UnixListener,
    web: Option<(TcpListener, Arc<Proxy>)>,
    service: &Arc<Service>,
    stop: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        let taken = tokio::select! {
            accepted = socket.accept() => accepted.map(|(stream, _)| {
                if let Ok(peer) = stream.peer_cred() {
                    let permit = service.connection(peer.uid());
                    serve(stream, Caller::Kernel(peer.uid()), permit, service, &graceful);
                }
            }),
            accepted = accept(web.as_ref()) => accepted.map(|(stream, from, proxy)| {
                let permit = proxy.connection(from);
                serve(stream, Caller::Proxy(proxy), permit, service, &graceful);
            }),
            () = &mut stop => break,
        };
        if taken.is_err() {
            // No file is free, or the client is gone: others may come.
            sleep(Duration::from_millis(100)).await;
        }
    }
    drop((socket, web));
    let _ = timeout(SHUTDOWN_GRACE, graceful.shutdown()).await;
}

async fn accept(
    web: Option<&(TcpListener, Arc<Proxy>)>,
) -> io::Result<(TcpStream, IpAddr, Arc<Proxy>)> {
    match web {
        None => pending().await,
        Some((listener, proxy)) => {
            let (stream, from) = listener.accept().await?;
            Ok((stream, from.ip(), Arc::clone(proxy)))
        }
    }
}

/// Serves HTTP on a connection, which is one request. Without a permit it is closed: its user has too many connections, or it is not from
/// the web server.
fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    who: Caller,
    permit: Option<Permit>,
    service: &Arc<Service>,
    graceful: &GracefulShutdown,
) {
    let Some(permit) = permit.map(Arc::new) else {
        return;
    };
    let service = Arc::clone(service);
    let answer = service_fn(move |request| {
        let (service, permit, who) = (Arc::clone(&service), Arc::clone(&permit), who.clone());
        async move { Ok::<_, Infallible>(respond(&service, &who, &request, permit).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(REQUEST_TIMEOUT)
        .max_buf_size(REQUEST)
        .keep_alive(false);
    let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), answer));
    tokio::spawn(timeout(CONNECTION_TIMEOUT, connection));
}

async fn respond(
    service: &Arc<Service>,
    who: &Caller,
    request: &Request<Incoming>,
    permit: Arc<Permit>,
) -> Response<Full<Bytes>> {
    if request.method() != Method::GET {
        let refusal = Error::Usage("only GET is supported".to_owned());
        let mut response = response(&Answer::refusal(&refusal, false));
        *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        let headers = response.headers_mut();
        headers.insert(ALLOW, HeaderValue::from_static("GET"));
        return response;
    }
    let uri = request.uri();
    if uri.path() == "/healthz" {
        return Response::new(Full::from("ok\n"));
    }
    let answered = async {
        let (uid, permit) = match who {
            Caller::Kernel(uid) => (*uid, permit),
            Caller::Proxy(proxy) => {
                let uid = proxy.user(request.headers());
                let uid = uid.map_err(|problem| Error::other(exit::DENIED, problem))?;
                let permit = service.connection(uid).map(Arc::new);
                (
                    uid,
                    permit.ok_or_else(|| Error::other(exit::LATER, WAITING))?,
                )
            }
        };
        let route = Route::read(uri.path(), uri.query().unwrap_or_default())?;
        Ok(service.answer(uid, route, permit).await)
    };
    let refusal = |error: Error| Answer::refusal(&error, false);
    response(&answered.await.unwrap_or_else(refusal))
}

fn response(answer: &Answer) -> Response<Full<Bytes>> {
    let response = Response::builder()
        .status(answer.status())
        .header(CODE, answer.code.to_string())
        .header(CONTENT_TYPE, answer.content_type())
        .header(CACHE_CONTROL, "no-store")
        .header(CONTENT_SECURITY_POLICY, POLICY)
        .header(REFERRER_POLICY, "no-referrer")
        .header(X_CONTENT_TYPE_OPTIONS, "nosniff")
        .body(Full::from(answer.body.clone()));
    response.unwrap_or_else(|_| Response::new(Full::default()))
}
