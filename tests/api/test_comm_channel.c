/* SPDX-License-Identifier: BSD-3-Clause */
/* Comm Channel without a peer: capabilities, properties, states, and refusals. */
#include "api_util.h"

#include <stdlib.h>
#include <string.h>

#include <doca_comm_channel.h>

struct fixture {
	struct doca_dev *dev;
	struct doca_dev_rep *rep; /* on the DPU */
	struct doca_comm_channel_ep_t *ep;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct doca_devinfo_rep **reps;
	uint32_t count;

	f->dev = api_open_nth(0);
	if (doca_devinfo_rep_create_list(f->dev, DOCA_DEVINFO_REP_FILTER_NET, &reps, &count) == DOCA_SUCCESS) {
		if (count > 0)
			assert_ok(doca_dev_rep_open(reps[0], &f->rep));
		assert_ok(doca_devinfo_rep_destroy_list(reps));
	}
	assert_ok(doca_comm_channel_ep_create(&f->ep));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->ep)
		assert_ok(doca_comm_channel_ep_destroy(f->ep));
	if (f->rep)
		assert_ok(doca_dev_rep_close(f->rep));
	assert_ok(doca_dev_close(f->dev));
	free(f);
	return 0;
}

static void listen_to(struct fixture *f)
{
	assert_ok(doca_comm_channel_ep_set_device(f->ep, f->dev));
	assert_ok(doca_comm_channel_ep_set_device_rep(f->ep, f->rep));
	assert_ok(doca_comm_channel_ep_listen(f->ep, "test"));
}

/* ---- capabilities ---- */

typedef doca_error_t (*get_limit)(struct doca_devinfo *devinfo, uint32_t *limit);

static uint32_t limit_of(get_limit get, uint32_t nth)
{
	uint32_t limit = 77;

	assert_ok(get(api_devinfo_nth(nth), &limit));
	return limit;
}

static void test_limits_are_comchs(void **state)
{
	uint32_t len;

	assert_ok(doca_comm_channel_get_max_service_name_len(&len));
	assert_int_equal(len, 120);
	assert_int_equal(limit_of(doca_comm_channel_get_max_message_size, 0), 4080);
	assert_int_equal(limit_of(doca_comm_channel_get_max_send_queue_size, 0), 8192);
	assert_int_equal(limit_of(doca_comm_channel_get_max_recv_queue_size, 0), 8192);
}

static void test_dpu_has_services(void **state)
{
	assert_int_equal(limit_of(doca_comm_channel_get_service_max_num_connections, 0), 2048);
}

static void test_host_has_no_services(void **state)
{
	struct fixture *f = *state;
	struct doca_comm_channel_addr_t *peer;
	uint32_t limit = 77;

	/* provokes: doca_comm_channel_get_service_max_num_connections DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_comm_channel_get_service_max_num_connections(api_devinfo_nth(0), &limit),
		    DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(limit, 77);
	assert_ok(doca_comm_channel_ep_set_device(f->ep, f->dev));
	/* No other process can be there: this is a private card. */
	assert_doca(doca_comm_channel_ep_connect(f->ep, "test", &peer), DOCA_ERROR_CONNECTION_ABORTED);
	assert_doca(doca_comm_channel_ep_connect(f->ep, "test", &peer), DOCA_ERROR_CONNECTION_ABORTED);
}

static void test_limits_are_refused_without_a_device_or_a_place(void **state)
{
	static const get_limit all[] = {
		doca_comm_channel_get_max_message_size,
		doca_comm_channel_get_max_send_queue_size,
		doca_comm_channel_get_max_recv_queue_size,
		doca_comm_channel_get_service_max_num_connections,
	};
	uint32_t limit;

	/* provokes: doca_comm_channel_get_max_service_name_len DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_comm_channel_get_max_service_name_len(NULL));
	/* provokes: doca_comm_channel_get_max_message_size DOCA_ERROR_INVALID_VALUE */
	/* provokes: doca_comm_channel_get_max_send_queue_size DOCA_ERROR_INVALID_VALUE */
	/* provokes: doca_comm_channel_get_max_recv_queue_size DOCA_ERROR_INVALID_VALUE */
	/* provokes: doca_comm_channel_get_service_max_num_connections DOCA_ERROR_INVALID_VALUE */
	for (size_t i = 0; i < API_COUNT(all); i++) {
		assert_invalid(all[i](NULL, &limit));
		assert_invalid(all[i](api_devinfo_nth(0), NULL));
	}
}

/* ---- properties ---- */

static void test_properties_are_what_was_set(void **state)
{
	struct fixture *f = *state;
	struct doca_dev *dev = f->dev;
	struct doca_dev_rep *rep = f->rep;

	assert_ok(doca_comm_channel_ep_get_device(f->ep, &dev));
	assert_ok(doca_comm_channel_ep_get_device_rep(f->ep, &rep));
	assert_null(dev);
	assert_null(rep);
	assert_ok(doca_comm_channel_ep_set_device(f->ep, f->dev));
	assert_ok(doca_comm_channel_ep_set_device_rep(f->ep, f->rep));
	assert_ok(doca_comm_channel_ep_get_device(f->ep, &dev));
	assert_ok(doca_comm_channel_ep_get_device_rep(f->ep, &rep));
	assert_ptr_equal(dev, f->dev);
	assert_ptr_equal(rep, f->rep);
}

static uint16_t size_after(struct fixture *f, doca_error_t (*set)(struct doca_comm_channel_ep_t *, uint16_t),
			   doca_error_t (*get)(struct doca_comm_channel_ep_t *, uint16_t *), uint16_t size)
{
	assert_ok(set(f->ep, size));
	assert_ok(get(f->ep, &size));
	return size;
}

#define MSG_SIZE   doca_comm_channel_ep_set_max_msg_size, doca_comm_channel_ep_get_max_msg_size
#define SEND_QUEUE doca_comm_channel_ep_set_send_queue_size, doca_comm_channel_ep_get_send_queue_size
#define RECV_QUEUE doca_comm_channel_ep_set_recv_queue_size, doca_comm_channel_ep_get_recv_queue_size

/* A message size is raised to a minimum, queue sizes to a power of two. */
static void test_sizes_are_rounded_up(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(size_after(f, MSG_SIZE, 1), 64);
	assert_int_equal(size_after(f, MSG_SIZE, 65), 65);
	assert_int_equal(size_after(f, MSG_SIZE, 4080), 4080);
	assert_int_equal(size_after(f, SEND_QUEUE, 1), 1);
	assert_int_equal(size_after(f, SEND_QUEUE, 5), 8);
	assert_int_equal(size_after(f, RECV_QUEUE, 64), 64);
	assert_int_equal(size_after(f, RECV_QUEUE, 8191), 8192);
}

static void test_sizes_that_no_device_has_are_refused(void **state)
{
	struct fixture *f = *state;
	uint16_t size;

	assert_ok(doca_comm_channel_ep_set_device(f->ep, f->dev));
	/* provokes: doca_comm_channel_ep_set_max_msg_size DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_comm_channel_ep_set_max_msg_size(f->ep, 0));
	assert_invalid(doca_comm_channel_ep_set_max_msg_size(f->ep, 4081));
	assert_invalid(doca_comm_channel_ep_set_max_msg_size(NULL, 100));
	/* provokes: doca_comm_channel_ep_set_send_queue_size DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_comm_channel_ep_set_send_queue_size(f->ep, 0));
	assert_invalid(doca_comm_channel_ep_set_send_queue_size(f->ep, 8193));
	assert_invalid(doca_comm_channel_ep_set_send_queue_size(NULL, 8));
	/* provokes: doca_comm_channel_ep_set_recv_queue_size DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_comm_channel_ep_set_recv_queue_size(f->ep, 0));
	assert_invalid(doca_comm_channel_ep_set_recv_queue_size(f->ep, UINT16_MAX));
	assert_invalid(doca_comm_channel_ep_set_recv_queue_size(NULL, 8));
	/* Properties that are not set have usable defaults. */
	assert_ok(doca_comm_channel_ep_get_max_msg_size(f->ep, &size));
	assert_int_equal(size, 4080);
	assert_ok(doca_comm_channel_ep_get_send_queue_size(f->ep, &size));
	assert_int_equal(size, 64);
	assert_ok(doca_comm_channel_ep_get_recv_queue_size(f->ep, &size));
	assert_int_equal(size, 64);
}

/* ---- wrong arguments ---- */

/* Neither NULL nor a device is an endpoint or an address. */
static void test_what_is_no_endpoint_is_refused(void **state)
{
	struct fixture *f = *state;
	void *const wrong[] = { NULL, f->dev };
	struct doca_comm_channel_addr_t *peer, **list;
	struct doca_dev_rep *rep;
	struct doca_dev *dev;
	doca_event_channel_t fd;
	uint16_t size;
	uint32_t count;
	uint64_t value;

	for (size_t i = 0; i < API_COUNT(wrong); i++) {
		/* provokes: doca_comm_channel_ep_destroy DOCA_ERROR_NOT_CONNECTED */
		assert_doca(doca_comm_channel_ep_destroy(wrong[i]), DOCA_ERROR_NOT_CONNECTED);
		/* provokes: doca_comm_channel_ep_set_device DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_ep_set_device(wrong[i], f->dev));
		/* provokes: doca_comm_channel_ep_get_device DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_ep_get_device(wrong[i], &dev));
		/* provokes: doca_comm_channel_ep_set_device_rep DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_ep_set_device_rep(wrong[i], f->rep));
		/* provokes: doca_comm_channel_ep_get_device_rep DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_ep_get_device_rep(wrong[i], &rep));
		/* provokes: doca_comm_channel_ep_get_max_msg_size DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_ep_get_max_msg_size(wrong[i], &size));
		/* provokes: doca_comm_channel_ep_get_send_queue_size DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_ep_get_send_queue_size(wrong[i], &size));
		/* provokes: doca_comm_channel_ep_get_recv_queue_size DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_ep_get_recv_queue_size(wrong[i], &size));
		/* provokes: doca_comm_channel_ep_listen DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_ep_listen(wrong[i], "test"));
		/* provokes: doca_comm_channel_ep_connect DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_ep_connect(wrong[i], "test", &peer));
		/* provokes: doca_comm_channel_ep_disconnect DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_ep_disconnect(wrong[i], NULL));
		/* provokes: doca_comm_channel_ep_get_event_channel DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_ep_get_event_channel(wrong[i], &fd, &fd));
		/* provokes: doca_comm_channel_ep_event_handle_arm_send DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_ep_event_handle_arm_send(wrong[i]));
		/* provokes: doca_comm_channel_ep_event_handle_arm_recv DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_ep_event_handle_arm_recv(wrong[i]));
		/* provokes: doca_comm_channel_ep_get_service_event_channel DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_ep_get_service_event_channel(wrong[i], &fd));
		/* provokes: doca_comm_channel_ep_update_service_state_info DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_ep_update_service_state_info(wrong[i]));
		/* provokes: doca_comm_channel_ep_get_peer_addr_list DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_ep_get_peer_addr_list(wrong[i], &list, &count));
		/* provokes: doca_comm_channel_ep_get_pending_connections DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_ep_get_pending_connections(wrong[i], &count));
		/* provokes: doca_comm_channel_peer_addr_set_user_data DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_peer_addr_set_user_data(wrong[i], 1));
		/* provokes: doca_comm_channel_peer_addr_get_user_data DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_peer_addr_get_user_data(wrong[i], &value));
		/* provokes: doca_comm_channel_peer_addr_update_info DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_peer_addr_update_info(wrong[i]));
		/* provokes: doca_comm_channel_peer_addr_get_send_messages DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_peer_addr_get_send_messages(wrong[i], &value));
		/* provokes: doca_comm_channel_peer_addr_get_send_bytes DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_peer_addr_get_send_bytes(wrong[i], &value));
		/* provokes: doca_comm_channel_peer_addr_get_recv_messages DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_peer_addr_get_recv_messages(wrong[i], &value));
		/* provokes: doca_comm_channel_peer_addr_get_recv_bytes DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_peer_addr_get_recv_bytes(wrong[i], &value));
		/* provokes: doca_comm_channel_peer_addr_get_send_in_flight_messages DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_comm_channel_peer_addr_get_send_in_flight_messages(wrong[i], &value));
	}
}

static void test_what_is_missing_or_of_another_kind_is_refused(void **state)
{
	struct fixture *f = *state;
	struct doca_comm_channel_addr_t *peer, **list;
	char long_name[121];
	uint32_t count;

	/* provokes: doca_comm_channel_ep_create DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_comm_channel_ep_create(NULL));
	assert_invalid(doca_comm_channel_ep_set_device(f->ep, NULL));
	assert_invalid(doca_comm_channel_ep_set_device(f->ep, (struct doca_dev *)f->rep));
	assert_invalid(doca_comm_channel_ep_get_device(f->ep, NULL));
	assert_invalid(doca_comm_channel_ep_set_device_rep(f->ep, NULL));
	assert_invalid(doca_comm_channel_ep_set_device_rep(f->ep, (struct doca_dev_rep *)f->dev));
	assert_invalid(doca_comm_channel_ep_get_device_rep(f->ep, NULL));
	assert_invalid(doca_comm_channel_ep_get_max_msg_size(f->ep, NULL));
	assert_invalid(doca_comm_channel_ep_get_send_queue_size(f->ep, NULL));
	assert_invalid(doca_comm_channel_ep_get_recv_queue_size(f->ep, NULL));
	assert_ok(doca_comm_channel_ep_set_device(f->ep, f->dev));
	assert_ok(doca_comm_channel_ep_set_device_rep(f->ep, f->rep));
	memset(long_name, 'x', 120);
	long_name[120] = '\0';
	assert_invalid(doca_comm_channel_ep_listen(f->ep, NULL));
	assert_invalid(doca_comm_channel_ep_listen(f->ep, ""));
	assert_invalid(doca_comm_channel_ep_listen(f->ep, long_name));
	assert_invalid(doca_comm_channel_ep_connect(f->ep, NULL, &peer));
	assert_invalid(doca_comm_channel_ep_connect(f->ep, "test", NULL));
	assert_ok(doca_comm_channel_ep_listen(f->ep, long_name + 1));
	assert_invalid(doca_comm_channel_ep_get_event_channel(f->ep, NULL, NULL));
	assert_invalid(doca_comm_channel_ep_get_service_event_channel(f->ep, NULL));
	assert_invalid(doca_comm_channel_ep_get_peer_addr_list(f->ep, NULL, &count));
	assert_invalid(doca_comm_channel_ep_get_peer_addr_list(f->ep, &list, NULL));
	assert_invalid(doca_comm_channel_ep_get_pending_connections(f->ep, NULL));
}

/* ---- states ---- */

static void test_service_needs_device_and_representor(void **state)
{
	struct fixture *f = *state;

	/* provokes: doca_comm_channel_ep_listen DOCA_ERROR_BAD_STATE */
	assert_doca(doca_comm_channel_ep_listen(f->ep, "test"), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_comm_channel_ep_set_device(f->ep, f->dev));
	assert_doca(doca_comm_channel_ep_listen(f->ep, "test"), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_comm_channel_ep_set_device_rep(f->ep, f->rep));
	assert_ok(doca_comm_channel_ep_listen(f->ep, "test"));
	/* provokes: doca_comm_channel_ep_listen DOCA_ERROR_NOT_PERMITTED */
	assert_doca(doca_comm_channel_ep_listen(f->ep, "test"), DOCA_ERROR_NOT_PERMITTED);
}

static void test_closed_representor_is_none(void **state)
{
	struct fixture *f = *state;

	assert_ok(doca_comm_channel_ep_set_device(f->ep, f->dev));
	assert_ok(doca_comm_channel_ep_set_device_rep(f->ep, f->rep));
	assert_ok(doca_dev_rep_close(f->rep));
	f->rep = NULL;
	assert_doca(doca_comm_channel_ep_listen(f->ep, "test"), DOCA_ERROR_BAD_STATE);
}

static void test_client_needs_device_of_the_host(void **state)
{
	struct fixture *f = *state;
	struct doca_comm_channel_addr_t *peer;

	/* provokes: doca_comm_channel_ep_connect DOCA_ERROR_BAD_STATE */
	assert_doca(doca_comm_channel_ep_connect(f->ep, "test", &peer), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_comm_channel_ep_set_device(f->ep, f->dev));
	/* provokes: doca_comm_channel_ep_connect DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_comm_channel_ep_connect(f->ep, "test", &peer), DOCA_ERROR_NOT_SUPPORTED);
}

static void test_idle_endpoint_neither_sends_nor_receives(void **state)
{
	struct fixture *f = *state;
	struct doca_comm_channel_addr_t *peer, **list;
	doca_event_channel_t fd;
	uint32_t count;
	size_t len = 1;
	char byte;

	/* provokes: doca_comm_channel_ep_recvfrom DOCA_ERROR_NOT_CONNECTED */
	assert_doca(doca_comm_channel_ep_recvfrom(f->ep, &byte, &len, 0, &peer), DOCA_ERROR_NOT_CONNECTED);
	assert_doca(doca_comm_channel_ep_sendto(f->ep, "x", 1, 0, NULL), DOCA_ERROR_NOT_CONNECTED);
	assert_doca(doca_comm_channel_ep_disconnect(f->ep, NULL), DOCA_ERROR_NOT_CONNECTED);
	/* provokes: doca_comm_channel_ep_get_event_channel DOCA_ERROR_BAD_STATE */
	assert_doca(doca_comm_channel_ep_get_event_channel(f->ep, &fd, &fd), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comm_channel_ep_get_service_event_channel DOCA_ERROR_BAD_STATE */
	assert_doca(doca_comm_channel_ep_get_service_event_channel(f->ep, &fd), DOCA_ERROR_BAD_STATE);
	assert_invalid(doca_comm_channel_ep_event_handle_arm_send(f->ep));
	assert_invalid(doca_comm_channel_ep_event_handle_arm_recv(f->ep));
	/* provokes: doca_comm_channel_ep_update_service_state_info DOCA_ERROR_BAD_STATE */
	assert_doca(doca_comm_channel_ep_update_service_state_info(f->ep), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comm_channel_ep_get_peer_addr_list DOCA_ERROR_BAD_STATE */
	assert_doca(doca_comm_channel_ep_get_peer_addr_list(f->ep, &list, &count), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comm_channel_ep_get_pending_connections DOCA_ERROR_BAD_STATE */
	assert_doca(doca_comm_channel_ep_get_pending_connections(f->ep, &count), DOCA_ERROR_BAD_STATE);
}

static void test_properties_of_a_service_stay(void **state)
{
	struct fixture *f = *state;

	listen_to(f);
	/* provokes: doca_comm_channel_ep_set_device DOCA_ERROR_BAD_STATE */
	assert_doca(doca_comm_channel_ep_set_device(f->ep, f->dev), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comm_channel_ep_set_device_rep DOCA_ERROR_BAD_STATE */
	assert_doca(doca_comm_channel_ep_set_device_rep(f->ep, f->rep), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comm_channel_ep_set_max_msg_size DOCA_ERROR_BAD_STATE */
	assert_doca(doca_comm_channel_ep_set_max_msg_size(f->ep, 100), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comm_channel_ep_set_send_queue_size DOCA_ERROR_BAD_STATE */
	assert_doca(doca_comm_channel_ep_set_send_queue_size(f->ep, 8), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comm_channel_ep_set_recv_queue_size DOCA_ERROR_BAD_STATE */
	assert_doca(doca_comm_channel_ep_set_recv_queue_size(f->ep, 8), DOCA_ERROR_BAD_STATE);
}

static void test_endpoint_that_is_gone_is_recognised(void **state)
{
	struct fixture *f = *state;
	struct doca_comm_channel_ep_t *gone = f->ep;

	listen_to(f);
	assert_ok(doca_comm_channel_ep_destroy(gone));
	f->ep = NULL;
	assert_doca(doca_comm_channel_ep_destroy(gone), DOCA_ERROR_NOT_CONNECTED);
	assert_invalid(doca_comm_channel_ep_listen(gone, "test"));
}

static void test_host_has_no_service_endpoint(void **state)
{
	struct fixture *f = *state;

	/* Without a representor the state is wrong, and no device of the host has one. */
	assert_ok(doca_comm_channel_ep_set_device(f->ep, f->dev));
	assert_doca(doca_comm_channel_ep_listen(f->ep, "test"), DOCA_ERROR_BAD_STATE);
}

/* A DPU's second function, without servers by the topology. */
static const char mute_card[] = "cards:\n"
				"  - profile: bluefield-3\n"
				"    functions:\n"
				"      - {side: dpu, type: pf, pci: \"03:00.0\", represents: [\"host/b1:00.0\"],\n"
				"         caps: {comch-server: false}}\n"
				"      - {side: host, type: pf, pci: \"b1:00.0\"}\n";

static void test_device_without_servers_does_not_listen(void **state)
{
	struct fixture *f = *state;

	assert_ok(doca_comm_channel_ep_set_device(f->ep, f->dev));
	assert_ok(doca_comm_channel_ep_set_device_rep(f->ep, f->rep));
	/* provokes: doca_comm_channel_ep_listen DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_comm_channel_ep_listen(f->ep, "test"), DOCA_ERROR_NOT_SUPPORTED);
}

/* ---- memory ---- */

static struct doca_comm_channel_ep_t *made;

static doca_error_t make_endpoint(void)
{
	return doca_comm_channel_ep_create(&made);
}

static void test_endpoint_without_memory_is_refused(void **state)
{
	/* provokes: doca_comm_channel_ep_create DOCA_ERROR_NO_MEMORY */
	api_fail_each_allocation(make_endpoint, NULL);
	assert_ok(doca_comm_channel_ep_destroy(made));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static const struct CMUnitTest on_dpu[] = {
	cmocka_unit_test(test_limits_are_comchs),
	cmocka_unit_test(test_dpu_has_services),
	cmocka_unit_test(test_limits_are_refused_without_a_device_or_a_place),
	TEST(test_properties_are_what_was_set),
	TEST(test_sizes_are_rounded_up),
	TEST(test_sizes_that_no_device_has_are_refused),
	TEST(test_what_is_no_endpoint_is_refused),
	TEST(test_what_is_missing_or_of_another_kind_is_refused),
	TEST(test_service_needs_device_and_representor),
	TEST(test_closed_representor_is_none),
	TEST(test_client_needs_device_of_the_host),
	TEST(test_idle_endpoint_neither_sends_nor_receives),
	TEST(test_properties_of_a_service_stay),
	TEST(test_endpoint_that_is_gone_is_recognised),
};

static const struct CMUnitTest on_host[] = {
	cmocka_unit_test(test_limits_are_comchs),
	TEST(test_host_has_no_services),
	TEST(test_host_has_no_service_endpoint),
};

static const struct CMUnitTest on_mute[] = {
	TEST(test_device_without_servers_does_not_listen),
};

static const struct CMUnitTest without_memory[] = {
	cmocka_unit_test(test_endpoint_without_memory_is_refused),
};

int main(void)
{
	return API_RUN(
		{ .name = "the built-in card's DPU", .side = "dpu", API_WITH(on_dpu) },
		{ .name = "the built-in card's host", .side = "host", API_WITH(on_host) },
		{ .name = "a card whose DPU has no servers", .topology = mute_card, .side = "dpu", API_WITH(on_mute) },
		{ .name = "memory that runs out", .side = "dpu", API_WITH(without_memory) });
}
