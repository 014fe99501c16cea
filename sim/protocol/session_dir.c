/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a session's directory: lock, socket, topology, log. */
#include "session_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_NAME     "bfsimd.sock"
#define LOCK_NAME       "lock"
#define TOPOLOGY_NAME   SIM_SESSION_TOPOLOGY
#define LOG_NAME        "bfsimd.log"
#define OVERFLOW_USER   65534               /* the kernel's default */
#define SHARED_DIR_BITS (S_IRGRP | S_IXGRP) /* of a directory that a group shares */
#define MAX_OPEN_TRIES  100
#define READ_BYTES      4096
#define MAX_FILE_BYTES  (16 * 1024 * 1024) /* refuses endless files such as /dev/zero */

/* All users can write to /tmp: refuse a directory there that other users own or can write to. */
static int check_private(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return 0; /* does not exist yet */
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022) ? 0 : -EPERM;
}

int sim_session_dir_default(char *path, size_t size)
{
	const char *session = getenv("BFSIM_SESSION");
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int len;

	if (session && session[0])
		len = snprintf(path, size, "%s", session);
	else if (runtime && runtime[0])
		len = snprintf(path, size, "%s/bfsim", runtime);
	else
		len = snprintf(path, size, "/tmp/bfsim-%u", (unsigned int)getuid());
	if (len < 0 || (size_t)len >= size)
		return -ENAMETOOLONG;
	return (session && session[0]) || (runtime && runtime[0]) ? 0 : check_private(path);
}

/* ---- owners ---- */

static bool is_own_group(gid_t group)
{
	int count = getgroups(0, NULL);
	gid_t *groups = count > 0 ? calloc((size_t)count, sizeof(*groups)) : NULL;
	bool found = group == getegid();

	count = groups ? getgroups(count, groups) : 0;
	for (int i = 0; i < count; i++)
		found |= groups[i] == group;
	free(groups);
	return found;
}

/* Whether the directory's owner shares it with a group of this process: as sim_session_dir_share() does. */
static bool is_shared_with_us(const struct stat *dir)
{
	return (dir->st_mode & (SHARED_DIR_BITS | S_IWGRP | S_IRWXO)) == SHARED_DIR_BITS && is_own_group(dir->st_gid);
}

/* Root may look at everybody's session. */
static bool may_join(const struct stat *dir)
{
	return dir->st_uid == geteuid() || dir->st_uid == 0 || geteuid() == 0 || is_shared_with_us(dir);
}

int sim_session_dir_check_owner(int dir_fd)
{
	struct stat dir;

	if (fstat(dir_fd, &dir) < 0)
		return -errno;
	return dir.st_uid == geteuid() || dir.st_uid == 0 ? 0 : -EPERM;
}

/* Whether the user may own the daemon and the files of a session in the directory: everybody may be able to write
 * there. */
static bool is_trusted_in(int dir_fd, uid_t user)
{
	struct stat dir;

	return user == geteuid() || user == 0 || (fstat(dir_fd, &dir) == 0 && user == dir.st_uid);
}

static int check_daemon(int dir_fd, int sock)
{
	struct ucred daemon;
	socklen_t len = sizeof(daemon);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &daemon, &len) < 0)
		return -errno;
	return is_trusted_in(dir_fd, daemon.uid) ? 0 : -EPERM;
}

bool sim_session_dir_is_own_user(int sock)
{
	struct ucred daemon;
	socklen_t len = sizeof(daemon);

	return getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &daemon, &len) == 0 && daemon.uid == geteuid() &&
	       daemon.uid != OVERFLOW_USER;
}

const char *sim_session_dir_strerror(int rc)
{
	if (rc == -EPERM || rc == -EACCES)
		return "it is another user's: run this as that user, or share the session with a group (bfsim up --group)";
	if (rc == -ELOOP)
		return "a file of the session is a symbolic link, which somebody else made: use another directory";
	if (rc == -ENODEV)
		return "it is not a plain file";
	return strerror(-rc);
}

int sim_session_dir_open(const char *dir, bool create)
{
	struct stat st;
	int fd, rc = 0;

	if (create && mkdir(dir, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		rc = -errno;
	else if (!may_join(&st))
		rc = -EPERM;
	if (rc < 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

/* Open a file that this process writes: a new one, or its own regular one, never another user's or what a link leads
 * to. @flags as of open(2). A daemon that ends may remove the file at any time. */
static int open_own_file(int dir_fd, const char *name, int flags)
{
	struct stat st;
	int fd = -1, rc = 0;

	for (int tries = 0; tries < MAX_OPEN_TRIES && fd < 0; tries++) {
		fd = openat(dir_fd, name, flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
		fd = openat(dir_fd, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0 && errno != ENOENT)
			return -errno;
	}
	if (fd < 0)
		return -EBUSY;
	if (fstat(fd, &st) < 0)
		rc = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		rc = -EPERM;
	if (rc < 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

/* ---- the lock ---- */

/* A lock of the open file description: unlike with flock(), a process can test it without taking it. */
static const struct flock whole_file = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

/* Open the lock file and lock it. Returns a descriptor, -EBUSY or another -errno. */
static int lock_file(int dir_fd)
{
	struct flock lock = whole_file;
	int fd, rc;

	fd = open_own_file(dir_fd, LOCK_NAME, O_RDWR);
	if (fd < 0)
		return fd;
	if (fcntl(fd, F_OFD_SETLK, &lock) < 0) {
		rc = errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;
		close(fd);
		return rc;
	}
	return fd;
}

/* Whether the open file still has the name of the lock file: a daemon that ends removes the file. */
static bool is_lock_file(int dir_fd, int fd)
{
	struct stat locked, named;

	return fstat(fd, &locked) == 0 && fstatat(dir_fd, LOCK_NAME, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
}

int sim_session_dir_lock(int dir_fd)
{
	int rc = sim_session_dir_check_owner(dir_fd), fd = rc < 0 ? rc : lock_file(dir_fd);

	while (fd >= 0 && !is_lock_file(dir_fd, fd)) {
		close(fd);
		fd = lock_file(dir_fd);
	}
	if (fd >= 0)
		unlinkat(dir_fd, SOCKET_NAME, 0);
	return fd;
}

bool sim_session_dir_is_live(int dir_fd)
{
	struct flock lock = whole_file;
	int fd = openat(dir_fd, LOCK_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool live;

	if (fd < 0)
		return false;
	live = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
	close(fd);
	return live;
}

/* A socket's address holds 107 characters, so the address goes through the open directory. */
static struct sockaddr_un socket_address(int dir_fd)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d/" SOCKET_NAME, dir_fd);
	return addr;
}

static int open_socket(int dir_fd, int (*bind_or_connect)(int, const struct sockaddr *, socklen_t))
{
	struct timeval timeout = { .tv_sec = SIM_SESSION_DIR_TIMEOUT_S };
	struct sockaddr_un addr = socket_address(dir_fd);
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int rc;

	if (sock < 0)
		return -errno;
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	do {
		rc = bind_or_connect(sock, (struct sockaddr *)&addr, sizeof(addr)) < 0 ? -errno : 0;
	} while (rc == -EINTR);
	if (rc < 0) {
		close(sock);
		return rc;
	}
	return sock;
}

int sim_session_dir_listen(int dir_fd)
{
	int sock = open_socket(dir_fd, bind);
	int rc;

	if (sock >= 0 &&
	    (fchmodat(dir_fd, SOCKET_NAME, 0600, AT_SYMLINK_NOFOLLOW) < 0 || listen(sock, SOMAXCONN) < 0)) {
		rc = -errno;
		close(sock);
		return rc;
	}
	return sock;
}

int sim_session_dir_connect(int dir_fd)
{
	int sock = open_socket(dir_fd, connect);
	int rc = sock < 0 ? sock : check_daemon(dir_fd, sock);

	if (sock >= 0 && rc < 0)
		close(sock);
	return rc < 0 ? rc : sock;
}

/* ---- sharing ---- */

/* Give a file to @group with @mode. A log that was not opened is missing. */
static int share_file(int dir_fd, const char *name, gid_t group, mode_t mode)
{
	if (fchownat(dir_fd, name, (uid_t)-1, group, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	return fchmodat(dir_fd, name, mode, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

int sim_session_dir_share(int dir_fd, gid_t group)
{
	struct stat dir;
	int rc;

	if (fstat(dir_fd, &dir) < 0 || fchown(dir_fd, (uid_t)-1, group) < 0 ||
	    fchmod(dir_fd, (dir.st_mode & 07777 & ~(mode_t)(S_IWGRP | S_IRWXO)) | SHARED_DIR_BITS) < 0)
		return -errno;
	rc = share_file(dir_fd, LOCK_NAME, group, 0640);
	if (rc == 0)
		rc = share_file(dir_fd, TOPOLOGY_NAME, group, 0640);
	if (rc == 0)
		rc = share_file(dir_fd, LOG_NAME, group, 0640);
	return rc < 0 ? rc : share_file(dir_fd, SOCKET_NAME, group, 0660);
}

/* ---- files ---- */

static int write_all(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t written = write(fd, text, len);

		if (written < 0)
			return -errno;
		text += written;
		len -= (size_t)written;
	}
	return 0;
}

int sim_session_dir_write(int dir_fd, const char *name, const char *text, size_t len)
{
	char temporary[NAME_MAX + 1];
	int fd, rc;

	snprintf(temporary, sizeof(temporary), "%s.new", name);
	unlinkat(dir_fd, temporary, 0); /* left by a daemon that died while writing, or planted */
	fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	rc = write_all(fd, text, len);
	close(fd);
	if (rc == 0 && renameat(dir_fd, temporary, dir_fd, name) < 0)
		rc = -errno;
	if (rc < 0)
		unlinkat(dir_fd, temporary, 0);
	return rc;
}

/* Read a file of any type to its end. The caller frees *ret_text in any case. */
static int read_all(int fd, char **ret_text, size_t *ret_len)
{
	size_t size = 0, len = 0;
	ssize_t got;

	*ret_text = NULL;
	do {
		if (len > MAX_FILE_BYTES)
			return -EFBIG;
		if (len + 1 >= size) {
			char *grown = realloc(*ret_text, size = size * 2 + READ_BYTES);

			if (!grown)
				return -ENOMEM;
			*ret_text = grown;
		}
		got = read(fd, *ret_text + len, size - len - 1);
		if (got > 0)
			len += (size_t)got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got < 0)
		return -errno;
	(*ret_text)[len] = '\0';
	*ret_len = len;
	return 0;
}

/* Open a file to read it: a plain one, as the open or the read of another may never return. A file of a session must be
 * no link, and must belong to the session's user or to root. */
static int open_to_read(int dir_fd, const char *name)
{
	bool is_of_session = dir_fd != AT_FDCWD;
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (is_of_session ? O_NOFOLLOW : 0));
	struct stat st;
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		rc = -errno;
	else if (S_ISDIR(st.st_mode))
		rc = -EISDIR;
	else if (!S_ISREG(st.st_mode))
		rc = -ENODEV;
	else if (is_of_session && !is_trusted_in(dir_fd, st.st_uid))
		rc = -EPERM;
	if (rc < 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

int sim_session_dir_read(int dir_fd, const char *name, char **ret_text, size_t *ret_len)
{
	int fd = open_to_read(dir_fd, name);
	char *text;
	int rc;

	if (fd < 0)
		return fd;
	rc = read_all(fd, &text, ret_len);
	close(fd);
	if (rc < 0)
		free(text);
	else
		*ret_text = text;
	return rc;
}

int sim_session_dir_open_log(int dir_fd)
{
	return open_own_file(dir_fd, LOG_NAME, O_RDWR | O_APPEND);
}

int sim_session_dir_watch(int dir_fd)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", dir_fd);
	if (fd >= 0 && inotify_add_watch(fd, path, IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR) < 0) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	return fd < 0 ? -errno : fd;
}

bool sim_session_dir_has_socket(int dir_fd)
{
	return faccessat(dir_fd, SOCKET_NAME, F_OK, AT_EACCESS) == 0;
}

void sim_session_dir_remove_files(int dir_fd)
{
	unlinkat(dir_fd, SOCKET_NAME, 0);
	unlinkat(dir_fd, TOPOLOGY_NAME, 0);
	unlinkat(dir_fd, TOPOLOGY_NAME ".new", 0); /* left by a daemon that died while writing */
	unlinkat(dir_fd, LOG_NAME, 0);
	unlinkat(dir_fd, LOCK_NAME, 0);
}
