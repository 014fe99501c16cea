/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of type DEVICE and DEVICE_REP (releases from 3.1 on): the parser opens what they name, and the program closes it.
 *
 *   pci/0000:03:00.0[,ARGUMENTS]               a device; "pci/" and the domain may be left out
 *   pci/0000:03:00.0,pf0vf1[,ARGUMENTS]        a representor of the device: pf0, pf0vf1, pf0sf88, vf1, or its interface
 *
 * The arguments are the program's: its callback gets them as they are.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "argp_priv.h"

#define MAX_PART 64

struct identifier {
	char address[MAX_PART];
	char rep[MAX_PART];
	const char *arguments; /* NULL without */
};

/* Cut the text before the next comma off. Returns false if it is empty or too long. */
static bool cut_part(const char **text, char part[MAX_PART])
{
	size_t len = strcspn(*text, ",");

	if (len == 0 || len >= MAX_PART)
		return false;
	memcpy(part, *text, len);
	part[len] = '\0';
	*text += len + ((*text)[len] == ',');
	return true;
}

static bool parse_identifier(const char *text, bool has_rep, struct identifier *ret_identifier)
{
	if (strncmp(text, "pci/", 4) == 0)
		text += 4;
	if (!cut_part(&text, ret_identifier->address) || (has_rep && !cut_part(&text, ret_identifier->rep)))
		return false;
	ret_identifier->arguments = *text ? text : NULL;
	return true;
}

/* ---- the device ---- */

static doca_error_t open_devinfo(struct doca_devinfo *devinfo, struct doca_dev **ret_dev)
{
	unsigned long generation = shim_argp.generation;

	if (!shim_argp.open_dev)
		return doca_dev_open(devinfo, ret_dev);
	return shim_argp_result_after_callback(generation,
					       shim_argp.open_dev(devinfo, shim_argp.open_dev_context, ret_dev));
}

/* Open the first device of the list with the address. */
static doca_error_t open_by_address(struct doca_devinfo **list, uint32_t count, const char *address,
				    struct doca_dev **ret_dev)
{
	for (uint32_t i = 0; i < count; i++) {
		uint8_t is_equal = 0;
		doca_error_t result = doca_devinfo_is_equal_pci_addr(list[i], address, &is_equal);

		if (result != DOCA_SUCCESS)
			return result;
		if (is_equal)
			return open_devinfo(list[i], ret_dev);
	}
	return DOCA_ERROR_NOT_FOUND;
}

static doca_error_t open_device(const char *address, struct doca_dev **ret_dev)
{
	struct doca_devinfo **list;
	uint32_t count;
	doca_error_t result = doca_devinfo_create_list(&list, &count);

	if (result != DOCA_SUCCESS)
		return result;
	result = open_by_address(list, count, address, ret_dev);
	doca_devinfo_destroy_list(list);
	return result;
}

/* ---- the representor ---- */

/* Is @name the interface, or what it ends with: "pf0sf4" of "en3f0pf0sf4"? "pf0" is the PF itself, "pf0hpf". */
static bool is_named(const char *iface, const char *name)
{
	size_t iface_len = strlen(iface), len = strlen(name);
	const char *end;

	if (strcmp(iface, name) == 0 || (strncmp(iface, name, len) == 0 && strcmp(iface + len, "hpf") == 0))
		return true;
	if (iface_len <= len)
		return false;
	end = iface + iface_len - len;
	return strcmp(end, name) == 0 && isalpha((unsigned char)end[0]) && isdigit((unsigned char)end[-1]);
}

static doca_error_t open_by_name(struct doca_devinfo_rep **list, uint32_t count, const char *name,
				 struct doca_dev_rep **ret_rep)
{
	for (uint32_t i = 0; i < count; i++) {
		char iface[DOCA_DEVINFO_IFACE_NAME_SIZE];

		if (doca_devinfo_rep_get_iface_name(list[i], iface, sizeof(iface)) == DOCA_SUCCESS &&
		    is_named(iface, name))
			return doca_dev_rep_open(list[i], ret_rep);
	}
	return DOCA_ERROR_NOT_FOUND;
}

static doca_error_t open_rep(struct doca_dev *dev, const char *name, struct doca_dev_rep **ret_rep)
{
	struct doca_devinfo_rep **list;
	uint32_t count;
	doca_error_t result = doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, &list, &count);

	if (result != DOCA_SUCCESS)
		return result;
	result = open_by_name(list, count, name, ret_rep);
	doca_devinfo_rep_destroy_list(list);
	return result;
}

/* ---- the value ---- */

static doca_error_t open_both(const struct identifier *identifier, bool has_rep,
			      struct doca_argp_device_rep_ctx *ret_ctx)
{
	doca_error_t result = open_device(identifier->address, &ret_ctx->dev_ctx.dev);

	if (result != DOCA_SUCCESS || !has_rep)
		return result;
	result = open_rep(ret_ctx->dev_ctx.dev, identifier->rep, &ret_ctx->dev_rep);
	if (result != DOCA_SUCCESS)
		doca_dev_close(ret_ctx->dev_ctx.dev);
	return result;
}

doca_error_t shim_argp_open_device(const struct doca_argp_param *param, struct shim_argp_value *value)
{
	bool has_rep = param->type == DOCA_ARGP_TYPE_DEVICE_REP;
	struct identifier identifier = { 0 };
	doca_error_t result;

	if (!parse_identifier(value->text, has_rep, &identifier)) {
		shim_argp_report("%s: '%s' does not name a %s; write %s", shim_argp_flag_name(param), value->text,
				 has_rep ? "representor" : "device",
				 has_rep ? "pci/0000:03:00.0,pf0vf0" : "pci/0000:03:00.0");
		return DOCA_ERROR_INVALID_VALUE;
	}
	value->device = (struct doca_argp_device_rep_ctx){ .dev_ctx.devargs = identifier.arguments };
	result = open_both(&identifier, has_rep, &value->device);
	if (result != DOCA_SUCCESS)
		shim_argp_report("%s: the %s '%s' was not opened: %s", shim_argp_flag_name(param),
				 has_rep ? "representor" : "device", value->text, doca_error_get_descr(result));
	return result;
}
