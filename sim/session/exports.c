/* SPDX-License-Identifier: BSD-3-Clause */
/* Exports: registered with the owner, kept here, and exposed to peers when one asks. */
#include "exports.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "session_priv.h"
#include "sim/base/monotonic.h"
#include "sim/base/queue.h"
#include "sim/base/watch.h"
#include "sim/fabric/remote.h"
#include "sim/shm/wake.h"

#define SPIN_NS        50000 /* poll this long after the last event: a wake-up costs more */
#define YIELD_AFTER_NS 15000 /* poll this long without yielding the CPU, which the peer may need */

struct export
{
	uint64_t key;
	uint64_t memory; /* the key of the memory; differs for an alias that another process has made */
	struct sim_region region;
	int wake_fd; /* borrowed; -1 = none */
	bool is_exposed;
	struct sim_grant grant;
	LIST_ENTRY(export) entry;
};

struct sim_exports {
	pthread_mutex_t lock;
	int epoll_fd;
	uint64_t epoll_tag;
	LIST_HEAD(, export) list;
	uint32_t num_aliases;                /* in the list */
	_Atomic(struct sim_target *) target; /* NULL = no peer has asked so far, or closed */
	bool is_closed;
	bool permits_memory;
};

int sim_exports_create(int epoll_fd, uint64_t epoll_tag, struct sim_exports **ret_exports)
{
	struct sim_exports *exports = calloc(1, sizeof(*exports));

	if (!exports)
		return -ENOMEM;
	pthread_mutex_init(&exports->lock, NULL);
	exports->epoll_fd = epoll_fd;
	exports->epoll_tag = epoll_tag;
	*ret_exports = exports;
	return 0;
}

static bool is_alias(const struct export *export)
{
	return export->memory != export->key;
}

static void unexpose(struct sim_exports *exports, struct export *export)
{
	if (export->is_exposed && exports->target)
		sim_target_hide(exports->target, &export->grant);
	export->is_exposed = false;
}

static void export_free(struct sim_exports *exports, struct export *export)
{
	unexpose(exports, export);
	LIST_REMOVE(export, entry);
	exports->num_aliases -= is_alias(export);
	free(export);
}

void sim_exports_close(struct sim_exports *exports)
{
	pthread_mutex_lock(&exports->lock);
	if (exports->target)
		sim_watch_remove(exports->epoll_fd, sim_target_fd(exports->target));
	sim_target_destroy(exports->target);
	exports->target = NULL;
	exports->is_closed = true;
	pthread_mutex_unlock(&exports->lock);
}

void sim_exports_abandon(struct sim_exports *exports)
{
	sim_target_abandon(exports->target);
}

void sim_exports_destroy(struct sim_exports *exports)
{
	if (!exports)
		return;
	while (!LIST_EMPTY(&exports->list))
		export_free(exports, LIST_FIRST(&exports->list));
	sim_exports_close(exports);
	pthread_mutex_destroy(&exports->lock);
	free(exports);
}

/* With the lock. Returns NULL without memory. */
static struct export *add_locked(struct sim_exports *exports, uint64_t key, uint64_t memory,
				 const struct sim_region *region)
{
	struct export *export = calloc(1, sizeof(*export));

	if (!export)
		return NULL;
	export->key = key;
	export->memory = memory;
	export->region = *region;
	export->wake_fd = -1;
	LIST_INSERT_HEAD(&exports->list, export, entry);
	exports->num_aliases += is_alias(export);
	return export;
}

int sim_exports_add(struct sim_exports *exports, uint64_t key, const struct sim_region *region)
{
	const struct export *added;

	pthread_mutex_lock(&exports->lock);
	added = add_locked(exports, key, key, region);
	pthread_mutex_unlock(&exports->lock);
	return added ? 0 : -ENOMEM;
}

static struct export *find_export(struct sim_exports *exports, uint64_t key)
{
	struct export *export;

	LIST_FOREACH(export, &exports->list, entry)
		if (export->key == key)
			return export;
	return NULL;
}

/* With the lock. */
static void free_aliases(struct sim_exports *exports, uint64_t memory)
{
	struct export *export, *next;

	if (exports->num_aliases == 0)
		return;
	LIST_FOREACH_SAFE(export, &exports->list, entry, next)
		if (is_alias(export) && export->memory == memory)
			export_free(exports, export);
}

void sim_exports_remove(struct sim_exports *exports, uint64_t key)
{
	struct export *export;

	pthread_mutex_lock(&exports->lock);
	export = find_export(exports, key);
	if (export)
		export_free(exports, export);
	free_aliases(exports, key);
	pthread_mutex_unlock(&exports->lock);
}

void sim_exports_remove_alias(struct sim_exports *exports, uint64_t alias)
{
	struct export *export;

	pthread_mutex_lock(&exports->lock);
	export = exports->num_aliases > 0 ? find_export(exports, alias) : NULL;
	if (export && is_alias(export))
		export_free(exports, export);
	pthread_mutex_unlock(&exports->lock);
}

/* Set the descriptor that wakes the owner of an inbox. Returns 0 or -ENOMEM. */
static int set_wake_fd(struct sim_exports *exports, uint64_t key, int wake_fd)
{
	const struct sim_region none = { 0 };
	struct export *export;
	int rc = 0;

	pthread_mutex_lock(&exports->lock);
	export = find_export(exports, key);
	pthread_mutex_unlock(&exports->lock);
	if (!export)
		rc = sim_exports_add(exports, key, &none);
	if (rc < 0)
		return rc;
	pthread_mutex_lock(&exports->lock);
	find_export(exports, key)->wake_fd = wake_fd;
	pthread_mutex_unlock(&exports->lock);
	return 0;
}

static int open_target(struct sim_exports *exports)
{
	struct sim_target *target;
	int rc;

	if (exports->is_closed)
		return -ESTALE;
	if (exports->target)
		return 0;
	rc = sim_target_create(SIM_TARGET_MAX_CONNS, &target);
	if (rc < 0)
		return rc;
	rc = sim_watch_add(exports->epoll_fd, sim_target_fd(target), EPOLLIN,
			   (epoll_data_t){ .u64 = exports->epoll_tag });
	if (rc < 0) {
		sim_target_destroy(target);
		return rc;
	}
	exports->target = target;
	return 0;
}

static int copy_wake_fd(const struct export *export, int *ret_fd)
{
	if (!export || export->wake_fd < 0)
		return -ESTALE;
	*ret_fd = fcntl(export->wake_fd, F_DUPFD_CLOEXEC, 0);
	return *ret_fd < 0 ? -errno : 0;
}

/* An alias gets a grant of its own, which ends with the alias. */
static struct export *find_or_add_alias(struct sim_exports *exports, uint64_t key, uint64_t memory)
{
	struct export *found = find_export(exports, key);
	const struct export *origin = found ? found : find_export(exports, memory);

	if (found && found->memory != memory)
		return NULL;
	return found ? found : origin ? add_locked(exports, key, memory, &origin->region) : NULL;
}

static int describe_locked(struct sim_exports *exports, uint64_t key, uint64_t memory, enum sim_transport transport,
			   bool connect, struct sim_grant *ret_grant, int *ret_fd)
{
	struct export *export = find_or_add_alias(exports, key, memory);
	int rc;

	if (transport == SIM_TRANSPORT_WAKE)
		return copy_wake_fd(export, ret_fd);
	rc = export ? open_target(exports) : -ESTALE;
	if (rc < 0)
		return rc;
	if (!export->is_exposed)
		rc = sim_target_expose(exports->target, (void *)(uintptr_t) export->region.cpu_addr,
				       export->region.len_bytes, export->region.access & SIM_ACCESS_WRITE,
				       &export->grant);
	if (rc < 0)
		return rc;
	export->is_exposed = true;
	*ret_grant = export->grant;
	return connect ? sim_target_connect(exports->target, transport, ret_fd) : 0;
}

int sim_exports_describe(struct sim_exports *exports, uint64_t key, uint64_t memory, enum sim_transport transport,
			 bool connect, struct sim_grant *ret_grant, int *ret_fd)
{
	int rc;

	*ret_fd = -1;
	pthread_mutex_lock(&exports->lock);
	rc = describe_locked(exports, key, memory, transport, connect, ret_grant, ret_fd);
	pthread_mutex_unlock(&exports->lock);
	return rc;
}

void sim_exports_permit_memory(struct sim_exports *exports)
{
	pthread_mutex_lock(&exports->lock);
	exports->permits_memory = true;
	pthread_mutex_unlock(&exports->lock);
}

int sim_exports_open_memory(struct sim_exports *exports, uint64_t key, uint64_t memory, enum sim_transport transport,
			    int *ret_fd)
{
	const bool is_mem = transport == SIM_TRANSPORT_MEM;
	bool is_writable = false;
	int rc = -EPERM;

	pthread_mutex_lock(&exports->lock);
	if (exports->permits_memory) {
		const struct export *export = find_or_add_alias(exports, key, memory);

		rc = export ? 0 : -ESTALE;
		is_writable = export && export->region.access & SIM_ACCESS_WRITE;
	}
	pthread_mutex_unlock(&exports->lock);
	*ret_fd = rc < 0 ? -1 :
			   open(is_mem ? "/proc/self/mem" : "/proc/self/maps",
				(is_mem && is_writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	return rc < 0 ? rc : *ret_fd < 0 ? -errno : 0;
}

static unsigned int serve_round(struct sim_exports *exports)
{
	unsigned int served;

	pthread_mutex_lock(&exports->lock);
	served = sim_target_serve(exports->target);
	pthread_mutex_unlock(&exports->lock);
	return served;
}

static bool may_sleep(struct sim_exports *exports)
{
	bool may;

	pthread_mutex_lock(&exports->lock);
	may = sim_target_may_sleep(exports->target);
	pthread_mutex_unlock(&exports->lock);
	return may;
}

bool sim_exports_has_buffers(struct sim_exports *exports)
{
	bool has = false;

	pthread_mutex_lock(&exports->lock);
	if (exports->target)
		has = sim_target_has_buffers(exports->target);
	pthread_mutex_unlock(&exports->lock);
	return has;
}

void sim_exports_trim(struct sim_exports *exports)
{
	pthread_mutex_lock(&exports->lock);
	if (exports->target)
		sim_target_trim(exports->target);
	pthread_mutex_unlock(&exports->lock);
}

bool sim_exports_serve(struct sim_exports *exports, unsigned int max_us)
{
	uint64_t now = sim_monotonic_ns(), end = now + (uint64_t)max_us * 1000, idle_since = now;

	if (!exports->target) /* only the thread that serves opens it, and it is closed when that thread has ended */
		return true;
	do {
		if (serve_round(exports) > 0)
			idle_since = now;
		now = sim_monotonic_ns();
		if (now - idle_since >= YIELD_AFTER_NS)
			sched_yield();
	} while (now < end && now - idle_since < SPIN_NS);
	return may_sleep(exports);
}

int sim_session_export(struct sim_session *session, const struct sim_region *region, int object_fd,
		       struct sim_key *ret_key)
{
	/* Yama's default on Ubuntu lets only ancestors access a process's memory. The cma path needs access for the
	 * user's other processes. Without Yama the call fails, without effect. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	return session->owner->memory->export(session->owner, region, object_fd, ret_key);
}

int sim_session_export_imported(struct sim_session *session, const struct sim_remote *remote, uint32_t function,
				struct sim_key *ret_key)
{
	return session->owner->memory->export_alias(session->owner, remote->key, function, ret_key);
}

int sim_session_export_inbox(struct sim_session *session, const struct sim_region *region, int object_fd, int wake_fd,
			     struct sim_key *ret_key)
{
	int rc = sim_session_export(session, region, object_fd, ret_key);

	if (rc < 0 || wake_fd < 0)
		return rc;
	rc = set_wake_fd(session->exports, ret_key->id, wake_fd);
	if (rc < 0)
		sim_session_unexport(session, ret_key->id);
	return rc;
}

int sim_session_get_wake_fd(struct sim_session *session, const struct sim_remote *inbox)
{
	struct sim_grant none;
	int fd = -1;

	if (inbox->exporter_id == session->self.id)
		sim_exports_describe(session->exports, inbox->key, inbox->key, SIM_TRANSPORT_WAKE, false, &none, &fd);
	else
		session->owner->memory->describe(session->owner, inbox->key, SIM_TRANSPORT_WAKE, false, &none, &fd);
	if (fd >= 0 && !sim_wake_is_valid(fd)) {
		close(fd);
		return -1;
	}
	return fd;
}

int sim_session_unexport(struct sim_session *session, uint64_t key)
{
	int rc = session->owner->memory->revoke(session->owner, key);

	sim_exports_remove(session->exports, key);
	return rc;
}
