/* SPDX-License-Identifier: BSD-3-Clause */
/* dpu.c - the DPU's half of comch_hello: a server that answers its first client, until that goes.
 *   dpu [DEVICE [REPRESENTOR]]
 * The representor stands for the one host function whose programs may connect.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>

#define SERVER_NAME "comch_hello"

static const char answer[] = "hello, host";
static bool client_gone;

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

static struct doca_dev_rep *open_representor(struct doca_dev *dev, const char *pci_addr)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	uint32_t count;

	must(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count), "list the representors");
	for (uint32_t i = 0; i < count && !rep; i++) {
		uint8_t is_equal = 0;

		must(doca_devinfo_rep_is_equal_pci_addr(list[i], pci_addr, &is_equal), "compare a PCI address");
		if (is_equal)
			must(doca_dev_rep_open(list[i], &rep), "open the representor");
	}
	must(rep ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "find the representor");
	doca_devinfo_rep_destroy_list(list);
	return rep;
}

/* Handle an event, or wait a moment. An engine that has Comch alone can't be slept on: a card does not wake it. */
static void progress(struct doca_pe *pe)
{
	static const struct timespec moment = { .tv_nsec = 20000 };

	if (!doca_pe_progress(pe))
		nanosleep(&moment, NULL);
}

/* Callbacks: all of them come inside doca_pe_progress(). */
static void on_answered(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_task_free(doca_comch_task_send_as_task(task)); /* also if the client disconnected before it was accepted */
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(connection);
	struct doca_comch_task_send *task;

	(void)event;
	printf("the host says: %.*s\n", (int)len, (const char *)bytes);
	must(doca_comch_server_task_send_alloc_init(server, connection, answer, sizeof(answer) - 1, &task),
	     "make an answer");
	must(doca_task_submit(doca_comch_task_send_as_task(task)), "send it");
}

static void on_connect(struct doca_comch_event_connection_status_changed *event,
		       struct doca_comch_connection *connection, uint8_t successful)
{
	(void)event;
	(void)connection;
	printf(successful ? "a client came\n" : "a client failed to come\n");
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event,
			  struct doca_comch_connection *connection, uint8_t successful)
{
	(void)event;
	(void)connection;
	(void)successful;
	client_gone = true;
}

static enum doca_ctx_states state_of(struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	must(doca_ctx_get_state(ctx, &state), "read the server's state");
	return state;
}

static void stop(struct doca_ctx *ctx, struct doca_pe *pe)
{
	doca_error_t result = state_of(ctx) == DOCA_CTX_STATE_RUNNING ? doca_ctx_stop(ctx) : DOCA_SUCCESS;

	must(result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result, "stop the server");
	while (state_of(ctx) != DOCA_CTX_STATE_IDLE)
		progress(pe);
}

int main(int argc, char **argv)
{
	struct doca_dev *dev = open_device(argc > 1 ? argv[1] : "03:00.0");
	struct doca_dev_rep *rep = open_representor(dev, argc > 2 ? argv[2] : "b1:00.0");
	struct doca_comch_server *server;
	struct doca_ctx *ctx;
	struct doca_pe *pe;

	must(doca_pe_create(&pe), "create a progress engine");
	must(doca_comch_server_create(dev, rep, SERVER_NAME, &server), "create a server");
	ctx = doca_comch_server_as_ctx(server);
	must(doca_pe_connect_ctx(pe, ctx), "connect it to the engine");
	must(doca_comch_server_task_send_set_conf(server, on_answered, on_answered, 16), "configure sending");
	must(doca_comch_server_event_msg_recv_register(server, on_message), "configure receiving");
	must(doca_comch_server_event_connection_status_changed_register(server, on_connect, on_disconnect),
	     "configure connections");
	must(doca_ctx_start(ctx), "start the server");
	while (!client_gone && state_of(ctx) == DOCA_CTX_STATE_RUNNING) /* it stops by itself when the card is gone */
		progress(pe);
	stop(ctx, pe);
	if (!client_gone)
		fprintf(stderr, "the server stopped: the card is gone\n");
	must(doca_comch_server_destroy(server), "destroy the server");
	must(doca_dev_rep_close(rep), "close the representor");
	must(doca_pe_destroy(pe), "destroy the engine");
	must(doca_dev_close(dev), "close the device");
	return client_gone ? EXIT_SUCCESS : EXIT_FAILURE;
}
