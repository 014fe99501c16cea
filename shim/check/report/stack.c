/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes call stacks, and finds the source lines of addresses with libdw. */
#include "stack.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_OWN_FRAMES 24 /* of the libraries, below the program's */

void check_stack_take(const void *caller, struct check_stack *ret_stack)
{
	void *frames[MAX_OWN_FRAMES + CHECK_STACK_FRAMES];
	int count = backtrace(frames, MAX_OWN_FRAMES + CHECK_STACK_FRAMES), first = 0;

	while (first < count && frames[first] != caller)
		first++;
	if (first == count) { /* the unwinder did not get there */
		*ret_stack = check_stack_of(caller);
		return;
	}
	ret_stack->num_frames = 0;
	for (int i = first; i < count && ret_stack->num_frames < CHECK_STACK_FRAMES; i++)
		ret_stack->frames[ret_stack->num_frames++] = frames[i];
}

static bool is_own_library(const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;

	return strncmp(name, "libdoca_", 8) == 0 || strncmp(name, "libbfsim", 8) == 0;
}

static bool is_own_frame(const void *return_addr)
{
	Dl_info library;

	return dladdr((const char *)return_addr - 1, &library) != 0 && is_own_library(library.dli_fname);
}

void check_stack_take_unwatched(struct check_stack *ret_stack)
{
	void *frames[MAX_OWN_FRAMES + CHECK_STACK_FRAMES];
	int count = backtrace(frames, MAX_OWN_FRAMES + CHECK_STACK_FRAMES), first = 0;

	while (first < count && is_own_frame(frames[first]))
		first++;
	ret_stack->num_frames = 0;
	while (first < count && ret_stack->num_frames < CHECK_STACK_FRAMES)
		ret_stack->frames[ret_stack->num_frames++] = frames[first++];
}

bool check_stack_find_outer_call(const void *caller, struct check_stack *ret_stack)
{
	void *frames[MAX_OWN_FRAMES + CHECK_STACK_FRAMES];
	int count = backtrace(frames, MAX_OWN_FRAMES + CHECK_STACK_FRAMES), i = 0;

	while (i < count && frames[i] != caller)
		i++;
	while (i < count && !is_own_frame(frames[i]))
		i++;
	while (i < count && is_own_frame(frames[i]))
		i++;
	ret_stack->num_frames = 0;
	while (i < count && ret_stack->num_frames < CHECK_STACK_FRAMES)
		ret_stack->frames[ret_stack->num_frames++] = frames[i++];
	return ret_stack->num_frames > 0;
}

struct check_stack check_stack_of(const void *caller)
{
	return (struct check_stack){ .num_frames = 1, .frames = { caller } };
}

/* ---- source lines ---- */

static pthread_mutex_t dwfl_lock = PTHREAD_MUTEX_INITIALIZER;
static Dwfl *dwfl;
static bool has_open_files; /* of dwfl */

/* Map the file, so that no descriptor stays open: the program may count its own, and start others. NULL if that fails. */
static Elf *map_elf(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	Elf *elf;

	if (fd < 0)
		return NULL;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (elf && elf_cntl(elf, ELF_C_FDREAD) < 0) {
		elf_end(elf);
		elf = NULL;
	}
	close(fd);
	return elf;
}

/* libdwfl keeps the descriptor. */
static int note_open_file(int fd)
{
	if (fd < 0)
		return fd;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	has_open_files = true;
	return fd;
}

/* A callback of libdwfl: returns a descriptor, or -1 with the file in @ret_elf or without. */
static int find_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, char **ret_name, Elf **ret_elf)
{
	*ret_elf = name[0] == '/' ? map_elf(name) : NULL;
	if (!*ret_elf)
		return note_open_file(dwfl_linux_proc_find_elf(module, data, name, base, ret_name, ret_elf));
	*ret_name = strdup(name);
	return -1;
}

/* The same, for the file that has what was stripped off. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file,
			  const char *link, GElf_Word crc, char **ret_name)
{
	return note_open_file(dwfl_standard_find_debuginfo(module, data, name, base, file, link, crc, ret_name));
}

static void read_modules(void)
{
	static char *debuginfo_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = find_elf,
		.find_debuginfo = find_debuginfo,
		.debuginfo_path = &debuginfo_path,
	};

	if (!dwfl)
		dwfl = dwfl_begin(&callbacks);
	if (!dwfl)
		return;
	dwfl_report_begin(dwfl);
	dwfl_linux_proc_report(dwfl, getpid());
	dwfl_report_end(dwfl, NULL, NULL);
}

static Dwfl_Module *find_module(Dwarf_Addr addr)
{
	Dwfl_Module *module = dwfl ? dwfl_addrmodule(dwfl, addr) : NULL;

	if (module)
		return module;
	read_modules(); /* the first time, or a library was loaded since */
	return dwfl ? dwfl_addrmodule(dwfl, addr) : NULL;
}

static void add_string(struct json_object *object, const char *key, const char *text)
{
	if (text)
		json_object_object_add(object, key, json_object_new_string(text));
}

static void add_place(struct json_object *frame, const char *file, const char *dir, int line)
{
	if (!file)
		return;
	add_string(frame, "file", file);
	add_string(frame, "dir", file[0] == '/' ? NULL : dir);
	json_object_object_add(frame, "line", json_object_new_int(line));
}

/* Find the line without .debug_aranges, which clang does not write: look through the compilation units. */
static void search_units(struct json_object *frame, Dwfl_Module *module, Dwarf_Addr addr)
{
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;
	Dwarf_Attribute attr;
	Dwarf_Line *line;
	int number = 0;

	do
		unit = dwfl_module_nextcu(module, unit, &bias);
	while (unit && dwarf_haspc(unit, addr - bias) != 1);
	line = unit ? dwarf_getsrc_die(unit, addr - bias) : NULL;
	if (!line)
		return;
	dwarf_lineno(line, &number);
	add_place(frame, dwarf_linesrc(line, NULL, NULL), dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr)),
		  number);
}

static void add_line(struct json_object *frame, Dwfl_Module *module, Dwarf_Addr addr)
{
	Dwfl_Line *line = dwfl_module_getsrc(module, addr);
	int number = 0;
	const char *file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;

	if (file)
		add_place(frame, file, dwfl_line_comp_dir(line), number);
	else
		search_units(frame, module, addr);
}

/* A return address, and what is known of it without its line. */
struct frame {
	Dwarf_Addr addr;             /* in the call: the one before the return address */
	Dwfl_Module *module;         /* NULL = unknown */
	Dwarf_Addr start;            /* of the module */
	const char *file, *function; /* NULL = unknown */
};

static struct frame find_frame(const void *return_addr)
{
	struct frame frame = { .addr = (uintptr_t)return_addr - 1 };

	frame.module = find_module(frame.addr);
	if (frame.module) {
		frame.file = dwfl_module_info(frame.module, NULL, &frame.start, NULL, NULL, NULL, NULL, NULL);
		frame.function = dwfl_module_addrname(frame.module, frame.addr);
	}
	return frame;
}

static struct json_object *frame_to_json(const struct frame *found)
{
	struct json_object *frame = json_object_new_object();
	char offset[32];

	snprintf(offset, sizeof(offset), "0x%" PRIx64, (uint64_t)(found->addr + 1 - found->start));
	if (found->module) {
		const char *slash = strrchr(found->file, '/');

		add_string(frame, "function", found->function);
		add_line(frame, found->module, found->addr);
		add_string(frame, "module", slash ? slash + 1 : found->file);
	}
	add_string(frame, "offset", offset);
	return frame;
}

static bool is_before_main(const char *function)
{
	return strncmp(function, "__libc_start", 12) == 0 || strcmp(function, "start_thread") == 0;
}

/* Lines are searched in the frames of the program alone: the C library's, if they are installed, take most of a report's time. */
struct json_object *check_stack_to_json(const struct check_stack *stack)
{
	struct json_object *array = json_object_new_array();

	pthread_mutex_lock(&dwfl_lock);
	for (uint32_t i = 0; i < stack->num_frames; i++) {
		struct frame frame = find_frame(stack->frames[i]);

		if (frame.function && is_before_main(frame.function))
			break;
		/* Of the libraries, between the program's call and its callback. */
		if (frame.file && is_own_library(frame.file))
			continue;
		json_object_array_add(array, frame_to_json(&frame));
	}
	pthread_mutex_unlock(&dwfl_lock);
	return array;
}

void check_stack_close_files(void)
{
	pthread_mutex_lock(&dwfl_lock);
	if (has_open_files) {
		dwfl_end(dwfl);
		dwfl = NULL;
		has_open_files = false;
	}
	pthread_mutex_unlock(&dwfl_lock);
}

static const char *string_of(struct json_object *frame, const char *key)
{
	return json_object_get_string(json_object_object_get(frame, key));
}

void check_stack_format_caller(const void *caller, char *text, size_t size)
{
	struct check_stack stack = check_stack_of(caller);
	struct json_object *frames = check_stack_to_json(&stack), *frame = json_object_array_get_idx(frames, 0);
	const char *function = frame ? string_of(frame, "function") : NULL;
	const char *file = frame ? string_of(frame, "file") : NULL, *slash = file ? strrchr(file, '/') : NULL;

	if (file)
		snprintf(text, size, "%s (%s:%d)", function ? function : "?", slash ? slash + 1 : file,
			 json_object_get_int(json_object_object_get(frame, "line")));
	else if (frame)
		snprintf(text, size, "%s (%s+%s)", function ? function : "?", string_of(frame, "module"),
			 string_of(frame, "offset"));
	else
		snprintf(text, size, "%s", "");
	json_object_put(frames);
	check_stack_close_files();
}

void check_stack_forked(void)
{
	if (pthread_mutex_trylock(&dwfl_lock) == 0)
		pthread_mutex_unlock(&dwfl_lock);
	else
		dwfl = NULL, has_open_files = false;
	pthread_mutex_init(&dwfl_lock, NULL);
}
