/* SPDX-License-Identifier: BSD-3-Clause */
/* The path "procmem": a descriptor of the exporter's /proc/PID/mem (peer_memory.h).
 *
 *   the kernel lets the importer open the file   the importer opens it: whoever may do that may also debug the exporter.
 *                                                cma takes the large reads, and all writes, as those are not forced there
 *   it does not (another PID namespace, Yama)    the exporter opens it and passes the descriptor, if the session says so.
 *                                                shm takes the large copies if a measurement finds it faster
 *
 * With cma and shm only where these work, and not if this path is forced. Importer, exporter and daemon must be of one
 * user in each case.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "path.h"
#include "pcie_model/arith.h"
#include "peer_memory.h"
#include "peer_process.h"
#include "sim/base/monotonic.h"

#define MAX_SMALL_BYTES 4096u                /* up to here a read is faster than by cma, whose set-up takes longer */
#define MIN_LARGE_BYTES ((size_t)256 << 10)  /* from here on a copy by shm may be faster */
#define MEASURED_BYTES  ((size_t)1024 << 10) /* or the whole of a smaller memory */
#define NUM_MEASURED    3

/* By the rights that this process has. @known is the exporter's process, NULL = look for it. */
static int open_by_pid(const struct sim_remote_cfg *cfg, struct sim_peer_process *known, bool is_writable,
		       struct sim_peer_memory **ret_memory)
{
	struct sim_peer_process *found = NULL, *process;
	int mem_fd = -1, maps_fd = -1;
	int rc = known ? 0 : sim_peer_process_get(cfg->pidfd, &found);

	if (rc < 0)
		return rc;
	process = known ? known : found;
	rc = sim_peer_memory_open(process->pid, is_writable, &mem_fd, &maps_fd);
	/* Of a pid that another process got meanwhile, the files are that one's. */
	if (rc == 0 && !sim_peer_process_check(process)) {
		close(mem_fd);
		if (maps_fd >= 0)
			close(maps_fd);
		rc = -ESRCH;
	}
	sim_peer_process_put(found);
	return rc < 0 ? rc : sim_peer_memory_create(cfg->exporter.id, is_writable, mem_fd, maps_fd, ret_memory);
}

/* By descriptors of the exporter. */
static int ask_exporter(const struct sim_remote_cfg *cfg, bool is_writable, struct sim_peer_memory **ret_memory)
{
	struct sim_grant unused;
	int mem_fd = -1, maps_fd = -1;
	int rc = cfg->peer.describe(cfg->peer.arg, SIM_TRANSPORT_MEM, false, &unused, &mem_fd);

	if (rc == 0 && is_writable)
		rc = cfg->peer.describe(cfg->peer.arg, SIM_TRANSPORT_MAPS, false, &unused, &maps_fd);
	if (rc == 0)
		return sim_peer_memory_create(cfg->exporter.id, is_writable, mem_fd, maps_fd, ret_memory);
	if (mem_fd >= 0)
		close(mem_fd);
	if (maps_fd >= 0)
		close(maps_fd);
	return rc;
}

static const char *reason_of(int rc, bool was_asked)
{
	switch (rc) {
	case -ENOSYS:
		return "the kernel can't say where writes are permitted (before Linux 6.11)";
	case -ESRCH:
		return was_asked ? "the exporter has ended" : "not visible here (bfsim up --procmem)";
	case -EMFILE:
		return "too many open files";
	case -ETIMEDOUT:
		return "the exporter does not answer";
	case -EPROTO:
		return "what the exporter passed is not its memory";
	default:
		return was_asked ? "the exporter can't open its /proc/self/mem" : "no right to it (bfsim up --procmem)";
	}
}

static int open_memory(const struct sim_remote_cfg *cfg, struct sim_peer_process *known, bool is_writable,
		       struct sim_peer_memory **ret_memory, const char **ret_reason)
{
	bool was_asked = false;
	int rc;

	*ret_memory = sim_peer_memory_find(cfg->exporter.id, is_writable);
	if (*ret_memory)
		return 0;
	rc = open_by_pid(cfg, known, is_writable, ret_memory);
	if (rc < 0 && rc != -ENOSYS && cfg->passes_memory) {
		was_asked = true;
		rc = ask_exporter(cfg, is_writable, ret_memory);
	}
	if (rc < 0)
		*ret_reason = reason_of(rc, was_asked);
	return rc;
}

/* The shortest time of a few reads of the memory's begin. The two ways take turns, so that other load meets both. */
static enum sim_large_copies measure(struct sim_remote *remote, struct sim_initiator *initiator)
{
	size_t len = min_size(remote->region.len_bytes, MEASURED_BYTES);
	uint64_t best_ns[2] = { UINT64_MAX, UINT64_MAX };
	uint8_t *bytes = malloc(len);
	int rc = bytes ? 0 : -ENOMEM;

	for (int i = 0; rc == 0 && i < 2 * NUM_MEASURED; i++) {
		uint64_t begin_ns = sim_monotonic_ns();

		rc = i % 2 ? sim_initiator_copy(initiator, false, bytes, 0, len, &remote->revoked) :
			     sim_peer_memory_read(remote->memory, bytes, remote->region.cpu_addr, len);
		best_ns[i % 2] = min_u64(best_ns[i % 2], sim_monotonic_ns() - begin_ns);
	}
	free(bytes);
	if (rc < 0) /* not mapped just now, for example */
		return SIM_LARGE_UNKNOWN;
	return best_ns[1] < best_ns[0] ? SIM_LARGE_BY_SHM : SIM_LARGE_BY_MEMORY;
}

/* Large copies of memory that cma does not reach. */
static void choose_large(struct sim_remote *remote, const struct sim_remote_cfg *cfg)
{
	uint32_t large = atomic_load(&remote->memory->large);
	const char *unused;

	if (large == SIM_LARGE_BY_MEMORY || cfg->region.len_bytes < MIN_LARGE_BYTES ||
	    !(cfg->region.access & SIM_ACCESS_READ) || sim_path_shm.open(remote, cfg, &unused) < 0)
		return;
	if (large == SIM_LARGE_UNKNOWN) {
		large = measure(remote, remote->initiator);
		atomic_store(&remote->memory->large, large);
	}
	if (large != SIM_LARGE_BY_SHM)
		sim_path_shm.close(remote);
}

static void procmem_close(struct sim_remote *remote)
{
	if (remote->process)
		sim_path_cma.close(remote);
	if (remote->initiator)
		sim_path_shm.close(remote);
	sim_peer_memory_put(remote->memory);
	remote->memory = NULL;
}

static int procmem_open(struct sim_remote *remote, const struct sim_remote_cfg *cfg, const char **ret_reason)
{
	const char *unused;
	bool has_cma;
	uint8_t byte;
	int rc = sim_path_check_users(cfg, ret_reason);

	if (rc < 0)
		return rc;
	has_cma = !cfg->forced_path && sim_path_cma.open(remote, cfg, &unused) == 0;
	rc = open_memory(cfg, has_cma ? remote->process : NULL, cfg->region.access & SIM_ACCESS_WRITE && !has_cma,
			 &remote->memory, ret_reason);
	if (rc == 0) {
		rc = sim_peer_memory_read(remote->memory, &byte, cfg->region.cpu_addr, sizeof(byte));
		if (rc == -EFAULT) /* the range may be unmapped just now */
			rc = 0;
		*ret_reason = "the exporter's memory is gone";
	}
	if (rc < 0)
		procmem_close(remote);
	else if (!has_cma && !cfg->forced_path)
		choose_large(remote, cfg);
	return rc;
}

static int procmem_read(struct sim_remote *remote, void *local, uint64_t offset, size_t len)
{
	if (remote->process && len > MAX_SMALL_BYTES)
		return sim_path_cma.read(remote, local, offset, len);
	if (remote->initiator && len >= MIN_LARGE_BYTES)
		return sim_path_shm.read(remote, local, offset, len);
	return sim_peer_memory_read(remote->memory, local, remote->region.cpu_addr + offset, len);
}

static int procmem_write(struct sim_remote *remote, const void *local, uint64_t offset, size_t len)
{
	if (remote->process)
		return sim_path_cma.write(remote, local, offset, len);
	if (remote->initiator && len >= MIN_LARGE_BYTES)
		return sim_path_shm.write(remote, local, offset, len);
	return sim_peer_memory_write(remote->memory, local, remote->region.cpu_addr + offset, len);
}

/* The file takes a range of the peer's memory: the pieces that follow each other there. */
static size_t count_adjacent(const struct sim_piece *pieces, size_t count, size_t max_bytes)
{
	size_t adjacent = 0, bytes = 0;

	while (adjacent < count && pieces[adjacent].addr == pieces->addr + bytes &&
	       pieces[adjacent].len <= max_bytes - bytes)
		bytes += pieces[adjacent++].len;
	return adjacent;
}

static size_t move_by_memory(struct sim_remote *remote, bool is_read, const struct sim_piece *pieces, size_t count)
{
	size_t done = 0;

	while (done < count) {
		size_t adjacent =
			count_adjacent(pieces + done, count - done, is_read ? SIZE_MAX : SIM_PEER_MEMORY_MAX_WRITE);
		uint64_t addr = remote->region.cpu_addr + (pieces[done].addr - remote->region.addr);
		size_t bytes = sim_peer_memory_move(remote->memory, is_read, addr, pieces + done, adjacent);
		size_t moved = sim_path_count_whole(pieces + done, adjacent, bytes);

		done += moved;
		if (moved == 0 || moved < adjacent)
			break;
	}
	return done;
}

static size_t procmem_move_pieces(struct sim_remote *remote, bool is_read, const struct sim_piece *pieces, size_t count)
{
	if (remote->process)
		return sim_path_cma.move_pieces(remote, is_read, pieces, count);
	if (remote->initiator) /* which takes the large ones */
		for (size_t i = 0; i < count; i++)
			if (pieces[i].len >= MIN_LARGE_BYTES)
				count = i;
	return move_by_memory(remote, is_read, pieces, count);
}

const struct sim_path_ops sim_path_procmem = {
	.name = "procmem",
	.open = procmem_open,
	.close = procmem_close,
	.read = procmem_read,
	.write = procmem_write,
	.move_pieces = procmem_move_pieces,
};
