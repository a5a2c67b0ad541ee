//! The user's consent: the servers that may get the value of an environment variable, and the programs that may be started.
//!
//! A pipeline file names variables, servers and commands, and may come from a stranger. So a value goes only to loopback
//! addresses, to the service that the variable is for, and to servers that the user allowed: with `--allow-host`, in
//! `allow.toml` in the user's configuration folder, or in a model table of `config.toml` there that names both. A command
//! is started only if the user allowed it: with `--allow-commands`, or by its hash in `allow.toml`.

use crate::programs::StartedProgram;
use crate::user_config::UserConfig;
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::render::escape;
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

/// Servers and commands that the user allowed.
#[derive(Debug, Default)]
pub(crate) struct Consent {
    /// Servers of `--allow-host`, for every variable.
    servers: Vec<String>,
    /// True if all commands are allowed, by `--allow-commands`.
    all_commands: bool,
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
        let text = match std::fs::read_to_string(path) {
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
    /// The consent by `--allow-host`, `--allow-commands` and the user's file, which is read when a check needs it.
    ///
    /// # Errors
    /// `cli.consent`: a server of `--allow-host` cannot be read.
    pub(crate) fn new(
        allowed_hosts: &[String],
        all_commands: bool,
        path: Option<PathBuf>,
        config: Option<PathBuf>,
    ) -> Result<Self, Failure> {
        let servers = allowed_hosts.iter().map(|host| origin_of(host));
        let servers = servers.collect::<Result<_, _>>().map_err(|e| wrong(format!("--allow-host: {e}")))?;
        Ok(Self { servers, all_commands, path, config, file: OnceCell::new() })
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
        if is_loopback(&url)
            || SERVICES.iter().any(is_service)
            || self.servers.contains(&server)
            || self.servers_in_file(variable)?.contains(&server)
            || self.is_in_config(variable, &server)?
        {
            return Ok(());
        }
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
        if self.all_commands || self.file()?.commands.contains_key(hash) {
            return Ok(());
        }
        let command = program.command_text();
        let line = program.line_number(text).map(|line| format!(":{line}")).unwrap_or_default();
        let message = format!(
            "{}{line}: {} names a program that you have not allowed: `{command}`",
            escape(name),
            program.place_text(),
        );
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
        let consent = Consent::default();
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
        let path = folder.path().join("allow.toml");
        let hosts = ["llm.example.org".to_owned(), "http://10.0.0.1:8000/v1".to_owned()];
        let consent = Consent::new(&hosts, false, Some(path.clone()), None).unwrap();
        assert!(is_allowed(&consent, "KEY", "https://llm.example.org/v1"));
        assert!(is_allowed(&consent, "KEY", "http://10.0.0.1:8000/other"));
        assert!(!is_allowed(&consent, "KEY", "http://llm.example.org/v1"));
        std::fs::write(&path, "[keys]\nKEY = [\"other.example.org\"]\n").unwrap();
        let consent = Consent::new(&[], false, Some(path.clone()), None).unwrap();
        assert!(is_allowed(&consent, "KEY", "https://other.example.org/v1"));
        assert!(!is_allowed(&consent, "OTHER", "https://other.example.org/v1"));
        std::fs::write(&path, "[kyes]\n").unwrap();
        let broken = Consent::new(&[], false, Some(path), None).unwrap();
        assert!(is_allowed(&broken, "KEY", "http://localhost:80"), "the file is not needed");
        let failure = broken.check("KEY", "https://other.example.org/v1").unwrap_err();
        assert!(failure.code == "cli.consent" && failure.message.contains("kyes"), "{failure}");
        let config = folder.path().join("config.toml");
        let table = "[models.own]\nbase_url = \"https://own.example.org/v1\"\napi_key_env = \"OWN\"\n";
        std::fs::write(&config, table).unwrap();
        let own = Consent::new(&[], false, None, Some(config)).unwrap();
        assert!(is_allowed(&own, "OWN", "https://own.example.org/v1"));
        assert!(!is_allowed(&own, "OTHER", "https://own.example.org/v1"));
        assert!(!is_allowed(&own, "OWN", "https://other.example.org/v1"));
        assert_eq!(Consent::new(&["a b".to_owned()], false, None, None).unwrap_err().code, "cli.consent");
    }
}
