//! Writing of files, each complete or not at all.

use crate::context::Context;
use crate::exit::Exit;
use planforge_contract::{Failure, FailureClass};
use std::fs::Permissions;
use std::path::Path;

/// Writes a temporary file, then renames it.
pub(crate) fn write(context: &Context, path: &Path, bytes: &[u8]) -> Result<(), Exit> {
    write_with(context, path, bytes, None)
}

/// As [`write()`], for a file that exists: it keeps its permissions, and a link to it stays one.
pub(crate) fn rewrite(context: &Context, path: &Path, bytes: &[u8]) -> Result<(), Exit> {
    let failed = |e| unwritable(context, path, &e);
    let target = path.canonicalize().map_err(failed)?;
    let permissions = std::fs::metadata(&target).map_err(failed)?.permissions();
    write_with(context, &target, bytes, Some(permissions))
}

fn write_with(
    context: &Context,
    path: &Path,
    bytes: &[u8],
    permissions: Option<Permissions>,
) -> Result<(), Exit> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut file, bytes)?;
        // Its name may reach the disk before its bytes otherwise, and a machine that loses power would leave an empty file.
        file.as_file().sync_data()?;
        permissions.map(|permissions| file.as_file().set_permissions(permissions)).transpose()?;
        file.persist(path).map(drop).map_err(|e| e.error)
    };
    write().map_err(|e| unwritable(context, path, &e))
}

/// Refuses a target that is one of a run folder's own files: writing there would destroy the record.
pub(crate) fn refuse_part_of_run(path: &Path) -> Result<(), Failure> {
    let Some(run) = planforge_record::run_that_owns(path) else { return Ok(()) };
    let message = format!(
        "`{}` belongs to the record of the run `{}`; nothing was written",
        path.display(),
        run.display()
    );
    Err(Failure::new(FailureClass::Request, "record.own-file", message)
        .help("write to a place outside the run folder"))
}

pub(crate) fn unwritable(context: &Context, path: &Path, error: &dyn std::fmt::Display) -> Exit {
    let message = format!("{} cannot be written: {error}", path.display());
    context.print_failure(&Failure::new(FailureClass::System, "record.io", message))
}
