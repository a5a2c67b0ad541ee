//! A tiny model with random weights: llama's architecture, two layers, one token for each byte.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Width, width of keys and of values, width of the inner layer.
const WIDTH: u64 = 64;
const CACHED: u64 = 32;
const INNER: u64 = 128;
const LAYERS: u32 = 2;

/// The parts of a file that tests change.
pub(crate) struct TinyModel {
    pub(crate) architecture: &'static str,
    pub(crate) template: Option<&'static str>,
}

impl Default for TinyModel {
    fn default() -> Self {
        Self { architecture: "llama", template: Some("{{'<|im_start|>'}}") }
    }
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

/// Types of values by their number in GGUF.
enum Entry<'a> {
    Number(u32),
    Real(f32),
    Bool(bool),
    Text(&'a str),
    Numbers(Vec<i32>),
    Reals(Vec<f32>),
    Texts(Vec<String>),
}

fn entry(out: &mut Vec<u8>, key: &str, value: Entry<'_>) {
    text(out, key);
    let list = |out: &mut Vec<u8>, kind: u32, len: usize| {
        out.extend(9_u32.to_le_bytes());
        out.extend(kind.to_le_bytes());
        out.extend((len as u64).to_le_bytes());
    };
    match value {
        Entry::Number(number) => [4, number].iter().for_each(|n| out.extend(n.to_le_bytes())),
        Entry::Real(real) => {
            out.extend(6_u32.to_le_bytes());
            out.extend(real.to_le_bytes());
        }
        Entry::Bool(bool) => {
            out.extend(7_u32.to_le_bytes());
            out.push(u8::from(bool));
        }
        Entry::Text(value) => {
            out.extend(8_u32.to_le_bytes());
            text(out, value);
        }
        Entry::Numbers(numbers) => {
            list(out, 5, numbers.len());
            numbers.iter().for_each(|n| out.extend(n.to_le_bytes()));
        }
        Entry::Reals(reals) => {
            list(out, 6, reals.len());
            reals.iter().for_each(|n| out.extend(n.to_le_bytes()));
        }
        Entry::Texts(texts) => {
            list(out, 8, texts.len());
            texts.iter().for_each(|t| text(out, t));
        }
    }
}

impl TinyModel {
    pub(crate) fn write(&self, folder: &Path, name: &str) -> PathBuf {
        // Each byte, a blank in the tokenizer's own form, and some longer words.
        let mut words: Vec<(String, i32)> = vec![("<unk>".into(), 2), ("<s>".into(), 3), ("</s>".into(), 3)];
        words.extend((0..=255).map(|byte| (format!("<0x{byte:02X}>"), 6)));
        words.extend(["\u{2581}", "(", ")", "(on", "ab", "object"].map(|word| (word.to_owned(), 1)));
        let vocabulary = words.len() as u64;
        let key = |name: &str| format!("{}.{name}", self.architecture);
        let mut entries = vec![
            ("general.architecture".to_owned(), Entry::Text(self.architecture)),
            ("general.name".to_owned(), Entry::Text("tiny")),
            (key("context_length"), Entry::Number(4096)),
            (key("embedding_length"), Entry::Number(WIDTH as u32)),
            (key("block_count"), Entry::Number(LAYERS)),
            (key("feed_forward_length"), Entry::Number(INNER as u32)),
            (key("attention.head_count"), Entry::Number(4)),
            (key("attention.head_count_kv"), Entry::Number(2)),
            (key("attention.layer_norm_rms_epsilon"), Entry::Real(1e-5)),
            ("tokenizer.ggml.model".to_owned(), Entry::Text("llama")),
            ("tokenizer.ggml.tokens".to_owned(), Entry::Texts(words.iter().map(|w| w.0.clone()).collect())),
            (
                "tokenizer.ggml.scores".to_owned(),
                Entry::Reals(words.iter().map(|w| -(w.0.len() as f32)).collect()),
            ),
            ("tokenizer.ggml.token_type".to_owned(), Entry::Numbers(words.iter().map(|w| w.1).collect())),
            ("tokenizer.ggml.bos_token_id".to_owned(), Entry::Number(1)),
            ("tokenizer.ggml.eos_token_id".to_owned(), Entry::Number(2)),
            ("tokenizer.ggml.add_space_prefix".to_owned(), Entry::Bool(false)),
        ];
        entries.extend(self.template.map(|t| ("tokenizer.chat_template".to_owned(), Entry::Text(t))));
        let mut tensors = vec![
            ("token_embd.weight".to_owned(), vec![WIDTH, vocabulary]),
            ("output_norm.weight".to_owned(), vec![WIDTH]),
            ("output.weight".to_owned(), vec![WIDTH, vocabulary]),
        ];
        for layer in 0..LAYERS {
            let shapes: [(&str, &[u64]); 9] = [
                ("attn_norm", &[WIDTH]),
                ("attn_q", &[WIDTH, WIDTH]),
                ("attn_k", &[WIDTH, CACHED]),
                ("attn_v", &[WIDTH, CACHED]),
                ("attn_output", &[WIDTH, WIDTH]),
                ("ffn_norm", &[WIDTH]),
                ("ffn_gate", &[WIDTH, INNER]),
                ("ffn_up", &[WIDTH, INNER]),
                ("ffn_down", &[INNER, WIDTH]),
            ];
            tensors
                .extend(shapes.map(|(name, shape)| (format!("blk.{layer}.{name}.weight"), shape.to_vec())));
        }
        let mut out = b"GGUF\x03\0\0\0".to_vec();
        out.extend((tensors.len() as u64).to_le_bytes());
        out.extend((entries.len() as u64).to_le_bytes());
        entries.into_iter().for_each(|(key, value)| entry(&mut out, &key, value));
        let mut offset = 0_u64;
        for (name, shape) in &tensors {
            text(&mut out, name);
            out.extend((shape.len() as u32).to_le_bytes());
            shape.iter().for_each(|side| out.extend(side.to_le_bytes()));
            out.extend(0_u32.to_le_bytes());
            out.extend(offset.to_le_bytes());
            // The sizes are multiples of 32 bytes, GGUF's alignment.
            offset += 4 * shape.iter().product::<u64>();
        }
        out.resize(out.len().next_multiple_of(32), 0);
        let mut state = 1_u32;
        for (name, shape) in &tensors {
            for _ in 0..shape.iter().product::<u64>() {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let random = (state >> 8) as f32 / (1 << 23) as f32 - 1.0;
                let weight = if name.contains("norm") { 1.0 } else { 0.4 * random };
                out.extend(weight.to_le_bytes());
            }
        }
        let path = folder.join(name);
        std::fs::File::create(&path).unwrap().write_all(&out).unwrap();
        path
    }
}
