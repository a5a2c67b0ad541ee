//! Sending of one request, and reading of its response.

use crate::chat_completions::{failure_of_status, is_refusal_body, malformed_failure};
use crate::http::{failure, rate_limits};
use planforge_contract::{ProviderFailure, ProviderFailureClass};
use std::time::SystemTime;

/// Most bytes that are read of an answer that is an error.
const MOST_OF_AN_ERROR: usize = 256 << 10;

/// A body of status 200 that is JSON, or of an error that refuses the content of the request; else why there is none.
pub type Received = Result<Vec<u8>, ProviderFailure>;

/// Sends a request once and reads the body within its limit, in bytes.
pub async fn receive(client: &reqwest::Client, request: reqwest::Request, max_body: usize) -> Received {
    read(client.execute(request).await.map_err(failure::of_transport)?, max_body).await
}

/// Sends a request once and passes the body on in pieces, until `take` returns false.
///
/// # Errors
/// As of [`receive`]. A body that is cut off is an error; its first pieces were passed on.
pub async fn download(
    client: &reqwest::Client,
    request: reqwest::Request,
    max_bytes: u64,
    take: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<(), ProviderFailure> {
    let mut response = client.execute(request).await.map_err(failure::of_transport)?;
    let status = response.status().as_u16();
    let malformed = |message: String| ProviderFailure {
        class: ProviderFailureClass::Malformed,
        status: Some(status),
        retry_after_ms: None,
        message,
    };
    if !response.status().is_success() {
        let body = read(response, MOST_OF_AN_ERROR).await?;
        return Err(malformed(String::from_utf8_lossy(&body).into_owned()));
    }
    let mut bytes = 0;
    while let Some(piece) = response.chunk().await.map_err(failure::of_transport)? {
        bytes += piece.len() as u64;
        if bytes > max_bytes {
            return Err(malformed(format!("the file is longer than {max_bytes} bytes")));
        }
        if !take(&piece) {
            return Ok(());
        }
    }
    Ok(())
}

async fn read(mut response: reqwest::Response, max_body: usize) -> Received {
    let status = response.status().as_u16();
    rate_limits::keep(response.headers());
    if response.status().is_redirection() {
        let to = response.headers().get(reqwest::header::LOCATION).and_then(|to| to.to_str().ok());
        return Err(failure::of_redirect(status, to, response.url()));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failure::of_transport)? {
        if !response.status().is_success() && body.len() + chunk.len() > MOST_OF_AN_ERROR {
            // Its reason comes first, if it has one.
            body.extend_from_slice(chunk.get(..MOST_OF_AN_ERROR - body.len()).unwrap_or_default());
            break;
        }
        if body.len() + chunk.len() > max_body {
            return Err(ProviderFailure {
                class: ProviderFailureClass::Malformed,
                status: Some(status),
                retry_after_ms: None,
                message: format!("the answer is longer than {max_body} bytes (option `max_body_mb`)"),
            });
        }
        body.extend_from_slice(&chunk);
    }
    if is_refusal_body(status, &body) {
        return Ok(body);
    }
    if !response.status().is_success() {
        let retry_after_ms = failure::retry_after_ms(response.headers(), SystemTime::now());
        return Err(ProviderFailure { retry_after_ms, ..failure_of_status(status, &body) });
    }
    match serde_json::from_slice::<serde::de::IgnoredAny>(&body) {
        Ok(_) => Ok(body),
        // An incomplete body was cut off in transit; a retry may succeed.
        Err(e) if e.is_eof() => Err(failure::cut_off(status, &e, body.len())),
        Err(e) => Err(malformed_failure(status, &format!("not JSON ({e})"), &body)),
    }
}
