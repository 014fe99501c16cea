/* SPDX-License-Identifier: BSD-3-Clause */
/* Huffman's algorithm with two queues: the symbols in the order of their counts, and the inner nodes in the order in which they
 * are made, which is that of their counts, too. */
#include "huffman.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BITS  15
#define MAX_NODES (2 * HUFFMAN_MAX_SYMBOLS - 1)

/* Leaves first, then inner nodes. */
struct tree {
	uint32_t num_leaves, num_nodes;
	uint32_t count[MAX_NODES];
	uint16_t parent[MAX_NODES];
	uint16_t symbol[HUFFMAN_MAX_SYMBOLS]; /* of a leaf */
};

static int compare_u64(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static void make_leaves(struct tree *tree, const uint32_t *counts, uint32_t num)
{
	uint64_t sorted[HUFFMAN_MAX_SYMBOLS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < num; i++)
		if (counts[i] > 0)
			sorted[n++] = (uint64_t)counts[i] << 16 | i;
	qsort(sorted, n, sizeof(sorted[0]), compare_u64);
	for (uint32_t i = 0; i < n; i++) {
		tree->count[i] = (uint32_t)(sorted[i] >> 16);
		tree->symbol[i] = (uint16_t)sorted[i];
	}
	tree->num_leaves = n;
	tree->num_nodes = 2 * n - 1;
}

/* Take the rarer of the next leaf and the next inner node, of which @end are made. */
static uint32_t take_rarest(const struct tree *tree, uint32_t *leaf, uint32_t *inner, uint32_t end)
{
	if (*inner == end || (*leaf < tree->num_leaves && tree->count[*leaf] <= tree->count[*inner]))
		return (*leaf)++;
	return (*inner)++;
}

static void join_nodes(struct tree *tree)
{
	uint32_t leaf = 0, inner = tree->num_leaves;

	for (uint32_t node = tree->num_leaves; node < tree->num_nodes; node++) {
		uint32_t a = take_rarest(tree, &leaf, &inner, node), b = take_rarest(tree, &leaf, &inner, node);

		tree->count[node] = tree->count[a] + tree->count[b];
		tree->parent[a] = tree->parent[b] = (uint16_t)node;
	}
}

/* Set the length of each symbol. Returns the largest. */
static uint32_t measure(const struct tree *tree, uint8_t *len)
{
	uint32_t longest = 0;
	uint32_t depth[MAX_NODES];

	depth[tree->num_nodes - 1] = 0;
	for (uint32_t node = tree->num_nodes - 1; node-- > 0;) {
		depth[node] = depth[tree->parent[node]] + 1;
		if (node < tree->num_leaves) {
			len[tree->symbol[node]] = (uint8_t)depth[node];
			longest = depth[node] > longest ? depth[node] : longest;
		}
	}
	return longest;
}

void huffman_build(struct huffman *huffman, const uint32_t *counts, uint32_t num, uint32_t max_len)
{
	uint32_t flattened[HUFFMAN_MAX_SYMBOLS];
	struct tree tree;

	memcpy(flattened, counts, num * sizeof(counts[0]));
	for (;;) {
		memset(huffman->len, 0, num);
		make_leaves(&tree, flattened, num);
		join_nodes(&tree);
		if (measure(&tree, huffman->len) <= max_len)
			break;
		/* Rare symbols get shorter codes, the nearer all counts are to each other. */
		for (uint32_t i = 0; i < num; i++)
			flattened[i] = (flattened[i] + 1) / 2;
	}
	huffman_assign(huffman, num);
}

static uint16_t reversed(uint32_t code, uint32_t len)
{
	uint32_t result = 0;

	for (; len > 0; len--, code >>= 1)
		result = result << 1 | (code & 1);
	return (uint16_t)result;
}

void huffman_assign(struct huffman *huffman, uint32_t num)
{
	uint32_t of_len[MAX_BITS + 1] = { 0 }, next[MAX_BITS + 1] = { 0 };

	for (uint32_t i = 0; i < num; i++)
		of_len[huffman->len[i]]++;
	of_len[0] = 0;
	for (uint32_t len = 1; len <= MAX_BITS; len++)
		next[len] = (next[len - 1] + of_len[len - 1]) << 1;
	for (uint32_t i = 0; i < num; i++)
		if (huffman->len[i] > 0)
			huffman->code[i] = reversed(next[huffman->len[i]]++, huffman->len[i]);
}
