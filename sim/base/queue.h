/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/queue.h - <sys/queue.h>, with loops whose body may remove and free the current element, which glibc's has not. */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include <stdbool.h>
#include <sys/queue.h>

#ifndef LIST_FOREACH_SAFE
#define LIST_FOREACH_SAFE(var, head, field, next) \
	for ((var) = LIST_FIRST(head); (var) && ((next) = LIST_NEXT(var, field), true); (var) = (next))
#endif
#ifndef TAILQ_FOREACH_SAFE
#define TAILQ_FOREACH_SAFE(var, head, field, next) \
	for ((var) = TAILQ_FIRST(head); (var) && ((next) = TAILQ_NEXT(var, field), true); (var) = (next))
#endif

#endif
