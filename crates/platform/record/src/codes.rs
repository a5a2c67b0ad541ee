//! The codes of this crate.

use planforge_diagnostics::CodeInfo;

macro_rules! codes {
    ($($code:literal, $title:literal, $text:literal;)*) => {
        /// Every code that this crate gives.
        pub const CODES: &[CodeInfo] = &[$(CodeInfo { code: $code, title: $title, explanation: $text }),*];
    };
}

codes! {
    "record.io", "a file of the record cannot be read or written",
    "The operating system refused to read or write a file of a run folder or cassette; its own words follow the message.\n\
     Common causes: no space left, no permission, a folder on a network drive that went away.\n\
     An effect whose event could not be written does not count as made: after the cause is gone,\n\
     `planforge run --resume RUN` makes it again and keeps everything before it.";
    "record.not-a-run", "the folder is not a run folder",
    "A run folder holds run.json, events/ and blobs/. The folder given has no run.json.\n\
     Name the run itself (runs/<id>), not the folder of all runs. A folder that lost power between its creation and\n\
     the writing of run.json holds nothing worth resuming; delete it.";
    "record.own-file", "a result would replace a file of a run folder",
    "run.json, report.json, events/ and blobs/ of a run folder are its record. A result written there would destroy it:\n\n    \
     planforge report runs/ID --out runs/ID/run.json\n\n\
     Nothing was written. Choose a place outside the run folder, or a name that the run does not use.";
    "record.exists", "the run folder exists already",
    "A new run never writes into the folder of another. Choose another id, or go on with that run:\n\
     `planforge run --resume RUN`.";
    "record.id", "not a name for a run folder",
    "The id of a run is the name of its folder: not empty, no slash, no leading dot.";
    "record.locked", "another process is writing to this run",
    "Each process that works on a run holds a lock on its own file in events/. One of these files is held right now, so\n\
     another planforge is still at work on the run. Two at once would pay twice for the same replies.\n\
     Wait for it or stop it; the lock goes away with the process, however it ends.";
    "record.read-only", "the run folder was opened to be read",
    "Something tried to add to a record that was opened for looking up only, as replay does.\n\
     This is a fault in planforge, not in the run folder.";
    "record.torn-line", "the last line of an event file was cut off",
    "A process was killed while it wrote its last event. The torn line is dropped, everything before it is kept, and the\n\
     call that was in flight is made again on resume. The file itself is left as it is.";
    "record.corrupt", "a record is damaged",
    "A line or document of the record is not what it should be, and not in a way that a crash explains: only the last\n\
     line of an event file can be torn. Somebody edited it, or the disk is failing. Nothing is guessed:\n\
     restore the file from a copy, or start a new run.";
    "record.report-changed", "the report of a run was changed",
    "The journal of a finished run has the SHA-256 of report.json, and the file has another one: somebody edited it, or it\n\
     was copied from another run. Its results are not used. The journal has everything that the report says:\n\n    \
     planforge replay RUN\n\n\
     repeats the run without network or key and writes the report anew.";
    "record.blob-missing", "a blob is not there",
    "An event names a blob by its SHA-256 and blobs/ has no such file. Blobs are on disk before the event that\n\
     names them, so a crash does not explain it; the file was deleted or not copied. Copy run folders whole.";
    "record.blob-corrupt", "a blob was changed",
    "The content of a file in blobs/ no longer has the SHA-256 that is its name. The run folder is evidence and is never\n\
     edited; restore the file from a copy.";
    "record.version", "the record has another version",
    "The run folder or cassette was written by a planforge whose format this one does not read.\n\
     Use the version named in run.json or in the cassette's header (field `planforge`).";
    "record.not-a-cassette", "the file is not a cassette",
    "A cassette is a JSONL file that planforge exported. Its first line is a header with the field\n\
     `planforge_cassette`; each other line is one recorded reply. Check the path.";
}

#[cfg(test)]
mod tests {
    use super::CODES;
    use std::collections::BTreeSet;

    /// Every quoted code in this crate's sources.
    fn codes_in_sources() -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            for part in text.split('"').filter(|p| p.starts_with("record.")) {
                if part.bytes().all(|b| b.is_ascii_lowercase() || b == b'.' || b == b'-')
                    && part.len() > "record.".len()
                {
                    found.insert(part.to_owned());
                }
            }
        }
        found
    }

    #[test]
    fn every_code_that_is_given_is_explained_once() {
        let written = codes_in_sources();
        let mut explained: Vec<String> = CODES.iter().map(|c| c.code.to_owned()).collect();
        explained.sort();
        assert_eq!(written.into_iter().collect::<Vec<_>>(), explained);
        assert!(CODES.iter().all(|c| c.explanation.len() > 60 && !c.title.is_empty()));
    }
}
