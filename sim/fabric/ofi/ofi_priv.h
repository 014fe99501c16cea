/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/fabric/ofi/ofi_priv.h - shared by the files of this folder.
 *
 *   ofi_lib.c           loads libfabric, and keeps the application's signal handlers
 *   ofi_endpoint.c      one libfabric endpoint and the objects below it
 *   ofi_addr.c          sockets: addresses to offer and to try
 *   ofi_shm_name.c      shm: names in /dev/shm
 *   ofi_shm_ctrl.c      shm: the control block that both sides share
 *   ofi_shm_listener.c  shm: the target's end of the socket
 *   ofi_shm_conn.c      shm: the importer's end of the socket
 *   ofi_wait.c          waiting for a peer
 *   ofi_target.c        the exporter
 *   ofi_transfer.c      one transfer: post, wait for completion
 *   ofi_peer.c          an importer's endpoint towards one target, shared by its links
 *   ofi_link.c          the importer's calls, and the check of descriptors
 *
 * Properties of libfabric 1.17 that this code is built around:
 *
 * tcp. "net" is the RDM endpoint made for sockets (since 1.18 it is called "tcp"). "tcp;ofi_rxm" is as
 *   fast but takes 50 ms instead of 0.1 ms to open. The CQ of "net" has a descriptor that becomes readable
 *   for all work of a target, including connections, and fi_trywait() always permits to sleep. On a
 *   refused key, access or bound the target drops the connection, so the importer sees an
 *   error at once. Completed remote accesses are not reported, not even in counters: only the
 *   descriptor shows that there is work.
 *
 * shm. There is no CQ with a descriptor (FI_WAIT_FD is refused), so a listening socket wakes the target. A
 *   refused key, access or bound gets no answer and loses the operation's buffers. So links ask the
 *   listener to check a key before they use it. A peer that dies with the spin lock of the target's
 *   region hangs the target; one that dies with an operation in flight leaves references to its
 *   memory there; one that disappears between announcing itself and being noticed crashes the
 *   target. So the control block has a robust lock around each call that touches the region; the
 *   listener admits peers before they announce themselves; and after a peer's crash the
 *   target replaces its region. With CMA, shm would also serve a sleeping target, but it then
 *   checks neither keys nor bounds and takes the peer's pid to be of its own PID
 *   namespace. CMA is therefore turned off here; the path "cma" uses it where it works.
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

/* Functions of libfabric that are not inline. */
struct sim_ofi_lib {
	int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags,
		       const struct fi_info *hints, struct fi_info **info);
	void (*freeinfo)(struct fi_info *info);
	struct fi_info *(*dupinfo)(const struct fi_info *info); /* NULL = a new, empty one */
	int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
	const char *(*strerror)(int err);
};

/* libfabric, loaded on the first call; NULL if loading failed (logged once). */
const struct sim_ofi_lib *sim_ofi_lib(void);

/* Call around code in which a provider may install signal handlers: the second call restores the
 * application's handlers. The first takes a lock that the second releases. */
void sim_ofi_save_signal_handlers(void);
void sim_ofi_restore_signal_handlers(void);

/* libfabric 1.17 leaks memory with each endpoint and connection over sockets. A leak check in the application ignores
 * allocations of this thread between these two calls. Without a leak check they do nothing. They nest. */
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

/* Convert a negative code of libfabric to -errno; 0 otherwise. */
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
	bool target;                 /* accessed by peers; else it accesses a peer */
	const char *shm_name;        /* SIM_OFI_SHM: the region's name in /dev/shm */
	const struct sockaddr *bind; /* SIM_OFI_SOCKETS: where to listen */
	socklen_t bind_len;
};

/* The libfabric names to try for *@provider, in order, ended by NULL: two for "tcp", else the name itself. */
const char *const *sim_ofi_provider_names(const char *const *provider);

enum sim_ofi_kind sim_ofi_kind(const char *provider);

/* Returns 0, -ENOSYS (no such provider) or another -errno; on failure @ret is closed. */
int sim_ofi_endpoint_open(const struct sim_ofi_endpoint_cfg *cfg, struct sim_ofi_endpoint *ret);

/* Stop transfers: on return the provider no longer accesses local memory. */
void sim_ofi_endpoint_halt(struct sim_ofi_endpoint *endpoint);

/* Close the endpoint; a zeroed one is fine. Memory registrations must be closed before. */
void sim_ofi_endpoint_close(struct sim_ofi_endpoint *endpoint);

/* ---- ofi_addr.c ---- */

/* The wildcard address with any port. Returns its length. */
socklen_t sim_ofi_addr_any(struct sockaddr_storage *ret_addr);

/* The addresses under which peers may reach a listener on @port: loopback, then this machine's other
 * addresses, IPv4 before IPv6 (if @ipv6). Fills desc->num_addrs, addr_len and addr. */
int sim_ofi_addr_candidates(uint16_t port, bool ipv6, struct sim_ofi_desc *desc);

uint16_t sim_ofi_addr_port(const struct sockaddr *addr);

/* This process's descriptor that listens on @port, or -1. libfabric does not report it. */
int sim_ofi_addr_find_listener(uint16_t port);

/* Whether @addr is a complete IPv4 or IPv6 socket address. */
bool sim_ofi_addr_valid(const void *addr, size_t len);

/* The address that an endpoint towards @peer binds: loopback for loopback, else the wildcard. */
socklen_t sim_ofi_addr_bind_for(const struct sockaddr *peer, struct sockaddr_storage *ret_addr);

/* Returns 0 if a listener accepts connections at @addr, else -errno, after at most @timeout_ms. */
int sim_ofi_addr_reachable(const struct sockaddr *addr, socklen_t len, unsigned int timeout_ms);

/* ---- ofi_shm_name.c: shm only ---- */

#define SIM_OFI_SHM_NAME_SIZE 80 /* of a region: prefix and a number */

/* A new name in /dev/shm for a region of this process. */
void sim_ofi_shm_new_name(char ret_name[SIM_OFI_SHM_NAME_SIZE]);

/* Whether @name has the form of a name by sim_ofi_shm_new_name(), of any process. */
bool sim_ofi_shm_name_valid(const char *name, size_t size);

/* Whether the name was made in this process. */
bool sim_ofi_shm_name_is_own(const char *name);

/* The socket address of the listener of the region @name. */
void sim_ofi_shm_listener_addr(const char *name, struct sockaddr_un *ret_addr);

/* ---- ofi_shm_ctrl.c: shm only ---- */

#define SIM_OFI_SHM_MAX_CLIENTS 200 /* peers of a target at once; the provider's own limit is 256 */

/* Shared by a target and the peers of its region; replaced together with the region. After an operation, a
 * peer increments doorbell and waits until served changes. The target serves when doorbell has changed, and
 * then increments served. So both take the lock only if there is work. */
struct sim_ofi_shm_ctrl {
	pthread_mutex_t lock; /* robust; held around every libfabric call that touches the region */
	/* Protected by the lock: */
	uint32_t closed;      /* the region was replaced: connect again */
	uint32_t dereg_count; /* exposures ended so far; after a change, peers have their keys checked again */
	uint8_t busy[SIM_OFI_SHM_MAX_CLIENTS]; /* the peer has an operation in flight */
	/* Atomic, each in its own cache line: */
	_Alignas(64) atomic_uint doorbell;
	_Alignas(64) atomic_uint served;
	_Alignas(64) atomic_uint asleep; /* the target sleeps: wake it by a message */
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

/* Create a control block and a descriptor to pass to peers; or map a received descriptor. */
int sim_ofi_shm_ctrl_create(int *ret_fd, struct sim_ofi_shm_ctrl **ret_ctrl);
int sim_ofi_shm_ctrl_map(int fd, struct sim_ofi_shm_ctrl **ret_ctrl);
void sim_ofi_shm_ctrl_unmap(struct sim_ofi_shm_ctrl *ctrl);

/* Try for a moment. Returns 0, -EBUSY (try again) or -EOWNERDEAD: the region was closed, or a holder of the
 * lock died and the region may stay locked. Then the region must not be used any more. */
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

/* Connect to the listener of @target_name and have it admit our region @name. Returns 0, -EHOSTUNREACH (no such
 * target), -EUSERS (no free slot), -EBUSY (try again), -ETIMEDOUT or another -errno. */
int sim_ofi_shm_conn_open(const char *target_name, const char *name, struct sim_ofi_wait *wait,
			  struct sim_ofi_shm_conn *ret_conn);
void sim_ofi_shm_conn_close(struct sim_ofi_shm_conn *conn);

/* Ask whether the target has such memory (sim_ofi_check_key); *ret_dereg_count
 * is the deregistration count for which the answer holds. -ECONNRESET: disconnected. */
int sim_ofi_shm_conn_check_key(struct sim_ofi_shm_conn *conn, uint64_t key, uint64_t len, bool writable,
			       struct sim_ofi_wait *wait, uint32_t *ret_dereg_count);

/* Increment doorbell, and wake the target if it sleeps. */
void sim_ofi_shm_conn_ring_doorbell(struct sim_ofi_shm_conn *conn);

/* Whether the target disconnected us or died. */
bool sim_ofi_shm_conn_is_closed(const struct sim_ofi_shm_conn *conn);

/* ---- ofi_wait.c ---- */

/* The state of a wait for a peer. */
struct sim_ofi_wait {
	const atomic_bool *revoked; /* NULL = revocation is not reported */
	uint64_t deadline_ns;       /* 0 = none */
	void (*notify_peer)(void *arg);
	void *notify_arg;
	uint64_t start_ns; /* 0 = the wait starts with the next round */
	uint64_t next_notify_ns;
	unsigned int rounds;
};

/* Call between two polls: spins at first, then yields, then sleeps for growing times, and notifies the peer.
 * Returns 0, -EIO (revoked) or -ETIMEDOUT. */
int sim_ofi_wait_round(struct sim_ofi_wait *wait);

/* Start over with spinning, after progress. */
void sim_ofi_wait_reset(struct sim_ofi_wait *wait);

/* ---- ofi_shm_listener.c: shm only ---- */

struct sim_ofi_shm_listener;

/* Listen for clients of the region @name. @check_key answers whether the target has a memory with
 * @key, of at least @len bytes and @writable: 0, -ENOENT, or -EACCES (the memory does not permit this). */
typedef int sim_ofi_check_key(void *arg, uint64_t key, uint64_t len, bool writable);
int sim_ofi_shm_listener_create(const char *name, sim_ofi_check_key *check_key, void *check_arg,
				struct sim_ofi_shm_listener **ret_listener);
void sim_ofi_shm_listener_destroy(struct sim_ofi_shm_listener *listener);

/* Create a control block for the region's new endpoint. Before the endpoint closes, call the second function, which
 * disconnects all clients. */
int sim_ofi_shm_listener_open(struct sim_ofi_shm_listener *listener, struct sim_ofi_endpoint *endpoint);
void sim_ofi_shm_listener_close(struct sim_ofi_shm_listener *listener);

int sim_ofi_shm_listener_fd(const struct sim_ofi_shm_listener *listener);

/* Serve the region and the socket. Returns the number of events, or -EOWNERDEAD: a peer crashed, and the
 * target must open a new region. */
int sim_ofi_shm_listener_serve(struct sim_ofi_shm_listener *listener);
bool sim_ofi_shm_listener_may_sleep(struct sim_ofi_shm_listener *listener);

/* Close the registration @mr while no peer has an operation in flight; waits a moment for that. Returns 0, or
 * -EBUSY: the target must open a new region. */
int sim_ofi_shm_listener_deregister(struct sim_ofi_shm_listener *listener, struct fid_mr *mr);

/* ---- ofi_peer.c ---- */

/* A link's remote memory region, for its peer. */
struct sim_ofi_remote_mr {
	uint64_t key;
	uint64_t base;
	uint64_t len;
	bool writable;
	unsigned int timeout_ms; /* for each address when connecting */
	void (*notify_peer)(void *arg);
	void *notify_arg;
	uint64_t checked_epoch; /* shm: connection and deregistration count of the last check of the key */
};

/* An operation of a link. */
struct sim_ofi_op {
	bool write;
	uint8_t *local;
	uint64_t offset;
	size_t len;
	const atomic_bool *revoked; /* NULL = revocation is not reported */
	unsigned int timeout_ms;    /* 0 = wait as long as the exporter lives */
	bool is_first;              /* the link's first: the exporter has just sent its addresses */
};

struct sim_ofi_peer {
	struct sim_ofi_desc target_desc; /* provider and addresses only */
	unsigned int refs;               /* under peers_lock, like entry */
	LIST_ENTRY(sim_ofi_peer) entry;
	pthread_mutex_t lock; /* held during an operation; protects the fields below */
	bool connected;
	struct sim_ofi_endpoint endpoint;
	fi_addr_t addr;
	struct sim_ofi_shm_conn shm_conn; /* shm */
	uint32_t conn_id;                 /* shm: numbers the connections of this process */
	struct fi_context2 context;       /* for providers that need one */
};

/* Find the peer for the target of @desc, or create one that is not connected. */
int sim_ofi_peer_get(const struct sim_ofi_desc *desc, struct sim_ofi_peer **ret_peer);
void sim_ofi_peer_put(struct sim_ofi_peer *peer);

/* Connect if necessary and run @op. Returns 0, -EIO (revoked), -ENOENT or
 * -EACCES (the target's answer), -EHOSTUNREACH, -ECONNRESET, -ETIMEDOUT... */
int sim_ofi_peer_run(struct sim_ofi_peer *peer, struct sim_ofi_remote_mr *remote_mr, const struct sim_ofi_op *op);

/* ---- ofi_transfer.c ---- */

/* One transfer: a chunk of an operation. */
struct sim_ofi_transfer {
	struct sim_ofi_peer *peer;
	struct sim_ofi_remote_mr *remote_mr;
	struct sim_ofi_wait *wait;
	bool write;
	void *local;
	size_t len;
	uint64_t offset;
	struct fid_mr *mr;                 /* of the local memory, if the provider requires it */
	const struct sockaddr *probe_addr; /* sockets: an address that has not answered yet; else NULL */
	socklen_t probe_addr_len;
	uint32_t served;     /* shm: the counter's value when we released the lock */
	unsigned int rounds; /* rounds of waiting so far */
};

/* Run the transfer on a connected peer whose lock is held. Returns 0, -ENOENT or -EACCES (the target's
 * answer; the connection remains), -ECONNRESET (refused, or the connection was lost), -EIO (revoked),
 * -ETIMEDOUT, or another -errno (the local memory can't be registered). @ret_is_broken: the endpoint
 * was halted, and the caller must disconnect the peer. */
int sim_ofi_transfer_run(struct sim_ofi_transfer *transfer, bool *ret_is_broken);

#endif
