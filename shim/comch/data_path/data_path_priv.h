/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/data_path/data_path_priv.h - consumers and producers, as their connection and endpoint see them.
 *
 * A consumer of this end is announced to the other end by the pipe (sim/msg/pipe.h); the announcement carries its
 * memory. A consumer of the other end is known until it is withdrawn, or the connection ends.
 */
#ifndef SHIM_COMCH_DATA_PATH_PRIV_H
#define SHIM_COMCH_DATA_PATH_PRIV_H

#include "shim/comch/conn/conn_priv.h"

/* ---- data_path.c ---- */

/* Register a new consumer or producer on the connection, which holds as many of each as the device permits. @func is
 * the public function's name, for the log. Returns SUCCESS, BAD_STATE (not connected) or NO_MEMORY (the limit). */
doca_error_t comch_data_path_init(const char *func, struct comch_data_path *data_path, const struct shim_ctx_ops *ops,
				  struct doca_comch_connection *connection, enum comch_data_path_kind kind);
void comch_data_path_fini(struct comch_data_path *data_path);

/* Its context starts: it is notified when the connection ends. Returns 0, or -ENOTCONN without an open connection. */
int comch_data_path_attach(struct comch_data_path *data_path);
void comch_data_path_detach(struct comch_data_path *data_path);

/* ---- remote_consumer.c: consumers of the other end ---- */

/* The other end announced a consumer, or withdrew one. Take the announcement's descriptors; return whether the user saw an
 * event. */
bool comch_add_remote_consumer(struct doca_comch_connection *connection, uint32_t id,
			       struct sim_handshake_msg *announcement);
bool comch_expire_remote_consumer(struct doca_comch_connection *connection, uint32_t id);

/* Expire one consumer that is still known, and call the user's callback, which may close the connection. Returns whether there was
 * one. */
bool comch_expire_next_remote_consumer(struct doca_comch_connection *connection);

#endif
