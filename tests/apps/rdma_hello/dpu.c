/* SPDX-License-Identifier: BSD-3-Clause */
/* dpu.c - the DPU's half of rdma_hello: a server that answers the message of its first client, until that goes.
 *
 *   listen --> [request] --accept--> [established] --receive, send the answer--> [disconnected]
 *
 *   dpu [DEVICE [PORT]]
 */
#define DOCA_ALLOW_EXPERIMENTAL_API /* all of libdoca_rdma counts as experimental */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#define MAX_TEXT 256

struct memory { /* registered with the device: messages come from and go to it */
	char received[MAX_TEXT], answer[MAX_TEXT];
};

struct hello {
	struct doca_rdma *rdma;
	struct doca_pe *pe;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_rdma_connection *connection;
	struct memory memory;
	bool is_over, has_failed;
};

static void must(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "cannot %s: %s\n", what, doca_error_get_descr(result));
	exit(EXIT_FAILURE);
}

static struct doca_dev *open_device(const char *pci_addr)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count;

	must(doca_devinfo_create_list(&list, &count), "list the devices");
	for (uint32_t i = 0; i < count && !dev; i++) {
		uint8_t is_equal = 0;

		must(doca_devinfo_is_equal_pci_addr(list[i], pci_addr, &is_equal), "compare a PCI address");
		if (is_equal)
			must(doca_dev_open(list[i], &dev), "open the device");
	}
	must(dev ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "find the device");
	doca_devinfo_destroy_list(list);
	return dev;
}

/* ---- messages ---- */

static void receive(struct hello *hello)
{
	struct doca_rdma_task_receive *task;
	struct doca_buf *buf;

	must(doca_buf_inventory_buf_get_by_addr(hello->inventory, hello->mmap, hello->memory.received, MAX_TEXT, &buf),
	     "get a buffer");
	must(doca_rdma_task_receive_allocate_init(hello->rdma, buf, (union doca_data){ .ptr = buf }, &task),
	     "make a receive");
	must(doca_task_submit(doca_rdma_task_receive_as_task(task)), "post it");
}

static void answer(struct hello *hello, struct doca_rdma_connection *connection)
{
	struct doca_rdma_task_send *task;
	struct doca_buf *buf;

	strcpy(hello->memory.answer, "hello, host");
	must(doca_buf_inventory_buf_get_by_data(hello->inventory, hello->mmap, hello->memory.answer,
						strlen(hello->memory.answer), &buf),
	     "get a buffer");
	must(doca_rdma_task_send_allocate_init(hello->rdma, connection, buf, (union doca_data){ .ptr = buf }, &task),
	     "make an answer");
	must(doca_task_submit(doca_rdma_task_send_as_task(task)), "send it");
}

/* Callbacks: all of them come inside doca_pe_progress(). */
static void on_received(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data ctx_data)
{
	struct hello *hello = ctx_data.ptr;
	int len = (int)doca_rdma_task_receive_get_result_len(task);
	const struct doca_rdma_connection *connection = doca_rdma_task_receive_get_result_rdma_connection(task);

	printf("the host says: %.*s\n", len, hello->memory.received);
	doca_task_free(doca_rdma_task_receive_as_task(task));
	doca_buf_dec_refcount(task_data.ptr, NULL);
	answer(hello, (struct doca_rdma_connection *)connection);
}

/* The context is stopping, and no message came. */
static void on_not_received(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)ctx_data;
	doca_task_free(doca_rdma_task_receive_as_task(task));
	doca_buf_dec_refcount(task_data.ptr, NULL);
}

static void on_sent(struct doca_rdma_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)ctx_data;
	doca_task_free(doca_rdma_task_send_as_task(task));
	doca_buf_dec_refcount(task_data.ptr, NULL);
}

/* The connection has failed, and the client may wait for its answer: end it. */
static void on_not_sent(struct doca_rdma_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct hello *hello = ctx_data.ptr;

	fprintf(stderr, "the answer failed: %s\n",
		doca_error_get_descr(doca_task_get_status(doca_rdma_task_send_as_task(task))));
	on_sent(task, task_data, ctx_data);
	hello->has_failed = true;
	if (doca_rdma_connection_disconnect(hello->connection) != DOCA_SUCCESS)
		hello->is_over = true; /* else on_disconnected() follows */
}

/* ---- the connection ---- */

/* If the client has gone, the accept fails, and on_failure() follows. */
static void on_request(struct doca_rdma_connection *connection, union doca_data ctx_data)
{
	(void)ctx_data;
	doca_rdma_connection_accept(connection, NULL, 0);
}

static void on_established(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	(void)data;
	((struct hello *)ctx_data.ptr)->connection = connection;
	printf("a client came\n");
}

static void on_failure(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	(void)connection;
	(void)data;
	(void)ctx_data;
	printf("a client failed to come\n");
}

static void on_disconnected(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	struct hello *hello = ctx_data.ptr;

	(void)data;
	doca_rdma_connection_disconnect(connection);
	hello->is_over = true;
}

/* ---- the program ---- */

static struct doca_ctx *start(struct hello *hello, struct doca_dev *dev)
{
	struct doca_ctx *ctx;

	must(doca_mmap_create(&hello->mmap), "create a memory map");
	must(doca_mmap_add_dev(hello->mmap, dev), "add the device to it");
	must(doca_mmap_set_memrange(hello->mmap, &hello->memory, sizeof(hello->memory)), "set its memory");
	must(doca_mmap_start(hello->mmap), "start it");
	must(doca_buf_inventory_create(2, &hello->inventory), "create an inventory");
	must(doca_buf_inventory_start(hello->inventory), "start it");
	must(doca_pe_create(&hello->pe), "create a progress engine");
	must(doca_rdma_create(dev, &hello->rdma), "create an RDMA context");
	ctx = doca_rdma_as_ctx(hello->rdma);
	must(doca_pe_connect_ctx(hello->pe, ctx), "connect it to the engine");
	must(doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = hello }), "mark it");
	must(doca_rdma_task_receive_set_conf(hello->rdma, on_received, on_not_received, 1), "configure receiving");
	must(doca_rdma_task_send_set_conf(hello->rdma, on_sent, on_not_sent, 1), "configure sending");
	must(doca_rdma_set_connection_state_callbacks(hello->rdma, on_request, on_established, on_failure,
						      on_disconnected),
	     "watch connections");
	must(doca_ctx_start(ctx), "start the context");
	return ctx;
}

static void stop(struct hello *hello, struct doca_ctx *ctx)
{
	doca_error_t result = doca_ctx_stop(ctx);
	enum doca_ctx_states state = DOCA_CTX_STATE_STOPPING;

	must(result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result, "stop the context");
	while (state != DOCA_CTX_STATE_IDLE) {
		doca_pe_progress(hello->pe);
		must(doca_ctx_get_state(ctx, &state), "read its state");
	}
	must(doca_rdma_destroy(hello->rdma), "destroy the context");
	must(doca_pe_destroy(hello->pe), "destroy the engine");
	must(doca_buf_inventory_destroy(hello->inventory), "destroy the inventory");
	must(doca_mmap_destroy(hello->mmap), "destroy the memory map");
}

int main(int argc, char **argv)
{
	struct doca_dev *dev = open_device(argc > 1 ? argv[1] : "03:00.0");
	uint16_t port = argc > 2 ? (uint16_t)atoi(argv[2]) : 4791;
	static struct hello hello;
	struct doca_ctx *ctx = start(&hello, dev);

	receive(&hello);
	must(doca_rdma_start_listen_to_port(hello.rdma, port), "listen");
	while (!hello.is_over)
		doca_pe_progress(hello.pe);
	must(doca_rdma_stop_listen_to_port(hello.rdma, port), "listen no more");
	stop(&hello, ctx);
	must(doca_dev_close(dev), "close the device");
	return hello.has_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
