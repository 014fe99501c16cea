/* SPDX-License-Identifier: BSD-3-Clause */
/* map_export FILE DESCRIPTOR INFO [OUT]: let the card's other side reach memory, in 1.5's order.
 *
 *   map: create, set_max_num_chunks, start --> dev_add --> populate --> export
 *     --> the descriptor to one file, address and length to another --> sleep until input ends or Enter
 *
 * The memory holds FILE's bytes at first, and is written to OUT at last.
 */
#include <string.h>
#include <unistd.h>

#include "common.h"

#define PAGE_BYTES 4096

static void write_files(struct doca_mmap *mmap, struct doca_dev *dev, struct bytes memory, const char *descriptor_path,
			const char *info_path)
{
	struct bytes descriptor;
	char info[64];

	MUST(doca_mmap_export(mmap, dev, (void **)&descriptor.addr, &descriptor.len));
	bytes_publish(descriptor, descriptor_path);
	free(descriptor.addr); /* it is ours */
	snprintf(info, sizeof(info), "%llu\n%zu\n", (unsigned long long)(uintptr_t)memory.addr, memory.len);
	bytes_publish((struct bytes){ .addr = info, .len = strlen(info) }, info_path);
}

static void sleep_until_enter(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n')
		;
}

int main(int argc, char **argv)
{
	struct doca_mmap *mmap;
	struct bytes memory;
	struct doca_dev *dev;

	if (argc != 4 && argc != 5)
		return fprintf(stderr, "usage: map_export FILE DESCRIPTOR INFO [OUT]\n"), EXIT_FAILURE;
	memory = bytes_of_file(argv[1]);
	dev = open_copying_device();
	MUST(doca_mmap_create(NULL, &mmap));
	MUST(doca_mmap_set_max_num_chunks(mmap, 1));
	MUST(doca_mmap_start(mmap));
	MUST(doca_mmap_dev_add(mmap, dev));
	MUST(doca_mmap_populate(mmap, memory.addr, memory.len, PAGE_BYTES, NULL, NULL));
	write_files(mmap, dev, memory, argv[2], argv[3]);
	sleep_until_enter();
	MUST(doca_mmap_destroy(mmap));
	MUST(doca_dev_close(dev));
	if (argc == 5)
		bytes_to_file(memory, argv[4]);
	free(memory.addr);
	return EXIT_SUCCESS;
}
