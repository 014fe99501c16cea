/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of functions. */
#include "coverage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cli_coverage_state_name(enum cli_coverage_state state)
{
	static const char *const names[] = {
		[CLI_COVERAGE_WORKS] = "works",
		[CLI_COVERAGE_PARTLY] = "partly",
		[CLI_COVERAGE_NOT_SUPPORTED] = "NOT_SUPPORTED",
		[CLI_COVERAGE_MISSING] = "missing",
	};

	return names[state];
}

static int compare_names(const void *name, const void *note)
{
	return strcmp(name, ((const struct cli_coverage_note *)note)->name);
}

const struct cli_coverage_note *cli_coverage_note(const struct cli_symbol *symbol)
{
	static const struct cli_coverage_note none = { .tests = "" };
	const struct cli_coverage_note *note = bsearch(symbol->name, cli_coverage_notes, cli_num_coverage_notes,
						       sizeof(cli_coverage_notes[0]), compare_names);

	return note ? note : &none;
}

enum cli_coverage_state cli_coverage_state(const struct cli_symbol *symbol)
{
	bool has_task = cli_symbol_status(symbol->name, NULL, CLI_BFSIM_TASK) == CLI_PRESENT;
	bool has_workq = cli_symbol_status(symbol->name, NULL, CLI_BFSIM_WORKQ) == CLI_PRESENT;
	enum cli_provider provider = has_task ? CLI_BFSIM_TASK : CLI_BFSIM_WORKQ;

	if (!has_task && !has_workq)
		return CLI_COVERAGE_MISSING;
	if (cli_is_not_simulated(symbol->name, provider))
		return CLI_COVERAGE_NOT_SUPPORTED;
	return cli_has_changed(symbol->name, provider) || cli_coverage_note(symbol)->difference ? CLI_COVERAGE_PARTLY :
												  CLI_COVERAGE_WORKS;
}

void cli_coverage_releases(const struct cli_symbol *symbol, char text[CLI_COVERAGE_RELEASES_SIZE])
{
	size_t used = 0;

	text[0] = '\0';
	for (enum cli_provider i = CLI_FIRST_RELEASE; i <= CLI_LAST_RELEASE; i++)
		if (cli_symbol_status(symbol->name, NULL, i) == CLI_PRESENT && used < CLI_COVERAGE_RELEASES_SIZE)
			used += (size_t)snprintf(text + used, CLI_COVERAGE_RELEASES_SIZE - used, "%s%s",
						 used ? " " : "", cli_provider_name(i));
}

/* ---- HTML ---- */

static const char page_head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>bfsim: coverage by function</title>\n"
	"<meta name=\"viewport\" content=\"width=device-width\"><style>\n"
	":root{color-scheme:light dark}body{font:15px/1.4 sans-serif;margin:1em auto;max-width:70em;padding:0 1em}\n"
	"table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.2em .6em;"
	"border-bottom:1px solid #8884}\n"
	"td:first-child{font-family:monospace;overflow-wrap:anywhere}.works{color:#2a8f3c}.partly{color:#b07a00}"
	".NOT_SUPPORTED,.missing{color:#c0392b}\n"
	"input{font:inherit;width:100%;padding:.4em;box-sizing:border-box;margin:.5em 0}small{opacity:.75}\n"
	"</style></head><body><h1>Coverage by function</h1>\n";

static const char page_foot[] =
	"</tbody></table><script>\n"
	"const q=document.getElementById('q'),rows=[...document.querySelectorAll('tbody tr')];\n"
	"q.addEventListener('input',()=>{const words=q.value.toLowerCase().split(/\\s+/);\n"
	"for(const r of rows){const t=r.textContent.toLowerCase();r.hidden=!words.every(w=>t.includes(w))}});\n"
	"</script></body></html>\n";

/* Names and notes have no quotes that matter outside of attributes. */
static void put_escaped(const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", stdout);
		else if (*text == '&')
			fputs("&amp;", stdout);
		else
			putchar(*text);
	}
}

static void print_row(const struct cli_symbol *symbol)
{
	const struct cli_coverage_note *note = cli_coverage_note(symbol);
	const char *state = cli_coverage_state_name(cli_coverage_state(symbol));
	char releases[CLI_COVERAGE_RELEASES_SIZE];

	cli_coverage_releases(symbol, releases);
	printf("<tr><td>%s</td><td>%s</td><td class=\"%s\">%s</td><td>%s</td><td><small>", symbol->name,
	       symbol->library, state, state, releases);
	put_escaped(note->tests);
	fputs("</small></td><td>", stdout);
	put_escaped(note->difference ? note->difference : "");
	fputs("</td></tr>\n", stdout);
}

void cli_coverage_print_html(void)
{
	size_t counts[CLI_NUM_COVERAGE_STATES] = { 0 };

	for (size_t i = 0; i < cli_num_symbols; i++)
		counts[cli_coverage_state(&cli_symbols[i])]++;
	fputs(page_head, stdout);
	printf("<p>bfsim " BFSIM_VERSION
	       ": %zu functions of DOCA 1.5 to 3.3: %zu work, %zu partly (the difference is named), "
	       "%zu check their arguments and return NOT_SUPPORTED, %zu are missing.</p>\n",
	       cli_num_symbols, counts[CLI_COVERAGE_WORKS], counts[CLI_COVERAGE_PARTLY],
	       counts[CLI_COVERAGE_NOT_SUPPORTED], counts[CLI_COVERAGE_MISSING]);
	fputs("<input id=\"q\" type=\"search\" placeholder=\"words, such as: dma missing\" aria-label=\"search\">\n"
	      "<table><thead><tr><th>function</th><th>library</th><th>state</th><th>releases</th><th>tests</th>"
	      "<th>difference</th></tr></thead><tbody>\n",
	      stdout);
	for (size_t i = 0; i < cli_num_symbols; i++)
		print_row(&cli_symbols[i]);
	fputs(page_foot, stdout);
}
