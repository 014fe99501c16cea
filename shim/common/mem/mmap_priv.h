/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/mem/mmap_priv.h - a memory map, as the rest of the shim sees it.
 *
 *   create --> [configured] <--stop-- / --start--> [started] --export--> [exported] --stop--> [spent]
 *   create_from_export --> [imported]
 *
 * A map that was exported stays so: after its stop it is not started again. All
 * states lead to destroy.
 *
 * Addresses of its buffers are those that the application gave (or, imported,
 * that the exporter gave). Where the bytes are: behind @remote for an imported
 * map, at @cpu_base for a dmabuf, else at the address itself.
 */
#ifndef SHIM_MMAP_PRIV_H
#define SHIM_MMAP_PRIV_H

#include <doca_mmap.h>

#include "shim/common/base/object.h"
#include "sim/session/session.h"

struct shim_export;

struct doca_mmap {
	struct shim_object object;
	bool range_set, started, was_started, was_exported, thread_safe;
	bool cpu_read_only; /* our mapping of the dmabuf can't be written to */
	bool free_armed;    /* started since the free callback was set */
	uint64_t serial;    /* no other map of the process has or had it; 0 never */
	uint32_t access;    /* enum doca_access_flag */
	uint8_t *addr;
	size_t len_bytes;
	uint8_t *cpu_base; /* our mapping of the dmabuf; NULL = the address itself */
	int object_fd;     /* shared object that holds the memory, -1 = none or not looked for */
	uint64_t object_offset;
	struct doca_dev **devs;
	uint32_t num_devs, max_devs;
	union doca_data user_data;
	doca_mmap_memrange_free_cb_t *free_cb;
	void *free_cookie;
	uint32_t num_bufs; /* not counted in thread-safe mode */
	atomic_uint
		num_users; /* buffer pools and Comch consumers over it; they end before it, but in thread-safe mode */
	struct sim_session *session; /* that the exports or the import are of; a forked child has another */
	struct shim_export *exports;
	struct sim_remote *remote; /* imported maps only */
	void *workq_data;          /* what shim/workq keeps with it; NULL in this generation */
};

static inline bool shim_mmap_is_imported(const struct doca_mmap *mmap)
{
	return mmap->remote != NULL;
}

/* Whether buffers can be made of it now. */
static inline bool shim_mmap_is_usable(const struct doca_mmap *mmap)
{
	return mmap->started || mmap->remote;
}

/* Whether the map that had this serial at @mmap is there still. */
static inline bool shim_mmap_is_same(const struct doca_mmap *mmap, uint64_t serial)
{
	return shim_object_is(mmap, SHIM_MMAP) && mmap->serial == serial;
}

/* A new, empty map; or NULL. */
struct doca_mmap *shim_mmap_new(void);

/* Whether the device may work on this memory. */
static inline bool shim_mmap_has_dev(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	for (uint32_t i = 0; i < mmap->num_devs; i++)
		if (mmap->devs[i] == dev)
			return true;
	return false;
}

/* mmap.c: start a map of which all but its memory is known to be in order, for the function
 * @func. Returns what doca_mmap_start() does of the memory. */
doca_error_t shim_mmap_register(const char *func, struct doca_mmap *mmap);

/* mmap_range.c: look at the memory behind a range, for the function @func. Returns DOCA_SUCCESS,
 * INVALID_VALUE when a part of it is not mapped, or not as @writable as wanted,
 * or NO_MEMORY. Finds the shared object that holds all of it, if there is one. */
doca_error_t shim_mmap_probe(const char *func, struct doca_mmap *mmap, bool writable);

/* mmap_range.c: what is wrong with memory that shall be read and written here
 * ("not mapped"), or NULL. *ret_fd, unless it is NULL, is the caller's then: a
 * descriptor of the shared object that holds all of it, at *ret_offset; -1 = none. */
const char *shim_range_probe(const void *addr, size_t len, int *ret_fd, uint64_t *ret_offset);

/* mmap_range.c: map the object that @fd means, as the memory of the map. The
 * descriptor is duplicated. INVALID_VALUE (not a descriptor, or too short) or
 * NOT_SUPPORTED (what can't be mapped). */
doca_error_t shim_mmap_map_object(const char *func, struct doca_mmap *mmap, int fd, size_t offset, size_t len);

/* mmap_export.c: let the other end of a Comch connection of @dev write to the map, whose
 * access permits it; and end that: nobody writes any more when it returns. 0 or -errno. */
struct shim_share {
	struct doca_mmap *mmap; /* NULL = none */
	uint64_t mmap_serial;
	struct sim_key key;
};

SHIM_INTERNAL_API int shim_mmap_share(struct doca_mmap *mmap, const struct doca_dev *dev, struct shim_share *ret_share);
SHIM_INTERNAL_API void shim_mmap_unshare(struct shim_share *share);

/* mmap_export.c: end all exports of a map; end its import, if it is one. */
void shim_mmap_unexport(struct doca_mmap *mmap);
void shim_mmap_unimport(struct doca_mmap *mmap);

#endif
