/* SPDX-License-Identifier: BSD-3-Clause */
/* An exporter that breaks the protocol of served memory: its importer reports an error, and takes no bytes for copied. All
 * that the exporter says is there before the copy begins, so that one thread is enough. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/base/monotonic.h"
#include "sim/fabric/served/served_priv.h"

static const struct sim_grant grant = { .index = 1 };

static struct served_op op_of(uint8_t *byte, bool is_write)
{
	return (struct served_op){
		.grant = &grant, .kind = is_write ? SIM_SERVED_WRITE : SIM_SERVED_READ, .local = byte, .len = 1
	};
}

/* ---- shm ---- */

struct ring {
	struct served_conn exporter;
	struct served_initiator_ring importer;
	struct served_wait wait;
};

static struct served_ring *ring_open(struct ring *ring)
{
	int fd;

	*ring = (struct ring){ .exporter = { .sock = -1, .ring_fd = -1 } };
	assert_int_equal(served_shm_open(&ring->exporter, &fd), 0);
	ring->wait = (struct served_wait){ .sock = fd, .events = POLLIN, .len_bytes = 1 };
	assert_int_equal(served_initiator_ring_open(fd, &ring->importer, &ring->wait), 0);
	return ring->exporter.segment.base;
}

static void ring_close(struct ring *ring)
{
	served_initiator_ring_close(&ring->importer);
	sim_segment_unmap(&ring->exporter.segment);
	close(ring->exporter.ring_fd);
	close(ring->exporter.sock);
	close(ring->wait.sock);
}

static void test_more_requests_done_than_posted_is_an_error(void **state)
{
	static const unsigned int counts[] = { 2, SERVED_RING_SLOTS, UINT32_MAX };

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		uint8_t byte = 3;
		struct served_op op = op_of(&byte, false);
		bool is_in_step = true;
		struct ring ring;

		atomic_store(&ring_open(&ring)->done, counts[i]);
		assert_int_equal(served_initiator_ring_copy(&ring.importer, &op, &ring.wait, &is_in_step), -EPROTO);
		assert_false(is_in_step);
		assert_int_equal(byte, 3);
		ring_close(&ring);
	}
}

static void test_a_status_in_the_ring_that_is_no_errno_is_an_error(void **state)
{
	static const int32_t statuses[] = { 1, -4096, INT32_MIN };

	for (size_t i = 0; i < 2 * sizeof(statuses) / sizeof(statuses[0]); i++) {
		uint8_t byte = 3;
		struct served_op op = op_of(&byte, i % 2);
		struct served_ring *shared;
		bool is_in_step = false;
		struct ring ring;

		shared = ring_open(&ring);
		shared->slots[0].status = statuses[i / 2];
		atomic_store(&shared->done, 1);
		assert_int_equal(served_initiator_ring_copy(&ring.importer, &op, &ring.wait, &is_in_step), -EPROTO);
		assert_int_equal(byte, 3);
		ring_close(&ring);
	}
}

/* The importer's wait for the buffers ends as the others do. */
static void test_buffers_that_the_target_keeps_end_the_copy(void **state)
{
	const atomic_bool revoked = true;
	uint8_t bytes[SERVED_SMALL_BYTES + 1] = { 3 };
	struct served_op op = op_of(bytes, true);
	bool is_in_step = true;
	struct ring ring;

	op.len = sizeof(bytes);
	atomic_store(&ring_open(&ring)->lease, SERVED_LEASE_TARGET);
	ring.wait.revoked = &revoked;
	assert_int_equal(served_initiator_ring_copy(&ring.importer, &op, &ring.wait, &is_in_step), -EIO);
	assert_false(is_in_step);
	ring.wait = (struct served_wait){ .sock = ring.wait.sock,
					  .len_bytes = 1,
					  .begin_ns = sim_monotonic_ns() - 11 * SIM_NS_PER_S };
	assert_int_equal(served_initiator_ring_copy(&ring.importer, &op, &ring.wait, &is_in_step), -ETIMEDOUT);
	ring_close(&ring);
}

/* An importer that changes the lease keeps its own buffers, or loses what they hold. */
static void test_a_lease_that_makes_no_sense_is_not_trimmed(void **state)
{
	struct served_ring *shared;
	struct ring ring;

	shared = ring_open(&ring);
	ring.exporter.has_buffers = true;
	shared->buffers[0][0] = 7;
	atomic_store(&shared->lease, 77);
	served_shm_trim(&ring.exporter);
	assert_int_equal(shared->buffers[0][0], 7);
	atomic_store(&shared->lease, SERVED_LEASE_FREE);
	served_shm_trim(&ring.exporter);
	assert_int_equal(shared->buffers[0][0], 0);
	assert_int_equal(atomic_load(&shared->lease), SERVED_LEASE_FREE);
	ring_close(&ring);
}

static void send_fds(int sock, const int *fds, size_t count)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = { 0 };
	char byte = 0;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &data, .msg_iovlen = 1 };

	if (count > 0) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(count * sizeof(int));
		CMSG_FIRSTHDR(&msg)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&msg)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&msg)->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), fds, count * sizeof(int));
	}
	assert_int_equal(sendmsg(sock, &msg, MSG_NOSIGNAL), 1);
}

static int num_open_fds(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* No descriptor, one that is no memory, and two of them: none stays open. */
static void test_what_is_no_ring_is_refused_and_closed(void **state)
{
	const int fds[] = { STDIN_FILENO, STDERR_FILENO };
	int before = num_open_fds();

	for (size_t count = 0; count <= 2; count++) {
		struct served_wait wait = { .events = POLLIN, .len_bytes = 1 };
		struct served_initiator_ring ring = { .num_posted = 0 };
		int socks[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks), 0);
		send_fds(socks[1], fds, count);
		wait.sock = socks[0];
		assert_int_equal(served_initiator_ring_open(socks[0], &ring, &wait), -EPROTO);
		close(socks[0]);
		close(socks[1]);
		assert_int_equal(num_open_fds(), before);
	}
}

/* Returns what becomes of the import. */
static int import_from_silent_exporter(bool leaves, const atomic_bool *revoked)
{
	struct served_wait wait = { .events = POLLIN, .len_bytes = 1, .revoked = revoked };
	struct served_initiator_ring ring = { .num_posted = 0 };
	int socks[2], rc;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks), 0);
	wait.sock = socks[0];
	if (leaves)
		shutdown(socks[1], SHUT_RDWR);
	rc = served_initiator_ring_open(socks[0], &ring, &wait);
	close(socks[0]);
	close(socks[1]);
	return rc;
}

static void test_an_exporter_that_passes_no_ring_ends_the_wait(void **state)
{
	const atomic_bool revoked = true;

	assert_int_equal(import_from_silent_exporter(true, NULL), -ECONNRESET);
	assert_int_equal(import_from_silent_exporter(false, &revoked), -EIO);
}

/* ---- tcp ---- */

/* What an exporter answers to a request for a byte, before it has seen the request. */
static int copy_with_answer(bool is_write, const void *answer, size_t len, uint8_t *ret_byte)
{
	struct served_op op = op_of(ret_byte, is_write);
	struct served_wait wait = { .len_bytes = 1 };
	bool is_in_step = true;
	int socks[2], rc;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks), 0);
	assert_int_equal(send(socks[1], answer, len, MSG_NOSIGNAL), len);
	shutdown(socks[1], SHUT_WR);
	wait.sock = socks[0];
	rc = served_initiator_stream_copy(&op, &wait, &is_in_step);
	assert_true(rc == 0 || !is_in_step);
	close(socks[0]);
	close(socks[1]);
	return rc;
}

/* The bytes of a read, then their status. */
static int read_with_answer(struct served_reply reply, int32_t status)
{
	uint8_t answer[sizeof(reply) + 1 + sizeof(status)] = { 0 }, byte = 3;

	memcpy(answer, &reply, sizeof(reply));
	memcpy(answer + sizeof(reply) + 1, &status, sizeof(status));
	return copy_with_answer(false, answer, sizeof(answer), &byte);
}

static void test_replies_that_break_the_protocol_are_errors(void **state)
{
	struct served_reply written = { .len_bytes = 1 };
	uint8_t byte = 3;

	assert_int_equal(read_with_answer((struct served_reply){ .len_bytes = 1 }, 0), 0);
	assert_int_equal(read_with_answer((struct served_reply){ .len_bytes = 1 }, 1), -EPROTO);
	assert_int_equal(read_with_answer((struct served_reply){ .status = 1, .len_bytes = 1 }, 0), -EPROTO);
	assert_int_equal(read_with_answer((struct served_reply){ .len_bytes = 0 }, 0), -EPROTO);
	assert_int_equal(read_with_answer((struct served_reply){ .len_bytes = 2 }, 0), -EPROTO);
	assert_int_equal(read_with_answer((struct served_reply){ .len_bytes = UINT32_MAX }, 0), -EPROTO);
	assert_int_equal(read_with_answer((struct served_reply){ .status = -EFAULT, .len_bytes = 1 }, 0), -EPROTO);
	assert_int_equal(read_with_answer((struct served_reply){ .status = INT32_MIN }, 0), -EPROTO);
	assert_int_equal(read_with_answer((struct served_reply){ .len_bytes = 1 }, INT32_MIN), -EPROTO);
	assert_int_equal(copy_with_answer(true, &written, sizeof(written), &byte), -EPROTO);
}

static void test_an_answer_that_ends_early_is_an_error(void **state)
{
	const struct served_reply reply = { .len_bytes = 1 };
	uint8_t byte = 3;

	for (size_t len = 1; len <= sizeof(reply); len++)
		assert_int_equal(copy_with_answer(false, &reply, len, &byte), -ECONNRESET);
	assert_int_equal(byte, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_more_requests_done_than_posted_is_an_error),
		cmocka_unit_test(test_a_status_in_the_ring_that_is_no_errno_is_an_error),
		cmocka_unit_test(test_buffers_that_the_target_keeps_end_the_copy),
		cmocka_unit_test(test_a_lease_that_makes_no_sense_is_not_trimmed),
		cmocka_unit_test(test_what_is_no_ring_is_refused_and_closed),
		cmocka_unit_test(test_an_exporter_that_passes_no_ring_ends_the_wait),
		cmocka_unit_test(test_replies_that_break_the_protocol_are_errors),
		cmocka_unit_test(test_an_answer_that_ends_early_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
