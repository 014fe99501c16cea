/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/state/function_status.h - the status words of a session's functions.
 *
 *   daemon --writes--> [ a status word for each function ] <--reads-- every process
 *
 *   word = its generation << 8 | SIM_FUNCTION_... bits
 *
 * A function begins in generation 0. An event that ends all open objects on it (reset, fatal error,
 * removal) begins the next generation. An object that stores the generation of its opening needs one
 * load to detect its end. The words are in shared memory (shared_state.h) and untrusted: a corrupt
 * word can end objects early, and has no other effect.
 */
#ifndef SIM_FUNCTION_STATUS_H
#define SIM_FUNCTION_STATUS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SIM_MAX_FUNCTIONS 4096 /* at most in a topology */

enum sim_function_bit {
	SIM_FUNCTION_REMOVED = 1,     /* not listed, can't be opened */
	SIM_FUNCTION_FATAL = 2,       /* can't be opened before a reset */
	SIM_FUNCTION_REP_REMOVED = 4, /* the representor is not listed and can't be opened */
	SIM_FUNCTION_LINK_DOWN = 8,   /* the card's link is or was recently down (sim/clock/link_state.h) */
};

#define SIM_FUNCTION_BITS UINT64_C(0xff)

struct sim_function_table {
	_Atomic uint64_t status_words[SIM_MAX_FUNCTIONS];
};

static inline uint64_t sim_function_generation(uint64_t word)
{
	return word & ~SIM_FUNCTION_BITS;
}

/* Whether a function with this word can be opened and used. */
static inline bool sim_function_is_usable(uint64_t word)
{
	return !(word & (SIM_FUNCTION_REMOVED | SIM_FUNCTION_FATAL));
}

/* Whether a server can listen on the function's representor. */
static inline bool sim_function_has_rep(const struct sim_function_table *functions, uint32_t function)
{
	return function >= SIM_MAX_FUNCTIONS ||
	       !(atomic_load_explicit(&functions->status_words[function], memory_order_acquire) &
		 SIM_FUNCTION_REP_REMOVED);
}

/* For the owner of the card: end all objects that are open on the function. */
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
