/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/channel_end.h - processes with one Comm Channel endpoint each, in a session of the test.
 *
 * @end is the endpoint of the process. Messages are numbers. A function that waits
 * sleeps on an event channel and has a deadline; a try function does not wait.
 */
#ifndef TESTS_MULTI_CHANNEL_END_H
#define TESTS_MULTI_CHANNEL_END_H

#include <doca_comm_channel.h>
#include <doca_dev.h>

#include "session_util.h"

#define CHANNEL_NAME     "channel" /* of services */
#define CHANNEL_QUEUE    8         /* messages that an endpoint's receive queue holds */
#define CHANNEL_MESSAGES 400

/* A test in a session. The teardown expects that the daemon stops well, unless the test killed the daemon. */
#define CHANNEL_TEST(test) cmocka_unit_test_setup_teardown(test, session_setup, channel_teardown)

int channel_teardown(void **state);
void channel_kill_daemon(void);

/* ---- in the processes ---- */

extern struct channel_end {
	struct doca_comm_channel_ep_t *ep;
	struct doca_comm_channel_addr_t *peer; /* the peer of the last connection or message */
	doca_event_channel_t send, recv;
} end;

/* An idle endpoint on the side's device of that number. */
void end_open(const char *side, uint32_t function);

/* Open one, and listen for the host's function of that number, which the DPU's of that number has the representor of. */
void end_start_service(uint32_t function);

/* Open one, and connect to a service. */
doca_error_t end_call_service(uint32_t function);

/* After a connect: get the event channels. */
void end_get_channels(void);

void end_sleep_on(int fd);
doca_error_t end_try_receive(uint32_t *value);
doca_error_t end_receive(uint32_t *value);
doca_error_t end_try_send(uint32_t value);
doca_error_t end_send(uint32_t value);

/* Send back all messages of one peer until the peer is gone. */
void end_echo_until_gone(void);

/* Send one byte without a meaning, and receive one; in the test as well. */
void end_sync_send(int ctl);
void end_sync_recv(int ctl);

#endif
