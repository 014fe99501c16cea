/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/report/hit.h - reports of broken rules: to standard error, and to the file of hits.
 *
 *   struct check_hit *hit = check_hit_begin(BFC_..., call, "what happened: %s", ...);
 *   check_hit_add_ctx(hit, ctx);
 *   check_hit_add_party(hit, "a thread stopped it", tid, &stack);
 *   check_hit_end(hit);
 *
 * Only the first hit of a rule at a site (the caller of the public function) is reported; later ones are counted, and
 * check_hit_begin() returns NULL, which the other functions take.
 */
#ifndef SHIM_CHECK_HIT_H
#define SHIM_CHECK_HIT_H

#include <sys/types.h>

#include "shim/check/base/check.h"
#include "stack.h"

struct check_hit;

/* The site of the hit is @call, or a stack if there is no call; @stack NULL = where this thread is in the program. */
struct check_hit *check_hit_begin(enum sim_check_rule rule, const struct shim_call *call, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
struct check_hit *check_hit_begin_at(enum sim_check_rule rule, const struct check_stack *stack, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Another call that took part; @tid 0 = not known. */
void check_hit_add_party(struct check_hit *hit, pid_t tid, const struct check_stack *stack, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* An object that took part. @name may be NULL. The stack of its creation is added if it is known. */
void check_hit_add_object(struct check_hit *hit, const char *kind, const void *handle, const char *name);
void check_hit_add_ctx(struct check_hit *hit, const struct doca_ctx *ctx);

/* Report the hit and free it. */
void check_hit_end(struct check_hit *hit);

/* In a forked child. */
void check_hits_forked(void);

/* At the exit: write how often sites were hit again. */
void check_hits_write_counts(void);

#endif
