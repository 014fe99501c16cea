/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA ends of the benchmarks. */
#include "rdma.h"

#include <doca_error.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "dma.h"
#include "measure.h"
#include "memory.h"

#define PORT 4791

static int fail(const char *what, doca_error_t result)
{
	return bench_fail("%s: %s", what, doca_error_get_name(result));
}

/* ---- callbacks ---- */

/* An echo's block can take the next message. */
static void on_sent(struct doca_rdma_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct bench_rdma *end = ctx_data.ptr;

	end->sent++;
	if (end->cfg->echoes && bench_rdma_receive(end, (uint32_t)task_data.u64) < 0)
		end->failed++;
}

static void on_received(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data ctx_data)
{
	struct bench_rdma *end = ctx_data.ptr;

	end->received++;
	if (end->cfg->echoes && bench_rdma_send_on(end, doca_rdma_task_receive_get_result_rdma_connection(task),
						   (uint32_t)task_data.u64) < 0)
		end->failed++;
}

static void on_written(struct doca_rdma_task_write *task, union doca_data task_data, union doca_data ctx_data)
{
	((struct bench_rdma *)ctx_data.ptr)->written++;
}

static void on_send_failed(struct doca_rdma_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	((struct bench_rdma *)ctx_data.ptr)->failed++;
	on_sent(task, task_data, ctx_data);
}

/* A stop ends the receives that are left. */
static void on_receive_failed(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data ctx_data)
{
}

static void on_write_failed(struct doca_rdma_task_write *task, union doca_data task_data, union doca_data ctx_data)
{
	((struct bench_rdma *)ctx_data.ptr)->failed++;
	on_written(task, task_data, ctx_data);
}

static void on_request(struct doca_rdma_connection *connection, union doca_data ctx_data)
{
	if (doca_rdma_connection_accept(connection, NULL, 0) != DOCA_SUCCESS)
		((struct bench_rdma *)ctx_data.ptr)->failed++;
}

static void on_established(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	struct bench_rdma *end = ctx_data.ptr;

	end->connection = connection;
	end->established++;
}

static void on_failure(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	((struct bench_rdma *)ctx_data.ptr)->failed++;
}

static void on_disconnected(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	((struct bench_rdma *)ctx_data.ptr)->established--;
}

/* ---- life ---- */

static size_t len_of(const struct bench_rdma_cfg *cfg)
{
	return (size_t)cfg->block_bytes * cfg->num_blocks;
}

static int open_memory(struct bench_rdma *end, bool is_target)
{
	const struct bench_rdma_cfg *cfg = end->cfg;
	bool is_shared = is_target && cfg->memfd >= 0;
	doca_error_t result;

	end->memory = is_shared ? bench_memory_map(cfg->memfd, len_of(cfg)) : bench_memory_new(len_of(cfg));
	if (!end->memory)
		return -1;
	result = doca_mmap_create(&end->mmap);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(end->mmap, end->dev);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_memrange(end->mmap, end->memory, len_of(cfg));
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_permissions(end->mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE |
								      DOCA_ACCESS_FLAG_RDMA_WRITE |
								      DOCA_ACCESS_FLAG_RDMA_READ);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_start(end->mmap);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_create(3 * cfg->num_blocks, &end->inventory);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_start(end->inventory);
	return result == DOCA_SUCCESS ? 0 : fail("memory", result);
}

static doca_error_t configure(struct bench_rdma *end)
{
	uint32_t count = end->cfg->num_blocks;
	doca_error_t result;

	result = doca_rdma_set_permissions(end->rdma, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE |
							      DOCA_ACCESS_FLAG_RDMA_READ);
	if (result == DOCA_SUCCESS && end->cfg->max_connections)
		result = doca_rdma_set_max_num_connections(end->rdma, end->cfg->max_connections);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_set_connection_state_callbacks(end->rdma, on_request, on_established, on_failure,
								  on_disconnected);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_task_receive_set_conf(end->rdma, on_received, on_receive_failed, count);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_task_send_set_conf(end->rdma, on_sent, on_send_failed, count);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_task_write_set_conf(end->rdma, on_written, on_write_failed, count);
	return result;
}

static int open_context(struct bench_rdma *end)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = -1 };
	doca_error_t result = doca_pe_create(&end->pe);

	if (result == DOCA_SUCCESS)
		result = doca_rdma_create(end->dev, &end->rdma);
	if (result != DOCA_SUCCESS)
		return fail("an RDMA context", result);
	end->ctx = doca_rdma_as_ctx(end->rdma);
	result = configure(end);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(end->ctx, (union doca_data){ .ptr = end });
	if (result == DOCA_SUCCESS)
		result = doca_pe_connect_ctx(end->pe, end->ctx);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(end->ctx);
	if (result == DOCA_SUCCESS)
		result = doca_pe_get_notification_handle(end->pe, &end->handle);
	if (result != DOCA_SUCCESS)
		return fail("an RDMA context", result);
	end->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return epoll_ctl(end->epoll_fd, EPOLL_CTL_ADD, end->handle, &event) == 0 ? 0 : bench_fail("no epoll");
}

int bench_rdma_open(const struct bench_rdma_cfg *cfg, const char *side, struct bench_rdma *ret_end)
{
	bool is_host = strcmp(side, "host") == 0;

	*ret_end = (struct bench_rdma){ .cfg = cfg, .epoll_fd = -1 };
	bench_card_enter(cfg->card, side, cfg->path);
	if (bench_dev_open(is_host ? BENCH_HOST_PCI : BENCH_DPU_PCI, &ret_end->dev) < 0)
		return -1;
	return open_memory(ret_end, is_host) < 0 ? -1 : open_context(ret_end);
}

static void free_tasks(struct doca_task **tasks, uint32_t count)
{
	for (uint32_t i = 0; tasks && i < count; i++)
		if (tasks[i])
			doca_task_free(tasks[i]);
	free(tasks);
}

static void free_bufs(struct doca_buf **bufs, uint32_t count)
{
	for (uint32_t i = 0; bufs && i < count; i++)
		if (bufs[i])
			doca_buf_dec_refcount(bufs[i], NULL);
	free(bufs);
}

/* The context becomes idle once its tasks are done and freed. */
static doca_error_t stop(struct bench_rdma *end)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;
	size_t num_tasks = 0;

	if (end->ctx)
		(void)!doca_ctx_stop(end->ctx);
	while (end->ctx && doca_ctx_get_num_inflight_tasks(end->ctx, &num_tasks) == DOCA_SUCCESS && num_tasks > 0)
		doca_pe_progress(end->pe);
	free_tasks(end->sends, end->cfg->num_blocks);
	free_tasks(end->receives, end->cfg->num_blocks);
	free_tasks(end->writes, end->cfg->num_blocks);
	while (end->ctx && doca_ctx_get_state(end->ctx, &state) == DOCA_SUCCESS && state != DOCA_CTX_STATE_IDLE)
		doca_pe_progress(end->pe);
	return end->rdma ? doca_rdma_destroy(end->rdma) : DOCA_SUCCESS;
}

int bench_rdma_close(struct bench_rdma *end)
{
	doca_error_t result = stop(end);

	if (result == DOCA_SUCCESS && end->pe)
		result = doca_pe_destroy(end->pe);
	free_bufs(end->local, end->cfg->num_blocks);
	free_bufs(end->rooms, end->cfg->num_blocks);
	free_bufs(end->remotes, end->cfg->num_blocks);
	if (result == DOCA_SUCCESS && end->inventory)
		result = doca_buf_inventory_destroy(end->inventory);
	if (result == DOCA_SUCCESS && end->remote)
		result = doca_mmap_destroy(end->remote);
	if (result == DOCA_SUCCESS && end->mmap)
		result = doca_mmap_destroy(end->mmap);
	if (result == DOCA_SUCCESS && end->dev)
		result = doca_dev_close(end->dev);
	if (end->epoll_fd >= 0)
		close(end->epoll_fd);
	return result == DOCA_SUCCESS ? 0 : fail("closing an RDMA end", result);
}

/* ---- connections ---- */

static doca_error_t export_all(struct bench_rdma *end, struct bench_rdma_place *place)
{
	const void *bytes;
	size_t len;
	doca_error_t result = doca_rdma_export(end->rdma, &bytes, &len, &end->connection);

	if (result != DOCA_SUCCESS)
		return result;
	memcpy(place->connection, bytes, sizeof(place->connection));
	result = doca_mmap_export_rdma(end->mmap, end->dev, &bytes, &len);
	if (result == DOCA_SUCCESS)
		memcpy(place->memory, bytes, sizeof(place->memory));
	place->pid = getpid();
	place->addr = (uintptr_t)end->memory;
	return result;
}

static int connect_by_descriptor(struct bench_rdma *end)
{
	doca_error_t result =
		doca_rdma_connect(end->rdma, end->other.connection, sizeof(end->other.connection), end->connection);

	return result == DOCA_SUCCESS ? 0 : fail("a connection", result);
}

int bench_rdma_connect_to(struct bench_rdma *end, struct bench_rdma *other)
{
	doca_error_t result = export_all(end, &other->other);

	if (result == DOCA_SUCCESS)
		result = export_all(other, &end->other);
	if (result != DOCA_SUCCESS)
		return fail("an export", result);
	return connect_by_descriptor(end) < 0 ? -1 : connect_by_descriptor(other);
}

int bench_rdma_connect(struct bench_rdma *end, int fd)
{
	struct bench_rdma_place place = { 0 };
	doca_error_t result = export_all(end, &place);

	if (result != DOCA_SUCCESS)
		return fail("an export", result);
	if (bench_send(fd, &place, sizeof(place)) < 0 || bench_receive(fd, &end->other, sizeof(end->other)) < 0)
		return bench_fail("the other end is gone");
	return connect_by_descriptor(end);
}

int bench_rdma_export(struct bench_rdma *end)
{
	struct bench_rdma_place place;
	doca_error_t result = export_all(end, &place);

	return result == DOCA_SUCCESS ? 0 : fail("an export", result);
}

int bench_rdma_listen(struct bench_rdma *end)
{
	doca_error_t result = doca_rdma_start_listen_to_port(end->rdma, PORT);

	return result == DOCA_SUCCESS ? 0 : fail("doca_rdma_start_listen_to_port", result);
}

int bench_rdma_connect_to_address(struct bench_rdma *end)
{
	uint64_t wanted = end->established + 1;
	struct doca_rdma_addr *addr;
	doca_error_t result = doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, end->cfg->address, PORT, &addr);

	if (result == DOCA_SUCCESS)
		result = doca_rdma_connect_to_addr(end->rdma, addr, (union doca_data){ .u64 = 0 });
	if (result != DOCA_SUCCESS)
		return fail("doca_rdma_connect_to_addr", result);
	while (end->established < wanted && end->failed == 0)
		if (!doca_pe_progress(end->pe) && end->cfg->blocks && end->established < wanted)
			bench_rdma_rest(end, -1);
	return end->failed == 0 ? 0 : bench_fail("a connection by addresses fails");
}

/* ---- tasks ---- */

static int make_message(struct bench_rdma *end, uint32_t i)
{
	size_t bytes = end->cfg->block_bytes;
	uint8_t *at = end->memory + i * bytes;
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *send;
	doca_error_t result;

	result = doca_buf_inventory_buf_get_by_data(end->inventory, end->mmap, at, bytes, &end->local[i]);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_buf_get_by_addr(end->inventory, end->mmap, at, bytes, &end->rooms[i]);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_task_send_allocate_init(end->rdma, end->connection, end->local[i],
							   (union doca_data){ .u64 = i }, &send);
	if (result != DOCA_SUCCESS)
		return fail("a message", result);
	end->sends[i] = doca_rdma_task_send_as_task(send);
	result =
		doca_rdma_task_receive_allocate_init(end->rdma, end->rooms[i], (union doca_data){ .u64 = i }, &receive);
	if (result != DOCA_SUCCESS)
		return fail("a receive", result);
	end->receives[i] = doca_rdma_task_receive_as_task(receive);
	return 0;
}

int bench_rdma_make_messages(struct bench_rdma *end)
{
	uint32_t count = end->cfg->num_blocks;

	end->local = calloc(count, sizeof(*end->local));
	end->rooms = calloc(count, sizeof(*end->rooms));
	end->sends = calloc(count, sizeof(*end->sends));
	end->receives = calloc(count, sizeof(*end->receives));
	if (!end->local || !end->rooms || !end->sends || !end->receives)
		return bench_fail("out of memory");
	for (uint32_t i = 0; i < count; i++)
		if (make_message(end, i) < 0)
			return -1;
	return 0;
}

static int make_write(struct bench_rdma *end, uint8_t *base, uint32_t i)
{
	size_t bytes = end->cfg->block_bytes, offset = i * bytes;
	struct doca_rdma_task_write *task;
	doca_error_t result;

	result = doca_buf_inventory_buf_get_by_data(end->inventory, end->mmap, end->memory + offset, bytes,
						    &end->local[i]);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_buf_get_by_addr(end->inventory, end->remote, base + offset, bytes,
							    &end->remotes[i]);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_task_write_allocate_init(end->rdma, end->connection, end->local[i], end->remotes[i],
							    (union doca_data){ .u64 = i }, &task);
	if (result != DOCA_SUCCESS)
		return fail("a write", result);
	end->writes[i] = doca_rdma_task_write_as_task(task);
	return 0;
}

int bench_rdma_make_writes(struct bench_rdma *end)
{
	uint32_t count = end->cfg->num_blocks;
	doca_error_t result;
	void *base;
	size_t len;

	end->local = calloc(count, sizeof(*end->local));
	end->remotes = calloc(count, sizeof(*end->remotes));
	end->writes = calloc(count, sizeof(*end->writes));
	if (!end->local || !end->remotes || !end->writes)
		return bench_fail("out of memory");
	result = doca_mmap_create_from_export(NULL, end->other.memory, sizeof(end->other.memory), end->dev,
					      &end->remote);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_get_memrange(end->remote, &base, &len);
	if (result != DOCA_SUCCESS)
		return fail("the target's memory", result);
	for (uint32_t i = 0; i < count; i++)
		if (make_write(end, base, i) < 0)
			return -1;
	return 0;
}

int bench_rdma_receive(struct bench_rdma *end, uint32_t block)
{
	doca_buf_reset_data_len(end->rooms[block]);
	return doca_task_submit(end->receives[block]) == DOCA_SUCCESS ? 0 : bench_fail("a receive is refused");
}

int bench_rdma_send(struct bench_rdma *end, uint32_t block)
{
	return doca_task_submit(end->sends[block]) == DOCA_SUCCESS ? 0 : bench_fail("a send is refused");
}

int bench_rdma_send_on(struct bench_rdma *end, const struct doca_rdma_connection *connection, uint32_t block)
{
	doca_rdma_task_send_set_rdma_connection((struct doca_rdma_task_send *)(uintptr_t)end->sends[block],
						(struct doca_rdma_connection *)(uintptr_t)connection);
	return bench_rdma_send(end, block);
}

int bench_rdma_write(struct bench_rdma *end, uint32_t first, uint32_t count)
{
	uint32_t num_blocks = end->cfg->num_blocks, depth = end->cfg->depth, block = first % num_blocks, submitted = 0;
	doca_error_t result = DOCA_SUCCESS;

	end->written = 0;
	while (end->written < count && result == DOCA_SUCCESS && end->failed == 0) {
		while (submitted < count && submitted - end->written < depth && result == DOCA_SUCCESS) {
			doca_buf_reset_data_len(end->remotes[block]);
			result = doca_task_submit(end->writes[block]);
			block = block + 1 == num_blocks ? 0 : block + 1;
			submitted++;
		}
		doca_pe_progress(end->pe);
	}
	return result == DOCA_SUCCESS && end->failed == 0 ? 0 : bench_fail("writes fail");
}

/* ---- progress ---- */

bool bench_rdma_rest(struct bench_rdma *end, int fd)
{
	struct epoll_event events[2];
	bool is_fd = false;
	int count;

	doca_pe_request_notification(end->pe);
	count = epoll_wait(end->epoll_fd, events, 2, -1);
	for (int i = 0; i < count; i++)
		is_fd |= events[i].data.fd == fd;
	doca_pe_clear_notification(end->pe, end->handle);
	return is_fd;
}

void bench_rdma_wait(struct bench_rdma *end, const uint64_t *counter, uint64_t value)
{
	while (*counter < value)
		if (!doca_pe_progress(end->pe) && end->cfg->blocks && *counter < value)
			bench_rdma_rest(end, -1);
}

/* ---- a target that sleeps ---- */

static int run_target(void *arg, int fd)
{
	struct bench_rdma end;
	int rc = bench_rdma_open(arg, "host", &end);

	if (rc == 0)
		rc = bench_rdma_connect(&end, fd);
	if (rc == 0)
		rc = bench_answer(fd, 0);
	if (rc == 0)
		bench_wait_for_end(fd);
	return bench_rdma_close(&end) < 0 ? -1 : rc;
}

int bench_rdma_target_start(const struct bench_rdma_cfg *cfg, struct bench_process *ret_process)
{
	return bench_process_fork(run_target, (void *)(uintptr_t)cfg, ret_process);
}
