/* SPDX-License-Identifier: BSD-3-Clause */
/* Near memory: imports and their ends. */
#include "near.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/queue.h"
#include "sim/rdma/inbox.h"

static struct near_list *list_of(struct gateway *gateway, uint64_t handle)
{
	return &gateway->near[handle % GATEWAY_LISTS];
}

struct near *near_find(struct gateway *gateway, const struct gateway_frame *frame, uint64_t handle)
{
	struct near *near;

	LIST_FOREACH(near, list_of(gateway, handle), entry)
		if (near->handle == handle && near->machine == frame->from && !near->is_ending)
			return near;
	return NULL;
}

/* ---- imports ---- */

#define MAX_IMPORTS 1024 /* of one machine that are under way */

struct import_job {
	struct job job;
	struct gateway *gateway;
	uint64_t request;
	uint32_t machine;
	struct sim_key key;
	uint32_t function;
	int status;
	struct sim_remote *remote;
	struct near_group group;
};

/* Only what the network may reach, and of channels' memory the inboxes alone. */
static int check_import(const struct sim_remote *remote)
{
	if (!(remote->region.access & SIM_ACCESS_NET) || remote->region.access & SIM_ACCESS_CHANNEL)
		return -EACCES;
	if (remote->region.access & SIM_ACCESS_SYNC &&
	    (!remote->base || (uintptr_t)remote->base % 8 != 0 || remote->region.len_bytes < sizeof(uint64_t)))
		return -EACCES;
	if (remote->region.access & SIM_ACCESS_INBOX &&
	    (remote->region.len_bytes != SIM_INBOX_BYTES || !remote->base || (uintptr_t)remote->base % 64 != 0))
		return -EACCES;
	return 0;
}

static void run_import(struct job *base)
{
	struct import_job *job = (struct import_job *)base;
	struct sim_session *session = job->gateway->session;

	job->status = sim_session_import(session, &job->key, job->function, &job->remote, NULL);
	if (job->status < 0)
		return;
	job->status = check_import(job->remote);
	if (job->status == 0 && job->remote->region.access & SIM_ACCESS_INBOX)
		job->status = outlet_find_group(session, job->remote, job->function, &job->group);
	if (job->status < 0)
		sim_session_release(session, job->remote);
}

/* In the thread that revokes. */
static void on_revoked(void *arg)
{
	struct near *near = arg;

	if (near->outlet)
		outlet_keep_last_words(near->outlet);
	atomic_store(&near->is_revoked, true);
	jobs_wake(&near->gateway->jobs);
}

static void fill_imported(const struct near *near, struct gateway_imported *ret_imported)
{
	const struct sim_remote *remote = near->remote;

	*ret_imported = (struct gateway_imported){ .region = remote->region, .pid = remote->exporter_pid };
	memcpy(ret_imported->program, remote->program, sizeof(ret_imported->program));
	if (near->outlet && sim_remote_acquire(near->remote)) {
		const struct sim_inbox_shared *inbox = (const void *)remote->base;

		ret_imported->needs_no_peer = inbox->needs_no_peer;
		ret_imported->access = inbox->access;
		ret_imported->stream_id = inbox->stream_id;
		sim_remote_release(near->remote);
	}
}

static int add(struct import_job *job, uint8_t body[GATEWAY_IMPORTED_BYTES], uint64_t *ret_handle)
{
	struct gateway *gateway = job->gateway;
	struct near *near = calloc(1, sizeof(*near));
	struct gateway_imported imported;

	if (!near)
		return -ENOMEM;
	*near = (struct near){ .gateway = gateway,
			       .handle = ++gateway->last_handle,
			       .machine = job->machine,
			       .remote = job->remote,
			       .is_quick = sim_remote_is_direct(job->remote) };
	if (job->group.doorbells && outlet_create(near, &job->group) < 0) {
		free(near);
		return -ENOMEM;
	}
	LIST_INSERT_HEAD(list_of(gateway, near->handle), near, entry);
	port_load_find(gateway, near->remote->region.function, job->function, &near->load);
	fill_imported(near, &imported);
	gateway_imported_write(&imported, body);
	*ret_handle = near->handle;
	sim_remote_on_revoked(near->remote, on_revoked, near);
	return 0;
}

static void end_import(struct job *base)
{
	struct import_job *job = (struct import_job *)base;
	struct gateway *gateway = job->gateway;
	uint8_t body[GATEWAY_IMPORTED_BYTES];
	struct gateway_frame frame = { .kind = GATEWAY_IMPORTED, .id = job->request, .status = job->status };

	gateway->machines[job->machine].num_imports--;
	if (job->status == 0) {
		frame.status = members_has(gateway, job->machine) ? add(job, body, &frame.a) : -EHOSTUNREACH;
		if (frame.status < 0) {
			outlet_release_group(gateway->session, &job->group);
			sim_session_release(gateway->session, job->remote);
		}
	}
	if (frame.status == 0) {
		frame.body = body;
		frame.len_bytes = sizeof(body);
	}
	gateway_send(gateway, job->machine, &frame);
	free(job);
}

static int begin_import(struct gateway *gateway, const struct gateway_frame *frame)
{
	struct gateway_machine *machine = &gateway->machines[frame->from];
	struct import_job *job;

	if (!members_own(gateway, frame->from, frame->a))
		return -EPERM;
	if (machine->num_imports >= MAX_IMPORTS)
		return -EBUSY;
	job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	*job = (struct import_job){ .job = { .run = run_import, .done = end_import },
				    .gateway = gateway,
				    .request = frame->id,
				    .machine = frame->from,
				    .function = (uint32_t)frame->a,
				    .group = { .wake_fd = -1 } };
	gateway_key_read(frame->body, &job->key);
	machine->num_imports++;
	jobs_add(&gateway->jobs, &job->job);
	return 0;
}

void near_on_import(struct gateway *gateway, const struct gateway_frame *frame)
{
	struct gateway_frame refusal = { .kind = GATEWAY_IMPORTED, .id = frame->id };

	refusal.status = begin_import(gateway, frame);
	if (refusal.status < 0)
		gateway_send(gateway, frame->from, &refusal);
}

/* ---- the end ---- */

struct release_job {
	struct job job;
	struct near *near;
};

static void run_release(struct job *base)
{
	struct near *near = ((struct release_job *)base)->near;

	sim_session_release(near->gateway->session, near->remote); /* calls on_revoked() */
	if (near->outlet)
		outlet_destroy(near->outlet);
}

static void end_release(struct job *base)
{
	free(((struct release_job *)base)->near);
	free(base);
}

void near_release_if_idle(struct near *near)
{
	struct release_job *job = near->is_ending && near->num_jobs == 0 ? calloc(1, sizeof(*job)) : NULL;

	if (!job)
		return;
	LIST_REMOVE(near, entry);
	*job = (struct release_job){ .job = { .run = run_release, .done = end_release }, .near = near };
	jobs_add(&near->gateway->jobs, &job->job);
}

static void end(struct near *near)
{
	near->is_ending = true;
	if (near->outlet)
		outlet_stop(near->outlet);
	near_release_if_idle(near);
}

void near_on_release(struct gateway *gateway, const struct gateway_frame *frame)
{
	struct near *near = near_find(gateway, frame, frame->id);

	if (near)
		end(near);
}

void near_report_revoked(struct gateway *gateway)
{
	struct near *near, *next;

	for (uint32_t i = 0; i < GATEWAY_LISTS; i++)
		LIST_FOREACH_SAFE(near, &gateway->near[i], entry, next) {
			struct gateway_frame frame = { .kind = GATEWAY_REVOKED, .id = near->handle };

			if (near->is_ending || !atomic_load(&near->is_revoked))
				continue;
			if (near->outlet)
				outlet_report(near->outlet);
			gateway_send(gateway, near->machine, &frame);
			end(near);
		}
}

void near_machine_lost(struct gateway *gateway, uint32_t machine)
{
	struct near *near, *next;

	for (uint32_t i = 0; i < GATEWAY_LISTS; i++)
		LIST_FOREACH_SAFE(near, &gateway->near[i], entry, next)
			if (near->machine == machine && !near->is_ending)
				end(near);
}

void near_on_records(struct gateway *gateway, const struct gateway_frame *frame)
{
	struct near *near = near_find(gateway, frame, frame->id);

	if (near && near->outlet && frame->kind == GATEWAY_TAKE)
		outlet_take(near->outlet, frame);
	else if (near && near->outlet)
		outlet_take_records(near->outlet, frame);
}
