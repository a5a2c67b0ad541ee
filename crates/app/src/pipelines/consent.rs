//! The user's consent: the servers that may get the value of an environment variable, and the programs that may be started.
//!
//! A pipeline file names variables, servers and commands, and may come from a stranger. So a value goes only to loopback
//! addresses, to the service that the variable is for, and to servers that the user allowed: with `--allow-host`, in
//! `allow.toml` in the user's configuration folder, or in a model table of `config.toml` there that names both. A command
//! is started only if the user allowed it: with `--allow-commands`, or by its hash in `allow.toml`.

use crate::context::{ConsentDecision, ConsentRequest, Context};
use crate::pipelines::programs::StartedProgram;
use crate::pipelines::user_config::UserConfig;
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::render::escape;
use planforge_pddl::MAX_TEXT_BYTES;
use planforge_record::read_regular_text;
use serde::Deserialize;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
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

/// Servers and commands that the user allowed on the command line.
#[derive(Debug, Clone, Default)]
pub struct AllowedByOptions {
    /// Servers of `--allow-host`, for every variable.
    servers: Vec<String>,
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
        Ok(Self { servers, all_commands })
    }
}

impl ConsentDecision for AllowedByOptions {
    fn allows(&self, request: &ConsentRequest) -> bool {
        match request {
            ConsentRequest::SendVariable { server, .. } => self.servers.contains(server),
            ConsentRequest::StartProgram { .. } => self.all_commands,
        }
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
        for server in file.keys.values_mut().flatten() {
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

    /// Servers that the user's file allows for a variable.
    fn servers_in_file(&self, variable: &str) -> Result<&[String], Failure> {
        Ok(self.file()?.keys.get(variable).map(Vec::as_slice).unwrap_or_default())
    }

    /// True if a model table of the user's own names both.
    fn is_in_config(&self, variable: &str, server: &str) -> Result<bool, Failure> {
        let config = UserConfig::read(self.config.as_deref())?;
        let mut keys = config.keys();
        Ok(keys.any(|(name, url)| name == variable && origin_of(url).is_ok_and(|origin| origin == server)))
    }

    /// Checks that a server may get the value of a variable.
    ///
    /// # Errors
    /// `cli.consent`, with the ways to allow it, or because the user's file cannot be read.
    pub(crate) fn check(&self, variable: &str, url: &str) -> Result<(), Failure> {
        // What is not a URL is refused by the plugin.
        let Ok(url) = Url::parse(url) else { return Ok(()) };
        let server = url.origin().ascii_serialization();
        let is_service =
            |(name, host): &(&str, &str)| *name == variable && server == format!("https://{host}");
        if is_loopback(&url) || SERVICES.iter().any(is_service) {
            return Ok(());
        }
        let listed = self
            .servers_in_file(variable)
            .and_then(|servers| Ok(servers.contains(&server) || self.is_in_config(variable, &server)?));
        let request = ConsentRequest::SendVariable { variable: shown_variable(variable), server };
        if matches!(listed, Ok(true)) || self.context.allows(request.clone()) {
            return Ok(());
        }
        listed?;
        let ConsentRequest::SendVariable { server, .. } = request else { return Ok(()) };
        let variable = shown_variable(variable);
        let message = format!(
            "the pipeline would send the value of {variable} to `{server}`, which you have not allowed"
        );
        let mut help = format!("if you trust this server with it, add `--allow-host {server}`");
        if let Some(path) = &self.path {
            help += &format!(", or write into {} below [keys]: {variable} = [\"{server}\"]", path.display());
        }
        Err(wrong(message).help(help))
    }

    /// Checks that a program may be started, which the pipeline in the file of that name and text names.
    ///
    /// # Errors
    /// As of [`Consent::check`].
    pub(crate) fn check_command(
        &self,
        program: &StartedProgram,
        (name, text): (&str, &str),
    ) -> Result<(), Failure> {
        let Some(hash) = &program.consent else { return Ok(()) };
        let listed = self.file().map(|file| file.commands.contains_key(hash));
        let command = program.command_text();
        let line = program.line_number(text).map(|line| format!(":{line}")).unwrap_or_default();
        let place = format!("{}{line}: {}", escape(name), program.place_text());
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

    fn is_allowed(consent: &Consent, variable: &str, url: &str) -> bool {
        match consent.check(variable, url) {
            Ok(()) => true,
            Err(failure) => {
                assert_eq!(failure.code, "cli.consent");
                false
            }
        }
    }

    #[test]
    fn a_key_goes_to_its_service_and_to_loopback_addresses_alone() {
        let consent = Consent::new(&Context::default());
        for url in [
            "https://api.openai.com/v1",
            "http://127.0.0.1:8081/v1",
            "http://[::1]:1/",
            "http://localhost:80",
        ] {
            assert!(is_allowed(&consent, "OPENAI_API_KEY", url), "{url}");
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
        ] {
            assert!(!is_allowed(&consent, "OPENAI_API_KEY", url), "{url}");
        }
        assert!(!is_allowed(&consent, "AWS_SECRET_ACCESS_KEY", "https://api.openai.com/v1"));
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
        std::fs::write(&path, "[keys]\nKEY = [\"other.example.org\"]\n").unwrap();
        let listed = consent(&[]);
        assert!(is_allowed(&listed, "KEY", "https://other.example.org/v1"));
        assert!(!is_allowed(&listed, "OTHER", "https://other.example.org/v1"));
        std::fs::write(&path, "[kyes]\n").unwrap();
        let broken = consent(&[]);
        assert!(is_allowed(&broken, "KEY", "http://localhost:80"), "the file is not needed");
        let failure = broken.check("KEY", "https://other.example.org/v1").unwrap_err();
        assert!(failure.code == "cli.consent" && failure.message.contains("kyes"), "{failure}");
        std::fs::remove_file(&path).unwrap();
        let table = "[models.own]\nbase_url = \"https://own.example.org/v1\"\napi_key_env = \"OWN\"\n";
        std::fs::write(configuration.join("config.toml"), table).unwrap();
        let own = consent(&[]);
        assert!(is_allowed(&own, "OWN", "https://own.example.org/v1"));
        assert!(!is_allowed(&own, "OTHER", "https://own.example.org/v1"));
        assert!(!is_allowed(&own, "OWN", "https://other.example.org/v1"));
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
        let check = std::thread::spawn(move || Consent::new(&context).check("KEY", "https://example.org"));
        cancellation.cancel();
        assert_eq!(check.join().unwrap().unwrap_err().code, "cli.consent");
    }

    #[test]
    fn a_front_that_panics_refuses() {
        let panics = |_: &ConsentRequest| -> bool { std::panic::panic_any("no") };
        let context = Context { consent: Arc::new(panics), ..Context::default() };
        assert!(Consent::new(&context).check("KEY", "https://example.org").is_err());
    }
}
