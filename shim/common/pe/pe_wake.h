/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/pe_wake.h - the notification handle of a progress engine.
 *
 *   shim_pe_wake_signal() --> event_fd --.
 *   other processes ---------> peers ----+--> handle_fd, on which the owner sleeps --> shim_pe_wake_clear()
 *
 * Any thread may signal; the engine's thread does the rest.
 */
#ifndef SHIM_PE_WAKE_H
#define SHIM_PE_WAKE_H

#include "sim/shm/wake.h"

struct shim_pe_wake {
	int handle_fd;         /* the user sleeps on it: readable when @event_fd or @peers is */
	int event_fd;          /* written in this process; no other process has it */
	struct sim_wake peers; /* written by other processes; created at the first need */
};

/* Open the descriptors. Returns 0 or -errno; then none is open. */
int shim_pe_wake_open(struct shim_pe_wake *wake);
void shim_pe_wake_close(struct shim_pe_wake *wake);

/* Make the handle readable, and unreadable. clear returns 0 or -errno. */
void shim_pe_wake_signal(const struct shim_pe_wake *wake);
int shim_pe_wake_clear(struct shim_pe_wake *wake);

/* The descriptor by which other processes make the handle readable (sim_wake_send()). It stays the handle's. Returns
 * -errno if there is none. */
int shim_pe_wake_get_peer_fd(struct shim_pe_wake *wake);

#endif
