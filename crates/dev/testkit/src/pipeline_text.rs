//! Texts of pipeline files for tests, as constants:
//! `concat!(toml!(schema = 1), model!(main "m"), stage!(plan "plan" use = "planner-classical"))`.

/// Lines `key = value`.
#[macro_export]
macro_rules! toml {
    ($($key:ident = $value:tt)*) => {
        concat!($(stringify!($key), " = ", stringify!($value), "\n"),*)
    };
}

/// A table with its name.
#[macro_export]
macro_rules! table {
    ($name:literal $($key:ident = $value:tt)*) => {
        concat!("[", $name, "]\n", $crate::toml!($($key = $value)*))
    };
}

/// A model table.
#[macro_export]
macro_rules! model {
    ($name:ident $model:literal $($key:ident = $value:tt)*) => {
        concat!(
            "[llm.", stringify!($name), "]\n",
            $crate::toml!(use = "provider-openai" model = $model $($key = $value)*)
        )
    };
}

/// An entry of a list of stages.
#[macro_export]
macro_rules! stage_in {
    ($list:literal $kind:ident $($label:literal)? $($key:ident = $value:tt)*) => {
        concat!(
            "[[", $list, "]]\ndo = \"", stringify!($kind), "\"\n",
            $("label = \"", $label, "\"\n",)?
            $crate::toml!($($key = $value)*)
        )
    };
}

/// A stage of the pipeline.
#[macro_export]
macro_rules! stage {
    ($($part:tt)*) => { $crate::stage_in!("stage" $($part)*) };
}

/// A stage of a round.
#[macro_export]
macro_rules! round {
    ($($part:tt)*) => { $crate::stage_in!("stage.round" $($part)*) };
}

/// A judge of a budget stage.
#[macro_export]
macro_rules! judge {
    ($($part:tt)*) => { $crate::stage_in!("stage.judge" $($part)*) };
}

/// A stage that samples in a budget stage.
#[macro_export]
macro_rules! sample {
    ($($part:tt)*) => { $crate::stage_in!("stage.sample" $($part)*) };
}

/// The end of pipelines whose candidates get a plan, which the environment validates.
#[macro_export]
macro_rules! planned_and_validated {
    () => {
        concat!(
            $crate::stage!(plan "plan" use = "planner-classical" plan_rejected = true),
            $crate::stage!(verify "environment" use = "verifier-val" options = { what = "plan", against = "environment" }),
        )
    };
}
