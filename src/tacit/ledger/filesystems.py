"""Which file systems a ledger may live on: those whose locks hold between all who open the file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from tacit.errors import LedgerError

__all__ = ["refuse_network", "system_mounts", "type_of"]

_NETWORK = re.compile(
    r"9p|acfs|afs|autofs|beegfs|ceph|cifs|coda|davfs|drvfs|fhgfs|gfs2|glusterfs|gpfs|kafs|lustre|ncpfs|nfs4?|ocfs2|"
    r"orangefs|panfs|prl_fs|pvfs2|smb[23]?|smbfs|vboxsf|virtiofs|vmhgfs|wekafs"
)
_NETWORK_FUSE = re.compile(
    r"fuse\.(.*(ssh|smb|cifs|nfs|s3|gcs|goofys|blob|rclone|dav|ceph|gluster|juice|seaweed|moose|lizard|hdfs|"
    r"curl|ftp|sync|drive|dropbox|vmhgfs|osxfs|grpc|beegfs|mount).*)"
)


def system_mounts() -> str:
    """The mount table of this process; empty where the system does not show one."""
    try:
        return Path("/proc/self/mounts").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def type_of(folder: Path, mounts: Callable[[], str] = system_mounts) -> str:
    """The type of the file system that holds a folder, as the mount table calls it; empty if it is not listed.

    >>> type_of(Path("/home/ada/data"), lambda: "/dev/sda / ext4 rw 0 0\\nserver:/home /home nfs4 rw 0 0")
    'nfs4'
    """
    best, found = "", ""
    for line in mounts().splitlines():
        parts = line.split(" ")
        if len(parts) < 3:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), parts[1])
        inside = point == "/" or str(folder) == point or str(folder).startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):  # a later mount on the same point hides the earlier
            best, found = point, parts[2]
    return found


def refuse_network(folder: Path, mounts: Callable[[], str] = system_mounts) -> None:
    """Refuse a folder on a network or shared file system, with the reason."""
    kind = type_of(Path(os.path.realpath(folder)), mounts)
    if _NETWORK.fullmatch(kind) or _NETWORK_FUSE.fullmatch(kind):
        raise LedgerError(
            f"{folder} is on a network or shared file system ({kind}), whose locks do not hold between machines: "
            "two of them could spend the same budget. Keep the ledger on a local disk."
        )
