/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/fabric/path.h - the data paths between two processes.
 *
 *   in-place  both ends in this process
 *   mapped    the memory lies in a shared object (memfd, /dev/shm, hugetlbfs, file, dmabuf): map it
 *   procmem   a descriptor of the exporter's /proc/PID/mem (peer_memory.h), and the next for what that does better
 *   cma       process_vm_readv and process_vm_writev
 *   shm, tcp  the exporter's helper thread serves the memory (served/served.h)
 *   gateway   the memory is on another machine; this one's gateway passes requests on, over shm
 *
 * in order of preference. A path that maps sets remote->base, and its read and write slots are not
 * called; the other paths copy. Offsets count from the region's start.
 */
#ifndef SIM_FABRIC_PATH_H
#define SIM_FABRIC_PATH_H

#include "remote.h"

struct sim_path_ops {
	const char *name;
	/* Open the path between the two processes of @cfg. Returns 0, or -errno with a text in *ret_reason. */
	int (*open)(struct sim_remote *remote, const struct sim_remote_cfg *cfg, const char **ret_reason);
	void (*close)(struct sim_remote *remote);
	/* Both return 0 or -errno. */
	int (*read)(struct sim_remote *remote, void *local, uint64_t offset, size_t len);
	int (*write)(struct sim_remote *remote, const void *local, uint64_t offset, size_t len);
	/* Move pieces, whose addresses are checked, by one system call for many. Returns how many have moved, from the first on. */
	size_t (*move_pieces)(struct sim_remote *remote, bool is_read, const struct sim_piece *pieces, size_t count);
};

extern const struct sim_path_ops sim_path_in_place;
extern const struct sim_path_ops sim_path_mapped;
extern const struct sim_path_ops sim_path_procmem;
extern const struct sim_path_ops sim_path_cma;
extern const struct sim_path_ops sim_path_shm;
extern const struct sim_path_ops sim_path_tcp;
extern const struct sim_path_ops sim_path_gateway;

/* Whether importer, exporter and daemon are of one user, and the exporter is known by a pidfd (path_cma.c). Returns 0 or
 * -EPERM, with a text in *ret_reason. */
int sim_path_check_users(const struct sim_remote_cfg *cfg, const char **ret_reason);

/* For paths without a system call that takes many pieces. */
size_t sim_path_move_no_pieces(struct sim_remote *remote, bool is_read, const struct sim_piece *pieces, size_t count);

/* The pieces that are whole in the first @bytes of all. */
size_t sim_path_count_whole(const struct sim_piece *pieces, size_t count, size_t bytes);

/* For the slots of paths that map. */
int sim_path_read_unsupported(struct sim_remote *remote, void *local, uint64_t offset, size_t len);
int sim_path_write_unsupported(struct sim_remote *remote, const void *local, uint64_t offset, size_t len);

#endif
