/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/mem/export.h - exports to the card's other side, and imports from it.
 *
 * A memory map and a sync event have a list of exports, for each device one to the card's other side and one to the
 * network. The bytes of a descriptor are
 * valid as long as the export. An import is a remote of the session (sim/fabric/remote.h). Exports and imports
 * belong to the session in which they were made: a forked child only forgets those of its parent. @func is
 * the public function's name, for the log. One thread at a time for one object.
 */
#ifndef SHIM_EXPORT_H
#define SHIM_EXPORT_H

#include <doca_error.h>

#include "shim/common/dev/dev_priv.h"
#include "sim/protocol/descriptor.h"
#include "sim/session/session.h"

struct shim_export {
	struct doca_dev *dev; /* held */
	bool is_net;          /* to the network; else to the card's other side */
	struct sim_key key;
	uint8_t bytes[SIM_DESCRIPTOR_BYTES];
	struct shim_export *next;
};

/* Return the export for @dev. The first call creates the export: of @region in @object_fd (-1: no shared object),
 * which stays the caller's. NOT_SUPPORTED, NO_MEMORY or DRIVER. */
doca_error_t shim_export_get_or_create(const char *func, struct shim_export **exports, struct doca_dev *dev,
				       const struct sim_region *region, int object_fd, struct shim_export **ret_export);

/* Return the export through @dev of memory that was imported as @remote. The first call exports it again, to the network.
 * NOT_SUPPORTED, NOT_PERMITTED, NO_MEMORY or DRIVER. */
doca_error_t shim_export_get_or_create_again(const char *func, struct shim_export **exports, struct doca_dev *dev,
					     const struct sim_remote *remote, struct shim_export **ret_export);

/* End all exports, which were made in @session. On return no importer accesses the memory. */
void shim_exports_revoke(struct shim_export **exports, struct sim_session *session);

/* Import the object that a descriptor of @len bytes names: the value of a sync event if @wants_sync, else
 * memory. INVALID_VALUE, NOT_SUPPORTED, NOT_PERMITTED, NO_MEMORY or DRIVER. */
doca_error_t shim_import(const char *func, const void *descriptor, size_t len, const struct doca_dev *dev,
			 bool wants_sync, struct sim_remote **ret_remote);

/* End an import, which was made in @session. */
void shim_import_release(struct sim_remote *remote, struct sim_session *session);

#endif
