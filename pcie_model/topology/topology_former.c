/* SPDX-License-Identifier: BSD-3-Clause */
/* Defaults of earlier versions: which text names one that no function has any more. */
#include <stdio.h>
#include <string.h>

#include "topology.h"

#define WORD_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:._-"
#define MAX_WORD        64

static bool is_current(const struct pcie_topology *topology, const char *word, const struct pcie_addr *addr)
{
	for (size_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];

		if (addr ? pcie_addr_equal(&function->addr, addr) :
			   strcmp(function->iface, word) == 0 || strcmp(function->rep_iface, word) == 0)
			return true;
	}
	return false;
}

/* Describe the function whose former address or name is @word. Returns false if there is none. */
static bool describe(const struct pcie_topology *topology, const char *word, const struct pcie_addr *addr,
		     char ret_note[PCIE_NOTE_SIZE])
{
	for (size_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];
		char text[PCIE_FUNCTION_TEXT_SIZE];
		const char *now = NULL;

		if (addr && pcie_addr_equal(&function->former.addr, addr))
			now = text;
		else if (!addr && strcmp(function->former.rep_iface, word) == 0)
			now = function->rep_iface;
		else if (!addr && strcmp(function->former.iface, word) == 0)
			now = function->iface;
		if (!now)
			continue;
		pcie_function_format(function, text);
		snprintf(ret_note, PCIE_NOTE_SIZE, "%.63s: earlier versions gave this default to %.127s", word, now);
		return true;
	}
	return false;
}

static bool is_former(const struct pcie_topology *topology, const char *word, char ret_note[PCIE_NOTE_SIZE])
{
	struct pcie_addr addr;
	const struct pcie_addr *parsed = pcie_addr_parse(word, &addr) == 0 ? &addr : NULL;

	return !is_current(topology, word, parsed) && describe(topology, word, parsed, ret_note);
}

bool pcie_topology_find_former(const struct pcie_topology *topology, const char *text, char ret_note[PCIE_NOTE_SIZE])
{
	char word[MAX_WORD];

	for (text += strcspn(text, WORD_CHARACTERS); *text; text += strcspn(text, WORD_CHARACTERS)) {
		size_t len = strspn(text, WORD_CHARACTERS);

		if (len < sizeof(word)) {
			memcpy(word, text, len);
			word[len] = '\0';
			if (is_former(topology, word, ret_note))
				return true;
		}
		text += len;
	}
	return false;
}
