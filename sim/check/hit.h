/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/check/hit.h - a broken rule that the checker found: a JSON object, as it stands in reports.
 *
 *   rule, severity      the rule's id ("BFC-TASK-001") and its severity in words
 *   message             what happened, with the names and states of this case
 *   remedy              what to do
 *   call                the public function, or absent
 *   time_ns             session time; 0 = the process was not attached
 *   process             { pid, tid, program, side }
 *   stack               where the program called: frames, the innermost first
 *   parties             other calls that took part: [ { what, thread, stack } ]
 *   objects             [ { kind, handle, name, stack }, ... ]: stack: where it was created; may be absent
 *   count               hits of the rule at this site, this one included
 *   muted               { reason, line } if the hit is muted; line: of the file of mutes, absent if the program muted it
 *
 * A frame is { function, file, dir, line, module, offset }; all but the offset may be absent: "0x..." in the module.
 * dir: the directory that the file was compiled in, for a relative path.
 *
 * A process appends each first hit of a rule at a site to the session's file of hits, one line each, and at its end a
 * line { "repeated": rule, "site": offset, "count": n } for each that was counted later. So a process that is killed
 * loses counts only.
 */
#ifndef SIM_CHECK_HIT_H
#define SIM_CHECK_HIT_H

#include <stdio.h>

struct json_object;

/* Print a hit as text, several lines. */
void sim_hit_print(struct json_object *hit, FILE *out);

#endif
