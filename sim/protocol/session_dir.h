/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/protocol/session_dir.h - a session's directory: where processes find a card's daemon.
 *
 *   DIR/bfsimd.sock    the daemon's socket
 *   DIR/lock           locked while a daemon lives: what tells a live session from a stale one
 *   DIR/topology.yaml  the card
 *   DIR/bfsimd.log     the daemon's messages
 *
 * Sharing the directory (a bind mount, a volume) is all that two containers
 * need to stand on one card. A path may be of any length.
 */
#ifndef SIM_SESSION_DIR_H
#define SIM_SESSION_DIR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The user's default session: $BFSIM_SESSION, else one directory per user.
 * Returns 0, -ENAMETOOLONG, or -EPERM: the one in /tmp is another user's. */
int sim_session_dir_default(char *path, size_t size);

/* Open DIR, creating it (mode 0700) when it does not exist. A descriptor or -errno. */
int sim_session_dir_open(const char *dir, bool create);

/* Take the session: a stale one's socket is removed. Returns a descriptor that
 * holds the lock until it is closed, -EBUSY (a daemon lives there) or -errno. */
int sim_session_dir_lock(int dir_fd);

/* Whether a daemon holds the lock. Only looks, and so is in nobody's way. */
bool sim_session_dir_is_live(int dir_fd);

/* Listen on, or connect to, the session's socket. A descriptor or -errno
 * (-ENOENT, -ECONNREFUSED: no daemon there). On a connected one, sending to a
 * daemon that does not take it fails with -EAGAIN after SIM_SESSION_DIR_TIMEOUT_S; so
 * does connecting. */
#define SIM_SESSION_DIR_TIMEOUT_S 10
int sim_session_dir_listen(int dir_fd);
int sim_session_dir_connect(int dir_fd);

/* Write a file of the session whole, or not at all. Returns 0 or -errno. */
int sim_session_dir_write(int dir_fd, const char *name, const char *text, size_t len);

/* Read a file of the session. *ret_text is the caller's (free()) and
 * zero-terminated; *ret_len does not count the zero. Returns 0 or -errno
 * (-EFBIG: more than 16 MiB). */
int sim_session_dir_read(int dir_fd, const char *name, char **ret_text, size_t *ret_len);

/* Watch for files of the session that go. A descriptor (inotify) to be read when it is readable, or -errno. */
int sim_session_dir_watch(int dir_fd);

/* Whether a process could find the socket. */
bool sim_session_dir_has_socket(int dir_fd);

/* Remove what sim_session_dir_lock(), sim_session_dir_listen() and sim_session_dir_write() made. */
void sim_session_dir_remove_files(int dir_fd);

#endif
