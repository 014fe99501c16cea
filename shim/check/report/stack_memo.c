/* SPDX-License-Identifier: BSD-3-Clause */
/* Remembers walks of the stack, by caller and place in the stack. */
#include "stack_memo.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unwind.h>

#include "shim/check/base/thread.h"

#define NUM_MEMOS      64 /* of a thread */
#define NUM_STACKS     4096
#define MAX_PROBES     16
#define MAX_OWN_FRAMES 24 /* of the libraries, below the program's */
/* A walk costs as much credit as so many stacks that were remembered. */
#define WALK_COST      16
#define MAX_CREDIT     (256 * WALK_COST)

/* Stacks hold return addresses where compilers that instrument this library expect no reads of ours. */
#define READS_STACK __attribute__((no_sanitize("address"), no_sanitize("thread")))

struct memo {
	const void *caller;
	const struct shim_call *call; /* its address in the stack */
	const struct check_stack *stack;
	const void *const *slots[CHECK_STACK_FRAMES]; /* where the return addresses of @stack are */
};

struct check_stack_memos {
	int32_t credit;
	struct memo memos[NUM_MEMOS];
};

/* ---- stacks, each of them once ---- */

static const struct check_stack *_Atomic stacks[NUM_STACKS];

static bool is_equal(const struct check_stack *a, const struct check_stack *b)
{
	if (a->num_frames != b->num_frames)
		return false;
	for (uint32_t i = 0; i < a->num_frames; i++)
		if (a->frames[i] != b->frames[i])
			return false;
	return true;
}

static size_t hash_of(const struct check_stack *stack)
{
	uint64_t hash = stack->num_frames;

	for (uint32_t i = 0; i < stack->num_frames; i++)
		hash = (hash ^ (uintptr_t)stack->frames[i]) * 0x9e3779b97f4a7c15;
	return hash >> 32;
}

/* NULL without room. */
static const struct check_stack *keep(const struct check_stack *stack)
{
	size_t hash = hash_of(stack);
	struct check_stack *copy = NULL;

	for (size_t i = 0; i < MAX_PROBES; i++) {
		const struct check_stack *_Atomic *place = &stacks[(hash + i) % NUM_STACKS];
		const struct check_stack *found = *place;

		if (!found) {
			copy = copy ? copy : malloc(sizeof(*copy));
			if (!copy)
				return NULL;
			*copy = *stack;
			if (atomic_compare_exchange_strong(place, &found, copy))
				return copy;
		}
		if (is_equal(found, stack)) {
			free(copy);
			return found;
		}
	}
	free(copy);
	return NULL;
}

/* ---- walks ---- */

struct walk {
	struct memo *memo;
	struct check_stack stack;
	uint32_t num_own;
	bool is_exact; /* each return address is where it was looked for */
};

/* The address that a call pushed is below what the caller's stack pointer is after the return. */
static READS_STACK _Unwind_Reason_Code see_frame(struct _Unwind_Context *context, void *arg)
{
	struct walk *walk = arg;
	const void *addr = (const void *)_Unwind_GetIP(context);
	const void *const *slot = (const void *const *)_Unwind_GetCFA(context) - 1;

	if (walk->stack.num_frames == 0 && addr != walk->memo->caller)
		return ++walk->num_own < MAX_OWN_FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
	if (!addr)
		return _URC_END_OF_STACK;
	if ((uintptr_t)slot % sizeof(*slot) != 0 || *slot != addr)
		walk->is_exact = false;
	walk->memo->slots[walk->stack.num_frames] = slot;
	walk->stack.frames[walk->stack.num_frames++] = addr;
	return walk->stack.num_frames < CHECK_STACK_FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* NULL = the unwinder did not find the caller. */
static const struct check_stack *walk_stack(const struct shim_call *call, struct memo *memo)
{
	struct walk walk = { .memo = memo, .is_exact = true };

	*memo = (struct memo){ .caller = call->caller, .call = call };
	_Unwind_Backtrace(see_frame, &walk);
	memo->stack = walk.stack.num_frames ? keep(&walk.stack) : NULL;
	if (!walk.is_exact)
		memo->call = NULL; /* for this time only */
	return memo->stack;
}

/* ---- memos ---- */

/* From the inside outwards: callers that are the same have their callers where they were. */
static READS_STACK bool is_still(const struct memo *memo)
{
	for (uint32_t i = 0; i < memo->stack->num_frames; i++)
		if (*memo->slots[i] != memo->stack->frames[i])
			return false;
	return true;
}

static struct memo *place_of(struct check_stack_memos *memos, const struct shim_call *call)
{
	return &memos->memos[((uintptr_t)call->caller ^ (uintptr_t)call >> 4) % NUM_MEMOS];
}

/* NULL without memory. */
static struct check_stack_memos *memos_of(struct check_thread *thread)
{
	if (!thread->memos) {
		thread->memos = calloc(1, sizeof(*thread->memos));
		if (thread->memos)
			thread->memos->credit = MAX_CREDIT;
	}
	return thread->memos;
}

const struct check_stack *check_stack_recall(const struct shim_call *call, bool at_any_cost)
{
	struct check_stack_memos *memos = memos_of(check_thread_self());
	struct memo *memo;

	if (!memos)
		return NULL;
	memo = place_of(memos, call);
	if (memo->call == call && memo->caller == call->caller && memo->stack && is_still(memo)) {
		memos->credit += memos->credit < MAX_CREDIT;
		return memo->stack;
	}
	if (memos->credit < WALK_COST && !at_any_cost)
		return NULL;
	memos->credit -= memos->credit >= WALK_COST ? WALK_COST : 0;
	return walk_stack(call, memo);
}
