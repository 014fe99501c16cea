/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a program for bfsim check-binary or bfsim exec: the reader returns the needed libraries and symbols,
 * or refuses the file. Seeds are in corpus/elf. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_input.h"
#include "sim/cli/abi/elf_imports.h"

/* A name for a file that is in memory alone. */
static void keep(int fd, const uint8_t *data, size_t size)
{
	promise(ftruncate(fd, 0) == 0);
	promise(pwrite(fd, data, size, 0) == (ssize_t)size);
}

static void check(const struct cli_imports *imports)
{
	for (size_t i = 0; i < imports->num; i++)
		promise(imports->list[i].symbol && !imports->list[i].version == !imports->list[i].library);
	for (size_t i = 0; i < imports->num_needed; i++)
		promise(imports->needed[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct cli_imports imports;
	char path[64];
	int rc;

	if (fd < 0)
		fd = memfd_create("program", MFD_CLOEXEC);
	promise(fd >= 0);
	keep(fd, data, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = cli_imports_read(path, &imports);
	promise(rc == 0 || rc == -ENOEXEC || rc == -EBADMSG || rc == -ENOMEM);
	if (rc == 0) {
		check(&imports);
		cli_imports_free(&imports);
	}
	return 0;
}
