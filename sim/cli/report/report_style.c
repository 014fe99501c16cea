/* SPDX-License-Identifier: BSD-3-Clause */
/* The style sheet of a report: light and dark, wide and narrow windows, paper. The colours differ for colour-blind readers,
 * too, and no information depends on colour alone. */
#include "report_page.h"

#define HEADING(of, n) of "td:nth-child(" #n ")::before{content:var(--c" #n ")}"
/* A table whose columns have no room: each row is a box, with the heading of its column above each cell. @of: which tables. */
#define STACKED_ROWS(of)                                                                                          \
	of "thead{display:none}" of                                                                               \
	   "tr{display:grid;grid-template-columns:repeat(auto-fill,minmax(5rem,1fr));padding:.2rem 0;"            \
	   "border-bottom:1px solid var(--line)}" of "tr:last-child{border:0}" of                                 \
	   "td{border:0;min-width:0;width:auto;padding:.2rem .6rem;grid-column:span 2;overflow-wrap:anywhere}" of \
	   "td.wide{grid-column:1/-1}" of "td.n{grid-column:span 1;text-align:left}" of                           \
	   "td::before{display:block;font-size:.75rem;color:var(--soft);font-weight:400}" HEADING(of, 1)          \
		   HEADING(of, 2) HEADING(of, 3) HEADING(of, 4) HEADING(of, 5) HEADING(of, 6) HEADING(of, 7)      \
			   HEADING(of, 8) HEADING(of, 9) HEADING(of, 10) HEADING(of, 11)

const char cli_report_style[] =
	":root{color-scheme:light dark;--back:#fff;--fore:#1b1f24;--soft:#57606a;--line:#d0d7de;--panel:#f6f8fa;"
	"--latency:#0969da;--bytes:#1a7f64;--depth:#9a6700;--link:#8250df;--bad:#b3261e}\n"
	"@media (prefers-color-scheme:dark){:root{--back:#0d1117;--fore:#e6edf3;--soft:#9da7b3;--line:#30363d;--panel:#161b22;"
	"--latency:#58a6ff;--bytes:#3fb992;--depth:#d4a72c;--link:#bc8cff;--bad:#ff8a80}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0;background:var(--back);color:var(--fore);font:16px/1.5 system-ui,sans-serif}\n"
	"main{max-width:75rem;margin:0 auto;padding:1rem}\n"
	"h1{font-size:1.6rem;line-height:1.2;margin:.5rem 0 1rem}\n"
	"h2{font-size:1.25rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line)}\n"
	"h3{font-size:1rem;margin:1.5rem 0 .5rem;overflow-wrap:anywhere}\n"
	"nav{display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin:1rem 0}a{color:var(--latency)}\n"
	"p{margin:.5rem 0}\n"
	".soft{color:var(--soft)}\n"
	".bad{color:var(--bad);font-weight:600}\n"
	"dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.5rem;margin:0}\n"
	"dl div{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.5rem .75rem}\n"
	"dt{color:var(--soft);font-size:.875rem}\n"
	"dd{margin:0;font-size:1.25rem;font-variant-numeric:tabular-nums}\n"
	".frame{overflow-x:auto;border:1px solid var(--line);border-radius:6px;margin:.5rem 0}\n"
	"table{border-collapse:collapse;width:100%;font-size:.875rem}\n"
	"th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}\n"
	"tbody tr:last-child td{border-bottom:0}\n"
	"th{background:var(--panel);white-space:nowrap}\n"
	"td{min-width:5rem;overflow-wrap:anywhere}\n"
	".n{width:1%;text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\n"
	"code{font:.875em/1.4 ui-monospace,monospace;overflow-wrap:anywhere}\n"
	".wide{min-width:16rem;overflow-wrap:anywhere}\n"
	".figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(19rem,100%),1fr));gap:1rem}\n"
	"figure{margin:0;padding:.75rem;border:1px solid var(--line);border-radius:6px;background:var(--panel);min-width:0}\n"
	"figcaption{font-size:.875rem;min-height:3em}\n"
	".y{font-size:.75rem;color:var(--soft);border-bottom:1px dashed var(--line);display:flex;justify-content:space-between;gap:.5rem}\n"
	".key{color:var(--bad)}\n"
	".plot{position:relative}\n"
	"svg{display:block;width:100%;height:8rem;border-bottom:1px solid var(--soft)}\n"
	".before{opacity:.35}rect:hover{opacity:.6}\n"
	".latency rect{fill:var(--latency)}.bytes rect{fill:var(--bytes)}.depth rect{fill:var(--depth)}"
	".link rect{fill:var(--link)}\n"
	".mark{position:absolute;top:0;bottom:0;width:0;border-left:1px dashed var(--fore);font-style:normal}\n"
	".mark span{position:absolute;left:.2rem;padding:0 .2rem;white-space:nowrap;font-size:.75rem;font-weight:400;line-height:1.2;background:var(--panel)}\n"
	".left span{left:auto;right:.2rem}.row0{top:0}.row1{top:1.1rem}.row2{top:2.2rem}.row3{top:3.3rem}\n"
	".fault{border-color:var(--bad)}.fault::before{content:\"\\25be\";position:absolute;left:-.3rem;top:-.2rem;line-height:1;"
	"color:var(--bad);text-shadow:0 0 3px var(--panel),0 0 3px var(--panel)}\n"
	".x{position:relative;height:1.5rem;font-size:.75rem;color:var(--soft)}\n"
	".x span{position:absolute;top:.25rem;white-space:nowrap}\n"
	".x i{position:absolute;top:0;height:.3rem;border-left:1px solid var(--soft)}\n"
	".centred{transform:translateX(-50%)}.ends{transform:translateX(-100%)}\n"
	"@media (max-width:56rem){" STACKED_ROWS(".many ") "}\n@media (max-width:45rem){" STACKED_ROWS(
		"") "}\n"
		    /* Paper is white whatever the screen is, can't be scrolled, and has no links. */
		    "@media print{:root{color-scheme:light;--back:#fff;--fore:#000;--soft:#444;--line:#999;--panel:#fff;"
		    "--latency:#0969da;--bytes:#1a7f64;--depth:#9a6700;--link:#8250df;--bad:#b3261e}\n"
		    "main{max-width:none;padding:0}nav{display:none}.frame{overflow:visible;border:0}.wide{min-width:0}\n"
		    "thead{display:table-header-group}tr,figure,dl div{break-inside:avoid}h2,h3{break-after:avoid}}\n";
