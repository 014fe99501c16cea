/* SPDX-License-Identifier: BSD-3-Clause */
/* host.c - the host's half of comch_hello: a client that sends one message and prints the answer.
 *
 *   start --> [starting] --accepted--> [running] --send--> the answer comes --stop--> [idle]
 *                        '--no server of that name--> [idle]
 *
 *   host [DEVICE [TEXT]]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>

#define SERVER_NAME "comch_hello"

struct hello {
	struct doca_comch_client *client;
	const char *text;
	bool answered;
	bool over; /* the client is idle again */
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

/* Handle an event, or wait a moment. An engine that has Comch alone can't be slept on: a card does not wake it. */
static void progress(struct doca_pe *pe)
{
	static const struct timespec moment = { .tv_nsec = 20000 };

	if (!doca_pe_progress(pe))
		nanosleep(&moment, NULL);
}

/* Callbacks: all of them come inside doca_pe_progress(). */
static void on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void on_not_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct hello *hello = ctx_data.ptr;

	(void)task_data;
	doca_task_free(doca_comch_task_send_as_task(task));
	doca_ctx_stop(doca_comch_client_as_ctx(hello->client));
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	struct hello *hello = doca_comch_connection_get_user_data(connection).ptr;

	(void)event;
	printf("the DPU answers: %.*s\n", (int)len, (const char *)bytes);
	hello->answered = true;
	doca_ctx_stop(doca_comch_client_as_ctx(hello->client));
}

static void say(struct hello *hello)
{
	struct doca_comch_connection *connection;
	struct doca_comch_task_send *task;

	must(doca_comch_client_get_connection(hello->client, &connection), "get the connection");
	must(doca_comch_connection_set_user_data(connection, (union doca_data){ .ptr = hello }), "mark it");
	must(doca_comch_client_task_send_alloc_init(hello->client, connection, hello->text,
						    (uint32_t)strlen(hello->text), &task),
	     "make a message");
	must(doca_task_submit(doca_comch_task_send_as_task(task)), "send it");
}

static void on_state(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states from,
		     enum doca_ctx_states to)
{
	struct hello *hello = user_data.ptr;

	(void)ctx;
	(void)from;
	if (to == DOCA_CTX_STATE_RUNNING)
		say(hello);
	hello->over = to == DOCA_CTX_STATE_IDLE;
}

int main(int argc, char **argv)
{
	struct hello hello = { .text = argc > 2 ? argv[2] : "hello, DPU" };
	struct doca_dev *dev = open_device(argc > 1 ? argv[1] : "b1:00.0");
	struct doca_ctx *ctx;
	struct doca_pe *pe;
	doca_error_t result;

	must(doca_pe_create(&pe), "create a progress engine");
	must(doca_comch_client_create(dev, SERVER_NAME, &hello.client), "create a client");
	ctx = doca_comch_client_as_ctx(hello.client);
	must(doca_pe_connect_ctx(pe, ctx), "connect it to the engine");
	must(doca_comch_client_task_send_set_conf(hello.client, on_sent, on_not_sent, 1), "configure sending");
	must(doca_comch_client_event_msg_recv_register(hello.client, on_message), "configure receiving");
	must(doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = &hello }), "mark the client");
	must(doca_ctx_set_state_changed_cb(ctx, on_state), "watch its state");
	result = doca_ctx_start(ctx); /* goes on in the callbacks */
	must(result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result, "start the client");
	while (!hello.over)
		progress(pe);
	must(doca_comch_client_destroy(hello.client), "destroy the client");
	must(doca_pe_destroy(pe), "destroy the engine");
	must(doca_dev_close(dev), "close the device");
	if (!hello.answered)
		fprintf(stderr, "no answer; does the DPU's half run?\n");
	return hello.answered ? EXIT_SUCCESS : EXIT_FAILURE;
}
