/* SPDX-License-Identifier: BSD-3-Clause */
/* Comm Channel between processes: many at once, on other functions, in a forked child. */
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_comm_channel.h>
#include <doca_dev.h>

#include "cmocka_test.h"
#include "channel_end.h"

#define NUM_CLIENTS 8

/* ---- many clients that sleep on all their event channels ---- */

/* Messages that a service could not send yet: it receives no more until they are sent. */
static struct {
	struct doca_comm_channel_addr_t *to;
	uint32_t value;
} debt;

static void watch(int epoll_fd, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	CHECK(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0);
}

static void echo(struct doca_comm_channel_addr_t *to, uint32_t value)
{
	doca_error_t result;

	end.peer = to;
	result = end_try_send(value);
	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN);
	debt.to = result == DOCA_ERROR_AGAIN ? to : NULL;
	debt.value = value;
}

/* Receive and echo while there is a message, and room. Returns how many peers left. */
static int receive_all(void)
{
	doca_error_t result = DOCA_SUCCESS;
	uint32_t value;
	int gone = 0;

	if (debt.to)
		echo(debt.to, debt.value);
	while (!debt.to && (result = end_try_receive(&value)) != DOCA_ERROR_AGAIN) {
		if (result == DOCA_SUCCESS) {
			echo(end.peer, value);
			continue;
		}
		CHECK(result == DOCA_ERROR_CONNECTION_RESET);
		CHECK(doca_comm_channel_ep_disconnect(end.ep, end.peer) == DOCA_SUCCESS);
		gone++;
	}
	return gone;
}

static uint32_t count_peers(void)
{
	struct doca_comm_channel_addr_t **list;
	uint32_t count;

	CHECK(doca_comm_channel_ep_update_service_state_info(end.ep) == DOCA_SUCCESS);
	CHECK(doca_comm_channel_ep_get_peer_addr_list(end.ep, &list, &count) == DOCA_SUCCESS);
	return count;
}

/* Sleep until there is a message (or room, if echoes are pending), or the peers change. */
static void sleep_on_both(int news, int service)
{
	struct pollfd fds[] = { { .fd = news, .events = POLLIN }, { .fd = service, .events = POLLIN } };

	CHECK(poll(fds, 2, PROC_DEADLINE_MS / 2) > 0);
}

/* Wait until all clients have connected and disconnected; the service channel has reported both. */
static void echo_service(int ctl, const void *unused)
{
	doca_event_channel_t service;
	uint32_t most = 0;
	int gone = 0;

	end_start_service(0);
	CHECK(doca_comm_channel_ep_get_service_event_channel(end.ep, &service) == DOCA_SUCCESS);
	end_sync_send(ctl);
	while (gone < NUM_CLIENTS) {
		uint32_t count = count_peers();

		most = count > most ? count : most;
		if (debt.to)
			CHECK(doca_comm_channel_ep_event_handle_arm_send(end.ep) == DOCA_SUCCESS);
		else
			CHECK(doca_comm_channel_ep_event_handle_arm_recv(end.ep) == DOCA_SUCCESS);
		sleep_on_both(debt.to ? end.send : end.recv, service);
		gone += receive_all();
	}
	CHECK(count_peers() == 0 && most > 0);
	CHECK(doca_comm_channel_ep_destroy(end.ep) == DOCA_SUCCESS);
	end_sync_send(ctl);
}

/* Send while there is room, receive whenever there is a message: one epoll for both. */
static void pipelining_client(int ctl, const void *number)
{
	uint32_t sent = 0, received = 0, base = *(const uint32_t *)number * 10000, value;
	int epoll_fd = epoll_create1(0);

	CHECK(end_call_service(0) == DOCA_SUCCESS);
	watch(epoll_fd, end.recv);
	watch(epoll_fd, end.send);
	while (received < CHANNEL_MESSAGES) {
		struct epoll_event events[2];
		doca_error_t result = DOCA_SUCCESS;

		while (sent < CHANNEL_MESSAGES && (result = end_try_send(base + sent)) == DOCA_SUCCESS)
			sent++;
		CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN);
		while ((result = end_try_receive(&value)) == DOCA_SUCCESS)
			CHECK(value == base + received++);
		CHECK(result == DOCA_ERROR_AGAIN);
		if (received == CHANNEL_MESSAGES)
			break;
		CHECK(doca_comm_channel_ep_event_handle_arm_recv(end.ep) == DOCA_SUCCESS);
		if (sent < CHANNEL_MESSAGES)
			CHECK(doca_comm_channel_ep_event_handle_arm_send(end.ep) == DOCA_SUCCESS);
		CHECK(epoll_wait(epoll_fd, events, 2, PROC_DEADLINE_MS / 2) > 0);
	}
	CHECK(doca_comm_channel_ep_destroy(end.ep) == DOCA_SUCCESS);
	end_sync_send(ctl);
}

static void test_many_sleeping_clients_get_every_echo_in_order(void **state)
{
	static const uint32_t numbers[NUM_CLIENTS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct proc service, clients[NUM_CLIENTS];

	proc_start(&service, echo_service, NULL);
	end_sync_recv(service.ctl);
	for (int i = 0; i < NUM_CLIENTS; i++)
		proc_start(&clients[i], pipelining_client, &numbers[i]);
	for (int i = 0; i < NUM_CLIENTS; i++) {
		end_sync_recv(clients[i].ctl);
		proc_end(&clients[i]);
	}
	end_sync_recv(service.ctl);
	proc_end(&service);
}

/* ---- calls other than recvfrom ---- */

/* Calls other than recvfrom leave messages in the queue: the sender gets AGAIN. */
static void service_that_does_not_receive(int ctl, const void *unused)
{
	uint32_t value;

	end_start_service(0);
	end_sync_send(ctl);
	CHECK(end_receive(&value) == DOCA_SUCCESS && value == 0);
	end_sync_send(ctl);
	end_sync_recv(ctl);
	for (int i = 0; i < 100; i++) {
		CHECK(doca_comm_channel_ep_event_handle_arm_send(end.ep) == DOCA_SUCCESS);
		CHECK(doca_comm_channel_ep_event_handle_arm_recv(end.ep) == DOCA_SUCCESS);
		CHECK(doca_comm_channel_ep_update_service_state_info(end.ep) == DOCA_SUCCESS);
		CHECK(doca_comm_channel_peer_addr_update_info(end.peer) == DOCA_SUCCESS);
	}
	end_sync_send(ctl);
	end_sync_recv(ctl);
	for (uint32_t i = 1; i <= CHANNEL_QUEUE; i++)
		CHECK(end_receive(&value) == DOCA_SUCCESS && value == i);
	CHECK(end_try_receive(&value) == DOCA_ERROR_AGAIN);
	end_sync_send(ctl);
}

static void client_that_fills_the_queue(int ctl, const void *unused)
{
	uint32_t sent = 1;

	CHECK(end_call_service(0) == DOCA_SUCCESS);
	CHECK(end_send(0) == DOCA_SUCCESS);
	end_sync_recv(ctl);
	while (end_try_send(sent) == DOCA_SUCCESS)
		sent++;
	CHECK(sent == CHANNEL_QUEUE + 1);
	end_sync_send(ctl);
	end_sync_recv(ctl);
	CHECK(end_try_send(sent) == DOCA_ERROR_AGAIN);
	end_sync_send(ctl);
	end_sync_recv(ctl);
}

static void test_messages_wait_with_the_peer_until_received(void **state)
{
	struct proc service, client;

	proc_start(&service, service_that_does_not_receive, NULL);
	end_sync_recv(service.ctl);
	proc_start(&client, client_that_fills_the_queue, NULL);
	end_sync_recv(service.ctl);
	end_sync_send(client.ctl);
	end_sync_recv(client.ctl); /* the queue is full */
	end_sync_send(service.ctl);
	end_sync_recv(service.ctl); /* the service has called every other function */
	end_sync_send(client.ctl);
	end_sync_recv(client.ctl); /* the queue is still full */
	end_sync_send(service.ctl);
	end_sync_recv(service.ctl);
	end_sync_send(client.ctl);
	proc_end(&client);
	proc_end(&service);
}

/* ---- isolation ---- */

/* Receives a message and replies with its own function's number. */
static void numbered_service(int ctl, const void *function)
{
	uint32_t value;

	end_start_service(*(const uint32_t *)function);
	end_sync_send(ctl);
	CHECK(end_receive(&value) == DOCA_SUCCESS);
	CHECK(value == *(const uint32_t *)function);
	CHECK(end_send(value) == DOCA_SUCCESS);
	end_sync_recv(ctl);
}

static void numbered_client(int ctl, const void *function)
{
	uint32_t number = *(const uint32_t *)function, value;
	doca_error_t result = end_call_service(number);

	if (result == DOCA_SUCCESS) {
		CHECK(end_send(number) == DOCA_SUCCESS);
		CHECK(end_receive(&value) == DOCA_SUCCESS);
		CHECK(value == number);
	}
	proc_send(ctl, &result, sizeof(result));
}

static doca_error_t result_of_client(const uint32_t *function)
{
	struct proc client;
	doca_error_t result;

	proc_start(&client, numbered_client, function);
	proc_recv(client.ctl, &result, sizeof(result));
	proc_end(&client);
	return result;
}

static void test_function_reaches_the_service_of_its_representor_alone(void **state)
{
	static const uint32_t functions[] = { 0, 1 };
	struct proc services[2];

	proc_start(&services[0], numbered_service, &functions[0]);
	end_sync_recv(services[0].ctl);
	assert_int_equal(result_of_client(&functions[1]), DOCA_ERROR_CONNECTION_ABORTED);
	proc_start(&services[1], numbered_service, &functions[1]); /* of the same name */
	end_sync_recv(services[1].ctl);
	assert_int_equal(result_of_client(&functions[1]), DOCA_SUCCESS);
	assert_int_equal(result_of_client(&functions[0]), DOCA_SUCCESS);
	for (int i = 0; i < 2; i++) {
		end_sync_send(services[i].ctl);
		proc_end(&services[i]);
	}
}

/* ---- fork() ---- */

static void lone_echo_service(int ctl, const void *unused)
{
	end_start_service(0);
	end_sync_send(ctl);
	end_echo_until_gone();
	end_sync_send(ctl);
}

/* The child has the parent's handles, and none of its connections. */
static void client_that_forks(int ctl, const void *unused)
{
	uint32_t value;
	int status;
	pid_t child;

	CHECK(end_call_service(0) == DOCA_SUCCESS);
	CHECK(end_send(0) == DOCA_SUCCESS);
	CHECK(end_receive(&value) == DOCA_SUCCESS);
	child = fork();
	if (child == 0) {
		CHECK(end_try_receive(&value) == DOCA_ERROR_NOT_CONNECTED);
		CHECK(end_try_send(7) == DOCA_ERROR_NOT_CONNECTED);
		CHECK(doca_comm_channel_ep_destroy(end.ep) == DOCA_SUCCESS);
		_exit(0);
	}
	proc_adopt(child);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	for (uint32_t i = 1; i < CHANNEL_MESSAGES; i++) {
		CHECK(end_send(i) == DOCA_SUCCESS);
		CHECK(end_receive(&value) == DOCA_SUCCESS);
		CHECK(value == i);
	}
	end_sync_send(ctl);
}

static void test_forked_child_has_no_connection(void **state)
{
	struct proc service, client;

	proc_start(&service, lone_echo_service, NULL);
	end_sync_recv(service.ctl);
	proc_start(&client, client_that_forks, NULL);
	end_sync_recv(client.ctl);
	proc_end(&client);
	end_sync_recv(service.ctl);
	proc_end(&service);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHANNEL_TEST(test_many_sleeping_clients_get_every_echo_in_order),
		CHANNEL_TEST(test_messages_wait_with_the_peer_until_received),
		CHANNEL_TEST(test_function_reaches_the_service_of_its_representor_alone),
		CHANNEL_TEST(test_forked_child_has_no_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
