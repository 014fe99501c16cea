/* SPDX-License-Identifier: BSD-3-Clause */
/* A sync event: life, configuration, operations of its context. */
#include <assert.h>

#include "shim/common/base/check.h"
#include "shim/common/dpa/dpa.h"
#include "sync_event_priv.h"

#define EVENT_BYTES sizeof(uint64_t)

/* Permissions that a memory map needs to hold a value. */
#define BUF_ACCESS                                                                                      \
	(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | \
	 DOCA_ACCESS_FLAG_RDMA_ATOMIC)

/* Return from the public function unless the event can be configured now. */
#define NEED_CONFIGURABLE(event)                                                                                \
	do {                                                                                                    \
		SHIM_NEED((event), SHIM_SYNC_EVENT);                                                            \
		if ((event)->remote)                                                                            \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,                                                \
					   "the event was created from an export; its exporter configures it"); \
		if (shim_sync_event_is_started(event))                                                          \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the event is started; stop it first");        \
	} while (0)

/* ---- states ---- */

static const bool edges[SHIM_SYNC_EVENT_NUM_STATES][SHIM_SYNC_EVENT_NUM_STATES] = {
	/* [from][to] */
	[SHIM_SYNC_EVENT_NEW] = { [SHIM_SYNC_EVENT_STARTED] = true, [SHIM_SYNC_EVENT_CONTEXT] = true },
	[SHIM_SYNC_EVENT_STARTED] = { [SHIM_SYNC_EVENT_STOPPED] = true },
	[SHIM_SYNC_EVENT_STOPPED] = { [SHIM_SYNC_EVENT_STARTED] = true },
};

/* The one function that writes an event's state. */
static void set_state(struct doca_sync_event *event, enum shim_sync_event_state to)
{
	assert(edges[event->state][to]);
	event->state = to;
}

/* ---- configuration ---- */

/* Only the first device of a role counts: it names the card. */
void shim_sync_role_add(struct shim_sync_role *role, enum shim_sync_location location, struct doca_dev *dev)
{
	role->locations |= location;
	if (role->dev)
		return;
	shim_dev_hold(dev);
	role->dev = dev;
}

doca_error_t doca_sync_event_add_publisher_location_cpu(struct doca_sync_event *event, struct doca_dev *dev)
{
	NEED_CONFIGURABLE(event);
	SHIM_NEED(dev, SHIM_DEV);
	shim_sync_role_add(&event->publisher, SHIM_SYNC_LOCATION_CPU, dev);
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_add_subscriber_location_cpu(struct doca_sync_event *event, struct doca_dev *dev)
{
	NEED_CONFIGURABLE(event);
	SHIM_NEED(dev, SHIM_DEV);
	shim_sync_role_add(&event->subscriber, SHIM_SYNC_LOCATION_CPU, dev);
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_add_publisher_location_remote_pci(struct doca_sync_event *event)
{
	NEED_CONFIGURABLE(event);
	event->publisher.locations |= SHIM_SYNC_LOCATION_REMOTE_PCI;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_add_subscriber_location_remote_pci(struct doca_sync_event *event)
{
	NEED_CONFIGURABLE(event);
	event->subscriber.locations |= SHIM_SYNC_LOCATION_REMOTE_PCI;
	return DOCA_SUCCESS;
}

static void release_buf(struct doca_sync_event *event)
{
	if (event->buf)
		doca_buf_dec_refcount(event->buf, NULL);
	event->buf = NULL;
}

doca_error_t doca_sync_event_set_addr(struct doca_sync_event *event, uint64_t *addr)
{
	const char *problem;

	NEED_CONFIGURABLE(event);
	SHIM_NEED_OUT(addr);
	if ((uintptr_t)addr % EVENT_BYTES != 0)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%p is no multiple of 8", (void *)addr);
	problem = shim_range_probe(addr, EVENT_BYTES, NULL, NULL);
	if (problem)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "the memory at %p is %s in this process", (void *)addr,
				   problem);
	release_buf(event);
	event->addr = addr;
	return DOCA_SUCCESS;
}

/* Return whether @buf can hold a value; then *ret_word is the value's address. */
static doca_error_t check_buf(const char *func, const struct doca_buf *buf, uint64_t **ret_word)
{
	if (buf->is_inner || buf->next || buf->data_len != EVENT_BYTES) {
		sim_err("%s: the buffer is part of a list, or its data segment has %zu bytes; the value takes one buffer with 8",
			func, buf->data_len);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (!shim_buf_has_usable_mmap(buf)) {
		sim_err("%s: the buffer's memory map was stopped or destroyed", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!shim_buf_has_data_in_map(buf)) {
		sim_err("%s: the buffer's data is outside of its memory map's range (doca_buf_set_data)", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if ((buf->mmap->access & BUF_ACCESS) != BUF_ACCESS) {
		sim_err("%s: the buffer's memory map permits %#x of the %#x that the value needs: local read and write, RDMA read, write and atomic (doca_mmap_set_permissions)",
			func, buf->mmap->access & BUF_ACCESS, BUF_ACCESS);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	*ret_word = (uint64_t *)(uintptr_t)shim_buf_cpu_addr(buf, buf->data);
	if ((uintptr_t)*ret_word % EVENT_BYTES == 0)
		return DOCA_SUCCESS;
	sim_err("%s: the buffer's data begins at %p, which is no multiple of 8", func, (void *)*ret_word);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_sync_event_set_doca_buf(struct doca_sync_event *event, struct doca_buf *buf)
{
	doca_error_t result;
	uint64_t *word;

	NEED_CONFIGURABLE(event);
	SHIM_NEED(buf, SHIM_BUF);
	result = check_buf(__func__, buf, &word);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inc_refcount(buf, NULL);
	if (result != DOCA_SUCCESS)
		return result;
	release_buf(event);
	event->addr = NULL;
	event->buf = buf;
	return DOCA_SUCCESS;
}

/* ---- start and stop ---- */

static doca_error_t open_own_memory(const char *func, struct doca_sync_event *event)
{
	int rc = shim_sync_value_open_own(&event->value);

	if (rc == 0)
		return DOCA_SUCCESS;
	sim_err("%s: no memory for the value (error %d): a started event takes a page and a file descriptor", func,
		-rc);
	return DOCA_ERROR_NO_MEMORY;
}

static uint64_t find_update_ns(const struct doca_sync_event *event)
{
	const struct doca_dev *dev = event->publisher.dev ? event->publisher.dev :
				     event->import_dev    ? event->import_dev :
							    event->subscriber.dev;

	return sim_clock_ns(shim_dev_timing(dev).sync_event_ps);
}

static doca_error_t open_value(const char *func, struct doca_sync_event *event)
{
	doca_error_t result;
	uint64_t *word;

	event->update_ns = find_update_ns(event);
	if (event->alias_of) {
		shim_sync_value_open_alias(&event->value, &event->alias_of->value);
		return DOCA_SUCCESS;
	}
	if (event->remote) {
		shim_sync_value_open_imported(&event->value, event->remote);
		return DOCA_SUCCESS;
	}
	if (!event->publisher.locations || !event->subscriber.locations) {
		sim_err("%s: no %s is set; see doca_sync_event_add_publisher_location_cpu(), doca_sync_event_add_subscriber_location_cpu() and other places",
			func, event->publisher.locations ? "subscriber" : "publisher");
		return DOCA_ERROR_BAD_STATE;
	}
	if (!event->addr && !event->buf)
		return open_own_memory(func, event);
	word = event->addr;
	result = event->buf ? check_buf(func, event->buf, &word) : DOCA_SUCCESS;
	if (result == DOCA_SUCCESS)
		shim_sync_value_open_user(&event->value, word);
	return result;
}

/* Revoke the exports first: importers may have mapped the value's memory. */
static void close_value(struct doca_sync_event *event)
{
	if (event->has_dpa_handle)
		shim_dpa_withdraw(SIM_DPA_EVENT, event);
	event->has_dpa_handle = false;
	shim_exports_revoke(&event->exports, event->session);
	if (shim_ctx_is_same_process(&event->ctx))
		shim_sync_value_close(&event->value);
	else
		shim_sync_value_abandon(&event->value);
}

doca_error_t doca_sync_event_start(struct doca_sync_event *event)
{
	doca_error_t result;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	if (!edges[event->state][SHIM_SYNC_EVENT_STARTED])
		return SHIM_REFUSE(
			DOCA_ERROR_BAD_STATE, "%s",
			event->state == SHIM_SYNC_EVENT_CONTEXT ?
				"the event is a context since doca_sync_event_as_ctx(); see doca_ctx_start()" :
				"the event is started already");
	result = shim_sync_event_check(__func__, event);
	if (result == DOCA_SUCCESS)
		result = open_value(__func__, event);
	if (result == DOCA_SUCCESS)
		set_state(event, SHIM_SYNC_EVENT_STARTED);
	return result;
}

doca_error_t doca_sync_event_stop(struct doca_sync_event *event)
{
	SHIM_NEED(event, SHIM_SYNC_EVENT);
	if (event->state == SHIM_SYNC_EVENT_CONTEXT)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the event is a context; see doca_ctx_stop()");
	if (event->state != SHIM_SYNC_EVENT_STARTED)
		return DOCA_SUCCESS;
	close_value(event);
	set_state(event, SHIM_SYNC_EVENT_STOPPED);
	return DOCA_SUCCESS;
}

/* ---- as a context ---- */

static doca_error_t sync_event_start(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = (struct doca_sync_event *)ctx;
	doca_error_t result;

	if (event->state != SHIM_SYNC_EVENT_CONTEXT) {
		sim_err("doca_ctx_start: the sync event is no context; see doca_sync_event_as_ctx()");
		return DOCA_ERROR_BAD_STATE;
	}
	result = open_value("doca_ctx_start", event);
	if (result != DOCA_SUCCESS)
		return result;
	result = shim_sync_event_make_pools(event);
	if (result != DOCA_SUCCESS)
		close_value(event);
	return result;
}

static void sync_event_stopped(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = (struct doca_sync_event *)ctx;

	shim_sync_event_reset_tasks(event);
	close_value(event);
}

static const struct shim_ctx_ops sync_event_ops = {
	.name = "sync_event",
	.hears_sync = true,
	.start = sync_event_start,
	.may_stop = shim_ctx_may_stop_always,
	.begin_stop = shim_sync_event_begin_stop,
	.progress = shim_sync_event_progress,
	.arm = shim_sync_event_arm,
	.is_drained = shim_ctx_is_drained_always, /* waiting tasks count as allocated */
	.stopped = sync_event_stopped,
};

struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event)
{
	if (!shim_handle_is(event, SHIM_SYNC_EVENT))
		return NULL;
	if (event->state == SHIM_SYNC_EVENT_CONTEXT)
		return &event->ctx;
	if (!edges[event->state][SHIM_SYNC_EVENT_CONTEXT]) {
		sim_err("%s: the event is used on its own since doca_sync_event_start()", __func__);
		return NULL;
	}
	set_state(event, SHIM_SYNC_EVENT_CONTEXT);
	return &event->ctx;
}

/* ---- life ---- */

doca_error_t doca_sync_event_create(struct doca_sync_event **event)
{
	struct doca_sync_event *created;

	SHIM_NEED_OUT(event);
	created = shim_object_new(SHIM_SYNC_EVENT, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	shim_ctx_init(&created->ctx, &sync_event_ops, NULL); /* no device: each location has one */
	*event = created;
	return DOCA_SUCCESS;
}

static void release_dev(struct doca_dev *dev)
{
	if (dev)
		shim_dev_release(dev);
}

static void release_import(struct doca_sync_event *event)
{
	if (event->remote)
		shim_import_release(event->remote, event->session);
	release_dev(event->import_dev);
}

doca_error_t doca_sync_event_destroy(struct doca_sync_event *event)
{
	doca_error_t result;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	result = shim_ctx_fini(&event->ctx);
	if (result != DOCA_SUCCESS)
		return result;
	close_value(event); /* public samples destroy a started event */
	release_import(event);
	release_buf(event);
	release_dev(event->publisher.dev);
	release_dev(event->subscriber.dev);
	shim_object_free(event, SHIM_SYNC_EVENT);
	return DOCA_SUCCESS;
}
