/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/protocol/session_dir.h - the directory of a session, in which processes find the daemon of a card.
 *
 *   DIR/bfsimd.sock    the daemon's socket
 *   DIR/lock           locked while a daemon lives: tells a live session from a stale one
 *   DIR/topology.yaml  the card
 *   DIR/bfsimd.log     the daemon's messages
 *
 * Two containers that share the directory (a bind mount, a volume) can use one card. A path may be of any length.
 *
 * A session belongs to the user of its daemon, and to root. Others join it if its owner shares it with a group that they
 * are in. The files are written and read without following links. A user with write access to the directory can end the session,
 * but can't put another daemon or other files in its place: their owner is checked. doc/security.md says more.
 */
#ifndef SIM_SESSION_DIR_H
#define SIM_SESSION_DIR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SIM_SESSION_TOPOLOGY "topology.yaml"

/* The user's default session: $BFSIM_SESSION, else one directory per user. Returns 0, -ENAMETOOLONG, or -EPERM (the
 * directory in /tmp belongs to another user). */
int sim_session_dir_default(char *path, size_t size);

/* Open DIR, and create it (mode 0700) first if @create is set and DIR does not exist. Returns a descriptor, -EPERM (the
 * session is another user's and not shared) or another -errno. */
int sim_session_dir_open(const char *dir, bool create);

/* Check that this user may have a session there: the directory is its own, or root's. Returns 0 or -EPERM. */
int sim_session_dir_check_owner(int dir_fd);

/* What an error of these functions means, and what to do. */
const char *sim_session_dir_strerror(int rc);

/* Lock the session for a daemon, and remove a stale session's socket. Returns a descriptor that holds the lock until it
 * is closed, -EBUSY (a daemon lives there), -EPERM (the directory or its lock is another user's) or another -errno. */
int sim_session_dir_lock(int dir_fd);

/* Whether a daemon holds the lock. The test does not take the lock. */
bool sim_session_dir_is_live(int dir_fd);

/* Listen on, or connect to, the session's socket. Returns a descriptor or -errno (-ENOENT, -ECONNREFUSED: no daemon
 * there; -EPERM: it is another user's). If the daemon does not receive, a connect or a send fails with -EAGAIN after
 * SIM_SESSION_DIR_TIMEOUT_S. */
#define SIM_SESSION_DIR_TIMEOUT_S 10
int sim_session_dir_listen(int dir_fd);
int sim_session_dir_connect(int dir_fd);

/* Whether the daemon behind the connected socket is a process of this process's own user. False for the overflow user,
 * which stands for all users without a number in this user namespace. */
bool sim_session_dir_is_own_user(int sock);

/* Let the members of @group open the session: its directory, and the files that are there by now. Returns 0, -EPERM
 * (the user is not in that group, or does not own the directory) or another -errno. */
int sim_session_dir_share(int dir_fd, gid_t group);

/* Open the daemon's log to append to it. Returns a descriptor or -errno. */
int sim_session_dir_open_log(int dir_fd);

/* Write a file of the session atomically. Returns 0 or -errno. */
int sim_session_dir_write(int dir_fd, const char *name, const char *text, size_t len);

/* Read a file of the session, or any file by AT_FDCWD. The caller frees *ret_text, which is zero-terminated; *ret_len does not count the zero.
 * Returns 0 or -errno (-EFBIG: more than 16 MiB; -ENODEV: not a plain file). */
int sim_session_dir_read(int dir_fd, const char *name, char **ret_text, size_t *ret_len);

/* Watch the session for removed files. Returns an inotify descriptor, which the caller reads when it is readable, or
 * -errno. */
int sim_session_dir_watch(int dir_fd);

/* Whether the socket exists. */
bool sim_session_dir_has_socket(int dir_fd);

/* Remove the files that sim_session_dir_lock(), sim_session_dir_listen() and sim_session_dir_write() made. */
void sim_session_dir_remove_files(int dir_fd);

#endif
