/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of queue pairs whose memory goes away on one side or on both: they fail, and the process goes on. Atomic operations. */
#include "cmocka_test.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/base/memory_signals.h"
#include "sim/clock/shared_lock.h"
#include "sim/fabric/path.h"
#include "sim/rdma/memory.h"

#define PAGE 4096

/* ---- memory ---- */

static uint8_t *map(int fd, size_t len)
{
	void *mapped =
		mmap(NULL, len, PROT_READ | PROT_WRITE, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	assert_true(mapped != MAP_FAILED);
	return mapped;
}

/* Two pages of the program, as a task's segment. */
static struct sim_rdma_segment own_pages(void)
{
	return (struct sim_rdma_segment){ .addr = (uintptr_t)map(-1, 2 * PAGE), .bytes = 2 * PAGE };
}

/* The same, of which the second is gone. */
static struct sim_rdma_segment own_pages_with_a_hole(void)
{
	struct sim_rdma_segment segment = own_pages();

	assert_int_equal(munmap((void *)(uintptr_t)(segment.addr + PAGE), PAGE), 0);
	return segment;
}

/* An import of two pages at address 0, by a mapping of @fd. */
static void import(struct sim_remote *remote, int *ret_fd)
{
	*ret_fd = memfd_create("export", MFD_CLOEXEC);
	assert_int_equal(ftruncate(*ret_fd, 2 * PAGE), 0);
	*remote = (struct sim_remote){
		.region = { .len_bytes = 2 * PAGE, .access = SIM_ACCESS_READ | SIM_ACCESS_WRITE },
		.base = map(*ret_fd, 2 * PAGE),
		.path = &sim_path_mapped,
	};
	remote->mapping.addr = remote->base;
	remote->mapping.len_bytes = 2 * PAGE;
}

/* The same, which its exporter truncated to a page. */
static void import_truncated(struct sim_remote *remote)
{
	int fd;

	import(remote, &fd);
	assert_int_equal(ftruncate(fd, PAGE), 0);
	close(fd);
}

static void import_whole(struct sim_remote *remote)
{
	int fd;

	import(remote, &fd);
	close(fd);
}

static void release(struct sim_remote *remote)
{
	munmap(remote->base, 2 * PAGE);
}

static void release_own(const struct sim_rdma_segment *segment)
{
	munmap((void *)(uintptr_t)segment->addr, 2 * PAGE);
}

/* ---- copies ---- */

static void test_lost_local_memory_fails_a_write_and_a_read(void **state)
{
	struct sim_rdma_segment segment = own_pages_with_a_hole();
	struct sim_remote peer;

	sim_memory_signals_install(); /* cmocka installs handlers before the test */
	import_whole(&peer);
	assert_int_equal(sim_rdma_write(&segment, 1, &peer, 0, 2 * PAGE), -EIO);
	assert_int_equal(sim_rdma_read(&segment, 1, &peer, 0, 2 * PAGE), -EIO);
	assert_int_equal(sim_rdma_read(&segment, 1, &peer, 0, PAGE), 0);
	release(&peer);
	release_own(&segment);
}

static void test_truncated_memory_of_the_peer_fails_a_write_and_a_read(void **state)
{
	struct sim_rdma_segment segment = own_pages();

	sim_memory_signals_install();
	for (int is_write = 0; is_write < 2; is_write++) {
		struct sim_remote peer;

		import_truncated(&peer);
		assert_int_equal(is_write ? sim_rdma_write(&segment, 1, &peer, 0, 2 * PAGE) :
					    sim_rdma_read(&segment, 1, &peer, 0, 2 * PAGE),
				 -EIO);
		assert_true(peer.mapping.is_lost);
		release(&peer);
	}
	release_own(&segment);
}

/* A local buffer may be of an imported map. */
static void test_two_imports_are_both_guarded(void **state)
{
	struct sim_remote local, peer;
	const struct sim_rdma_segment segment = { .remote = &local, .bytes = 2 * PAGE };

	sim_memory_signals_install();
	import_truncated(&local);
	import_whole(&peer);
	assert_int_equal(sim_rdma_write(&segment, 1, &peer, 0, 2 * PAGE), -EIO);
	assert_true(local.mapping.is_lost && !peer.mapping.is_lost);
	release(&local);
	release(&peer);
	import_whole(&local);
	import_truncated(&peer);
	assert_int_equal(sim_rdma_write(&segment, 1, &peer, 0, 2 * PAGE), -EIO);
	assert_true(!local.mapping.is_lost && peer.mapping.is_lost);
	release(&local);
	release(&peer);
}

static void test_lists_are_copied_in_order(void **state)
{
	struct sim_remote peer;
	uint8_t bytes[] = "abcdefgh";
	const struct sim_rdma_segment segments[] = { { .addr = (uintptr_t)bytes + 4, .bytes = 4 },
						     { .addr = (uintptr_t)bytes, .bytes = 0 },
						     { .addr = (uintptr_t)bytes, .bytes = 4 } };

	import_whole(&peer);
	assert_int_equal(sim_rdma_write(segments, 3, &peer, 10, 7), 0);
	assert_memory_equal(peer.base + 10, "efghabc", 8);
	memcpy(peer.base + 10, "12345678", 8);
	assert_int_equal(sim_rdma_read(segments, 3, &peer, 10, 7), 0);
	assert_string_equal(bytes, "567d1234");
	assert_int_equal(sim_rdma_write(segments, 3, &peer, 2 * PAGE - 4, 8), -EFAULT);
	release(&peer);
}

/* A path with a call for many pieces, which moves the first @max. */
static struct {
	uint8_t bytes[64];
	size_t max, num_calls, num_single;
} fake;

static int read_one(struct sim_remote *remote, void *local, uint64_t offset, size_t len)
{
	(void)remote;
	memcpy(local, fake.bytes + offset, len);
	fake.num_single++;
	return 0;
}

static int write_one(struct sim_remote *remote, const void *local, uint64_t offset, size_t len)
{
	(void)remote;
	memcpy(fake.bytes + offset, local, len);
	fake.num_single++;
	return 0;
}

static size_t move_some(struct sim_remote *remote, bool is_read, const struct sim_piece *pieces, size_t count)
{
	size_t moved = count < fake.max ? count : fake.max;

	fake.num_calls++;
	for (size_t i = 0; i < moved; i++)
		if (is_read)
			memcpy(pieces[i].local, fake.bytes + (pieces[i].addr - remote->region.addr), pieces[i].len);
		else
			memcpy(fake.bytes + (pieces[i].addr - remote->region.addr), pieces[i].local, pieces[i].len);
	return moved;
}

static const struct sim_path_ops fake_path = {
	.name = "fake",
	.read = read_one,
	.write = write_one,
	.move_pieces = move_some,
};

static void test_a_list_moves_by_one_call_and_its_rest_piece_by_piece(void **state)
{
	struct sim_remote peer = {
		.region = { .addr = 1000, .len_bytes = 64, .access = SIM_ACCESS_READ | SIM_ACCESS_WRITE },
		.path = &fake_path,
		.moves_pieces = true,
	};
	static const size_t num_single[] = { 3, 2, 2, 1, 0 }; /* the empty one is none */
	uint8_t bytes[] = "abcdefghijkl";
	const struct sim_rdma_segment segments[] = { { .addr = (uintptr_t)bytes + 8, .bytes = 4 },
						     { .addr = (uintptr_t)bytes, .bytes = 0 },
						     { .addr = (uintptr_t)bytes, .bytes = 4 },
						     { .addr = (uintptr_t)bytes + 4, .bytes = 4 } };

	for (size_t max = 0; max <= 4; max++) {
		memset(&fake, 0, sizeof(fake));
		fake.max = max;
		assert_int_equal(sim_rdma_write(segments, 4, &peer, 1010, 11), 0);
		assert_string_equal((char *)fake.bytes + 10, "ijklabcdefg");
		assert_int_equal(fake.num_calls, 1);
		assert_int_equal(fake.num_single, num_single[max]);
		memcpy(fake.bytes + 10, "123456789abc", 12);
		memcpy(bytes, "abcdefghijkl", 12);
		assert_int_equal(sim_rdma_read(segments, 4, &peer, 1010, 11), 0);
		assert_string_equal((char *)bytes, "56789abh1234");
		memcpy(bytes, "abcdefghijkl", 12);
	}
	assert_int_equal(sim_rdma_write(segments, 1, &peer, 1010, 4), 0); /* no list */
	assert_int_equal(fake.num_calls, 2);
	assert_int_equal(sim_rdma_write(segments, 4, &peer, 1056, 12), -EFAULT);
	atomic_store(&peer.revoked, true);
	assert_int_equal(sim_rdma_write(segments, 4, &peer, 1010, 12), -EIO);
	assert_int_equal(fake.num_calls, 3);
}

/* ---- atomic operations ---- */

#define ATOMIC_ACCESS (SIM_ACCESS_ATOMIC | SIM_ACCESS_READ | SIM_ACCESS_WRITE) /* as exports have it */

static const struct sim_rdma_atomic add_five = { .operand = 5 };

static int do_atomic(struct sim_remote *peer, uint64_t addr, const struct sim_rdma_atomic *atomic, uint64_t *ret_before)
{
	struct sim_clock_lock lock = { 0 };

	return sim_rdma_do_atomic(&lock, peer, addr, atomic, ret_before);
}

static uint64_t word_at(size_t offset)
{
	uint64_t word;

	memcpy(&word, fake.bytes + offset, sizeof(word));
	return word;
}

static void test_atomic_operations_change_the_word_and_return_it(void **state)
{
	struct sim_remote peer = { .region = { .addr = 1000, .len_bytes = 64, .access = ATOMIC_ACCESS },
				   .path = &fake_path };
	struct sim_rdma_atomic swap = { .is_swap = true, .compare = 5, .operand = 9 };
	uint64_t before = 77;

	memset(&fake, 0, sizeof(fake));
	assert_int_equal(do_atomic(&peer, 1008, &add_five, &before), 0);
	assert_int_equal(before, 0);
	assert_int_equal(word_at(8), 5);
	assert_int_equal(do_atomic(&peer, 1008, &swap, &before), 0);
	assert_int_equal(before, 5);
	assert_int_equal(do_atomic(&peer, 1008, &swap, &before), 0); /* it differs by now */
	assert_int_equal(before, 9);
	assert_int_equal(word_at(8), 9);
}

/* The word is as before, and the caller's as well. */
static void expect_atomic_fails(struct sim_remote *peer, uint64_t addr, int rc)
{
	uint64_t before = 77;

	assert_int_equal(do_atomic(peer, addr, &add_five, &before), rc);
	assert_int_equal(before, 77);
	for (size_t i = 0; i < sizeof(fake.bytes); i++)
		assert_int_equal(fake.bytes[i], 0);
}

static void test_atomic_operations_keep_to_the_export(void **state)
{
	struct sim_remote peer = { .region = { .addr = 1000, .len_bytes = 60, .access = ATOMIC_ACCESS },
				   .path = &fake_path };

	memset(&fake, 0, sizeof(fake));
	expect_atomic_fails(&peer, 1004, -EINVAL);
	expect_atomic_fails(&peer, 992, -EFAULT);
	expect_atomic_fails(&peer, 1056, -EFAULT);
	expect_atomic_fails(&peer, 2000, -EFAULT);
	peer.region.access = SIM_ACCESS_READ | SIM_ACCESS_WRITE;
	expect_atomic_fails(&peer, 1008, -EACCES);
	peer.region.access = ATOMIC_ACCESS;
	atomic_store(&peer.revoked, true);
	expect_atomic_fails(&peer, 1008, -EIO);
}

/* The operation is left to the other machine, which is not asked. */
static void test_atomic_operations_on_far_memory_keep_to_the_export(void **state)
{
	struct sim_remote peer = {
		.region = { .addr = 1000, .len_bytes = 60, .access = ATOMIC_ACCESS | SIM_ACCESS_FAR },
	};

	memset(&fake, 0, sizeof(fake));
	expect_atomic_fails(&peer, 1004, -EINVAL);
	expect_atomic_fails(&peer, 992, -EFAULT);
	expect_atomic_fails(&peer, 1056, -EFAULT);
	expect_atomic_fails(&peer, 2000, -EFAULT);
	atomic_store(&peer.revoked, true);
	expect_atomic_fails(&peer, 1008, -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lost_local_memory_fails_a_write_and_a_read),
		cmocka_unit_test(test_truncated_memory_of_the_peer_fails_a_write_and_a_read),
		cmocka_unit_test(test_two_imports_are_both_guarded),
		cmocka_unit_test(test_lists_are_copied_in_order),
		cmocka_unit_test(test_a_list_moves_by_one_call_and_its_rest_piece_by_piece),
		cmocka_unit_test(test_atomic_operations_change_the_word_and_return_it),
		cmocka_unit_test(test_atomic_operations_keep_to_the_export),
		cmocka_unit_test(test_atomic_operations_on_far_memory_keep_to_the_export),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
