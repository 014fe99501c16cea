/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/data_path/data_path_priv.h - consumers and producers, as their connection and endpoint see them.
 *
 * A consumer of this end is announced to the other end: by an announcement
 * through the session, which carries its memory, and by a record in the ring, which
 * orders it with messages. A consumer of the other end becomes known when both
 * are here, and stays known until a record says that it expired, or the connection ends.
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

/* ---- consumer_announce.c: consumers of this end ---- */

/* Announce the consumer @data_path. *announced is set, and its context notified, when the announcement was sent. Takes
 * the message's descriptors in any case. Returns 0, -ENOMEM or -ENOTCONN. */
int comch_announce_new_consumer(struct comch_data_path *data_path, struct sim_handshake_msg *msg,
				_Atomic bool *announced);
void comch_announce_expired_consumer(struct comch_data_path *data_path);

/* Send the announcements that there is room for; in the endpoint's thread. Returns 0, or -EPROTO: the connection is
 * lost. */
int comch_announce_flush(struct doca_comch_connection *connection);
void comch_announcements_drop(struct doca_comch_connection *connection);

/* ---- remote_consumer.c: consumers of the other end ---- */

/* Keep an announcement until its record is read. Takes the message's descriptors. */
void comch_queue_announce_msg(struct doca_comch_connection *connection, struct sim_handshake_msg *msg);
void comch_pending_announces_drop(struct doca_comch_connection *connection);

/* Handle a record that is no message. Returns 1 (the user saw an event), 0 or -EPROTO. */
int comch_handle_consumer_record(struct doca_comch_connection *connection, uint32_t kind, const void *data, size_t len);

/* Try the pending record again. Returns whether the user saw an event. */
bool comch_retry_consumer_record(struct doca_comch_connection *connection);

/* Expire one consumer that is still known, and call the user's callback, which may close the connection. Returns whether there was
 * one. */
bool comch_expire_next_remote_consumer(struct doca_comch_connection *connection);

/* Forget all without calling the user. */
void comch_remote_consumers_drop(struct doca_comch_connection *connection);

#endif
