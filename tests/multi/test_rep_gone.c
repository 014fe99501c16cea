/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles of a representor that was removed since: listening on it fails until the representor is back. Each test
 * runs in a process of its own, in a session or on a private card. */
#include "bfsim_util.h"

#include <doca_comch.h>
#include <doca_comm_channel.h>

/* The DPU's first device, and the representor of the host's first function. */
static struct doca_dev *dev;
static struct doca_dev_rep *rep;

static void open_rep(void)
{
	struct doca_devinfo_rep **list;
	uint8_t is_wanted = 0;
	uint32_t count;

	card_begin("dpu", NULL, NULL);
	dev = rig_open_dev(0);
	MUST(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count));
	for (uint32_t i = 0; i < count && !is_wanted; i++) {
		MUST(doca_devinfo_rep_is_equal_pci_addr(list[i], "b1:00.0", &is_wanted));
		if (is_wanted)
			MUST(doca_dev_rep_open(list[i], &rep));
	}
	MUST(doca_devinfo_rep_destroy_list(list));
	CHECK(is_wanted);
}

static void close_rep(void)
{
	MUST(doca_dev_rep_close(rep));
	MUST(doca_dev_close(dev));
	card_end();
}

/* ---- Comch ---- */

static void on_status(struct doca_comch_event_connection_status_changed *event,
		      struct doca_comch_connection *connection, uint8_t is_well)
{
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
}

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
}

static struct doca_comch_server *make_server(struct doca_pe *pe)
{
	struct doca_comch_server *server;

	MUST(doca_comch_server_create(dev, rep, "test", &server));
	MUST(doca_comch_server_event_connection_status_changed_register(server, on_status, on_status));
	MUST(doca_comch_server_event_msg_recv_register(server, on_message));
	MUST(doca_comch_server_task_send_set_conf(server, on_sent, on_sent, 1));
	MUST(doca_pe_connect_ctx(pe, doca_comch_server_as_ctx(server)));
	return server;
}

static void stop(struct doca_pe *pe, struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STOPPING;
	doca_error_t result = doca_ctx_stop(ctx);

	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	while (state != DOCA_CTX_STATE_IDLE) {
		doca_pe_progress(pe);
		MUST(doca_ctx_get_state(ctx, &state));
	}
}

static void test_server_does_not_start_for_a_representor_that_was_removed(void)
{
	struct doca_comch_server *server;
	struct doca_pe *pe;

	open_rep();
	MUST(doca_pe_create(&pe));
	server = make_server(pe);
	card_inject("function device=b1:00.0 rep_remove");
	CHECK(doca_ctx_start(doca_comch_server_as_ctx(server)) == DOCA_ERROR_INITIALIZATION);
	CHECK(doca_ctx_start(doca_comch_server_as_ctx(server)) == DOCA_ERROR_INITIALIZATION);
	card_inject("function device=b1:00.0 add");
	MUST(doca_ctx_start(doca_comch_server_as_ctx(server)));
	stop(pe, doca_comch_server_as_ctx(server));
	MUST(doca_comch_server_destroy(server));
	MUST(doca_pe_destroy(pe));
	close_rep();
}

static void test_server_for_another_representor_starts(void)
{
	struct doca_comch_server *server;
	struct doca_pe *pe;

	open_rep();
	MUST(doca_pe_create(&pe));
	server = make_server(pe);
	card_inject("function device=b1:00.1 rep_remove");
	MUST(doca_ctx_start(doca_comch_server_as_ctx(server)));
	stop(pe, doca_comch_server_as_ctx(server));
	MUST(doca_comch_server_destroy(server));
	MUST(doca_pe_destroy(pe));
	close_rep();
}

/* ---- Comm Channel ---- */

static void test_service_does_not_listen_for_a_representor_that_was_removed(void)
{
	struct doca_comm_channel_ep_t *ep;

	open_rep();
	MUST(doca_comm_channel_ep_create(&ep));
	MUST(doca_comm_channel_ep_set_device(ep, dev));
	MUST(doca_comm_channel_ep_set_device_rep(ep, rep));
	MUST(doca_comm_channel_ep_set_max_msg_size(ep, 64));
	MUST(doca_comm_channel_ep_set_send_queue_size(ep, 8));
	MUST(doca_comm_channel_ep_set_recv_queue_size(ep, 8));
	card_inject("function device=b1:00.0 rep_remove");
	CHECK(doca_comm_channel_ep_listen(ep, "test") == DOCA_ERROR_INITIALIZATION);
	card_inject("function device=b1:00.0 add");
	MUST(doca_comm_channel_ep_listen(ep, "test"));
	MUST(doca_comm_channel_ep_destroy(ep));
	close_rep();
}

int main(void)
{
	static const struct own_test tests[] = {
		OWN_TEST(test_server_does_not_start_for_a_representor_that_was_removed),
		OWN_TEST(test_server_for_another_representor_starts),
		OWN_TEST(test_service_does_not_listen_for_a_representor_that_was_removed),
	};

	return OWN_RUN(tests);
}
