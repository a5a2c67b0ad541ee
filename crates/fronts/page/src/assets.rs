//! The files of the page, which are in the binary.

use crate::answer::{Answer, bytes, policy, set};
use crate::error::Refusal;
use flate2::read::GzDecoder;
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, VARY};
use http::{HeaderMap, StatusCode};
use std::io::Read as _;

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The page itself.
const INDEX: &str = "index.html";
/// Its addresses: the page shows another part at each.
const PARTS: [&str; 5] = ["", INDEX, "solve", "workbench", "runs"];

/// True if this build has the page.
pub fn is_built() -> bool {
    find(INDEX).is_some()
}

fn find(name: &str) -> Option<&'static [u8]> {
    FILES.iter().find(|(known, _)| *known == name).map(|(_, packed)| *packed)
}

fn unpack(packed: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    // The build script packed it.
    let _ = GzDecoder::new(packed).read_to_end(&mut text);
    text
}

/// A file by the path of a request. `nonce` is a new random text.
pub(crate) fn file(path: &str, headers: &HeaderMap, nonce: &str) -> Result<Answer, Refusal> {
    let name = path.trim_start_matches('/');
    if PARTS.contains(&name) {
        let packed = find(INDEX).ok_or_else(|| {
            let message = "this build of planforge has no page";
            Refusal::new(
                StatusCode::NOT_FOUND,
                "page.not-built",
                message,
                "run `tools/page`, then build again",
            )
        })?;
        let text = String::from_utf8_lossy(&unpack(packed)).into_owned();
        let tag = format!("<head>\n<meta name=\"csp-nonce\" content=\"{nonce}\">");
        let mut answer = bytes(StatusCode::OK, kind(INDEX), text.replacen("<head>", &tag, 1));
        set(&mut answer, CONTENT_SECURITY_POLICY, &policy(nonce));
        return Ok(answer);
    }
    let packed = find(name).ok_or_else(|| Refusal::missing("the server has no such file"))?;
    let accepts = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_packed = accepts.split(',').any(|one| one.trim().split(';').next() == Some("gzip"));
    let mut answer = match is_packed {
        true => bytes(StatusCode::OK, kind(name), packed),
        false => bytes(StatusCode::OK, kind(name), unpack(packed)),
    };
    if is_packed {
        set(&mut answer, CONTENT_ENCODING, "gzip");
    }
    set(&mut answer, VARY, "Accept-Encoding");
    // The names of these files hold a hash of their contents.
    if name.starts_with("assets/") {
        set(&mut answer, CACHE_CONTROL, "private, max-age=31536000, immutable");
    }
    Ok(answer)
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    }
}
