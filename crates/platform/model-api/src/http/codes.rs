//! The codes of this module.

use planforge_diagnostics::CodeInfo;

macro_rules! codes {
    ($($code:literal, $title:literal, $text:literal;)*) => {
        /// Every code that this module gives.
        pub const CODES: &[CodeInfo] = &[$(CodeInfo { code: $code, title: $title, explanation: $text }),*];
    };
}

codes! {
    "provider.options", "an option of the provider is invalid",
    "An option has the right type and an impossible value: a `base_url` that is not an http or https URL, a timeout of 0, a header\n\
     that cannot be sent. Keys and passwords are refused in URLs and headers, because the pipeline file is\n\
     recorded with the run: name the environment variable in `api_key_env` or `headers_env` instead. All of them are listed at once.";
    "provider.key", "the key is missing or cannot be sent",
    "`api_key_env` or `headers_env` names an environment variable that is not set or empty, or whose value has characters that no HTTP header\n\
     can carry (often a line feed at its end). Set the variable, or remove `api_key_env` for a local server\n\
     that needs none.";
    "provider.tls", "TLS cannot be set up",
    "The endpoint is an https URL and the machine has no certificate authorities to check it with, or `ca_file` is not a\n\
     PEM file. Install the system's package (usually ca-certificates), or name a PEM file in `ca_file`. Plain http\n\
     endpoints need none of this.";
    "provider.client", "the HTTP client cannot be set up",
    "The HTTP client or its runtime could not be created; the cause follows the message. Too few file descriptors or threads\n\
     are the usual reason.";
    "provider.unsupported", "the service has no such setting",
    "The pipeline or the `[llm.NAME]` table asks for something that the service of this provider does not offer, such as\n\
     log-probabilities from Anthropic. Nothing was sent. Remove the setting, or use another provider.";
    "provider.request", "the request cannot be built",
    "The request could not be turned into HTTP, so nothing was sent.";
    "provider.cancelled", "the run was interrupted while the server was answering",
    "The connection was closed and the reply is lost. The request is sent again on resume.";
}

#[cfg(test)]
mod tests {
    use super::CODES;
    use std::collections::BTreeSet;

    /// Every quoted code in the sources of this module.
    fn written() -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/http")).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            for part in text.split('"').filter(|p| p.starts_with("provider.")) {
                if part.bytes().all(|b| b.is_ascii_lowercase() || b == b'.' || b == b'-')
                    && part.len() > "provider.".len()
                {
                    found.insert(part.to_owned());
                }
            }
        }
        found
    }

    #[test]
    fn every_code_that_is_given_is_explained_once() {
        let written = written();
        let mut explained: Vec<String> = CODES.iter().map(|c| c.code.to_owned()).collect();
        explained.sort();
        assert_eq!(written.into_iter().collect::<Vec<_>>(), explained);
        assert!(CODES.iter().all(|c| c.explanation.len() > 60 && !c.title.is_empty()));
    }
}
