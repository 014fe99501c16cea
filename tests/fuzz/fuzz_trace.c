/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as the recordings of two processes: reading them ends, and the output is JSON, and CSV with one line
 * per event, and lines of spans. Seeds are in corpus/trace. */
#include <errno.h>
#include <json-c/json.h>

#include "fuzz_input.h"
#include "sim/trace/export/merged_trace.h"
#include "sim/trace/export/otlp.h"

static bool add(struct sim_merged_trace *merged, const uint8_t *data, size_t size, const struct sim_trace_clock *clock)
{
	struct sim_trace_recording recording;
	void *bytes;
	int rc;

	/* of the exact size, so that a read beyond it shows */
	promise(posix_memalign(&bytes, 64, size ? size : 1) == 0);
	memcpy(bytes, data, size);
	rc = sim_trace_recording_read(bytes, size, clock, &recording);
	free(bytes);
	promise(rc == 0 || rc == -EPROTO || rc == -ENOMEM);
	if (rc < 0)
		return false;
	strcpy(recording.owner.side, "host");
	strcpy(recording.owner.program, "program");
	promise(sim_merged_trace_add(merged, &recording) == 0);
	return true;
}

typedef int export_fn(const struct sim_merged_trace *merged, FILE *out);

static char *export_text(const struct sim_merged_trace *merged, export_fn *export)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	promise(out && export(merged, out) == 0 && fclose(out) == 0);
	return text;
}

/* In the order of time, and no flow without its end. */
static void check_events(json_object *events)
{
	size_t num_begun = 0, num_ended = 0;
	double last_us = 0;

	for (size_t i = 0; i < json_object_array_length(events); i++) {
		json_object *event = json_object_array_get_idx(events, i), *ts;
		const char *phase = json_object_get_string(json_object_object_get(event, "ph"));

		num_begun += phase[0] == 's';
		num_ended += phase[0] == 'f';
		promise(num_ended <= num_begun);
		if (!json_object_object_get_ex(event, "ts", &ts))
			continue;
		promise(json_object_get_double(ts) >= last_us);
		last_us = json_object_get_double(ts);
	}
	promise(num_begun == num_ended);
}

static void check_json(const struct sim_merged_trace *merged)
{
	char *text = export_text(merged, sim_trace_export_perfetto);
	json_object *trace = json_tokener_parse(text);

	promise(trace && json_object_is_type(json_object_object_get(trace, "traceEvents"), json_type_array));
	check_events(json_object_object_get(trace, "traceEvents"));
	json_object_put(trace);
	free(text);
}

static void check_csv(const struct sim_merged_trace *merged)
{
	char *text = export_text(merged, sim_trace_export_csv);
	size_t lines = 0;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	promise(lines == merged->num_events + 1);
	free(text);
}

static int export_otlp(const struct sim_merged_trace *merged, FILE *out)
{
	return sim_trace_export_otlp(merged, "1", out);
}

/* Each line is an object with spans, and no span ends before it begins. */
static void check_otlp(const struct sim_merged_trace *merged)
{
	char *text = export_text(merged, export_otlp), *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		json_object *json = json_tokener_parse(line), *resource, *scope, *spans;

		resource = json_object_array_get_idx(json_object_object_get(json, "resourceSpans"), 0);
		scope = json_object_array_get_idx(json_object_object_get(resource, "scopeSpans"), 0);
		spans = json_object_object_get(scope, "spans");
		promise(spans && json_object_array_length(spans) > 0);
		for (size_t i = 0; i < json_object_array_length(spans); i++) {
			json_object *span = json_object_array_get_idx(spans, i);

			promise(json_object_get_uint64(json_object_object_get(span, "startTimeUnixNano")) <=
				json_object_get_uint64(json_object_object_get(span, "endTimeUnixNano")));
		}
		json_object_put(json);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const _Atomic uint64_t late = INT64_MAX;
	const struct sim_trace_clock real = { 0 }, virtual = { .virtual_ns = &late };
	struct sim_merged_trace merged = { 0 };

	if (add(&merged, data, size, &real) && add(&merged, data, size, &virtual)) {
		promise(sim_merged_trace_add_rule(&merged, 1, "dma.memcpy fail=\"\xff\"") == 0);
		promise(sim_merged_trace_sort(&merged) == 0);
		check_json(&merged);
		check_csv(&merged);
		check_otlp(&merged);
	}
	sim_merged_trace_free(&merged);
	return 0;
}
