//! HTTP headers whose values may stand in a pipeline file, which is recorded.

/// Names of headers that carry no key, in lower case.
const HARMLESS: [&str; 16] = [
    "accept",
    "accept-language",
    "anthropic-beta",
    "anthropic-version",
    "api-version",
    "cache-control",
    "content-type",
    "http-referer",
    "openai-beta",
    "openai-organization",
    "openai-project",
    "prefer",
    "referer",
    "user-agent",
    "x-request-id",
    "x-title",
];

/// True if the value of the header may be recorded. The value of every other header counts as secret, because services
/// carry keys in headers of any name; it is given by the name of an environment variable.
pub fn is_harmless_header(name: &str) -> bool {
    HARMLESS.iter().any(|harmless| harmless.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::is_harmless_header;

    #[test]
    fn only_listed_headers_are_harmless() {
        for name in ["Accept", "USER-AGENT", "OpenAI-Organization", "x-title"] {
            assert!(is_harmless_header(name), "{name}");
        }
        for name in
            ["X-Goog-Api-Key", "Ocp-Apim-Subscription-Key", "x-functions-key", "X-Auth-Token", "X-Team", ""]
        {
            assert!(!is_harmless_header(name), "{name}");
        }
    }
}
