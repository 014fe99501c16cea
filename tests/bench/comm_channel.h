/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/comm_channel.h - Comm Channel between a host and a DPU process, by polling. */
#ifndef TESTS_BENCH_COMM_CHANNEL_H
#define TESTS_BENCH_COMM_CHANNEL_H

#include "comch.h"

/* Ping-pongs as bench_comch_ping_pong() makes them; of @cfg only the card and the name count. */
int bench_comm_channel_ping_pong(const struct bench_comch_cfg *cfg, struct bench_pair *ret_pair);

#endif
