/* SPDX-License-Identifier: BSD-3-Clause */
/* Comm Channel when a peer or the card's daemon dies or is stopped: no call waits for ever, whether it polls or
 * sleeps. */
#include <signal.h>
#include <stdlib.h>

#include "cmocka_test.h"
#include "channel_end.h"
#include "sim/api/bfsim.h"

/* ---- deaths ---- */

enum way {
	RECEIVES_BUSILY,
	RECEIVES_ASLEEP,
	SENDS_BUSILY,
	SENDS_ASLEEP,
	NUM_WAYS,
};

static doca_error_t go_on(enum way way)
{
	doca_error_t result;
	uint32_t value = 0;

	switch (way) {
	case RECEIVES_BUSILY:
		while ((result = end_try_receive(&value)) == DOCA_ERROR_AGAIN)
			;
		return result;
	case RECEIVES_ASLEEP:
		return end_receive(&value);
	case SENDS_BUSILY:
		while ((result = end_try_send(value)) == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN)
			;
		return result;
	default:
		while ((result = end_send(value)) == DOCA_SUCCESS)
			;
		return result;
	}
}

/* Connect, then exchange in some way until an error; disconnect, and connect to the next. */
static void surviving_service(int ctl, const void *way)
{
	doca_error_t result;
	uint32_t value;

	end_start_service(0);
	for (int round = 0; round < 2; round++) {
		end_sync_send(ctl);
		CHECK(end_receive(&value) == DOCA_SUCCESS);
		end_sync_send(ctl);
		result = go_on(*(const enum way *)way);
		CHECK(result == DOCA_ERROR_CONNECTION_RESET);
		CHECK(doca_comm_channel_ep_disconnect(end.ep, end.peer) == DOCA_SUCCESS);
	}
	CHECK(doca_comm_channel_ep_destroy(end.ep) == DOCA_SUCCESS);
	end_sync_send(ctl);
}

static void idle_client(int ctl, const void *unused)
{
	CHECK(end_call_service(0) == DOCA_SUCCESS);
	CHECK(end_send(1) == DOCA_SUCCESS);
	end_sync_send(ctl);
	end_sync_recv(ctl);
}

static void test_service_survives_each_client(void **state)
{
	for (enum way way = 0; way < NUM_WAYS; way++) {
		struct proc service, client;

		proc_start(&service, surviving_service, &way);
		for (int round = 0; round < 2; round++) {
			end_sync_recv(service.ctl);
			proc_start(&client, idle_client, NULL);
			end_sync_recv(client.ctl);
			end_sync_recv(service.ctl);
			proc_signal(&client, SIGKILL);
		}
		end_sync_recv(service.ctl);
		proc_end(&service);
	}
}

static void idle_service(int ctl, const void *unused)
{
	uint32_t value;

	end_start_service(0);
	end_sync_send(ctl);
	CHECK(end_receive(&value) == DOCA_SUCCESS);
	end_sync_send(ctl);
	end_sync_recv(ctl);
}

/* The same endpoint reaches the next service. */
static void surviving_client(int ctl, const void *way)
{
	doca_error_t result = end_call_service(0);

	for (int round = 0; round < 2; round++) {
		CHECK(result == DOCA_SUCCESS);
		end_get_channels();
		CHECK(end_send(1) == DOCA_SUCCESS);
		end_sync_send(ctl);
		result = go_on(*(const enum way *)way);
		CHECK(result == DOCA_ERROR_CONNECTION_RESET);
		CHECK(doca_comm_channel_peer_addr_update_info(end.peer) == DOCA_ERROR_CONNECTION_ABORTED);
		CHECK(doca_comm_channel_ep_disconnect(end.ep, end.peer) == DOCA_SUCCESS);
		CHECK(doca_comm_channel_ep_connect(end.ep, CHANNEL_NAME, &end.peer) == DOCA_ERROR_CONNECTION_ABORTED);
		end_sync_send(ctl);
		end_sync_recv(ctl);
		if (round == 0)
			result = doca_comm_channel_ep_connect(end.ep, CHANNEL_NAME, &end.peer);
	}
	CHECK(doca_comm_channel_ep_destroy(end.ep) == DOCA_SUCCESS);
}

static void test_client_survives_each_service(void **state)
{
	for (enum way way = 0; way < NUM_WAYS; way++) {
		struct proc service, client;

		for (int round = 0; round < 2; round++) {
			proc_start(&service, idle_service, NULL);
			end_sync_recv(service.ctl);
			if (round == 0)
				proc_start(&client, surviving_client, &way);
			else
				end_sync_send(client.ctl);
			end_sync_recv(client.ctl);
			end_sync_recv(service.ctl);
			proc_signal(&service, SIGKILL);
			end_sync_recv(client.ctl);
		}
		end_sync_send(client.ctl);
		proc_end(&client);
	}
}

/* A service that dies before it has accepted the client, and the end of the card. */
static void waiting_client(int ctl, const void *unused)
{
	doca_error_t result;

	CHECK(end_call_service(0) == DOCA_SUCCESS);
	end_sync_send(ctl);
	while ((result = doca_comm_channel_peer_addr_update_info(end.peer)) == DOCA_ERROR_CONNECTION_INPROGRESS) {
		CHECK(doca_comm_channel_ep_event_handle_arm_send(end.ep) == DOCA_SUCCESS);
		end_sleep_on(end.send);
	}
	CHECK(result == DOCA_ERROR_CONNECTION_ABORTED);
	CHECK(end_try_send(1) == DOCA_ERROR_CONNECTION_RESET);
	end_sync_send(ctl);
}

static void mute_service(int ctl, const void *unused)
{
	end_start_service(0);
	end_sync_send(ctl);
	end_sync_recv(ctl);
	CHECK(doca_comm_channel_ep_destroy(end.ep) == DOCA_SUCCESS);
}

static void test_handshake_ends_with_the_service(void **state)
{
	for (int killed = 0; killed < 2; killed++) {
		struct proc service, client;

		proc_start(&service, mute_service, NULL);
		end_sync_recv(service.ctl);
		proc_start(&client, waiting_client, NULL);
		end_sync_recv(client.ctl);
		if (killed)
			proc_signal(&service, SIGKILL);
		else
			end_sync_send(service.ctl);
		end_sync_recv(client.ctl);
		proc_end(&client);
		if (!killed)
			proc_end(&service);
	}
}

static void test_daemons_death_ends_connections(void **state)
{
	static const enum way way = RECEIVES_ASLEEP;
	struct proc service, client;

	proc_start(&service, idle_service, NULL);
	end_sync_recv(service.ctl);
	proc_start(&client, surviving_client, &way);
	end_sync_recv(client.ctl);
	end_sync_recv(service.ctl);
	channel_kill_daemon();
	end_sync_recv(client.ctl); /* the client saw the end, disconnected, and could not connect again */
}

/* ---- a service without peers when the daemon dies ---- */

static void lonely_service(int ctl, const void *way)
{
	doca_event_channel_t status;

	end_start_service(0);
	CHECK(doca_comm_channel_ep_get_service_event_channel(end.ep, &status) == DOCA_SUCCESS);
	end_sync_send(ctl);
	CHECK(go_on(*(const enum way *)way) == DOCA_ERROR_NOT_CONNECTED);
	CHECK(go_on(*(const enum way *)way) == DOCA_ERROR_NOT_CONNECTED); /* nothing to wait for */
	end_sleep_on(status);
	CHECK(doca_comm_channel_ep_update_service_state_info(end.ep) == DOCA_SUCCESS);
	CHECK(doca_comm_channel_ep_destroy(end.ep) == DOCA_SUCCESS);
	end_sync_send(ctl);
}

static void test_daemons_death_ends_a_service_without_peers(void **state)
{
	static const enum way ways[] = { RECEIVES_BUSILY, RECEIVES_ASLEEP };
	struct proc services[2];

	for (int i = 0; i < 2; i++) {
		if (i > 0) {
			session_teardown(state);
			session_setup(state);
		}
		proc_start(&services[i], lonely_service, &ways[i]);
		end_sync_recv(services[i].ctl);
		channel_kill_daemon();
		end_sync_recv(services[i].ctl);
		proc_end(&services[i]);
	}
}

/* ---- a service whose function is reset ---- */

static void talk_to_first(int ctl, const void *unused)
{
	CHECK(end_call_service(0) == DOCA_SUCCESS);
	CHECK(end_send(1) == DOCA_SUCCESS);
	end_sync_recv(ctl);
}

static void talk_to_second(int ctl, const void *unused)
{
	CHECK(end_call_service(1) == DOCA_SUCCESS);
	CHECK(end_send(1) == DOCA_SUCCESS);
	end_sync_recv(ctl);
	CHECK(end_send(2) == DOCA_SUCCESS);
	end_sync_recv(ctl);
}

/* Calls on the reset service's endpoint do nothing to the peers of the other service. */
static void two_services(int ctl, const void *unused)
{
	struct channel_end first, second;
	uint32_t value;

	end_start_service(0);
	first = end;
	end_start_service(1);
	second = end;
	end_sync_send(ctl);
	end = first;
	CHECK(end_receive(&value) == DOCA_SUCCESS);
	CHECK(bfsim_fault_add("function device=03:00.0 reset", NULL) == 0);
	while (doca_comm_channel_peer_addr_update_info(end.peer) == DOCA_SUCCESS)
		; /* the reset may be seen before the connection's end */
	CHECK(end_receive(&value) == DOCA_ERROR_CONNECTION_RESET);
	CHECK(end_receive(&value) == DOCA_ERROR_NOT_CONNECTED); /* there is no other peer to wait for */
	end_sync_send(ctl);
	first = end;
	end = second;
	CHECK(end_receive(&value) == DOCA_SUCCESS && value == 1);
	second = end;
	end = first;
	CHECK(end_try_send(3) == DOCA_ERROR_CONNECTION_RESET);
	CHECK(doca_comm_channel_peer_addr_update_info(end.peer) == DOCA_ERROR_CONNECTION_ABORTED);
	CHECK(doca_comm_channel_ep_disconnect(end.ep, end.peer) == DOCA_SUCCESS);
	CHECK(doca_comm_channel_ep_destroy(end.ep) == DOCA_SUCCESS);
	end_sync_send(ctl);
	end = second;
	CHECK(end_receive(&value) == DOCA_SUCCESS && value == 2);
	CHECK(doca_comm_channel_ep_destroy(end.ep) == DOCA_SUCCESS);
	end_sync_send(ctl);
}

static void test_service_gets_its_functions_reset_and_others_go_on(void **state)
{
	struct proc services, first, second;

	proc_start(&services, two_services, NULL);
	end_sync_recv(services.ctl);
	proc_start(&first, talk_to_first, NULL);
	end_sync_recv(services.ctl);
	proc_start(&second, talk_to_second, NULL);
	end_sync_recv(services.ctl);
	end_sync_send(second.ctl);
	end_sync_recv(services.ctl);
	end_sync_send(second.ctl);
	end_sync_send(first.ctl);
	proc_end(&second);
	proc_end(&first);
	proc_end(&services);
}

/* ---- a stopped peer ---- */

/* No call here waits for the stopped peer. */
static void client_of_stopped_service(int ctl, const void *unused)
{
	struct doca_comm_channel_addr_t *peer;
	uint32_t value;

	CHECK(end_call_service(0) == DOCA_SUCCESS);
	CHECK(end_send(1) == DOCA_SUCCESS);
	end_sync_send(ctl);
	end_sync_recv(ctl);
	while (end_try_send(2) == DOCA_SUCCESS)
		;
	CHECK(end_try_send(2) == DOCA_ERROR_AGAIN);
	CHECK(end_try_receive(&value) == DOCA_ERROR_AGAIN);
	CHECK(doca_comm_channel_peer_addr_update_info(end.peer) == DOCA_SUCCESS);
	CHECK(doca_comm_channel_ep_disconnect(end.ep, end.peer) == DOCA_SUCCESS);
	CHECK(doca_comm_channel_ep_connect(end.ep, CHANNEL_NAME, &peer) == DOCA_SUCCESS);
	CHECK(doca_comm_channel_peer_addr_update_info(peer) == DOCA_ERROR_CONNECTION_INPROGRESS);
	CHECK(doca_comm_channel_ep_destroy(end.ep) == DOCA_SUCCESS);
	end_sync_send(ctl);
}

static void test_stopped_service_delays_no_other(void **state)
{
	struct proc service, client;

	proc_start(&service, idle_service, NULL);
	end_sync_recv(service.ctl);
	proc_start(&client, client_of_stopped_service, NULL);
	end_sync_recv(client.ctl);
	end_sync_recv(service.ctl);
	proc_signal(&service, SIGSTOP);
	end_sync_send(client.ctl);
	end_sync_recv(client.ctl);
	proc_end(&client);
	proc_signal(&service, SIGCONT);
	end_sync_send(service.ctl);
	proc_end(&service);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHANNEL_TEST(test_service_survives_each_client),
		CHANNEL_TEST(test_client_survives_each_service),
		CHANNEL_TEST(test_handshake_ends_with_the_service),
		CHANNEL_TEST(test_daemons_death_ends_connections),
		CHANNEL_TEST(test_daemons_death_ends_a_service_without_peers),
		CHANNEL_TEST(test_service_gets_its_functions_reset_and_others_go_on),
		CHANNEL_TEST(test_stopped_service_delays_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
