/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/history/mmap_history.h - the calls that configured, started and ended memory maps. */
#ifndef SHIM_CHECK_MMAP_HISTORY_H
#define SHIM_CHECK_MMAP_HISTORY_H

#include <stdbool.h>
#include <sys/types.h>

#include "shim/check/base/check.h"
#include "shim/check/report/hit.h"
#include "shim/common/mem/mmap_priv.h"

enum check_mmap_event {
	CHECK_MMAP_PERMISSIONS, /* doca_mmap_set_permissions() */
	CHECK_MMAP_RANGE,       /* one of the functions that set the range */
	CHECK_MMAP_START,
	CHECK_MMAP_END, /* stop or destroy */
	CHECK_MMAP_NUM_EVENTS,
};

/* The last successful call of an event. */
struct check_mmap_call {
	uint32_t function; /* enum shim_function */
	pid_t tid;
	struct check_stack stack;
};

/* Returns false if the map had no such call. The map may be destroyed. */
bool check_mmap_call_find(const struct doca_mmap *mmap, enum check_mmap_event event, struct check_mmap_call *ret_call);

/* Returns whether this process started the map, and has not ended it: a forked child has the maps of its parent. */
bool check_mmap_was_started_here(const struct doca_mmap *mmap);

/* Add the call as a party of the hit, if there was one: "FUNCTION @what". */
void check_mmap_add_call(struct check_hit *hit, const struct doca_mmap *mmap, enum check_mmap_event event,
			 const char *what);

/* Add the map as an object of the hit: its range and its permissions are the name. */
void check_mmap_add_object(struct check_hit *hit, const struct doca_mmap *mmap);

/* Bytes of all maps that are started, and how many they are. */
uint64_t check_mmap_started_bytes(uint32_t *ret_count);

#define CHECK_ACCESS_TEXT_SIZE 128

/* The names of access flags, without DOCA_ACCESS_FLAG_: "LOCAL_READ_WRITE | PCI_READ_ONLY". */
const char *check_access_format(uint32_t access, char text[CHECK_ACCESS_TEXT_SIZE]);

#endif
