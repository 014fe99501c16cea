/* SPDX-License-Identifier: BSD-3-Clause */
#include "means.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "measure.h"
#include "memory.h"

#define SEED 11
#define MAX_BYTES 4096

/* Made before the fork, used by both. */
struct means {
	int fds[2];
	struct flags {
		_Alignas(64) _Atomic uint64_t first;
		_Alignas(64) _Atomic uint64_t second;
	} *flags;
	uint64_t count;                  /* of the flag's moves */
	uint32_t block_bytes, num_blocks, block;
	uint8_t *memory, *target;
	pid_t peer;
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
	uint8_t message[MAX_BYTES] = {0};

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
	struct means means = {0};
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
	struct means means = {0};

	means.flags = mmap(NULL, sizeof(*means.flags), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (means.flags == MAP_FAILED)
		return bench_fail("no shared memory");
	return bench_pair_fork(flag_end, flag_end, &means, ret_pair);
}

/* ---- another's memory ---- */

static size_t len_of(const struct means *means)
{
	return (size_t)means->block_bytes * means->num_blocks;
}

static int read_block(struct means *means)
{
	size_t offset = (size_t)means->block * means->block_bytes;
	struct iovec here = {means->target + offset, means->block_bytes};
	struct iovec there = {means->memory + offset, means->block_bytes};

	means->block = means->block + 1 == means->num_blocks ? 0 : means->block + 1;
	return process_vm_readv(means->peer, &here, 1, &there, 1, 0) == (ssize_t)means->block_bytes ? 0 : -EPERM;
}

static int readv_run(void *arg, const struct bench_ref_order *order)
{
	struct means *means = arg;
	int rc = 0;

	for (uint32_t i = 0; i < order->count && rc == 0 && order->begins; i++)
		rc = read_block(means);
	return rc;
}

/* Its memory lies where it was before the fork. */
static int readv_owner(void *arg, int fd)
{
	struct means *means = arg;
	pid_t pid = getpid();

	bench_memory_fill(means->memory, len_of(means), SEED); /* its own pages from now on */
	if (write(means->fds[1], &pid, sizeof(pid)) != sizeof(pid))
		return -1;
	return talk(means, fd, readv_run);
}

static int readv_reader(void *arg, int fd)
{
	struct means *means = arg;

	means->target = bench_memory_new(len_of(means));
	if (!means->target || read(means->fds[0], &means->peer, sizeof(means->peer)) != sizeof(means->peer))
		return -1;
	if (read_block(means) < 0)
		return bench_answer(fd, -ENOSYS);
	return talk(means, fd, readv_run);
}

int bench_means_readv(uint32_t block_bytes, uint32_t num_blocks, struct bench_pair *ret_pair)
{
	struct means means = {.block_bytes = block_bytes, .num_blocks = num_blocks};
	int rc;

	means.memory = bench_memory_new(len_of(&means));
	if (!means.memory || pipe2(means.fds, 0) < 0)
		return -1;
	rc = bench_pair_fork(readv_reader, readv_owner, &means, ret_pair);
	munmap(means.memory, len_of(&means));
	close(means.fds[0]);
	close(means.fds[1]);
	return rc;
}
