/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of libraries without a list, from the vendor's public documentation (docs.nvidia.com/doca/sdk). */
#include "unlisted.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* Functions are named doca_WORD_.... */
static const struct {
	const char *word, *library;
} libraries[] = {
	{ "apsh", "libdoca_apsh" },         { "devemu", "libdoca_devemu" },
	{ "dpdk", "libdoca_dpdk_bridge" },  { "dpi", "libdoca_dpi" },
	{ "eth", "libdoca_eth" },           { "flow", "libdoca_flow" },
	{ "gpunetio", "libdoca_gpunetio" }, { "gpu", "libdoca_gpunetio" },
	{ "ipsec", "libdoca_ipsec" },       { "mgmt", "libdoca_mgmt" },
	{ "pcc", "libdoca_pcc" },           { "regex", "libdoca_regex" },
	{ "rivermax", "libdoca_rivermax" }, { "rmax", "libdoca_rivermax" },
	{ "sta", "libdoca_sta" },           { "telemetry", "libdoca_telemetry" },
	{ "urom", "libdoca_urom" },         { "verbs", "libdoca_verbs" },
};

static const char *skip_prefix(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) == 0 ? text + len : text;
}

const char *cli_unlisted_library(const char *name)
{
	const char *rest = skip_prefix(skip_prefix(name, "lib"), "doca_");

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		size_t len = strlen(libraries[i].word);

		if (strncmp(rest, libraries[i].word, len) == 0 && !isalnum((unsigned char)rest[len]))
			return libraries[i].library;
	}
	return NULL;
}
