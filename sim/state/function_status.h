/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/state/function_status.h - what has become of a session's functions since it began.
 *
 *   daemon --writes--> [ a word for each function ] <--look at it-- every process
 *
 *   word = its lives << 8 | SIM_FUNCTION_... bits
 *
 * A function begins in its life 0. What ends all that is open on it (a reset, a
 * fatal error, that it is removed) begins another: who notes the life in which it
 * opened something sees by one load whether that is over. All of it is in the
 * board's memory (board.h) and no word is trusted: at worst something ends.
 */
#ifndef SIM_SESSION_FUNCTIONS_H
#define SIM_SESSION_FUNCTIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SIM_MAX_FUNCTIONS 4096 /* as many as a topology has */

enum sim_function_bit {
	SIM_FUNCTION_GONE = 1,     /* removed: not listed, can't be opened */
	SIM_FUNCTION_FATAL = 2,    /* can't be opened before it is reset */
	SIM_FUNCTION_REP_GONE = 4, /* its representor is not listed and can't be opened */
	SIM_FUNCTION_DOWN = 8,     /* its card's link is down, or was a moment ago (sim/clock/link_state.h) */
};

#define SIM_FUNCTION_BITS UINT64_C(0xff)

struct sim_functions {
	_Atomic uint64_t words[SIM_MAX_FUNCTIONS];
};

static inline uint64_t sim_function_life(uint64_t word)
{
	return word & ~SIM_FUNCTION_BITS;
}

/* Whether it can be opened, and used. */
static inline bool sim_function_works(uint64_t word)
{
	return !(word & (SIM_FUNCTION_GONE | SIM_FUNCTION_FATAL));
}

/* Whether anybody can listen for it. */
static inline bool sim_function_is_represented(const struct sim_functions *functions, uint32_t function)
{
	return function >= SIM_MAX_FUNCTIONS ||
	       !(atomic_load_explicit(&functions->words[function], memory_order_acquire) & SIM_FUNCTION_REP_GONE);
}

/* For the one who writes: all that is open ends. */
static inline void sim_function_cut(_Atomic uint64_t *word)
{
	atomic_fetch_add_explicit(word, SIM_FUNCTION_BITS + 1, memory_order_release);
}

static inline void sim_function_set(_Atomic uint64_t *word, uint64_t bits, bool set)
{
	if (set)
		atomic_fetch_or_explicit(word, bits, memory_order_release);
	else
		atomic_fetch_and_explicit(word, ~bits, memory_order_release);
}

#endif
