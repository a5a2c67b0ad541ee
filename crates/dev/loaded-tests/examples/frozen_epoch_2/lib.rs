//! A verifier of epoch 2, written without the SDK: the binary interface and the JSON documents are spelled out here and never change.
//! CI loads it, so a change that breaks plugins of epoch 2 fails a test.
#![allow(unsafe_code, missing_docs)]

pub mod abi;

use abi::{
    PluginModule, PluginModule_Ref, RawHost_TO, RawHostBox, RawPlugin, RawPlugin_TO, RawPluginBox, RawReply,
};
use abi_stable::library::{CheckTypeLayout, LibHeader, RootModuleResult};
use abi_stable::prefix_type::PrefixTypeTrait;
use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::std_types::{RResult, RSlice, RStr, RString};
use serde_json::{Value, json};

/// Accepts a candidate whose domain holds the word of its option `word`, and rejects any other.
struct HoldsWord {
    word: String,
}

fn document(name: &str, schema: u32, body: Value) -> RString {
    json!({"document": name, "schema": schema, "body": body}).to_string().into()
}

fn failure(message: &str) -> RString {
    document("failure", 1, json!({"class": "plugin", "code": "frozen.failure", "message": message}))
}

fn body(text: &str, name: &str) -> Result<Value, String> {
    let mut envelope: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    if envelope["document"] != name || envelope["schema"] != 1 {
        return Err(format!(
            "expected {name} of schema 1, found {} of {}",
            envelope["document"], envelope["schema"]
        ));
    }
    Ok(envelope["body"].take())
}

impl HoldsWord {
    fn verify(&self, request: &str, host: &RawHostBox) -> Result<RString, String> {
        let request = body(request, "verify-request")?;
        let candidates = request["candidates"].as_array().ok_or("no candidates")?;
        RawHost_TO::log(host, 1, "frozen at epoch 2".into());
        let results: Vec<Value> = candidates
            .iter()
            .map(|c| match c["domain"].as_str() {
                None => json!({"ok": {"decision": "undecided", "reason": "missing-input", "message": "no domain"}}),
                Some(domain) if domain.contains(&self.word) => {
                    json!({"ok": {"decision": "accepted", "metrics": {"length": domain.len() as f64}}})
                }
                Some(_) => json!({"ok": {"decision": "rejected", "summary": "the word is missing"}}),
            })
            .collect();
        Ok(document("verify-response", 1, json!({"results": results})))
    }
}

impl RawPlugin for HoldsWord {
    fn call(&self, method: RStr<'_>, inputs: RSlice<'_, RStr<'_>>, host: RawHostBox) -> RawReply {
        match (method.as_str(), inputs.as_slice()) {
            ("verify", [request]) => self.verify(request, &host).map_err(|e| failure(&e)).into(),
            _ => RResult::RErr(failure("no such method")),
        }
    }
    fn close(self) -> RResult<(), RString> {
        RResult::ROk(())
    }
}

extern "C" fn describe() -> RawReply {
    RResult::ROk(document(
        "plugin-info",
        2,
        json!({
            "id": "frozen-epoch-2", "kind": "verifier", "version": "0.1.0", "contract": 2,
            "about": "Accepts domains that hold a word",
            "capabilities": {"external": {"where": [{"option": "word", "values": ["outside"]}]}},
            "measures": ["equivalence"],
            "metrics": [{"name": "length", "about": "bytes of the domain"}],
            "options_schema": {
                "type": "object", "additionalProperties": false, "required": ["word"],
                "properties": {"word": {"type": "string", "description": "The word."}}
            }
        }),
    ))
}

extern "C" fn create(request: RStr<'_>) -> RResult<RawPluginBox, RString> {
    let word = body(&request, "create-request")
        .and_then(|b| Ok(b["options"]["word"].as_str().ok_or("no word")?.to_owned()));
    match word {
        Ok(word) => RResult::ROk(RawPlugin_TO::from_value(HoldsWord { word }, TD_Opaque)),
        Err(e) => RResult::RErr(failure(&e)),
    }
}

fn module() -> PluginModule_Ref {
    PluginModule { describe, create }.leak_into_prefix()
}

extern "C" fn constructor() -> RootModuleResult {
    abi_stable::library::__call_root_module_loader(module)
}

#[unsafe(export_name = "planforge_plugin_planforge_frozen_epoch_2")]
// SAFETY: the constructor erases the module type that is named here.
pub static HEADER: LibHeader =
    unsafe { LibHeader::from_constructor::<PluginModule_Ref>(constructor, CheckTypeLayout::Yes) };

#[unsafe(export_name = "planforge_epoch_planforge_frozen_epoch_2")]
pub static EPOCH: u32 = 2;
