/* SPDX-License-Identifier: BSD-3-Clause */
/* Links that a fault has made slow: what waits for its time. */
#include "slow_link_priv.h"

#include <stdlib.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"

#define MAX_DELAY_NS UINT64_C(3600000000000) /* of another machine's word */
#define FULL         "a fault has made the link slow, and too much waits for it"

/* ---- rules ---- */

static void combine(struct slow_link *slow)
{
	slow->delay_ns = slow->rate = 0;
	for (uint32_t i = 0; i < slow->num_windows; i++) {
		const struct slow_rule *rule = &slow->windows[i].rule;

		slow->delay_ns = max_u64(slow->delay_ns, rule->delay_ns);
		if (rule->rate > 0 && (slow->rate == 0 || rule->rate < slow->rate))
			slow->rate = rule->rate;
	}
}

void slow_link_remove_window(struct slow_link *slow, uint32_t number)
{
	slow->windows[number] = slow->windows[--slow->num_windows];
	combine(slow);
}

static bool has_room(struct slow_link *slow)
{
	const uint32_t max = 2 * slow->max_windows + 4;
	struct slow_window *more;

	if (slow->num_windows < slow->max_windows)
		return true;
	more = slow->num_windows < SLOW_LINK_MAX_RULES ? reallocarray(slow->windows, max, sizeof(*more)) : NULL;
	if (!more)
		return false;
	slow->windows = more;
	slow->max_windows = max;
	return true;
}

void slow_link_set_rule(struct slow_link *slow, uint32_t machine, const struct slow_rule *rule)
{
	const uint64_t now_ns = sim_monotonic_ns();

	for (uint32_t i = slow->num_windows; i-- > 0;)
		if (slow->windows[i].machine == machine && slow->windows[i].rule.rule == rule->rule)
			slow_link_remove_window(slow, i);
	if (rule->delay_ns == 0 && rule->rate == 0)
		return;
	if (!has_room(slow)) {
		sim_warn("a fault finds no room: %u rules have made the link slow already; it has no effect",
			 slow->num_windows);
		return;
	}
	slow->windows[slow->num_windows++] = (struct slow_window){
		.machine = machine, .rule = *rule, .end_ns = add_saturating_u64(now_ns, rule->lasts_ns)
	};
	combine(slow);
}

struct slow_link *slow_link_of(struct gateway *gateway, uint32_t machine)
{
	struct gateway_machine *other = &gateway->machines[machine];

	if (!other->slow) {
		other->slow = calloc(1, sizeof(*other->slow));
		if (!other->slow)
			return NULL;
		STAILQ_INIT(&other->slow->waiting);
		gateway->num_slow++;
	}
	gateway->is_status_old = true; /* so that the loop calls the tick at once */
	return other->slow;
}

void slow_link_on_frame(struct gateway *gateway, const struct gateway_frame *frame)
{
	const struct slow_rule rule = { .rule = (uint32_t)frame->id,
					.rate = frame->a,
					.delay_ns = min_u64(frame->b, MAX_DELAY_NS),
					.lasts_ns = gateway_get(frame->body, 8) };
	struct slow_link *slow;

	if (rule.delay_ns == 0 && rule.rate == 0 && !gateway->machines[frame->from].slow)
		return;
	slow = slow_link_of(gateway, frame->from);
	if (slow)
		slow_link_set_rule(slow, frame->from, &rule);
}

/* ---- frames ---- */

/* That of the way's next machine, or of the machine at its end, which home may pass frames on to. */
static struct slow_link *find(const struct gateway *gateway, uint32_t hop, uint32_t to)
{
	struct slow_link *slow = hop < gateway->num_machines ? gateway->machines[hop].slow : NULL;

	return slow || to >= gateway->num_machines ? slow : gateway->machines[to].slow;
}

static uint64_t due_time(struct slow_link *slow, size_t bytes)
{
	uint64_t now_ns = sim_monotonic_ns();

	slow->free_ns = max_u64(slow->free_ns, now_ns);
	if (slow->rate > 0)
		slow->free_ns = add_saturating_u64(slow->free_ns, bytes * SIM_NS_PER_S / slow->rate);
	slow->last_due_ns = max_u64(slow->last_due_ns, add_saturating_u64(slow->free_ns, slow->delay_ns));
	return slow->last_due_ns;
}

bool slow_link_takes(struct gateway *gateway, struct link *link, const struct gateway_frame *frame)
{
	struct slow_link *slow = find(gateway, link->machine, frame->to);
	const size_t bytes = GATEWAY_HEAD_BYTES + frame->len_bytes;
	struct late *late;

	if (!slow || (slow->num_windows == 0 && STAILQ_EMPTY(&slow->waiting)))
		return false;
	late = slow->num_waiting + bytes <= SLOW_LINK_MAX_BYTES ? malloc(sizeof(*late) + frame->len_bytes) : NULL;
	if (!late) {
		link_close(link, FULL);
		return true;
	}
	late->due_ns = due_time(slow, bytes);
	late->frame = *frame;
	late->frame.body = late->body;
	late->frame.is_stable = false;
	if (frame->len_bytes > 0)
		memcpy(late->body, frame->body, frame->len_bytes);
	slow->num_waiting += bytes;
	STAILQ_INSERT_TAIL(&slow->waiting, late, entry);
	return true;
}

bool slow_link_is_full(const struct gateway *gateway, uint32_t machine)
{
	const struct slow_link *slow = gateway->machines[machine].slow;

	return slow && slow->num_waiting >= SLOW_LINK_FULL_BYTES;
}

struct late *slow_link_take_first(struct slow_link *slow)
{
	struct late *late = STAILQ_FIRST(&slow->waiting);

	STAILQ_REMOVE_HEAD(&slow->waiting, entry);
	slow->num_waiting -= GATEWAY_HEAD_BYTES + late->frame.len_bytes;
	return late;
}

void slow_link_drop(struct gateway *gateway, uint32_t machine)
{
	struct slow_link *slow = gateway->machines[machine].slow;

	while (slow && !STAILQ_EMPTY(&slow->waiting))
		free(slow_link_take_first(slow));
	if (slow)
		slow->free_ns = slow->last_due_ns = 0;
}

void slow_link_forget(struct gateway *gateway, uint32_t machine)
{
	struct slow_link *slow = gateway->machines[machine].slow;

	for (uint32_t i = slow ? slow->num_windows : 0; i-- > 0;)
		if (slow->windows[i].machine == machine)
			slow_link_remove_window(slow, i);
}
