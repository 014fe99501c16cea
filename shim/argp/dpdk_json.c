/* SPDX-License-Identifier: BSD-3-Clause */
/* The "doca_dpdk_flags" section of a JSON file becomes flags of DPDK:
 *
 *   "devices": [ { "device": "pf", "id": A },      -a A            (also "vf")
 *                { "device": "sf", "id": N },      -a auxiliary:mlx5_core.sf.N
 *                { "device": "regex", "id": A } ]  -a A,class=regex
 *                  ... "sft": true                 ,sft_en=1
 *                  ... "hws": true                 ,dv_flow_en=2
 *   "core-mask": 15 or "0xf"                       -c 0xf
 *   "core-list": "0-3"                             -l 0-3
 *   "flags": "--one --two=2"                       --one --two=2
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "argp_priv.h"

#define SECTION "doca_dpdk_flags"

static doca_error_t wrong_type(const char *path, const char *key, const char *expected)
{
	shim_argp_report("'%s': \"%s\" in \"" SECTION "\" must be %s", path, key, expected);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t unknown_key(const char *path, const char *key, const char *where)
{
	shim_argp_report("'%s': unknown key \"%s\" in %s; other DPDK flags go into \"flags\"", path, key, where);
	return DOCA_ERROR_NOT_SUPPORTED;
}

static doca_error_t add_pair(const char *flag, const char *value)
{
	doca_error_t result = shim_argp_dpdk_add(flag);

	return result == DOCA_SUCCESS ? shim_argp_dpdk_add(value) : result;
}

struct device {
	const char *kind;
	const char *id;
	bool sft;
	bool hws;
};

static const char *text_or_null(struct json_object *json)
{
	return json_object_is_type(json, json_type_string) ? json_object_get_string(json) : NULL;
}

static doca_error_t read_device_key(const char *path, const char *key, struct json_object *json, struct device *device)
{
	bool *flag_value = strcmp(key, "sft") == 0 ? &device->sft : strcmp(key, "hws") == 0 ? &device->hws : NULL;
	const char **text = strcmp(key, "device") == 0 ? &device->kind : strcmp(key, "id") == 0 ? &device->id : NULL;

	if (text) {
		*text = text_or_null(json);
		return *text ? DOCA_SUCCESS : wrong_type(path, key, "a string");
	}
	if (!flag_value)
		return unknown_key(path, key, "a device of \"" SECTION "\"");
	*flag_value = json_object_get_boolean(json);
	return json_object_is_type(json, json_type_boolean) ? DOCA_SUCCESS : wrong_type(path, key, "true or false");
}

static doca_error_t read_device(const char *path, struct json_object *json, struct device *device)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!json_object_is_type(json, json_type_object))
		return wrong_type(path, "devices", "an array of objects");
	json_object_object_foreach(json, key, value)
	{
		result = read_device_key(path, key, value, device);
		if (result != DOCA_SUCCESS)
			return result;
	}
	if (device->kind && device->id)
		return DOCA_SUCCESS;
	shim_argp_report("'%s': a device of \"" SECTION "\" has no \"%s\"", path, device->kind ? "id" : "device");
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t add_device(const char *path, const struct device *device)
{
	static const struct {
		const char *kind, *prefix, *suffix;
	} kinds[] = {
		{ "pf", "", "" },
		{ "vf", "", "" },
		{ "sf", "auxiliary:mlx5_core.sf.", "" },
		{ "regex", "", ",class=regex" },
	};
	char word[256];
	size_t i;
	int length;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].kind, device->kind) == 0)
			break;
	if (i == sizeof(kinds) / sizeof(kinds[0])) {
		shim_argp_report("'%s': device \"%s\" is none of pf, vf, sf, regex; put its flags into \"flags\"", path,
				 device->kind);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	length = snprintf(word, sizeof(word), "%s%s%s%s%s", kinds[i].prefix, device->id, kinds[i].suffix,
			  device->sft ? ",sft_en=1" : "", device->hws ? ",dv_flow_en=2" : "");
	if (length >= (int)sizeof(word))
		return wrong_type(path, "id", "shorter");
	return add_pair("-a", word);
}

static doca_error_t add_devices(const char *path, struct json_object *json)
{
	doca_error_t result = DOCA_SUCCESS;
	size_t i;

	if (!json_object_is_type(json, json_type_array))
		return wrong_type(path, "devices", "an array of objects");
	for (i = 0; i < json_object_array_length(json) && result == DOCA_SUCCESS; i++) {
		struct device device = { 0 };

		result = read_device(path, json_object_array_get_idx(json, i), &device);
		if (result == DOCA_SUCCESS)
			result = add_device(path, &device);
	}
	return result;
}

static doca_error_t add_core_mask(const char *path, struct json_object *json)
{
	char mask[32];

	if (text_or_null(json))
		return add_pair("-c", text_or_null(json));
	if (!json_object_is_type(json, json_type_int) || json_object_get_int64(json) < 0)
		return wrong_type(path, "core-mask", "a number or a string of hexadecimal digits");
	snprintf(mask, sizeof(mask), "0x%llx", (unsigned long long)json_object_get_int64(json));
	return add_pair("-c", mask);
}

static doca_error_t add_core_list(const char *path, struct json_object *json)
{
	if (!text_or_null(json))
		return wrong_type(path, "core-list", "a string");
	return add_pair("-l", text_or_null(json));
}

/* Blanks separate words; there is no quoting. */
static doca_error_t add_flags(const char *path, struct json_object *json)
{
	const char *at = text_or_null(json);
	doca_error_t result = DOCA_SUCCESS;
	char word[256];
	size_t length;

	if (!at)
		return wrong_type(path, "flags", "a string");
	for (at += strspn(at, " \t\n"); *at && result == DOCA_SUCCESS; at += strspn(at, " \t\n")) {
		length = strcspn(at, " \t\n");
		if (length >= sizeof(word))
			return wrong_type(path, "flags", "made of shorter words");
		snprintf(word, sizeof(word), "%.*s", (int)length, at);
		result = shim_argp_dpdk_add(word);
		at += length;
	}
	return result;
}

doca_error_t shim_argp_dpdk_add_json(const char *path, struct json_object *section)
{
	static const struct {
		const char *key;
		doca_error_t (*add)(const char *path, struct json_object *json);
	} keys[] = {
		{ "devices", add_devices },
		{ "core-mask", add_core_mask },
		{ "core-list", add_core_list },
		{ "flags", add_flags },
	};
	doca_error_t result = DOCA_SUCCESS;
	size_t i;

	if (!json_object_is_type(section, json_type_object)) {
		shim_argp_report("'%s': \"" SECTION "\" must be an object", path);
		return DOCA_ERROR_INVALID_VALUE;
	}
	json_object_object_foreach(section, key, value)
	{
		for (i = 0; i < sizeof(keys) / sizeof(keys[0]) && strcmp(keys[i].key, key) != 0; i++)
			;
		if (i == sizeof(keys) / sizeof(keys[0]))
			return unknown_key(path, key, "\"" SECTION "\"");
		result = keys[i].add(path, value);
		if (result != DOCA_SUCCESS)
			break;
	}
	return result;
}
