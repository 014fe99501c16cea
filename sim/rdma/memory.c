/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between segments, buffers and memory of peers, and atomic operations. */
#include "memory.h"

#include <errno.h>

#include "pcie_model/arith.h"
#include "sim/base/log.h"
#include "sim/base/memory_guard.h"
#include "sim/base/move.h"
#include "sim/clock/shared_lock.h"

/* The other end of a copy: the peer's memory, or a buffer of this project's. */
struct place {
	struct sim_remote *remote; /* NULL = of this process */
	uint64_t addr;
};

int sim_rdma_fail_lost(void)
{
	sim_err("RDMA: memory of a task in flight is not mapped any more; keep it until the task's callback");
	return -EIO;
}

static struct sim_mapping *mapping_of(struct sim_remote *remote)
{
	return remote ? &remote->mapping : NULL;
}

/* Copy @len bytes between @addr of @remote, or of the program's memory if that is NULL, and @other. The program's memory that is
 * gone fails the copy. */
static int copy(struct sim_remote *remote, uint64_t addr, struct place other, size_t len, bool from_other)
{
	struct sim_range_guard guard;
	bool is_lost;
	int rc;

	sim_range_guard_begin(&guard, (const void *)(uintptr_t)addr, remote ? 0 : len, mapping_of(remote));
	guard.other_mapping = mapping_of(other.remote);
	rc = from_other ? sim_copy(remote, addr, other.remote, other.addr, len) :
			  sim_copy(other.remote, other.addr, remote, addr, len);
	is_lost = sim_range_guard_end(&guard);
	if (__builtin_expect(guard.guard.has_faulted, 0))
		sim_guard_settle(&guard.guard);
	return is_lost ? sim_rdma_fail_lost() : rc;
}

/* Copy between byte @at of the segments and @other, in the direction @to_segments. */
static inline int copy_list(const struct sim_rdma_segment *segments, uint32_t num_segments, uint64_t at,
			    struct place other, uint64_t len, bool to_segments)
{
	int rc = 0;

	for (uint32_t i = 0; i < num_segments && len > 0 && rc == 0; i++) {
		size_t part;

		if (at >= segments[i].bytes) {
			at -= segments[i].bytes;
			continue;
		}
		part = (size_t)min_u64(len, segments[i].bytes - at);
		rc = copy(segments[i].remote, segments[i].addr + at, other, part, to_segments);
		other.addr += part;
		len -= part;
		at = 0;
	}
	return rc;
}

const void *sim_rdma_find(const struct sim_rdma_segment *segments, uint32_t num_segments, uint64_t at, size_t len)
{
	for (uint32_t i = 0; i < num_segments; i++) {
		if (at < segments[i].bytes)
			return !segments[i].remote && len <= segments[i].bytes - at ?
				       (const void *)(uintptr_t)(segments[i].addr + at) :
				       NULL;
		at -= segments[i].bytes;
	}
	return NULL;
}

int sim_rdma_gather(const struct sim_rdma_segment *segments, uint32_t num_segments, uint64_t at, void *to, size_t len)
{
	return copy_list(segments, num_segments, at, (struct place){ .addr = (uintptr_t)to }, len, false);
}

/* Most messages go to one place. */
static int move_to(const void *place, const void *from, size_t len)
{
	struct sim_range_guard guard;
	bool is_lost;

	sim_range_guard_begin(&guard, place, len, NULL);
	sim_move((void *)(uintptr_t)place, from, len);
	is_lost = sim_range_guard_end(&guard);
	if (__builtin_expect(guard.guard.has_faulted, 0))
		sim_guard_settle(&guard.guard);
	return is_lost ? sim_rdma_fail_lost() : 0;
}

int sim_rdma_scatter(const struct sim_rdma_segment *segments, uint32_t num_segments, uint64_t at, const void *from,
		     size_t len)
{
	const void *place = sim_rdma_find(segments, num_segments, at, len);

	if (place)
		return move_to(place, from, len);
	return copy_list(segments, num_segments, at, (struct place){ .addr = (uintptr_t)from }, len, true);
}

/* Move the begin of a list between memory of this process and a peer by one system call, where the path has one. Returns the
 * bytes of the segments that have moved as a whole; copy_list() is for the rest, and finds out what fails. */
static uint64_t copy_pieces(const struct sim_rdma_segment *segments, uint32_t num_segments, struct place peer,
			    uint64_t bytes, bool to_segments)
{
	struct sim_piece pieces[SIM_MAX_PIECES];
	uint32_t count = 0, moved;
	uint64_t at = 0;

	for (; count < num_segments && count < SIM_MAX_PIECES && at < bytes && !segments[count].remote; count++) {
		size_t part = (size_t)min_u64(bytes - at, segments[count].bytes);

		pieces[count] = (struct sim_piece){ peer.addr + at, (uint8_t *)(uintptr_t)segments[count].addr, part };
		at += part;
	}
	moved = count > 1 ? (uint32_t)sim_copy_pieces(peer.remote, to_segments, pieces, count) : 0;
	for (at = 0; moved > 0; moved--)
		at += pieces[moved - 1].len;
	return at;
}

static __attribute__((noinline)) int copy_whole_list(const struct sim_rdma_segment *segments, uint32_t num_segments,
						     struct place peer, uint64_t bytes, bool to_segments)
{
	uint64_t done = 0;

	if (peer.remote && peer.remote->moves_pieces)
		done = copy_pieces(segments, num_segments, peer, bytes, to_segments);
	peer.addr += done;
	return copy_list(segments, num_segments, done, peer, bytes - done, to_segments);
}

int sim_rdma_write(const struct sim_rdma_segment *segments, uint32_t num_segments, struct sim_remote *remote,
		   uint64_t addr, uint64_t bytes)
{
	const struct place peer = { remote, addr };

	if (__builtin_expect(num_segments > 1, 0))
		return copy_whole_list(segments, num_segments, peer, bytes, false);
	return copy_list(segments, num_segments, 0, peer, bytes, false);
}

int sim_rdma_read(const struct sim_rdma_segment *segments, uint32_t num_segments, struct sim_remote *remote,
		  uint64_t addr, uint64_t bytes)
{
	const struct place peer = { remote, addr };

	if (__builtin_expect(num_segments > 1, 0))
		return copy_whole_list(segments, num_segments, peer, bytes, true);
	return copy_list(segments, num_segments, 0, peer, bytes, true);
}

/* Its machine does the operation, under the lock there. */
static int do_far_atomic(struct sim_remote *remote, uint64_t addr, const struct sim_rdma_atomic *atomic,
			 uint64_t *ret_before)
{
	const struct sim_far_operands operands = { .op = atomic->is_swap ? SIM_FAR_SWAP : SIM_FAR_ADD,
						   .compare = atomic->compare,
						   .operand = atomic->operand };
	int rc;

	if (addr < remote->region.addr || addr - remote->region.addr > remote->region.len_bytes ||
	    remote->region.len_bytes - (addr - remote->region.addr) < sizeof(*ret_before))
		return -EFAULT;
	if (!sim_remote_acquire(remote))
		return -EIO;
	rc = sim_remote_operate(remote, addr, &operands, ret_before);
	sim_remote_release(remote);
	return rc;
}

/* A process that can't map the memory reads and writes it in two steps, so the lock orders all of them. */
int sim_rdma_do_atomic(struct sim_clock_lock *lock, struct sim_remote *remote, uint64_t addr,
		       const struct sim_rdma_atomic *atomic, uint64_t *ret_before)
{
	uint64_t before = 0, after;
	uint64_t token;
	int rc;

	if (addr % sizeof(before) != 0)
		return -EINVAL;
	if (!(remote->region.access & SIM_ACCESS_ATOMIC))
		return -EACCES;
	if (sim_remote_is_far(remote))
		return do_far_atomic(remote, addr, atomic, ret_before);
	token = sim_clock_lock(lock);
	rc = copy(remote, addr, (struct place){ .addr = (uintptr_t)&before }, sizeof(before), false);
	after = atomic->is_swap ? atomic->operand : before + atomic->operand;
	if (rc == 0 && (!atomic->is_swap || before == atomic->compare))
		rc = copy(remote, addr, (struct place){ .addr = (uintptr_t)&after }, sizeof(after), true);
	sim_clock_unlock(lock, token);
	if (rc == 0)
		*ret_before = before;
	return rc;
}
