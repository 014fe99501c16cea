/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection's life at one end, and what comes in on it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "shim/comch/comch_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/process/runtime.h"

/* ---- making one ---- */

/* The first free slot; the table grows. SIM_INBOX_SLOTS - 1 = none. */
static uint32_t free_slot(struct comch_endpoint *endpoint)
{
	struct doca_comch_connection **grown;
	uint32_t slot = 0, count;

	if (endpoint->num_connections < endpoint->num_slots) {
		while (endpoint->slots[slot])
			slot++;
		return slot;
	}
	count = endpoint->num_slots ? endpoint->num_slots * 2 : 1;
	if (count > COMCH_OFFERS_SLOT)
		count = COMCH_OFFERS_SLOT;
	grown = count > endpoint->num_slots ? realloc(endpoint->slots, count * sizeof(struct doca_comch_connection *)) : NULL;
	if (!grown)
		return COMCH_OFFERS_SLOT;
	memset(grown + endpoint->num_slots, 0, (count - endpoint->num_slots) * sizeof(struct doca_comch_connection *));
	slot = endpoint->num_slots;
	endpoint->slots = grown;
	endpoint->num_slots = count;
	return slot;
}

static int open_ring(struct doca_comch_connection *connection)
{
	struct sim_ring_cfg cfg = {.max_records = connection->endpoint->recv_queue_size,
				   .max_record_bytes = (uint32_t)comch_endpoint_record_bytes(connection->endpoint)};
	int rc = sim_segment_create(sim_ring_size(&cfg), &connection->in_memory, &connection->in_fd);

	if (rc == 0)
		sim_ring_init(&connection->in, &cfg, connection->in_memory.base);
	return rc;
}

static _Atomic uint64_t last_serial;

int comch_connection_new(struct comch_endpoint *endpoint, struct doca_comch_connection **ret_connection)
{
	uint32_t slot = free_slot(endpoint);
	struct doca_comch_connection *connection = NULL;
	int rc;

	if (slot != COMCH_OFFERS_SLOT)
		connection = shim_object_new(SHIM_COMCH_CONNECTION, sizeof(*connection));
	if (!connection)
		return -ENOMEM;
	connection->serial = atomic_fetch_add(&last_serial, 1) + 1;
	connection->endpoint = endpoint;
	connection->slot = slot;
	connection->refs = 1;
	connection->in_fd = connection->peer_wake_fd = -1;
	connection->next_id = 1;
	pthread_mutex_init(&connection->lock, NULL);
	endpoint->slots[slot] = connection;
	endpoint->num_connections++;
	rc = open_ring(connection);
	if (rc < 0) {
		comch_connection_close(connection, -ECONNREFUSED);
		comch_connection_let_go(connection);
		return rc;
	}
	*ret_connection = connection;
	return 0;
}

/* ---- news ---- */

void comch_connection_tell(struct doca_comch_connection *connection)
{
	shim_message_sent();
	if (!sim_inbox_ring(connection->peer_inbox, connection->peer_slot))
		return;
	if (connection->peer_wake_fd >= 0)
		eventfd_write(connection->peer_wake_fd, 1);
	else if (connection->channel)
		sim_channel_nudge(connection->channel);
}

void comch_connection_kick(struct doca_comch_connection *connection)
{
	struct comch_endpoint *endpoint = connection->endpoint;

	if (endpoint && endpoint->inbox.shared && sim_inbox_ring(endpoint->inbox.shared, connection->slot))
		shim_pe_notify(&endpoint->ctx);
}

/* In the session's thread: mail, a close, or a nudge, which may be meant for any of us.
 * The peer that nudges took note of our sleep, so that ours is the only word of it. */
void comch_connection_notify(void *arg)
{
	struct doca_comch_connection *connection = arg;

	atomic_store(&connection->mail, true);
	pthread_mutex_lock(&connection->lock);
	for (struct comch_fast *fast = connection->fast; fast; fast = fast->next)
		shim_pe_notify(&fast->ctx);
	comch_connection_kick(connection);
	if (connection->endpoint) {
		shim_pe_notify(&connection->endpoint->ctx);
		comch_endpoint_status_changed(connection->endpoint);
	}
	pthread_mutex_unlock(&connection->lock);
}

void comch_connection_take_letters(struct doca_comch_connection *connection)
{
	struct sim_letter letter;

	while (sim_channel_take(connection->channel, &letter))
		comch_keep_letter(connection, &letter);
}

void comch_connection_look(struct doca_comch_connection *connection)
{
	atomic_store(&connection->mail, true);
	sim_inbox_again(&connection->endpoint->inbox, connection->slot);
}

static void take_mail(struct doca_comch_connection *connection)
{
	if (!atomic_exchange(&connection->mail, false))
		return;
	if (!connection->channel)
		return;
	connection->status = sim_channel_status(connection->channel);
	if (connection->state != COMCH_OPENING)
		comch_connection_take_letters(connection);
}

/* ---- what goes out ---- */

void comch_connection_sent(struct doca_comch_connection *connection, uint32_t len, uint64_t at_ns)
{
	sim_trace_talk_sent(&connection->talk, connection->out.count, len, at_ns);
	comch_connection_tell(connection);
}

int comch_connection_write_untimed(struct doca_comch_connection *connection, const void *msg, uint32_t len)
{
	uint64_t at_ns = sim_trace_talk_turn(&connection->talk);
	int rc = sim_ring_write(&connection->out, at_ns ? COMCH_RECORDED_MESSAGE : COMCH_MESSAGE, msg, len);

	if (rc == 0)
		comch_connection_sent(connection, len, at_ns);
	return rc;
}

int comch_connection_write(struct doca_comch_connection *connection, const void *msg, uint32_t len)
{
	static const struct sim_strike nothing;

	return doca_likely(!connection->endpoint->timing) ? comch_connection_write_untimed(connection, msg, len) :
							    comch_strike_write(connection, &nothing, msg, len);
}

/* ---- what comes in ---- */

/* The user's callback has the record's memory meanwhile, and may progress in it. */
static void deliver(struct doca_comch_connection *connection, uint8_t *record, size_t len)
{
	struct comch_endpoint *endpoint = connection->endpoint;

	connection->counters.received++;
	connection->counters.received_bytes += len;
	/* The event carries nothing of its own: any address that is not NULL does. */
	endpoint->received((struct doca_comch_event_msg_recv *)endpoint, record, (uint32_t)len, connection);
}

static int read_record(struct doca_comch_connection *connection, uint8_t *record, uint32_t *ret_kind, size_t *ret_len)
{
	int rc = sim_ring_read(&connection->in, ret_kind, record, ret_len);

	if (rc < 0)
		return rc;
	if (sim_ring_must_tell(&connection->in))
		comch_connection_tell(connection);
	if (sim_ring_has_record(&connection->in) || connection->status < 0) /* its end comes after its last record */
		sim_inbox_again(&connection->endpoint->inbox, connection->slot);
	return 0;
}

/* 0 (it is held back, or lost), 1 (the user saw it) or -errno. */
static int take_message(struct doca_comch_connection *connection, uint32_t kind, uint8_t *record, size_t len)
{
	const struct comch_endpoint *endpoint = connection->endpoint;
	enum sim_op op = endpoint->is_channel ? SIM_OP_COMM_CHANNEL_RECV : SIM_OP_COMCH_RECV;

	if (doca_unlikely(kind == COMCH_MARKED || len > endpoint->max_msg_bytes || comch_late_has(connection) ||
			  sim_faults_any(endpoint->ctx.faults, op)))
		return comch_late_put(connection, kind, record, len);
	sim_trace_talk_received(&connection->talk, connection->in.count, len, kind == COMCH_RECORDED_MESSAGE);
	deliver(connection, record, len);
	return 1;
}

/* One that was held back. */
static void deliver_late(struct doca_comch_connection *connection)
{
	struct comch_message *message = comch_late_take(connection);

	sim_inbox_again(&connection->endpoint->inbox, connection->slot); /* there may be more */
	if (message->number)
		sim_trace_talk_received(&connection->talk, message->number, message->came_len, message->is_recorded);
	deliver(connection, message->bytes, message->len);
	free(message);
}

/* One record, with nothing of the connection touched after the user's callback:
 * it may have closed it. Returns 0 (taken), 1 (and the user saw it), -EAGAIN, -ENOMEM (as well, but there may be one),
 * -EPROTO or -ECONNABORTED (a fault). */
static int take_record(struct doca_comch_connection *connection)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	size_t record_bytes = comch_endpoint_record_bytes(endpoint);
	uint8_t *record = endpoint->record ? endpoint->record : malloc(record_bytes);
	uint32_t kind;
	size_t len;
	int rc;

	if (!record) { /* perhaps there is memory the next time */
		sim_inbox_again(&endpoint->inbox, connection->slot);
		return -ENOMEM;
	}
	endpoint->record = NULL;
	rc = read_record(connection, record, &kind, &len);
	if (rc == 0 && (kind == COMCH_MESSAGE || kind == COMCH_RECORDED_MESSAGE || kind == COMCH_MARKED))
		rc = take_message(connection, kind, record, len);
	else if (rc == 0)
		rc = comch_take_consumer_record(connection, kind, record, len);
	/* A nested call has left its own; or the callback has stopped the context, or even started it with other sizes. */
	if (endpoint->record || !endpoint->inbox_memory.base || comch_endpoint_record_bytes(endpoint) != record_bytes)
		free(record);
	else
		endpoint->record = record;
	return rc;
}

/* Nothing is left to read, and the other end is gone. */
static bool end_of(struct doca_comch_connection *connection)
{
	struct comch_endpoint *endpoint = connection->endpoint;

	if (connection->state != COMCH_LOST)
		comch_connection_lost(connection, connection->status);
	if (endpoint->ended.first) { /* its tasks first */
		sim_inbox_again(&endpoint->inbox, connection->slot);
		return false;
	}
	/* An end in order is that of its consumers, whether or not there was room to say so of each. */
	if (connection->status == -ECONNRESET && comch_expire_next_remote(connection))
		return true;
	endpoint->ops->lost(endpoint, connection);
	return true;
}

static bool read_on(struct doca_comch_connection *connection)
{
	int rc;

	if (doca_unlikely(comch_late_has(connection))) {
		if (comch_late_is_due(connection)) {
			deliver_late(connection);
			return true;
		}
		if (connection->late.ready)
			return false; /* nothing overtakes what is late; the alarm is set */
	}
	if (connection->has_record && connection->status == 0)
		return comch_take_late_letter(connection);
	if (connection->has_record && comch_take_late_letter(connection))
		return true;
	connection->has_record = false; /* all letters are here, and that one is not */
	rc = take_record(connection);
	if (rc == -EPROTO || rc == -ECONNABORTED) {
		comch_connection_lost(connection, rc);
		return end_of(connection);
	}
	if (rc == -EAGAIN && connection->status < 0)
		return end_of(connection);
	return rc == 1 || rc == -ENOMEM; /* or it would be tried again at once */
}

/* Its endpoint holds: no message and no end is taken now. */
static bool hold_back(struct doca_comch_connection *connection)
{
	connection->is_held = connection->status < 0 ||
			      (!connection->late.ready && (connection->has_record || sim_ring_has_record(&connection->in)));
	if (doca_unlikely(comch_late_has(connection)))
		connection->is_held |= comch_late_is_due(connection);
	connection->endpoint->has_held |= connection->is_held;
	return false;
}

bool comch_connection_step(struct doca_comch_connection *connection)
{
	/* The status first: what was written before a close is in the ring by then. */
	take_mail(connection);
	if (connection->state == COMCH_OPENING)
		return connection->endpoint->ops->arrange(connection->endpoint, connection);
	if (doca_unlikely(connection->is_broken) && connection->state != COMCH_LOST)
		comch_connection_lost(connection, -ECONNABORTED);
	if (connection->state == COMCH_LOST)
		return end_of(connection);
	comch_announce_flush(connection);
	comch_send_waiting(connection);
	return connection->endpoint->holds ? hold_back(connection) : read_on(connection);
}

/* ---- the end ---- */

void comch_connection_go(struct doca_comch_connection *connection, enum comch_state state, int lost)
{
	pthread_mutex_lock(&connection->lock);
	connection->state = state;
	if (lost < 0 && connection->lost == 0)
		atomic_store(&connection->lost, lost);
	for (struct comch_fast *fast = connection->fast; lost < 0 && fast; fast = fast->next)
		shim_pe_notify(&fast->ctx);
	pthread_mutex_unlock(&connection->lock);
}

doca_error_t comch_fast_why(const struct doca_comch_connection *connection)
{
	int lost = connection->lost;

	return lost == -ECONNRESET ? DOCA_ERROR_CONNECTION_RESET : DOCA_ERROR_CONNECTION_ABORTED;
}

static const char *why_lost(int status)
{
	switch (status) {
	case -EPROTO:
		return "the other end writes what makes no sense";
	case -EPIPE:
		return "the process at the other end died";
	case -ESHUTDOWN:
		return "the card's daemon is gone";
	case -ECONNABORTED:
		return "a fault broke it";
	default:
		return strerror(-status);
	}
}

/* We end it: the other end learns of it now, as our own user may not come by again soon. */
static void hang_up(struct doca_comch_connection *connection)
{
	sim_channel_close(shim_session(), connection->channel, -ECONNRESET);
	connection->channel = NULL;
}

void comch_connection_lost(struct doca_comch_connection *connection, int status)
{
	sim_trace_talk_close(&connection->talk, status == -ECONNRESET ? NULL : why_lost(status));
	if (status != -ECONNRESET)
		sim_warn("Comch %s \"%s\": a connection is closed: %s", connection->endpoint->ops->noun,
			 connection->endpoint->name, why_lost(status));
	connection->status = status;
	if (status == -EPROTO || status == -ECONNABORTED)
		hang_up(connection);
	comch_connection_go(connection, COMCH_LOST, status);
	comch_send_fail_waiting(connection, comch_fast_why(connection));
	sim_inbox_again(&connection->endpoint->inbox, connection->slot);
}

void comch_connection_close(struct doca_comch_connection *connection, int reason)
{
	struct comch_endpoint *endpoint = connection->endpoint;

	if (connection->state == COMCH_OPEN)
		comch_announce_flush(connection); /* consumers that have stopped before us */
	sim_trace_talk_close(&connection->talk, NULL);
	comch_connection_go(connection, COMCH_CLOSED, -ECONNRESET);
	endpoint->slots[connection->slot] = NULL;
	endpoint->num_connections--;
	comch_send_fail_waiting(connection, DOCA_ERROR_IO_FAILED);
	sim_channel_close(shim_session(), connection->channel, reason);
	connection->channel = NULL;
	comch_late_drop(connection);
	comch_announcements_drop(connection);
	comch_letters_drop(connection);
	comch_remotes_drop(connection);
	if (connection->in_fd >= 0)
		close(connection->in_fd);
	if (connection->peer_wake_fd >= 0)
		close(connection->peer_wake_fd);
	connection->in_fd = connection->peer_wake_fd = -1;
	sim_segment_unmap(&connection->in_memory);
	sim_segment_unmap(&connection->out_memory);
	sim_segment_unmap(&connection->peer_inbox_memory);
}

void comch_connection_let_go(struct doca_comch_connection *connection)
{
	pthread_mutex_lock(&connection->lock);
	connection->endpoint = NULL;
	pthread_mutex_unlock(&connection->lock);
	comch_connection_put(connection);
}

void comch_connection_hold(struct doca_comch_connection *connection)
{
	atomic_fetch_add(&connection->refs, 1);
}

void comch_connection_put(struct doca_comch_connection *connection)
{
	if (atomic_fetch_sub(&connection->refs, 1) != 1)
		return;
	pthread_mutex_destroy(&connection->lock);
	shim_object_free(connection, SHIM_COMCH_CONNECTION);
}

bool comch_connection_is_busy(struct doca_comch_connection *connection)
{
	bool busy;

	pthread_mutex_lock(&connection->lock);
	busy = connection->fast != NULL;
	pthread_mutex_unlock(&connection->lock);
	return busy;
}
