/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/channel_util.h - two processes on one card, for the tests of Comm Channel.
 *
 * A test is two functions, which run in processes of their own on the two sides of
 * a session's card (built-in topology):
 *
 *   static void test_..._dpu(struct side *side)    { ... listen ... }
 *   static void test_..._host(struct side *side)   { ... connect ... }
 *   static const struct CMUnitTest tests[] = { CHANNEL_TEST(test_...), ... };
 *
 * The sides synchronise by channel_sync_send() and channel_sync_recv(). cmocka's
 * assertions don't work there: EXPECT, MUST and CHECK end the process, and with it the test.
 * All waiting sleeps on event channels, and has a deadline.
 */
#ifndef TESTS_API_CHANNEL_UTIL_H
#define TESTS_API_CHANNEL_UTIL_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <doca_comm_channel.h>

#include "cmocka_test.h"
#include "doca_check.h"

#define CHANNEL_NAME "test"

struct side {
	int sync_fd;
	struct doca_dev *dev;
	struct doca_dev_rep *rep;              /* the DPU's: of the host's first device */
	struct doca_comm_channel_ep_t *ep;     /* idle, with the device and the representor set */
	struct doca_comm_channel_addr_t *peer; /* the peer of the last message or event */
	char message[8192];                    /* the last message's number */
	size_t message_len;
};

typedef void channel_half(struct side *side);

struct channel_halves {
	channel_half *dpu, *host;
};

#define CHANNEL_TEST(test)                                                            \
	{                                                                             \
		.name = #test, .test_func = channel_run_halves,                       \
		.initial_state = &(struct channel_halves){ test##_dpu, test##_host }, \
	}

void channel_run_halves(void **state);

/* The group's: a session's daemon (BFSIMD names the program). */
int channel_session_start(void **state);
int channel_session_end(void **state);

/* ---- in the processes ---- */

/* Send one value to the other side; receive its next value, which must be this one. */
void channel_sync_send(struct side *side, char value);
void channel_sync_recv(struct side *side, char value);

/* Sleep until @fd is readable. */
void channel_sleep(int fd);

/* Connect to the service CHANNEL_NAME, and wait until the service has accepted. */
void channel_connect(struct side *side);

/* Send a text when the queue has room. */
void channel_say(struct side *side, const char *text);

/* Receive a message when there is one: it must be this text; or get another result. */
void channel_expect(struct side *side, const char *text);
doca_error_t channel_receive(struct side *side);

#endif
