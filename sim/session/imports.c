/* SPDX-License-Identifier: BSD-3-Clause */
/* Imports: registered with the owner, opened over the best data path, and revoked. */
#include "imports.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/queue.h>

#include "session_priv.h"
#include "sim/state/function_status.h"
#include "sim/trace/trace.h"
#include "sim/fabric/remote.h"

/* The key and its owner, for the requests of a data path. */
struct import_peer {
	struct sim_owner *owner;
	uint64_t key;
};

/* An import is listed before the request to the owner, so that a revocation during the request finds it. */
struct import {
	struct import_peer peer;
	const _Atomic uint64_t *status;          /* status word of the function of this import */
	uint64_t generation;                     /* generation of that function at the import */
	const _Atomic uint64_t *exporter_status; /* likewise, of the exporter's function; NULL = not known yet */
	uint64_t exporter_generation;
	struct sim_remote *remote; /* NULL while it is being opened */
	bool dead;
	enum sim_revoke_cause cause; /* if it is dead */
	uint64_t memory;             /* the key; of a revoked alias, the exporter's own key */
	LIST_ENTRY(import) entry;
};

struct sim_imports {
	struct sim_session *session;
	pthread_mutex_t lock; /* protects the list and its members; never held while a copy ends */
	LIST_HEAD(, import) list;
};

static int import_describe(void *arg, enum sim_transport transport, bool connect, struct sim_grant *ret_grant,
			   int *ret_fd)
{
	struct import_peer *peer = arg;

	return peer->owner->memory->describe(peer->owner, peer->key, transport, connect, ret_grant, ret_fd);
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static const _Atomic uint64_t *status_of(struct sim_imports *imports, uint32_t function)
{
	return &sim_shared_state_of(&imports->session->shared)
			->functions.status_words[function < SIM_MAX_FUNCTIONS ? function : 0];
}

static uint64_t generation_of(const _Atomic uint64_t *status)
{
	return sim_function_generation(atomic_load_explicit(status, memory_order_acquire));
}

/* A revocation of the key may read it meanwhile. */
static void watch_exporter(struct sim_imports *imports, struct import *import, uint32_t function)
{
	pthread_mutex_lock(&imports->lock);
	import->exporter_status = status_of(imports, function);
	import->exporter_generation = generation_of(import->exporter_status);
	pthread_mutex_unlock(&imports->lock);
}

/* Ask the owner for the memory and open a path to it. */
static int import_open(struct sim_imports *imports, struct import *import, const struct sim_key *key, uint32_t function,
		       struct sim_remote **ret_remote, uint32_t *ret_exporter)
{
	const struct sim_session *session = imports->session;
	struct sim_imported imported = { .object_fd = -1, .pidfd = -1 };
	struct sim_owner *owner = import->peer.owner;
	int rc = owner->memory->import(owner, key, function, &imported);

	if (ret_exporter)
		*ret_exporter = imported.region.function;
	if (rc < 0)
		return rc;
	watch_exporter(imports, import, imported.region.function);
	rc = sim_remote_create(&(struct sim_remote_cfg){ .key = key->id,
							 .region = imported.region,
							 .exporter = imported.exporter,
							 .self = session->self,
							 .object_fd = imported.object_fd,
							 .pidfd = imported.pidfd,
							 .is_own_session = session->is_own_user,
							 .passes_memory = session->passes_memory,
							 .forced_path = session->forced_path,
							 .peer = { import_describe, &import->peer } },
			       ret_remote);
	close_fd(imported.object_fd);
	close_fd(imported.pidfd);
	if (rc < 0) {
		owner->memory->unimport(owner, key->id);
		return rc;
	}
	owner->memory->set_path(owner, key->id, sim_remote_path(*ret_remote), (*ret_remote)->reason);
	sim_trace_path_used(sim_remote_path(*ret_remote));
	return 0;
}

static bool is_stale(const struct import *import)
{
	return generation_of(import->status) != import->generation;
}

static bool is_exporter_stale(const struct import *import)
{
	return import->exporter_status && generation_of(import->exporter_status) != import->exporter_generation;
}

/* With the lock. */
static void end_import(struct import *import, enum sim_revoke_cause cause)
{
	if (!import->dead)
		import->cause = cause;
	import->dead = true;
	if (!import->remote)
		return;
	sim_remote_set_cause(import->remote, import->cause);
	sim_remote_try_revoke(import->remote);
}

static void import_unlist(struct sim_imports *imports, struct import *import)
{
	pthread_mutex_lock(&imports->lock);
	LIST_REMOVE(import, entry);
	pthread_mutex_unlock(&imports->lock);
}

int sim_session_import(struct sim_session *session, const struct sim_key *key, uint32_t function,
		       struct sim_remote **ret_remote, uint32_t *ret_exporter)
{
	struct sim_imports *imports = session->imports;
	struct import *import = calloc(1, sizeof(*import));
	struct sim_remote *remote;
	int rc;

	if (!import)
		return -ENOMEM;
	import->peer = (struct import_peer){ session->owner, key->id };
	import->memory = key->id;
	import->status = status_of(imports, function);
	import->generation = generation_of(import->status);
	pthread_mutex_lock(&imports->lock);
	LIST_INSERT_HEAD(&imports->list, import, entry);
	pthread_mutex_unlock(&imports->lock);

	rc = import_open(imports, import, key, function, &remote, ret_exporter);
	if (rc < 0) {
		import_unlist(imports, import);
		free(import);
		return rc;
	}
	pthread_mutex_lock(&imports->lock);
	import->remote = remote;
	if (import->dead || is_stale(import))
		end_import(import, SIM_REVOKED_FUNCTION);
	pthread_mutex_unlock(&imports->lock);
	*ret_remote = remote;
	return 0;
}

/* A copy that still runs in another thread ends first; until then the import stays listed for sim_imports_drain(). */
void sim_session_release(struct sim_session *session, struct sim_remote *remote)
{
	struct sim_imports *imports = session->imports;
	struct import *import;

	if (!remote)
		return;
	sim_remote_set_cause(remote, SIM_REVOKED_SESSION);
	sim_remote_revoke(remote);
	pthread_mutex_lock(&imports->lock);
	LIST_FOREACH(import, &imports->list, entry)
		if (import->remote == remote)
			break;
	LIST_REMOVE(import, entry);
	pthread_mutex_unlock(&imports->lock);
	import->peer.owner->memory->unimport(import->peer.owner, remote->key);
	sim_remote_destroy(remote);
	free(import);
}

void sim_imports_revoke_key(struct sim_imports *imports, uint64_t key, uint64_t memory)
{
	struct import *import;

	pthread_mutex_lock(&imports->lock);
	LIST_FOREACH(import, &imports->list, entry) {
		if (import->peer.key != key)
			continue;
		import->memory = memory;
		end_import(import, is_exporter_stale(import) ? SIM_REVOKED_EXPORTER : SIM_REVOKED_EXPORT);
	}
	pthread_mutex_unlock(&imports->lock);
}

void sim_imports_revoke_stale(struct sim_imports *imports)
{
	struct import *import;

	pthread_mutex_lock(&imports->lock);
	LIST_FOREACH(import, &imports->list, entry)
		if (is_stale(import))
			end_import(import, SIM_REVOKED_FUNCTION);
	pthread_mutex_unlock(&imports->lock);
}

void sim_imports_revoke_all(struct sim_imports *imports)
{
	struct import *import;

	pthread_mutex_lock(&imports->lock);
	LIST_FOREACH(import, &imports->list, entry)
		end_import(import, SIM_REVOKED_SESSION);
	pthread_mutex_unlock(&imports->lock);
}

static bool is_of(const struct import *import, uint64_t key)
{
	return key == SIM_ANY_KEY || import->peer.key == key || import->memory == key;
}

bool sim_imports_is_drained(struct sim_imports *imports, uint64_t key)
{
	struct import *import;
	bool drained = true;

	pthread_mutex_lock(&imports->lock);
	LIST_FOREACH(import, &imports->list, entry)
		if (drained && import->dead && import->remote && is_of(import, key))
			drained = sim_remote_try_revoke(import->remote);
	pthread_mutex_unlock(&imports->lock);
	return drained;
}

void sim_imports_drain(struct sim_imports *imports, uint64_t key)
{
	while (!sim_imports_is_drained(imports, key))
		sched_yield();
}

int sim_imports_create(struct sim_session *session, struct sim_imports **ret_imports)
{
	struct sim_imports *imports = calloc(1, sizeof(*imports));

	if (!imports)
		return -ENOMEM;
	imports->session = session;
	pthread_mutex_init(&imports->lock, NULL);
	*ret_imports = imports;
	return 0;
}

void sim_imports_destroy(struct sim_imports *imports)
{
	if (!imports)
		return;
	pthread_mutex_destroy(&imports->lock);
	free(imports);
}
