/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/abi/elf_imports.h - the imports of a program or shared object.
 *
 *   needed libraries     libdoca_dma.so.2, libc.so.6, ...
 *   undefined symbols    doca_dma_create, of version DOCA_2, from libdoca_dma.so.2
 *
 * libelf reads them from the dynamic section and the symbol table; the file is neither loaded nor run. The file is
 * untrusted: a truncated file or an invalid offset is an error. The file may be for another processor.
 */
#ifndef SIM_CLI_ABI_ELF_IMPORTS_H
#define SIM_CLI_ABI_ELF_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_import {
	char *symbol;
	char *version; /* NULL: linked without version */
	char *library; /* of that version; NULL without version */
};

struct cli_imports {
	uint16_t machine; /* as in elf.h: EM_X86_64, ... */
	bool is_of_task_2_5; /* a source was compiled with the header of that generation (shim/task_2_5/include/doca_rdma.h) */
	char **needed;
	size_t num_needed;
	struct cli_import *list; /* in the order of the file; each symbol once */
	size_t num;
};

/* Read @path. Returns 0, -errno (cannot be opened or read), -ENOEXEC (not a linked ELF file) or -EBADMSG (damaged). A
 * statically linked program has no imports. On success the caller releases *ret with cli_imports_free(). */
int cli_imports_read(const char *path, struct cli_imports *ret);

void cli_imports_free(struct cli_imports *imports);

#endif
