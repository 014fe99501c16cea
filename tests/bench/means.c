/* SPDX-License-Identifier: BSD-3-Clause */
/* Ping-pong over a Unix socket and over a flag in shared memory. */
#include "means.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measure.h"

#define MAX_BYTES 65536u

/* Made before the fork, used by both. */
struct means {
	int fds[2];
	struct flags {
		_Alignas(64) _Atomic uint64_t first;
		_Alignas(64) _Atomic uint64_t second;
	} * flags;
	uint64_t count; /* of the flag's moves */
};

static int talk(struct means *means, int fd, int (*run)(void *arg, const struct bench_ref_order *order))
{
	if (bench_answer(fd, 0) < 0)
		return -1;
	bench_obey(fd, run, means);
	return 0;
}

/* ---- a socket ---- */

static int socket_run(void *arg, const struct bench_ref_order *order)
{
	struct means *means = arg;
	int fd = means->fds[order->begins ? 0 : 1];
	static uint8_t message[MAX_BYTES];

	if (order->bytes > MAX_BYTES)
		return -EMSGSIZE;
	for (uint32_t i = 0; i < order->count; i++) {
		if (order->begins && bench_send(fd, message, order->bytes) < 0)
			return -EPIPE;
		if (bench_receive(fd, message, order->bytes) < 0)
			return -EPIPE;
		if (!order->begins && bench_send(fd, message, order->bytes) < 0)
			return -EPIPE;
	}
	return 0;
}

static int socket_end(void *arg, int fd)
{
	return talk(arg, fd, socket_run);
}

int bench_means_socket(struct bench_pair *ret_pair)
{
	struct means means = { 0 };
	int rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, means.fds) < 0)
		return bench_fail("no socket");
	rc = bench_pair_fork(socket_end, socket_end, &means, ret_pair);
	close(means.fds[0]);
	close(means.fds[1]);
	return rc;
}

/* ---- a flag ---- */

static void wait_for(const _Atomic uint64_t *flag, uint64_t value)
{
	while (atomic_load_explicit(flag, memory_order_acquire) != value)
		;
}

static int flag_run(void *arg, const struct bench_ref_order *order)
{
	struct means *means = arg;

	for (uint32_t i = 0; i < order->count; i++) {
		means->count++;
		if (order->begins) {
			atomic_store_explicit(&means->flags->first, means->count, memory_order_release);
			wait_for(&means->flags->second, means->count);
		} else {
			wait_for(&means->flags->first, means->count);
			atomic_store_explicit(&means->flags->second, means->count, memory_order_release);
		}
	}
	return 0;
}

static int flag_end(void *arg, int fd)
{
	return talk(arg, fd, flag_run);
}

int bench_means_flag(struct bench_pair *ret_pair)
{
	struct means means = { 0 };

	means.flags = mmap(NULL, sizeof(*means.flags), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (means.flags == MAP_FAILED)
		return bench_fail("no shared memory");
	return bench_pair_fork(flag_end, flag_end, &means, ret_pair);
}
