/* SPDX-License-Identifier: BSD-3-Clause */
/* Exporters whose endpoint is closed for a while, for example because a memory was hidden and the endpoint opens
 * again: importers without a GONE message wait for it, and so do those that have just received its address. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "ofi_exporter.h"

#define TIMEOUT_MS 5000
#define MIB        (1u << 20)
#define MAX_PAIRS  64
#define AWAY_MS    100   /* opening an endpoint takes 1 ms */
#define BREAKS_S   6     /* longer than importers wait for a closed endpoint */
#define MUCH       65536 /* bytes, more than there are before data */

static const atomic_bool never;

static struct exporter exporter;

static int start(void **state)
{
	return exporter_start(&exporter, *state);
}

static int stop(void **state)
{
	(void)state;
	exporter_stop(&exporter);
	return count_shm_files(exporter.shm_prefix); /* 0: no file is left */
}

/* ---- a relay before the exporter's socket, which closes on command ---- */

struct pair {
	int fds[2];
	size_t carried; /* bytes, either way */
};

struct relay {
	struct sockaddr_in here, to;
	int listen_fd;
	int order_fd[2]; /* 'a': close for AWAY_MS, 's': stop */
	atomic_uint times_away;
	_Atomic time_t breaks_until_s; /* a connection that carries more is broken off */
	struct pair pairs[MAX_PAIRS];
	unsigned int num_pairs;
	pthread_t thread;
};

static void end_pairs(struct relay *relay)
{
	for (unsigned int i = 0; i < relay->num_pairs; i++) {
		close(relay->pairs[i].fds[0]);
		close(relay->pairs[i].fds[1]);
	}
	relay->num_pairs = 0;
}

/* A socket at the relay's address; connections are refused until it listens. */
static void take_address(struct relay *relay)
{
	relay->listen_fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(setsockopt(relay->listen_fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)), 0);
	assert_int_equal(bind(relay->listen_fd, (struct sockaddr *)&relay->here, sizeof(relay->here)), 0);
}

static void be_away(struct relay *relay)
{
	end_pairs(relay);
	close(relay->listen_fd);
	take_address(relay);
	atomic_fetch_add(&relay->times_away, 1);
	poll(NULL, 0, AWAY_MS);
	assert_int_equal(listen(relay->listen_fd, MAX_PAIRS), 0);
}

static void take_caller(struct relay *relay)
{
	int fd = accept(relay->listen_fd, NULL, NULL), other;

	other = socket(AF_INET, SOCK_STREAM, 0);
	if (relay->num_pairs == MAX_PAIRS || connect(other, (struct sockaddr *)&relay->to, sizeof(relay->to)) < 0) {
		close(fd);
		close(other);
		return;
	}
	relay->pairs[relay->num_pairs++] = (struct pair){ .fds = { fd, other } };
}

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Forward the data of end @from. Returns false if the connection ended. */
static bool pass_on(const struct relay *relay, struct pair *pair, int from)
{
	char buf[65536];
	ssize_t got = read(pair->fds[from], buf, sizeof(buf));

	pair->carried += got > 0 ? (size_t)got : 0;
	if (pair->carried >= MUCH && now_s() < relay->breaks_until_s) {
		poll(NULL, 0, AWAY_MS);
		return false;
	}
	for (ssize_t at = 0; at < got;) {
		ssize_t sent = send(pair->fds[!from], buf + at, (size_t)(got - at), MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		at += sent;
	}
	return got > 0;
}

static void drop_pair(struct relay *relay, unsigned int i)
{
	close(relay->pairs[i].fds[0]);
	close(relay->pairs[i].fds[1]);
	relay->pairs[i] = relay->pairs[--relay->num_pairs];
}

static void *run_relay(void *arg)
{
	struct relay *relay = arg;
	struct pollfd polled[2 + 2 * MAX_PAIRS];

	for (;;) {
		unsigned int num = relay->num_pairs;

		char order;

		polled[0] = (struct pollfd){ .fd = relay->order_fd[0], .events = POLLIN };
		polled[1] = (struct pollfd){ .fd = relay->listen_fd, .events = POLLIN };
		for (unsigned int i = 0; i < 2 * num; i++)
			polled[2 + i] = (struct pollfd){ .fd = relay->pairs[i / 2].fds[i % 2], .events = POLLIN };
		poll(polled, 2 + 2 * num, -1);
		if (polled[0].revents) {
			if (read(relay->order_fd[0], &order, 1) != 1 || order == 's')
				break;
			be_away(relay);
			continue;
		}
		for (unsigned int i = num; i-- > 0;)
			if ((polled[2 + 2 * i].revents && !pass_on(relay, &relay->pairs[i], 0)) ||
			    (polled[3 + 2 * i].revents && !pass_on(relay, &relay->pairs[i], 1)))
				drop_pair(relay, i);
		if (polled[1].revents)
			take_caller(relay);
	}
	end_pairs(relay);
	return NULL;
}

/* From here on @desc leads through the relay. */
static void relay_start(struct relay *relay, struct sim_ofi_desc *desc)
{
	socklen_t len = sizeof(relay->here);

	relay->here = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	memcpy(&relay->to, desc->addr[0], sizeof(relay->to));
	assert_int_equal(relay->to.sin_family, AF_INET);
	take_address(relay);
	assert_int_equal(listen(relay->listen_fd, MAX_PAIRS), 0);
	assert_int_equal(getsockname(relay->listen_fd, (struct sockaddr *)&relay->here, &len), 0);
	memcpy(desc->addr[0], &relay->here, sizeof(relay->here));
	desc->num_addrs = 1;
	assert_int_equal(pipe(relay->order_fd), 0);
	assert_int_equal(pthread_create(&relay->thread, NULL, run_relay, relay), 0);
}

static void relay_stop(struct relay *relay)
{
	assert_int_equal(write(relay->order_fd[1], "s", 1), 1);
	pthread_join(relay->thread, NULL);
	close(relay->listen_fd);
	close(relay->order_fd[0]);
	close(relay->order_fd[1]);
}

static struct sim_ofi_link *connect_to(const struct sim_ofi_desc *desc, size_t len)
{
	struct sim_ofi_link *link = NULL;

	assert_int_equal(sim_ofi_link_create(desc, len, TIMEOUT_MS, NULL, NULL, &link), 0);
	return link;
}

static void test_exporter_that_is_away_for_a_while_is_waited_for(void **state)
{
	uint8_t *buf = calloc(8, MIB);
	struct relay relay = { .num_pairs = 0 };
	struct sim_ofi_desc desc;
	struct sim_ofi_link *link;

	(void)state;
	exporter_expose(&exporter, 8 * MIB, true, 7, &desc);
	relay_start(&relay, &desc);
	link = connect_to(&desc, 8 * MIB);
	assert_int_equal(write(relay.order_fd[1], "aaa", 3), 3); /* many times as long as opening takes */
	for (int i = 0; i < 8; i++)
		assert_int_equal(sim_ofi_link_read(link, buf, 0, 8 * MIB, &never), 0);
	for (size_t i = 0; i < 8 * MIB; i++)
		assert_int_equal(buf[i], 7);
	sim_ofi_link_destroy(link);
	relay_stop(&relay);
	assert_int_equal(relay.times_away, 3);
	free(buf);
}

/* Exposures that end one after the other: each time the importer finds the memory again, and no piece is
 * transferred. */
static void test_transfer_that_is_broken_off_for_long_goes_on(void **state)
{
	uint8_t *buf = calloc(8, MIB);
	struct relay relay = { .num_pairs = 0 };
	struct sim_ofi_desc desc;
	struct sim_ofi_link *link;

	(void)state;
	exporter_expose(&exporter, 8 * MIB, true, 7, &desc);
	relay_start(&relay, &desc);
	link = connect_to(&desc, 8 * MIB);
	atomic_store(&relay.breaks_until_s, now_s() + BREAKS_S);
	assert_int_equal(sim_ofi_link_read(link, buf, 0, 8 * MIB, &never), 0);
	assert_true(now_s() >= relay.breaks_until_s);
	for (size_t i = 0; i < 8 * MIB; i++)
		assert_int_equal(buf[i], 7);
	sim_ofi_link_destroy(link);
	relay_stop(&relay);
	free(buf);
}

static void test_exporter_that_is_away_for_a_while_is_connected_to(void **state)
{
	struct relay relay = { .num_pairs = 0 };
	struct sim_ofi_desc desc;

	(void)state;
	exporter_expose(&exporter, 4096, true, 7, &desc);
	relay_start(&relay, &desc);
	assert_int_equal(write(relay.order_fd[1], "aaa", 3), 3);
	while (atomic_load(&relay.times_away) == 0)
		sched_yield();
	sim_ofi_link_destroy(connect_to(&desc, 4096));
	relay_stop(&relay);
}

struct stream {
	struct sim_ofi_link *link;
	atomic_bool stop;
	int rc;
	unsigned int rounds;
};

static void *stream_thread(void *arg)
{
	struct stream *stream = arg;
	uint8_t *buf = calloc(8, MIB);

	while (stream->rc == 0 && !atomic_load(&stream->stop))
		stream->rc = stream->rounds++ % 2 ? sim_ofi_link_read(stream->link, buf, 0, 8 * MIB, &never) :
						    sim_ofi_link_write(stream->link, buf, 0, 8 * MIB, &never);
	free(buf);
	return NULL;
}

/* Each end may interrupt a transfer of the other: the transfer is repeated, however often. */
static void test_transfer_goes_on_while_a_hundred_other_memories_are_hidden(void **state)
{
	enum { NUM = 100 };
	struct stream stream = { .rc = 0 };
	struct sim_ofi_desc desc, other_desc;
	int others[NUM];
	pthread_t thread;

	(void)state;
	exporter_expose(&exporter, 8 * MIB, true, 1, &desc);
	for (int i = 0; i < NUM; i++)
		others[i] = exporter_expose(&exporter, 4096, true, 2, &other_desc);
	stream.link = connect_to(&desc, 8 * MIB);
	assert_int_equal(pthread_create(&thread, NULL, stream_thread, &stream), 0);
	for (int i = 0; i < NUM; i++)
		exporter_hide(&exporter, others[i]);
	atomic_store(&stream.stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(stream.rc, 0);
	sim_ofi_link_destroy(stream.link);
}

#define TEST(name, provider)                                                                     \
	{                                                                                        \
#name " over " provider, test_##name, start, stop, (void *)(uintptr_t)(provider) \
	}

/* Loads libfabric, here and for all the children. */
static bool have(const char *provider)
{
	struct sim_ofi_target *target = NULL;
	int rc = sim_ofi_target_create(provider, &target);

	sim_ofi_target_destroy(target);
	if (rc < 0)
		printf("SKIPPED: libfabric has no %s here (%s)\n", provider, strerror(-rc));
	return rc == 0;
}

int main(void)
{
	const struct CMUnitTest shm[] = {
		TEST(transfer_goes_on_while_a_hundred_other_memories_are_hidden, "shm"),
	};
	const struct CMUnitTest tcp[] = {
		TEST(exporter_that_is_away_for_a_while_is_waited_for, "tcp"),
		TEST(exporter_that_is_away_for_a_while_is_connected_to, "tcp"),
		TEST(transfer_that_is_broken_off_for_long_goes_on, "tcp"),
		TEST(transfer_goes_on_while_a_hundred_other_memories_are_hidden, "tcp"),
	};
	int failed = 0;

	if (have("shm"))
		failed += cmocka_run_group_tests_name("shm", shm, NULL, NULL);
	if (have("tcp"))
		failed += cmocka_run_group_tests_name("tcp", tcp, NULL, NULL);
	return failed;
}
