/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/rail_priv.h - the state of a rail. */
#ifndef SIM_GATEWAY_RAIL_PRIV_H
#define SIM_GATEWAY_RAIL_PRIV_H

#include <errno.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "rail.h"

#define RAIL_SENDS    16
#define RAIL_RECEIVES 16

/* Return libfabric's @rc as 0 or above, or as -errno: -EIO for its own codes. */
static inline int rail_errno(ssize_t rc)
{
	return rc > -FI_ERRNO_OFFSET ? (int)rc : -EIO;
}

struct rail_buffer {
	struct fi_context2 context; /* the provider's, while the buffer is on its way */
	bool is_receive;
	uint8_t *bytes;
	SLIST_ENTRY(rail_buffer) link;
	/* The message, if it goes without a connection and waits to be sent, or has come and waits for those before it. */
	size_t len;
	const void *body;
	size_t body_len;
	STAILQ_ENTRY(rail_buffer) waiting;
};

/* A descriptor that ends a sleep. */
struct rail_source {
	struct rail_endpoint
		*endpoint; /* whose messages it announces; NULL = it announces connections, or is watched */
	int number;        /* of a watched descriptor; else -1 */
};

struct rail_endpoint;

/* The carrier of messages: connected endpoints (rail_msg.c), or endpoints without connections (rail_rdm.c). */
struct rail_carrier {
	const char *name;     /* libfabric's, of the kind of endpoint */
	size_t head_bytes;    /* before each message */
	uint32_t spare_sends; /* which the carrier keeps for itself */

	/* Send the first free buffer. @body as of rail_send_with(), or NULL. */
	int (*send)(struct rail_endpoint *endpoint, size_t len, const void *body, size_t body_len);

	/* A message has come, which @buffer is; it has failed, or a sent one has (@buffer may be NULL then). The connection may be closed
	 * afterwards. */
	void (*take)(struct rail_endpoint *endpoint, struct rail_buffer *buffer, size_t len);
	void (*fail)(struct rail_endpoint *endpoint, struct rail_buffer *buffer, int error);
};

/* An endpoint has a queue and buffers of its own, so that nothing of it comes after its end. */
struct rail_endpoint {
	const struct rail_carrier *carrier;
	struct rail_conn *conn;
	struct fid_fabric *fabric; /* these are borrowed */
	struct fid_domain *domain;
	struct fi_info *info;
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct rail_source source;
	bool has_descriptor; /* the queue has one, which ends a sleep */
	bool is_armed; /* fi_trywait() has permitted a sleep since the last look at @cq, and no send came between */
	bool wants_room;
	struct fid_mr *mr; /* NULL = the provider needs none */
	uint8_t *memory;   /* of all buffers */
	struct rail_buffer *buffers;
	uint32_t num_sends, num_receives;
	SLIST_HEAD(, rail_buffer) free_sends;
	uint32_t num_sending;
};

/* Open an endpoint in two steps: its queue; then what it is bound to comes between; then the rest. On failure rail_endpoint_close()
 * copes with what there is. */
int rail_endpoint_open(struct rail_endpoint *endpoint);
int rail_endpoint_enable(struct rail_endpoint *endpoint);
void rail_endpoint_close(struct rail_endpoint *endpoint);

int rail_endpoint_receive(struct rail_endpoint *endpoint, struct rail_buffer *buffer);

/* Look at the queue. Returns whether there was something; the connection may be closed then. */
bool rail_endpoint_poll(struct rail_endpoint *endpoint);

/* Whether a sleep ends when something comes, and nothing is there yet. */
bool rail_endpoint_may_sleep(struct rail_endpoint *endpoint);

struct rail_conn {
	struct rail *rail;
	void *owner;
	bool is_connected;
	bool may_wait; /* since the last look at @eq, fi_trywait() has permitted a sleep: an event wakes it */
	struct sockaddr_storage peer; /* of the listener's connections; peer_len 0 = not known */
	size_t peer_len;
	struct fid_eq *eq;
	struct rail_source eq_source;
	struct rail_endpoint msg;
	uint64_t num_sent, num_received; /* messages by @msg */
	struct rail_rdm *rdm;            /* NULL = none */
	char why[RAIL_WHY_SIZE];         /* why not, or what is to be known of it; "" = nothing */
	struct rail_endpoint *sender;    /* by which messages leave: @msg, or that of @rdm */
	LIST_ENTRY(rail_conn) link;
};

struct rail {
	struct rail_cfg cfg;
	struct fi_info *info;
	struct fi_info *rdm_info; /* of the provider without connections that was wanted; NULL = none */
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_pep *pep; /* NULL = does not listen */
	struct fid_eq *eq;   /* of the listener */
	int epoll_fd;
	struct rail_source eq_source, watched[RAIL_MAX_WATCHED];
	bool may_wait; /* as of a connection */
	bool is_quiet; /* of the first: it has slept, and no queue of connections' events has ended that */
	struct strangers *strangers;
	struct rail *first; /* that polls and sleeps for this one; itself */
	SLIST_HEAD(, rail) beside;
	SLIST_ENTRY(rail) in_beside;
	LIST_HEAD(, rail_conn) conns;
	struct rail_conn *next; /* in a walk over the connections */
};

/* ---- rail_source.c ---- */

/* A descriptor of @fid ends sleeps. Returns 0 or -errno. */
int rail_add_source(struct rail *rail, struct fid *fid, struct rail_source *source, struct rail_endpoint *endpoint);
void rail_close_queue(const struct rail *rail, struct fid *fid); /* NULL is fine */

/* Open a queue of connections' events, which ends sleeps. Returns 0 or -errno; in both cases rail_close_queue() closes *@ret_eq if
 * that is not NULL. */
int rail_open_eq(struct rail *rail, struct fid_eq **ret_eq, struct rail_source *source);

/* ---- rail_provider.c ---- */

/* Find the provider that the configuration names. If it has no connected endpoints, the rail has those of tcp, and the
 * provider's own besides. Returns 0, or -EADDRNOTAVAIL, which it has logged. */
int rail_find_providers(struct rail *rail);

/* ---- rail_endpoint.c ---- */

/* Whether the connection has not been closed. */
bool rail_has_conn(const struct rail *rail, const struct rail_conn *wanted);

/* Tell the owner that the connection is of no use. */
void rail_fail_conn(struct rail_conn *conn, int reason);

/* ---- rail_rdm_open.c ---- */

/* Endpoints without connections of the provider, or of all (NULL); NULL = there are none. */
struct fi_info *rail_rdm_find(const char *provider);

void rail_rdm_close(struct rail_conn *conn);

/* ---- rail_rdm.c ---- */

bool rail_rdm_is_idle(const struct rail_conn *conn);

/* Returns whether there was something; the connection may be closed then. */
bool rail_rdm_poll(struct rail_conn *conn, enum rail_look look);

/* A message has come by the connection: those after it may have their turn. The connection may be closed then. */
void rail_rdm_go_on(struct rail_conn *conn);

/* Whether the peer sends no more by the connection. */
bool rail_rdm_has_peer(const struct rail_conn *conn);

/* Do the work that is due. Returns when to call again. */
uint64_t rail_rdm_tick(struct rail_conn *conn, uint64_t now_ns);

/* Whether a sleep ends when something comes, and nothing is there yet. */
bool rail_rdm_may_sleep(struct rail_conn *conn);

/* Return how long a sleep may be; UINT64_MAX = until something comes. */
uint64_t rail_rdm_nap_ns(const struct rail_conn *conn);

#endif
