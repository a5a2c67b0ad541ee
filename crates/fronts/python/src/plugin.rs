//! Plugins that are Python classes, in the interpreter.

use planforge_app::contract::{Failure, FailureClass, PluginKind};
use planforge_app::{Error, LentPlugin, LentStreams};
use pyo3::prelude::*;
use std::os::fd::IntoRawFd;
use std::path::PathBuf;
use std::sync::Arc;

/// A class as `planforge._plugins` describes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PluginClass {
    id: String,
    kind: String,
    origin: PathBuf,
    sha256: String,
    /// `(source: int, sink: int) -> None`: serves the messages of a program on a thread of its own. It owns the file descriptors.
    serve: Py<PyAny>,
}

impl PluginClass {
    /// The plugin for the registry.
    ///
    /// # Errors
    /// There is no such kind.
    pub(crate) fn lend(&self, py: Python<'_>) -> Result<LentPlugin, Error> {
        let kind = PluginKind::ALL.into_iter().find(|kind| kind.name() == self.kind);
        let kind = kind.ok_or_else(|| {
            Error::usage(format!("the class of `{}` has the kind `{}`", self.id, self.kind), None)
        })?;
        let (id, serve) = (self.id.clone(), self.serve.clone_ref(py));
        Ok(LentPlugin {
            id: self.id.clone(),
            kind,
            origin: self.origin.clone(),
            sha256: self.sha256.clone(),
            start: Arc::new(move || start(&id, &serve)),
        })
    }
}

/// Starts a class with two pipes in the place of standard input and output.
fn start(id: &str, serve: &Py<PyAny>) -> Result<LentStreams, Failure> {
    let failed = |why: String| {
        Failure::new(FailureClass::System, "plugin.program", format!("`{id}` cannot be started: {why}"))
    };
    let pipe = || std::io::pipe().map_err(|error| failed(error.to_string()));
    let ((source, to_class), (from_class, sink)) = (pipe()?, pipe()?);
    Python::attach(|py| serve.call1(py, (source.into_raw_fd(), sink.into_raw_fd())))
        .map_err(|error| failed(error.to_string()))?;
    Ok((Box::new(to_class), Box::new(from_class)))
}
