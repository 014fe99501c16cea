/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters that name devices and representors (releases from 3.1 on): what the parser opens, and what it refuses. */
#include "api_util.h"
#include "test_argp_util.h"

static struct doca_dev *dev;
static struct doca_dev_rep *rep;
static char devargs[64];
static int num_calls;

static doca_error_t take_device(void *value, void *config)
{
	const struct doca_argp_device_ctx *ctx = value;

	num_calls++;
	dev = ctx->dev;
	snprintf(devargs, sizeof(devargs), "%s", ctx->devargs ? ctx->devargs : "(none)");
	return DOCA_SUCCESS;
}

static doca_error_t take_rep(void *value, void *config)
{
	const struct doca_argp_device_rep_ctx *ctx = value;

	rep = ctx->dev_rep;
	return take_device((void *)(uintptr_t)&ctx->dev_ctx, config);
}

static int setup(void **state)
{
	dev = NULL;
	rep = NULL;
	num_calls = 0;
	return argp_setup(state);
}

/* The program closes what it was given: nothing else is open. */
static int teardown(void **state)
{
	if (rep)
		assert_ok(doca_dev_rep_close(rep));
	if (dev)
		assert_ok(doca_dev_close(dev));
	return argp_teardown(state);
}

static void assert_device(const char *iface)
{
	char name[DOCA_DEVINFO_IFACE_NAME_SIZE];

	assert_non_null(dev);
	assert_ok(doca_devinfo_get_iface_name(doca_dev_as_devinfo(dev), name, sizeof(name)));
	assert_string_equal(name, iface);
}

static void assert_rep(const char *iface)
{
	char name[DOCA_DEVINFO_IFACE_NAME_SIZE];

	assert_non_null(rep);
	assert_ok(doca_devinfo_rep_get_iface_name(doca_dev_rep_as_devinfo(rep), name, sizeof(name)));
	assert_string_equal(name, iface);
}

/* Start with the value of a device; close what was opened, and begin anew. */
static void expect_device(char *value, const char *iface, const char *arguments)
{
	add_param("d", "device", DOCA_ARGP_TYPE_DEVICE, take_device);
	assert_ok(start("-d", value));
	assert_int_equal(num_calls, 1);
	assert_device(iface);
	assert_string_equal(devargs, arguments);
	teardown(NULL);
	assert_int_equal(setup(NULL), 0);
}

static void test_device_is_opened_by_its_address(void **state)
{
	expect_device("pci/0000:03:00.0", "p0", "(none)");
	expect_device("0000:03:00.0", "p0", "(none)");
	expect_device("pci/03:00.0", "p0", "(none)");
	expect_device("pci/0000:03:00.0,dv_flow_en=2,other=1", "p0", "dv_flow_en=2,other=1");
}

static void expect_rep(char *value, const char *iface, const char *arguments)
{
	add_param("r", "rep", DOCA_ARGP_TYPE_DEVICE_REP, take_rep);
	assert_ok(start("--rep", value));
	assert_int_equal(num_calls, 1);
	assert_device("p0");
	assert_rep(iface);
	assert_string_equal(devargs, arguments);
	teardown(NULL);
	assert_int_equal(setup(NULL), 0);
}

static void test_representor_is_opened_with_its_device(void **state)
{
	expect_rep("pci/0000:03:00.0,pf0hpf", "pf0hpf", "(none)");
	expect_rep("pci/0000:03:00.0,pf0", "pf0hpf", "(none)");
	expect_rep("pci/0000:03:00.0,pf0vf1", "pf0vf1", "(none)");
	expect_rep("pci/0000:03:00.0,pf0sf0,dv_flow_en=2", "en3f0pf0sf0", "dv_flow_en=2");
	expect_rep("03:00.0,sf0", "en3f0pf0sf0", "(none)");
}

static void expect_refusal(enum doca_argp_type type, char *value, doca_error_t error)
{
	add_param("d", "device", type, take_device);
	assert_int_equal(start("-d", value), error);
	assert_told("--device");
	assert_int_equal(num_calls, 0);
	teardown(NULL);
	assert_int_equal(setup(NULL), 0);
}

static void test_what_names_no_device_is_refused(void **state)
{
	expect_refusal(DOCA_ARGP_TYPE_DEVICE, "pci/0000:04:00.0", DOCA_ERROR_NOT_FOUND);
	expect_refusal(DOCA_ARGP_TYPE_DEVICE, "pci/p0", DOCA_ERROR_INVALID_VALUE);
	expect_refusal(DOCA_ARGP_TYPE_DEVICE, "", DOCA_ERROR_INVALID_VALUE);
	expect_refusal(DOCA_ARGP_TYPE_DEVICE, ",x", DOCA_ERROR_INVALID_VALUE);
	expect_refusal(DOCA_ARGP_TYPE_DEVICE_REP, "pci/0000:03:00.0", DOCA_ERROR_INVALID_VALUE);
	expect_refusal(DOCA_ARGP_TYPE_DEVICE_REP, "pci/0000:03:00.0,pf0vf7", DOCA_ERROR_NOT_FOUND);
	expect_refusal(DOCA_ARGP_TYPE_DEVICE_REP, "pci/0000:03:00.0,f0", DOCA_ERROR_NOT_FOUND);
	expect_refusal(DOCA_ARGP_TYPE_DEVICE_REP, "pci/0000:03:00.0,0", DOCA_ERROR_NOT_FOUND);
}

/* The same device twice is one object, which is opened twice. */
static void test_device_and_its_representor_are_of_one_device(void **state)
{
	struct doca_dev *first;

	add_param("d", "device", DOCA_ARGP_TYPE_DEVICE, take_device);
	add_param("r", "rep", DOCA_ARGP_TYPE_DEVICE_REP, take_rep);
	assert_ok(start("-d", "03:00.0", "-r", "03:00.0,pf0vf0"));
	assert_int_equal(num_calls, 2);
	first = dev;
	assert_ok(doca_dev_close(first));
	assert_device("p0");
}

/* ---- the program opens ---- */

static int opened_for;

static doca_error_t open_by_program(struct doca_devinfo *devinfo, void *context, struct doca_dev **ret_dev)
{
	opened_for = *(int *)context;
	return doca_dev_open(devinfo, ret_dev);
}

static doca_error_t refuse_to_open(struct doca_devinfo *devinfo, void *context, struct doca_dev **ret_dev)
{
	return DOCA_ERROR_NOT_SUPPORTED;
}

static void test_program_opens_devices_by_its_own_function(void **state)
{
	int context = 7;

	assert_invalid(doca_argp_register_dev_open_callback(NULL, &context));
	assert_ok(doca_argp_register_dev_open_callback(open_by_program, &context));
	add_param("r", "rep", DOCA_ARGP_TYPE_DEVICE_REP, take_rep);
	assert_ok(start("-r", "03:00.0,pf0vf0"));
	assert_int_equal(opened_for, 7);
	assert_rep("pf0vf0");
	assert_doca(doca_argp_register_dev_open_callback(open_by_program, &context), DOCA_ERROR_BAD_STATE);
}

static void test_error_of_the_programs_function_ends_the_start(void **state)
{
	assert_ok(doca_argp_register_dev_open_callback(refuse_to_open, NULL));
	add_param("d", "device", DOCA_ARGP_TYPE_DEVICE, take_device);
	assert_doca(start("-d", "03:00.0"), DOCA_ERROR_NOT_SUPPORTED);
	assert_told("03:00.0");
	assert_int_equal(num_calls, 0);
}

/* ---- from a file ---- */

static void test_file_names_devices_by_strings(void **state)
{
	static const char text[] = "{\"doca_program_flags\": {\"device\": \"pci/0000:03:00.0,x=1\"}}";
	char path[] = "/tmp/test_argp_device.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	add_param("d", "device", DOCA_ARGP_TYPE_DEVICE, take_device);
	assert_ok(start("-j", path));
	unlink(path);
	assert_device("p0");
	assert_string_equal(devargs, "x=1");
}

/* The arguments last until the parser is destroyed: public samples keep the pointer. */
static const char *kept;

static doca_error_t keep_arguments(void *value, void *config)
{
	kept = ((const struct doca_argp_device_ctx *)value)->devargs;
	return take_device(value, config);
}

static void test_arguments_of_a_device_last_until_destroy(void **state)
{
	add_param("d", "device", DOCA_ARGP_TYPE_DEVICE, keep_arguments);
	assert_ok(start("-d", "03:00.0,dv_flow_en=2"));
	assert_string_equal(kept, "dv_flow_en=2");
}

#define with_parser(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		with_parser(test_device_is_opened_by_its_address),
		with_parser(test_representor_is_opened_with_its_device),
		with_parser(test_what_names_no_device_is_refused),
		with_parser(test_device_and_its_representor_are_of_one_device),
		with_parser(test_program_opens_devices_by_its_own_function),
		with_parser(test_error_of_the_programs_function_ends_the_start),
		with_parser(test_file_names_devices_by_strings),
		with_parser(test_arguments_of_a_device_last_until_destroy),
	};

	return API_RUN({ .name = "DPU",
			 .topology = "cards: [{profile: bluefield-3, functions: ["
				     "{side: dpu, type: pf, pci: \"03:00.0\", sfs: 1}, "
				     "{side: host, type: pf, pci: \"3b:00.0\", vfs: 2}]}]",
			 .side = "dpu",
			 API_WITH(tests) });
}
