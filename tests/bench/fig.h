/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/fig.h - the figures. Each runs in a process of its own, sends its
 * rows, and returns 0, or -1 when something did not work at all. */
#ifndef TESTS_BENCH_FIG_H
#define TESTS_BENCH_FIG_H

#include "report.h"

int bench_fig_local(const struct bench_report *report);   /* large local copies against memcpy */
int bench_fig_remote(const struct bench_report *report);  /* large host-to-DPU copies against each path's bare means */
int bench_fig_rate(const struct bench_report *report);    /* small local copies against a DPDK DMA device */
int bench_fig_latency(const struct bench_report *report); /* one small host-to-DPU copy at a time */
int bench_fig_idle(const struct bench_report *report);    /* cost of attached idle processes */
int bench_fig_attach(const struct bench_report *report);  /* attaching: how long, how many */
int bench_fig_control(const struct bench_report *report); /* control operations against their system calls */
int bench_fig_comch(const struct bench_report *report);   /* ping-pongs of two processes against bare means */
int bench_fig_comm_channel(const struct bench_report *report); /* its ping-pongs against Comch's */
int bench_fig_comch_fast(const struct bench_report *report);   /* the fast path, likewise */
int bench_fig_comch_many(const struct bench_report *report);   /* a thousand clients of one server */
int bench_fig_rdma(const struct bench_report *report);         /* RDMA against bare means, DMA tasks and Comch */
int bench_fig_rdma_many(const struct bench_report *report);    /* a thousand connections of one context */
int bench_fig_workq(const struct bench_report *report);        /* jobs of the work-queue generation against tasks */
int bench_fig_trace(const struct bench_report *report);        /* recording on against off */
int bench_fig_faults(const struct bench_report *report);       /* a thousand rules that hit nothing, against none */
int bench_fig_check(const struct bench_report *report);        /* checked tasks against others */
int bench_fig_time(const struct bench_report *report);         /* how late held ends are seen; jobs in virtual time */
int bench_fig_scale(const struct bench_report *report);        /* many processes, threads, tasks; in each clock mode */
int bench_fig_functions(const struct bench_report *report);    /* a card with thousands of them */
int bench_fig_engines(const struct bench_report *report);      /* tasks of other engines against their libraries */
int bench_fig_dpa(const struct bench_report *report);          /* kernels against threads, guarded against plain */
int bench_fig_bufs(const struct bench_report *report);         /* memory of a million buffers */

/* In a fresh process, which bench_fig_attach() starts: attach or don't, and send how long it took to @fd. */
int bench_attach_probe(int fd, bool attach);

#endif
