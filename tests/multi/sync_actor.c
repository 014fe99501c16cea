/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that execute a test's commands on a sync event. */
#include "cmocka_test.h"
#include "sync_actor.h"
#include "doca_device.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_sync_event.h>

enum op {
	OP_EXPORT,
	OP_IMPORT,
	OP_GET,
	OP_SET,
	OP_ADD,
	OP_WAIT,
	OP_DROP,
};

struct request {
	enum op op;
	enum sync_memory memory;
	enum sync_use use;
	uint64_t value;
	struct sync_descriptor descriptor;
};

struct reply {
	doca_error_t result;
	uint64_t value;
	struct sync_descriptor descriptor;
};

/* ---- in the process ---- */

static struct {
	int ctl;
	struct doca_dev *dev;
	struct doca_sync_event *event;
	struct doca_ctx *ctx; /* NULL when the event is used alone */
	struct doca_pe *pe;
	doca_error_t wait_result;
	bool wait_is_over;
} self;

static void on_wait(struct doca_sync_event_task_wait_eq *task, union doca_data user_data, union doca_data ctx_data)
{
	struct doca_task *base = doca_sync_event_task_wait_eq_as_doca_task(task);

	self.wait_result = doca_task_get_status(base);
	self.wait_is_over = true;
	doca_task_free(base);
}

static void start_event(enum sync_use use)
{
	if (use == SYNC_ALONE) {
		MUST(doca_sync_event_start(self.event));
		return;
	}
	self.ctx = doca_sync_event_as_ctx(self.event);
	CHECK(self.ctx);
	MUST(doca_pe_create(&self.pe));
	MUST(doca_pe_connect_ctx(self.pe, self.ctx));
	MUST(doca_sync_event_task_wait_eq_set_conf(self.event, on_wait, on_wait, 1));
	MUST(doca_ctx_start(self.ctx));
}

static uint64_t *map_word(void)
{
	int fd = memfd_create("value", MFD_CLOEXEC);
	uint64_t *word;

	CHECK(fd >= 0 && ftruncate(fd, 4096) == 0);
	word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(word != MAP_FAILED);
	return word + 7;
}

static void do_export(const struct request *request, struct reply *reply)
{
	const uint8_t *bytes;

	MUST(doca_sync_event_create(&self.event));
	MUST(doca_sync_event_add_publisher_location_remote_pci(self.event));
	MUST(doca_sync_event_add_subscriber_location_cpu(self.event, self.dev));
	if (request->memory == SYNC_MEMFD)
		MUST(doca_sync_event_set_addr(self.event, map_word()));
	start_event(request->use);
	MUST(doca_sync_event_export_to_remote_pci(self.event, self.dev, &bytes, &reply->descriptor.len));
	CHECK(reply->descriptor.len <= SYNC_DESCRIPTOR_MAX);
	memcpy(reply->descriptor.bytes, bytes, reply->descriptor.len);
}

static doca_error_t do_import(const struct request *request)
{
	doca_error_t result = doca_sync_event_create_from_export(self.dev, request->descriptor.bytes,
								 request->descriptor.len, &self.event);

	if (result == DOCA_SUCCESS)
		start_event(request->use);
	return result;
}

static doca_error_t do_add(uint64_t count)
{
	doca_error_t result = DOCA_SUCCESS;
	uint64_t before, last = 0;

	for (uint64_t i = 0; i < count && result == DOCA_SUCCESS; i++) {
		result = doca_sync_event_update_add(self.event, 1, &before);
		CHECK(result != DOCA_SUCCESS || i == 0 || before > last); /* the value only grows */
		last = before;
	}
	return result;
}

static doca_error_t wait_event_driven(uint64_t value)
{
	struct doca_sync_event_task_wait_eq *wait;
	struct pollfd handle = { .events = POLLIN };
	union doca_data none = { 0 };

	MUST(doca_pe_get_notification_handle(self.pe, &handle.fd));
	MUST(doca_sync_event_task_wait_eq_alloc_init(self.event, value, UINT64_MAX, none, &wait));
	self.wait_is_over = false;
	MUST(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(wait)));
	while (!self.wait_is_over) {
		MUST(doca_pe_request_notification(self.pe));
		CHECK(poll(&handle, 1, PROC_DEADLINE_MS) == 1);
		MUST(doca_pe_clear_notification(self.pe, handle.fd));
		while (doca_pe_progress(self.pe))
			;
	}
	return self.wait_result;
}

static doca_error_t do_wait(uint64_t value)
{
	char about_to = 1;

	proc_send(self.ctl, &about_to, 1);
	return self.ctx ? wait_event_driven(value) : doca_sync_event_wait_eq(self.event, value, UINT64_MAX);
}

static doca_error_t do_drop(void)
{
	if (!self.ctx) {
		MUST(doca_sync_event_stop(self.event));
	} else {
		MUST(doca_ctx_stop(self.ctx)); /* idle after a failure, or without tasks */
	}
	MUST(doca_sync_event_destroy(self.event));
	if (self.pe)
		MUST(doca_pe_destroy(self.pe));
	self.event = NULL;
	self.ctx = NULL;
	self.pe = NULL;
	return DOCA_SUCCESS;
}

static void execute(const struct request *request, struct reply *reply)
{
	switch (request->op) {
	case OP_EXPORT:
		do_export(request, reply);
		break;
	case OP_IMPORT:
		reply->result = do_import(request);
		break;
	case OP_GET:
		reply->result = doca_sync_event_get(self.event, &reply->value);
		break;
	case OP_SET:
		reply->result = doca_sync_event_update_set(self.event, request->value);
		break;
	case OP_ADD:
		reply->result = do_add(request->value);
		break;
	case OP_WAIT:
		reply->result = do_wait(request->value);
		break;
	case OP_DROP:
		reply->result = do_drop();
		break;
	}
}

struct place {
	const char *dir, *side, *path;
};

static void open_device(const struct place *place)
{
	setenv("BFSIM_SESSION", place->dir, 1);
	setenv("BFSIM_SIDE", place->side, 1);
	if (place->path)
		setenv("BFSIM_PATH", place->path, 1);
	self.dev = device_open(NULL);
}

static void body(int ctl, const void *arg)
{
	char ready = 1;
	struct request request;

	self.ctl = ctl;
	open_device(arg);
	proc_send(ctl, &ready, 1);
	while (recv(ctl, &request, sizeof(request), 0) == sizeof(request)) {
		struct reply reply = { .result = DOCA_SUCCESS };

		execute(&request, &reply);
		proc_send(ctl, &reply, sizeof(reply));
	}
	MUST(doca_dev_close(self.dev)); /* refused while there is an event */
}

/* ---- in the test ---- */

void sync_actor_start(struct sync_actor *actor, const char *dir, const char *side, const char *path)
{
	struct place place = { .dir = dir, .side = side, .path = path };
	char ready;

	proc_start(&actor->proc, body, &place);
	proc_recv(actor->proc.ctl, &ready, 1);
}

static void begin(struct sync_actor *actor, struct request request)
{
	proc_send(actor->proc.ctl, &request, sizeof(request));
}

static struct reply finish(struct sync_actor *actor)
{
	struct reply reply;

	proc_recv(actor->proc.ctl, &reply, sizeof(reply));
	return reply;
}

static struct reply call(struct sync_actor *actor, struct request request)
{
	begin(actor, request);
	return finish(actor);
}

void sync_actor_export(struct sync_actor *actor, enum sync_memory memory, enum sync_use use,
		       struct sync_descriptor *ret_descriptor)
{
	*ret_descriptor = call(actor, (struct request){ .op = OP_EXPORT, .memory = memory, .use = use }).descriptor;
}

doca_error_t sync_actor_import(struct sync_actor *actor, enum sync_use use, const struct sync_descriptor *descriptor)
{
	return call(actor, (struct request){ .op = OP_IMPORT, .use = use, .descriptor = *descriptor }).result;
}

doca_error_t sync_actor_get(struct sync_actor *actor, uint64_t *ret_value)
{
	struct reply reply = call(actor, (struct request){ .op = OP_GET });

	*ret_value = reply.value;
	return reply.result;
}

doca_error_t sync_actor_set(struct sync_actor *actor, uint64_t value)
{
	return call(actor, (struct request){ .op = OP_SET, .value = value }).result;
}

void sync_actor_drop(struct sync_actor *actor)
{
	assert_ok(call(actor, (struct request){ .op = OP_DROP }).result);
}

void sync_actor_begin_add(struct sync_actor *actor, uint64_t count)
{
	begin(actor, (struct request){ .op = OP_ADD, .value = count });
}

void sync_actor_begin_wait(struct sync_actor *actor, uint64_t value)
{
	char about_to;

	begin(actor, (struct request){ .op = OP_WAIT, .value = value });
	proc_recv(actor->proc.ctl, &about_to, 1);
}

static char state_of(pid_t pid)
{
	char path[64], text[512] = "";
	const char *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	assert_non_null(file);
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	end = strrchr(text, ')');
	return end && end[1] ? end[2] : '?';
}

void sync_actor_await_sleep(struct sync_actor *actor)
{
	while (state_of(actor->proc.pid) != 'S')
		assert_false(proc_readable_within(actor->proc.ctl, 1));
}

doca_error_t sync_actor_finish(struct sync_actor *actor)
{
	return finish(actor).result;
}

void sync_actor_end(struct sync_actor *actor)
{
	proc_end(&actor->proc);
}
