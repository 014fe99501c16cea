/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/fabric/ofi/ofi_priv.h - what the files ofi*.c share.
 *
 *   ofi_lib.c       loading libfabric without harm to the application
 *   ofi_endpoint.c  one libfabric endpoint with all that hangs on it
 *   ofi_addr.c      addresses over sockets: which to offer, which can be reached
 *   ofi_shm_name.c  shm only: names in /dev/shm
 *   ofi_shm_ctrl.c  shm only: the control block that both sides share
 *   ofi_shm_listener.c shm only: the target's side of the socket: a listener
 *   ofi_shm_conn.c  shm only: the importer's side of it
 *   ofi_wait.c      waiting for a peer
 *   ofi_target.c    the exporter
 *   ofi_peer.c      an importer's endpoint towards one target, shared by its links
 *   ofi_transfer.c  one transfer on it: start, wait, finish
 *   ofi_link.c      the importer's calls, and checking descriptors
 *
 * Found out with libfabric 1.17, and the reason for much of what follows:
 *
 * tcp. "net" is the RDM endpoint made for sockets (from 1.18 on it is called
 *   "tcp"); "tcp;ofi_rxm" transfers as fast but takes 50 ms instead of 0.1 ms
 *   to open. Its CQ has a descriptor that becomes readable for whatever a
 *   target must do, connections included, and fi_trywait() never objects. A
 *   refused key, access or bound makes the target drop the connection, so the
 *   importer sees an error at once. Completed remote accesses show nowhere, not
 *   even in counters: readiness of the descriptor is the only sign of work.
 *
 * shm. No CQ with a descriptor (FI_WAIT_FD is refused), so a listening socket (below)
 *   wakes the target. A refused key, access or bound gets no answer at all and
 *   loses the buffers of the operation: so links never ask for what the target
 *   would refuse, the listener tells them first. A peer that dies while it holds
 *   the spin lock of the target's region hangs the target for ever; one that
 *   dies with an operation under way leaves references to its memory there; one
 *   that vanishes between announcing itself and being noticed crashes the
 *   target. So the control block has a robust lock around every call that touches the
 *   region, introduces peers before they may announce themselves, and when a
 *   peer left badly the target throws its region away and opens a new one.
 *   With CMA it would serve a sleeping target, but checks neither keys nor
 *   bounds then, and takes the peer's process id to be of its own namespace;
 *   where CMA works there is the cma path, so here it is kept off.
 */
#ifndef SIM_FABRIC_OFI_PRIV_H
#define SIM_FABRIC_OFI_PRIV_H

#include <netinet/in.h>
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "ofi.h"

/* ---- ofi_lib.c ---- */

/* The functions of libfabric that are not inline. */
struct sim_ofi_lib {
	int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags,
		       const struct fi_info *hints, struct fi_info **info);
	void (*freeinfo)(struct fi_info *info);
	struct fi_info *(*dupinfo)(const struct fi_info *info); /* NULL: a new one, empty */
	int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
	const char *(*strerror)(int err);
};

/* libfabric, loaded on the first call; NULL when it can't be (logged once). */
const struct sim_ofi_lib *sim_ofi_lib(void);

/* Between these two a provider may install signal handlers: the application's
 * are put back. One thread at a time is inside. */
void sim_ofi_save_signal_handlers(void);
void sim_ofi_restore_signal_handlers(void);

/* libfabric 1.17 loses memory with each endpoint and connection over sockets. What this thread allocates between these two
 * is not reported by a leak check that the application was built with; without one they do nothing. They nest. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

static inline void sim_ofi_lsan_disable(void)
{
	if (__lsan_disable)
		__lsan_disable();
}

static inline void sim_ofi_lsan_enable(void)
{
	if (__lsan_enable)
		__lsan_enable();
}

/* libfabric's negative code as -errno. */
int sim_ofi_errno(ssize_t rc);

/* ---- ofi_endpoint.c ---- */

enum sim_ofi_kind {
	SIM_OFI_SHM,     /* has a listening socket */
	SIM_OFI_SOCKETS, /* has socket addresses */
	SIM_OFI_OTHER,
};

struct sim_ofi_endpoint {
	enum sim_ofi_kind kind;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	int cq_fd; /* -1 = none */
};

struct sim_ofi_endpoint_cfg {
	const char *provider;
	bool target;                 /* to be accessed; else to access */
	const char *shm_name;        /* SIM_OFI_SHM: the region's name in /dev/shm */
	const struct sockaddr *bind; /* SIM_OFI_SOCKETS: where to listen */
	socklen_t bind_len;
};

/* What "tcp" means here, in the order to try; NULL ends the list. Another name is just that. */
const char *const *sim_ofi_provider_names(const char *const *provider);

enum sim_ofi_kind sim_ofi_kind(const char *provider);

/* Returns 0, -ENOSYS (no such provider) or another -errno; on failure @ret is closed. */
int sim_ofi_endpoint_open(const struct sim_ofi_endpoint_cfg *cfg, struct sim_ofi_endpoint *ret);

/* Stop transfers: from here on the provider leaves local memory alone. */
void sim_ofi_endpoint_halt(struct sim_ofi_endpoint *endpoint);

/* Close what is open; a zeroed one is fine. Memory registrations must be closed before. */
void sim_ofi_endpoint_close(struct sim_ofi_endpoint *endpoint);

/* ---- ofi_addr.c ---- */

/* The address to listen on everywhere; port 0 = any. Returns its length. */
socklen_t sim_ofi_addr_any(struct sockaddr_storage *ret_addr);

/* Where peers may find what listens on @port: loopback, then this machine's
 * other addresses, IPv4 first, @ipv6 too. Fills desc->num_addrs, addr_len and addr. */
int sim_ofi_addr_candidates(uint16_t port, bool ipv6, struct sim_ofi_desc *desc);

uint16_t sim_ofi_addr_port(const struct sockaddr *addr);

/* This process's descriptor that listens on @port, or -1: libfabric tells nobody. */
int sim_ofi_addr_find_listener(uint16_t port);

/* Whether @addr is a whole socket address of a family that we use. */
bool sim_ofi_addr_valid(const void *addr, size_t len);

/* The address that an endpoint towards @peer binds: loopback for loopback, else any. */
socklen_t sim_ofi_addr_bind_for(const struct sockaddr *peer, struct sockaddr_storage *ret_addr);

/* Returns 0 when something accepts connections at @addr, else -errno, at the latest after @timeout_ms. */
int sim_ofi_addr_reachable(const struct sockaddr *addr, socklen_t len, unsigned int timeout_ms);

/* ---- ofi_shm_name.c: shm only ---- */

#define SIM_OFI_SHM_NAME_SIZE 80 /* of a region: prefix and a number */

/* A new name in /dev/shm for a region of this process. */
void sim_ofi_shm_new_name(char ret_name[SIM_OFI_SHM_NAME_SIZE]);

/* Whether @name is one that sim_ofi_shm_new_name() may have made, in some process. */
bool sim_ofi_shm_name_valid(const char *name, size_t size);

/* Whether it was made in this process. */
bool sim_ofi_shm_name_is_own(const char *name);

/* The address of the listener of the region @name. */
void sim_ofi_shm_listener_addr(const char *name, struct sockaddr_un *ret_addr);

/* ---- ofi_shm_ctrl.c: shm only ---- */

#define SIM_OFI_SHM_MAX_CLIENTS 200 /* peers of a target at once; the provider's own limit is 256 */

/* Shared by a target's region and its peers; replaced together with the region.
 * A peer that did something counts it in doorbell and waits for served to change;
 * the target serves when doorbell has changed and counts that in served. So the
 * lock is taken only when there is something to see. */
struct sim_ofi_shm_ctrl {
	pthread_mutex_t lock; /* robust; held around every libfabric call that touches the region */
	/* Under the lock: */
	uint32_t closed;                       /* the region is gone: connect again */
	uint32_t dereg_count;                  /* exposures ended so far: have your key checked again */
	uint8_t busy[SIM_OFI_SHM_MAX_CLIENTS]; /* this peer has an operation under way */
	/* Without it, each in a cache line of its own: */
	_Alignas(64) atomic_uint doorbell;
	_Alignas(64) atomic_uint served;
	_Alignas(64) atomic_uint asleep; /* the target sleeps: ring */
};

enum sim_ofi_msg_kind {
	SIM_OFI_MSG_HANDSHAKE, /* name -> status, slot and the control block's descriptor */
	SIM_OFI_MSG_CHECK_KEY, /* key, len, writable -> status */
	SIM_OFI_MSG_DOORBELL,  /* no answer */
};

struct sim_ofi_msg {
	uint32_t kind;
	int32_t status;
	uint32_t slot;
	uint32_t writable;
	uint32_t dereg_count;
	uint64_t key;
	uint64_t len;
	char name[SIM_OFI_SHM_NAME_SIZE];
};

/* A new control block, and its descriptor for handing out; or map one that was handed out. */
int sim_ofi_shm_ctrl_create(int *ret_fd, struct sim_ofi_shm_ctrl **ret_ctrl);
int sim_ofi_shm_ctrl_map(int fd, struct sim_ofi_shm_ctrl **ret_ctrl);
void sim_ofi_shm_ctrl_unmap(struct sim_ofi_shm_ctrl *ctrl);

/* Try for a moment. Returns 0, -EBUSY (try again) or -EOWNERDEAD: closed, or
 * somebody died holding it and the region may be locked for ever. Then it is
 * not to be touched any more. */
int sim_ofi_shm_ctrl_lock(struct sim_ofi_shm_ctrl *ctrl);
void sim_ofi_shm_ctrl_unlock(struct sim_ofi_shm_ctrl *ctrl);

/* ---- ofi_shm_conn.c: shm only ---- */

struct sim_ofi_wait;

/* An importer's connection to a target's shm listener. */
struct sim_ofi_shm_conn {
	int fd; /* to the listener; -1 = not connected */
	struct sim_ofi_shm_ctrl *ctrl;
	uint32_t slot;
};

/* Introduce the region @name to the listener of @target_name. Returns 0,
 * -EHOSTUNREACH (no such target any more), -EUSERS (it is full), -EBUSY (try
 * again), -ETIMEDOUT... */
int sim_ofi_shm_conn_open(const char *target_name, const char *name, struct sim_ofi_wait *wait,
			  struct sim_ofi_shm_conn *ret_conn);
void sim_ofi_shm_conn_close(struct sim_ofi_shm_conn *conn);

/* Ask whether the target has such memory (sim_ofi_check_key); *ret_dereg_count
 * is the deregistration count for which the answer holds. -ECONNRESET: disconnected. */
int sim_ofi_shm_conn_check_key(struct sim_ofi_shm_conn *conn, uint64_t key, uint64_t len, bool writable,
			       struct sim_ofi_wait *wait, uint32_t *ret_dereg_count);

/* Tell the target that something was done in its region; wake it if it sleeps. */
void sim_ofi_shm_conn_ring_doorbell(struct sim_ofi_shm_conn *conn);

/* Whether the target disconnected us or died. */
bool sim_ofi_shm_conn_is_closed(const struct sim_ofi_shm_conn *conn);

/* ---- ofi_wait.c ---- */

/* Waiting for a peer: how long, how hard, and until when. */
struct sim_ofi_wait {
	const atomic_bool *revoked; /* NULL = can't go */
	uint64_t deadline_ns;       /* 0 = none */
	void (*notify_peer)(void *arg);
	void *notify_arg;
	uint64_t start_ns; /* 0 = the next round starts it */
	uint64_t next_notify_ns;
	unsigned int rounds;
};

/* Between two looks: spins at first, then lets others run, then sleeps for
 * longer and longer, and notifies the peer. Returns 0, -EIO (gone) or -ETIMEDOUT. */
int sim_ofi_wait_round(struct sim_ofi_wait *wait);

/* Something came: start over with spinning. */
void sim_ofi_wait_reset(struct sim_ofi_wait *wait);

/* ---- ofi_shm_listener.c: shm only ---- */

struct sim_ofi_shm_listener;

/* Listen for clients of the region @name. @check_key answers whether the target has a memory with
 * @key, of at least @len bytes and @writable: 0, -ENOENT, or -EACCES (the memory does not permit this). */
typedef int sim_ofi_check_key(void *arg, uint64_t key, uint64_t len, bool writable);
int sim_ofi_shm_listener_create(const char *name, sim_ofi_check_key *check_key, void *check_arg,
				struct sim_ofi_shm_listener **ret_listener);
void sim_ofi_shm_listener_destroy(struct sim_ofi_shm_listener *listener);

/* Make a control block for the region's new endpoint; before closing the endpoint, disconnect all clients. */
int sim_ofi_shm_listener_open(struct sim_ofi_shm_listener *listener, struct sim_ofi_endpoint *endpoint);
void sim_ofi_shm_listener_close(struct sim_ofi_shm_listener *listener);

int sim_ofi_shm_listener_fd(const struct sim_ofi_shm_listener *listener);

/* Serve the region and the socket. Returns the number of events, or -EOWNERDEAD:
 * a peer left badly, open a new region. */
int sim_ofi_shm_listener_serve(struct sim_ofi_shm_listener *listener);
bool sim_ofi_shm_listener_may_sleep(struct sim_ofi_shm_listener *listener);

/* End the registration @mr while no peer has an operation under way; waits for
 * that a moment. Returns 0, or -EBUSY: open a new region instead. */
int sim_ofi_shm_listener_deregister(struct sim_ofi_shm_listener *listener, struct fid_mr *mr);

/* ---- ofi_peer.c ---- */

/* What a link is allowed and wants; its peer needs it for every use. */
struct sim_ofi_remote_mr {
	uint64_t key;
	uint64_t base;
	uint64_t len;
	bool writable;
	unsigned int timeout_ms; /* for each address when connecting */
	void (*notify_peer)(void *arg);
	void *notify_arg;
	uint64_t checked_epoch; /* shm: which connection and deregistration count the key was checked for */
};

/* One use of a peer, by one link. */
struct sim_ofi_op {
	bool write;
	uint8_t *local;
	uint64_t offset;
	size_t len;
	const atomic_bool *revoked; /* NULL = nobody tells */
	unsigned int timeout_ms;    /* 0 = wait as long as the exporter lives */
	bool is_first;              /* of its link: the exporter has just said where it is */
};

struct sim_ofi_peer {
	struct sim_ofi_desc target_desc; /* whose: provider and addresses only */
	unsigned int refs;               /* under peers_lock, like entry */
	LIST_ENTRY(sim_ofi_peer) entry;
	pthread_mutex_t lock; /* held during an operation; guards what follows */
	bool connected;
	struct sim_ofi_endpoint endpoint;
	fi_addr_t addr;
	struct sim_ofi_shm_conn shm_conn; /* shm */
	uint32_t conn_id;                 /* shm: numbers the connections of this process */
	struct fi_context2 context;       /* for providers that want some */
};

/* Find the endpoint for the target of @desc, or make one; not connected yet. */
int sim_ofi_peer_get(const struct sim_ofi_desc *desc, struct sim_ofi_peer **ret_peer);
void sim_ofi_peer_put(struct sim_ofi_peer *peer);

/* Connect where necessary and do @op. Returns 0, -EIO (gone), -ENOENT or
 * -EACCES (the target says so), -EHOSTUNREACH, -ECONNRESET, -ETIMEDOUT... */
int sim_ofi_peer_run(struct sim_ofi_peer *peer, struct sim_ofi_remote_mr *remote_mr, const struct sim_ofi_op *op);

/* ---- ofi_transfer.c ---- */

/* A piece on its way, or what is known about it. */
struct sim_ofi_transfer {
	struct sim_ofi_peer *peer;
	struct sim_ofi_remote_mr *remote_mr;
	struct sim_ofi_wait *wait;
	bool write;
	void *local;
	size_t len;
	uint64_t offset;
	struct fid_mr *mr;                 /* of the local memory, where the provider wants that */
	const struct sockaddr *probe_addr; /* sockets: where nobody has answered yet; else NULL */
	socklen_t probe_addr_len;
	uint32_t served;     /* shm: by the target, when we left its region */
	unsigned int rounds; /* of waiting so far */
};

/* Run the transfer on a connected peer whose lock is held. Returns 0, -ENOENT or -EACCES (the target's
 * answer; the connection remains), -ECONNRESET (refused, or the connection was lost), -EIO (gone),
 * -ETIMEDOUT, or another -errno (the local memory can't be registered). @ret_is_broken: the endpoint
 * was halted, and the caller must disconnect the peer. */
int sim_ofi_transfer_run(struct sim_ofi_transfer *transfer, bool *ret_is_broken);

#endif
