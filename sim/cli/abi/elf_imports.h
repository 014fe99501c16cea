/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/abi/elf_imports.h - what a program or a shared object asks the loader for.
 *
 *   needed libraries     libdoca_dma.so.2, libc.so.6, ...
 *   undefined symbols    doca_dma_create, of version DOCA_2, from libdoca_dma.so.2
 *
 * Read from the file's dynamic section and symbol table by libelf; nothing is
 * loaded or run. The file is not trusted: what is cut off or points nowhere makes
 * it unreadable. Files for other processors are read like those for this one.
 */
#ifndef SIM_CLI_ABI_ELF_IMPORTS_H
#define SIM_CLI_ABI_ELF_IMPORTS_H

#include <stddef.h>
#include <stdint.h>

struct cli_import {
	char *symbol;
	char *version; /* NULL: none was recorded when it was linked */
	char *library; /* where that version was found then; NULL as well */
};

struct cli_imports {
	uint16_t machine; /* as in elf.h: EM_X86_64, ... */
	char **needed;
	size_t num_needed;
	struct cli_import *list; /* in the order of the file; no symbol twice */
	size_t num;
};

/* Read @path. Returns 0, -errno (it can't be opened or read), -ENOEXEC (no ELF
 * file, or not one that is linked), or -EBADMSG (a damaged one). A program that is linked
 * statically has no imports. On success *ret is the caller's
 * (cli_imports_free()). */
int cli_imports_read(const char *path, struct cli_imports *ret);

void cli_imports_free(struct cli_imports *imports);

#endif
