/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between memories, each in this process or behind a path. */
#include <errno.h>
#include <string.h>

#include "path.h"
#include "pcie_model/arith.h"
#include "remote.h"
#include "sim/base/log.h"
#include "sim/base/move.h"

#define BOUNCE_BYTES 32768          /* of the local buffer between two paths that don't map */
#define PAGE_BYTES   ((size_t)4096) /* pages are at least as large */

static bool acquire_remote(struct sim_remote *remote)
{
	return !remote || sim_remote_acquire(remote);
}

static void release_remote(struct sim_remote *remote)
{
	if (remote)
		sim_remote_release(remote);
}

static int check_access(const struct sim_remote *remote, uint64_t addr, size_t len, uint32_t access)
{
	if (!remote)
		return 0;
	if (addr < remote->region.addr || len > remote->region.len_bytes ||
	    addr - remote->region.addr > remote->region.len_bytes - len)
		return -EFAULT;
	return remote->region.access & access ? 0 : -EACCES;
}

/* The address in this process, or NULL if the path must copy. */
static uint8_t *to_local(const struct sim_remote *remote, uint64_t addr)
{
	if (!remote)
		return (uint8_t *)(uintptr_t)addr;
	return remote->base ? remote->base + (addr - remote->region.addr) : NULL;
}

static int copy_bounced(struct sim_remote *dst_remote, uint64_t dst, struct sim_remote *src_remote, uint64_t src,
			size_t len)
{
	uint8_t buffer[BOUNCE_BYTES];

	while (len > 0) {
		size_t part = len < sizeof(buffer) ? len : sizeof(buffer);
		int rc = src_remote->path->read(src_remote, buffer, src - src_remote->region.addr, part);

		if (rc == 0)
			rc = dst_remote->path->write(dst_remote, buffer, dst - dst_remote->region.addr, part);
		if (rc < 0)
			return rc;
		dst += part;
		src += part;
		len -= part;
	}
	return 0;
}

/* Access a byte of each page as the copy does, and change none. */
static SIM_DEVICE_ACCESS void touch_pages(uint8_t *local, size_t len, bool is_write)
{
	for (size_t at = 0; at < len; at += min_size(PAGE_BYTES, len - at))
		if (is_write)
			__atomic_fetch_or(local + at, 0, __ATOMIC_RELAXED);
		else
			(void)*(volatile uint8_t *)(local + at);
}

/* A system call does not fault at local memory that is gone or protected, but fails. Returns whether the guard has mended
 * it now, so that the call may be repeated. */
static bool mend_local(uint8_t *local, size_t len, bool is_write)
{
	struct sim_guard *guard = sim_guarded;
	bool had_faulted, has_faulted;

	if (!guard)
		return false;
	had_faulted = guard->has_faulted;
	guard->has_faulted = false;
	atomic_signal_fence(memory_order_seq_cst); /* the handler of a fault changes the guard */
	touch_pages(local, len, is_write);
	atomic_signal_fence(memory_order_seq_cst);
	has_faulted = guard->has_faulted;
	guard->has_faulted |= had_faulted;
	return has_faulted;
}

static int read_remote(struct sim_remote *remote, uint64_t addr, uint8_t *to, size_t len)
{
	int rc = remote->path->read(remote, to, addr - remote->region.addr, len);

	if (rc == -EFAULT && mend_local(to, len, true))
		rc = remote->path->read(remote, to, addr - remote->region.addr, len);
	return rc;
}

static int write_remote(struct sim_remote *remote, uint64_t addr, uint8_t *from, size_t len)
{
	int rc = remote->path->write(remote, from, addr - remote->region.addr, len);

	if (rc == -EFAULT && mend_local(from, len, false))
		rc = remote->path->write(remote, from, addr - remote->region.addr, len);
	return rc;
}

/* Of two paths, or one, that do not map. */
static __attribute__((noinline)) int copy_by_path(struct sim_remote *dst_remote, uint64_t dst,
						  struct sim_remote *src_remote, uint64_t src, size_t len)
{
	uint8_t *to = to_local(dst_remote, dst);
	uint8_t *from = to_local(src_remote, src);

	if (to)
		return read_remote(src_remote, src, to, len);
	if (from)
		return write_remote(dst_remote, dst, from, len);
	return copy_bounced(dst_remote, dst, src_remote, src, len);
}

static inline __attribute__((always_inline)) int copy_bytes(struct sim_remote *dst_remote, uint64_t dst,
							    struct sim_remote *src_remote, uint64_t src, size_t len)
{
	if ((dst_remote && !dst_remote->base) || (src_remote && !src_remote->base))
		return copy_by_path(dst_remote, dst, src_remote, src, len);
	sim_move(to_local(dst_remote, dst), to_local(src_remote, src), len);
	return 0;
}

static bool is_lost(const struct sim_remote *remote)
{
	return remote && atomic_load_explicit(&remote->mapping.is_lost, memory_order_relaxed);
}

static const char *path_name(const struct sim_remote *remote)
{
	return remote ? sim_remote_path(remote) : "this process";
}

static bool is_revoked(const struct sim_remote *remote)
{
	return remote && atomic_load(&remote->revoked);
}

static int fail_revoked(const struct sim_remote *remote)
{
	static const char *const causes[] = {
		[SIM_REVOKED_EXPORT] = "its exporter stopped the memory map, died or left the session",
		[SIM_REVOKED_EXPORTER] = "its exporter's function was reset, failed or was removed",
		[SIM_REVOKED_FUNCTION] = "the function that it was imported through was reset, failed or was removed",
		[SIM_REVOKED_SESSION] = "the card's daemon is gone, or this process has ended the import",
	};

	sim_warn("a copy failed: the memory of process %d (%s) is gone; %s", (int)remote->exporter_pid, remote->program,
		 causes[atomic_load(&remote->revoke_cause)]);
	return -EIO;
}

static int fail_lost(const struct sim_remote *remote)
{
	sim_warn("a copy failed: process %d (%s) truncated the object that holds the memory which it exports",
		 (int)remote->exporter_pid, remote->program);
	return -EIO;
}

/* Log why a path failed. */
static __attribute__((noinline)) int log_failure(const struct sim_remote *dst_remote,
						 const struct sim_remote *src_remote, int rc)
{
	if (is_revoked(src_remote))
		return fail_revoked(src_remote);
	if (is_revoked(dst_remote))
		return fail_revoked(dst_remote);
	if (is_lost(src_remote))
		return fail_lost(src_remote);
	if (is_lost(dst_remote))
		return fail_lost(dst_remote);
	if (rc == -ETIMEDOUT || sim_guard_has_lost()) /* the path has logged it, or the guard's owner will */
		return -EIO;
	sim_warn(
		"a copy failed (from: %s, to: %s, error %d): the exporter died, unmapped the memory or changed its user id, or a local buffer is not mapped",
		path_name(src_remote), path_name(dst_remote), -rc);
	return -EIO;
}

int sim_remote_check(const struct sim_remote *remote, uint64_t addr, uint64_t len, uint32_t access)
{
	int rc = check_access(remote, addr, len, access);

	return rc == 0 && is_revoked(remote) ? fail_revoked(remote) : rc;
}

/* Compiled once for each of the next three functions, as NULL needs no checks. They have the parameters of sim_copy(),
 * which then moves none. */
static inline __attribute__((always_inline)) int copy(struct sim_remote *dst_remote, uint64_t dst,
						      struct sim_remote *src_remote, uint64_t src, size_t len)
{
	int rc = check_access(src_remote, src, len, SIM_ACCESS_READ);

	if (rc == 0)
		rc = check_access(dst_remote, dst, len, SIM_ACCESS_WRITE);
	if (rc < 0)
		return rc;
	if (!acquire_remote(src_remote))
		return fail_revoked(src_remote);
	if (!acquire_remote(dst_remote)) {
		release_remote(src_remote);
		return fail_revoked(dst_remote);
	}
	rc = copy_bytes(dst_remote, dst, src_remote, src, len);
	if (is_lost(dst_remote) || is_lost(src_remote))
		rc = -EIO;
	if (rc < 0)
		rc = log_failure(dst_remote, src_remote, rc);
	release_remote(dst_remote);
	release_remote(src_remote);
	return rc;
}

static __attribute__((noinline)) int copy_between(struct sim_remote *dst_remote, uint64_t dst,
						  struct sim_remote *src_remote, uint64_t src, size_t len)
{
	return copy(dst_remote, dst, src_remote, src, len);
}

static __attribute__((noinline)) int copy_from(struct sim_remote *none, uint64_t dst, struct sim_remote *src_remote,
					       uint64_t src, size_t len)
{
	(void)none;
	return copy(NULL, dst, src_remote, src, len);
}

static __attribute__((noinline)) int copy_to(struct sim_remote *dst_remote, uint64_t dst, struct sim_remote *none,
					     uint64_t src, size_t len)
{
	(void)none;
	return copy(dst_remote, dst, NULL, src, len);
}

size_t sim_copy_pieces(struct sim_remote *remote, bool is_read, const struct sim_piece *pieces, size_t count)
{
	const uint32_t access = is_read ? SIM_ACCESS_READ : SIM_ACCESS_WRITE;
	size_t permitted = 0, moved;

	count = min_size(count, SIM_MAX_PIECES);
	while (permitted < count && check_access(remote, pieces[permitted].addr, pieces[permitted].len, access) == 0)
		permitted++;
	if (permitted == 0 || !sim_remote_acquire(remote))
		return 0;
	moved = remote->path->move_pieces(remote, is_read, pieces, permitted);
	sim_remote_release(remote);
	return moved;
}

int sim_copy_remote(struct sim_remote *dst_remote, uint64_t dst, struct sim_remote *src_remote, uint64_t src,
		    size_t len)
{
	if (!src_remote)
		return copy_to(dst_remote, dst, NULL, src, len);
	return dst_remote ? copy_between(dst_remote, dst, src_remote, src, len) :
			    copy_from(NULL, dst, src_remote, src, len);
}
