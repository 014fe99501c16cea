/* SPDX-License-Identifier: BSD-3-Clause */
/* Command line flags of dma_copy. */
#include "args.h"

#include <stdbool.h>
#include <string.h>

#include <doca_argp.h>

#include "failure.h"

#ifdef DOCA_ARCH_DPU
#define REP_IS_MANDATORY true
#else
#define REP_IS_MANDATORY false
#endif

static doca_error_t take(char *field, size_t size, const char *flag, const char *value)
{
	size_t len = strnlen(value, size);

	if (len == size)
		return failure_report(DOCA_ERROR_INVALID_VALUE, "--%s: longer than %zu characters", flag, size - 1);
	if (len == 0)
		return failure_report(DOCA_ERROR_INVALID_VALUE, "--%s: must not be empty", flag);
	memcpy(field, value, len + 1);
	return DOCA_SUCCESS;
}

static doca_error_t take_file(void *value, void *config)
{
	struct args *args = config;

	return take(args->file, sizeof(args->file), "file", value);
}

static doca_error_t take_pci_addr(void *value, void *config)
{
	struct args *args = config;

	return take(args->pci_addr, sizeof(args->pci_addr), "dev-pci", value);
}

static doca_error_t take_rep_pci_addr(void *value, void *config)
{
	struct args *args = config;

	return take(args->rep_pci_addr, sizeof(args->rep_pci_addr), "rep-pci", value);
}

static const struct flag {
	const char *short_name, *long_name, *arguments, *description;
	doca_argp_param_cb_t take;
	bool mandatory;
} flags[] = {
	{ "f", "file", "<path>", "The file to send; where there is none, the one to create", take_file, true },
	{ "p", "dev-pci", "<address>", "PCI address of the device to use", take_pci_addr, true },
	{ "r", "rep-pci", "<address>", "PCI address of the host's function, as the host sees it (DPU only)",
	  take_rep_pci_addr, REP_IS_MANDATORY },
};

static doca_error_t add_flag(const struct flag *flag)
{
	struct doca_argp_param *param;
	doca_error_t result = doca_argp_param_create(&param);

	if (result != DOCA_SUCCESS)
		return result;
	doca_argp_param_set_short_name(param, flag->short_name);
	doca_argp_param_set_long_name(param, flag->long_name);
	doca_argp_param_set_arguments(param, flag->arguments);
	doca_argp_param_set_description(param, flag->description);
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
	doca_argp_param_set_callback(param, flag->take);
	if (flag->mandatory)
		doca_argp_param_set_mandatory(param);
	return doca_argp_register_param(param);
}

doca_error_t args_parse(struct args *args, int argc, char **argv)
{
	doca_error_t result = check(doca_argp_init(NULL, args), "prepare the flags");

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]) && result == DOCA_SUCCESS; i++)
		result = check(add_flag(&flags[i]), "register a flag");
	if (result == DOCA_SUCCESS)
		result = check(doca_argp_start(argc, argv), "understand the flags");
	return result;
}
