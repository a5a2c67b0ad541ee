//! Macros for the texts of pipeline files. Each gives a string constant; `concat!` joins them.

/// Keys with their values, one a line.
macro_rules! toml {
    ($($key:ident = $value:tt)*) => {
        concat!($(stringify!($key), " = ", stringify!($value), "\n"),*)
    };
}

/// A table with its name.
macro_rules! table {
    ($name:literal $($key:ident = $value:tt)*) => {
        concat!("[", $name, "]\n", toml!($($key = $value)*))
    };
}

/// A model table.
macro_rules! model {
    ($name:ident $model:literal $($key:ident = $value:tt)*) => {
        concat!("[llm.", stringify!($name), "]\n", toml!(use = "provider-openai" model = $model $($key = $value)*))
    };
}

/// An entry of a list of stages.
macro_rules! stage_in {
    ($list:literal $kind:ident $($label:literal)? $($key:ident = $value:tt)*) => {
        concat!(
            "[[", $list, "]]\ndo = \"", stringify!($kind), "\"\n",
            $("label = \"", $label, "\"\n",)?
            toml!($($key = $value)*)
        )
    };
}

/// A stage of the pipeline.
macro_rules! stage {
    ($($part:tt)*) => { stage_in!("stage" $($part)*) };
}

/// A stage of a round.
macro_rules! round {
    ($($part:tt)*) => { stage_in!("stage.round" $($part)*) };
}

/// A judge of a budget stage.
macro_rules! judge {
    ($($part:tt)*) => { stage_in!("stage.judge" $($part)*) };
}

/// A stage that samples in a budget stage.
macro_rules! sample {
    ($($part:tt)*) => { stage_in!("stage.sample" $($part)*) };
}
