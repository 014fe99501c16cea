/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing and reading a bundle. */
#include "bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/cli/base/cli.h"
#include "sim/cli/base/json.h"

/* Copy a file that may not exist. Returns 0 or an errno. */
static int copy_file(const char *from_dir, const char *from, const char *to_dir, const char *to)
{
	char source[PATH_MAX], target[PATH_MAX];
	int in, out, rc = 0;
	ssize_t moved = 1;

	snprintf(source, sizeof(source), "%s%s%s", from[0] == '/' ? "" : from_dir, from[0] == '/' ? "" : "/", from);
	snprintf(target, sizeof(target), "%s/%s", to_dir, to);
	in = open(source, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		return errno == ENOENT ? 0 : errno;
	out = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	while (out >= 0 && moved > 0)
		moved = sendfile(out, in, NULL, 1 << 20);
	if (out < 0 || moved < 0)
		rc = errno;
	if (out >= 0 && close(out) < 0 && rc == 0)
		rc = errno;
	close(in);
	return rc;
}

/* The lines of each program, without what is before them. */
static int split_logs(const struct cli_case *test, const char *dir)
{
	int rc = 0;

	for (size_t i = 0; i < test->scenario->num_sides; i++) {
		char *label = cli_case_label(test->scenario, i), path[PATH_MAX], *line = NULL;
		FILE *log, *out;
		size_t size = 0;

		snprintf(path, sizeof(path), "%s/output.log", test->dir);
		log = fopen(path, "re");
		snprintf(path, sizeof(path), "%s/%s.log", dir, label ? label : "side");
		for (char *slash = path + strlen(dir) + 1; (slash = strchr(slash, '/'));)
			*slash = '-'; /* of a side such as node0/dpu */
		out = fopen(path, "we");
		while (log && out && label && getline(&line, &size, log) > 0)
			if (cli_case_line_of(line, label))
				fputs(cli_case_line_of(line, label), out);
		if (!out || fclose(out) != 0)
			rc = errno;
		if (log)
			fclose(log);
		free(line);
		free(label);
	}
	return rc;
}

static int write_case(const struct cli_case *test, const struct cli_scenario_options *options, const char *dir)
{
	json_object *json = json_object_new_object(), *reasons = json_object_new_array();
	char path[PATH_MAX];
	int rc;

	cli_json_add_text(json, "bfsim", BFSIM_VERSION);
	cli_json_add_text(json, "doca", BFSIM_DOCA_VERSION);
	cli_json_add_text(json, "doca-workq", BFSIM_WORKQ_VERSION);
	cli_json_add_text(json, "name", test->name);
	cli_json_add_text(json, "scenario-name", test->scenario->name);
	cli_json_add_text(json, "scenario", test->scenario->path);
	cli_json_add_text(json, "folder", test->scenario->folder);
	if (test->has_seed)
		cli_json_add_number(json, "seed", test->seed);
	json_object_object_add(json, "options", cli_scenario_options_to_json(options));
	cli_json_add_number(json, "status", (uint64_t)test->status);
	cli_json_add_number(json, "took-ms", (uint64_t)test->took_ms);
	for (size_t i = 0; i < test->reasons.count; i++)
		json_object_array_add(reasons, json_object_new_string(test->reasons.list[i]));
	json_object_object_add(json, "reasons", reasons);
	snprintf(path, sizeof(path), "%s/case.json", dir);
	rc = json_object_to_file_ext(path, json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
	json_object_put(json);
	return rc < 0 ? EIO : 0;
}

/* A name for the directory: letters, digits and little else. */
static char *bundle_path(const char *parent, const char *name)
{
	char *path = NULL;

	if (asprintf(&path, "%s/%s", parent, name) < 0)
		return NULL;
	for (char *c = path + strlen(parent) + 1; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", *c))
			*c = '-';
	return path;
}

#define PLAN_NAME_SIZE 40 /* with any number */

/* The copy of the i-th plan. */
static void plan_name(size_t i, char name[PLAN_NAME_SIZE])
{
	snprintf(name, PLAN_NAME_SIZE, i ? "faults-%zu.yaml" : "faults.yaml", i);
}

static int write_files(const struct cli_case *test, const struct cli_scenario_options *options, const char *dir)
{
	static const char *const files[] = { "output.log", "trace.bfsim", "hits.json" };
	const struct cli_scenario *scenario = test->scenario;
	int rc = copy_file("/", scenario->path, dir, "scenario.yaml");

	if (scenario->path[0] != '/')
		rc = copy_file(".", scenario->path, dir, "scenario.yaml");
	if (rc == 0 && scenario->topology)
		rc = copy_file(scenario->folder, scenario->topology, dir, "topology.yaml");
	for (size_t i = 0; rc == 0 && i < scenario->fault_plans.count; i++) {
		char name[PLAN_NAME_SIZE];

		plan_name(i, name);
		rc = copy_file(scenario->folder, scenario->fault_plans.list[i], dir, name);
	}
	for (size_t i = 0; rc == 0 && i < sizeof(files) / sizeof(files[0]); i++)
		rc = copy_file(test->dir, files[i], dir, files[i]);
	if (rc == 0)
		rc = split_logs(test, dir);
	return rc ? rc : write_case(test, options, dir);
}

int cli_bundle_write(const char *parent, const struct cli_scenario_options *options, struct cli_case *test)
{
	char *dir = bundle_path(parent, test->name);
	int rc = dir ? 0 : ENOMEM;

	if (rc == 0 && mkdir(parent, 0777) < 0 && errno != EEXIST)
		rc = errno;
	if (rc == 0 && mkdir(dir, 0777) < 0 && errno != EEXIST)
		rc = errno;
	if (rc == 0)
		rc = write_files(test, options, dir);
	if (rc == 0) {
		test->bundle = dir;
		return 0;
	}
	cli_fail("cannot write the bundle %s: %s; --bundles names another directory", dir ? dir : parent, strerror(rc));
	free(dir);
	return -1;
}

/* The bundle's copy of a file, which the caller frees; NULL if there is none. */
static char *find_copy(const char *dir, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return realpath(path, NULL);
}

/* Let the scenario use the bundle's copies of files, and have the failure's name: its file has another one now. */
static void use_copies(const char *dir, const char *scenario_name, struct cli_scenario *scenario)
{
	char *copy = scenario->topology ? find_copy(dir, "topology.yaml") : NULL;

	if (copy)
		scenario->topology = pcie_yaml_copy(&scenario->doc, copy);
	free(copy);
	if (scenario_name[0])
		scenario->name = pcie_yaml_copy(&scenario->doc, scenario_name);
	for (size_t i = 0; i < scenario->fault_plans.count; i++) {
		char name[PLAN_NAME_SIZE];

		plan_name(i, name);
		copy = find_copy(dir, name);
		if (!copy)
			continue;
		free(scenario->fault_plans.list[i]);
		scenario->fault_plans.list[i] = copy;
	}
}

/* @json is the bundle's case.json. */
static int read_scenario(json_object *json, const char *dir, const char *folder, struct cli_scenario *ret_scenario)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/scenario.yaml", dir);
	if (cli_scenario_read(path, folder ? folder : cli_json_text(json, "folder"), ret_scenario) < 0)
		return -1;
	if (access(ret_scenario->folder, X_OK) == 0)
		return 0;
	cli_fail("the programs of the bundle were in %s: %s; --folder names where they are now", ret_scenario->folder,
		 strerror(errno));
	cli_scenario_fini(ret_scenario);
	return -1;
}

static int read_options(json_object *json, struct cli_bundle *bundle)
{
	if (cli_scenario_options_from_json(cli_json_member(json, "options"), &bundle->options) < 0)
		return -1;
	if (cli_scenario_options_apply(&bundle->options, &bundle->scenario) == 0)
		return 0;
	cli_scenario_options_fini(&bundle->options);
	return -1;
}

int cli_bundle_read(const char *dir, const char *folder, struct cli_bundle *ret_bundle)
{
	char path[PATH_MAX];
	json_object *json;
	int rc;

	snprintf(path, sizeof(path), "%s/case.json", dir);
	json = json_object_from_file(path);
	if (!json)
		return cli_error("%s is not a bundle of bfsim test: there is no case.json in it that can be read", dir);
	*ret_bundle =
		(struct cli_bundle){ .has_seed = cli_json_member(json, "seed"), .seed = cli_json_number(json, "seed") };
	rc = read_scenario(json, dir, folder, &ret_bundle->scenario);
	if (rc == 0 && read_options(json, ret_bundle) < 0) {
		cli_scenario_fini(&ret_bundle->scenario);
		rc = -1;
	}
	if (rc == 0) {
		if (strcmp(cli_json_text(json, "bfsim"), BFSIM_VERSION) != 0)
			cli_fail("the bundle is of bfsim %s, this is " BFSIM_VERSION ": the run may differ",
				 cli_json_text(json, "bfsim"));
		use_copies(dir, cli_json_text(json, "scenario-name"), &ret_bundle->scenario);
	}
	json_object_put(json);
	return rc;
}
