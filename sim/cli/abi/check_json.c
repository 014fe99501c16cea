/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of a program as JSON. */
#include "check_binary.h"

#include "sim/cli/base/json.h"

static json_object *provider_json(const struct cli_check *check, enum cli_provider provider)
{
	const struct cli_check_counts *counts = &check->counts[provider];
	json_object *json = json_object_new_object();

	cli_json_add_bool(json, "starts", cli_check_starts(check, provider) == CLI_CHECK_TRUE);
	cli_json_add_bool(json, "links", cli_check_links(check, provider) == CLI_CHECK_TRUE);
	cli_json_add_bool(json, "assumed", cli_release_is_assumed(provider));
	cli_json_add_number(json, "missing", counts->absent);
	cli_json_add_number(json, "unknown", counts->unknown);
	cli_json_add_number(json, "other-version", counts->other_version);
	cli_json_add_number(json, "changed", counts->changed);
	cli_json_add_number(json, "missing-libraries", counts->libraries_absent);
	return json;
}

static json_object *bfsim_json(const struct cli_check *check)
{
	json_object *json = provider_json(check, check->bfsim_provider);

	cli_json_add_text(json, "generation", cli_generation_name(check->generation));
	cli_json_add_number(json, "misfits", cli_check_num_abi_mismatches(check));
	cli_json_add_number(json, "not-simulated", check->counts[check->bfsim_provider].not_simulated);
	return json;
}

static json_object *releases_json(const struct cli_check *check)
{
	json_object *json = json_object_new_object();

	for (enum cli_provider i = CLI_FIRST_RELEASE; i <= CLI_LAST_RELEASE; i++)
		json_object_object_add(json, cli_provider_name(i), provider_json(check, i));
	return json;
}

static const char *symbol_status_text(const struct cli_import *import, enum cli_provider provider)
{
	static const char *const texts[] = { [CLI_ABSENT] = "missing",
					     [CLI_UNKNOWN] = "unknown",
					     [CLI_OTHER_VERSION] = "other-version",
					     [CLI_PRESENT] = "present" };

	if (cli_is_not_simulated(import->symbol, provider))
		return "not-simulated";
	return texts[cli_symbol_status(import->symbol, import->version, provider)];
}

static json_object *symbol_json(const struct cli_check *check, const struct cli_import *import)
{
	json_object *json = json_object_new_object(), *releases = json_object_new_object(),
		    *changed = json_object_new_array();

	cli_json_add_text(json, "name", import->symbol);
	cli_json_add_text(json, "version", import->version);
	cli_json_add_text(json, "library", cli_check_library(import));
	cli_json_add_text(json, "bfsim",
			  cli_check_has_abi_mismatch(check, import) ?
				  "misfits" :
				  symbol_status_text(import, check->bfsim_provider));
	for (enum cli_provider i = CLI_FIRST_RELEASE; i <= CLI_LAST_RELEASE; i++) {
		cli_json_add_text(releases, cli_provider_name(i), symbol_status_text(import, i));
		if (cli_check_changed(check, import, i))
			json_object_array_add(changed, json_object_new_string(cli_provider_name(i)));
	}
	json_object_object_add(json, "releases", releases);
	json_object_object_add(json, "changed", changed);
	return json;
}

json_object *cli_check_json(const struct cli_check *check)
{
	json_object *json = json_object_new_object(), *needed = json_object_new_array(),
		    *symbols = json_object_new_array();

	cli_json_add_text(json, "program", check->path);
	cli_json_add_text(json, "other-machine", cli_check_other_machine(check));
	for (size_t i = 0; i < check->imports.num_needed; i++)
		json_object_array_add(needed, json_object_new_string(check->imports.needed[i]));
	json_object_object_add(json, "libraries", needed);
	json_object_object_add(json, "bfsim", bfsim_json(check));
	json_object_object_add(json, "releases", releases_json(check));
	for (size_t i = 0; i < check->imports.num; i++)
		json_object_array_add(symbols, symbol_json(check, &check->imports.list[i]));
	json_object_object_add(json, "symbols", symbols);
	return json;
}
