//! Sizes of models: stated, or read from their names.

use std::collections::BTreeMap;

/// Billions of parameters by the model's name, as the user states them.
pub type Sizes = BTreeMap<String, f64>;

/// The size of a model in billions of parameters: as stated, else from its name (`7b`, `1.5B`, `350m`).
/// Absent for a name with two sizes or a product such as `8x7b`.
pub fn size_of(model: &str, stated: &Sizes) -> Option<f64> {
    if let Some(size) = stated.get(model) {
        return Some(*size);
    }
    let words = model.split(|c: char| !(c.is_alphanumeric() || c == '.'));
    let mut found: Vec<f64> = words.filter_map(read).collect();
    found.dedup();
    match found.as_slice() {
        [one] => Some(*one),
        _ => None,
    }
}

/// `7b`, `1.5B`, `350m`.
fn read(word: &str) -> Option<f64> {
    let word = word.trim_matches('.');
    let unit = word.chars().next_back()?;
    let of_a_billion = match unit.to_ascii_lowercase() {
        'b' => 1.0,
        'm' => 1000.0,
        _ => return None,
    };
    let number = word.get(..word.len() - unit.len_utf8())?;
    let plain = number.starts_with(|c: char| c.is_ascii_digit())
        && number.chars().all(|c| c.is_ascii_digit() || c == '.');
    let size: f64 = number.parse().ok().filter(|_| plain)?;
    (size.is_finite() && size > 0.0).then_some(size / of_a_billion)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_unambiguous_names_only() {
        let sizes = Sizes::new();
        for (name, size) in [
            ("llama-2-70b-chat", Some(70.0)),
            ("qwen2.5-coder-1.5b-instruct", Some(1.5)),
            ("Qwen2.5-Coder-7B-Instruct-GGUF:Q4_K_M", Some(7.0)),
            ("opt-350m", Some(0.35)),
            ("mixtral-8x7b", None),
            ("7b-teacher-70b", None),
            ("7b-and-7B", Some(7.0)),
            ("gpt-4o", None),
            ("b", None),
            ("nanb", None),
            ("1e3b", None),
            ("0b", None),
            ("", None),
            ("7é", None),
        ] {
            assert_eq!(size_of(name, &sizes), size, "{name}");
        }
        let stated = Sizes::from([("gpt-4o".to_owned(), 200.0), ("opt-350m".to_owned(), 0.4)]);
        assert_eq!((size_of("gpt-4o", &stated), size_of("opt-350m", &stated)), (Some(200.0), Some(0.4)));
    }
}
