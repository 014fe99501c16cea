/* SPDX-License-Identifier: BSD-3-Clause */
/* Far memory: imports and requests. */
#include "far.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mirror.h"
#include "sim/base/queue.h"

/* An import that was asked for. */
struct far_import {
	uint64_t request, seq; /* of the frame, of the daemon */
	uint32_t machine;
	struct sim_key key;
	LIST_ENTRY(far_import) entry;
};

/* A request of a program that is under way. */
struct far_request {
	uint64_t number, token;
	uint32_t machine;
	uint32_t answer_bytes; /* of an answer without an error */
	LIST_ENTRY(far_request) entry;
};

static struct far_list *list_of(struct gateway *gateway, uint64_t key)
{
	return &gateway->far[key % GATEWAY_LISTS];
}

static struct far *find(struct gateway *gateway, uint64_t key)
{
	struct far *far;

	LIST_FOREACH(far, list_of(gateway, key), entry)
		if (far->key.id == key)
			return far;
	return NULL;
}

static struct far *find_by_handle(struct gateway *gateway, uint32_t machine, uint64_t handle)
{
	struct far *far;

	LIST_FOREACH(far, &gateway->far_by_handle[handle % GATEWAY_LISTS], by_handle)
		if (far->machine == machine && far->handle == handle)
			return far;
	return NULL;
}

static void release_handle(struct gateway *gateway, uint32_t machine, uint64_t handle)
{
	gateway_send(gateway, machine, &(struct gateway_frame){ .kind = GATEWAY_RELEASE, .id = handle });
}

static void free_far(struct far *far)
{
	if (far->is_exposed)
		sim_target_hide(far->gateway->target, &far->grant);
	mirror_destroy(far->mirror);
	if (far->mirror_fd >= 0)
		close(far->mirror_fd);
	LIST_REMOVE(far, entry);
	LIST_REMOVE(far, by_handle);
	free(far);
}

/* ---- imports ---- */

void far_import(struct gateway *gateway, uint64_t seq, const struct sim_key *key, uint32_t function)
{
	struct far_import *import = calloc(1, sizeof(*import));
	uint32_t machine = sim_key_machine(key->id);
	uint8_t body[GATEWAY_KEY_BYTES];
	struct gateway_frame frame = { .kind = GATEWAY_IMPORT,
				       .id = ++gateway->last_request,
				       .a = function,
				       .body = body,
				       .len_bytes = sizeof(body) };
	int rc;

	gateway_key_write(key, body);
	rc = import ? gateway_send(gateway, machine, &frame) : -ENOMEM;
	if (rc < 0) {
		daemon_link_imported(gateway, seq, rc, NULL, NULL, -1);
		free(import);
		return;
	}
	*import = (struct far_import){ .request = frame.id, .seq = seq, .machine = machine, .key = *key };
	LIST_INSERT_HEAD(&gateway->far_imports, import, entry);
}

static int add(struct gateway *gateway, const struct far_import *import, const struct gateway_frame *frame,
	       struct gateway_imported *imported, struct far **ret_far)
{
	struct far *far = calloc(1, sizeof(*far));
	int rc = 0;

	if (!far)
		return -ENOMEM;
	*far = (struct far){ .gateway = gateway,
			     .key = import->key,
			     .machine = import->machine,
			     .handle = frame->a,
			     .imported = *imported,
			     .mirror_fd = -1 };
	LIST_INSERT_HEAD(list_of(gateway, far->key.id), far, entry);
	LIST_INSERT_HEAD(&gateway->far_by_handle[far->handle % GATEWAY_LISTS], far, by_handle);
	if (imported->region.access & SIM_ACCESS_INBOX)
		rc = mirror_create(far, &far->mirror_fd);
	if (rc < 0)
		free_far(far);
	else
		*ret_far = far;
	return rc;
}

/* The daemon enters the key with these words of the memory. */
static void answer(struct gateway *gateway, const struct far_import *import, const struct gateway_frame *frame)
{
	struct gateway_imported imported = { 0 };
	const char *machine = gateway->machines[import->machine].name;
	struct far *far = find(gateway, import->key.id);
	bool is_second = far && frame->status == 0; /* two have asked at once */
	int rc = frame->status;

	if (rc == 0 && !is_second)
		rc = gateway_imported_read(frame, &imported);
	if (rc == 0 && !is_second && !members_own(gateway, import->machine, imported.region.function))
		rc = -EPROTO;
	if (rc == 0 && !is_second)
		rc = add(gateway, import, frame, &imported, &far);
	if (is_second || (rc < 0 && frame->status == 0))
		release_handle(gateway, import->machine, frame->a);
	if (rc < 0)
		daemon_link_imported(gateway, import->seq, rc, NULL, machine, -1);
	else
		daemon_link_imported(gateway, import->seq, 0, &far->imported, machine, far->mirror_fd);
}

void far_on_imported(struct gateway *gateway, const struct gateway_frame *frame)
{
	struct far_import *import;

	LIST_FOREACH(import, &gateway->far_imports, entry)
		if (import->request == frame->id && import->machine == frame->from)
			break;
	if (!import) {
		release_handle(gateway, frame->from, frame->a);
		return;
	}
	LIST_REMOVE(import, entry);
	answer(gateway, import, frame);
	free(import);
}

void far_unused(struct gateway *gateway, uint64_t key)
{
	struct far *far = find(gateway, key);

	if (!far)
		return;
	release_handle(gateway, far->machine, far->handle);
	free_far(far);
}

void far_on_revoked(struct gateway *gateway, const struct gateway_frame *frame)
{
	struct far *far = find_by_handle(gateway, frame->from, frame->id);

	if (!far)
		return;
	daemon_link_revoke(gateway, far->key.id);
	free_far(far);
}

void far_on_answers(struct gateway *gateway, const struct gateway_frame *frame)
{
	struct far *far = find_by_handle(gateway, frame->from, frame->id);
	struct gateway_answers answers;

	if (far && far->mirror && gateway_answers_read(frame, &answers) == 0)
		mirror_take_answers(far->mirror, &answers);
}

/* ---- requests ---- */

static int begin(void *arg, const struct sim_far_request *request)
{
	struct far *far = arg;
	struct gateway *gateway = far->gateway;
	struct far_request *entry = calloc(1, sizeof(*entry));
	int rc;

	if (!entry)
		return -ENOMEM;
	*entry = (struct far_request){ .number = ++gateway->last_request,
				       .token = request->token,
				       .machine = far->machine,
				       .answer_bytes = far_answer_bytes(request->kind, request->len_bytes) };
	rc = far_send(far, request->kind, request->offset, request->len_bytes, request->bytes, entry->number);
	if (rc < 0) {
		free(entry);
		return -EIO;
	}
	LIST_INSERT_HEAD(&gateway->far_requests[entry->number % GATEWAY_LISTS], entry, entry);
	return 0;
}

static void complete(struct gateway *gateway, struct far_request *request, int status, const void *bytes, size_t len)
{
	LIST_REMOVE(request, entry);
	sim_target_complete(gateway->target, request->token, status, bytes, len);
	free(request);
}

void far_on_done(struct gateway *gateway, const struct gateway_frame *frame)
{
	struct far_request *request;

	LIST_FOREACH(request, &gateway->far_requests[frame->id % GATEWAY_LISTS], entry)
		if (request->number == frame->id && request->machine == frame->from)
			break;
	if (request && frame->status == 0 && frame->len_bytes != request->answer_bytes)
		complete(gateway, request, -EIO, NULL, 0);
	else if (request)
		complete(gateway, request, frame->status, frame->body, frame->len_bytes);
}

int far_describe(struct gateway *gateway, uint64_t key, const struct sim_msg *request, struct sim_grant *ret_grant,
		 int *ret_fd)
{
	struct far *far = find(gateway, key);
	int rc = 0;

	if (!far || far->mirror)
		return -ESTALE;
	if (request->body.describe.transport != SIM_TRANSPORT_SHM)
		return -ENOSYS;
	if (!far->is_exposed)
		rc = sim_target_expose_far(gateway->target, far->imported.region.len_bytes, begin, far, &far->grant);
	if (rc < 0)
		return rc;
	far->is_exposed = true;
	*ret_grant = far->grant;
	return request->body.describe.connect ? sim_target_connect(gateway->target, SIM_TRANSPORT_SHM, ret_fd) : 0;
}

/* ---- the end of a machine ---- */

static void end_imports(struct gateway *gateway, uint32_t machine)
{
	struct far_import *import, *next;

	LIST_FOREACH_SAFE(import, &gateway->far_imports, entry, next) {
		if (import->machine != machine)
			continue;
		LIST_REMOVE(import, entry);
		daemon_link_imported(gateway, import->seq, -EHOSTUNREACH, NULL, NULL, -1);
		free(import);
	}
}

void far_machine_lost(struct gateway *gateway, uint32_t machine)
{
	struct far_request *request, *next_request;
	struct far *far, *next;

	end_imports(gateway, machine);
	for (uint32_t i = 0; i < GATEWAY_LISTS; i++) {
		LIST_FOREACH_SAFE(request, &gateway->far_requests[i], entry, next_request)
			if (request->machine == machine)
				complete(gateway, request, -EIO, NULL, 0);
		LIST_FOREACH_SAFE(far, &gateway->far[i], entry, next) {
			if (far->machine != machine)
				continue;
			daemon_link_revoke(gateway, far->key.id);
			free_far(far);
		}
	}
}
