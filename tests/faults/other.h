/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/faults/other.h - a second connection between the two processes, which no fault hits.
 *
 * Both sides open the connection before the fault, and use and close it afterwards
 * as without a fault. The side's trace is empty before and after.
 */
#ifndef TESTS_FAULTS_OTHER_H
#define TESTS_FAULTS_OTHER_H

#include "cell.h"

struct comch_actor *other_serve(struct side *side);
struct comch_actor *other_call(struct side *side);
void other_use_dpu(struct side *side, struct comch_actor *other);
void other_use_host(struct side *side, struct comch_actor *other);

#endif
