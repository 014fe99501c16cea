/* SPDX-License-Identifier: BSD-3-Clause */
/* The owner that is the process itself: a private card of one process on one side. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>

#include "current_session.h"
#include "imports.h"
#include "owner.h"
#include "private_fault_events.h"
#include "sim/base/log.h"
#include "sim/state/function_status.h"

struct local_owner {
	struct sim_owner base;
	struct sim_owner_env env;
	struct sim_shared_state *shared;
	struct sim_card *card;
	struct sim_services *services;
	uint32_t peer;
	pthread_mutex_t lock; /* the card is not thread-safe */
};

static struct local_owner *to_local_owner(struct sim_owner *owner)
{
	return (struct local_owner *)owner;
}

static int local_export(struct sim_owner *owner, const struct sim_region *region, int object_fd,
			struct sim_key *ret_key)
{
	struct local_owner *self = to_local_owner(owner);
	struct sim_key key;
	int rc;

	(void)object_fd;
	if (getrandom(key.secret, sizeof(key.secret), 0) != sizeof(key.secret))
		return -EIO;
	pthread_mutex_lock(&self->lock);
	rc = sim_card_export(self->card, self->peer, region, key.secret, &key.id);
	pthread_mutex_unlock(&self->lock);
	if (rc == 0)
		*ret_key = key;
	return rc;
}

static int local_export_alias(struct sim_owner *owner, uint64_t origin, uint32_t function, struct sim_key *ret_key)
{
	struct local_owner *self = to_local_owner(owner);
	struct sim_key key;
	int rc;

	if (getrandom(key.secret, sizeof(key.secret), 0) != sizeof(key.secret))
		return -EIO;
	pthread_mutex_lock(&self->lock);
	rc = sim_card_export_alias(self->card, self->peer, origin, function, key.secret, &key.id);
	pthread_mutex_unlock(&self->lock);
	if (rc == 0)
		*ret_key = key;
	return rc;
}

static void on_revoked(void *arg, uint32_t peer, uint64_t key, uint64_t memory)
{
	(void)peer; /* this process is the only one */
	sim_imports_revoke_key(arg, key, memory);
}

/* Running copies end while no lock is held, so that other threads can export and import meanwhile. Those by an alias count that
 * ended earlier. */
static int revoke_and_drain(struct local_owner *self, uint64_t key)
{
	struct sim_imports *imports = self->env.imports;
	int rc;

	pthread_mutex_lock(&self->lock);
	rc = sim_card_revoke(self->card, self->peer, key, on_revoked, imports);
	pthread_mutex_unlock(&self->lock);
	sim_imports_drain(imports, key);
	return rc;
}

static int local_revoke(struct sim_owner *owner, uint64_t key)
{
	return revoke_and_drain(to_local_owner(owner), key);
}

static int local_import(struct sim_owner *owner, const struct sim_key *key, uint32_t function,
			struct sim_imported *ret_imported)
{
	struct local_owner *self = to_local_owner(owner);
	const struct sim_region *region;
	struct sim_card_memory memory;
	int rc;

	pthread_mutex_lock(&self->lock);
	rc = sim_card_import(self->card, self->peer, key, function, &region, &memory);
	if (rc == -EXDEV || rc == -EPERM)
		ret_imported->region.function = region->function;
	if (rc == 0)
		*ret_imported = (struct sim_imported){ .region = *region,
						       .exporter = *sim_card_peer(self->card, memory.exporter),
						       .object_fd = -1,
						       .pidfd = -1 };
	pthread_mutex_unlock(&self->lock);
	return rc;
}

static void local_unimport(struct sim_owner *owner, uint64_t key)
{
	struct local_owner *self = to_local_owner(owner);

	pthread_mutex_lock(&self->lock);
	sim_card_unimport(self->card, self->peer, key, on_revoked, self->env.imports);
	pthread_mutex_unlock(&self->lock);
}

static void local_set_path(struct sim_owner *owner, uint64_t key, const char *path, const char *reason)
{
	struct local_owner *self = to_local_owner(owner);

	pthread_mutex_lock(&self->lock);
	sim_card_set_path(self->card, self->peer, key, path, reason);
	pthread_mutex_unlock(&self->lock);
}

/* A private card has one process only. */
static int local_no_describe(struct sim_owner *owner, uint64_t key, enum sim_transport transport, bool connect,
			     struct sim_grant *ret_grant, int *ret_fd)
{
	(void)owner, (void)key, (void)transport, (void)connect, (void)ret_grant, (void)ret_fd;
	return -ENOSYS;
}

static int local_no_kicks(struct sim_owner *owner, uint64_t key, void (*done)(void *arg, struct sim_fds *fds),
			  void *arg)
{
	(void)owner, (void)key, (void)done, (void)arg;
	return -ENOSYS;
}

/* ---- channels: the process may listen, but no client exists ---- */

static int local_listen(struct sim_owner *owner, uint64_t number, const struct sim_service *service)
{
	struct local_owner *self = to_local_owner(owner);
	int rc;

	pthread_mutex_lock(&self->lock);
	if (service->rep == SIM_NETWORK || sim_function_has_rep(&self->shared->functions, service->rep))
		rc = sim_services_listen(self->services, self->peer, number, service);
	else
		rc = -ENODEV;
	pthread_mutex_unlock(&self->lock);
	return rc;
}

static void local_unlisten(struct sim_owner *owner, uint64_t number)
{
	struct local_owner *self = to_local_owner(owner);

	pthread_mutex_lock(&self->lock);
	sim_services_unlisten(self->services, self->peer, number);
	pthread_mutex_unlock(&self->lock);
}

static int local_connect(struct sim_owner *owner, uint64_t number, const struct sim_connect *request)
{
	struct local_owner *self = to_local_owner(owner);

	(void)number;
	if (!sim_services_may_connect(self->services, self->peer, request->function))
		return -EINVAL;
	sim_err("no server \"%s\": this process has a private card, without other processes; start both sides in one session (bfsim run, or bfsim exec)",
		request->name);
	return -ECONNREFUSED;
}

static int local_no_handshake(struct sim_owner *owner, uint64_t number, const struct sim_handshake_msg *handshake)
{
	(void)owner, (void)number, (void)handshake;
	return -ENOENT;
}

static void local_no_notify_peer(struct sim_owner *owner, uint64_t number)
{
	(void)owner, (void)number;
}

static void local_no_close(struct sim_owner *owner, uint64_t number, int reason)
{
	(void)owner, (void)number, (void)reason;
}

/* ---- faults at given times ---- */

static void close_services(struct local_owner *self, uint32_t function)
{
	struct sim_closed_channel closed;
	struct sim_channel_end client;

	while (sim_services_end_next_of_function(self->services, function, &client, &closed))
		; /* no channel exists here: the calls end services only */
}

/* Revoke one export of the function, if there is one left. */
static bool revoke_next_export(struct local_owner *self, uint32_t function)
{
	uint32_t exporter;
	uint64_t key;
	bool found;

	pthread_mutex_lock(&self->lock);
	found = sim_card_find_export(self->card, function, &exporter, &key);
	pthread_mutex_unlock(&self->lock);
	if (found)
		revoke_and_drain(self, key);
	return found;
}

static void local_revoke_function(void *arg, uint32_t function)
{
	struct local_owner *self = arg;

	while (revoke_next_export(self, function))
		;
	pthread_mutex_lock(&self->lock);
	close_services(self, function);
	pthread_mutex_unlock(&self->lock);
}

static void local_disconnect_rep(void *arg, uint32_t function)
{
	struct local_owner *self = arg;

	pthread_mutex_lock(&self->lock);
	close_services(self, function);
	pthread_mutex_unlock(&self->lock);
}

static void local_notify_functions_changed(void *arg)
{
	struct local_owner *self = arg;

	self->env.on_functions_changed(self->env.session);
}

/* Faults of other processes and of daemons: a private card has none. */
static void local_inject_no_others(void *arg, uint64_t since_ns)
{
	(void)arg, (void)since_ns;
}

static const struct sim_fault_events_ops local_fault_events_ops = {
	.revoke_function = local_revoke_function,
	.disconnect_rep = local_disconnect_rep,
	.notify_functions_changed = local_notify_functions_changed,
	.inject_others = local_inject_no_others,
};

int sim_owner_local_start_fault_events(struct sim_owner *owner, const struct pcie_topology *topology,
				       const struct sim_clock *clock)
{
	const struct sim_fault_events_cfg cfg = { .shared = to_local_owner(owner)->shared,
						  .topology = topology,
						  .clock = clock,
						  .ops = &local_fault_events_ops,
						  .arg = owner };

	return sim_private_fault_events_start(&cfg);
}

static void local_no_leave(struct sim_owner *owner)
{
	(void)owner;
}

static void local_destroy(struct sim_owner *owner)
{
	struct local_owner *self = to_local_owner(owner);

	sim_services_destroy(self->services);
	sim_card_destroy(self->card);
	pthread_mutex_destroy(&self->lock);
	free(self);
}

static void local_no_abandon(struct sim_owner *owner)
{
	(void)owner;
}

static void local_no_record(struct sim_owner *owner, int fd)
{
	(void)owner;
	(void)fd;
}

static void local_begin_fault(struct sim_owner *owner, uint32_t id)
{
	struct sim_current_session current;

	if (sim_current_session_lock(&current) < 0)
		return;
	if (sim_plan_begin(&to_local_owner(owner)->shared->plan, id, sim_private_fault_events_rule_begin_ns()) == 0)
		sim_private_fault_events_plan_changed();
	sim_current_session_unlock();
}

static const struct sim_owner_memory_ops local_memory_ops = {
	.export = local_export,
	.export_alias = local_export_alias,
	.revoke = local_revoke,
	.import = local_import,
	.unimport = local_unimport,
	.set_path = local_set_path,
	.describe = local_no_describe,
	.ask_for_kicks = local_no_kicks,
};

static const struct sim_owner_channel_ops local_channel_ops = {
	.listen = local_listen,
	.unlisten = local_unlisten,
	.connect = local_connect,
	.accept = local_no_handshake,
	.send = local_no_handshake,
	.notify_peer = local_no_notify_peer,
	.close = local_no_close,
};

static const struct sim_owner_life_ops local_life_ops = {
	.begin_fault = local_begin_fault,
	.record = local_no_record,
	.leave = local_no_leave,
	.destroy = local_destroy,
	.abandon = local_no_abandon,
};

int sim_owner_local_create(const struct sim_owner_env *env, struct sim_shared_state *shared,
			   const struct pcie_topology *topology, struct sim_owner **ret_owner)
{
	struct local_owner *owner = calloc(1, sizeof(*owner));
	int rc;

	if (!owner)
		return -ENOMEM;
	owner->base = (struct sim_owner){ .memory = &local_memory_ops,
					  .channels = &local_channel_ops,
					  .life = &local_life_ops };
	owner->env = *env;
	owner->shared = shared;
	pthread_mutex_init(&owner->lock, NULL);
	rc = sim_card_create(topology, &owner->card);
	if (rc == 0)
		rc = sim_services_create(owner->card, topology, &owner->services);
	if (rc == 0)
		rc = sim_card_attach(owner->card, env->self, &owner->peer);
	if (rc < 0) {
		local_destroy(&owner->base);
		return rc;
	}
	*ret_owner = &owner->base;
	return 0;
}
