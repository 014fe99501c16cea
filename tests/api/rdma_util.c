/* SPDX-License-Identifier: BSD-3-Clause */
/* The rig of tests of RDMA. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doca_error.h>

#include "../common/rest.h"
#include "cmocka_test.h"
#include "rdma_util.h"

/* The argument for a connection, which 2.5 and 2.6 do not have. */
#ifdef RDMA_OF_2_5
#define ON(connection)
#else
#define ON(connection) (connection),
#endif

static void note(struct peer *peer, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note(struct peer *peer, const char *format, ...)
{
	size_t used = strlen(peer->trace);
	va_list args;

	va_start(args, format);
	vsnprintf(peer->trace + used, sizeof(peer->trace) - used, format, args);
	va_end(args);
}

/* ---- callbacks ---- */

static void drop(const struct doca_buf *buf)
{
	if (buf)
		MUST(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)buf, NULL));
}

static void let_go(struct peer *peer, struct doca_task *task, const struct doca_buf *first,
		   const struct doca_buf *second)
{
	drop(first);
	drop(second);
	doca_task_free(task);
	peer->num_pending--;
}

static void finish(struct peer *peer, const char *what, union doca_data user_data, struct doca_task *task,
		   const struct doca_buf *first, const struct doca_buf *second)
{
	doca_error_t status = doca_task_get_status(task);

	if (status == DOCA_SUCCESS)
		note(peer, "%s %llu done\n", what, (unsigned long long)user_data.u64);
	else
		note(peer, "%s %llu failed: %s\n", what, (unsigned long long)user_data.u64,
		     doca_error_get_name(status));
	let_go(peer, task, first, second);
}

static void on_send(struct doca_rdma_task_send *task, union doca_data user_data, union doca_data ctx_user_data)
{
	finish(ctx_user_data.ptr, "send", user_data, doca_rdma_task_send_as_task(task),
	       doca_rdma_task_send_get_src_buf(task), NULL);
}

static void on_send_imm(struct doca_rdma_task_send_imm *task, union doca_data user_data, union doca_data ctx_user_data)
{
	finish(ctx_user_data.ptr, "send_imm", user_data, doca_rdma_task_send_imm_as_task(task),
	       doca_rdma_task_send_imm_get_src_buf(task), NULL);
}

static void on_read(struct doca_rdma_task_read *task, union doca_data user_data, union doca_data ctx_user_data)
{
	finish(ctx_user_data.ptr, "read", user_data, doca_rdma_task_read_as_task(task),
	       doca_rdma_task_read_get_src_buf(task), doca_rdma_task_read_get_dst_buf(task));
}

static void on_write(struct doca_rdma_task_write *task, union doca_data user_data, union doca_data ctx_user_data)
{
	finish(ctx_user_data.ptr, "write", user_data, doca_rdma_task_write_as_task(task),
	       doca_rdma_task_write_get_src_buf(task), doca_rdma_task_write_get_dst_buf(task));
}

static void on_write_imm(struct doca_rdma_task_write_imm *task, union doca_data user_data,
			 union doca_data ctx_user_data)
{
	finish(ctx_user_data.ptr, "write_imm", user_data, doca_rdma_task_write_imm_as_task(task),
	       doca_rdma_task_write_imm_get_src_buf(task), doca_rdma_task_write_imm_get_dst_buf(task));
}

static void on_cmp_swp(struct doca_rdma_task_atomic_cmp_swp *task, union doca_data user_data,
		       union doca_data ctx_user_data)
{
	finish(ctx_user_data.ptr, "cmp_swp", user_data, doca_rdma_task_atomic_cmp_swp_as_task(task),
	       doca_rdma_task_atomic_cmp_swp_get_dst_buf(task), doca_rdma_task_atomic_cmp_swp_get_result_buf(task));
}

static void on_fetch_add(struct doca_rdma_task_atomic_fetch_add *task, union doca_data user_data,
			 union doca_data ctx_user_data)
{
	finish(ctx_user_data.ptr, "fetch_add", user_data, doca_rdma_task_atomic_fetch_add_as_task(task),
	       doca_rdma_task_atomic_fetch_add_get_dst_buf(task), doca_rdma_task_atomic_fetch_add_get_result_buf(task));
}

static void on_event_get(struct doca_rdma_task_remote_net_sync_event_get *task, union doca_data user_data,
			 union doca_data ctx_user_data)
{
	finish(ctx_user_data.ptr, "event_get", user_data, doca_rdma_task_remote_net_sync_event_get_as_task(task),
	       doca_rdma_task_remote_net_sync_event_get_get_dst_buf(task), NULL);
}

static void on_event_set(struct doca_rdma_task_remote_net_sync_event_notify_set *task, union doca_data user_data,
			 union doca_data ctx_user_data)
{
	finish(ctx_user_data.ptr, "event_set", user_data, doca_rdma_task_remote_net_sync_event_notify_set_as_task(task),
	       doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(task), NULL);
}

static void on_event_add(struct doca_rdma_task_remote_net_sync_event_notify_add *task, union doca_data user_data,
			 union doca_data ctx_user_data)
{
	finish(ctx_user_data.ptr, "event_add", user_data, doca_rdma_task_remote_net_sync_event_notify_add_as_task(task),
	       doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(task), NULL);
}

static const char *const opcodes[] = { "SEND", "SEND_WITH_IMM", "WRITE_WITH_IMM" };

static void on_receive(struct doca_rdma_task_receive *task, union doca_data user_data, union doca_data ctx_user_data)
{
	struct peer *peer = ctx_user_data.ptr;
	struct doca_task *base = doca_rdma_task_receive_as_task(task);
	doca_error_t status = doca_task_get_status(base);

	if (status == DOCA_SUCCESS) {
		note(peer, "receive %llu done: %u bytes by %s\n", (unsigned long long)user_data.u64,
		     doca_rdma_task_receive_get_result_len(task),
		     opcodes[doca_rdma_task_receive_get_result_opcode(task)]);
#ifndef RDMA_OF_2_5
		peer->last_connection = doca_rdma_task_receive_get_result_rdma_connection(task);
#endif
		peer->last_immediate = doca_rdma_task_receive_get_result_immediate_data(task);
	} else {
		note(peer, "receive %llu failed: %s\n", (unsigned long long)user_data.u64, doca_error_get_name(status));
	}
	let_go(peer, base, doca_rdma_task_receive_get_dst_buf(task), NULL);
	if (peer->on_received)
		peer->on_received(peer);
}

/* ---- life ---- */

static struct doca_dev *open_dev(uint32_t index)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t count;

	MUST(doca_devinfo_create_list(&list, &count));
	if (index >= count)
		abort();
	MUST(doca_dev_open(list[index], &dev));
	MUST(doca_devinfo_destroy_list(list));
	return dev;
}

static void configure(struct peer *peer, uint32_t access)
{
	MUST(doca_rdma_set_permissions(peer->rdma, access));
#ifndef RDMA_OF_2_5
	MUST(doca_rdma_set_max_num_connections(peer->rdma, PEER_CONNECTIONS));
#endif
	MUST(doca_rdma_set_max_send_buf_list_len(peer->rdma, 4));
	MUST(doca_rdma_task_receive_set_dst_buf_list_len(peer->rdma, 4));
	MUST(doca_rdma_task_receive_set_conf(peer->rdma, on_receive, on_receive, PEER_TASKS));
	MUST(doca_rdma_task_send_set_conf(peer->rdma, on_send, on_send, PEER_TASKS));
	MUST(doca_rdma_task_send_imm_set_conf(peer->rdma, on_send_imm, on_send_imm, PEER_TASKS));
	MUST(doca_rdma_task_read_set_conf(peer->rdma, on_read, on_read, PEER_TASKS));
	MUST(doca_rdma_task_write_set_conf(peer->rdma, on_write, on_write, PEER_TASKS));
	MUST(doca_rdma_task_write_imm_set_conf(peer->rdma, on_write_imm, on_write_imm, PEER_TASKS));
	MUST(doca_rdma_task_atomic_cmp_swp_set_conf(peer->rdma, on_cmp_swp, on_cmp_swp, PEER_TASKS));
	MUST(doca_rdma_task_atomic_fetch_add_set_conf(peer->rdma, on_fetch_add, on_fetch_add, PEER_TASKS));
	MUST(doca_rdma_task_remote_net_sync_event_get_set_conf(peer->rdma, on_event_get, on_event_get, PEER_TASKS));
	MUST(doca_rdma_task_remote_net_sync_event_notify_set_set_conf(peer->rdma, on_event_set, on_event_set,
								      PEER_TASKS));
	MUST(doca_rdma_task_remote_net_sync_event_notify_add_set_conf(peer->rdma, on_event_add, on_event_add,
								      PEER_TASKS));
}

struct peer *peer_open(uint32_t device, uint32_t access)
{
	return peer_open_with(device, access, access);
}

struct peer *peer_open_with(uint32_t device, uint32_t access, uint32_t map_access)
{
	struct peer *peer = calloc(1, sizeof(*peer));

	peer->dev = open_dev(device);
	peer->arena = aligned_alloc(4096, PEER_ARENA_BYTES);
	memset(peer->arena, 0, PEER_ARENA_BYTES);
	MUST(doca_mmap_create(&peer->mmap));
	MUST(doca_mmap_add_dev(peer->mmap, peer->dev));
	MUST(doca_mmap_set_memrange(peer->mmap, peer->arena, PEER_ARENA_BYTES));
	MUST(doca_mmap_set_permissions(peer->mmap, map_access));
	MUST(doca_mmap_start(peer->mmap));
	MUST(doca_buf_inventory_create(256, &peer->inventory));
	MUST(doca_buf_inventory_start(peer->inventory));
	MUST(doca_pe_create(&peer->pe));
	MUST(doca_rdma_create(peer->dev, &peer->rdma));
	peer->ctx = doca_rdma_as_ctx(peer->rdma);
	MUST(doca_ctx_set_user_data(peer->ctx, (union doca_data){ .ptr = peer }));
	MUST(doca_pe_connect_ctx(peer->pe, peer->ctx));
	configure(peer, access);
	return peer;
}

void peer_start(struct peer *peer)
{
	doca_error_t result = doca_ctx_start(peer->ctx);

#ifdef RDMA_OF_2_5
	if (result == DOCA_ERROR_IN_PROGRESS)
		return;
#endif
	MUST(result);
}

void peer_share_event(struct peer *owner, struct peer *peer)
{
	const uint8_t *descriptor;
	size_t len;

	MUST(doca_sync_event_create(&owner->event));
	MUST(doca_sync_event_add_publisher_location_cpu(owner->event, owner->dev));
	MUST(doca_sync_event_add_publisher_location_remote_net(owner->event));
	MUST(doca_sync_event_add_subscriber_location_cpu(owner->event, owner->dev));
	MUST(doca_sync_event_start(owner->event));
	MUST(doca_sync_event_export_to_remote_net(owner->event, &descriptor, &len));
	for (int i = 0; i < 2; i++)
		MUST(doca_sync_event_remote_net_create_from_export(peer->dev, descriptor, len, &peer->events[i]));
}

static void close_events(struct peer *peer)
{
	for (int i = 0; i < 2; i++)
		if (peer->events[i])
			MUST(doca_sync_event_remote_net_destroy(peer->events[i]));
	if (!peer->event)
		return;
	MUST(doca_sync_event_stop(peer->event));
	MUST(doca_sync_event_destroy(peer->event));
}

void peer_stop(struct peer *peer)
{
	enum doca_ctx_states state;

	MUST(doca_ctx_get_state(peer->ctx, &state));
	if (state == DOCA_CTX_STATE_RUNNING || state == DOCA_CTX_STATE_STARTING)
		(void)!doca_ctx_stop(peer->ctx);
	while (state != DOCA_CTX_STATE_IDLE) {
		doca_pe_progress(peer->pe);
		MUST(doca_ctx_get_state(peer->ctx, &state));
	}
}

void peer_close(struct peer *peer)
{
	peer_stop(peer);
	close_events(peer);
	if (peer->remote)
		MUST(doca_mmap_destroy(peer->remote));
	MUST(doca_rdma_destroy(peer->rdma));
	MUST(doca_pe_destroy(peer->pe));
	MUST(doca_buf_inventory_destroy(peer->inventory));
	MUST(doca_mmap_destroy(peer->mmap));
	MUST(doca_dev_close(peer->dev));
	free(peer->arena);
	free(peer);
}

static void import_memory(struct peer *peer, struct peer *of)
{
	const void *descriptor;
	size_t len;

	MUST(doca_mmap_export_rdma(of->mmap, of->dev, &descriptor, &len));
	MUST(doca_mmap_create_from_export(NULL, descriptor, len, peer->dev, &peer->remote));
}

#ifdef RDMA_OF_2_5
static void export_and_connect(struct peer *peers[2])
{
	const void *details[2];
	size_t lens[2];

	for (int i = 0; i < 2; i++)
		MUST(doca_rdma_export(peers[i]->rdma, &details[i], &lens[i]));
	for (int i = 0; i < 2; i++) {
		MUST(doca_rdma_connect(peers[i]->rdma, details[!i], lens[!i]));
		peers[i]->num_connections++;
		while (doca_pe_progress(peers[i]->pe))
			; /* until it runs */
	}
}
#else
static void export_and_connect(struct peer *peers[2])
{
	const void *details[2];
	size_t lens[2];

	for (int i = 0; i < 2; i++)
		MUST(doca_rdma_export(peers[i]->rdma, &details[i], &lens[i],
				      &peers[i]->connections[peers[i]->num_connections]));
	for (int i = 0; i < 2; i++) {
		MUST(doca_rdma_connect(peers[i]->rdma, details[!i], lens[!i],
				       peers[i]->connections[peers[i]->num_connections]));
		peers[i]->num_connections++;
	}
}
#endif

void peers_import(struct peer *a, struct peer *b)
{
	if (!a->remote)
		import_memory(a, b);
	if (!b->remote)
		import_memory(b, a);
}

void peers_connect(struct peer *a, struct peer *b)
{
	export_and_connect((struct peer *[]){ a, b });
	peers_import(a, b);
}

/* ---- buffers ---- */

struct doca_buf *peer_buf(struct peer *peer, size_t offset, size_t len, size_t data_len)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_args(peer->inventory, peer->mmap, peer->arena + offset, len,
						peer->arena + offset, data_len, &buf));
	return buf;
}

struct doca_buf *peer_remote_buf(struct peer *peer, const struct peer *of, size_t offset, size_t len, size_t data_len)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_args(peer->inventory, peer->remote, of->arena + offset, len,
						of->arena + offset, data_len, &buf));
	return buf;
}

/* ---- tasks ---- */

static void submit(struct peer *peer, const char *what, uint64_t number, struct doca_task *task,
		   const struct doca_buf *first, const struct doca_buf *second)
{
	doca_error_t result = doca_task_submit(task);

	peer->num_pending++;
	if (result == DOCA_SUCCESS)
		return;
	if (!peer->may_be_refused)
		MUST(result);
	note(peer, "%s %llu refused\n", what, (unsigned long long)number);
	let_go(peer, task, first, second);
}

void peer_receive(struct peer *peer, uint64_t number, struct doca_buf *dst)
{
	struct doca_rdma_task_receive *task;

	MUST(doca_rdma_task_receive_allocate_init(peer->rdma, dst, (union doca_data){ .u64 = number }, &task));
	submit(peer, "receive", number, doca_rdma_task_receive_as_task(task), dst, NULL);
}

void peer_send_on(struct peer *peer, struct doca_rdma_connection *connection, uint64_t number, struct doca_buf *src)
{
	struct doca_rdma_task_send *task;

	MUST(doca_rdma_task_send_allocate_init(peer->rdma, ON(connection) src, (union doca_data){ .u64 = number },
					       &task));
	submit(peer, "send", number, doca_rdma_task_send_as_task(task), src, NULL);
}

void peer_send(struct peer *peer, uint64_t number, struct doca_buf *src)
{
	peer_send_on(peer, peer->connections[0], number, src);
}

void peer_send_imm(struct peer *peer, uint64_t number, struct doca_buf *src, uint32_t immediate)
{
	struct doca_rdma_task_send_imm *task;

	MUST(doca_rdma_task_send_imm_allocate_init(peer->rdma, ON(peer->connections[0]) src, immediate,
						   (union doca_data){ .u64 = number }, &task));
	submit(peer, "send_imm", number, doca_rdma_task_send_imm_as_task(task), src, NULL);
}

void peer_read(struct peer *peer, uint64_t number, struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_rdma_task_read *task;

	MUST(doca_rdma_task_read_allocate_init(peer->rdma, ON(peer->connections[0]) src, dst,
					       (union doca_data){ .u64 = number }, &task));
	submit(peer, "read", number, doca_rdma_task_read_as_task(task), src, dst);
}

void peer_write(struct peer *peer, uint64_t number, struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_rdma_task_write *task;

	MUST(doca_rdma_task_write_allocate_init(peer->rdma, ON(peer->connections[0]) src, dst,
						(union doca_data){ .u64 = number }, &task));
	submit(peer, "write", number, doca_rdma_task_write_as_task(task), src, dst);
}

void peer_write_imm(struct peer *peer, uint64_t number, struct doca_buf *src, struct doca_buf *dst, uint32_t immediate)
{
	struct doca_rdma_task_write_imm *task;

	MUST(doca_rdma_task_write_imm_allocate_init(peer->rdma, ON(peer->connections[0]) src, dst, immediate,
						    (union doca_data){ .u64 = number }, &task));
	submit(peer, "write_imm", number, doca_rdma_task_write_imm_as_task(task), src, dst);
}

void peer_cmp_swp(struct peer *peer, uint64_t number, struct doca_buf *dst, struct doca_buf *result, uint64_t compare,
		  uint64_t swap)
{
	struct doca_rdma_task_atomic_cmp_swp *task;

	MUST(doca_rdma_task_atomic_cmp_swp_allocate_init(peer->rdma, ON(peer->connections[0]) dst, result, compare,
							 swap, (union doca_data){ .u64 = number }, &task));
	submit(peer, "cmp_swp", number, doca_rdma_task_atomic_cmp_swp_as_task(task), dst, result);
}

void peer_fetch_add(struct peer *peer, uint64_t number, struct doca_buf *dst, struct doca_buf *result, uint64_t add)
{
	struct doca_rdma_task_atomic_fetch_add *task;

	MUST(doca_rdma_task_atomic_fetch_add_allocate_init(peer->rdma, ON(peer->connections[0]) dst, result, add,
							   (union doca_data){ .u64 = number }, &task));
	submit(peer, "fetch_add", number, doca_rdma_task_atomic_fetch_add_as_task(task), dst, result);
}

void peer_event_get(struct peer *peer, uint64_t number, struct doca_buf *dst)
{
	struct doca_rdma_task_remote_net_sync_event_get *task;

	MUST(doca_rdma_task_remote_net_sync_event_get_allocate_init(
		peer->rdma, ON(peer->connections[0]) peer->events[0], dst, (union doca_data){ .u64 = number }, &task));
	submit(peer, "event_get", number, doca_rdma_task_remote_net_sync_event_get_as_task(task), dst, NULL);
}

void peer_event_set(struct peer *peer, uint64_t number, struct doca_buf *src)
{
	struct doca_rdma_task_remote_net_sync_event_notify_set *task;

	MUST(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
		peer->rdma, ON(peer->connections[0]) peer->events[0], src, (union doca_data){ .u64 = number }, &task));
	submit(peer, "event_set", number, doca_rdma_task_remote_net_sync_event_notify_set_as_task(task), src, NULL);
}

void peer_event_add(struct peer *peer, uint64_t number, struct doca_buf *result, uint64_t add)
{
	struct doca_rdma_task_remote_net_sync_event_notify_add *task;

	MUST(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
		peer->rdma, ON(peer->connections[0]) peer->events[0], result, add, (union doca_data){ .u64 = number },
		&task));
	submit(peer, "event_add", number, doca_rdma_task_remote_net_sync_event_notify_add_as_task(task), result, NULL);
}

/* ---- progress ---- */

void peer_progress(struct peer *peer)
{
	doca_pe_progress(peer->pe);
}

void peers_progress(struct peer *a, struct peer *b)
{
	bool found = doca_pe_progress(a->pe) > 0;

	if (b)
		found |= doca_pe_progress(b->pe) > 0;
	if (!found)
		rest_between_polls();
}

void peers_drain(struct peer *a, struct peer *b, uint32_t but_for)
{
	time_t end = time(NULL) + PEER_DEADLINE_S;

	while (a->num_pending > 0 || (b && b->num_pending > but_for)) {
		doca_pe_progress(a->pe);
		if (b)
			doca_pe_progress(b->pe);
		if (time(NULL) > end)
			abort();
	}
}
