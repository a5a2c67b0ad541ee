//! The pipeline files that come with planforge, in the binary.

/// A pipeline file that comes with planforge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShippedPipeline {
    /// Name of the file without its ending.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! shipped {
    ($name:literal) => {
        ShippedPipeline {
            name: $name,
            text: include_str!(concat!("../../../../configs/pipelines/", $name, ".toml")),
        }
    };
}

/// Every pipeline file, by name.
pub static SHIPPED_PIPELINES: &[ShippedPipeline] = &[
    shipped!("actions"),
    shipped!("actions-corrective"),
    shipped!("actions-grown"),
    shipped!("actions-whole"),
    shipped!("bon"),
    shipped!("bon-clusters"),
    shipped!("bon-fan-out"),
    shipped!("bon-ivml"),
    shipped!("bon-ivml-budget"),
    shipped!("bon-ivml-critics"),
    shipped!("bon-ivml-fan-out"),
    shipped!("bon-ivml-prob2domain"),
    shipped!("bon-ivml-problem"),
    shipped!("bon-prob2domain"),
    shipped!("describe"),
    shipped!("intrinsic"),
    shipped!("intrinsic-cot"),
    shipped!("intrinsic-pass1"),
    shipped!("intrinsic-pass8"),
    shipped!("intrinsic-self-critique"),
    shipped!("ivml-single"),
    shipped!("llm-p"),
    shipped!("pd-chain"),
    shipped!("pd-search"),
    shipped!("pd-tree"),
    shipped!("pd-tree-domprop"),
    shipped!("pd-tree-joint"),
    shipped!("solve"),
    shipped!("tic-g1"),
    shipped!("tic-g3"),
    shipped!("tic-ic"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pipeline_file_is_in_the_binary() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/pipelines");
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
            .collect();
        names.sort();
        assert_eq!(SHIPPED_PIPELINES.iter().map(|pipeline| pipeline.name).collect::<Vec<_>>(), names);
    }
}
