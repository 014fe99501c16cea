/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds jumps to themselves: between label and jump are directives, other labels and comments alone. */
#include "endless.h"

#include <stdbool.h>
#include <string.h>

#define BLANKS " \t"

static bool is_word(const char *line, size_t len, const char *word)
{
	return len == strlen(word) && strncmp(line, word, len) == 0;
}

/* Whether one of the lines in [@begin, @end) is the label, of @len bytes. */
static bool has_label(const char *begin, const char *end, const char *label, size_t len)
{
	for (const char *line = begin; line < end; line = strchr(line, '\n') + 1)
		if (strncmp(line, label, len) == 0 && line[len] == ':')
			return true;
	return false;
}

/* The call that stands for the jump @line, or NULL. [@begin, @line): lines that are no instructions. */
static const char *replace_jump(const char *begin, const char *line)
{
	const char *jump = line + strspn(line, BLANKS);
	size_t jump_len = strcspn(jump, BLANKS "\n");
	const char *target = jump + jump_len + strspn(jump + jump_len, BLANKS);
	size_t target_len = strcspn(target, BLANKS "\n");
	const char *call = is_word(jump, jump_len, "jmp") ? "\tcall\tbfsim_dpa_endless\n" :
			   is_word(jump, jump_len, "b")   ? "\tbl\tbfsim_dpa_endless\n" :
							    NULL;

	return call && target_len && has_label(begin, line, target, target_len) ? call : NULL;
}

/* "#APP" is the begin of assembly that the program wrote. */
static bool is_instruction(const char *line)
{
	const char *word = line + strspn(line, BLANKS);
	size_t len = strcspn(word, BLANKS "\n");

	if (is_word(word, len, "#APP"))
		return true;
	return len && *word != '.' && *word != '#' && strncmp(word, "//", 2) != 0 && word[len - 1] != ':' &&
	       !is_word(word, len, "nop");
}

void endless_add_hooks(const struct text *assembly, struct text *ret_hooked)
{
	const char *line = assembly->bytes, *begin = line, *end;

	for (; (end = strchr(line, '\n')); line = end + 1) {
		const char *call = replace_jump(begin, line);

		if (call)
			text_addf(ret_hooked, "%s", call);
		else
			text_add(ret_hooked, line, (size_t)(end + 1 - line));
		if (is_instruction(line))
			begin = end + 1;
	}
}
