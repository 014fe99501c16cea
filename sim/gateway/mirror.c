/* SPDX-License-Identifier: BSD-3-Clause */
/* Mirrors. */
#include "mirror.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model_time.h"
#include "queues.h"
#include "sim/base/queue.h"
#include "sim/engine/engine.h"
#include "sim/fabric/remote.h"
#include "sim/rdma/inbox.h"
#include "sim/rdma/queue_pair.h"

/* The doorbell of the requester. The mirror imports it when the requester has introduced itself. */
struct requester {
	struct sim_remote *doorbells;
	uint32_t slot;
	int wake_fd;
	LIST_ENTRY(requester) entry;
};

struct requester_job {
	struct job job;
	struct gateway *gateway;
	struct mirror *mirror; /* NULL = it is gone */
	struct sim_key key;
	uint32_t function;
	struct requester *found;  /* NULL = none */
	struct sim_remote *queue; /* of its requests; NULL = it is known */
	int queue_wake_fd;
	LIST_ENTRY(requester_job) entry;
};

struct mirror {
	struct far *far;
	struct sim_segment memory;
	struct sim_inbox_shared *inbox;
	struct sim_ring in;
	uint32_t slot;
	uint64_t num_taken, num_read; /* records: taken here, taken by the responder */
	uint64_t kicks_sent, gave_up_sent;
	bool was_taken;                    /* the responder's machine knows that there is a sender of messages */
	LIST_HEAD(, requester) requesters; /* of an inbox that needs no connect there are several */
	LIST_HEAD(, requester_job) jobs;   /* look for requesters */
	bool is_unarmed;
	LIST_ENTRY(mirror) in_slot, in_all, in_unarmed;
};

struct kick_member {
	struct sim_engine_member member;
	struct jobs *jobs;
};

/* ---- the requester ---- */

static void release_requester(struct sim_session *session, struct requester *requester)
{
	sim_session_release(session, requester->doorbells);
	if (requester->wake_fd >= 0)
		close(requester->wake_fd);
	free(requester);
}

/* Ring a requester's doorbell, and wake it if it sleeps. */
static void tell_one(const struct requester *requester, bool is_asleep)
{
	if (!sim_remote_acquire(requester->doorbells))
		return;
	sim_doorbell_ring((struct sim_doorbell_shared *)(void *)requester->doorbells->base, requester->slot);
	sim_remote_release(requester->doorbells);
	if (is_asleep && requester->wake_fd >= 0)
		sim_wake_send(requester->wake_fd);
}

/* The rings come first: a requester sees them, or this end sees that it sleeps. */
static void tell(struct mirror *mirror)
{
	struct requester *requester;
	bool is_asleep;

	LIST_FOREACH(requester, &mirror->requesters, entry)
		tell_one(requester, false);
	is_asleep = atomic_load(&mirror->inbox->asleep) && atomic_exchange(&mirror->inbox->asleep, 0);
	LIST_FOREACH(requester, &mirror->requesters, entry)
		if (is_asleep)
			tell_one(requester, true);
}

/* What a requester's inbox says. */
struct requester_words {
	struct sim_key doorbells, far_queue;
	uint32_t slot;
};

/* Read the inbox with the job's key. */
static int read_requester(struct requester_job *job, struct requester_words *ret_words)
{
	struct sim_session *session = job->gateway->session;
	struct sim_remote *remote;
	const struct sim_inbox_shared *inbox;
	int rc = sim_session_import(session, &job->key, job->function, &remote, NULL);

	if (rc < 0)
		return rc;
	inbox = (const void *)remote->base;
	if (!(remote->region.access & SIM_ACCESS_INBOX) || remote->region.len_bytes != SIM_INBOX_BYTES ||
	    !sim_remote_acquire(remote)) {
		sim_session_release(session, remote);
		return -EPROTO;
	}
	*ret_words = (struct requester_words){ .doorbells = inbox->doorbells,
					       .far_queue = inbox->far_queue,
					       .slot = *(const volatile uint32_t *)&inbox->slot };
	sim_remote_release(remote);
	sim_session_release(session, remote);
	return ret_words->slot < SIM_DOORBELL_SLOTS ? 0 : -EPROTO;
}

/* NULL: there are no doorbells with that key. */
static struct requester *import_doorbells(struct requester_job *job, const struct requester_words *words)
{
	struct sim_session *session = job->gateway->session;
	struct requester *requester = calloc(1, sizeof(*requester));
	struct sim_remote *remote;

	if (!requester || sim_session_import(session, &words->doorbells, job->function, &remote, NULL) < 0) {
		free(requester);
		return NULL;
	}
	*requester = (struct requester){ .doorbells = remote,
					 .slot = words->slot,
					 .wake_fd = sim_session_get_wake_fd(session, remote) };
	if (remote->region.access & SIM_ACCESS_INBOX && remote->base &&
	    remote->region.len_bytes == sizeof(struct sim_doorbell_shared))
		return requester;
	release_requester(session, requester);
	return NULL;
}

static void import_queue(struct requester_job *job, const struct sim_key *key)
{
	struct sim_session *session = job->gateway->session;
	struct sim_remote *remote;

	if (queues_has(job->gateway, key->id) || sim_session_import(session, key, job->function, &remote, NULL) < 0)
		return;
	if (!queues_is_valid(remote)) {
		sim_session_release(session, remote);
		return;
	}
	job->queue = remote;
	job->queue_wake_fd = sim_session_get_wake_fd(session, remote);
}

static void run_requester_job(struct job *base)
{
	struct requester_job *job = (struct requester_job *)base;
	struct requester_words words;

	if (read_requester(job, &words) < 0)
		return;
	job->found = import_doorbells(job, &words);
	import_queue(job, &words.far_queue);
}

static void end_requester_job(struct job *base)
{
	struct requester_job *job = (struct requester_job *)base;

	if (job->queue)
		queues_add(job->gateway, job->queue, job->queue_wake_fd);
	if (job->mirror)
		LIST_REMOVE(job, entry);
	if (job->mirror && job->found) {
		LIST_INSERT_HEAD(&job->mirror->requesters, job->found, entry);
		tell_one(job->found, true);
	} else if (job->found) {
		release_requester(job->gateway->session, job->found);
	}
	free(job);
}

/* A requester has introduced itself. The next one may do so now. */
static void look_for_requester(struct mirror *mirror)
{
	struct gateway *gateway = mirror->far->gateway;
	struct requester_job *job = calloc(1, sizeof(*job));

	if (!job)
		return;
	*job = (struct requester_job){ .job = { .run = run_requester_job, .done = end_requester_job },
				       .gateway = gateway,
				       .mirror = mirror,
				       .key = mirror->inbox->importer,
				       .function = mirror->far->imported.region.function };
	atomic_store(&mirror->inbox->has_importer, SIM_INBOX_NO_IMPORTER);
	LIST_INSERT_HEAD(&mirror->jobs, job, entry);
	jobs_add(&gateway->jobs, &job->job);
}

/* ---- life ---- */

/* Its requester may not wake the gateway: it is armed before the next sleep. */
static void disarm(struct mirror *mirror)
{
	if (mirror->is_unarmed)
		return;
	mirror->is_unarmed = true;
	LIST_INSERT_HEAD(&mirror->far->gateway->unarmed, mirror, in_unarmed);
}

int mirror_create(struct far *far, int *ret_fd)
{
	struct gateway *gateway = far->gateway;
	struct mirror *mirror = calloc(1, sizeof(*mirror));
	struct sim_ring_cfg cfg = sim_inbox_ring_cfg();
	int rc = mirror ? sim_segment_create(SIM_INBOX_BYTES, &mirror->memory, ret_fd) : -ENOMEM;

	if (rc < 0) {
		free(mirror);
		return rc;
	}
	mirror->far = far;
	mirror->inbox = mirror->memory.base;
	mirror->slot = gateway->next_slot++ % SIM_DOORBELL_SLOTS;
	mirror->inbox->version = SIM_INBOX_VERSION;
	mirror->inbox->needs_no_peer = far->imported.needs_no_peer;
	mirror->inbox->access = far->imported.access;
	mirror->inbox->stream_id = far->imported.stream_id;
	mirror->inbox->doorbells = gateway->doorbell_keys[far->imported.region.function];
	mirror->inbox->slot = mirror->slot;
	mirror->inbox->is_mirror = 1;
	sim_ring_init(&mirror->in, &cfg, mirror->inbox->ring);
	LIST_INSERT_HEAD(&gateway->mirrors[mirror->slot], mirror, in_slot);
	LIST_INSERT_HEAD(&gateway->all_mirrors, mirror, in_all);
	disarm(mirror);
	far->mirror = mirror;
	return 0;
}

void mirror_destroy(struct mirror *mirror)
{
	struct requester_job *job;
	struct requester *requester;

	if (!mirror)
		return;
	LIST_FOREACH(job, &mirror->jobs, entry)
		job->mirror = NULL;
	while ((requester = LIST_FIRST(&mirror->requesters))) {
		LIST_REMOVE(requester, entry);
		release_requester(mirror->far->gateway->session, requester);
	}
	LIST_REMOVE(mirror, in_slot);
	LIST_REMOVE(mirror, in_all);
	if (mirror->is_unarmed)
		LIST_REMOVE(mirror, in_unarmed);
	sim_segment_unmap(&mirror->memory);
	free(mirror);
}

/* ---- answers ---- */

static bool may_take(const struct mirror *mirror)
{
	return mirror->num_taken - mirror->num_read < MIRROR_MAX_AHEAD && sim_ring_has_record(&mirror->in) &&
	       gateway_has_room(mirror->far->gateway, mirror->far->machine);
}

/* A message that was given up stays so. */
static void take_claim(struct mirror *mirror, uint64_t claim)
{
	uint64_t before = atomic_load(&mirror->inbox->claim);

	while (claim % 2 == 0 && before % 2 == 0 && before < claim)
		if (atomic_compare_exchange_weak(&mirror->inbox->claim, &before, claim))
			return;
}

void mirror_take_answers(struct mirror *mirror, const struct gateway_answers *answers)
{
	struct sim_inbox_shared *inbox = mirror->inbox;

	mirror->num_read = answers->num_read;
	take_claim(mirror, answers->claim);
	atomic_store(&inbox->executed, answers->executed);
	atomic_store(&inbox->not_ready, answers->not_ready);
	atomic_store(&inbox->looks, answers->looks);
	atomic_store(&inbox->failure, answers->failure);
	atomic_store(&inbox->has_left, answers->has_left);
	atomic_store(&inbox->state, answers->state);
	tell(mirror);
	if (may_take(mirror))
		sim_doorbell_requeue(&mirror->far->gateway->doorbells, mirror->slot);
}

/* ---- records ---- */

/* The number of a message that the requester has given up; 0 = none. */
static uint64_t given_up(const struct mirror *mirror)
{
	uint64_t claim = atomic_load(&mirror->inbox->claim);

	return claim % 2 ? claim / 2 + 1 : 0;
}

static bool has_news(const struct mirror *mirror)
{
	return atomic_load(&mirror->inbox->kicks) != mirror->kicks_sent || given_up(mirror) != mirror->gave_up_sent;
}

/* Take records as long as they fit. Returns the number of bytes, or -EPROTO. */
static int take_records(struct mirror *mirror, uint8_t *to)
{
	size_t len = 0;

	while (may_take(mirror) && len + GATEWAY_RECORD_HEAD_BYTES + mirror->in.max_record_bytes <= GATEWAY_MAX_DATA) {
		const void *bytes;
		size_t bytes_len;
		uint32_t kind;
		int rc = sim_ring_begin_read(&mirror->in, &kind, &bytes, &bytes_len);

		if (rc == -EAGAIN)
			break;
		if (rc < 0)
			return rc;
		len += gateway_record_write(kind, bytes, bytes_len, to + len);
		model_time_send(mirror->far->gateway, kind, to + len - bytes_len, bytes_len);
		sim_ring_end_read(&mirror->in, bytes_len);
		mirror->num_taken++;
	}
	return (int)len;
}

/* Whether the requester sends messages from now on. One that needs no connect introduces itself first, in a later turn. */
static bool is_taken(const struct mirror *mirror)
{
	return atomic_load(&mirror->inbox->taken) ==
	       (uint32_t)(mirror->inbox->needs_no_peer ? SIM_INBOX_TAKEN_BY : SIM_INBOX_TAKEN);
}

static void send_take(struct mirror *mirror)
{
	struct far *far = mirror->far;
	uint8_t body[GATEWAY_KEY_BYTES];
	struct gateway_frame frame = { .kind = GATEWAY_TAKE, .id = far->handle, .body = body };

	if (mirror->inbox->needs_no_peer) {
		gateway_key_write(&mirror->inbox->requester, body);
		frame.len_bytes = sizeof(body);
	}
	mirror->was_taken = true;
	gateway_send(far->gateway, far->machine, &frame);
}

static bool poll_mirror(struct mirror *mirror)
{
	struct far *far = mirror->far;
	uint8_t body[GATEWAY_MAX_DATA];
	struct gateway_frame frame = { .kind = GATEWAY_RECORDS, .id = far->handle, .body = body };
	int len;

	disarm(mirror);
	if (atomic_load(&mirror->inbox->has_importer) == SIM_INBOX_HAS_IMPORTER)
		look_for_requester(mirror);
	if (!mirror->was_taken && is_taken(mirror))
		send_take(mirror);
	if (!may_take(mirror) && !has_news(mirror))
		return false;
	len = take_records(mirror, body);
	if (len < 0) { /* the requester's end is its own to lose */
		atomic_store(&mirror->inbox->state, SIM_QP_ERROR);
		return false;
	}
	mirror->kicks_sent = frame.a = atomic_load(&mirror->inbox->kicks);
	mirror->gave_up_sent = frame.b = given_up(mirror);
	frame.len_bytes = (uint32_t)len;
	gateway_send(far->gateway, far->machine, &frame);
	if (sim_ring_needs_notify(&mirror->in))
		tell(mirror);
	return true;
}

/* ---- all mirrors ---- */

static bool on_tick(struct sim_engine_member *member, uint64_t *next_ns)
{
	(void)next_ns;
	jobs_wake(((struct kick_member *)member)->jobs);
	return false;
}

static int export_doorbells(struct gateway *gateway, const struct pcie_topology *topology, int fd)
{
	struct sim_region region = { .addr = (uintptr_t)gateway->doorbell_memory.base,
				     .cpu_addr = (uintptr_t)gateway->doorbell_memory.base,
				     .len_bytes = sizeof(struct sim_doorbell_shared),
				     .access = SIM_ACCESS_NET | SIM_ACCESS_INBOX };
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < topology->num_functions; i++) {
		region.function = i;
		if (topology->functions[i].caps.rdma)
			rc = sim_session_export_inbox(gateway->session, &region, fd, gateway->wake.send_fd,
						      &gateway->doorbell_keys[i]);
	}
	return rc;
}

int mirrors_open(struct gateway *gateway, const struct pcie_topology *topology)
{
	int fd, rc = sim_wake_open(&gateway->wake);

	gateway->doorbell_keys = calloc(topology->num_functions, sizeof(*gateway->doorbell_keys));
	gateway->kicks = calloc(1, sizeof(*gateway->kicks));
	if (rc < 0 || !gateway->doorbell_keys || !gateway->kicks)
		return rc < 0 ? rc : -ENOMEM;
	rc = sim_segment_create(sizeof(struct sim_doorbell_shared), &gateway->doorbell_memory, &fd);
	if (rc < 0)
		return rc;
	gateway->doorbells.shared = gateway->doorbell_memory.base;
	rc = export_doorbells(gateway, topology, fd);
	close(fd);
	*gateway->kicks = (struct kick_member){ .member = { .tick = on_tick }, .jobs = &gateway->jobs };
	if (rc == 0)
		sim_engine_add(sim_session_engine(gateway->session), &gateway->kicks->member);
	return rc;
}

bool mirrors_poll(struct gateway *gateway)
{
	uint32_t slot, count = 0;
	bool found = false;

	while (count++ < SIM_DOORBELL_SLOTS && sim_doorbell_next(&gateway->doorbells, &slot)) {
		struct mirror *mirror;

		LIST_FOREACH(mirror, &gateway->mirrors[slot], in_slot)
			found |= poll_mirror(mirror);
	}
	return found;
}

void mirrors_take_kicks(struct gateway *gateway)
{
	struct mirror *mirror;

	LIST_FOREACH(mirror, &gateway->all_mirrors, in_all)
		poll_mirror(mirror);
}

/* A mirror that is armed has got nothing since: its requester would have rung. If another program has erased that ring, the requester
 * kicks the gateway. */
bool mirrors_arm(struct gateway *gateway)
{
	struct mirror *mirror, *next;
	bool found = false;

	LIST_FOREACH_SAFE(mirror, &gateway->unarmed, in_unarmed, next) {
		sim_ring_arm(&mirror->in);
		if (poll_mirror(mirror)) {
			found = true;
			continue;
		}
		LIST_REMOVE(mirror, in_unarmed);
		mirror->is_unarmed = false;
	}
	return sim_doorbell_arm(&gateway->doorbells) || found;
}
