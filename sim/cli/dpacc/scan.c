/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds kernels in a preprocessed source. */
#include "scan.h"

#include <ctype.h>
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct token {
	const char *at;
	size_t len; /* 0 = the end of the text */
};

/* A place in the text, and in the program's files. */
struct cursor {
	const char *at;
	char *file;
	unsigned int line;
};

static char *copy(const char *at, size_t len)
{
	char *text = strndup(at, len);

	if (!text)
		errx(1, "no memory");
	return text;
}

__attribute__((format(printf, 3, 4))) static bool fail(const struct cursor *cursor, char **ret_error,
						       const char *format, ...)
{
	va_list args;
	char *reason;

	va_start(args, format);
	if (vasprintf(&reason, format, args) < 0 ||
	    asprintf(ret_error, "%s:%u: error: %s", cursor->file ? cursor->file : "?", cursor->line, reason) < 0)
		errx(1, "no memory");
	va_end(args);
	free(reason);
	return false;
}

/* ---- tokens ---- */

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* A line marker: # LINE "FILE" FLAGS. Other lines that begin with # are pragmas. */
static void read_marker(struct cursor *cursor)
{
	const char *at = cursor->at + 1, *end = strchrnul(at, '\n');
	char *after;
	unsigned long line = strtoul(at, &after, 10);

	if (after != at && after[0] == ' ' && after[1] == '"') {
		const char *quote = memchr(after + 2, '"', (size_t)(end - after - 2));

		if (quote) {
			free(cursor->file);
			cursor->file = copy(after + 2, (size_t)(quote - after - 2));
			cursor->line = (unsigned int)line - 1; /* the line's end counts */
		}
	}
	cursor->at = end;
}

static void skip_blanks(struct cursor *cursor, bool is_line_start)
{
	for (;; cursor->at++) {
		if (is_line_start && *cursor->at == '#')
			read_marker(cursor);
		if (*cursor->at == '\n') {
			cursor->line++;
			is_line_start = true;
		} else if (!isspace((unsigned char)*cursor->at) || !*cursor->at) {
			return;
		}
	}
}

static size_t literal_len(const char *at)
{
	size_t len = 1;

	while (at[len] && at[len] != at[0] && at[len] != '\n')
		len += at[len] == '\\' && at[len + 1] ? 2 : 1;
	return at[len] == at[0] ? len + 1 : len;
}

static struct token next(struct cursor *cursor, const char *begin)
{
	struct token token;

	skip_blanks(cursor, cursor->at == begin || cursor->at[-1] == '\n');
	token = (struct token){ cursor->at, 0 };
	if (!*cursor->at)
		return token;
	if (*cursor->at == '"' || *cursor->at == '\'')
		token.len = literal_len(cursor->at);
	else if (is_word_char(*cursor->at))
		while (is_word_char(cursor->at[token.len]))
			token.len++;
	else
		token.len = 1;
	cursor->at += token.len;
	return token;
}

static bool is(const struct token *token, const char *text)
{
	return token->len == strlen(text) && memcmp(token->at, text, token->len) == 0;
}

static bool is_name(const struct token *token)
{
	static const char *const others[] = {
		"void",    "char",         "short",    "int",      "long",          "float",
		"double",  "signed",       "unsigned", "_Bool",    "struct",        "union",
		"enum",    "const",        "volatile", "restrict", "__restrict",    "__restrict__",
		"__const", "__volatile__", "register", "_Atomic",  "__extension__", NULL,
	};

	if (!token->len || !is_word_char(*token->at) || isdigit((unsigned char)*token->at))
		return false;
	for (size_t i = 0; others[i]; i++)
		if (is(token, others[i]))
			return false;
	return true;
}

static bool is_attribute(const struct token *token)
{
	return is(token, "__attribute__") || is(token, "__attribute") || is(token, "__asm__") ||
	       is(token, "_Alignas") || is(token, "__typeof__") || is(token, "typeof") || is(token, "__declspec");
}

/* Skip a group, whose opening parenthesis or bracket was taken. Returns false at the end of the text. */
static bool skip_group(struct cursor *cursor, const char *begin)
{
	for (unsigned int depth = 1; depth > 0;) {
		struct token token = next(cursor, begin);

		if (!token.len)
			return false;
		if (strchr("([{", *token.at) && token.len == 1)
			depth++;
		else if (strchr(")]}", *token.at) && token.len == 1)
			depth--;
	}
	return true;
}

/* ---- parameters ---- */

/* The name that a parameter's text declares: the name in its first "(*NAME"; else the last one that is in no group. */
static bool find_name(const char *text, struct token *ret_name)
{
	struct cursor cursor = { .at = text };
	struct token token;
	unsigned int num_names = 0;

	while ((token = next(&cursor, text)).len) {
		if (is_attribute(&token)) {
			bool is_type = is(&token, "__typeof__") || is(&token, "typeof");

			token = next(&cursor, text);
			if (!is(&token, "(") || !skip_group(&cursor, text))
				return false;
			num_names += is_type;
		} else if (is(&token, "(")) {
			token = next(&cursor, text);
			if (!is(&token, "*"))
				return false;
			do
				token = next(&cursor, text);
			while (token.len && !is_name(&token));
			*ret_name = token;
			return token.len != 0;
		} else if (is(&token, "[")) {
			skip_group(&cursor, text);
		} else if (is_name(&token)) {
			*ret_name = token;
			num_names++;
		} else if (is_word_char(*token.at)) {
			num_names += !is(&token, "const") && !is(&token, "volatile"); /* a keyword that is a type */
			if (is(&token, "struct") || is(&token, "union") || is(&token, "enum"))
				next(&cursor, text);
		}
	}
	return num_names >= 2 && ret_name->len;
}

static bool add_param(const struct cursor *cursor, struct scan_kernel *kernel, const char *at, size_t len,
		      char **ret_error)
{
	char *text = copy(at, len);
	struct token name = { text, 0 };
	bool is_blank;

	is_blank = len == 0;
	if (is_blank || strcmp(text, "void ") == 0) {
		free(text);
		return true;
	}
	if (!find_name(text, &name)) {
		fail(cursor, ret_error, "dpacc finds no name in the parameter \"%s\" of %s", text, kernel->name);
		free(text);
		return false;
	}
	kernel->params = reallocarray(kernel->params, kernel->num_params + 1, sizeof(*kernel->params));
	if (!kernel->params)
		errx(1, "no memory");
	kernel->params[kernel->num_params++] = (struct scan_param){ text, copy(name.at, name.len) };
	return true;
}

/* Behind the opening parenthesis. Line markers may stand between parameters, as macros leave them: they are no part. */
static bool read_params(struct cursor *cursor, const char *begin, struct scan_kernel *kernel, char **ret_error)
{
	struct token token;
	unsigned int depth = 0;
	char *text = copy("", 0);
	size_t len = 0;

	for (;;) {
		bool is_end;

		token = next(cursor, begin);
		if (!token.len) {
			free(text);
			return fail(cursor, ret_error, "the parameters of %s do not end", kernel->name);
		}
		is_end = depth == 0 && (is(&token, ")") || is(&token, ","));
		if (is_end && !add_param(cursor, kernel, text, len, ret_error)) {
			free(text);
			return false;
		}
		if (is_end && is(&token, ")"))
			break;
		if (is_end) {
			len = 0;
			text[0] = 0;
			continue;
		}
		if (token.len == 1 && strchr("([{", *token.at))
			depth++;
		else if (token.len == 1 && strchr(")]}", *token.at))
			depth--;
		text = realloc(text, len + token.len + 2);
		if (!text)
			errx(1, "no memory");
		memcpy(text + len, token.at, token.len);
		len += token.len;
		if (is_word_char(*token.at))
			text[len++] = ' ';
		text[len] = 0;
	}
	free(text);
	return true;
}

/* ---- kernels ---- */

static void clear_kernel(struct scan_kernel *kernel)
{
	for (size_t i = 0; i < kernel->num_params; i++) {
		free(kernel->params[i].text);
		free(kernel->params[i].name);
	}
	free(kernel->params);
	free(kernel->name);
	free(kernel->file);
}

/* Behind the parameters: a body, or the end of a declaration. */
static bool read_end(struct cursor *cursor, const char *begin, const struct scan_kernel *kernel, bool *ret_has_body,
		     char **ret_error)
{
	struct token token = next(cursor, begin);

	while (is_attribute(&token)) {
		token = next(cursor, begin);
		if (!is(&token, "(") || !skip_group(cursor, begin))
			return fail(cursor, ret_error, "dpacc can't read what follows the parameters of %s",
				    kernel->name);
		token = next(cursor, begin);
	}
	*ret_has_body = is(&token, "{");
	if (*ret_has_body || is(&token, ";") || is(&token, ","))
		return true;
	return fail(
		cursor, ret_error,
		"dpacc can't read the definition of %s: the types of parameters stand inside the parentheses, and a body follows them",
		kernel->name);
}

/* Behind a mark: a kernel is added, a type or a declaration is passed. */
static bool read_marked(struct cursor *cursor, const char *begin, bool is_rpc, struct scan_kernels *kernels,
			char **ret_error)
{
	struct scan_kernel kernel = { .is_rpc = is_rpc, .line = cursor->line };
	struct token token, name = { begin, 0 };
	bool has_body = false;

	kernel.file = copy(cursor->file ? cursor->file : "?", strlen(cursor->file ? cursor->file : "?"));
	for (;;) {
		token = next(cursor, begin);
		if (is_attribute(&token)) {
			token = next(cursor, begin);
			if (!is(&token, "(") || !skip_group(cursor, begin))
				break;
			continue;
		}
		if (!token.len || is(&token, "(") || is(&token, ";") || is(&token, "=") || is(&token, "{"))
			break;
		name = token;
	}
	if (!is(&token, "(")) {
		clear_kernel(&kernel);
		return true;
	}
	if (!is_name(&name)) {
		clear_kernel(&kernel);
		return fail(cursor, ret_error, "dpacc finds no name of a kernel behind %s",
			    is_rpc ? "__dpa_rpc__" : "__dpa_global__");
	}
	kernel.name = copy(name.at, name.len);
	if (!read_params(cursor, begin, &kernel, ret_error) ||
	    !read_end(cursor, begin, &kernel, &has_body, ret_error)) {
		clear_kernel(&kernel);
		return false;
	}
	if (!has_body) {
		clear_kernel(&kernel);
		return true;
	}
	kernels->list = reallocarray(kernels->list, kernels->count + 1, sizeof(*kernels->list));
	if (!kernels->list)
		errx(1, "no memory");
	kernels->list[kernels->count++] = kernel;
	return true;
}

bool scan_kernels(const char *text, struct scan_kernels *kernels, char **ret_error)
{
	struct cursor cursor = { .at = text, .line = 1 };
	struct token token;
	bool is_read = true;

	while (is_read && (token = next(&cursor, text)).len)
		if (is(&token, "__dpa_global__") || is(&token, "__dpa_rpc__"))
			is_read = read_marked(&cursor, text, is(&token, "__dpa_rpc__"), kernels, ret_error);
	free(cursor.file);
	return is_read;
}
