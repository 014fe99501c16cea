/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/imports.h - the memory of others that this process has imported.
 *
 *   [opening] --> [open] --its key ended | its function's life did | the daemon is gone--> [dead] --> released
 *
 * What is dead can't be reached any more; it is there until it is released. Of an
 * import by way of a function this process itself sees that the function was
 * reset, failed or was removed (function_status.h). Any thread may call.
 */
#ifndef SIM_SESSION_IMPORTS_H
#define SIM_SESSION_IMPORTS_H

#include "session.h"

struct sim_imports;

/* Of @session; @self (which is filled in later) and @forced_path (or NULL) are borrowed. Returns 0 or -ENOMEM. */
int sim_imports_create(struct sim_session *session, const struct sim_peer_info *self, const char *forced_path,
		       struct sim_imports **ret_imports);

/* All must have been released. NULL is fine. */
void sim_imports_destroy(struct sim_imports *imports);

/* sim_session_import() and sim_session_release(). */
int sim_imports_add(struct sim_imports *imports, const struct sim_key *key, uint32_t function,
		    struct sim_remote **ret_remote);
void sim_imports_remove(struct sim_imports *imports, struct sim_remote *remote);

/* Those of a key are dead; those by way of functions that are over; all. */
void sim_imports_revoke_key(struct sim_imports *imports, uint64_t key);
void sim_imports_revoke_stale(struct sim_imports *imports);
void sim_imports_revoke_all(struct sim_imports *imports);

#endif
