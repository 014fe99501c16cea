/* SPDX-License-Identifier: BSD-3-Clause */
/* Function and line of an address in an image. libdw is loaded when the first kernel is fatal; without it, places have no names. */
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image_priv.h"
#include "sim/base/loader.h"
#include "sim/base/thread.h"

#define FUNCTIONS(X)        \
	X(elf_memory)       \
	X(elf_version)      \
	X(elf_end)          \
	X(dwarf_begin_elf)  \
	X(dwarf_end)        \
	X(dwarf_get_units)  \
	X(dwarf_haspc)      \
	X(dwarf_getsrc_die) \
	X(dwarf_linesrc)    \
	X(dwarf_lineno)     \
	X(dwarf_getscopes)  \
	X(dwarf_diename)    \
	X(dwarf_tag)

#define MEMBER(name) __typeof__(name) *name;
static struct {
	FUNCTIONS(MEMBER)
} dw;
static bool has_dw;

static void load_libdw(void)
{
	void *library, *elf;

	sim_loader_lock();
	library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
	elf = dlopen("libelf.so.1", RTLD_NOW | RTLD_LOCAL);
	sim_loader_unlock();
	if (!library || !elf)
		return;
	has_dw = true;
#define LOAD(name)                                                                        \
	*(void **)&dw.name = dlsym(strncmp(#name, "elf", 3) == 0 ? elf : library, #name); \
	has_dw = has_dw && dw.name;
	FUNCTIONS(LOAD)
}

static bool is_function(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/* The innermost function around @pc, which may be inlined into another. */
static void find_function(Dwarf_Die *unit, uintptr_t pc, struct sim_dpa_place *place)
{
	Dwarf_Die *scopes = NULL;
	int count = dw.dwarf_getscopes(unit, pc, &scopes);

	for (int i = 0; i < count; i++) {
		const char *name = dw.dwarf_diename(&scopes[i]);

		if (is_function(dw.dwarf_tag(&scopes[i])) && name) {
			snprintf(place->function, sizeof(place->function), "%s", name);
			break;
		}
	}
	free(scopes);
}

/* clang writes no table of addresses: each unit is asked. */
static bool find_unit(Dwarf *dwarf, uintptr_t pc, Dwarf_Die *ret_unit)
{
	Dwarf_CU *unit = NULL;

	while (dw.dwarf_get_units(dwarf, unit, &unit, NULL, NULL, ret_unit, NULL) == 0)
		if (dw.dwarf_haspc(ret_unit, pc) == 1)
			return true;
	return false;
}

static void look_up(Dwarf *dwarf, uintptr_t pc, struct sim_dpa_place *place)
{
	Dwarf_Die unit;
	Dwarf_Line *line;
	int number = 0;

	if (!find_unit(dwarf, pc, &unit))
		return;
	line = dw.dwarf_getsrc_die(&unit, pc);
	if (line) {
		const char *file = dw.dwarf_linesrc(line, NULL, NULL);

		dw.dwarf_lineno(line, &number);
		snprintf(place->file, sizeof(place->file), "%s", file ? file : "");
		place->line = (unsigned int)number;
	}
	find_function(&unit, pc, place);
}

struct look_up {
	const struct sim_dpa_image *image;
	uintptr_t pc;
	struct sim_dpa_place *place;
};

static void *run_look_up(void *arg)
{
	const struct look_up *work = arg;
	Elf *elf;
	Dwarf *dwarf;

	dw.elf_version(EV_CURRENT);
	elf = dw.elf_memory((char *)(uintptr_t)work->image->bytes, work->image->num_bytes);
	dwarf = elf ? dw.dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	if (dwarf) {
		look_up(dwarf, work->pc - work->image->base, work->place);
		dw.dwarf_end(dwarf);
	}
	if (elf)
		dw.elf_end(elf);
	return NULL;
}

/* libdw takes more stack than a guarded thread has: a thread of its own looks. */
void sim_dpa_image_find_place(const struct sim_dpa_image *image, uintptr_t pc, struct sim_dpa_place *ret_place)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct look_up work = { image, pc, ret_place };
	pthread_t thread;

	*ret_place = (struct sim_dpa_place){ .function = "?" };
	pthread_once(&once, load_libdw);
	if (has_dw && sim_thread_start(&thread, "dpa-place", run_look_up, &work) == 0)
		pthread_join(thread, NULL);
}
