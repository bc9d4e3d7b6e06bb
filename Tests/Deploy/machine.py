"""A Debian of its own with a real systemd as process 1: namespaces on a root that debootstrap made. The network is this machine's."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

from cache import kept
from claims import Skip, until
from programs import KEPT, run

MIRROR = "http://deb.debian.org/debian"
SUITE = "bookworm"
# Besides systemd what a package of pushfan depends on, so that dpkg finds it all there without a network.
PACKAGES = ["systemd", "init-system-helpers", "ca-certificates", "libcurl4", "libgcc-s1", "liblz4-1", "libmicrohttpd12", "librdkafka1",
            "libsqlite3-0", "libssl3", "libstdc++6", "libxml2", "libyaml-0-2", "zlib1g"]
# Of no use here, and busy with the machine.
MASKED = ["console-getty.service", "getty.target", "systemd-logind.service", "systemd-networkd.service", "timers.target"]
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
MAKING_LIMIT = 900  # seconds for debootstrap; it takes 35 where the mirror is near
BOOT_LIMIT = 60  # seconds; it takes 3

# A cgroup of its own at the top, since one with processes in it gives its children no controllers.
OUTSIDE = r"""
set -e
mount -t cgroup2 none "$1/mnt"
mkdir "$1/mnt/$2"
echo $$ >"$1/mnt/$2/cgroup.procs"
umount "$1/mnt"
exec unshare --pid --fork --kill-child --mount --uts --ipc --cgroup bash -c "$3" inside "$1"
"""
# Of this machine's kernel nothing can be set: no sysctl, no clock, no module.
INSIDE = r"""
set -e
cd "$1"
mount --bind . .
cd "$1"
mount -t proc proc proc
for name in sys sysrq-trigger; do
  [[ -e proc/$name ]] || continue
  mount --bind proc/$name proc/$name
  mount -o remount,bind,ro proc/$name
done
mount -t sysfs -o ro,nosuid,nodev,noexec sysfs sys
mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755,nosuid tmpfs dev
for name in full null random tty urandom zero; do
  : >dev/$name
  mount --bind /dev/$name dev/$name
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts dev/pts
mount -t tmpfs -o nosuid,nodev tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=755,nosuid,nodev tmpfs run
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs tmp
while read -r folder; do
  mkdir -p "./$folder"
  mount --bind "$folder" "./$folder"
  mount -o remount,bind,ro "./$folder"
done <seen
rm seen
pivot_root . mnt
umount -l /mnt
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin setpriv --bounding-set=-sys_time,-sys_module,-sys_rawio,-syslog \
  /lib/systemd/systemd --system --show-status=0 --log-level=debug --log-target=journal --unit=multi-user.target </dev/null >/dev/null 2>&1
"""


def base():
    """The archive of the root, which is made once."""
    return kept(f"root/{SUITE}", " ".join([SUITE, *PACKAGES]), make_base, ".tar")


def make_base(archive):
    if not shutil.which("debootstrap"):
        raise Skip("there is no debootstrap here")
    with tempfile.TemporaryDirectory(prefix="pushfan-root-", ignore_cleanup_errors=True) as root:
        made = run("timeout", "--kill-after=10", MAKING_LIMIT, "debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", SUITE,
                   root, MIRROR, timeout=None)
        if made.returncode != 0:
            raise Skip(f"debootstrap made no root from {MIRROR}: {(made.said.strip().splitlines() or ['it took too long'])[-1]}")
        run("tar", "-C", root, "-cf", archive, "--exclude=./var/cache/apt/archives/*.deb", "--exclude=./var/lib/apt/lists/*",
            "--exclude=./dev/*", ".", check=True)


def check_rights():
    """Ends where the kernel lets no namespaces be made."""
    if os.geteuid() != 0:
        raise Skip("it needs root, to make namespaces and mounts")
    tried = run("unshare", "--mount", "--pid", "--fork", "--uts", "--ipc", "--cgroup", "bash", "-c",
                "mount -t cgroup2 none /mnt && mkdir /mnt/$0 && rmdir /mnt/$0", f"pushfan-try-{os.getpid()}")
    if tried.returncode != 0:
        raise Skip(f"no namespaces with a cgroup of their own can be made here: {tried.stderr.strip()}")


class Machine:
    """One boot. Ends with its process, and all that runs in it ends too."""

    def __init__(self, archive, folder, seen=()):
        """`seen` are folders of this machine that are there too, at the same place, only to be read."""
        self.root = folder / "root"
        self.cgroup = f"pushfan-systemd-{os.getpid()}"
        self.root.mkdir()
        run("tar", "-C", self.root, "-xf", archive, check=True)
        self.root.chmod(0o755)
        for name in MASKED:
            (self.root / "etc/systemd/system" / name).symlink_to("/dev/null")
        self.write("etc/hostname", "machine-1\n")
        self.write("etc/hosts", "127.0.0.1 localhost machine-1\n")
        self.write("etc/systemd/journald.conf", "[Journal]\nStorage=volatile\nRateLimitIntervalSec=0\n")
        self.write("seen", "".join(f"{path}\n" for path in seen))
        self.process = subprocess.Popen(
            [*KEPT, "unshare", "--mount", "bash", "-c", OUTSIDE, "outside", self.root, self.cgroup, INSIDE],
            stdin=subprocess.DEVNULL)
        try:
            self.number = self.find_first()
            said = self.run("systemctl", "is-system-running", "--wait", allowed=None).stdout.strip()
            if said != "running":
                failed = self.run("systemctl", "--failed", "--plain", "--no-legend", allowed=None).stdout
                raise AssertionError(f"the machine is {said or 'not up'}: {failed}")
        except BaseException:
            self.end()
            raise

    def find_first(self):
        """The process that is number 1 inside, once systemd has taken its place and answers."""
        def first():
            if self.process.poll() is not None:
                raise AssertionError(f"the machine did not start: exit status {self.process.returncode}")
            children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="utf-8").split()
            with contextlib.suppress(OSError):
                if children and pathlib.Path(f"/proc/{children[0]}/comm").read_text(encoding="utf-8") == "systemd\n":
                    if (pathlib.Path(f"/proc/{children[0]}/root") / "run/systemd/private").exists():
                        return children[0]
            return None

        return until(first, "systemd answers", BOOT_LIMIT)

    def write(self, path, text, mode=0o644):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(mode)

    def run(self, *command, allowed=(0,), given="", limit=120):
        """Runs a command inside. `allowed` are its exit statuses, None all."""
        done = run("nsenter", "--target", self.number, "--mount", "--pid", "--uts", "--ipc", "--cgroup", "env", "-i", f"PATH={PATH}",
                   "DEBIAN_FRONTEND=noninteractive", *command, input=given, timeout=limit)
        if allowed is not None and done.returncode not in allowed:
            raise AssertionError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.said}".strip())
        return done

    def show(self, unit, name):
        """A property of a unit."""
        return self.run("systemctl", "show", "--value", f"--property={name}", unit).stdout.strip()

    def end(self):
        self.process.kill()
        self.process.wait()
        clear = 'mount -t cgroup2 none "$1" && find "$1/$2" -depth -type d -exec rmdir {} +'
        # Its processes are gone a moment later.
        until(lambda: run("unshare", "--mount", "bash", "-c", clear, "clear", "/mnt", self.cgroup).returncode == 0, limit=5)
