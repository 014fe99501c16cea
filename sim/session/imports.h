/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/imports.h - the memory of other processes that this process has imported.
 *
 *   [opening] --> [open] --key revoked | function reset, failed or removed | daemon lost--> [revoked] --> released
 *
 * Copies of a revoked import fail; the import stays listed until its user releases it. This process reads the
 * function's status word (function_status.h) to see that the function's generation ended.
 * sim_session_import() and sim_session_release() (session.h) add and remove imports. Any thread may call.
 */
#ifndef SIM_SESSION_IMPORTS_H
#define SIM_SESSION_IMPORTS_H

#include "session.h"

struct sim_imports;

/* @session is borrowed. Returns 0 or -ENOMEM. */
int sim_imports_create(struct sim_session *session, struct sim_imports **ret_imports);

/* The caller must have released all imports. NULL is fine. */
void sim_imports_destroy(struct sim_imports *imports);

/* Revoke the imports of a key, of functions whose generation has ended, or all: further copies fail. The functions
 * return at once; running copies may continue for a while. @memory is the exporter's own key, if @key is an alias, or @key. */
void sim_imports_revoke_key(struct sim_imports *imports, uint64_t key, uint64_t memory);
void sim_imports_revoke_stale(struct sim_imports *imports);
void sim_imports_revoke_all(struct sim_imports *imports);

/* The first returns whether all copies of revoked imports of @key and of its aliases have ended; the second waits for that. */
#define SIM_ANY_KEY UINT64_MAX
bool sim_imports_is_drained(struct sim_imports *imports, uint64_t key);
void sim_imports_drain(struct sim_imports *imports, uint64_t key);

#endif
