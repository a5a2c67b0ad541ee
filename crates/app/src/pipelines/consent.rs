//! The user's consent: the servers that may get requests and keys, the certificate authorities that may be trusted, and the
//! programs that may be started.
//!
//! A pipeline file names variables, servers, certificates and commands, and may come from a stranger. So a value goes only to
//! the service that the variable is for and to servers that the user allowed: with `--allow-host`, in `allow.toml` in the user's
//! configuration folder, or in a model table of `config.toml` there that names both. Requests without a key also go to
//! loopback addresses and to the provider's own service. The options that need consent, and why, are in
//! [`option_effects`](super::option_effects).

use crate::context::{ConsentDecision, ConsentRequest, Context};
use crate::pipelines::model_choice::UserConfig;
use crate::pipelines::option_effects::{Effect, effect_of};
use crate::pipelines::place::PluginPlace;
use crate::pipelines::programs::StartedProgram;
use planforge_contract::{Failure, FailureClass, JsonObject, PluginInfo};
use planforge_diagnostics::render::escape;
use planforge_diagnostics::skip_byte_order_mark;
use planforge_pddl::MAX_TEXT_BYTES;
use planforge_record::{read_regular_text, sha256_hex};
use serde::Deserialize;
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use url::{Host, Url};

/// Variables and the services that their values come from.
const SERVICES: [(&str, &str); 13] = [
    ("ANTHROPIC_API_KEY", "api.anthropic.com"),
    ("CEREBRAS_API_KEY", "api.cerebras.ai"),
    ("DEEPSEEK_API_KEY", "api.deepseek.com"),
    ("FIREWORKS_API_KEY", "api.fireworks.ai"),
    ("GEMINI_API_KEY", "generativelanguage.googleapis.com"),
    ("GOOGLE_API_KEY", "generativelanguage.googleapis.com"),
    ("GROQ_API_KEY", "api.groq.com"),
    ("HF_TOKEN", "router.huggingface.co"),
    ("MISTRAL_API_KEY", "api.mistral.ai"),
    ("OPENAI_API_KEY", "api.openai.com"),
    ("OPENROUTER_API_KEY", "openrouter.ai"),
    ("TOGETHER_API_KEY", "api.together.xyz"),
    ("XAI_API_KEY", "api.x.ai"),
];

/// Servers, certificates and commands that the user allowed on the command line.
#[derive(Debug, Clone, Default)]
pub struct AllowedByOptions {
    /// Servers of `--allow-host`, for every variable.
    servers: BTreeSet<String>,
    /// SHA-256 of the files of `--allow-ca`.
    authorities: BTreeSet<String>,
    /// True if all commands are allowed, by `--allow-commands`.
    all_commands: bool,
}

impl AllowedByOptions {
    /// The consent by `--allow-host` and `--allow-commands`.
    ///
    /// # Errors
    /// `cli.consent`: a server of `--allow-host` cannot be read.
    pub fn new(allowed_hosts: &[String], all_commands: bool) -> Result<Self, Failure> {
        let servers = allowed_hosts.iter().map(|host| origin_of(host));
        let servers = servers.collect::<Result<_, _>>().map_err(|e| wrong(format!("--allow-host: {e}")))?;
        Ok(Self { servers, all_commands, ..Self::default() })
    }

    /// Adds the certificate files of `--allow-ca`, by the SHA-256 of their text.
    ///
    /// # Errors
    /// `cli.consent`: a value is not a SHA-256 in hexadecimal.
    pub fn allow_authorities(mut self, hashes: &[String]) -> Result<Self, Failure> {
        for hash in hashes {
            if hash.len() != 64 || !hash.bytes().all(|b| b.is_ascii_hexdigit()) {
                let message = format!("--allow-ca: `{hash}` is not a SHA-256 of 64 hexadecimal digits");
                return Err(wrong(message).help("`planforge check FILE` prints the hash of the file"));
            }
            self.authorities.insert(hash.to_ascii_lowercase());
        }
        Ok(self)
    }

    /// Adds the loopback addresses that the user typed as a `base_url` or `proxy`, in `llm.NAME.KEY=VALUE` of `--set`. Other
    /// addresses need `--allow-host`.
    #[must_use]
    pub fn allow_typed_addresses(mut self, set: &[String]) -> Self {
        let typed = set.iter().filter_map(|set| set.split_once('='));
        let urls = typed.filter_map(|(key, value)| {
            let mut parts = key.trim().split('.');
            let (table, option) = (parts.next()?, parts.nth(1)?);
            let is_address =
                table == "llm" && ["base_url", "proxy"].contains(&option) && parts.next().is_none();
            let url = Url::parse(value.trim().trim_matches(['"', '\''])).ok()?;
            (is_address && is_loopback(&url)).then(|| url.origin().ascii_serialization())
        });
        self.servers.extend(urls);
        self
    }
}

impl ConsentDecision for AllowedByOptions {
    fn allows(&self, request: &ConsentRequest) -> bool {
        match request {
            ConsentRequest::Connect { server, .. } => self.servers.contains(server),
            ConsentRequest::TrustAuthority { hash, .. } => self.authorities.contains(hash),
            ConsentRequest::StartProgram { .. } => self.all_commands,
        }
    }
}

/// The consent of a front that can ask: what is not allowed otherwise, by options for example, is asked about, each request once.
pub struct AskedOnce<D, F> {
    allowed: D,
    ask: F,
    /// Locked during a question, so that two of them never mix.
    answers: Mutex<Vec<(ConsentRequest, bool)>>,
}

impl<D: ConsentDecision, F: Fn(&ConsentRequest) -> bool + Send + Sync> AskedOnce<D, F> {
    /// The consent by `allowed`, then by `ask`.
    pub fn new(allowed: D, ask: F) -> Self {
        Self { allowed, ask, answers: Mutex::default() }
    }
}

impl<D: ConsentDecision, F: Fn(&ConsentRequest) -> bool + Send + Sync> ConsentDecision for AskedOnce<D, F> {
    fn allows(&self, request: &ConsentRequest) -> bool {
        if self.allowed.allows(request) {
            return true;
        }
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, answer)) = answers.iter().find(|(asked, _)| asked == request) {
            return *answer;
        }
        let answer = (self.ask)(request);
        answers.push((request.clone(), answer));
        answer
    }
}

/// The user's consent: the files of the user's configuration, then the decision of the front.
pub(crate) struct Consent {
    context: Context,
    path: Option<PathBuf>,
    /// The file with the user's model tables.
    config: Option<PathBuf>,
    /// Read when the answer depends on it, so that a broken file does not end a command that sends nothing.
    file: OnceCell<Result<AllowFile, Failure>>,
}

/// `allow.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowFile {
    /// Servers and proxies that may get requests without a key.
    #[serde(default)]
    hosts: Vec<String>,
    /// SHA-256 of a certificate file -> the file, for the reader.
    #[serde(default)]
    authorities: BTreeMap<String, String>,
    /// Variable -> servers.
    #[serde(default)]
    keys: BTreeMap<String, Vec<String>>,
    /// Hash of a command -> the command, for the reader.
    #[serde(default)]
    commands: BTreeMap<String, String>,
}

fn wrong(message: String) -> Failure {
    Failure::new(FailureClass::Request, "cli.consent", message)
}

impl AllowFile {
    /// Reads the file; one that does not exist allows nothing.
    fn read(path: &Path) -> Result<Self, Failure> {
        let shown = path.display();
        let text = match read_regular_text(path, MAX_TEXT_BYTES as u64) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(e) => return Err(wrong(format!("{shown} cannot be read: {e}"))),
        };
        let mut file: Self = toml::from_str(&text).map_err(|e| wrong(format!("{shown}: {e}")))?;
        for server in file.keys.values_mut().flatten().chain(&mut file.hosts) {
            *server = origin_of(server).map_err(|e| wrong(format!("{shown}: {e}")))?;
        }
        Ok(file)
    }
}

impl Consent {
    /// The consent of a context. The user's files are read when a check needs them.
    pub(crate) fn new(context: &Context) -> Self {
        let (path, config) = (context.user_file("allow.toml"), context.user_file("config.toml"));
        Self { context: context.clone(), path, config, file: OnceCell::new() }
    }

    fn file(&self) -> Result<&AllowFile, Failure> {
        let read = || self.path.as_deref().map_or_else(|| Ok(AllowFile::default()), AllowFile::read);
        self.file.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    /// True if the user's files allow the server to get the value of the variable, or requests without a key.
    fn is_listed(&self, server: &str, variable: Option<&str>) -> Result<bool, Failure> {
        let file = self.file()?;
        let listed = match variable {
            Some(variable) => {
                file.keys.get(variable).is_some_and(|servers| servers.iter().any(|s| s == server))
            }
            None => file.hosts.iter().chain(file.keys.values().flatten()).any(|listed| listed == server),
        };
        if listed {
            return Ok(true);
        }
        let config = UserConfig::read(self.config.as_deref())?;
        Ok(config.servers().any(|(variables, url)| {
            let names = variable.is_none_or(|variable| variables.contains(&variable));
            names && origin_of(url).is_ok_and(|origin| origin == server)
        }))
    }

    /// True if the user's files allow a certificate file with that hash.
    fn is_listed_authority(&self, hash: &str) -> Result<bool, Failure> {
        if self.file()?.authorities.contains_key(hash) {
            return Ok(true);
        }
        let config = UserConfig::read(self.config.as_deref())?;
        // A relative path counts from the pipeline file, which may have brought its own file of that name.
        let mut files = config.authority_files().filter(|path| path.is_absolute());
        Ok(files.any(|path| {
            let text = read_regular_text(path, MAX_TEXT_BYTES as u64);
            text.is_ok_and(|text| sha256_hex(skip_byte_order_mark(&text).as_bytes()) == hash)
        }))
    }

    /// Checks that the servers, the proxy and the certificate authorities of a plugin may be used. `given` has the plugin's
    /// options as the file has them, `inlined` with the texts of files; without these no authority is asked about. `at` is the
    /// plugin's place in the pipeline in the file of that name and text.
    ///
    /// # Errors
    /// `cli.consent` for each refusal, with the ways to allow it, or because the user's file cannot be read.
    pub(crate) fn check_connection(
        &self,
        info: &PluginInfo,
        (given, inlined): (&JsonObject, Option<&JsonObject>),
        (place, file): (&PluginPlace, (&str, &str)),
    ) -> Result<(), Vec<Failure>> {
        let variables: BTreeSet<String> = info.secret_variables(given).into_values().collect();
        let text = |options: &JsonObject, name: &str| {
            info.option_value(options, name).and_then(|value| value.as_str().map(str::to_owned))
        };
        let names = info.options_schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name);
        let names: BTreeSet<&String> = names.chain(given.keys()).collect();
        let mut servers = Vec::new();
        let mut refused = Vec::new();
        for name in &names {
            let effect = effect_of(info, name);
            if !matches!(effect, Effect::NamesServer | Effect::NamesProxy) {
                continue;
            }
            // A service has a name, and its address is in `base_url`.
            if *name == "service" && !info.servers.contains(name) {
                continue;
            }
            let value = info.option_value(given, name).filter(|value| !value.is_null());
            let Some(value) = value else { continue };
            let is_unset = !given.contains_key(*name) && value == "";
            if is_unset {
                continue;
            }
            let server = NamedServer {
                url: value.as_str().map_or_else(|| value.to_string(), str::to_owned),
                own: text(&JsonObject::new(), name),
                option: name,
                place: place.of_option(file, name, given.get(*name)),
                is_proxy: effect == Effect::NamesProxy,
            };
            refused.extend(self.check_server(&server, &variables).err());
            servers.extend(origin_of(&server.url));
        }
        // Plain http asks no authority.
        let is_plain = !servers.is_empty() && servers.iter().all(|server| server.starts_with("http://"));
        let inlined = inlined.filter(|_| !is_plain);
        for name in names.iter().filter(|name| effect_of(info, name) == Effect::TrustsAuthority) {
            let pem = inlined.and_then(|inlined| text(inlined, name));
            if let (Some(file_name), Some(pem)) = (given.get(*name).and_then(Value::as_str), pem) {
                let request = ConsentRequest::TrustAuthority {
                    file: escape(file_name),
                    hash: sha256_hex(pem.as_bytes()),
                    servers: servers.clone(),
                    option: (*name).clone(),
                    place: place.of_option(file, name, given.get(*name)),
                };
                refused.extend(self.check_authority(request).err());
            }
        }
        if refused.is_empty() { Ok(()) } else { Err(refused) }
    }

    fn check_authority(&self, request: ConsentRequest) -> Result<(), Failure> {
        let ConsentRequest::TrustAuthority { file, hash, .. } = &request else { return Ok(()) };
        let listed = self.is_listed_authority(hash);
        if matches!(listed, Ok(true)) || self.context.allows(request.clone()) {
            return Ok(());
        }
        listed?;
        let mut help = format!("if you trust the owner of this file, add `--allow-ca {hash}`");
        if let Some(path) = &self.path {
            let entry = toml::Value::String(file.clone());
            help += &format!(", or write into {} below [authorities]: {hash} = {entry}", path.display());
        }
        Err(wrong(format!("{request}; you have not allowed it")).help(help))
    }

    /// Checks that a server may get requests with the values of these variables, or without a key if there is none.
    ///
    /// # Errors
    /// As of [`Consent::check_connection`].
    pub(crate) fn check_server(
        &self,
        named: &NamedServer<'_>,
        variables: &BTreeSet<String>,
    ) -> Result<(), Failure> {
        let url = Url::parse(&named.url).ok().filter(|url| url.origin().is_tuple());
        let Some(url) = url else {
            let message = format!("{}: `{}` is not the URL of a server", named.place, named.option);
            return Err(wrong(message).help("a URL begins with http:// or https://, and names a host"));
        };
        let server = url.origin().ascii_serialization();
        let is_service = |variable: &str| {
            let mut known = SERVICES.iter();
            !named.is_proxy
                && known.any(|(name, host)| *name == variable && server == format!("https://{host}"))
        };
        let is_own = || named.own.as_deref().is_some_and(|own| origin_of(own).is_ok_and(|own| own == server));
        if variables.is_empty() && !named.is_proxy && (is_loopback(&url) || is_own()) {
            return Ok(());
        }
        let mut listed = Ok(true);
        let mut refused = Vec::new();
        if variables.is_empty() {
            listed = self.is_listed(&server, None);
        }
        for variable in variables.iter().filter(|variable| !is_service(variable)) {
            match self.is_listed(&server, Some(variable)) {
                Ok(true) => {}
                other => {
                    refused.push(escape(&shown_variable(variable)));
                    listed = listed.and(other);
                }
            }
        }
        if matches!(listed, Ok(true)) {
            return Ok(());
        }
        let request = ConsentRequest::Connect {
            server: server.clone(),
            variables: refused.clone(),
            option: named.option.to_owned(),
            place: named.place.clone(),
            is_proxy: named.is_proxy,
        };
        if self.context.allows(request.clone()) {
            return Ok(());
        }
        listed?;
        let mut help = format!("if you trust it with that, add `--allow-host {server}`");
        if let Some(path) = &self.path {
            let shown = path.display();
            help += &match refused.as_slice() {
                [] => format!(", or write at the beginning of {shown}: hosts = [\"{server}\"]"),
                refused => {
                    // No line can be given for a name that was cut.
                    let whole = refused.iter().filter(|variable| variables.contains(*variable));
                    let lines: Vec<String> =
                        whole.map(|variable| format!("{variable} = [\"{server}\"]")).collect();
                    match lines.len() == refused.len() {
                        true => format!(", or write into {shown} below [keys]: {}", lines.join(" and ")),
                        false => String::new(),
                    }
                }
            };
        }
        Err(wrong(format!("{request}, which you have not allowed")).help(help))
    }

    /// Checks that a program may be started, which the pipeline in the file of that name and text names.
    ///
    /// # Errors
    /// As of [`Consent::check_connection`].
    pub(crate) fn check_command(&self, program: &StartedProgram, file: (&str, &str)) -> Result<(), Failure> {
        let Some(hash) = &program.consent else { return Ok(()) };
        let listed = self.file().map(|file| file.commands.contains_key(hash));
        let (command, place) = (program.command_text(), program.full_place(file));
        let request = ConsentRequest::StartProgram {
            command: command.clone(),
            place: place.clone(),
            hash: hash.clone(),
        };
        if matches!(listed, Ok(true)) || self.context.allows(request) {
            return Ok(());
        }
        listed?;
        let message = format!("{place} names a program that you have not allowed: `{command}`");
        let mut help = "if you trust the program, add `--allow-commands`".to_owned();
        if let Some(path) = &self.path {
            let entry = toml::Value::String(command);
            help += &format!(", or write into {} below [commands]: {hash} = {entry}", path.display());
        }
        Err(wrong(message).help(help))
    }
}

/// A server or proxy that an option names.
pub(crate) struct NamedServer<'a> {
    pub(crate) url: String,
    /// The address of the provider's own service.
    pub(crate) own: Option<String>,
    pub(crate) option: &'a str,
    /// File, line and table of the option.
    pub(crate) place: String,
    pub(crate) is_proxy: bool,
}

/// The name of a variable for messages. A name with lower-case letters and digits may be a key that was written in the
/// place of its variable, so it is cut.
pub(crate) fn shown_variable(name: &str) -> String {
    let may_be_key = name.len() >= 16
        && name.bytes().any(|b| b.is_ascii_lowercase())
        && name.bytes().any(|b| b.is_ascii_digit());
    match may_be_key {
        true => format!("{}...", name.chars().take(4).collect::<String>()),
        false => name.to_owned(),
    }
}

/// Scheme, host and port of a URL, or of a host alone, which then means https.
fn origin_of(server: &str) -> Result<String, String> {
    let text = if server.contains("://") { server.to_owned() } else { format!("https://{server}") };
    match Url::parse(&text) {
        Ok(url) if url.has_host() => Ok(url.origin().ascii_serialization()),
        _ => Err(format!("`{server}` is not a host or URL")),
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Checks a `base_url` of provider-openai with that variable.
    fn check(consent: &Consent, variable: &str, url: &str) -> Result<(), Failure> {
        let named = NamedServer {
            url: url.to_owned(),
            own: Some("https://api.openai.com/v1".to_owned()),
            option: "base_url",
            place: "file.toml:3: [llm.main]".to_owned(),
            is_proxy: false,
        };
        consent.check_server(
            &named,
            &[variable.to_owned()].into_iter().filter(|name| !name.is_empty()).collect(),
        )
    }

    fn is_allowed(consent: &Consent, variable: &str, url: &str) -> bool {
        match check(consent, variable, url) {
            Ok(()) => true,
            Err(failure) => {
                assert_eq!(failure.code, "cli.consent");
                false
            }
        }
    }

    #[test]
    fn a_key_goes_to_its_service_alone_and_requests_without_one_to_loopback_addresses_too() {
        let consent = Consent::new(&Context::default());
        assert!(is_allowed(&consent, "OPENAI_API_KEY", "https://api.openai.com/v1"));
        for url in ["http://127.0.0.1:8081/v1", "http://[::1]:1/", "http://localhost:80"] {
            assert!(!is_allowed(&consent, "OPENAI_API_KEY", url), "{url}");
            assert!(is_allowed(&consent, "", url), "{url}");
        }
        for url in [
            "http://api.openai.com/v1",
            "https://api.openai.com:8443/v1",
            "https://api.openai.com.example.org/v1",
            "https://api.openai.com@example.org/v1",
            "https://example.org\\@127.0.0.1/",
            "http://127.0.0.1.example.org/v1",
            "http://192.168.0.1/v1",
            "https://api.mistral.ai/v1",
            "evil.example.org/v1",
            "evil.example.org:443",
            "socks5://127.0.0.1:9",
            "",
        ] {
            assert!(!is_allowed(&consent, "OPENAI_API_KEY", url), "{url}");
            assert!(!is_allowed(&consent, "", url), "{url}");
        }
        assert!(is_allowed(&consent, "", "https://api.openai.com/v1"), "the provider's own service");
        assert!(!is_allowed(&consent, "AWS_SECRET_ACCESS_KEY", "https://api.openai.com/v1"));
    }

    #[test]
    fn a_loopback_address_that_the_user_typed_is_allowed_and_no_other() {
        let set = [
            "llm.main.base_url=http://127.0.0.1:1/v1",
            "llm.main.proxy=\"http://localhost:2\"",
            "llm.main.model=x",
            "llm.main.base_url=https://example.org/v1",
            "llm.main.headers.base_url=http://127.0.0.1:3",
        ];
        let typed = AllowedByOptions::new(&[], false).unwrap().allow_typed_addresses(&set.map(str::to_owned));
        assert_eq!(
            typed.servers.iter().map(String::as_str).collect::<Vec<_>>(),
            ["http://127.0.0.1:1", "http://localhost:2"]
        );
    }

    #[test]
    fn the_option_and_the_file_allow_a_server() {
        let folder = tempfile::tempdir().unwrap();
        let configuration = folder.path().join("planforge");
        std::fs::create_dir(&configuration).unwrap();
        let path = configuration.join("allow.toml");
        let consent = |hosts: &[String]| {
            let variables = [("XDG_CONFIG_HOME".to_owned(), folder.path().display().to_string())];
            Consent::new(&Context {
                variables: Arc::new(variables.into()),
                consent: Arc::new(AllowedByOptions::new(hosts, false).unwrap()),
                ..Context::default()
            })
        };
        let allowed = consent(&["llm.example.org".to_owned(), "http://10.0.0.1:8000/v1".to_owned()]);
        assert!(is_allowed(&allowed, "KEY", "https://llm.example.org/v1"));
        assert!(is_allowed(&allowed, "KEY", "http://10.0.0.1:8000/other"));
        assert!(!is_allowed(&allowed, "KEY", "http://llm.example.org/v1"));
        std::fs::write(&path, "hosts = [\"plain.example.org\"]\n[keys]\nKEY = [\"other.example.org\"]\n")
            .unwrap();
        let listed = consent(&[]);
        assert!(is_allowed(&listed, "KEY", "https://other.example.org/v1"));
        assert!(!is_allowed(&listed, "OTHER", "https://other.example.org/v1"));
        assert!(is_allowed(&listed, "", "https://plain.example.org/v1"));
        assert!(!is_allowed(&listed, "KEY", "https://plain.example.org/v1"));
        std::fs::write(&path, "[kyes]\n").unwrap();
        let broken = consent(&[]);
        assert!(is_allowed(&broken, "", "http://localhost:80"), "the file is not needed");
        let failure = check(&broken, "KEY", "https://other.example.org/v1").unwrap_err();
        assert!(failure.code == "cli.consent" && failure.message.contains("kyes"), "{failure}");
        std::fs::remove_file(&path).unwrap();
        let table = "[models.own]\nbase_url = \"https://own.example.org/v1\"\napi_key_env = \"OWN\"\n";
        std::fs::write(configuration.join("config.toml"), table).unwrap();
        let own = consent(&[]);
        assert!(is_allowed(&own, "OWN", "https://own.example.org/v1"));
        assert!(!is_allowed(&own, "OTHER", "https://own.example.org/v1"));
        assert!(!is_allowed(&own, "OWN", "https://other.example.org/v1"));
        let help =
            |variable: &str| check(&own, variable, "https://other.example.org").unwrap_err().help.unwrap();
        assert!(help("OWN").contains("[keys]: OWN = "), "{}", help("OWN"));
        let key = "sk-0123456789abcdef";
        assert!(!help(key).contains("[keys]") && help(key).contains("--allow-host"), "{}", help(key));
        assert_eq!(AllowedByOptions::new(&["a b".to_owned()], false).unwrap_err().code, "cli.consent");
    }

    #[test]
    fn a_front_that_never_answers_refuses_once_the_use_case_is_cancelled() {
        let context = Context {
            consent: Arc::new(|_: &ConsentRequest| {
                loop {
                    std::thread::park();
                }
            }),
            ..Context::default()
        };
        let cancellation = context.cancellation.clone();
        let check = std::thread::spawn(move || check(&Consent::new(&context), "KEY", "https://example.org"));
        cancellation.cancel();
        assert_eq!(check.join().unwrap().unwrap_err().code, "cli.consent");
    }

    #[test]
    fn a_front_that_panics_refuses() {
        let panics = |_: &ConsentRequest| -> bool { std::panic::panic_any("no") };
        let context = Context { consent: Arc::new(panics), ..Context::default() };
        assert!(check(&Consent::new(&context), "KEY", "https://example.org").is_err());
    }
}
