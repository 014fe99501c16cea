/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads files of mutes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mutes.h"
#include "pcie_model/yaml_fields.h"
#include "sim/base/yaml_file.h"

#define MAX_MUTES 10000

/* A day of the calendar, as YYYY-MM-DD. */
static bool is_date(const char *text)
{
	struct tm day = { 0 }, same;
	int len = 0;

	if (strlen(text) != SIM_CHECK_DATE_SIZE - 1 ||
	    sscanf(text, "%4d-%2d-%2d%n", &day.tm_year, &day.tm_mon, &day.tm_mday, &len) != 3 ||
	    len != SIM_CHECK_DATE_SIZE - 1)
		return false;
	day.tm_year -= 1900;
	day.tm_mon -= 1;
	same = day;
	return timegm(&same) != -1 && same.tm_mday == day.tm_mday && same.tm_mon == day.tm_mon;
}

static int read_expires(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	struct sim_check_mute *mute = to;
	time_t now = time(NULL);
	char today_text[SIM_CHECK_DATE_SIZE];
	struct tm today;

	if (node->type != PCIE_YAML_SCALAR || !is_date(node->text))
		return pcie_yaml_error(doc, node, "\"%s\" is not a day: write it as 2027-01-31",
				       node->text ? node->text : "");
	strftime(today_text, sizeof(today_text), "%Y-%m-%d", localtime_r(&now, &today));
	memcpy(mute->expires, node->text, SIM_CHECK_DATE_SIZE);
	mute->is_expired = strcmp(mute->expires, today_text) < 0;
	return 0;
}

static int read_rule(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	const char *text = node->type == PCIE_YAML_SCALAR ? node->text : "";
	struct sim_check_mute *mute = to;

	mute->rule = strcmp(text, "*") != 0 ? sim_check_rule_find(text) : NULL;
	if (mute->rule || strcmp(text, "*") == 0)
		return 0;
	return pcie_yaml_error(doc, node, "no rule is called \"%s\"; bfsim rules lists them", text);
}

/* Take ":LINE" off the end of a file's glob. */
static int check_site(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	struct sim_check_mute *mute = to;
	char *colon = mute->file ? strrchr(mute->file, ':') : NULL, *end;
	long line;

	if (!colon)
		return 0;
	line = strtol(colon + 1, &end, 10);
	if (end == colon + 1 || *end || line < 1 || line > 10000000)
		return pcie_yaml_error(doc, node, "file: \"%s\" is not a line number", colon + 1);
	*colon = '\0';
	mute->source_line = (int)line;
	return 0;
}

static int check_mute(struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node, void *to)
{
	struct sim_check_mute *mute = to;

	mute->line = (int)node->line;
	if (!mute->rule && !mute->function && !mute->file && !mute->object)
		return pcie_yaml_error(doc, node, "the mute of \"*\" has no site: it would mute everything");
	return 0;
}

static const struct pcie_yaml_field site_fields[] = {
	PCIE_YAML_FIELD("function", TEXT, sim_check_mute, function),
	PCIE_YAML_FIELD("file", TEXT, sim_check_mute, file),
	PCIE_YAML_FIELD("object", TEXT, sim_check_mute, object),
	{ 0 },
};

static const struct pcie_yaml_field mute_fields[] = {
	{ "rule", PCIE_YAML_READ, .is_required = true, .read = read_rule },
	{ "site", PCIE_YAML_STRUCT, .fields = site_fields, .read = check_site },
	PCIE_YAML_FIELD("reason", TEXT, sim_check_mute, reason, .is_required = true),
	{ "expires", PCIE_YAML_READ, .read = read_expires },
	{ 0 },
};

static const struct pcie_yaml_field root_fields[] = {
	PCIE_YAML_LIST_FIELD("mutes", STRUCTS, sim_check_mutes, list, count, .is_required = true,
			     .max_entries = MAX_MUTES, .fields = mute_fields, .size = sizeof(struct sim_check_mute),
			     .read = check_mute),
	{ 0 },
};

static int read_mutes(struct sim_check_mutes *mutes, const char *path, char error[SIM_CHECK_MUTES_ERROR_SIZE])
{
	int rc;

	mutes->doc = (struct pcie_yaml_doc){
		.name = path, .needs = "\"mutes:\" and a list", .error = error, .error_size = SIM_CHECK_MUTES_ERROR_SIZE
	};
	rc = sim_yaml_file_load(&mutes->doc);
	if (rc == 0)
		rc = pcie_yaml_read_root(&mutes->doc, root_fields, mutes);
	mutes->path = pcie_yaml_copy(&mutes->doc, path);
	return rc == 0 && !mutes->path ? -ENOMEM : rc;
}

int sim_check_mutes_read(const char *path, struct sim_check_mutes **ret_mutes, char error[SIM_CHECK_MUTES_ERROR_SIZE])
{
	struct sim_check_mutes *mutes = calloc(1, sizeof(*mutes));
	int rc = mutes ? read_mutes(mutes, path, error) : -ENOMEM;

	if (rc == -ENOMEM)
		snprintf(error, SIM_CHECK_MUTES_ERROR_SIZE, "%s: %s", path, strerror(ENOMEM));
	if (rc < 0) {
		sim_check_mutes_free(mutes);
		return rc;
	}
	*ret_mutes = mutes;
	return 0;
}
