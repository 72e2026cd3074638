//! Job arrays under a real Slurm: a controller and two nodes on the loopback interface, started for
//! the test in a temporary folder and ended with it. Skipped where Slurm is not installed
//! (Debian: `slurm-wlm` and `munge`).

use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{read, script};
use crate::cli::good;

/// Time for each thing that the test waits for.
const PATIENCE: Duration = Duration::from_secs(300);
/// Variable that marks every process of a cluster, those of its jobs included.
const MARK: &str = "SIMT_SLURM_TEST";
const NODES: [&str; 2] = ["one", "two"];

/// Reports why the test was skipped.
#[expect(clippy::print_stderr, reason = "the only way for a test to say that it was skipped")]
fn notice(text: &str) {
    eprintln!("{text}");
}

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default();
    let folders = path.split(':').chain(["/usr/sbin", "/usr/local/sbin"]);
    folders.map(|folder| Path::new(folder).join(name)).find(|path| path.is_file())
}

/// Waits until something holds; panics with the state of the cluster if it takes too long.
fn until(cluster: &Cluster, what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{what}: not in time\n{}", cluster.state());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A Slurm of its own. Dropping it ends every process that it or its jobs started.
struct Cluster {
    /// Short: a socket's path has at most 107 bytes.
    folder: tempfile::TempDir,
    daemons: Vec<(String, Child)>,
}

impl Cluster {
    /// Starts the daemons; `None` if one is not installed.
    fn start() -> Option<Cluster> {
        for name in ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo"] {
            if program(name).is_none() {
                notice(&format!("skipped: no {name} (Debian: slurm-wlm and munge)"));
                return None;
            }
        }
        let folder = tempfile::Builder::new().prefix("simt-slurm-").tempdir().expect("a folder");
        let mut cluster = Cluster { folder, daemons: Vec::new() };
        cluster.configure();
        let at = cluster.folder.path().display().to_string();
        let file = |option: &str, name: &str| format!("--{option}={at}/{name}");
        let files = [
            file("key-file", "key"),
            file("socket", "munge"),
            file("pid-file", "munged.pid"),
            file("log-file", "munged.log"),
            file("seed-file", "seed"),
        ];
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        cluster.daemon("munged", "", &[&["--foreground", "--force"], &files[..]].concat());
        until(&cluster, "munged listens", || Path::new(&format!("{at}/munge")).exists());
        cluster.daemon("slurmctld", "", &["-D"]);
        for node in NODES {
            cluster.daemon("slurmd", node, &["-D", "-N", node]);
        }
        until(&cluster, "both nodes are idle", || cluster.idle() == 2);
        Some(cluster)
    }

    fn configure(&self) {
        let at = self.folder.path().display();
        fs::create_dir(self.folder.path().join("state")).expect("a folder");
        let key: Vec<u8> = (0..128_u8).map(|i| i.wrapping_mul(73) ^ 0x5a).collect();
        let path = self.folder.path().join("key");
        fs::write(&path, key).expect("a key");
        let mode = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o400);
        fs::set_permissions(&path, mode).expect("permissions");
        // All at once, so that they differ; free again when they go.
        let listeners: Vec<TcpListener> =
            (0..3).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
        let ports: Vec<u16> =
            listeners.iter().map(|l| l.local_addr().expect("an address").port()).collect();
        let word = |command: &str, option: &str| {
            let output = Command::new(command).arg(option).output().expect("it starts");
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        };
        let (host, user) = (word("hostname", "-s"), word("id", "-un"));
        let mut text = format!(
            "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={}\n\
             SlurmUser={user}\nSlurmdUser={user}\n\
             AuthType=auth/munge\nCredType=cred/munge\nAuthInfo=socket={at}/munge,cred_expire=5\n\
             CommunicationParameters=NoCtldInAddrAny,NoInAddrAny\n\
             StateSaveLocation={at}/state\nSlurmdSpoolDir={at}/spool-%n\n\
             SlurmctldPidFile={at}/controller.pid\nSlurmdPidFile={at}/node-%n.pid\n\
             SlurmctldLogFile={at}/controller.log\nSlurmdLogFile={at}/node-%n.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\n\
             JobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n\
             SchedulerType=sched/builtin\n\
             SchedulerParameters=batch_sched_delay=1,sched_interval=2,sched_min_interval=100000\n\
             SlurmdTimeout=5\nKillWait=2\nReturnToService=2\nJobRequeue=1\n\
             SlurmdParameters=config_overrides\n",
            ports[0]
        );
        for (node, port) in NODES.iter().zip(&ports[1..]) {
            let _ = writeln!(
                text,
                "NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 \
                 RealMemory=4000 State=UNKNOWN"
            );
        }
        text += "PartitionName=all Nodes=one,two Default=YES MaxTime=INFINITE State=UP\n";
        fs::write(self.folder.path().join("slurm.conf"), text).expect("a file");
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(program(name).unwrap_or_else(|| name.into()));
        command
            .env("SLURM_CONF", self.folder.path().join("slurm.conf"))
            .env(MARK, self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// Starts a daemon that stays in the foreground; `node` tells the nodes apart.
    fn daemon(&mut self, name: &str, node: &str, arguments: &[&str]) {
        let log = self.folder.path().join(format!("{name}{node}.out"));
        let log = fs::File::create(log).expect("a file");
        let child = self
            .command(name)
            .args(arguments)
            .stdout(log.try_clone().expect("a handle"))
            .stderr(log)
            .spawn()
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        self.daemons.push((node.to_owned(), child));
    }

    /// Runs a command of Slurm and returns what it prints.
    fn ask(&self, name: &str, arguments: &[&str]) -> String {
        let output = self.command(name).args(arguments).output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if text.is_empty() { String::from_utf8_lossy(&output.stderr).into_owned() } else { text }
    }

    fn idle(&self) -> usize {
        self.ask("sinfo", &["-h", "-N", "-o", "%N %T"]).matches(" idle").count()
    }

    /// Returns true if no job waits or runs.
    fn is_done(&self) -> bool {
        let queue = self.command("squeue").args(["-h", "-o", "%i"]).output().expect("it starts");
        queue.status.success() && queue.stdout.is_empty()
    }

    /// Queue, nodes and the ends of the logs.
    fn state(&self) -> String {
        let mut text = self.ask("squeue", &[]) + "\n" + &self.ask("sinfo", &["-N"]);
        let logs = fs::read_dir(self.folder.path()).into_iter().flatten().flatten();
        for path in logs
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|e| e == "log" || e == "out"))
        {
            let log = fs::read_to_string(&path).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            let end = lines[lines.len().saturating_sub(15)..].join("\n");
            let _ = write!(text, "\n{}:\n{end}", path.display());
        }
        text
    }

    /// Processes of the cluster's jobs, on one node if it is not empty, each after its manager
    /// (`slurmstepd`, whose title has overwritten its environment).
    fn processes(&self, node: &str) -> Vec<String> {
        let mark = format!("{MARK}={}", self.folder.path().display());
        let node = format!("SLURMD_NODENAME={node}");
        let mut found = Vec::new();
        for id in fs::read_dir("/proc").expect("processes").flatten() {
            let id = id.file_name().to_string_lossy().into_owned();
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            let has = |text: &str| {
                environment.split(|&byte| byte == 0).any(|variable| variable == text.as_bytes())
            };
            if !has(&mark) || !(node.ends_with('=') || has(&node)) {
                continue;
            }
            let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
            let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
            let parent = parent.unwrap_or_default().trim().to_owned();
            let name = fs::read_to_string(format!("/proc/{parent}/comm")).unwrap_or_default();
            if name.trim() == "slurmstepd" {
                found.push(parent);
            }
            found.push(id);
        }
        found
    }

    /// Ends a node as a loss of power does: its daemon and its jobs, without a word to anyone.
    fn lose(&mut self, node: &str) {
        if let Some(at) = self.daemons.iter().position(|(of, _)| of == node) {
            let (_, mut child) = self.daemons.remove(at);
            let _ = child.kill();
            let _ = child.wait();
        }
        kill(&self.processes(node));
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Daemons first, so that nothing starts anew.
        for (_, child) in &mut self.daemons {
            let _ = child.kill();
            let _ = child.wait();
        }
        for _ in 0..50 {
            let left = self.processes("");
            if left.is_empty() {
                break;
            }
            kill(&left);
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn kill(ids: &[String]) {
    // One that has ended by itself is no error.
    let _ = Command::new("kill").arg("-9").args(ids).stderr(Stdio::null()).status();
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

#[test]
fn killed_tasks_resume_and_a_lost_node_s_shards_run_again() {
    let Some(mut cluster) = Cluster::start() else { return };
    let at = cluster.folder.path().join("work");
    fs::create_dir(&at).expect("a folder");
    let (array, whole) = (at.join("array"), at.join("whole.jsonl"));
    let shown = array.display().to_string();
    // Points of a good part of a second each: tasks that can be met half-way.
    let sweep = [
        "sweep",
        "programs/reduce_neighbored.ir",
        "--set",
        "n=524288",
        "--machine",
        "teaching",
        "-P",
        "block=16,32,64,128",
        "-P",
        "machine.dram_latency",
        "100",
        "400",
        "-D",
        "100",
    ];
    let table = good(&[&sweep[..], &["--results", &whole.display().to_string()]].concat());
    good(&[&sweep[..], &["--slurm", &shown, "--tasks", "2"]].concat());
    let task = array.join("task.sh").display().to_string();
    let merge = array.join("merge.sh").display().to_string();
    let parts = [1, 2].map(|i| array.join(format!("part.{i}.jsonl")));
    let each = 8;

    // Both tasks are killed half-way.
    let job = cluster.ask("sbatch", &["--parsable", &task]);
    let after = format!("--dependency=afterany:{job}");
    cluster.ask("sbatch", &[&after, &merge]);
    until(&cluster, "both tasks have begun", || parts.iter().all(|part| lines(part) > 0));
    cluster.ask("scancel", &["--signal=KILL", &job]);
    until(&cluster, "the queue is empty", || cluster.is_done());
    let before = parts.each_ref().map(|part| lines(part));
    assert!(before.iter().all(|&n| 0 < n && n < each), "half-way: {before:?}");
    let said = read(&array.join("merge.err"));
    assert!(said.contains("points are missing, of tasks 1,2"), "{said}");

    // They run again, and one of the nodes is lost half-way.
    let job = cluster.ask("sbatch", &["--parsable", &task]);
    let after = format!("--dependency=afterany:{job}");
    cluster.ask("sbatch", &[&after, &merge]);
    let on_one = || {
        let line = cluster.ask("squeue", &["-h", "-r", "-t", "R", "-w", "one", "-o", "%K"]);
        line.parse::<usize>().ok().filter(|i| (1..=2).contains(i))
    };
    let mut task_of_one = 0;
    until(&cluster, "a task runs on node one", || {
        task_of_one = on_one().unwrap_or(0);
        task_of_one > 0
    });
    let part = &parts[task_of_one - 1];
    let known = before[task_of_one - 1];
    until(&cluster, "the task has gone on", || lines(part) > known);
    cluster.lose("one");
    let met = lines(part);
    assert!(known < met && met < each, "half-way: {known} {met}");
    until(&cluster, "the queue is empty", || cluster.is_done());

    let log = read(&array.join(format!("task.{task_of_one}.log")));
    assert!(log.matches("points are done already").count() >= 2, "{log}");
    assert_eq!(read(&array.join("merge.out")), table);
    assert_eq!(read(&array.join("results.jsonl")), read(&whole));
    // The same by hand.
    assert_eq!(script(&array.join("merge.sh"), None).1, table);
}
