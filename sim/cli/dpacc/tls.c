/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds thread-local variables in an object. */
#include "tls.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <unistd.h>

static bool refuse_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, const char *source)
{
	Elf_Data *data = elf_getdata(section, NULL);
	bool is_refused = false;

	for (size_t i = 0; data && header->sh_entsize && i < header->sh_size / header->sh_entsize; i++) {
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_TLS)
			continue;
		fprintf(stderr,
			"%s: error: %s is thread-local: a DPA has no thread-local variables; use doca_dpa_dev_thread_get_local_storage()\n",
			source, elf_strptr(elf, header->sh_link, symbol.st_name));
		is_refused = true;
	}
	return is_refused;
}

bool tls_refuse(const char *object, const char *source)
{
	int fd = open(object, O_RDONLY | O_CLOEXEC);
	Elf *elf;
	Elf_Scn *section = NULL;
	bool is_refused = false;

	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	while (elf && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			is_refused |= refuse_symbols(elf, section, &header, source);
	}
	elf_end(elf);
	close(fd);
	return is_refused;
}
