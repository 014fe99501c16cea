/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/race/race_order.h - what orders this process and its peers, for the thread sanitizer.
 *
 * One mark for all that the process sends (messages, updates of sync events, exports), one for all that tasks of other
 * processes have done when they ended. Whichever peer it was: a mark orders more than it must, so a race may be missed, and
 * none is reported in vain.
 */
#ifndef SHIM_CHECK_RACE_ORDER_H
#define SHIM_CHECK_RACE_ORDER_H

/* In the fiber of another process's task: its accesses come after what was sent, and before what is received. */
void race_order_begin_foreign(void);
void race_order_end_foreign(void);

#endif
