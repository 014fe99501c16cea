/* SPDX-License-Identifier: BSD-3-Clause */
/* The sections of a JSON file and their keys:
 *
 *   { "doca_general_flags": { "log-level": 50 },
 *     "doca_program_flags": { "long-name": value, "of-many": [ value, value ] },
 *     "doca_dpdk_flags": ... }                         (dpdk_json.c)
 *
 * A key is a long name. A boolean that is false counts as not given, and its callback
 * is not called.
 */
#include <json-c/json.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "argp_priv.h"

struct section {
	const char *path;
	const char *name;
	struct doca_argp_cmd *scope; /* the keys are parameters of this command */
};

static doca_error_t wrong_type(const struct section *section, const struct doca_argp_param *param, const char *expected)
{
	shim_argp_report("'%s': \"%s\" in \"%s\" must be %s%s", section->path, param->long_name, section->name,
			 expected, param->multiple ? ", or an array of such" : "");
	return DOCA_ERROR_INVALID_VALUE;
}

static bool get_text(struct json_object *json, const char **ret_text)
{
	if (!json_object_is_type(json, json_type_string))
		return false;
	*ret_text = json_object_get_string(json);
	return strlen(*ret_text) == (size_t)json_object_get_string_len(json); /* no \u0000 inside */
}

static bool get_number(struct json_object *json, int *ret_number)
{
	int64_t number;

	if (!json_object_is_type(json, json_type_int))
		return false;
	number = json_object_get_int64(json);
	if (number < INT_MIN || number > INT_MAX)
		return false;
	*ret_number = (int)number;
	return true;
}

static bool get_real(struct json_object *json, double *ret_real)
{
	if (!json_object_is_type(json, json_type_double) && !json_object_is_type(json, json_type_int))
		return false;
	*ret_real = json_object_get_double(json);
	return isfinite(*ret_real);
}

/* An object, as releases up to 3.0 have them, or the name of a device: the types have one number. */
static bool get_object_or_device(struct json_object *json, struct shim_argp_value *value)
{
	if (!json_object_is_type(json, json_type_object))
		return get_text(json, &value->text);
	value->object = json;
	return true;
}

static doca_error_t read_value(const struct section *section, struct doca_argp_param *param, struct json_object *json)
{
	struct shim_argp_value value = { 0 };

	switch (param->type) {
	case DOCA_ARGP_TYPE_STRING:
		if (!get_text(json, &value.text))
			return wrong_type(section, param, "a string without zero characters");
		break;
	case DOCA_ARGP_TYPE_INT:
		if (!get_number(json, &value.number))
			return wrong_type(section, param, "a whole number that fits an int");
		break;
	case DOCA_ARGP_TYPE_BOOLEAN:
		if (!json_object_is_type(json, json_type_boolean))
			return wrong_type(section, param, "true or false");
		value.boolean = json_object_get_boolean(json);
		break;
	case DOCA_ARGP_TYPE_DOUBLE:
		if (!get_real(json, &value.real))
			return wrong_type(section, param, "a number");
		break;
	case DOCA_ARGP_TYPE_DEVICE_REP:
		if (!get_text(json, &value.text))
			return wrong_type(section, param,
					  "a string that names a representor (pci/0000:03:00.0,pf0vf0)");
		break;
	default:
		if (!get_object_or_device(json, &value))
			return wrong_type(section, param,
					  "an object, or a string that names a device (pci/0000:03:00.0)");
		break;
	}
	return shim_argp_handle_param(param, &value, SHIM_ARGP_FROM_JSON);
}

static doca_error_t read_values(const struct section *section, struct doca_argp_param *param, struct json_object *json)
{
	doca_error_t result = DOCA_SUCCESS;
	size_t i;

	if (!param->multiple || !json_object_is_type(json, json_type_array))
		return read_value(section, param, json);
	for (i = 0; i < json_object_array_length(json) && result == DOCA_SUCCESS; i++)
		result = read_value(section, param, json_object_array_get_idx(json, i));
	return result;
}

static doca_error_t read_key(const struct section *section, const char *key, struct json_object *json)
{
	struct doca_argp_param *param = shim_argp_find_key(section->scope, key);

	if (!param && shim_argp.ignores_unknown_keys)
		return DOCA_SUCCESS;
	if (!param) {
		shim_argp_report("'%s': unknown key \"%s\" in \"%s\"; --help lists the flags, keys are long names",
				 section->path, key, section->name);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	if (param->cli_only) {
		shim_argp_report("'%s': \"%s\" in \"%s\" can only be given on the command line", section->path, key,
				 section->name);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	if (param->given == SHIM_ARGP_FROM_CLI)
		return DOCA_SUCCESS;
	return read_values(section, param, json);
}

static doca_error_t read_section(const struct section *section, struct json_object *root)
{
	doca_error_t result = DOCA_SUCCESS;
	struct json_object *json;

	if (!json_object_object_get_ex(root, section->name, &json))
		return DOCA_SUCCESS;
	if (!json_object_is_type(json, json_type_object)) {
		shim_argp_report("'%s': \"%s\" must be an object", section->path, section->name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	json_object_object_foreach(json, key, value)
	{
		result = read_key(section, key, value);
		if (result != DOCA_SUCCESS)
			break;
	}
	return result;
}

static doca_error_t check_sections(const char *path, struct json_object *root)
{
	json_object_object_foreach(root, key, value)
	{
		(void)value;
		if (strcmp(key, "doca_general_flags") == 0 || strcmp(key, "doca_program_flags") == 0)
			continue;
		if (strcmp(key, "doca_dpdk_flags") == 0 && shim_argp.dpdk_callback)
			continue;
		if (shim_argp.ignores_unknown_keys)
			continue;
		shim_argp_report("'%s': this program has no section \"%s\"", path, key);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	return DOCA_SUCCESS;
}

static doca_error_t read_root(const char *path, struct json_object *root)
{
	const struct section general = { path, "doca_general_flags", &shim_argp.general };
	const struct section program = { path, "doca_program_flags", shim_argp.selected_cmd };
	struct json_object *dpdk;
	doca_error_t result;

	result = check_sections(path, root);
	if (result == DOCA_SUCCESS)
		result = read_section(&general, root);
	if (result == DOCA_SUCCESS)
		result = read_section(&program, root);
	if (result == DOCA_SUCCESS && shim_argp.dpdk_callback &&
	    json_object_object_get_ex(root, "doca_dpdk_flags", &dpdk))
		result = shim_argp_dpdk_add_json(path, dpdk);
	return result;
}

doca_error_t shim_argp_json_collect(const char *path)
{
	struct json_object *root;
	doca_error_t result = shim_argp_json_read(path, &root);

	if (result != DOCA_SUCCESS)
		return result;
	result = read_root(path, root);
	json_object_put(root);
	return result;
}
