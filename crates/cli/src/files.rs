//! Files that commands leave, each written whole or not at all.

use crate::commands::Context;
use crate::exit::Exit;
use crate::session::broke;
use planforge_contract::{Failure, FailureClass};
use std::path::Path;

/// Writes a file whole or not at all.
pub(crate) fn write(context: &Context, path: &Path, bytes: &[u8]) -> Result<(), Exit> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut file, bytes)?;
        // Its name may reach the disk before its bytes otherwise, and a machine that loses power would leave an empty file.
        file.as_file().sync_data()?;
        file.persist(path).map(drop).map_err(|e| e.error)
    };
    write().map_err(|e| unwritable(context, path, &e))
}

pub(crate) fn unwritable(context: &Context, path: &Path, error: &dyn std::fmt::Display) -> Exit {
    let message = format!("{} cannot be written: {error}", path.display());
    broke(context, &Failure::new(FailureClass::System, "record.io", message))
}
