//! Folders and libraries that other users of the machine can change.

use nix::unistd::{getegid, geteuid};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Returns why users other than this one and root can replace a file or the files of a folder; none if they cannot or if
/// the path cannot be read.
pub(crate) fn writable_by_others(path: &Path) -> Option<String> {
    let file = std::fs::metadata(path).ok()?;
    let (mode, owner, group) = (file.mode(), file.uid(), file.gid());
    let shown = path.display();
    if mode & 0o002 != 0 {
        return Some(format!("{shown} can be written by every user"));
    }
    // Many systems give each user a group of their own, and new files are writable for it.
    if mode & 0o020 != 0 && group != getegid().as_raw() {
        return Some(format!("{shown} can be written by the group {group}"));
    }
    (owner != geteuid().as_raw() && owner != 0).then(|| format!("{shown} belongs to the user {owner}"))
}

#[cfg(test)]
mod tests {
    use super::writable_by_others;
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_folder_that_every_user_can_write_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(writable_by_others(folder.path()), None);
        set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let reason = writable_by_others(folder.path()).unwrap();
        assert!(reason.ends_with("can be written by every user"), "{reason}");
        assert_eq!(writable_by_others(&folder.path().join("absent")), None);
    }
}
