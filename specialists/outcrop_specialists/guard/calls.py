"""The numbers of the system calls that the filter knows: name: (x86_64, aarch64); -1 where there is no such call."""

from __future__ import annotations

DENIED: dict[str, tuple[int, int]] = {
    "socket": (41, 198),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "mount_setattr": (442, 442),
    "chroot": (161, 51),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "open_by_handle_at": (304, 265),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, -1),
    "ioperm": (173, -1),
    # Memory, queues and semaphores that outlive whoever made them, and those of others.
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
}
# For scripts only: they could leave the group that is ended with them.
DENIED_TO_SCRIPTS: dict[str, tuple[int, int]] = {"setsid": (112, 157), "setpgid": (109, 154)}
# Of every file that can be read, wherever it lies: Landlock has no right for it. Answered as by a file system without
# attributes, which programs that copy them pass over.
UNSUPPORTED: dict[str, tuple[int, int]] = {
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
}
# Mode, owner and times, also of the user's own files outside of what is granted: Landlock has no right for them, and a
# filter cannot see which file is meant. Answered as done and not done, since shutil.copy, tar and joblib end where
# they are refused, and their copies are as good without.
IGNORED: dict[str, tuple[int, int]] = {
    "chmod": (90, -1),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, -1),
    "fchown": (93, 55),
    "lchown": (94, -1),
    "fchownat": (260, 54),
    "utime": (132, -1),
    "utimes": (235, -1),
    "futimesat": (261, -1),
    "utimensat": (280, 88),
}
# Calls that may be for the caller itself only: the argument that names the process, and of what kind it must be.
# The kind is told by the first argument where the process is told by the second.
ON_PROCESSES: dict[str, tuple[tuple[int, int], int, int]] = {
    "prlimit64": ((302, 261), 0, -1),
    "sched_setaffinity": ((203, 122), 0, -1),
    "sched_setscheduler": ((144, 119), 0, -1),
    "sched_setparam": ((142, 118), 0, -1),
    "sched_setattr": ((314, 274), 0, -1),
    "setpriority": ((141, 140), 1, 0),  # PRIO_PROCESS
    "ioprio_set": ((251, 30), 1, 1),  # IOPRIO_WHO_PROCESS
}
SOCKETPAIR = (53, 199)
IOCTL = (16, 29)
CLONE = (56, 220)
CLONE3 = (435, 435)
KILL = (62, 129)
