/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/state/function_status.h - what has become of a session's functions since it began.
 *
 *   daemon --writes--> [ a status word for each function ] <--look at it-- every process
 *
 *   word = its generation << 8 | SIM_FUNCTION_... bits
 *
 * A function begins in its generation 0. What ends all that is open on it (a reset, a
 * fatal error, that it is removed) begins another: who notes the generation in which it
 * opened something sees by one load whether that is over. All of it is in the
 * shared state's memory (shared_state.h) and no word is trusted: at worst something ends.
 */
#ifndef SIM_FUNCTION_STATUS_H
#define SIM_FUNCTION_STATUS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SIM_MAX_FUNCTIONS 4096 /* as many as a topology has */

enum sim_function_bit {
	SIM_FUNCTION_REMOVED = 1,     /* removed: not listed, can't be opened */
	SIM_FUNCTION_FATAL = 2,       /* can't be opened before it is reset */
	SIM_FUNCTION_REP_REMOVED = 4, /* its representor is not listed and can't be opened */
	SIM_FUNCTION_LINK_DOWN = 8,   /* its card's link is down, or was a moment ago (sim/clock/link_state.h) */
};

#define SIM_FUNCTION_BITS UINT64_C(0xff)

struct sim_function_table {
	_Atomic uint64_t status_words[SIM_MAX_FUNCTIONS];
};

static inline uint64_t sim_function_generation(uint64_t word)
{
	return word & ~SIM_FUNCTION_BITS;
}

/* Whether it can be opened, and used. */
static inline bool sim_function_is_usable(uint64_t word)
{
	return !(word & (SIM_FUNCTION_REMOVED | SIM_FUNCTION_FATAL));
}

/* Whether anybody can listen for it. */
static inline bool sim_function_has_rep(const struct sim_function_table *functions, uint32_t function)
{
	return function >= SIM_MAX_FUNCTIONS ||
	       !(atomic_load_explicit(&functions->status_words[function], memory_order_acquire) &
		 SIM_FUNCTION_REP_REMOVED);
}

/* For the one who writes: all that is open ends. */
static inline void sim_function_next_generation(_Atomic uint64_t *word)
{
	atomic_fetch_add_explicit(word, SIM_FUNCTION_BITS + 1, memory_order_release);
}

static inline void sim_function_set_bits(_Atomic uint64_t *word, uint64_t bits, bool set)
{
	if (set)
		atomic_fetch_or_explicit(word, bits, memory_order_release);
	else
		atomic_fetch_and_explicit(word, ~bits, memory_order_release);
}

#endif
