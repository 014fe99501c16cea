/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim doctor: what works on this machine, what does not, and the remedy. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/color.h"
#include "sim/cli/base/json.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/doctor/doctor.h"

struct options {
	struct cli_session_opt session;
	int needed; /* data path */
	bool json;
};

enum { NONE = -1 };

static const char *const paths[] = { "in-place", "mapped", "procmem", "cma", "shm", "tcp", NULL };

static const struct cli_option option_list[] = {
	CLI_FLAG('j', "json", struct options, json, "Print JSON"),
	CLI_CHOICE(0, "need", "PATH", struct options, needed, paths, "data path",
		   "Fail when this data path is lost: mapped, procmem, cma, shm or tcp"),
	{ 0 },
};

static const char *const state_names[] = {
	[CLI_DOCTOR_OK] = "ok",
	[CLI_DOCTOR_WARNING] = "warning",
	[CLI_DOCTOR_PROBLEM] = "problem",
};

static void print_finding(const struct cli_doctor_finding *finding)
{
	static const enum cli_color colors[] = {
		[CLI_DOCTOR_OK] = CLI_GREEN,
		[CLI_DOCTOR_WARNING] = CLI_YELLOW,
		[CLI_DOCTOR_PROBLEM] = CLI_RED,
	};

	printf("%s%-8s%s %-15s %s\n", cli_color(stdout, colors[finding->state]), state_names[finding->state],
	       cli_color(stdout, CLI_NO_COLOR), finding->name, finding->text);
	if (finding->effect)
		printf("%24s %s\n", "so:", finding->effect);
	if (finding->remedy)
		printf("%24s %s\n", "remedy:", finding->remedy);
}

static int print_json(const struct cli_doctor *doctor)
{
	json_object *list = json_object_new_array();

	for (size_t i = 0; i < doctor->count; i++) {
		const struct cli_doctor_finding *finding = &doctor->list[i];
		json_object *entry = json_object_new_object();

		cli_json_add_text(entry, "check", finding->name);
		cli_json_add_text(entry, "state", state_names[finding->state]);
		cli_json_add_text(entry, "finding", finding->text);
		cli_json_add_text(entry, "lost-path", finding->lost_path);
		cli_json_add_text(entry, "effect", finding->effect);
		cli_json_add_text(entry, "remedy", finding->remedy);
		json_object_array_add(list, entry);
	}
	return cli_json_print(list, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
}

static int judge(const struct cli_doctor *doctor, const char *needed)
{
	int status = CLI_OK;

	for (size_t i = 0; i < doctor->count; i++) {
		const struct cli_doctor_finding *finding = &doctor->list[i];
		bool is_needed = needed && finding->lost_path && strcmp(finding->lost_path, needed) == 0;

		if (is_needed)
			cli_fail("the data path %s is lost: %s", needed, finding->text);
		if (is_needed || finding->state == CLI_DOCTOR_PROBLEM)
			status = CLI_FAILED;
	}
	return status;
}

int cli_doctor(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.parts = { CLI_PART(struct options, session, cli_session_args) },
		.doc = "Check this machine, this installation and the session: what works, what does not, and the remedy.\v"
		       "The exit status is 0 when bfsim works, with or without warnings, and 1 when it does not, or when the "
		       "data path of --need is lost.",
	};
	struct options options = { .needed = NONE };
	struct cli_doctor doctor = { .count = 0 };

	cli_args_parse(&args, argc, argv, 0, &options);
	cli_doctor_check_machine(&doctor);
	cli_doctor_check_install(&doctor);
	cli_doctor_check_session(&doctor, options.session.dir);
	if (options.json) {
		if (print_json(&doctor) < 0)
			return CLI_FAILED;
	} else {
		for (size_t i = 0; i < doctor.count; i++)
			print_finding(&doctor.list[i]);
	}
	return judge(&doctor, options.needed == NONE ? NULL : paths[options.needed]);
}
