//! Contents of reports that browsers look at: the last ones are kept, each built once for all tabs.

use crate::error::Refusal;
use http::StatusCode;
use planforge_app::Context;
use planforge_app::report::{Contents, contents, state};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

/// Most contents that are kept.
const MAX_BUILDS: usize = 4;
/// Most reports that are built at a time: large ones leave turns to other calls.
const MAX_AT_A_TIME: usize = 2;

/// The contents that are kept, the newest use last.
pub(crate) struct Builds {
    table: Mutex<Table>,
    /// Reports that are built at a time.
    places: Arc<Semaphore>,
}

struct Table {
    last: u64,
    kept: Vec<Build>,
    /// Locked by the call that reads these folders.
    readers: BTreeMap<Vec<PathBuf>, Arc<AsyncMutex<()>>>,
}

/// The turn of a call to read folders. Other calls for the same ones wait for it, and then take its result.
pub(crate) struct Reader {
    _folders: OwnedMutexGuard<()>,
    _place: OwnedSemaphorePermit,
}

/// The contents of some folders in one state.
#[derive(Clone)]
pub(crate) struct Build {
    pub(crate) number: u64,
    folders: Vec<PathBuf>,
    state: u64,
    pub(crate) contents: Arc<Contents>,
}

impl Builds {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Builds are numbered from the one after `last`.
    pub(crate) fn new(last: u64) -> Self {
        let table = Table { last, kept: Vec::new(), readers: BTreeMap::new() };
        Self { table: Mutex::new(table), places: Arc::new(Semaphore::new(MAX_AT_A_TIME)) }
    }

    /// Waits for the turn to read these folders. Calls that wait here take no turn of other calls.
    ///
    /// # Errors
    /// The server ends.
    pub(crate) async fn reader(&self, folders: &[PathBuf]) -> Result<Reader, Refusal> {
        let reader = {
            let mut table = self.table();
            table.readers.retain(|_, reader| Arc::strong_count(reader) > 1);
            Arc::clone(table.readers.entry(folders.to_vec()).or_default())
        };
        let folders = reader.lock_owned().await;
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.map_err(|_| Refusal::busy("the server ends"))?;
        Ok(Reader { _folders: folders, _place: place })
    }

    /// The contents of folders if they were read in their present state, and this state.
    pub(crate) fn known(&self, context: &Context, folders: &[PathBuf]) -> (Option<Build>, u64) {
        let state = state(context, folders);
        (self.take(|build| build.folders == folders && build.state == state), state)
    }

    /// The contents of folders as they are now, for the call whose turn it is.
    pub(crate) fn of(
        &self,
        context: &Context,
        folders: Vec<PathBuf>,
        _turn: &Reader,
    ) -> Result<Build, Refusal> {
        // Before they are read: a change meanwhile is another state.
        let (known, state) = self.known(context, &folders);
        if let Some(build) = known {
            return Ok(build);
        }
        let contents = Arc::new(contents(context, &folders)?);
        let mut table = self.table();
        table.last += 1;
        let build = Build { number: table.last, folders, state, contents };
        let older = table.kept.iter().position(|known| known.folders == build.folders);
        // A page reads chunks of the contents before, until it has the new ones.
        if table.kept.len() >= MAX_BUILDS {
            table.kept.remove(older.filter(|at| *at + 1 < MAX_BUILDS).unwrap_or(0));
        }
        table.kept.push(build.clone());
        Ok(build)
    }

    /// Contents by their number.
    ///
    /// # Errors
    /// 404 `page.build`.
    pub(crate) fn get(&self, number: u64) -> Result<Build, Refusal> {
        self.take(|build| build.number == number).ok_or_else(|| {
            let help = "ask for the index again";
            Refusal::new(StatusCode::NOT_FOUND, "page.build", "these contents are no longer kept", help)
        })
    }

    fn take(&self, is_meant: impl Fn(&Build) -> bool) -> Option<Build> {
        let mut table = self.table();
        let at = table.kept.iter().position(is_meant)?;
        let build = table.kept.remove(at);
        table.kept.push(build.clone());
        Some(build)
    }
}
