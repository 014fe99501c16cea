/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/owner_call.h - requests to the session's daemon, and their replies.
 *
 *   any thread:      sim_calls_call(), sim_calls_begin() --request--> daemon
 *   receive thread:  daemon --reply--> sim_calls_complete(), which wakes the thread that called, or calls its function
 *   or, if nobody else waits:
 *   the same thread: daemon --reply--> sim_calls_call()
 *
 * A reply finds its call by the sequence number. Once the daemon is lost, each call returns -ESHUTDOWN.
 *
 * One thread at a time receives. A thread that calls does so itself while no other call is pending: the receive thread then
 * need not wake up for the reply. Meanwhile the receive thread does not watch the socket. If the next message is not the
 * reply, the caller leaves it to the receive thread, which takes it before it looks into the socket, and waits for that
 * thread. So all messages are handled in their order.
 */
#ifndef SIM_SESSION_OWNER_CALL_H
#define SIM_SESSION_OWNER_CALL_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/queue.h>

#include "sim/protocol/wire.h"

#define SIM_CALL_TIMEOUT_S SIM_SESSION_DIR_TIMEOUT_S /* also the timeout of a send */

struct sim_pending_call;

enum sim_calls_receiver { SIM_CALLS_NOBODY, SIM_CALLS_RECEIVE_THREAD, SIM_CALLS_CALLER };

struct sim_calls {
	int sock, epoll_fd; /* borrowed; @epoll_fd is -1 until sim_calls_watch() */
	epoll_data_t tag;
	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t answered;
	LIST_HEAD(, sim_pending_call) pending;
	uint64_t next_seq;
	enum sim_calls_receiver receiver; /* receives now, or handles what it has received */
	bool has_left;                    /* a caller has received @left, which the receive thread has not taken */
	struct sim_msg left;
	struct sim_fds left_fds;
	bool lost;
};

void sim_calls_init(struct sim_calls *calls, int sock);
void sim_calls_fini(struct sim_calls *calls);

/* Watch the socket for the receive thread, which waits on @epoll_fd (borrowed): readable, or writable, it has to receive. Before
 * this call callers wait for sim_calls_complete(). Sets SO_RCVTIMEO. Returns 0 or -errno. */
int sim_calls_watch(struct sim_calls *calls, int epoll_fd, epoll_data_t tag);

/* The receive thread: receives and handles a message in between. Returns false if a caller receives just now. */
bool sim_calls_begin_receiving(struct sim_calls *calls);
void sim_calls_end_receiving(struct sim_calls *calls);

/* The receive thread, in between: the message that a caller has left, or the next one, as sim_msg_recv_fds(); logs one that
 * makes no sense (-EPROTO). */
int sim_calls_receive(struct sim_calls *calls, struct sim_msg *ret_msg, struct sim_fds *ret_fds);

/* Send a message that has no reply. Returns 0, -ESHUTDOWN, -ETIMEDOUT or another -errno. */
int sim_calls_send(struct sim_calls *calls, struct sim_msg *msg, const int *fds, uint32_t num_fds);

/* Send a request and wait for its reply, which replaces @msg if its status is 0. @ret_fds gets the reply's descriptors,
 * which the caller closes; if @ret_fds is NULL, they are closed. It is written on success only. Returns the reply's status, or an error of sim_calls_send(). */
int sim_calls_call(struct sim_calls *calls, struct sim_msg *msg, const int *fds, uint32_t num_fds,
		   struct sim_fds *ret_fds);

/* Send a request and do not wait: @done(@arg) is called with the reply's descriptors in the receive thread, or in sim_calls_fini().
 * There are none if the request fails. Returns 0, or an error of sim_calls_send(): then it is not called. */
typedef void sim_call_done(void *arg, struct sim_fds *fds);
int sim_calls_begin(struct sim_calls *calls, struct sim_msg *msg, sim_call_done *done, void *arg);

/* Complete the call of a received reply. The call takes its descriptors out of @fds. */
void sim_calls_complete(struct sim_calls *calls, const struct sim_msg *reply, struct sim_fds *fds);

/* The daemon was lost: fail pending and later calls. */
void sim_calls_set_lost(struct sim_calls *calls);

#endif
