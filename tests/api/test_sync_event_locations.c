/* SPDX-License-Identifier: BSD-3-Clause */
/* What an export says about the declared locations of a sync event. */
#include <doca_sync_event.h>

#include "cmocka_test.h"
#include "doca_device.h"
#include "log_child.h"

enum { PUBLISHER = 1, SUBSCRIBER = 2 };

/* Export an event whose @remote_roles are declared on the other side. */
static void export_event(struct doca_dev *dev, unsigned int remote_roles)
{
	struct doca_sync_event *event;
	const uint8_t *bytes;
	size_t len;

	MUST(doca_sync_event_create(&event));
	if (remote_roles & PUBLISHER)
		MUST(doca_sync_event_add_publisher_location_remote_pci(event));
	else
		MUST(doca_sync_event_add_publisher_location_cpu(event, dev));
	if (remote_roles & SUBSCRIBER)
		MUST(doca_sync_event_add_subscriber_location_remote_pci(event));
	else
		MUST(doca_sync_event_add_subscriber_location_cpu(event, dev));
	MUST(doca_sync_event_start(event));
	MUST(doca_sync_event_export_to_remote_pci(event, dev, &bytes, &len));
	MUST(doca_sync_event_stop(event));
	MUST(doca_sync_event_destroy(event));
}

static void export_events_of_cpus(void)
{
	struct doca_dev *dev = device_open(NULL);

	export_event(dev, 0);
	export_event(dev, 0);
	MUST(doca_dev_close(dev));
}

static void export_events_for_the_other_side(void)
{
	struct doca_dev *dev = device_open(NULL);

	export_event(dev, PUBLISHER);
	export_event(dev, SUBSCRIBER);
	export_event(dev, PUBLISHER | SUBSCRIBER);
	MUST(doca_dev_close(dev));
}

#define WARNING "declared on the CPU of this side"

static void test_export_of_an_event_between_cpus_is_warned_of_once(void **state)
{
	const struct child_output *output = in_child(export_events_of_cpus);

	assert_int_equal(count_of(output->err, WARNING), 1);
	assert_non_null(strstr(output->err, "doca_sync_event_add_publisher_location_remote_pci"));
}

static void test_export_of_an_event_with_a_remote_role_is_not(void **state)
{
	assert_int_equal(count_of(in_child(export_events_for_the_other_side)->err, WARNING), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_export_of_an_event_between_cpus_is_warned_of_once),
		cmocka_unit_test(test_export_of_an_event_with_a_remote_role_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
