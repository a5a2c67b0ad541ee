//! New events of a run that another process writes.

use crate::disk::open_regular;
use crate::event_files::files;
use crate::{Event, RecordError, RunManifest};
use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Most bytes of a file that one call reads, so that a long journal takes several calls.
const MOST: u64 = 4 << 20;

/// Reads the journal of a run from where it stopped before.
#[derive(Debug)]
pub struct JournalTail {
    folder: PathBuf,
    /// By file, the bytes that were read.
    read: BTreeMap<PathBuf, u64>,
}

impl JournalTail {
    /// Starts before the first event.
    ///
    /// # Errors
    /// `record.not-a-run`, `record.version`.
    pub fn open(run: &Path) -> Result<Self, RecordError> {
        RunManifest::read(&run.join("run.json"))?;
        Ok(Self { folder: run.join("events"), read: BTreeMap::new() })
    }

    /// The next events, in the order of their files; empty if there are none. A line that is not complete, or that another version of
    /// planforge wrote, is not an event.
    ///
    /// # Errors
    /// `record.io`.
    pub fn next_events(&mut self) -> Result<Vec<Event>, RecordError> {
        let mut events = Vec::new();
        for path in files(&self.folder)? {
            let io = |error: std::io::Error| RecordError::io("read the event file", &path, &error);
            let from = self.read.get(&path).copied().unwrap_or(0);
            if std::fs::metadata(&path).map_err(io)?.len() <= from {
                continue;
            }
            let mut file = open_regular(&path).map_err(io)?;
            file.seek(SeekFrom::Start(from)).map_err(io)?;
            let mut bytes = Vec::new();
            file.take(MOST).read_to_end(&mut bytes).map_err(io)?;
            let mut complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
            if complete == 0 && bytes.len() as u64 == MOST {
                // No event has a line of this length.
                complete = bytes.len();
            }
            let lines = bytes[..complete].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            events.extend(lines.filter_map(|line| planforge_contract::read_json::<Event>(line).ok()));
            self.read.insert(path, from + complete as u64);
        }
        Ok(events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn each_event_is_read_once_and_an_incomplete_line_later() {
        let run = tempfile::tempdir().unwrap();
        std::fs::create_dir(run.path().join("events")).unwrap();
        let mut tail = JournalTail { folder: run.path().join("events"), read: BTreeMap::new() };
        let event = |task: &str| Event::TaskStarted { task: task.to_owned() };
        let line = |task: &str| serde_json::to_string(&event(task)).unwrap() + "\n";
        let mut file = std::fs::File::create(run.path().join("events/0001.jsonl")).unwrap();
        let (second, third) = (line("p02"), line("p03"));
        file.write_all((line("p01") + &second[..7]).as_bytes()).unwrap();
        assert_eq!(tail.next_events().unwrap(), [event("p01")]);
        assert!(tail.next_events().unwrap().is_empty());
        file.write_all((second[7..].to_owned() + "{\"event\": \"of-a-later-version\"}\n").as_bytes())
            .unwrap();
        std::fs::write(run.path().join("events/0002.jsonl"), third).unwrap();
        assert_eq!(tail.next_events().unwrap(), [event("p02"), event("p03")]);
        assert!(JournalTail::open(run.path()).is_err());
    }
}
