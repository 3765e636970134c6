"""Network and shared file systems are refused, with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.errors import LedgerError
from tacit.ledger import SqliteLedger, Terms
from tacit.ledger.filesystems import refuse_network, type_of
from tacit.privacy import PureDP

NETWORK = "nfs nfs4 cifs smb3 smbfs 9p fuse.sshfs ceph fuse.ceph lustre afs glusterfs fuse.glusterfs virtiofs vboxsf "
NETWORK += "fuse.s3fs fuse.gcsfuse fuse.rclone davfs fuse.davfs2 gpfs beegfs drvfs fuse.juicefs fuse.vmhgfs-fuse"


@pytest.mark.parametrize("kind", NETWORK.split())
def test_network(folder: Path, kind: str) -> None:
    mounts = f"/dev/sda / ext4 rw 0 0\nserver:/x {folder.parent} {kind} rw 0 0\n"
    with pytest.raises(LedgerError, match=rf"network or shared file system \({kind}\)"):
        SqliteLedger(folder / "people.ledger", mounts=lambda: mounts).open("people", Terms(PureDP(1)))
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "fuseblk", "apfs", "ext3"])
def test_local(folder: Path, kind: str) -> None:
    refuse_network(folder, lambda: f"/dev/sda / {kind} rw 0 0\n")
    refuse_network(folder, lambda: "")


def test_an_existing_ledger_is_refused_too(folder: Path) -> None:
    SqliteLedger(folder / "people.ledger").open("people", Terms(PureDP(1))).close()
    with pytest.raises(LedgerError, match="network"):
        SqliteLedger(folder / "people.ledger", mounts=lambda: "x / nfs4 rw 0 0").open()


def test_the_innermost_and_the_latest_mount_decide() -> None:
    mounts = "a / ext4 rw\nb /data nfs4 rw\nc /data/my\\040disk ext4 rw\nd /data/my\\040disk/x 9p rw\n"
    mounts += "e /mnt nfs rw\nf /mnt xfs rw\n"
    found = {
        place: type_of(Path(place), lambda: mounts) for place in ("/", "/data", "/database", "/data/my disk/y", "/mnt")
    }
    assert found == {"/": "ext4", "/data": "nfs4", "/database": "ext4", "/data/my disk/y": "ext4", "/mnt": "xfs"}
