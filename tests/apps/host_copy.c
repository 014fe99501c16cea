/* SPDX-License-Identifier: BSD-3-Clause */
/* host_copy: let the DPU read, or write, a file's contents in this host process's memory.
 *
 *   map the file --> export --> descriptor file --> wait for Enter --> (write the memory out)
 *
 * While it waits, it does nothing for the transfer: it sleeps in read(2), or is
 * busy with a computation of its own. Its standard input says when the DPU is
 * done: a terminal, "bfsim run", which presses Enter by itself, or a FIFO.
 */
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include <doca_dev.h>
#include <doca_log.h>
#include <doca_mmap.h>

#include "common/app.h"
#include "common/desc_file.h"
#include "common/device.h"
#include "common/memory.h"

#ifndef DOCA_ARCH_HOST
#error "host_copy runs on the host: build it against the host's SDK tree"
#endif

DOCA_LOG_REGISTER(HOST_COPY);

struct config {
	char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	char file[PATH_MAX];
	char descriptor[PATH_MAX];
	char memory[16];
	char output[PATH_MAX];
	bool writable;
	bool busy;
};

APP_TAKE_STRING(pci_addr)
APP_TAKE_STRING(file)
APP_TAKE_STRING(descriptor)
APP_TAKE_STRING(memory)
APP_TAKE_STRING(output)
APP_TAKE_SWITCH(writable)
APP_TAKE_SWITCH(busy)

static const struct app_flag flags[] = {
	APP_STRING("p", "pci-addr", "<address>", "The device (default " APP_PCI_ADDR ")", pci_addr),
	APP_MANDATORY_STRING("f", "file", "<file>", "What the memory holds at first", file),
	APP_MANDATORY_STRING("d", "descriptor", "<file>", "Write the export descriptor to this file", descriptor),
	APP_STRING("m", "memory", "<kind>", "Memory: shared or private (mapped file), heap (default shared)", memory),
	APP_SWITCH("w", "writable", "Let the DPU write to the memory, too", writable),
	APP_STRING("o", "output", "<file>", "At the end, write the memory to this file", output),
	APP_SWITCH("b", "busy", "Compute instead of sleeping while the DPU works", busy),
};

static uint64_t checksum(const struct memory *memory)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < memory->len_bytes; i++)
		sum = sum * 31 + memory->addr[i];
	return sum;
}

/* Whether input, or its end, can be read without waiting. */
static bool input_is_there(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&in, 1, 0) > 0;
}

/* Compute until there is input; the DPU's accesses happen meanwhile. */
static void compute(const struct memory *memory)
{
	uint64_t rounds = 0, sum = 0;

	while (!input_is_there()) {
		sum += checksum(memory);
		rounds++;
	}
	printf("computed %" PRIu64 " rounds meanwhile (sum %016" PRIx64 ")\n", rounds, sum);
}

static void sleep_until_enter(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n')
		;
}

static doca_error_t serve(const struct config *config, struct doca_dev *dev, struct doca_mmap *mmap,
			  const struct memory *memory)
{
	doca_error_t result = desc_file_export(config->descriptor, mmap, dev);

	if (result != DOCA_SUCCESS)
		return result;
	DOCA_LOG_INFO("Exported %zu bytes (%s): press Enter when the DPU is done", memory->len_bytes, config->memory);
	if (config->busy)
		compute(memory);
	else
		sleep_until_enter();
	unlink(config->descriptor); /* it ends with the map */
	return DOCA_SUCCESS;
}

static doca_error_t map_and_serve(const struct config *config, struct doca_dev *dev, const struct memory *memory)
{
	uint32_t access = config->writable ? DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE :
					     DOCA_ACCESS_FLAG_PCI_READ_ONLY;
	struct doca_mmap *mmap;
	doca_error_t result = device_map(dev, memory->addr, memory->len_bytes, access, &mmap);

	if (result != DOCA_SUCCESS)
		return result;
	result = serve(config, dev, mmap, memory);
	app_check(doca_mmap_destroy(mmap), "unmap the memory");
	return result;
}

static doca_error_t serve_on_device(const struct config *config, const struct memory *memory)
{
	struct doca_dev *dev;
	doca_error_t result = device_open(config->pci_addr, &dev);

	if (result != DOCA_SUCCESS)
		return result;
	result = map_and_serve(config, dev, memory);
	app_check(doca_dev_close(dev), "close the device");
	return result;
}

static doca_error_t run(void *arg)
{
	const struct config *config = arg;
	struct memory memory = { 0 };
	enum memory_kind kind;
	doca_error_t result = memory_kind_parse(config->memory, &kind);

	if (result == DOCA_SUCCESS)
		result = memory_of_file(config->file, kind, config->writable, &memory);
	if (result == DOCA_SUCCESS)
		result = serve_on_device(config, &memory);
	if (result == DOCA_SUCCESS && config->output[0])
		result = memory_to_file(&memory, config->output);
	memory_release(&memory);
	return result;
}

int main(int argc, char **argv)
{
	static const struct app app = { flags, sizeof(flags) / sizeof(flags[0]), run };
	struct config config = { .pci_addr = APP_PCI_ADDR, .memory = "shared" };

	return app_main(&app, &config, argc, argv);
}
