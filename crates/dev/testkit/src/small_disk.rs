//! Evaluations on a disk that is full, and on one that is read-only: a small tmpfs, so root is needed to mount it.

use crate::canned::CannedModel;
use crate::scripted::ScriptedServer;
use crate::survival::{SIDE_BY_SIDE, Survival, completions, differences, results, write_pipelines};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A tmpfs, unmounted when dropped.
struct Tmpfs(PathBuf);

impl Tmpfs {
    fn mount(at: &Path, kilobytes: usize) -> io::Result<Self> {
        fs::create_dir_all(at)?;
        let size = format!("size={kilobytes}k");
        run_checked(Command::new("mount").args(["-t", "tmpfs", "-o", &size, "planforge-small"]).arg(at))?;
        Ok(Self(at.to_owned()))
    }
    fn remount(&self, options: &str) -> io::Result<()> {
        run_checked(Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.0))
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        // What stays mounted is seen by whoever removes the folder.
        drop(run_checked(Command::new("umount").arg(&self.0)));
    }
}

fn run_checked(command: &mut Command) -> io::Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(io::Error::other(format!("{}: {errors}", command.get_program().display())))
}

/// The outcome of an evaluation on a disk that filled up.
#[derive(Debug, Clone)]
pub struct Filled {
    /// The size of the disk, in kilobytes.
    pub kilobytes: usize,
    /// The exit code on the full disk.
    pub exit: i32,
    /// Its last message.
    pub error: String,
    /// Answers that were recorded before the disk was full.
    pub recorded: usize,
    /// Requests whose answers found no room.
    pub lost: usize,
    /// Deviations from the expected outcome, also after space was freed.
    pub violations: Vec<String>,
}

/// The outcome of a command on a read-only folder.
#[derive(Debug, Clone)]
pub struct Refused {
    pub what: &'static str,
    pub exit: i32,
    /// Its first message.
    pub error: String,
    /// Deviations from the expected outcome.
    pub violations: Vec<String>,
}

impl Survival<'_> {
    /// Evaluates on disks of these sizes. After a disk is full, space is freed and the evaluation resumes.
    ///
    /// # Errors
    /// The experiment cannot be made; mounting needs root.
    pub fn fill(&self, sizes: &[usize], mut tell: impl FnMut(&Filled)) -> io::Result<()> {
        let scratch = tempfile::tempdir()?;
        let server = self.server()?;
        write_pipelines(scratch.path(), &server)?;
        let whole = self.whole(scratch.path(), &server)?;
        for &kilobytes in sizes {
            let disk = Tmpfs::mount(&scratch.path().join("small"), kilobytes)?;
            let out = disk.0.join("out");
            fs::write(scratch.path().join("stderr"), "")?;
            let before = server.count();
            let exit = self.to_the_end(&out, scratch.path())?;
            let recorded = completions(&out)?;
            let lost = server.count() - before - recorded;
            let errors = fs::read_to_string(scratch.path().join("stderr"))?;
            let error = errors.lines().find(|line| line.starts_with("error")).unwrap_or_default().to_owned();
            let mut filled = Filled { kilobytes, exit, error, recorded, lost, violations: Vec::new() };
            if exit != 0 && (exit != 36 || !filled.error.contains("No space left")) {
                filled.violations.push(format!("exit {exit}: {errors}"));
            }
            if lost > SIDE_BY_SIDE {
                filled.violations.push(format!("{lost} answers were lost"));
            }
            disk.remount("size=256m")?;
            let exit = self.to_the_end(&out, scratch.path())?;
            if exit != 0 {
                let errors = fs::read_to_string(scratch.path().join("stderr"))?;
                filled.violations.push(format!("with room again: exit {exit}: {errors}"));
            }
            let asked = server.count() - before;
            if asked != whole.requests + lost {
                filled.violations.push(format!("{asked} requests, not {} + {lost}", whole.requests));
            }
            filled.violations.extend(differences(&whole.files, &results(&out)?));
            tell(&filled);
        }
        Ok(())
    }

    /// Tries everything that writes on a disk that is read-only, and everything that only reads.
    ///
    /// # Errors
    /// The experiment cannot be made; mounting needs root.
    pub fn read_only(&self, mut tell: impl FnMut(&Refused)) -> io::Result<()> {
        let scratch = tempfile::tempdir()?;
        let server = self.server()?;
        write_pipelines(scratch.path(), &server)?;
        let disk = Tmpfs::mount(&scratch.path().join("disk"), 64 << 10)?;
        let out = disk.0.join("out");
        if self.to_the_end(&out, scratch.path())? != 0 {
            return Err(io::Error::other("the evaluation fails where the disk can be written"));
        }
        let cell = out.join("cells/parcels/given/1");
        disk.remount("ro")?;
        let before = server.count();
        let task = self.suites.join("parcels/p01");
        let pipeline = scratch.path().join("given.toml");
        let try_it = |what: &'static str, exit: i32, change: &dyn Fn(&mut Command)| -> io::Result<Refused> {
            let mut command = Command::new(self.planforge);
            change(&mut command);
            let ended = command.stdin(Stdio::null()).output()?;
            let all = String::from_utf8_lossy(&ended.stderr).into_owned();
            let error = all.lines().find(|line| line.starts_with("error")).unwrap_or_default().to_owned();
            let is = ended.status.code().unwrap_or(-1);
            let mut refused = Refused { what, exit: is, error, violations: Vec::new() };
            if is != exit || (exit != 0 && !refused.error.contains("Read-only file system")) {
                refused.violations.push(format!("exit {is}, not {exit}: {all}"));
            }
            Ok(refused)
        };
        let run = |command: &mut Command| {
            command.arg("run").arg(&pipeline).arg("--task").arg(&task);
        };
        tell(&try_it("`run --runs DISK`", 36, &|c| {
            run(c);
            c.arg("--runs").arg(disk.0.join("runs"));
        })?);
        if server.count() > before {
            return Err(io::Error::other("a model got a request for a run that cannot be recorded"));
        }
        tell(&try_it("`run --resume DISK/RUN`", 36, &|c| {
            c.args(["run", "--resume"]).arg(&cell);
        })?);
        tell(&try_it("`run --record DISK/CASSETTE`", 36, &|c| {
            run(c);
            c.arg("--runs").arg(scratch.path().join("runs")).arg("--record").arg(disk.0.join("c.jsonl"));
        })?);
        tell(&try_it("`evaluate --out DISK/NEW`", 36, &|c| {
            c.arg("evaluate")
                .arg("--suite")
                .arg(self.suites.join("parcels"))
                .arg("--pipeline")
                .arg(&pipeline);
            c.arg("--out").arg(disk.0.join("new"));
        })?);
        tell(&try_it("`evaluate --resume --out DISK/OUT`", 36, &|c| {
            c.args(["evaluate", "--resume", "--out"]).arg(&out);
        })?);
        tell(&try_it("`report DISK/RUN --out DISK/PAGE`", 36, &|c| {
            c.arg("report").arg(&cell).arg("--out").arg(disk.0.join("page.html"));
        })?);
        tell(&try_it("`replay DISK/RUN`", 0, &|c| {
            c.arg("replay").arg(&cell);
        })?);
        tell(&try_it("`report DISK/RUN --out ELSEWHERE`", 0, &|c| {
            c.arg("report").arg(&cell).arg("--out").arg(scratch.path().join("page.html"));
        })?);
        Ok(())
    }

    fn server(&self) -> io::Result<ScriptedServer> {
        let model = CannedModel::new(self.suites, 5)?;
        ScriptedServer::matching(move |request| model.answer(request))
    }
}
