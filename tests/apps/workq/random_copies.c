/* SPDX-License-Identifier: BSD-3-Clause */
/* random_copies SEED COUNT FILE: copies at random inside a piece of memory, which goes to FILE in the end.
 *
 * One seed means one sequence of copies, whatever makes them. Well-made ones go out
 * several at a time; one with a flaw (too little room, read-only room, no data, a
 * piece beyond the memory, no buffer) goes alone, as it takes others along. What
 * became of each is a line of output.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "random_copies.h"

#define LEN       65536
#define WRITABLE  49152 /* the rest can only be read */
#define MAX_PIECE 3000

static uint64_t state;

/* An xorshift generator: the same numbers everywhere. */
static size_t random_below(size_t limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (size_t)(state % limit);
}

static struct piece random_piece(size_t within)
{
	struct piece piece = { .len = 1 + random_below(MAX_PIECE) };

	piece.at = random_below(within - piece.len + 1);
	return piece;
}

static size_t total(const struct piece *pieces, unsigned int count)
{
	size_t len = 0;

	for (unsigned int i = 0; i < count; i++)
		len += pieces[i].len;
	return len;
}

/* Enough room, all of it writable; the last piece takes what the others leave. */
static void add_room(struct copy *copy)
{
	size_t missing = total(copy->from, copy->num_from);

	copy->num_to = 1 + (unsigned int)random_below(COPIES_MAX_PIECES);
	for (unsigned int i = 0; i < copy->num_to; i++) {
		struct piece *to = &copy->to[i];

		*to = random_piece(WRITABLE);
		if (i + 1 == copy->num_to && to->len < missing) {
			to->len = missing;
			to->at = random_below(WRITABLE - missing + 1);
		}
		missing -= to->len < missing ? to->len : missing;
	}
}

static struct copy random_copy(void)
{
	struct copy copy = { .num_from = 1 + (unsigned int)random_below(COPIES_MAX_PIECES) };

	for (unsigned int i = 0; i < copy.num_from; i++)
		copy.from[i] = random_piece(LEN);
	add_room(&copy);
	return copy;
}

static void add_flaw(struct copy *copy)
{
	switch (random_below(6)) {
	case 0:
		copy->num_to = 1;
		copy->to[0].len = total(copy->from, copy->num_from) - 1;
		copy->to[0].at = 0;
		return;
	case 1:
		copy->to[0].at = WRITABLE + random_below(LEN - WRITABLE - MAX_PIECE);
		return;
	case 2:
		for (unsigned int i = 0; i < copy->num_from; i++)
			copy->from[i].len = 0;
		return;
	case 3:
		copy->from[copy->num_from - 1].at = LEN - copy->from[copy->num_from - 1].len + 1;
		return;
	case 4:
		copy->num_from = 0;
		return;
	case 5:
		copy->num_to = 0;
		return;
	}
}

/* Submit some, await the accepted ones, and print their results in order. */
static void run_batch(struct copies *copies, const struct copy *batch, unsigned int count, unsigned int first_id)
{
	struct end ends[COPIES_DEPTH] = { { 0 } };
	const char *taken[COPIES_DEPTH];
	unsigned int in_flight = 0;

	for (unsigned int i = 0; i < count; i++) {
		taken[i] = copies_submit(copies, &batch[i], i);
		in_flight += strcmp(taken[i], "DOCA_SUCCESS") == 0;
	}
	while (in_flight-- > 0) {
		struct end end = copies_await(copies);

		ends[end.id] = end;
	}
	for (unsigned int i = 0; i < count; i++)
		printf("%u: %s %s %zu\n", first_id + i, taken[i], ends[i].code ? ends[i].code : "-", ends[i].filled);
}

static void run(struct copies *copies, unsigned int count)
{
	struct copy batch[COPIES_DEPTH];

	for (unsigned int done = 0; done < count;) {
		bool is_flawed = random_below(3) == 0;
		unsigned int size = is_flawed ? 1 : 1 + (unsigned int)random_below(COPIES_DEPTH);

		for (unsigned int i = 0; i < size; i++)
			batch[i] = random_copy();
		if (is_flawed)
			add_flaw(&batch[0]);
		run_batch(copies, batch, size, done);
		done += size;
	}
}

int main(int argc, char **argv)
{
	struct bytes memory = bytes_of_zeros(LEN);
	struct copies *copies;

	if (argc != 4)
		return fprintf(stderr, "usage: random_copies SEED COUNT FILE\n"), EXIT_FAILURE;
	state = 0x9e3779b97f4a7c15u ^ strtoull(argv[1], NULL, 10);
	for (size_t i = 0; i < LEN; i++)
		memory.addr[i] = (char)random_below(256);
	copies = copies_start(memory.addr, LEN, WRITABLE);
	run(copies, (unsigned int)atoi(argv[2]));
	copies_stop(copies);
	bytes_to_file(memory, argv[3]);
	free(memory.addr);
	return EXIT_SUCCESS;
}
