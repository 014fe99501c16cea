/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/fuzz/fuzz_argp_json.c - any bytes as a JSON file of flags.
 *
 * A DPDK program with a parameter of each type, one of them multiple, reads the
 * input with -j. start() returns one of its documented codes; a failure logs exactly
 * one message, a success none.
 *
 *   clang -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -DDOCA_ALLOW_EXPERIMENTAL_API ...
 *   ./fuzz_argp_json -max_total_time=60 tests/fuzz/corpus/argp_json
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <doca_argp.h>

static int messages;
static volatile size_t sink; /* values that the callbacks read, stored so that the reads happen */

static void require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

static doca_error_t count_message(enum doca_log_level level, const char *format, va_list args)
{
	char line[256];

	sink += (size_t)vsnprintf(line, sizeof(line), format, args);
	messages++;
	return DOCA_SUCCESS;
}

static doca_error_t on_text(void *value, void *config)
{
	sink += strlen(value);
	return DOCA_SUCCESS;
}

static doca_error_t on_number(void *value, void *config)
{
	sink += (size_t) * (int *)value;
	return DOCA_SUCCESS;
}

static doca_error_t on_truth(void *value, void *config)
{
	require(*(bool *)value, "a flag that is false is not reported");
	return DOCA_SUCCESS;
}

static doca_error_t on_object(void *value, void *config)
{
	require(value != NULL, "an object is there");
	return DOCA_SUCCESS;
}

static doca_error_t on_dpdk(int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++)
		sink += strlen(argv[i]);
	require(argv[argc] == NULL, "the vector ends with NULL");
	return DOCA_SUCCESS;
}

static void add_param(const char *name, enum doca_argp_type type, doca_argp_param_cb_t callback, bool multiple)
{
	struct doca_argp_param *param;

	require(doca_argp_param_create(&param) == DOCA_SUCCESS, "create");
	doca_argp_param_set_long_name(param, name);
	doca_argp_param_set_description(param, name);
	doca_argp_param_set_type(param, type);
	doca_argp_param_set_callback(param, callback);
	if (multiple)
		doca_argp_param_set_multiplicity(param);
	require(doca_argp_register_param(param) == DOCA_SUCCESS, "register");
}

/* A string for "object" names a device. */
static doca_error_t refuse_device(struct doca_devinfo *devinfo, void *context, struct doca_dev **dev)
{
	return DOCA_ERROR_NOT_SUPPORTED;
}

static void open_parser(void)
{
	messages = 0;
	require(doca_argp_init("fuzz", NULL) == DOCA_SUCCESS, "init");
	require(doca_argp_register_logger_callback(count_message) == DOCA_SUCCESS, "logger");
	require(doca_argp_register_dev_open_callback(refuse_device, NULL) == DOCA_SUCCESS, "devices");
	doca_argp_set_dpdk_program(on_dpdk);
	add_param("file", DOCA_ARGP_TYPE_STRING, on_text, false);
	add_param("num-msgs", DOCA_ARGP_TYPE_INT, on_number, false);
	add_param("fast", DOCA_ARGP_TYPE_BOOLEAN, on_truth, false);
	add_param("object", DOCA_ARGP_TYPE_JSON_OBJ, on_object, false);
	add_param("name", DOCA_ARGP_TYPE_STRING, on_text, true);
}

/* The file is in memory and rewritten for each input. */
static char *write_input(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz_argp_json", MFD_CLOEXEC);
		require(fd >= 0, "memfd_create");
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	require(ftruncate(fd, 0) == 0, "ftruncate");
	require(pwrite(fd, data, size, 0) == (ssize_t)size, "pwrite");
	return path;
}

static bool may_answer(doca_error_t result)
{
	return result == DOCA_SUCCESS || result == DOCA_ERROR_INVALID_VALUE || result == DOCA_ERROR_NOT_SUPPORTED ||
	       result == DOCA_ERROR_IO_FAILED || result == DOCA_ERROR_NOT_FOUND;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *argv[] = { "fuzz", "-j", write_input(data, size), NULL };
	doca_error_t result;

	open_parser();
	result = doca_argp_start(3, argv);
	require(may_answer(result), "start() answers with a documented code");
	require(messages == (result != DOCA_SUCCESS), "one message for a failure, none for a success");
	require(doca_argp_destroy() == DOCA_SUCCESS, "destroy");
	return 0;
}
