/* SPDX-License-Identifier: BSD-3-Clause */
/* The throughput and the queue depth of an operation over time.
 *
 *   bytes |               ______ submitted before      A trace has the submission and the end of a task. Its bytes moved
 *         |        ______|    .'                       somewhere between. The plot shows the most even of all ways in
 *         |       |       . '____ ended                which the bytes of all tasks can have moved: a string that is
 *         |       |   . '   |                          pulled taut between the bytes that were submitted and those
 *         |  _____|.'_______|                          whose tasks had ended.
 *         |_|.'__|_______________ time
 *
 * No way of moving them has a lower peak, so the peak is at most the rate of the link that carried them. */
#include <stdlib.h>

#include "pcie_model/arith.h"
#include "report.h"

typedef unsigned __int128 u128;

/* @bytes at @time_ns: of tasks submitted or ended then, or of all before. */
struct point {
	uint64_t time_ns, bytes;
};

/* The bounds of the string at a time. */
struct bound {
	uint64_t time_ns, ended, submitted;
};

/* Points of one bound from the apex on that the string may touch: convex or concave. */
struct chain {
	struct point *points;
	size_t first, end;
};

struct string {
	const struct cli_report *report;
	uint64_t *slices;
	struct point apex; /* up to here the string is known */
	struct chain lower, upper;
};

/* The tasks of an operation, in arrays with room for all tasks of the report. */
struct work {
	struct point *begins, *ends;
	struct bound *bounds;
	struct point *lower, *upper;
	size_t count;
};

/* The part of @bytes that has moved after @ns, when all move evenly in @all_ns. */
static uint64_t bytes_moved_after(uint64_t bytes, uint64_t ns, uint64_t all_ns)
{
	return ns < all_ns ? (uint64_t)((u128)bytes * ns / all_ns) : bytes;
}

void cli_report_spread(const struct cli_report *report, uint64_t begin_ns, uint64_t end_ns, uint64_t bytes,
		       uint64_t slices[CLI_REPORT_SLICES])
{
	uint32_t slice = cli_report_slice_index(report, begin_ns);
	uint64_t moved = 0;

	while (moved < bytes) {
		uint64_t slice_end_ns = report->first_ns + (slice + UINT64_C(1)) * report->slice_ns;
		uint64_t by_then = slice + 1 < CLI_REPORT_SLICES ?
					   bytes_moved_after(bytes, slice_end_ns - begin_ns, end_ns - begin_ns) :
					   bytes;

		slices[slice++] += by_then - moved;
		moved = by_then;
	}
}

/* ---- the string ---- */

/* Whether the line from @from to @a is less steep than that from @from to @b. */
static bool is_less_steep(struct point from, struct point a, struct point b)
{
	return (u128)(a.bytes - from.bytes) * (b.time_ns - from.time_ns) <
	       (u128)(b.bytes - from.bytes) * (a.time_ns - from.time_ns);
}

/* Remove the points at the end of @chain that are inside of it once @point is added. */
static void chain_trim(struct chain *chain, struct point apex, struct point point, bool is_lower)
{
	while (chain->end > chain->first) {
		struct point last = chain->points[chain->end - 1];
		struct point before = chain->end - 1 > chain->first ? chain->points[chain->end - 2] : apex;

		if (is_lower ? is_less_steep(before, point, last) : is_less_steep(before, last, point))
			return;
		chain->end--;
	}
}

/* The string is known up to the first point of @chain. */
static void string_advance(struct string *string, struct chain *chain)
{
	struct point next = chain->points[chain->first++];

	cli_report_spread(string->report, string->apex.time_ns, next.time_ns, next.bytes - string->apex.bytes,
			  string->slices);
	string->apex = next;
}

/* Add a point to a bound. If the string can't pass on a straight line between it and the other bound, it bends there. */
static void string_add(struct string *string, struct point point, bool is_lower)
{
	struct chain *own = is_lower ? &string->lower : &string->upper,
		     *other = is_lower ? &string->upper : &string->lower;

	chain_trim(own, string->apex, point, is_lower);
	while (own->end == own->first && other->end > other->first) {
		struct point bend = other->points[other->first];

		if (is_lower ? !is_less_steep(string->apex, bend, point) : !is_less_steep(string->apex, point, bend))
			break;
		string_advance(string, other);
	}
	own->points[own->end++] = point;
}

static void pull_string(const struct cli_report *report, const struct work *work, size_t num_bounds, uint64_t *slices)
{
	struct string string = { .report = report,
				 .slices = slices,
				 .apex = { .time_ns = work->bounds[0].time_ns },
				 .lower = { .points = work->lower },
				 .upper = { .points = work->upper } };

	for (size_t i = 1; i < num_bounds; i++) {
		const struct bound *bound = &work->bounds[i];

		string_add(&string, (struct point){ bound->time_ns, bound->ended }, true);
		if (i + 1 < num_bounds)
			string_add(&string, (struct point){ bound->time_ns, bound->submitted }, false);
	}
	while (string.lower.first < string.lower.end)
		string_advance(&string, &string.lower);
}

/* ---- tasks of an operation ---- */

static int compare_points(const void *left, const void *right)
{
	const struct point *a = left, *b = right;

	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

/* A bound for each time at which tasks begin or end. The last one has all bytes. Returns their number. */
static size_t make_bounds(struct work *work)
{
	size_t count = 0, begin = 0, end = 0;
	struct bound bound = { 0 };

	while (end < work->count) {
		bound.time_ns = work->ends[end].time_ns;
		if (begin < work->count)
			bound.time_ns = min_u64(bound.time_ns, work->begins[begin].time_ns);
		for (; end < work->count && work->ends[end].time_ns == bound.time_ns; end++)
			bound.ended += work->ends[end].bytes;
		work->bounds[count++] = bound;
		for (; begin < work->count && work->begins[begin].time_ns == bound.time_ns; begin++)
			bound.submitted += work->begins[begin].bytes;
	}
	return count;
}

static void raise_depth(const struct cli_report *report, struct cli_report_op *op, uint64_t from_ns, uint64_t to_ns,
			uint32_t depth)
{
	uint32_t end = cli_report_slice_index(report, to_ns - 1);

	for (uint32_t i = cli_report_slice_index(report, from_ns); i <= end; i++)
		op->in_flight[i] = (uint32_t)max_u64(op->in_flight[i], depth);
}

/* The recorded tasks in flight between any two times at which one begins or ends. */
static void count_depths(const struct cli_report *report, struct cli_report_op *op, const struct work *work)
{
	size_t begin = 0, end = 0;
	uint64_t now_ns = 0;

	while (end < work->count) {
		bool begins = begin < work->count && work->begins[begin].time_ns < work->ends[end].time_ns;
		uint64_t next_ns = begins ? work->begins[begin].time_ns : work->ends[end].time_ns;

		if (begin > end && next_ns > now_ns)
			raise_depth(report, op, now_ns, next_ns, (uint32_t)(begin - end));
		now_ns = next_ns;
		begin += begins;
		end += !begins;
	}
}

/* A task that takes no time takes a nanosecond here. */
static void add_task(struct work *work, const struct cli_report_task *task)
{
	work->begins[work->count] = (struct point){ task->begin_ns, task->bytes };
	work->ends[work->count++] = (struct point){ task->begin_ns + max_u64(task->latency_ns, 1), task->bytes };
}

static void compute_op(const struct cli_report *report, struct cli_report_op *op, struct work *work)
{
	if (work->count == 0)
		return;
	qsort(work->begins, work->count, sizeof(*work->begins), compare_points);
	qsort(work->ends, work->count, sizeof(*work->ends), compare_points);
	pull_string(report, work, make_bounds(work), op->bytes);
	if (!op->is_messages)
		count_depths(report, op, work);
}

/* The numbers of all tasks, sorted by operation; NULL without memory. The caller frees them. */
static size_t *sort_by_op(const struct cli_report *report, size_t *ret_ends)
{
	size_t *order = calloc(report->num_tasks + 1, sizeof(*order)), sum = 0;

	for (size_t i = 0; i < report->num_ops; i++) {
		ret_ends[i] = sum;
		sum += report->ops[i].recorded;
	}
	for (size_t i = 0; order && i < report->num_tasks; i++)
		order[ret_ends[report->tasks[i].op]++] = i;
	return order;
}

static void compute_ops(struct cli_report *report, const size_t *order, const size_t *ends, struct work *work)
{
	size_t next = 0;

	for (size_t i = 0; i < report->num_ops; i++) {
		for (work->count = 0; next < ends[i]; next++)
			add_task(work, &report->tasks[order[next]]);
		compute_op(report, &report->ops[i], work);
	}
}

int cli_report_compute_flows(struct cli_report *report)
{
	size_t room = 2 * report->num_tasks + 2, *ends = calloc(report->num_ops + 1, sizeof(*ends));
	size_t *order = ends ? sort_by_op(report, ends) : NULL;
	struct work work = { .begins = calloc(room, sizeof(*work.begins)),
			     .ends = calloc(room, sizeof(*work.ends)),
			     .bounds = calloc(room, sizeof(*work.bounds)),
			     .lower = calloc(room, sizeof(*work.lower)),
			     .upper = calloc(room, sizeof(*work.upper)) };
	bool has_memory = order && work.begins && work.ends && work.bounds && work.lower && work.upper;

	if (has_memory)
		compute_ops(report, order, ends, &work);
	free(ends);
	free(order);
	free(work.begins);
	free(work.ends);
	free(work.bounds);
	free(work.lower);
	free(work.upper);
	return has_memory ? 0 : -1;
}
