/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPDK flags of the command line:
 *
 *   program [DPDK flags] -- [DOCA flags] [program flags]
 *
 * Without "--" all words are for DPDK, unless the first one is the flag for help, the
 * version or a JSON file.
 */
#include <stdlib.h>
#include <string.h>

#include "argp_priv.h"

static bool is_doca_flag(const char *word)
{
	static const char *const doca_flags[] = { "-h", "--help", "-v", "--version", "-j", "--json" };
	size_t i;

	for (i = 0; i < sizeof(doca_flags) / sizeof(doca_flags[0]); i++)
		if (strcmp(word, doca_flags[i]) == 0)
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

doca_error_t shim_argp_dpdk_collect(int argc, char **argv, int *ret_first)
{
	doca_error_t result = DOCA_SUCCESS;
	int end = 1, i;

	*ret_first = 1;
	if (!shim_argp.dpdk_callback)
		return DOCA_SUCCESS;
	if (find_separator(argc, argv) < argc || argc < 2 || !is_doca_flag(argv[1])) {
		end = find_separator(argc, argv);
		*ret_first = end < argc ? end + 1 : argc;
	}
	for (i = 0; i < end && result == DOCA_SUCCESS; i++)
		result = shim_argp_dpdk_add(argv[i]);
	return result;
}

static bool grow(struct shim_argp_dpdk *dpdk)
{
	int capacity = dpdk->capacity ? 2 * dpdk->capacity : 16;
	char **owned_argv = realloc(dpdk->owned_argv, (size_t)capacity * sizeof(*owned_argv));

	if (!owned_argv)
		return false;
	dpdk->owned_argv = owned_argv;
	dpdk->capacity = capacity;
	return true;
}

doca_error_t shim_argp_dpdk_add(const char *word)
{
	struct shim_argp_dpdk *dpdk = &shim_argp.dpdk;

	if (dpdk->count == dpdk->capacity && !grow(dpdk))
		return shim_argp_report_no_memory();
	dpdk->owned_argv[dpdk->count] = shim_argp_dup(word);
	if (!dpdk->owned_argv[dpdk->count])
		return shim_argp_report_no_memory();
	dpdk->count++;
	return DOCA_SUCCESS;
}

doca_error_t shim_argp_dpdk_call(void)
{
	struct shim_argp_dpdk *dpdk = &shim_argp.dpdk;

	if (!shim_argp.dpdk_callback)
		return DOCA_SUCCESS;
	dpdk->callback_argv = calloc((size_t)dpdk->count + 1, sizeof(*dpdk->callback_argv));
	if (!dpdk->callback_argv)
		return shim_argp_report_no_memory();
	memcpy(dpdk->callback_argv, dpdk->owned_argv, (size_t)dpdk->count * sizeof(*dpdk->owned_argv));
	return shim_argp.dpdk_callback(dpdk->count, dpdk->callback_argv);
}

void shim_argp_dpdk_free(void)
{
	struct shim_argp_dpdk *dpdk = &shim_argp.dpdk;

	while (dpdk->count)
		free(dpdk->owned_argv[--dpdk->count]);
	free(dpdk->owned_argv);
	free(dpdk->callback_argv);
	*dpdk = (struct shim_argp_dpdk){ 0 };
}
