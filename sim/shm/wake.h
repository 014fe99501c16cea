/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/shm/wake.h - wake a process that sleeps, from a process that it does not trust, and the reverse.
 *
 *   sleeper:  sim_wake_open(); poll() on recv_fd ... sim_wake_clear()
 *             send_fd --(the session carries it)--> peers
 *   peer:     sim_wake_is_valid(fd); sim_wake_send(fd)
 *
 * The descriptor is a socket and not an eventfd or a pipe, whose O_NONBLOCK belongs to all that share the open file: a
 * peer that clears the flag and fills the file blocks the next writer, and a peer that reads it takes others'
 * wake-ups. Here each call itself says that it must not block, and a peer can't take what is on its way to recv_fd.
 * A peer can shut the sockets down. The sleeper then finds the end of the stream, and the peers' sends fail: they
 * wake the sleeper by other means.
 */
#ifndef SIM_SHM_WAKE_H
#define SIM_SHM_WAKE_H

#include <stdbool.h>

struct sim_wake {
	int recv_fd; /* readable after a send; -1 = none */
	int send_fd; /* for peers */
};

#define SIM_WAKE_NONE ((struct sim_wake){ .recv_fd = -1, .send_fd = -1 })

/* Returns 0 or -errno; then *ret_wake is unchanged. */
int sim_wake_open(struct sim_wake *ret_wake);

/* SIM_WAKE_NONE is fine. */
void sim_wake_close(struct sim_wake *wake);

/* Take the wake-ups so far; of a peer that floods the socket, some may remain. Returns false if a peer has shut the
 * sockets down: nobody can send any more, and recv_fd stays readable. */
bool sim_wake_clear(const struct sim_wake *wake);

/* Whether a peer's descriptor is one that sim_wake_send() can use and that closes without waiting. */
bool sim_wake_is_valid(int fd);

/* Wake the owner of @fd. Never blocks and raises no signal. Returns 0 (it wakes, or has earlier wake-ups to take), or
 * -errno: it does not. */
int sim_wake_send(int fd);

#endif
