/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace's otherData: exact counters and session data, which sampled or overwritten events can't give. */
#include <inttypes.h>

#include "json_text.h"
#include "perfetto_priv.h"
#include "sim/trace/trace.h"

static void put_process(FILE *out, const struct sim_merged_trace *merged, uint32_t number, int64_t pid)
{
	const struct sim_trace_recording *recording = &merged->recordings[number];
	char paths[SIM_TRACE_PATHS_SIZE];

	fprintf(out, "{\"pid\":%" PRId64, pid);
	sim_json_put_text(out, "side", recording->owner.side);
	sim_json_put_text(out, "program", recording->owner.program);
	sim_json_put_text(out, "level", sim_trace_level_name(recording->level));
	sim_json_put_number(out, "first_ns", sim_merged_trace_first_ns(merged, number));
	sim_json_put_number(out, "records", recording->num_events);
	sim_json_put_number(out, "lost_records", recording->num_lost);
	sim_json_put_number(out, "bad_records", recording->num_bad);
	sim_trace_paths_text(recording->paths, paths);
	sim_json_put_text(out, "paths", paths);
	fputc('}', out);
}

static void put_op(FILE *out, const struct sim_trace_recording *recording, const struct sim_trace_op *op, int64_t pid)
{
	char context[SIM_TRACE_LABEL_SIZE];

	sim_trace_label_object(recording, op->object, context);
	fprintf(out, "{\"pid\":%" PRId64, pid);
	sim_json_put_text(out, "context", context);
	sim_json_put_text(out, "device", sim_trace_device_of(recording, op->object));
	sim_json_put_text(out, "operation", sim_trace_name_of(recording, op->name));
	sim_json_put_number(out, "submitted", op->submitted);
	sim_json_put_number(out, "completed", op->completed);
	sim_json_put_number(out, "failed", op->failed);
	sim_json_put_number(out, "bytes", op->bytes);
	fputc('}', out);
}

static void put_ops(FILE *out, const struct sim_merged_trace *merged, const int64_t *pids)
{
	const char *comma = "";

	fputs(",\"operations\":[", out);
	for (uint32_t i = 0; i < merged->num_recordings; i++) {
		for (uint32_t j = 0; j < merged->recordings[i].num_ops; j++) {
			fputs(comma, out);
			put_op(out, &merged->recordings[i], &merged->recordings[i].ops[j], pids[i]);
			comma = ",";
		}
	}
	fputc(']', out);
}

static void put_processes(FILE *out, const struct sim_merged_trace *merged, const int64_t *pids)
{
	fputs(",\"processes\":[", out);
	for (uint32_t i = 0; i < merged->num_recordings; i++) {
		fputs(i ? "," : "", out);
		put_process(out, merged, i, pids[i]);
	}
	fputc(']', out);
}

static void put_cards(FILE *out, const struct sim_merged_trace *merged)
{
	fputs(",\"cards\":[", out);
	for (uint32_t i = 0; i < merged->num_cards; i++) {
		fputs(i ? ",{\"name\":" : "{\"name\":", out);
		sim_json_put_string(out, merged->cards[i].name);
		sim_json_put_text(out, "model", merged->cards[i].model);
		sim_json_put_text(out, "link", merged->cards[i].link);
		sim_json_put_text(out, "mode", merged->cards[i].mode);
		fputc('}', out);
	}
	fputc(']', out);
}

static void put_links(FILE *out, const struct sim_merged_trace *merged)
{
	fputs(",\"links\":[", out);
	for (uint32_t i = 0; i < merged->num_links; i++) {
		fputs(i ? ",{\"side\":" : "{\"side\":", out);
		sim_json_put_string(out, merged->links[i].side);
		sim_json_put_text(out, "device", merged->links[i].device);
		sim_json_put_number(out, "to_card_bps", merged->links[i].to_card_bps);
		sim_json_put_number(out, "to_host_bps", merged->links[i].to_host_bps);
		fputc('}', out);
	}
	fputc(']', out);
}

static void put_rules(FILE *out, const struct sim_merged_trace *merged)
{
	fputs(",\"rules\":[", out);
	for (uint32_t i = 0; i < merged->num_rules; i++) {
		fprintf(out, "%s{\"id\":%u", i ? "," : "", merged->rules[i].id);
		sim_json_put_text(out, "text", merged->rules[i].text);
		sim_json_put_number(out, "fired", merged->rules[i].fired);
		sim_json_put_number(out, "added_ns", merged->rules[i].added_ns);
		sim_json_put_number(out, "taken_out", merged->rules[i].removed);
		fputc('}', out);
	}
	fputc(']', out);
}

void sim_perfetto_put_summary(FILE *out, const struct sim_merged_trace *merged, const int64_t *pids)
{
	uint64_t num_lost = 0, num_bad = 0, num_late, max_late_ns;

	for (uint32_t i = 0; i < merged->num_recordings; i++) {
		num_lost += merged->recordings[i].num_lost;
		num_bad += merged->recordings[i].num_bad;
	}
	fputs("{\"recorder\":\"bfsim\"", out);
	sim_json_put_number(out, "lost_records", num_lost);
	sim_json_put_number(out, "bad_records", num_bad);
	if (merged->clock) {
		sim_json_put_text(out, "clock", merged->clock);
		sim_json_put_number(out, "session_ns", merged->session_ns);
	}
	sim_merged_trace_count_late(merged, &num_late, &max_late_ns);
	if (num_late) {
		sim_json_put_number(out, "late_tasks", num_late);
		sim_json_put_number(out, "max_late_ns", max_late_ns);
	}
	put_processes(out, merged, pids);
	put_ops(out, merged, pids);
	put_cards(out, merged);
	put_links(out, merged);
	put_rules(out, merged);
	fputc('}', out);
}
