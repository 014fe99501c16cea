/* SPDX-License-Identifier: BSD-3-Clause */
/* The coverage as a page: a chapter for each library, with its sum and a row for each function. A narrow window shows a row
 * as a block of lines. */
#include "coverage_page.h"

#include <stdio.h>
#include <string.h>

#include "sim/cli/abi/coverage.h"
#include "sim/cli/report/html.h"

#define MAX_SHOWN_TESTS 3 /* more are folded */

static const char page_head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>bfsim: coverage by function</title>\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>\n"
	":root{color-scheme:light dark;--back:#fff;--fore:#1b1f24;--soft:#57606a;--line:#d0d7de;--panel:#f6f8fa;--link:#0969da;"
	"--good:#1a7f37;--partly:#9a6700;--bad:#b3261e}\n"
	"@media (prefers-color-scheme:dark){:root{--back:#0d1117;--fore:#e6edf3;--soft:#9da7b3;--line:#30363d;--panel:#161b22;"
	"--link:#58a6ff;--good:#3fb950;--partly:#d4a72c;--bad:#ff8a80}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0;background:var(--back);color:var(--fore);font:16px/1.5 system-ui,sans-serif}\n"
	"main{max-width:80rem;margin:0 auto;padding:1rem}\n"
	"h1{font-size:1.6rem;line-height:1.2;margin:.5rem 0 1rem}\n"
	"h2{font-size:1.25rem;margin:2rem 0 .25rem}\n"
	"p{margin:.25rem 0 .5rem}a{color:var(--link)}.soft{color:var(--soft)}\n"
	"nav{display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin:.75rem 0}\n"
	"input{font:inherit;color:inherit;background:var(--panel);border:1px solid var(--line);border-radius:6px;width:100%;"
	"padding:.4rem .6rem;margin:.5rem 0}\n"
	"table{border-collapse:collapse;table-layout:fixed;width:100%;font-size:.875rem}\n"
	"th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid var(--line);overflow-wrap:anywhere}\n"
	"th{background:var(--panel)}\n"
	"th:nth-child(1){width:37%}th:nth-child(2){width:9rem}th:nth-child(3){width:15%}th:nth-child(4){width:19%}\n"
	"code{font:.9375em/1.4 ui-monospace,monospace}\n"
	"summary{cursor:pointer}\n"
	".works{color:var(--good)}.untested,.partly{color:var(--partly)}.NOT_SUPPORTED,.missing{color:var(--bad)}\n"
	"[hidden]{display:none!important}\n"
	"@media (max-width:56rem){thead{display:none}table,tbody{display:block}\n"
	"tr{display:grid;grid-template-columns:9rem 1fr;gap:0 .6rem;padding:.4rem 0;border-bottom:1px solid var(--line)}\n"
	"td{border:0;padding:0;min-width:0}td:nth-child(1),td:nth-child(4),td:nth-child(5){grid-column:1/-1}td:empty{display:none}}\n"
	"@media print{:root{color-scheme:light;--back:#fff;--fore:#000;--soft:#444;--line:#999;--panel:#fff}nav,input{display:none}}\n"
	"</style>\n</head>\n<body>\n<main>\n<h1>Coverage by function</h1>\n";

static const char page_explanation[] =
	"<p class=\"soft\"><b class=\"works\">works</b>: a test names it. <b class=\"untested\">untested</b>: works, but no test names it."
	" <b class=\"partly\">partly</b>: works, with the difference that is named, or with the parameters of another release."
	" <b class=\"NOT_SUPPORTED\">NOT_SUPPORTED</b>: checks its arguments and refuses; in device code of the DPA, ends the kernel."
	" <b class=\"missing\">missing</b>: programs that need it do not link.</p>\n"
	"<input id=\"q\" type=\"search\" placeholder=\"words, such as: dma missing\" aria-label=\"search\">\n";

static const char page_foot[] =
	"<p id=\"none\" hidden>No function has all of these words.</p>\n</main>\n<script>\n"
	"const q=document.getElementById('q'),chapters=[...document.querySelectorAll('section')].map(s=>"
	"[s,[...s.querySelectorAll('tbody tr')].map(r=>[r,(s.id+' '+r.textContent).toLowerCase()])]);\n"
	"q.addEventListener('input',()=>{const words=q.value.toLowerCase().split(/\\s+/);let all=0;\n"
	"for(const [s,rows] of chapters){let shown=0;for(const [r,t] of rows){r.hidden=!words.every(w=>t.includes(w));shown+=!r.hidden}\n"
	"s.hidden=!shown;all+=shown}document.getElementById('none').hidden=all>0});\n"
	"</script>\n</body>\n</html>\n";

static void put_tests(const struct cli_coverage_note *note)
{
	if (note->num_tests > MAX_SHOWN_TESTS)
		printf("<details><summary>%u tests</summary>", note->num_tests);
	cli_html_put_escaped(stdout, note->tests);
	if (note->num_tests > MAX_SHOWN_TESTS)
		fputs("</details>", stdout);
}

/* A long name breaks behind an underscore. */
static void put_name(const char *name)
{
	for (; *name; name++) {
		putchar(*name);
		if (*name == '_')
			fputs("<wbr>", stdout);
	}
}

static void put_row(const struct cli_symbol *symbol)
{
	const struct cli_coverage_note *note = cli_coverage_note(symbol);
	const char *state = cli_coverage_state_name(cli_coverage_state(symbol));
	char releases[CLI_COVERAGE_RELEASES_SIZE];

	cli_coverage_releases(symbol, releases);
	fputs("<tr><td><code>", stdout);
	put_name(symbol->name);
	printf("</code></td><td class=\"%s\">%s</td><td>%s</td><td>", state, state, releases);
	put_tests(note);
	fputs("</td><td>", stdout);
	cli_html_put_escaped(stdout, note->difference ? note->difference : "");
	fputs("</td></tr>\n", stdout);
}

/* "24 functions: 17 works, 1 partly, 6 missing." */
static void put_sum(const char *library)
{
	size_t counts[CLI_NUM_COVERAGE_STATES], sum = cli_coverage_count(library, counts);
	const char *before = ": ";

	printf("<p class=\"sum\">%zu functions", sum);
	for (enum cli_coverage_state state = 0; state < CLI_NUM_COVERAGE_STATES; state++) {
		const char *name = cli_coverage_state_name(state);

		if (counts[state] == 0)
			continue;
		printf("%s%zu&nbsp;<span class=\"%s\">%s</span>", before, counts[state], name, name);
		before = ", ";
	}
	fputs("</p>\n", stdout);
}

static void put_chapter(const char *library)
{
	printf("<section id=\"%s\">\n<h2>%s</h2>\n", library, library);
	put_sum(library);
	fputs("<table>\n<thead><tr><th scope=\"col\">function</th><th scope=\"col\">state</th><th scope=\"col\">releases</th>"
	      "<th scope=\"col\">tests</th><th scope=\"col\">difference</th></tr></thead>\n<tbody>\n",
	      stdout);
	for (size_t i = 0; i < cli_num_symbols; i++)
		if (strcmp(cli_symbols[i].library, library) == 0)
			put_row(&cli_symbols[i]);
	fputs("</tbody>\n</table>\n</section>\n", stdout);
}

void cli_coverage_print_page(void)
{
	const char *libraries[CLI_COVERAGE_MAX_LIBRARIES];
	size_t count = cli_coverage_libraries(libraries);

	fputs(page_head, stdout);
	fputs("<p>bfsim " BFSIM_VERSION ", against DOCA 1.5 to 3.3.</p>\n", stdout);
	put_sum(NULL);
	fputs(page_explanation, stdout);
	fputs("<nav>", stdout);
	for (size_t i = 0; i < count; i++)
		printf("<a href=\"#%s\">%s</a>\n", libraries[i], libraries[i]);
	fputs("</nav>\n", stdout);
	for (size_t i = 0; i < count; i++)
		put_chapter(libraries[i]);
	fputs(page_foot, stdout);
}
