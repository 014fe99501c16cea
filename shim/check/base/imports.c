/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes functions into the tables of imported functions of the modules of this process. */
#include "imports.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/base/loader.h"

#ifdef __aarch64__
#define IS_SLOT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#else
#define IS_SLOT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#endif

struct module {
	const struct dl_phdr_info *info;
	uintptr_t relro_begin, relro_end; /* read-only since it was relocated */
	const char *strings;
	const ElfW(Sym) * symbols;
	const ElfW(Rela) * tables[2];
	size_t bytes[2];
};

struct replacement {
	const struct check_import *imports;
	size_t count;
};

/* The program's own name is "". */
static bool is_left_out(const char *path)
{
	static const char *const prefixes[] = { "libbfsim",   "libdoca_", "libc.",   "libc-",   "ld-linux",
						"linux-vdso", "libasan",  "libtsan", "liblsan", "libubsan",
						"libgcc_s",   "libdw",    "libelf" };
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

/* glibc has added the module's address to most of them. */
static const void *address_in(const struct dl_phdr_info *info, ElfW(Addr) addr)
{
	return (const void *)(addr < info->dlpi_addr ? info->dlpi_addr + addr : addr);
}

static void read_dynamic(struct module *module, const ElfW(Dyn) * dynamic)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		const void *at = address_in(module->info, dynamic->d_un.d_ptr);

		if (dynamic->d_tag == DT_STRTAB)
			module->strings = at;
		else if (dynamic->d_tag == DT_SYMTAB)
			module->symbols = at;
		else if (dynamic->d_tag == DT_JMPREL)
			module->tables[0] = at;
		else if (dynamic->d_tag == DT_PLTRELSZ)
			module->bytes[0] = dynamic->d_un.d_val;
		else if (dynamic->d_tag == DT_RELA)
			module->tables[1] = at;
		else if (dynamic->d_tag == DT_RELASZ)
			module->bytes[1] = dynamic->d_un.d_val;
	}
}

static void read_module(struct module *module)
{
	const struct dl_phdr_info *info = module->info;

	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_DYNAMIC)
			read_dynamic(module, (const ElfW(Dyn) *)begin);
		if (header->p_type != PT_GNU_RELRO)
			continue;
		module->relro_begin = begin;
		module->relro_end = begin + header->p_memsz;
	}
}

static void write_slot(const struct module *module, void **slot, void *replacement)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)slot / page * page;
	bool is_protected = (uintptr_t)slot >= module->relro_begin && (uintptr_t)slot < module->relro_end;

	if (is_protected && mprotect((void *)begin, page, PROT_READ | PROT_WRITE) < 0)
		return;
	__atomic_store_n(slot, replacement, __ATOMIC_RELAXED);
	if (is_protected)
		mprotect((void *)begin, page, PROT_READ);
}

static void replace_in_table(const struct module *module, const ElfW(Rela) * table, size_t bytes,
			     const struct replacement *what)
{
	for (const ElfW(Rela) *entry = table; entry && entry < table + bytes / sizeof(*table); entry++) {
		const char *name = module->strings + module->symbols[ELF64_R_SYM(entry->r_info)].st_name;

		for (size_t i = 0; i < what->count && IS_SLOT(ELF64_R_TYPE(entry->r_info)); i++)
			if (strcmp(name, what->imports[i].name) == 0)
				write_slot(module, (void **)(module->info->dlpi_addr + entry->r_offset),
					   what->imports[i].replacement);
	}
}

static int see_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct replacement *what = arg;
	struct module module = { .info = info };

	(void)size;
	if (is_left_out(info->dlpi_name))
		return 0;
	read_module(&module);
	for (int i = 0; i < 2 && module.strings && module.symbols; i++)
		replace_in_table(&module, module.tables[i], module.bytes[i], what);
	return 0;
}

static int count_modules(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(unsigned long long *)arg = info->dlpi_adds;
	return 1;
}

void check_imports_replace(const struct check_import *imports, size_t count)
{
	static unsigned long long num_seen;
	struct replacement what = { .imports = imports, .count = count };
	unsigned long long num_loaded = 0;

	sim_loader_lock();
	dl_iterate_phdr(count_modules, &num_loaded);
	if (num_loaded != num_seen)
		dl_iterate_phdr(see_module, &what);
	num_seen = num_loaded;
	sim_loader_unlock();
}
