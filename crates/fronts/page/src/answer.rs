//! Bodies of answers, with the headers that every answer has.

use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use serde::Serialize;
use std::convert::Infallible;

pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Headers of every answer, besides the policy.
const HEADERS: [(&str, &str); 5] = [
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("x-frame-options", "DENY"),
];

/// The policy of content. The nonce is for the styles that the editor adds.
pub(crate) fn policy(nonce: &str) -> String {
    let nonce = if nonce.is_empty() { String::new() } else { format!(" 'nonce-{nonce}'") };
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'{nonce}; img-src 'self' data:; connect-src 'self'; font-src 'self'; \
         form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    )
}

/// An answer with a body.
pub(crate) fn bytes(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Answer {
    with_body(status, kind, Full::new(body.into()).boxed())
}

/// An answer with a body of any kind. It is not kept by the browser.
pub(crate) fn with_body(status: StatusCode, kind: &'static str, body: BoxBody<Bytes, Infallible>) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    set(&mut answer, CONTENT_SECURITY_POLICY, &policy(""));
    answer
}

/// Sets a header. A value with characters that no header can have is left out.
pub(crate) fn set(answer: &mut Answer, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
}

/// An answer with a document.
pub(crate) fn json(status: StatusCode, document: &impl Serialize) -> Answer {
    match serde_json::to_vec(document) {
        Ok(body) => bytes(status, "application/json", body),
        Err(error) => {
            bytes(StatusCode::INTERNAL_SERVER_ERROR, "text/plain; charset=utf-8", error.to_string())
        }
    }
}
