/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the imports of a program with libelf. */
#include "elf_imports.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/printable.h"

#define NOTE_OF_TASK_2_5 ".note.bfsim.task-2.5" /* a section */
#define VERSION_HIDDEN   0x8000                 /* a flag beside a version's index */

/* The sections that are read; NULL if the file lacks them. */
struct sections {
	Elf *elf;
	Elf_Data *symbols, *versions, *verneed, *dynamic;
	size_t symbol_names, verneed_names, dynamic_names; /* sections of strings */
	size_t num_symbols, num_verneed, num_dynamic;
	bool is_of_task_2_5;
};

static size_t count_entries(const GElf_Shdr *header)
{
	return header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
}

static bool is_note_of_task_2_5(Elf *elf, const GElf_Shdr *header)
{
	size_t names;
	const char *name = elf_getshdrstrndx(elf, &names) == 0 ? elf_strptr(elf, names, header->sh_name) : NULL;

	return name && strcmp(name, NOTE_OF_TASK_2_5) == 0;
}

static int record_section(struct sections *found, Elf_Scn *section)
{
	GElf_Shdr header;
	Elf_Data *data;

	if (!gelf_getshdr(section, &header))
		return -EBADMSG;
	if (header.sh_type == SHT_NOTE)
		found->is_of_task_2_5 |= is_note_of_task_2_5(found->elf, &header);
	if (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_GNU_versym && header.sh_type != SHT_GNU_verneed &&
	    header.sh_type != SHT_DYNAMIC)
		return 0;
	data = elf_getdata(section, NULL);
	if (!data)
		return -EBADMSG;
	switch (header.sh_type) {
	case SHT_DYNSYM:
		found->symbols = data;
		found->symbol_names = header.sh_link;
		found->num_symbols = count_entries(&header);
		break;
	case SHT_GNU_versym:
		found->versions = data;
		break;
	case SHT_GNU_verneed:
		found->verneed = data;
		found->verneed_names = header.sh_link;
		found->num_verneed = header.sh_info;
		break;
	case SHT_DYNAMIC:
		found->dynamic = data;
		found->dynamic_names = header.sh_link;
		found->num_dynamic = count_entries(&header);
		break;
	}
	return 0;
}

/* Returns whether the file is dynamically linked: then it must have a symbol section. */
static bool is_dynamic(Elf *elf)
{
	size_t num = 0;

	if (elf_getphdrnum(elf, &num) < 0)
		return true;
	for (size_t i = 0; i < num; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type == PT_DYNAMIC)
			return true;
	}
	return false;
}

static int find_sections(Elf *elf, struct sections *found)
{
	Elf_Scn *section = NULL;
	int rc = 0;

	found->elf = elf;
	while (rc == 0 && (section = elf_nextscn(elf, section)))
		rc = record_section(found, section);
	if (rc == 0 && !found->symbols && is_dynamic(elf))
		rc = -EBADMSG;
	return rc;
}

/* ---- versions ---- */

/* The name and the library of the needed version @index. Offsets in the table only grow, so that the search ends in
 * a damaged file, too. */
static int find_version(const struct sections *in, size_t index, const char **ret_version, const char **ret_library)
{
	size_t at = 0;

	for (size_t i = 0; i < in->num_verneed && in->verneed; i++) {
		GElf_Verneed need;
		size_t aux_at;

		if (!gelf_getverneed(in->verneed, (int)at, &need))
			return -EBADMSG;
		aux_at = at + need.vn_aux;
		for (size_t j = 0; j < need.vn_cnt; j++) {
			GElf_Vernaux aux;

			if (!gelf_getvernaux(in->verneed, (int)aux_at, &aux))
				return -EBADMSG;
			if ((aux.vna_other & ~VERSION_HIDDEN) == index) {
				*ret_version = elf_strptr(in->elf, in->verneed_names, aux.vna_name);
				*ret_library = elf_strptr(in->elf, in->verneed_names, need.vn_file);
				return *ret_version && *ret_library ? 0 : -EBADMSG;
			}
			if (aux.vna_next == 0)
				break;
			aux_at += aux.vna_next;
		}
		if (need.vn_next == 0)
			break;
		at += need.vn_next;
	}
	return 0; /* defined by the file itself */
}

static int symbol_version(const struct sections *in, size_t symbol, const char **ret_version, const char **ret_library)
{
	GElf_Versym index;

	*ret_version = *ret_library = NULL;
	if (!in->versions)
		return 0;
	if (!gelf_getversym(in->versions, (int)symbol, &index))
		return -EBADMSG;
	index &= (GElf_Versym)~VERSION_HIDDEN;
	return index > VER_NDX_GLOBAL ? find_version(in, index, ret_version, ret_library) : 0;
}

/* ---- the lists ---- */

/* Copy a name of the file, which is printed. */
static char *copy_name(const char *name)
{
	char *copy = strdup(name);

	if (copy)
		sim_make_printable(copy);
	return copy;
}

static int add_import(struct cli_imports *imports, const char *symbol, const char *version, const char *library)
{
	struct cli_import *list = reallocarray(imports->list, imports->num + 1, sizeof(*list)), *import;

	if (!list)
		return -ENOMEM;
	imports->list = list;
	import = &list[imports->num++];
	import->symbol = copy_name(symbol);
	import->version = version ? copy_name(version) : NULL;
	import->library = library ? copy_name(library) : NULL;
	return import->symbol && !version == !import->version && !library == !import->library ? 0 : -ENOMEM;
}

static int add_needed(struct cli_imports *imports, const char *library)
{
	char **needed = reallocarray(imports->needed, imports->num_needed + 1, sizeof(*needed));

	if (!needed)
		return -ENOMEM;
	imports->needed = needed;
	needed[imports->num_needed] = copy_name(library);
	return needed[imports->num_needed++] ? 0 : -ENOMEM;
}

static int collect_symbol(const struct sections *in, size_t number, struct cli_imports *imports)
{
	const char *name, *version, *library;
	GElf_Sym symbol;
	int rc;

	if (!gelf_getsym(in->symbols, (int)number, &symbol))
		return -EBADMSG;
	if (symbol.st_shndx != SHN_UNDEF || symbol.st_name == 0)
		return 0;
	name = elf_strptr(in->elf, in->symbol_names, symbol.st_name);
	if (!name)
		return -EBADMSG;
	rc = symbol_version(in, number, &version, &library);
	return rc < 0 ? rc : add_import(imports, name, version, library);
}

static int collect_needed(const struct sections *in, size_t number, struct cli_imports *imports)
{
	const char *library;
	GElf_Dyn entry;

	if (!gelf_getdyn(in->dynamic, (int)number, &entry))
		return -EBADMSG;
	if (entry.d_tag != DT_NEEDED)
		return 0;
	library = elf_strptr(in->elf, in->dynamic_names, entry.d_un.d_val);
	return library ? add_needed(imports, library) : -EBADMSG;
}

/* Whether the file holds the tables that its header names: libelf takes a file without them for one that has none. */
static bool is_whole(const GElf_Ehdr *header, uint64_t file_bytes)
{
	const uint64_t sections = (uint64_t)header->e_shnum * header->e_shentsize,
		       segments = (uint64_t)header->e_phnum * header->e_phentsize;

	return header->e_shoff <= file_bytes && sections <= file_bytes - header->e_shoff &&
	       header->e_phoff <= file_bytes && segments <= file_bytes - header->e_phoff;
}

static int collect_imports(Elf *elf, uint64_t file_bytes, struct cli_imports *imports)
{
	struct sections in = { 0 };
	GElf_Ehdr header;
	int rc;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
		return -ENOEXEC;
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return -ENOEXEC;
	if (!is_whole(&header, file_bytes))
		return -EBADMSG;
	imports->machine = header.e_machine;
	rc = find_sections(elf, &in);
	imports->is_of_task_2_5 = in.is_of_task_2_5;
	for (size_t i = 0; rc == 0 && in.dynamic && i < in.num_dynamic; i++)
		rc = collect_needed(&in, i, imports);
	for (size_t i = 1; rc == 0 && in.symbols && i < in.num_symbols; i++) /* entry 0 is empty */
		rc = collect_symbol(&in, i, imports);
	return rc;
}

static int read_fd(int fd, struct cli_imports *imports)
{
	struct stat info;
	Elf *elf;
	int rc;

	if (fstat(fd, &info) < 0)
		return -errno;
	if (S_ISDIR(info.st_mode))
		return -EISDIR;
	if (!S_ISREG(info.st_mode))
		return -ENOEXEC;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOEXEC;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return -ENOEXEC;
	rc = collect_imports(elf, (uint64_t)info.st_size, imports);
	elf_end(elf);
	return rc;
}

int cli_imports_read(const char *path, struct cli_imports *ret)
{
	struct cli_imports imports = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* do not wait for the writer of a pipe */
	int rc;

	if (fd < 0)
		return -errno;
	rc = read_fd(fd, &imports);
	close(fd);
	if (rc < 0)
		cli_imports_free(&imports);
	else
		*ret = imports;
	return rc;
}

void cli_imports_free(struct cli_imports *imports)
{
	for (size_t i = 0; i < imports->num; i++) {
		free(imports->list[i].symbol);
		free(imports->list[i].version);
		free(imports->list[i].library);
	}
	for (size_t i = 0; i < imports->num_needed; i++)
		free(imports->needed[i]);
	free(imports->list);
	free(imports->needed);
	memset(imports, 0, sizeof(*imports));
}
