/* SPDX-License-Identifier: BSD-3-Clause */
/* event_copy: read a host process's memory (host_copy) without polling.
 *
 *   arm --> submit a batch --> sleep in epoll_wait() --> clear, arm --> take what completed
 *    ^                           ^---- some are in flight ----------------------+
 *    +------------------------------------------ none is -----------------------+
 *
 * A completion after arming wakes, and the batch is submitted after arming: so the
 * program may sleep without a check. Later it arms before it checks, for the same
 * reason. A wake-up that doesn't come in time is an error.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <doca_dev.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "common/app.h"
#include "common/copier.h"
#include "common/desc_file.h"
#include "common/device.h"
#include "common/memory.h"

#ifndef DOCA_ARCH_DPU
#error "event_copy runs on the DPU: build it against the DPU's SDK tree"
#endif

DOCA_LOG_REGISTER(EVENT_COPY);

struct config {
	char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	char descriptor[PATH_MAX];
	char file[PATH_MAX];
	uint32_t chunk_bytes, depth, timeout_s;
};

APP_TAKE_STRING(pci_addr)
APP_TAKE_STRING(descriptor)
APP_TAKE_STRING(file)
APP_TAKE_COUNT(chunk_bytes)
APP_TAKE_COUNT(depth)
APP_TAKE_COUNT(timeout_s)

static const struct app_flag flags[] = {
	APP_STRING("p", "pci-addr", "<address>", "The device (default " APP_PCI_ADDR ")", pci_addr),
	APP_MANDATORY_STRING("d", "descriptor", "<file>", "The host's export descriptor; waited for", descriptor),
	APP_MANDATORY_STRING("f", "file", "<file>", "Where the host's bytes go", file),
	APP_COUNT("c", "chunk", "<bytes>", "Copied by one task (default 64 KiB)", chunk_bytes),
	APP_COUNT("n", "depth", "<tasks>", "In flight at once (default 8)", depth),
	APP_COUNT("t", "timeout", "<seconds>", "Wait this long for anything (default 30)", timeout_s),
};

/* The descriptors on which the program sleeps. */
struct sleeper {
	struct doca_pe *pe;
	doca_notification_handle_t handle;
	int epoll_fd;
	uint32_t timeout_s;
	unsigned long wakes;
};

static doca_error_t sleeper_init(struct sleeper *sleeper, struct doca_pe *pe, uint32_t timeout_s)
{
	struct epoll_event event = { .events = EPOLLIN };
	doca_error_t result;

	*sleeper = (struct sleeper){ .pe = pe, .timeout_s = timeout_s, .epoll_fd = -1 };
	result = app_check(doca_pe_get_notification_handle(pe, &sleeper->handle), "get the notification handle");
	if (result != DOCA_SUCCESS)
		return result;
	sleeper->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (sleeper->epoll_fd >= 0 && epoll_ctl(sleeper->epoll_fd, EPOLL_CTL_ADD, sleeper->handle, &event) == 0)
		return DOCA_SUCCESS;
	DOCA_LOG_ERR("Cannot watch the notification handle: %s", strerror(errno));
	return DOCA_ERROR_OPERATING_SYSTEM;
}

static void sleeper_fini(struct sleeper *sleeper)
{
	if (sleeper->epoll_fd >= 0)
		close(sleeper->epoll_fd);
}

static doca_error_t arm(struct sleeper *sleeper)
{
	return app_check(doca_pe_request_notification(sleeper->pe), "arm the notification");
}

static doca_error_t clear(struct sleeper *sleeper)
{
	return app_check(doca_pe_clear_notification(sleeper->pe, sleeper->handle), "clear the notification");
}

static doca_error_t sleep_until_woken(struct sleeper *sleeper)
{
	struct epoll_event event;
	int count;

	do {
		count = epoll_wait(sleeper->epoll_fd, &event, 1, (int)sleeper->timeout_s * 1000);
	} while (count < 0 && errno == EINTR);
	if (count < 0) {
		DOCA_LOG_ERR("Cannot sleep: %s", strerror(errno));
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	if (count == 0) {
		DOCA_LOG_ERR("Tasks are in flight, but nothing has woken us for %u s", sleeper->timeout_s);
		return DOCA_ERROR_TIME_OUT;
	}
	sleeper->wakes++;
	return DOCA_SUCCESS;
}

/* Sleep, then take what completed, until nothing is in flight. Armed and with a batch submitted. */
static doca_error_t await_batch(struct sleeper *sleeper, const struct copier *copier)
{
	doca_error_t result = DOCA_SUCCESS;

	while (result == DOCA_SUCCESS && copier_in_flight(copier) > 0) {
		result = sleep_until_woken(sleeper);
		if (result == DOCA_SUCCESS)
			result = clear(sleeper);
		if (result == DOCA_SUCCESS)
			result = arm(sleeper);
		while (result == DOCA_SUCCESS && doca_pe_progress(sleeper->pe))
			;
	}
	return result;
}

static doca_error_t copy_batches(struct sleeper *sleeper, struct copier *copier)
{
	while (!copier_is_done(copier)) {
		doca_error_t result = arm(sleeper);

		if (result == DOCA_SUCCESS) {
			copier_start(copier);
			result = await_batch(sleeper, copier);
		}
		if (result == DOCA_SUCCESS)
			result = clear(sleeper);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return copier_result(copier);
}

static doca_error_t sleep_and_copy(const struct copier_cfg *cfg, struct sleeper *sleeper)
{
	struct copier *copier;
	doca_error_t result = copier_create(cfg, &copier);
	double begin_s = app_now_s();

	if (result != DOCA_SUCCESS)
		return result;
	result = copy_batches(sleeper, copier);
	if (result == DOCA_SUCCESS) {
		app_print_throughput(cfg->len_bytes, app_now_s() - begin_s);
		printf("woken %lu times for %zu tasks of %u bytes, %u at once\n", sleeper->wakes,
		       copier_chunks_copied(copier), cfg->chunk_bytes, cfg->depth);
	}
	copier_destroy(copier);
	return result;
}

static doca_error_t copy(const struct config *config, struct copier_cfg *cfg)
{
	struct sleeper sleeper;
	doca_error_t result = app_check(doca_pe_create(&cfg->pe), "create a progress engine");

	if (result != DOCA_SUCCESS)
		return result;
	result = sleeper_init(&sleeper, cfg->pe, config->timeout_s);
	if (result == DOCA_SUCCESS)
		result = sleep_and_copy(cfg, &sleeper);
	sleeper_fini(&sleeper);
	app_check(doca_pe_destroy(cfg->pe), "destroy the progress engine");
	return result;
}

static doca_error_t map_and_copy(const struct config *config, struct doca_dev *dev, const struct remote *host,
				 const struct memory *memory)
{
	struct copier_cfg cfg = {
		.dev = dev,
		.source = { host->mmap, host->addr, 1 },
		.target = { NULL, memory->addr, 1 },
		.len_bytes = memory->len_bytes,
		.chunk_bytes = config->chunk_bytes,
		.depth = config->depth,
		.step = 1,
		.in_batches = true,
	};
	doca_error_t result =
		device_map(dev, memory->addr, memory->len_bytes, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &cfg.target.mmap);

	if (result != DOCA_SUCCESS)
		return result;
	result = copy(config, &cfg);
	app_check(doca_mmap_destroy(cfg.target.mmap), "unmap the memory");
	return result;
}

static doca_error_t fetch(const struct config *config, struct doca_dev *dev, const struct remote *host)
{
	struct memory memory = { 0 };
	doca_error_t result = memory_of_zeros(host->len_bytes, &memory);

	if (result == DOCA_SUCCESS)
		result = map_and_copy(config, dev, host, &memory);
	if (result == DOCA_SUCCESS)
		result = memory_to_file(&memory, config->file);
	memory_release(&memory);
	return result;
}

static doca_error_t run(void *arg)
{
	const struct config *config = arg;
	struct remote host = { 0 };
	struct doca_dev *dev;
	doca_error_t result = device_open(config->pci_addr, &dev);

	if (result != DOCA_SUCCESS)
		return result;
	result = desc_file_import(config->descriptor, config->timeout_s, dev, &host);
	if (result == DOCA_SUCCESS)
		result = fetch(config, dev, &host);
	remote_release(&host);
	app_check(doca_dev_close(dev), "close the device");
	return result;
}

int main(int argc, char **argv)
{
	static const struct app app = { flags, sizeof(flags) / sizeof(flags[0]), run };
	struct config config = { .pci_addr = APP_PCI_ADDR, .chunk_bytes = 64 << 10, .depth = 8, .timeout_s = 30 };

	return app_main(&app, &config, argc, argv);
}
