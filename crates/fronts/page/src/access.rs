//! Access to the server: only the browser that got the first address, or one behind a password or a proxy, and only the page itself.

use crate::error::Refusal;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, HeaderName, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode};
use planforge_app::Context;
use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use url::form_urlencoded;

/// Shortest password: shorter ones can be guessed.
pub const MIN_PASSWORD_BYTES: usize = 12;

/// The way in which a browser is recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignIn {
    /// By the token in the first address, then by a cookie.
    Token,
    /// By a password, which the browser asks for. Any user name will do.
    Password(String),
    /// By a header in which a proxy names the user. Only the proxy may be able to connect.
    ProxyHeader(HeaderName),
}

/// The rules for requests.
pub(crate) struct Access {
    address: SocketAddr,
    sign_in: SignIn,
    /// Names by which a browser may call the server, besides its address.
    hosts: Vec<String>,
    token: String,
    /// Another token for the address that a browser is started with: other users of the machine may see it there, so it counts once.
    first: Mutex<Option<String>>,
}

/// A request that may go on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It is answered.
    Answer,
    /// It has the token: the cookie is set, and the browser is sent to this place.
    Enter { cookie: String, place: String },
}

impl Access {
    pub(crate) fn new(address: SocketAddr, sign_in: SignIn, hosts: Vec<String>, tokens: [String; 2]) -> Self {
        let [token, first] = tokens;
        Self { address, sign_in, hosts, token, first: Mutex::new(Some(first)) }
    }

    /// The address to open, for a person.
    pub(crate) fn url(&self) -> String {
        match &self.sign_in {
            SignIn::Token => format!("http://{}/?token={}", self.address, self.token),
            SignIn::Password(_) | SignIn::ProxyHeader(_) => match self.hosts.first() {
                Some(host) => format!("http://{host}/"),
                None => format!("http://{}/", self.address),
            },
        }
    }

    /// The address for a browser that is started, which works once.
    pub(crate) fn first_url(&self) -> String {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match (&self.sign_in, first) {
            (SignIn::Token, Some(first)) => format!("http://{}/?token={first}", self.address),
            _ => self.url(),
        }
    }

    /// Checks the head of a request.
    ///
    /// # Errors
    /// 421 for another host, 401 without a sign-in, 403 for another page, 415 for a body that is not JSON.
    pub(crate) fn admit(&self, head: &Parts) -> Result<Admission, Refusal> {
        let host = header(&head.headers, &HOST).unwrap_or_default();
        if !self.is_own_host(host) {
            let message = "the request names another host";
            let help = "open the address that `planforge serve page` printed; other names need --host";
            return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, "page.host", message, help));
        }
        if let Some(admission) = self.enter(head) {
            return Ok(admission);
        }
        self.check_signed_in(&head.headers)?;
        let is_foreign = |site: &str| !["same-origin", "none"].contains(&site);
        let fetch_site = HeaderName::from_static("sec-fetch-site");
        let origin = header(&head.headers, &ORIGIN);
        let is_own =
            |origin: &str| ["http://", "https://"].iter().any(|s| origin.strip_prefix(s) == Some(host));
        let is_refused = match (&head.method, origin) {
            (&Method::GET, None) => {
                head.uri.path().starts_with("/api/")
                    && header(&head.headers, &fetch_site).is_some_and(is_foreign)
            }
            (_, Some(origin)) => !is_own(origin),
            (_, None) => true,
        };
        if is_refused {
            let help =
                "use the page that `planforge serve page` serves; programs use the command line with --json";
            let message = "the request comes from another page";
            return Err(Refusal::new(StatusCode::FORBIDDEN, "page.origin", message, help));
        }
        let is_json =
            |kind: &str| kind.split(';').next().is_some_and(|kind| kind.trim() == "application/json");
        if head.method != Method::GET && !header(&head.headers, &CONTENT_TYPE).is_some_and(is_json) {
            let message = "the body is not `application/json`";
            let help = "send the body as JSON with `Content-Type: application/json`";
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "page.content-type", message, help));
        }
        Ok(Admission::Answer)
    }

    /// Names of other machines cannot be given to this one by a foreign page: only addresses, `localhost` and the given names count.
    fn is_own_host(&self, host: &str) -> bool {
        let port = self.address.port();
        let (name, given_port) = match host.rsplit_once(':') {
            Some((name, digits)) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
                (name, digits.parse::<u16>().ok())
            }
            _ => (host, Some(80)),
        };
        if self.hosts.iter().any(|known| known == host || known == name && given_port == Some(port)) {
            return true;
        }
        let ip = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        let is_address = match (self.sign_in == SignIn::Token, ip) {
            (true, Ok(ip)) => ip.is_loopback(),
            (false, Ok(_)) => true,
            (_, Err(_)) => name == "localhost",
        };
        is_address && given_port == Some(port)
    }

    /// The way in by the token of the first address.
    fn enter(&self, head: &Parts) -> Option<Admission> {
        let query =
            head.uri.query().filter(|_| self.sign_in == SignIn::Token && head.method == Method::GET)?;
        let (tokens, others): (Vec<_>, Vec<_>) =
            form_urlencoded::parse(query.as_bytes()).partition(|(key, _)| key == "token");
        let (_, given) = tokens.first()?;
        if !is_same(given.as_bytes(), self.token.as_bytes()) {
            let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
            if !first.as_ref().is_some_and(|first| is_same(given.as_bytes(), first.as_bytes())) {
                return None;
            }
            *first = None;
        }
        let rest = form_urlencoded::Serializer::new(String::new()).extend_pairs(others).finish();
        let place = if rest.is_empty() { "/".to_owned() } else { format!("/?{rest}") };
        let cookie = format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie_name(), self.token);
        Some(Admission::Enter { cookie, place })
    }

    /// Cookies do not tell ports apart.
    fn cookie_name(&self) -> String {
        format!("planforge-{}", self.address.port())
    }

    fn check_signed_in(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let (is_signed_in, message, help) = match &self.sign_in {
            SignIn::Token => {
                let name = self.cookie_name();
                let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
                let mut pairs =
                    cookies.flat_map(|all| all.split(';')).filter_map(|one| one.trim().split_once('='));
                let has =
                    pairs.any(|(key, value)| key == name && is_same(value.as_bytes(), self.token.as_bytes()));
                (has, "the browser is not signed in", "open the address that `planforge serve page` printed")
            }
            SignIn::Password(password) => {
                let given = header(headers, &AUTHORIZATION).and_then(|value| value.strip_prefix("Basic "));
                let given = given.and_then(|text| STANDARD.decode(text).ok());
                let at = given.as_ref().and_then(|given| given.iter().position(|byte| *byte == b':'));
                let given = given.zip(at).map(|(given, at)| given[at + 1..].to_vec());
                let has = given.is_some_and(|given| is_same(&given, password.as_bytes()));
                (
                    has,
                    "the password is missing or wrong",
                    "type the password of the server; any user name will do",
                )
            }
            SignIn::ProxyHeader(name) => {
                let has = headers.get(name).is_some_and(|value| !value.is_empty());
                (has, "the proxy did not name a user", "open the page through the proxy")
            }
        };
        match is_signed_in {
            true => Ok(()),
            false => Err(Refusal::new(StatusCode::UNAUTHORIZED, "page.token", message, help)),
        }
    }

    /// True if a refused browser should ask for a password.
    pub(crate) fn asks_for_password(&self) -> bool {
        matches!(self.sign_in, SignIn::Password(_))
    }

    /// True if other machines can connect.
    pub(crate) fn is_network(&self) -> bool {
        !self.address.ip().is_loopback()
    }
}

fn header<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Compares in constant time.
fn is_same(given: &[u8], secret: &[u8]) -> bool {
    given.len() == secret.len() && given.iter().zip(secret).fold(0, |found, (a, b)| found | (a ^ b)) == 0
}

/// 256 random bits in hexadecimal.
pub(crate) fn random_text(context: &Context) -> io::Result<String> {
    let mut bytes = [0; 32];
    context.machine.random(&mut bytes)?;
    let mut text = String::new();
    for byte in bytes {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}
