/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by owner_daemon.c and owner_daemon_channels.c only. */
#ifndef SIM_SESSION_OWNER_DAEMON_PRIV_H
#define SIM_SESSION_OWNER_DAEMON_PRIV_H

#include "owner.h"
#include "sim/protocol/wire.h"

/* Send from any thread. Returns 0, -ESHUTDOWN, -ETIMEDOUT or another -errno. */
int sim_owner_daemon_send(struct sim_owner *owner, struct sim_msg *msg);

/* Send a request with descriptors and wait for its reply. Returns its status, or as above. */
int sim_owner_daemon_call(struct sim_owner *owner, struct sim_msg *msg, const int *fds, uint32_t num_fds);

/* owner_daemon_channels.c: the slots of struct sim_owner_ops, and what the helper takes. */
int daemon_owner_listen(struct sim_owner *owner, uint64_t number, const struct sim_service *service);
void daemon_owner_unlisten(struct sim_owner *owner, uint64_t number);
int daemon_owner_connect(struct sim_owner *owner, uint64_t number, const struct sim_connect *request);
int daemon_owner_accept(struct sim_owner *owner, uint64_t number, const struct sim_handshake_msg *accept_msg);
int daemon_owner_send(struct sim_owner *owner, uint64_t number, const struct sim_handshake_msg *handshake);
void daemon_owner_notify_peer(struct sim_owner *owner, uint64_t number);
void daemon_owner_close(struct sim_owner *owner, uint64_t number, int reason);
void daemon_owner_handle_channel_msg(struct sim_owner *owner, struct sim_channels *channels, const struct sim_msg *msg,
				     struct sim_fds *fds);

#endif
