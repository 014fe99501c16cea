/* SPDX-License-Identifier: BSD-3-Clause */
/* event_partner DESCRIPTOR: event_pair's part of one side, as a program of the current generation. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <doca_build_config.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_sync_event.h>

#include "bytes.h"

#define MUST(call)                                                                         \
	do {                                                                               \
		doca_error_t result_ = (call);                                             \
		if (result_ != DOCA_SUCCESS) {                                             \
			fprintf(stderr, "%s: %s\n", #call, doca_error_get_descr(result_)); \
			exit(EXIT_FAILURE);                                                \
		}                                                                          \
	} while (0)

static struct doca_dev *open_first_device(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t count;

	MUST(doca_devinfo_create_list(&list, &count));
	MUST(doca_dev_open(list[0], &dev));
	MUST(doca_devinfo_destroy_list(list));
	return dev;
}

#ifdef DOCA_ARCH_DPU

static struct doca_sync_event *take_turn(struct doca_dev *dev, const char *path)
{
	struct bytes descriptor = bytes_await(path);
	struct doca_sync_event *event;
	uint64_t fetched;

	MUST(doca_sync_event_create_from_export(dev, (uint8_t *)descriptor.addr, descriptor.len, &event));
	free(descriptor.addr);
	MUST(doca_sync_event_start(event));
	MUST(doca_sync_event_wait_neq_yield(event, 0, UINT64_MAX));
	MUST(doca_sync_event_update_add(event, 1, &fetched));
	printf("the DPU found %llu\n", (unsigned long long)fetched);
	return event;
}

#else

static struct doca_sync_event *take_turn(struct doca_dev *dev, const char *path)
{
	struct doca_sync_event *event;
	const uint8_t *descriptor;
	uint64_t last;
	size_t len;

	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_add_publisher_location_cpu(event, dev));
	MUST(doca_sync_event_add_publisher_location_remote_pci(event));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, dev));
	MUST(doca_sync_event_add_subscriber_location_remote_pci(event));
	MUST(doca_sync_event_start(event));
	MUST(doca_sync_event_export_to_remote_pci(event, dev, &descriptor, &len));
	bytes_publish((struct bytes){ .addr = (char *)(uintptr_t)descriptor, .len = len }, path);
	MUST(doca_sync_event_update_set(event, 1));
	MUST(doca_sync_event_wait_neq_yield(event, 1, UINT64_MAX));
	MUST(doca_sync_event_get(event, &last));
	printf("the host found %llu\n", (unsigned long long)last);
	return event;
}

#endif

int main(int argc, char **argv)
{
	struct doca_sync_event *event;
	struct doca_dev *dev;

	if (argc != 2)
		return fprintf(stderr, "usage: event_partner DESCRIPTOR\n"), EXIT_FAILURE;
	dev = open_first_device();
	event = take_turn(dev, argv[1]);
	MUST(doca_sync_event_stop(event));
	MUST(doca_sync_event_destroy(event));
	MUST(doca_dev_close(dev));
	return EXIT_SUCCESS;
}
