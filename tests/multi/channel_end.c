/* SPDX-License-Identifier: BSD-3-Clause */
/* Comm Channel endpoints in processes of a test. */
#include "cmocka_test.h"
#include "channel_end.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct channel_end end;

int channel_teardown(void **state)
{
	return test_session.daemon.pid ? session_stop_teardown(state) : session_teardown(state);
}

void channel_kill_daemon(void)
{
	proc_signal(&test_session.daemon, SIGKILL);
	test_session.daemon.pid = 0;
}

/* ---- in the processes ---- */

void end_open(const char *side, uint32_t function)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t count;

	memset(&end, 0, sizeof(end));
	setenv("BFSIM_SIDE", side, 1);
	CHECK(doca_devinfo_create_list(&list, &count) == DOCA_SUCCESS && count > function);
	CHECK(doca_dev_open(list[function], &dev) == DOCA_SUCCESS);
	CHECK(doca_devinfo_destroy_list(list) == DOCA_SUCCESS);
	CHECK(doca_comm_channel_ep_create(&end.ep) == DOCA_SUCCESS);
	CHECK(doca_comm_channel_ep_set_device(end.ep, dev) == DOCA_SUCCESS);
	CHECK(doca_comm_channel_ep_set_recv_queue_size(end.ep, CHANNEL_QUEUE) == DOCA_SUCCESS);
}

void end_get_channels(void)
{
	CHECK(doca_comm_channel_ep_get_event_channel(end.ep, &end.send, &end.recv) == DOCA_SUCCESS);
}

/* For the host's function of that number, which the DPU's of that number has the representor of. */
void end_start_service(uint32_t function)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep;
	struct doca_dev *dev;
	uint32_t count;

	end_open("dpu", function);
	CHECK(doca_comm_channel_ep_get_device(end.ep, &dev) == DOCA_SUCCESS);
	CHECK(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count) == DOCA_SUCCESS);
	CHECK(count > 0 && doca_dev_rep_open(list[0], &rep) == DOCA_SUCCESS);
	CHECK(doca_devinfo_rep_destroy_list(list) == DOCA_SUCCESS);
	CHECK(doca_comm_channel_ep_set_device_rep(end.ep, rep) == DOCA_SUCCESS);
	CHECK(doca_comm_channel_ep_listen(end.ep, CHANNEL_NAME) == DOCA_SUCCESS);
	end_get_channels();
}

doca_error_t end_call_service(uint32_t function)
{
	doca_error_t result;

	end_open("host", function);
	result = doca_comm_channel_ep_connect(end.ep, CHANNEL_NAME, &end.peer);
	if (result == DOCA_SUCCESS)
		end_get_channels();
	return result;
}

void end_sleep_on(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	CHECK(poll(&wait, 1, PROC_DEADLINE_MS / 2) == 1);
}

doca_error_t end_try_receive(uint32_t *value)
{
	size_t len = sizeof(*value);
	doca_error_t result = doca_comm_channel_ep_recvfrom(end.ep, value, &len, DOCA_CC_MSG_FLAG_NONE, &end.peer);

	CHECK(result != DOCA_SUCCESS || len == sizeof(*value));
	return result;
}

doca_error_t end_receive(uint32_t *value)
{
	doca_error_t result;

	while ((result = end_try_receive(value)) == DOCA_ERROR_AGAIN) {
		CHECK(doca_comm_channel_ep_event_handle_arm_recv(end.ep) == DOCA_SUCCESS);
		end_sleep_on(end.recv);
	}
	return result;
}

doca_error_t end_try_send(uint32_t value)
{
	return doca_comm_channel_ep_sendto(end.ep, &value, sizeof(value), DOCA_CC_MSG_FLAG_NONE, end.peer);
}

doca_error_t end_send(uint32_t value)
{
	doca_error_t result;

	while ((result = end_try_send(value)) == DOCA_ERROR_AGAIN) {
		CHECK(doca_comm_channel_ep_event_handle_arm_send(end.ep) == DOCA_SUCCESS);
		end_sleep_on(end.send);
	}
	return result;
}

void end_echo_until_gone(void)
{
	doca_error_t result;
	uint32_t value;

	while ((result = end_receive(&value)) == DOCA_SUCCESS)
		CHECK(end_send(value) == DOCA_SUCCESS);
	CHECK(result == DOCA_ERROR_CONNECTION_RESET);
}

void end_sync_send(int ctl)
{
	proc_send(ctl, "", 1);
}

void end_sync_recv(int ctl)
{
	char byte;

	proc_recv(ctl, &byte, 1);
}
