//! Explosive inputs through tools of the MCP server, which answers each call and lives on.

use super::inputs::{
    many_parameters, nested_quantifiers, switches, universal_effect, wide_either_of_many_names,
};
use super::planforge_under_limits;
use crate::mcp::Server;
use crate::support::{example_text, root};
use serde_json::{Value, json};

/// Limits of a call, small enough for the test.
fn limits() -> Value {
    json!({ "seconds": 1, "memory_mb": 200 })
}

/// The arguments of a tool for the files of a row.
fn arguments(tool: &str, files: &[(&'static str, String)]) -> Value {
    let text = |name: &str| {
        let found = files.iter().find(|(n, _)| *n == name).or_else(|| files.iter().find(|(n, _)| *n == "d"));
        json!({ "text": found.unwrap().1 })
    };
    match tool {
        "compare" => json!({
            "reference": { "domain": text("d"), "problem": text("p") },
            "candidate": { "domain": text("e"), "problem": text("p") },
            "limits": limits(),
        }),
        _ => json!({ "domain": text("d"), "problem": text("p"), "plan": text("plan"), "limits": limits() }),
    }
}

#[test]
fn a_server_answers_each_explosive_call_and_the_next_one() {
    let mut server = Server::of(planforge_under_limits(["mcp"]), &root(), Box::new(|_| String::new()));
    let rows = [
        ("states", "an effect over 30^8 tuples", universal_effect()),
        ("validate", "an effect over 30^8 tuples", universal_effect()),
        ("compare", "an effect over 30^8 tuples", universal_effect()),
        ("validate", "twelve nested quantifiers", nested_quantifiers()),
        ("states", "twelve nested quantifiers", nested_quantifiers()),
        ("compare", "20 parameters", many_parameters()),
        ("compare", "2^40 states", switches()),
        ("validate", "a union of 5,000 types for 5,000 names", wide_either_of_many_names()),
    ];
    let plain = json!({
        "domain": { "text": example_text("parcels", "domain.pddl") },
        "problem": { "text": example_text("parcels", "p01.pddl") },
        "plan": { "text": "" },
    });
    for (tool, name, files) in rows {
        let answer = server.call(tool, arguments(tool, &files));
        let text = answer["content"][0]["text"].as_str().unwrap_or_default();
        assert!(!text.is_empty(), "{tool}: {name}: {answer}");
        assert!(!text.contains("panicked"), "{tool}: {name}: {text}");
        let next = server.answer("validate", plain.clone());
        assert_eq!(next["decision"], "rejected", "after {tool}: {name}: {next}");
    }
    server.end();
}
