/* SPDX-License-Identifier: BSD-3-Clause */
/* DPA contexts of tests. */
#include "dpa_util.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

struct doca_dpa *dpa_new(void)
{
	struct doca_dpa *dpa;

	assert_ok(doca_dpa_create(api_dev(), &dpa));
	assert_ok(doca_dpa_set_app(dpa, dpa_test_app));
	return dpa;
}

struct doca_dpa *dpa_open(void)
{
	struct doca_dpa *dpa = dpa_new();

	assert_ok(doca_dpa_start(dpa));
	return dpa;
}

void dpa_remove_crash_file(const char *log_path)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s.%d.crash", log_path ? log_path : "/tmp/doca_dpa_fatal", (int)getpid());
	assert_int_equal(unlink(path), 0);
}

struct doca_dpa *dpa_open_fatal(void)
{
	struct doca_dpa *dpa = dpa_open();
	uint64_t value;

	assert_doca(doca_dpa_rpc(dpa, load, &value, UINT64_C(64)), DOCA_ERROR_DRIVER);
	dpa_remove_crash_file(NULL);
	return dpa;
}

struct doca_sync_event *dpa_event_new(struct doca_dpa *dpa, doca_dpa_dev_sync_event_t *ret_handle)
{
	struct doca_sync_event *event;

	assert_ok(doca_sync_event_create(&event));
	assert_ok(doca_sync_event_add_publisher_location_cpu(event, api_dev()));
	assert_ok(doca_sync_event_add_publisher_location_dpa(event, dpa));
	assert_ok(doca_sync_event_add_subscriber_location_cpu(event, api_dev()));
	assert_ok(doca_sync_event_add_subscriber_location_dpa(event, dpa));
	assert_ok(doca_sync_event_start(event));
	if (ret_handle)
		assert_ok(doca_sync_event_get_dpa_handle(event, dpa, ret_handle));
	return event;
}

void dpa_event_wait(struct doca_sync_event *event, uint64_t value)
{
	assert_ok(doca_sync_event_wait_gt(event, value, UINT64_MAX));
}

int dpa_setup(void **state)
{
	*state = dpa_open();
	return 0;
}

int dpa_teardown(void **state)
{
	assert_ok(doca_dpa_destroy(*state));
	return 0;
}
