/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the checker's report: the choice of the format. */
#include "report.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sim/base/output_file.h"

static void print_json(const struct sim_check_report *report, FILE *out)
{
	struct json_object *json = json_object_new_object();

	json_object_object_add(json, "version", json_object_new_int(SIM_CHECK_REPORT_VERSION));
	json_object_object_add(json, "tool", json_object_new_string("bfsim " BFSIM_VERSION));
	json_object_object_add(json, "mode", json_object_new_string(sim_check_mode_name(report->mode)));
	json_object_object_add(json, "complete", json_object_new_boolean(report->is_complete));
	json_object_object_add(json, "hits", json_object_get(report->hits));
	fprintf(out, "%s\n",
		json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(json);
}

static const struct {
	const char *extension;
	void (*print)(const struct sim_check_report *report, FILE *out);
} formats[SIM_CHECK_NUM_FORMATS] = {
	[SIM_CHECK_JSON] = { ".json", print_json },
	[SIM_CHECK_SARIF] = { ".sarif", sim_check_report_print_sarif },
	[SIM_CHECK_JUNIT] = { ".xml", sim_check_report_print_junit },
};

int sim_check_report_format(const char *path, enum sim_check_format *ret_format)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

	for (int i = 0; dot && i < SIM_CHECK_NUM_FORMATS; i++)
		if (strcasecmp(dot, formats[i].extension) == 0) {
			*ret_format = (enum sim_check_format)i;
			return 0;
		}
	return -EINVAL;
}

int sim_check_report_write(const struct sim_check_report *report, const char *path)
{
	enum sim_check_format format;
	struct sim_output_file file;
	int rc;

	if (sim_check_report_format(path, &format) < 0)
		return -EINVAL;
	rc = sim_output_file_open(path, &file);
	if (rc < 0)
		return rc;
	formats[format].print(report, file.stream);
	return sim_output_file_close(&file);
}
