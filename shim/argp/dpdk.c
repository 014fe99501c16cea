/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/argp/dpdk.c - DPDK's share of the command line:
 *
 *   program [DPDK flags] -- [DOCA flags] [program flags]
 *
 * Without "--" all words are DPDK's, unless the first of them asks for help, the
 * version or a JSON file.
 */
#include <stdlib.h>
#include <string.h>

#include "argp_priv.h"

static bool is_ours(const char *word)
{
	static const char *const ours[] = { "-h", "--help", "-v", "--version", "-j", "--json" };
	size_t i;

	for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (strcmp(word, ours[i]) == 0)
			return true;
	return strncmp(word, "--json=", strlen("--json=")) == 0;
}

static int find_separator(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		;
	return i;
}

doca_error_t shim_argp_dpdk_take(int argc, char **argv, int *ret_first)
{
	doca_error_t result = DOCA_SUCCESS;
	int end = 1, i;

	*ret_first = 1;
	if (!shim_argp.dpdk_callback)
		return DOCA_SUCCESS;
	if (find_separator(argc, argv) < argc || argc < 2 || !is_ours(argv[1])) {
		end = find_separator(argc, argv);
		*ret_first = end < argc ? end + 1 : argc;
	}
	for (i = 0; i < end && result == DOCA_SUCCESS; i++)
		result = shim_argp_dpdk_add(argv[i]);
	return result;
}

static bool grow(struct shim_argp_dpdk *dpdk)
{
	int room = dpdk->room ? 2 * dpdk->room : 16;
	char **owned = realloc(dpdk->owned, (size_t)room * sizeof(*owned));

	if (!owned)
		return false;
	dpdk->owned = owned;
	dpdk->room = room;
	return true;
}

doca_error_t shim_argp_dpdk_add(const char *word)
{
	struct shim_argp_dpdk *dpdk = &shim_argp.dpdk;

	if (dpdk->count == dpdk->room && !grow(dpdk))
		return shim_argp_report_no_memory();
	dpdk->owned[dpdk->count] = shim_argp_dup(word);
	if (!dpdk->owned[dpdk->count])
		return shim_argp_report_no_memory();
	dpdk->count++;
	return DOCA_SUCCESS;
}

doca_error_t shim_argp_dpdk_hand_out(void)
{
	struct shim_argp_dpdk *dpdk = &shim_argp.dpdk;

	if (!shim_argp.dpdk_callback)
		return DOCA_SUCCESS;
	dpdk->handed_out = calloc((size_t)dpdk->count + 1, sizeof(*dpdk->handed_out));
	if (!dpdk->handed_out)
		return shim_argp_report_no_memory();
	memcpy(dpdk->handed_out, dpdk->owned, (size_t)dpdk->count * sizeof(*dpdk->owned));
	return shim_argp.dpdk_callback(dpdk->count, dpdk->handed_out);
}

void shim_argp_dpdk_free(void)
{
	struct shim_argp_dpdk *dpdk = &shim_argp.dpdk;

	while (dpdk->count)
		free(dpdk->owned[--dpdk->count]);
	free(dpdk->owned);
	free(dpdk->handed_out);
	*dpdk = (struct shim_argp_dpdk){ 0 };
}
