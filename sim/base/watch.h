/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/watch.h - descriptors that an epoll descriptor watches.
 *
 *   sim_watch_add() --> [watched] --sim_watch_close()--> closed
 *
 * A watch lives as long as any copy of its descriptor: after close(), a child between vfork() or fork() and exec() still
 * holds one (posix_spawn(), system()), and epoll_wait() goes on to report a source that may be freed by then. So a
 * watched descriptor is closed by sim_watch_close() alone, which ends the watch first. ci/style refuses other calls of
 * epoll_ctl().
 *
 * A forked child shares its parent's epoll descriptors: it closes its copies with close(), and must not end a watch.
 */
#ifndef SIM_WATCH_H
#define SIM_WATCH_H

#include <stdint.h>
#include <sys/epoll.h>

/* Watch @fd for @events (EPOLLIN, ...); epoll_wait() reports @data. Returns 0 or -errno. */
int sim_watch_add(int epoll_fd, int fd, uint32_t events, epoll_data_t data);

/* Watch for other events. Returns 0 or -errno. */
int sim_watch_change(int epoll_fd, int fd, uint32_t events, epoll_data_t data);

/* End the watch, and leave the descriptor open. */
void sim_watch_remove(int epoll_fd, int fd);

/* End the watch, if there is one, and close the descriptor. -1 is fine. */
void sim_watch_close(int epoll_fd, int fd);

#endif
