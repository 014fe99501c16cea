/* SPDX-License-Identifier: BSD-3-Clause */
/* Outlets: the requester's end of an inbox of this machine, for a requester on another one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "near.h"
#include "mirror.h"
#include "model_time.h"
#include "sim/rdma/inbox.h"
#include "sim/rdma/queue_pair.h"
#include "sim/session/kick.h"

/* A record that the ring has had no room for. */
struct waiting_record {
	uint32_t kind;
	size_t len;
	STAILQ_ENTRY(waiting_record) entry;
	uint8_t bytes[];
};

struct outlet {
	struct near *near;
	struct sim_inbox_shared *inbox; /* between sim_remote_acquire() and sim_remote_release() */
	struct sim_ring out;
	struct near_group group;
	STAILQ_HEAD(, waiting_record) waiting;
	uint32_t num_waiting;
	uint64_t num_records; /* in the ring, so far */
	uint64_t num_messages;
	bool is_active, has_reported;
	bool is_taken;   /* the requester sends messages */
	bool is_refused; /* another requester sends messages to the inbox */
	struct gateway_answers reported;
	atomic_bool has_last_words;
	struct gateway_answers last_words;
	LIST_ENTRY(outlet) in_active;
};

/* ---- the responder's group ---- */

void outlet_release_group(struct sim_session *session, struct near_group *group)
{
	if (!group->doorbells)
		return;
	sim_session_put_kick_target(session, group->kick_target);
	sim_session_release(session, group->doorbells);
	if (group->wake_fd >= 0)
		close(group->wake_fd);
	group->doorbells = NULL;
}

int outlet_find_group(struct sim_session *session, struct sim_remote *remote, uint32_t function,
		      struct near_group *ret_group)
{
	const struct sim_inbox_shared *inbox = (const void *)remote->base;
	struct near_group group = { .wake_fd = -1 };
	struct sim_key key;
	int rc;

	if (!sim_remote_acquire(remote))
		return -ESTALE;
	key = inbox->doorbells;
	group.slot = *(const volatile uint32_t *)&inbox->slot;
	rc = inbox->version == SIM_INBOX_VERSION && group.slot < SIM_DOORBELL_SLOTS ? 0 : -EPROTO;
	sim_remote_release(remote);
	if (rc == 0)
		rc = sim_session_import(session, &key, function, &group.doorbells, NULL);
	if (rc < 0)
		return rc;
	if (!(group.doorbells->region.access & SIM_ACCESS_INBOX) || !group.doorbells->base ||
	    group.doorbells->region.len_bytes != sizeof(struct sim_doorbell_shared)) {
		outlet_release_group(session, &group);
		return -EPROTO;
	}
	group.wake_fd = sim_session_get_wake_fd(session, group.doorbells);
	group.kick_target = sim_session_get_kick_target(session, group.doorbells);
	*ret_group = group;
	return 0;
}

static void wake(struct outlet *outlet)
{
	struct sim_remote *doorbells = outlet->group.doorbells;

	if (!sim_remote_acquire(doorbells))
		return;
	sim_doorbell_ring((struct sim_doorbell_shared *)(void *)doorbells->base, outlet->group.slot);
	sim_remote_release(doorbells);
	if (sim_ring_must_wake(&outlet->out) && outlet->group.wake_fd >= 0)
		sim_wake_send(outlet->group.wake_fd);
}

/* ---- life ---- */

static void set_active(struct outlet *outlet, bool is_active)
{
	if (outlet->is_active == is_active)
		return;
	outlet->is_active = is_active;
	if (is_active)
		LIST_INSERT_HEAD(&outlet->near->gateway->active, outlet, in_active);
	else
		LIST_REMOVE(outlet, in_active);
}

int outlet_create(struct near *near, const struct near_group *group)
{
	struct outlet *outlet = calloc(1, sizeof(*outlet));
	struct sim_ring_cfg cfg = sim_inbox_ring_cfg();

	if (!outlet)
		return -ENOMEM;
	outlet->near = near;
	outlet->inbox = (struct sim_inbox_shared *)(void *)near->remote->base;
	outlet->group = *group;
	sim_ring_init(&outlet->out, &cfg, outlet->inbox->ring);
	STAILQ_INIT(&outlet->waiting);
	near->outlet = outlet;
	set_active(outlet, true); /* the first report */
	return 0;
}

static void drop_waiting(struct outlet *outlet)
{
	struct waiting_record *record;

	while ((record = STAILQ_FIRST(&outlet->waiting))) {
		STAILQ_REMOVE_HEAD(&outlet->waiting, entry);
		free(record);
	}
	outlet->num_waiting = 0;
}

void outlet_stop(struct outlet *outlet)
{
	set_active(outlet, false);
	drop_waiting(outlet);
}

void outlet_destroy(struct outlet *outlet)
{
	outlet_release_group(outlet->near->gateway->session, &outlet->group);
	free(outlet);
}

/* ---- answers ---- */

static void read_words(const struct outlet *outlet, struct gateway_answers *ret_words)
{
	const struct sim_inbox_shared *inbox = outlet->inbox;
	struct gateway_answers words = { .num_read = sim_ring_get_tail(&outlet->out),
					 .state = atomic_load(&inbox->state) };

	/* The state first: answers that come before it are then read after it. */
	words.executed = atomic_load(&inbox->executed);
	words.failure = atomic_load(&inbox->failure);
	words.not_ready = atomic_load(&inbox->not_ready);
	words.looks = atomic_load(&inbox->looks);
	words.claim = atomic_load(&inbox->claim);
	words.has_left = atomic_load(&inbox->has_left) != 0;
	if (words.state >= SIM_NUM_QP_STATES || outlet->is_refused)
		words.state = SIM_QP_ERROR;
	if (outlet->is_refused)
		words.failure = EADDRINUSE;
	*ret_words = words;
}

void outlet_keep_last_words(struct outlet *outlet)
{
	if (atomic_load(&outlet->has_last_words))
		return;
	read_words(outlet, &outlet->last_words);
	atomic_store(&outlet->has_last_words, true);
}

static void send_words(struct outlet *outlet, const struct gateway_answers *words)
{
	uint8_t body[GATEWAY_ANSWERS_BYTES];
	struct gateway_frame frame = {
		.kind = GATEWAY_ANSWERS, .id = outlet->near->handle, .body = body, .len_bytes = sizeof(body)
	};

	if (outlet->has_reported && memcmp(words, &outlet->reported, sizeof(*words)) == 0)
		return;
	outlet->has_reported = true;
	outlet->reported = *words;
	gateway_answers_write(words, body);
	gateway_send(outlet->near->gateway, outlet->near->machine, &frame);
}

/* Whether the requester waits for something that the responder does. */
static bool is_waiting(const struct outlet *outlet)
{
	return outlet->num_waiting > 0 || outlet->reported.num_read < outlet->num_records ||
	       outlet->reported.executed < outlet->num_messages ||
	       (outlet->reported.state == SIM_QP_RESET && (outlet->is_taken || !outlet->inbox->needs_no_peer));
}

void outlet_report(struct outlet *outlet)
{
	struct gateway_answers words;

	if (sim_remote_acquire(outlet->near->remote)) {
		read_words(outlet, &words);
		send_words(outlet, &words);
		set_active(outlet, is_waiting(outlet) && words.state != SIM_QP_ERROR);
		sim_remote_release(outlet->near->remote);
	} else if (atomic_load(&outlet->has_last_words)) {
		send_words(outlet, &outlet->last_words);
		set_active(outlet, false);
	}
}

/* ---- records ---- */

/* One requester in an inbox's life sends messages. If it has one already, this one's connection is in error. */
void outlet_take(struct outlet *outlet, const struct gateway_frame *frame)
{
	struct sim_key key;

	if (frame->len_bytes != 0 && frame->len_bytes != GATEWAY_KEY_BYTES)
		return;
	if (frame->len_bytes > 0)
		gateway_key_read(frame->body, &key);
	if (!sim_remote_acquire(outlet->near->remote))
		return;
	outlet->is_taken = true;
	outlet->is_refused |= !sim_inbox_take(outlet->inbox, frame->len_bytes > 0 ? &key : NULL);
	wake(outlet);
	sim_remote_release(outlet->near->remote);
	outlet_report(outlet);
}

/* Write what waits, as far as there is room. Returns whether something was written. */
static bool write_waiting(struct outlet *outlet)
{
	struct waiting_record *record;
	bool has_written = false;

	while ((record = STAILQ_FIRST(&outlet->waiting))) {
		int rc = sim_ring_write(&outlet->out, record->kind, record->bytes, record->len);

		if (rc == -EAGAIN && sim_ring_arm_space(&outlet->out, record->len))
			continue;
		if (rc == -EAGAIN)
			break;
		STAILQ_REMOVE_HEAD(&outlet->waiting, entry);
		outlet->num_waiting--;
		outlet->num_records += rc == 0;
		outlet->num_messages += rc == 0 && record->kind != SIM_INBOX_MORE;
		has_written |= rc == 0;
		free(record);
	}
	return has_written;
}

/* In timed mode. What was written has had its turn at the port, and a message that is due at once has none. */
static void take_turn(struct outlet *outlet, uint32_t kind, uint8_t *bytes, size_t len)
{
	struct near *near = outlet->near;
	struct sim_inbox_head head;

	if (!near->load.is_known || kind != SIM_INBOX_SEND || len < sizeof(head))
		return;
	memcpy(&head, bytes, sizeof(head));
	if (head.due_ns == 0)
		return;
	head.due_ns = port_load_message(near->gateway, &near->load, head.bytes, head.due_ns);
	memcpy(bytes, &head, sizeof(head));
}

/* Returns whether the frame is a list of as many records as the requester's machine may send. */
static bool queue_records(struct outlet *outlet, const struct gateway_frame *frame)
{
	const uint8_t *bytes;
	bool is_wrong = false;
	uint32_t kind;
	size_t at = 0, len;

	while (gateway_record_next(frame, &at, &kind, &bytes, &len, &is_wrong)) {
		struct waiting_record *record =
			outlet->num_waiting < 2 * MIRROR_MAX_AHEAD ? malloc(sizeof(*record) + len) : NULL;

		if (!record)
			return false;
		*record = (struct waiting_record){ .kind = kind, .len = len };
		memcpy(record->bytes, bytes, len);
		model_time_receive(outlet->near->gateway, kind, record->bytes, len);
		take_turn(outlet, kind, record->bytes, len);
		STAILQ_INSERT_TAIL(&outlet->waiting, record, entry);
		outlet->num_waiting++;
	}
	return !is_wrong;
}

static void take_kicks(struct outlet *outlet, const struct gateway_frame *frame)
{
	uint64_t kicks = atomic_load(&outlet->inbox->kicks);

	if (frame->b > 0)
		sim_inbox_give_up(outlet->inbox, frame->b);
	if (frame->a == kicks)
		return;
	atomic_store(&outlet->inbox->kicks, frame->a);
	sim_session_kick(outlet->near->gateway->session, outlet->group.kick_target, outlet->group.doorbells);
}

void outlet_take_records(struct outlet *outlet, const struct gateway_frame *frame)
{
	bool is_right = queue_records(outlet, frame);

	if (outlet->is_refused)
		drop_waiting(outlet);
	if (outlet->is_refused || !sim_remote_acquire(outlet->near->remote))
		return;
	if (!is_right) { /* the requester's records are lost: end the connection */
		drop_waiting(outlet);
		sim_ring_write(&outlet->out, 0, "", 0);
	}
	if (write_waiting(outlet) || !is_right)
		wake(outlet);
	take_kicks(outlet, frame);
	sim_remote_release(outlet->near->remote);
	outlet_report(outlet);
}

/* ---- all outlets ---- */

static bool poll_outlet(struct outlet *outlet)
{
	const struct gateway_answers before = outlet->reported;
	bool has_written = false;

	if (sim_remote_acquire(outlet->near->remote)) {
		has_written = outlet->num_waiting > 0 && write_waiting(outlet);
		if (has_written)
			wake(outlet);
		sim_remote_release(outlet->near->remote);
	}
	outlet_report(outlet);
	return has_written || memcmp(&before, &outlet->reported, sizeof(before)) != 0;
}

bool outlets_poll(struct gateway *gateway)
{
	struct outlet *outlet, *next;
	bool found = false;

	for (outlet = LIST_FIRST(&gateway->active); outlet; outlet = next) {
		next = LIST_NEXT(outlet, in_active);
		found |= poll_outlet(outlet);
	}
	return found;
}

/* The responder is to wake the gateway; then look again. */
bool outlets_arm(struct gateway *gateway)
{
	struct outlet *outlet;

	LIST_FOREACH(outlet, &gateway->active, in_active)
		if (sim_remote_acquire(outlet->near->remote)) {
			atomic_store(&outlet->inbox->asleep, 1);
			sim_remote_release(outlet->near->remote);
		}
	return outlets_poll(gateway);
}
