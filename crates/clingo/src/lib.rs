//! clingo as a library of safe calls: a program in, its answer sets or the reason that it has none out. The one crate beside the
//! binary boundary that calls foreign code; what it is given may never end, so callers run it in a worker process.

/// The version of clingo that is linked in: major, minor, revision.
pub fn version() -> (i32, i32, i32) {
    let (mut major, mut minor, mut revision) = (0, 0, 0);
    #[allow(
        unsafe_code,
        reason = "clingo writes three numbers behind the pointers, which live until the call returns"
    )]
    // SAFETY: the three pointers are to local variables.
    unsafe {
        clingo_sys::clingo_version(&raw mut major, &raw mut minor, &raw mut revision);
    }
    (major, minor, revision)
}

#[cfg(test)]
mod tests {
    #[test]
    fn clingo_is_linked_in() {
        assert_eq!(super::version().0, 5);
    }
}
