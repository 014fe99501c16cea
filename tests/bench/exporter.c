/* SPDX-License-Identifier: BSD-3-Clause */
/* A host process that exports memory. */
#include "exporter.h"

#include <string.h>
#include <unistd.h>

#include "measure.h"
#include "memory.h"

static int export_memory(struct bench_exporter *exporter, struct doca_mmap *mmap, const struct doca_dev *dev)
{
	struct bench_export *export = &exporter->export;
	const void *desc;

	if (doca_mmap_export_pci(mmap, dev, &desc, &export->desc_len) != DOCA_SUCCESS ||
	    export->desc_len > sizeof(export->desc))
		return bench_fail("doca_mmap_export_pci failed");
	memcpy(export->desc, desc, export->desc_len);
	return 0;
}

static int run(void *arg, int fd)
{
	struct bench_exporter *exporter = arg;
	struct doca_mmap *mmap;
	struct doca_dev *dev;
	void *memory;

	bench_card_enter(exporter->card, "host", NULL);
	memory = exporter->memfd >= 0 ? bench_memory_map(exporter->memfd, exporter->len) :
					bench_memory_new(exporter->len);
	if (!memory)
		return -1;
	bench_memory_fill(memory, exporter->len, exporter->seed);
	if (bench_dev_open(BENCH_HOST_PCI, &dev) < 0 || bench_map(dev, memory, exporter->len, true, &mmap) < 0 ||
	    export_memory(exporter, mmap, dev) < 0)
		return -1;
	exporter->export.pid = getpid();
	exporter->export.addr = (uintptr_t)memory;
	if (bench_send(fd, &exporter->export, sizeof(exporter->export)) < 0)
		return -1;
	bench_wait_for_end(fd);
	doca_mmap_destroy(mmap);
	doca_dev_close(dev);
	return 0;
}

int bench_exporter_start(struct bench_exporter *exporter)
{
	if (bench_process_fork(run, exporter, &exporter->process) < 0)
		return -1;
	return bench_receive(exporter->process.fd, &exporter->export, sizeof(exporter->export));
}

int bench_exporter_end(struct bench_exporter *exporter)
{
	return bench_process_end(&exporter->process);
}
