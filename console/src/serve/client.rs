//! The client of a service.

use std::path::Path;
use std::time::Duration;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::HOST;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::net::UnixStream;
use tokio::runtime;
use tokio::time::timeout;

use super::listen::CODE;
use super::question::Question;
use crate::ask::error::Error;

/// The timeout of an answer, longer than the service's.
const TIME: Duration = Duration::from_secs(150);

/// The largest answer.
const MOST: usize = 64 << 20;

/// A refusal of the service.
#[derive(Deserialize)]
struct Refusal {
    code: u8,
    message: String,
}

/// Returns the answer to a question.
pub fn ask(socket: &Path, question: &Question) -> Result<String, Error> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let answered = runtime.block_on(async { timeout(TIME, exchange(socket, question)).await });
    let away = |reason: String| Error::Away {
        socket: socket.to_owned(),
        reason,
    };
    let (code, body) = match answered {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => return Err(away(error.to_string())),
        Err(_) => return Err(away(format!("no answer within {} s", TIME.as_secs()))),
    };
    let body = String::from_utf8_lossy(&body);
    if code == Some(0) {
        return Ok(body.into_owned());
    }
    match serde_json::from_str(&body) {
        Ok(Refusal { code, message }) => Err(Error::Other { code, message }),
        Err(_) => Err(away("its answer has an unknown format".to_owned())),
    }
}

async fn exchange(
    socket: &Path,
    question: &Question,
) -> Result<(Option<u8>, Bytes), Box<dyn std::error::Error + Send + Sync>> {
    let stream = UnixStream::connect(socket).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let request = Request::get(question.address())
        .header(HOST, "localhost")
        .body(Empty::<Bytes>::new())?;
    let response = sender.send_request(request).await?;
    let code = response.headers().get(CODE);
    let code = code.and_then(|code| code.to_str().ok()?.parse().ok());
    let body = Limited::new(response.into_body(), MOST).collect().await?;
    Ok((code, body.to_bytes()))
}
