/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/mem/mmap_priv.h - a memory map, for the other files of the shim.
 *
 *   create --> [new] --start--> [started] --export--> [exported] --stop--> [spent]
 *                |               ^     |
 *                |             start  stop
 *                |               |     v
 *                |              [stopped]
 *                '--create_from_export--> [imported] --stop, of a peer of the network or exported again--> [spent]
 *
 * A spent map, which the public functions do not start again, is exported if it is (shim_mmap_register()). Every
 * state leads to destroy. Buffers can be made of a started, exported or imported map.
 *
 * The addresses of a map and its buffers are the application's (imported: the exporter's). The bytes are
 * behind @remote for an imported map, at @cpu_base for a dmabuf, else at the address itself.
 */
#ifndef SHIM_MMAP_PRIV_H
#define SHIM_MMAP_PRIV_H

#include <doca_mmap.h>
#include <sys/queue.h>

#include "shim/common/base/object.h"
#include "shim/common/process/task_count.h"
#include "sim/session/session.h"

struct shim_buf_freelist;
struct shim_export;
struct shim_mmap_handle;

enum shim_mmap_state {
	SHIM_MMAP_NEW,
	SHIM_MMAP_STOPPED,
	SHIM_MMAP_SPENT,
	SHIM_MMAP_STARTED, /* in this state and the next ones buffers can be made */
	SHIM_MMAP_EXPORTED,
	SHIM_MMAP_IMPORTED,
	SHIM_MMAP_NUM_STATES,
};

struct doca_mmap {
	struct shim_object object;
	_Atomic enum shim_mmap_state state; /* written by shim_mmap_set_state() alone */
	bool range_set, thread_safe;
	bool cpu_read_only; /* the mapping of the dmabuf is read-only */
	bool free_armed;    /* started since the free callback was set */
	bool is_dpa_memory; /* of the heap of a DPA context, which each device of the card reaches that has a DPA */
	uint64_t serial;    /* unique in the process; 0 = destroyed */
	uint32_t access;    /* enum doca_access_flag */
	uint8_t *addr;
	size_t len_bytes;
	uint8_t *cpu_base;    /* mapping of the dmabuf; NULL = the address itself */
	uintptr_t cpu_offset; /* from an address of the range to where it is in this process */
	int object_fd;        /* shared object that holds the memory; -1 = none, or not searched for */
	uint64_t object_offset;
	const struct doca_dev *first_dev; /* devs[0]; NULL = none, of a map that was not started */
	struct doca_dev **devs;
	uint32_t num_devs, max_devs;
	uint64_t first_key; /* number of the first device's memory key; those of the others follow */
	union doca_data user_data;
	doca_mmap_memrange_free_cb_t *free_cb;
	void *free_cookie;
	/* Buffers, which are not counted in thread-safe mode. Threads share a map with a freelist each. The first freelist
	 * has a count of its own, which one thread at a time changes, so a program of one thread does no atomic operation. */
	struct shim_buf_freelist *_Atomic first_freelist; /* NULL = there was no buffer yet; set once */
	_Atomic uint32_t num_first_bufs;
	_Atomic uint32_t num_other_bufs;
	/* Buffer pools and Comch consumers that use the map. They end before it, except in thread-safe mode. */
	atomic_uint num_users;
	/* Tasks of RDMA, which access memory later, and maybe in the engine's thread. They end before the map in each mode. */
	struct shim_task_count tasks;
	struct sim_session *session; /* of the exports or the import; a forked child has another session */
	struct shim_export *exports;
	struct sim_remote *remote; /* imported maps only */
	struct shim_mmap_handle
		*dpa_handles; /* that kernels of a DPA have; the map's owner gets them by one thread at a time */
	struct doca_dpa *dpa; /* whose heap has the range; NULL = none, or it has ended */
	LIST_ENTRY(doca_mmap) dpa_link;
	void *compat; /* what another generation of the API keeps for it; NULL in the current one */
};

static inline enum shim_mmap_state shim_mmap_state(const struct doca_mmap *mmap)
{
	return atomic_load_explicit(&mmap->state, memory_order_relaxed);
}

static inline bool shim_mmap_is_imported(const struct doca_mmap *mmap)
{
	return shim_mmap_state(mmap) == SHIM_MMAP_IMPORTED;
}

static inline uint32_t shim_mmap_num_bufs(const struct doca_mmap *mmap)
{
	return atomic_load_explicit(&mmap->num_first_bufs, memory_order_relaxed) +
	       atomic_load_explicit(&mmap->num_other_bufs, memory_order_relaxed);
}

/* Return whether buffers can be made of the map now. */
static inline bool shim_mmap_is_usable(const struct doca_mmap *mmap)
{
	return shim_mmap_state(mmap) >= SHIM_MMAP_STARTED;
}

/* Return whether a map of this process is started. */
static inline bool shim_mmap_is_started(const struct doca_mmap *mmap)
{
	return shim_mmap_is_usable(mmap) && !shim_mmap_is_imported(mmap);
}

static inline bool shim_mmap_was_exported(const struct doca_mmap *mmap)
{
	return shim_mmap_state(mmap) == SHIM_MMAP_EXPORTED || shim_mmap_state(mmap) == SHIM_MMAP_SPENT;
}

/* Return whether the map at @mmap is still the one that had this serial. */
static inline bool shim_mmap_is_same(const struct doca_mmap *mmap, uint64_t serial)
{
	return shim_object_is(mmap, SHIM_MMAP) && mmap->serial == serial;
}

/* Return where the bytes at @addr of the map are in this process; meaningless for imported memory. */
static inline uint64_t shim_mmap_cpu_addr(const struct doca_mmap *mmap, const uint8_t *addr)
{
	return (uintptr_t)addr + mmap->cpu_offset;
}

/* Return whether @bytes at @addr are in the map's range. */
static inline bool shim_mmap_has_range(const struct doca_mmap *mmap, const uint8_t *addr, size_t bytes)
{
	size_t end;

	return !__builtin_add_overflow((size_t)((uintptr_t)addr - (uintptr_t)mmap->addr), bytes, &end) &&
	       end <= mmap->len_bytes;
}

/* mmap_dev.c: the same for the other devices of a map of a DPA's heap. */
SHIM_INTERNAL_API bool shim_mmap_has_dpa_dev(const struct doca_mmap *mmap, const struct doca_dev *dev);

/* Return whether the device may work on the map's memory. */
static inline bool shim_mmap_has_dev(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	if (doca_likely(mmap->first_dev == dev))
		return true;
	for (uint32_t i = 1; i < mmap->num_devs; i++)
		if (mmap->devs[i] == dev)
			return true;
	return doca_unlikely(mmap->is_dpa_memory) && shim_mmap_has_dpa_dev(mmap, dev);
}

/* mmap.c: create an empty map. Return NULL without memory. */
struct doca_mmap *shim_mmap_new(void);

/* mmap.c: the one function that writes a map's state. */
void shim_mmap_set_state(struct doca_mmap *mmap, enum shim_mmap_state to);

/* mmap.c: start a map whose configuration is complete, for the public function @func. Returns the errors
 * of shim_mmap_probe(). */
doca_error_t shim_mmap_register(const char *func, struct doca_mmap *mmap);

/* mmap_key.c: give the map new memory keys, one for each of its devices. */
void shim_mmap_take_keys(struct doca_mmap *mmap);

/* mmap_key.c: the map's memory key for the device, which works on it. */
uint32_t shim_mmap_key(const struct doca_mmap *mmap, const struct doca_dev *dev);

/* mmap_dpa.c: the handle that kernels have, of a map that can be used and has the device; 0 = no memory. */
uint32_t shim_mmap_get_dpa_handle(struct doca_mmap *mmap, const struct doca_dev *dev);

/* mmap_dpa.c: copy bytes of the map, own or imported, by the caller's thread. 0, -EFAULT, -EACCES or -EIO. */
SHIM_INTERNAL_API int shim_mmap_copy_from(const struct doca_mmap *mmap, const void *addr, void *to, size_t len);
SHIM_INTERNAL_API int shim_mmap_copy_to(const struct doca_mmap *mmap, void *addr, const void *from, size_t len);

/* mmap_dpa.c: no kernel of a DPA uses the map afterwards. */
void shim_mmap_withdraw_from_dpa(struct doca_mmap *mmap);

/* mmap.c: the heap of the DPA context ends: nobody accesses it by its maps afterwards, which have no range any more. */
SHIM_INTERNAL_API void shim_mmap_end_dpa_ranges(const struct doca_dpa *dpa);

/* mmap_range.c: check the memory of the map's range, for the public function @func. Returns DOCA_SUCCESS,
 * INVALID_VALUE (a part is not mapped, or not @writable) or NO_MEMORY. Finds the shared object that holds
 * all of the range, if there is one. */
doca_error_t shim_mmap_probe(const char *func, struct doca_mmap *mmap, bool writable);

/* mmap_range.c: return why memory can't be read and written in this process ("not mapped"), or NULL.
 * Unless @ret_fd is NULL, *ret_fd is a descriptor, which the caller closes, of the shared object that
 * holds all of the memory, at *ret_offset; -1 = none. */
const char *shim_range_probe(const void *addr, size_t len, int *ret_fd, uint64_t *ret_offset);

/* mmap_range.c: map the object of @fd as the map's memory; the map duplicates @fd. INVALID_VALUE (no
 * descriptor, or too short an object) or NOT_SUPPORTED (an object that can't be mapped). */
doca_error_t shim_mmap_map_object(const char *func, struct doca_mmap *mmap, int fd, size_t offset, size_t len);

/* mmap_export.c: memory of a map that the peer of a Comch connection writes to. */
struct shim_share {
	struct doca_mmap *mmap; /* NULL = none */
	uint64_t mmap_serial;
	struct sim_key key;
};

/* mmap_export.c: let the peer write to the map, whose permissions allow it. 0 or -errno. */
SHIM_INTERNAL_API int shim_mmap_share(struct doca_mmap *mmap, const struct doca_dev *dev, struct shim_share *ret_share);

/* mmap_export.c: end the share; on return the peer writes no more. */
SHIM_INTERNAL_API void shim_mmap_unshare(struct shim_share *share);

#endif
