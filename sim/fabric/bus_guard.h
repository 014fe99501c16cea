/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/fabric/bus_guard.h - copies from and to mappings of objects that another process may truncate.
 *
 * An access to a page beyond the end of a mapped object raises SIGBUS. Between sim_bus_guard_begin() and
 * sim_bus_guard_end(), a handler replaces the mapping by anonymous memory and marks it as lost. The access and the rest of
 * the copy then succeed, with zeros, and the copy fails. The handler passes all other SIGBUS on to the handler that the
 * application had installed, or to the default action.
 *
 * A handler that the application installs after its last import replaces this one; a thread that blocks SIGBUS has no
 * guard.
 */
#ifndef SIM_FABRIC_BUS_GUARD_H
#define SIM_FABRIC_BUS_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct sim_mapping {
	void *addr; /* NULL = none */
	size_t len_bytes;
	atomic_bool is_lost; /* the object was truncated: the mapping holds zeros */
};

/* The mappings that the calling thread accesses; NULL = none. */
extern _Thread_local struct sim_mapping *sim_guarded_mappings[2] __attribute__((tls_model("initial-exec")));

/* Install the handler, unless it is installed. Called at each import, as the application may have installed its own. */
void sim_bus_guard_install(void);

/* Guard accesses of this thread to two mappings, each of which may be NULL. */
static inline void sim_bus_guard_begin(struct sim_mapping *a, struct sim_mapping *b)
{
	sim_guarded_mappings[0] = a;
	sim_guarded_mappings[1] = b;
	atomic_signal_fence(memory_order_seq_cst);
}

static inline void sim_bus_guard_end(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	sim_guarded_mappings[0] = NULL;
	sim_guarded_mappings[1] = NULL;
}

#endif
