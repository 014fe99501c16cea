/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about a buffer's data, and about lists of buffers. */
#include <inttypes.h>

#include "shim/check/report/hit.h"
#include "shim/check/history/mmap_history.h"
#include "shim/common/base/check.h"
#include "shim/common/mem/buf_priv.h"

/* ---- data outside of the buffer or of the map ---- */

static void report_data(enum sim_check_rule rule, const struct shim_call *call, const struct doca_mmap *mmap,
			const uint8_t *data, size_t data_len, const uint8_t *head, size_t len)
{
	struct check_hit *hit = check_hit_begin(
		rule, call,
		"%s: data of %zu bytes at offset %td, in a buffer of %zu bytes at offset %td of its memory map",
		check_call_name(call), data_len, data - head, len, head - mmap->addr);

	check_mmap_add_object(hit, mmap);
	check_hit_end(hit);
}

static bool is_within(const uint8_t *inner, size_t inner_len, const uint8_t *outer, size_t outer_len)
{
	return inner >= outer && inner_len <= outer_len && (size_t)(inner - outer) <= outer_len - inner_len;
}

/* The data of a buffer was moved out of it: an error if it left the map as well. */
static void report_moved(const struct shim_call *call, const struct doca_buf *buf)
{
	report_data(shim_buf_has_data_in_map(buf) ? BFC_DATA_BESIDE_BUFFER : BFC_DATA_OUTSIDE_BUFFER, call, buf->mmap,
		    buf->data, buf->data_len, buf->own.head, buf->own.len);
}

/* Of doca_buf_set_data() and doca_buf_set_data_len(). */
static void leave_set_data(struct shim_call *call)
{
	const struct doca_buf *buf = check_arg(call, 0);

	if (doca_unlikely(check_result(call) == DOCA_SUCCESS && buf->is_moved) && shim_buf_has_usable_mmap(buf))
		report_moved(call, buf);
}

static void report_range(const struct shim_call *call, const struct doca_mmap *mmap, const uint8_t *addr, size_t len)
{
	struct check_hit *hit = check_hit_begin(BFC_BUFFER_OUTSIDE_MMAP, call,
						"%s: a buffer of %zu bytes at offset %td of a memory map of %zu bytes",
						check_call_name(call), len, addr - mmap->addr, mmap->len_bytes);

	check_mmap_add_object(hit, mmap);
	check_hit_end(hit);
}

static void check_range(const struct shim_call *call, const struct doca_mmap *mmap, int first_arg)
{
	const uint8_t *addr = check_arg(call, first_arg), *data = check_arg(call, first_arg + 2);
	size_t len = (size_t)call->args[first_arg + 1], data_len = (size_t)call->args[first_arg + 3];

	if (!is_within(addr, len, mmap->addr, mmap->len_bytes))
		report_range(call, mmap, addr, len);
	else if (!is_within(data, data_len, addr, len))
		report_data(BFC_DATA_OUTSIDE_BUFFER, call, mmap, data, data_len, addr, len);
}

static void leave_get(struct shim_call *call)
{
	const struct doca_mmap *mmap = check_arg(call, 1);

	if (doca_unlikely(check_result(call) == DOCA_ERROR_INVALID_VALUE) && shim_object_is(mmap, SHIM_MMAP) &&
	    shim_mmap_is_usable(mmap))
		check_range(call, mmap, 2);
}

static void leave_reuse(struct shim_call *call)
{
	const struct doca_buf *buf = check_arg(call, 0);

	if (doca_likely(check_result(call) != DOCA_SUCCESS || !buf->is_moved))
		return;
	if (!is_within(buf->own.head, buf->own.len, buf->mmap->addr, buf->mmap->len_bytes))
		report_range(call, buf->mmap, buf->own.head, buf->own.len);
	else
		report_moved(call, buf);
}

/* ---- lists ---- */

static const char *find_chain_problem(const struct shim_call *call, const struct doca_buf *list,
				      const struct doca_buf *added)
{
	if (list == added)
		return "the list is appended to itself";
	if (list->is_inner)
		return "the first buffer is inside a list, not its head";
	if (added->is_inner)
		return "the buffer to append is inside a list already";
	if (added->refcount != 1)
		return "the list to append has more references than one";
	if (call->function == SHIM_FN_doca_buf_chain_list_tail && list->tail != check_arg(call, 1))
		return "the tail is not that of the list";
	return NULL;
}

static void leave_chain(struct shim_call *call)
{
	const struct doca_buf *list = check_arg(call, 0);
	const struct doca_buf *added = check_arg(call, call->function == SHIM_FN_doca_buf_chain_list_tail ? 2 : 1);
	const char *problem;

	if (doca_likely(check_result(call) == DOCA_SUCCESS) || !shim_object_is(list, SHIM_BUF) ||
	    !shim_object_is(added, SHIM_BUF))
		return;
	problem = find_chain_problem(call, list, added);
	if (problem)
		check_hit_end(check_hit_begin(BFC_CHAIN_CONDITIONS, call, "%s: %s", check_call_name(call), problem));
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_buf_set_data, NULL, leave_set_data },
	{ SHIM_FN_doca_buf_set_data_len, NULL, leave_set_data },
	{ SHIM_FN_doca_buf_inventory_buf_get_by_args, NULL, leave_get },
	{ SHIM_FN_doca_buf_inventory_buf_reuse_by_args, NULL, leave_reuse },
	{ SHIM_FN_doca_buf_chain_list, NULL, leave_chain },
	{ SHIM_FN_doca_buf_chain_list_tail, NULL, leave_chain },
};

const struct check_part check_buf_data = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
};
