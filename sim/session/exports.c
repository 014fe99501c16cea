/* SPDX-License-Identifier: BSD-3-Clause */
/* Exports: registered with the owner, kept here, and exposed to peers through libfabric when one asks. */
#include "exports.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

#include "session_priv.h"
#include "sim/base/monotonic.h"

#define MAX_TARGETS    4     /* providers in use at once */
#define SPIN_NS        50000 /* poll this long after the last event: a wake-up costs more */
#define YIELD_AFTER_NS 15000 /* poll this long without yielding the CPU, which the peer may need */

struct export
{
	uint64_t key;
	struct sim_region region;
	struct sim_ofi_mem *exposed[MAX_TARGETS];
	struct sim_ofi_desc *descs[MAX_TARGETS];
	struct export *next;
};

struct target {
	char provider[SIM_OFI_PROVIDER_SIZE];
	struct sim_ofi_target *target;
};

struct sim_exports {
	pthread_mutex_t lock;
	int epoll_fd;
	uint64_t epoll_tag;
	struct export *list;
	struct target targets[MAX_TARGETS];
	unsigned int num_targets;
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

static void unexpose(struct export *export)
{
	for (int i = 0; i < MAX_TARGETS; i++) {
		sim_ofi_target_deregister(export->exposed[i]);
		free(export->descs[i]);
		export->exposed[i] = NULL;
		export->descs[i] = NULL;
	}
}

static void export_free(struct export *export)
{
	unexpose(export);
	free(export);
}

void sim_exports_close(struct sim_exports *exports)
{
	pthread_mutex_lock(&exports->lock);
	for (struct export *export = exports->list; export; export = export->next)
		unexpose(export);
	while (exports->num_targets > 0)
		sim_ofi_target_destroy(exports->targets[--exports->num_targets].target);
	pthread_mutex_unlock(&exports->lock);
}

void sim_exports_destroy(struct sim_exports *exports)
{
	if (!exports)
		return;
	while (exports->list) {
		struct export *first = exports->list;

		exports->list = first->next;
		export_free(first);
	}
	sim_exports_close(exports);
	pthread_mutex_destroy(&exports->lock);
	free(exports);
}

int sim_exports_add(struct sim_exports *exports, uint64_t key, const struct sim_region *region)
{
	struct export *export = calloc(1, sizeof(*export));

	if (!export)
		return -ENOMEM;
	export->key = key;
	export->region = *region;
	pthread_mutex_lock(&exports->lock);
	export->next = exports->list;
	exports->list = export;
	pthread_mutex_unlock(&exports->lock);
	return 0;
}

void sim_exports_remove(struct sim_exports *exports, uint64_t key)
{
	pthread_mutex_lock(&exports->lock);
	for (struct export **link = &exports->list; *link; link = &(*link)->next) {
		struct export *export = *link;

		if (export->key != key)
			continue;
		*link = export->next;
		export_free(export);
		break;
	}
	pthread_mutex_unlock(&exports->lock);
}

static struct export *find_export(struct sim_exports *exports, uint64_t key)
{
	struct export *export = exports->list;

	while (export && export->key != key)
		export = export->next;
	return export;
}

/* Returns the index of the provider's target, opened on first need, or -errno. */
static int open_target(struct sim_exports *exports, const char *provider)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = exports->epoll_tag };
	struct target *target = &exports->targets[exports->num_targets];
	int fd, rc;

	for (unsigned int i = 0; i < exports->num_targets; i++)
		if (strcmp(exports->targets[i].provider, provider) == 0)
			return (int)i;
	if (exports->num_targets == MAX_TARGETS)
		return -EMFILE;
	rc = sim_ofi_target_create(provider, &target->target);
	if (rc < 0)
		return rc;
	strncpy(target->provider, provider, sizeof(target->provider) - 1);
	fd = sim_ofi_target_fd(target->target);
	if (fd >= 0 && epoll_ctl(exports->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
		rc = -errno;
		sim_ofi_target_destroy(target->target);
		return rc;
	}
	return (int)exports->num_targets++;
}

static int describe_locked(struct sim_exports *exports, uint64_t key, const char *provider,
			   struct sim_ofi_desc *ret_desc)
{
	struct export *export = find_export(exports, key);
	struct sim_ofi_desc *desc;
	int index, rc;

	if (!export)
		return -ESTALE;
	index = open_target(exports, provider);
	if (index < 0)
		return index;
	if (!export->exposed[index]) {
		desc = calloc(1, sizeof(*desc));
		if (!desc)
			return -ENOMEM;
		rc = sim_ofi_target_register(exports->targets[index].target,
					     (void *)(uintptr_t) export->region.cpu_addr, export->region.len_bytes,
					     export->region.access & SIM_ACCESS_WRITE, &export->exposed[index], desc);
		if (rc < 0) {
			free(desc);
			return rc;
		}
		export->descs[index] = desc;
	}
	*ret_desc = *export->descs[index];
	return 0;
}

int sim_exports_describe(struct sim_exports *exports, uint64_t key, const char *provider, struct sim_ofi_desc *ret_desc)
{
	int rc;

	pthread_mutex_lock(&exports->lock);
	rc = describe_locked(exports, key, provider, ret_desc);
	pthread_mutex_unlock(&exports->lock);
	return rc;
}

/* Annotations of the thread sanitizer, if it is linked. They exclude libfabric's copies for peers: handshakes between
 * the two sides order these copies, so they are no race of this thread. */
void AnnotateIgnoreReadsBegin(const char *file, int line) __attribute__((weak));
void AnnotateIgnoreReadsEnd(const char *file, int line) __attribute__((weak));
void AnnotateIgnoreWritesBegin(const char *file, int line) __attribute__((weak));
void AnnotateIgnoreWritesEnd(const char *file, int line) __attribute__((weak));

static void tsan_ignore_begin(void)
{
	if (!AnnotateIgnoreWritesBegin)
		return;
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

static void tsan_ignore_end(void)
{
	if (!AnnotateIgnoreWritesEnd)
		return;
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

/* Poll each target once. Returns the number of events. */
static int serve_round(struct sim_exports *exports)
{
	int events = 0;

	pthread_mutex_lock(&exports->lock);
	for (unsigned int i = 0; i < exports->num_targets; i++)
		events += sim_ofi_target_serve(exports->targets[i].target);
	pthread_mutex_unlock(&exports->lock);
	return events;
}

static bool may_sleep(struct sim_exports *exports)
{
	bool may = true;

	pthread_mutex_lock(&exports->lock);
	for (unsigned int i = 0; i < exports->num_targets; i++)
		may &= sim_ofi_target_may_sleep(exports->targets[i].target);
	pthread_mutex_unlock(&exports->lock);
	return may;
}

bool sim_exports_serve(struct sim_exports *exports, unsigned int max_us)
{
	uint64_t now = sim_monotonic_ns(), end = now + (uint64_t)max_us * 1000, idle_since = now;
	bool safe;

	if (exports->num_targets == 0) /* only the thread that serves opens targets */
		return true;
	tsan_ignore_begin();
	do {
		if (serve_round(exports) > 0)
			idle_since = now;
		now = sim_monotonic_ns();
		if (now - idle_since >= YIELD_AFTER_NS)
			sched_yield();
	} while (now < end && now - idle_since < SPIN_NS);
	safe = may_sleep(exports);
	tsan_ignore_end();
	return safe;
}

int sim_session_export(struct sim_session *session, const struct sim_region *region, int object_fd,
		       struct sim_key *ret_key)
{
	/* Yama's default on Ubuntu lets only ancestors access a process's memory. The cma path needs access for the
	 * user's other processes. Without Yama the call fails, without effect. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	return session->owner->ops->export(session->owner, region, object_fd, ret_key);
}

int sim_session_unexport(struct sim_session *session, uint64_t key)
{
	return session->owner->ops->revoke(session->owner, key);
}
