/* SPDX-License-Identifier: BSD-3-Clause */
/* libdoca_dpa_dev_verbs: work requests are filled, and no queue takes them. */
#include <doca_dpa_dev_verbs.h>

#include "shim/dpa_dev/runtime/runtime.h"

#define NO_VERBS "bfsim has no libdoca_verbs"

void doca_dpa_dev_verbs_eth_rq_commit_recv(doca_dpa_dev_verbs_eth_rq_t rq)
{
	(void)rq;
	bfsim_dpa_fatal("doca_dpa_dev_verbs_eth_rq_commit_recv: " NO_VERBS);
}

void doca_dpa_dev_verbs_eth_rq_post_recv_wr(doca_dpa_dev_verbs_eth_rq_t rq, struct doca_dpa_dev_verbs_recv_wr *wr)
{
	(void)rq;
	(void)wr;
	bfsim_dpa_fatal("doca_dpa_dev_verbs_eth_rq_post_recv_wr: " NO_VERBS);
}

void doca_dpa_dev_verbs_eth_sq_commit_send(doca_dpa_dev_verbs_eth_sq_t sq)
{
	(void)sq;
	bfsim_dpa_fatal("doca_dpa_dev_verbs_eth_sq_commit_send: " NO_VERBS);
}

void doca_dpa_dev_verbs_eth_sq_post_send_wr(doca_dpa_dev_verbs_eth_sq_t sq, struct doca_dpa_dev_verbs_send_wr *wr)
{
	(void)sq;
	(void)wr;
	bfsim_dpa_fatal("doca_dpa_dev_verbs_eth_sq_post_send_wr: " NO_VERBS);
}

void doca_dpa_dev_verbs_qp_commit_recv(doca_dpa_dev_verbs_qp_t qp)
{
	(void)qp;
	bfsim_dpa_fatal("doca_dpa_dev_verbs_qp_commit_recv: " NO_VERBS);
}

void doca_dpa_dev_verbs_qp_commit_send(doca_dpa_dev_verbs_qp_t qp)
{
	(void)qp;
	bfsim_dpa_fatal("doca_dpa_dev_verbs_qp_commit_send: " NO_VERBS);
}

void doca_dpa_dev_verbs_qp_post_recv_wr(doca_dpa_dev_verbs_qp_t qp, struct doca_dpa_dev_verbs_recv_wr *wr)
{
	(void)qp;
	(void)wr;
	bfsim_dpa_fatal("doca_dpa_dev_verbs_qp_post_recv_wr: " NO_VERBS);
}

void doca_dpa_dev_verbs_qp_post_send_wr(doca_dpa_dev_verbs_qp_t qp, struct doca_dpa_dev_verbs_send_wr *wr)
{
	(void)qp;
	(void)wr;
	bfsim_dpa_fatal("doca_dpa_dev_verbs_qp_post_send_wr: " NO_VERBS);
}

void doca_dpa_dev_verbs_recv_wr_set_sg_list(struct doca_dpa_dev_verbs_recv_wr *wr,
					    struct doca_dpa_dev_verbs_sge *sg_list)
{
	bfsim_dpa_check(wr, sizeof(*wr), true);
	wr->sg_list = sg_list;
}

void doca_dpa_dev_verbs_recv_wr_set_sg_num_sge(struct doca_dpa_dev_verbs_recv_wr *wr, uint32_t num_sge)
{
	bfsim_dpa_check(wr, sizeof(*wr), true);
	wr->num_sge = num_sge;
}

void doca_dpa_dev_verbs_send_wr_set_fence_mode(struct doca_dpa_dev_verbs_send_wr *wr,
					       enum doca_dpa_dev_verbs_send_wr_fm fence_mode)
{
	bfsim_dpa_check(wr, sizeof(*wr), true);
	wr->fence_mode = fence_mode;
}

void doca_dpa_dev_verbs_send_wr_set_opcode(struct doca_dpa_dev_verbs_send_wr *wr,
					   enum doca_dpa_dev_verbs_send_wr_opcode opcode)
{
	bfsim_dpa_check(wr, sizeof(*wr), true);
	wr->opcode = opcode;
}

void doca_dpa_dev_verbs_send_wr_set_rdma_remote_addr(struct doca_dpa_dev_verbs_send_wr *wr, uint64_t remote_addr)
{
	bfsim_dpa_check(wr, sizeof(*wr), true);
	wr->remote_addr = remote_addr;
}

void doca_dpa_dev_verbs_send_wr_set_rdma_rkey(struct doca_dpa_dev_verbs_send_wr *wr, uint32_t rkey)
{
	bfsim_dpa_check(wr, sizeof(*wr), true);
	wr->rkey = rkey;
}

void doca_dpa_dev_verbs_send_wr_set_send_flags(struct doca_dpa_dev_verbs_send_wr *wr,
					       enum doca_dpa_dev_verbs_send_wr_flags flags)
{
	bfsim_dpa_check(wr, sizeof(*wr), true);
	wr->flags = flags;
}

void doca_dpa_dev_verbs_send_wr_set_sg_list(struct doca_dpa_dev_verbs_send_wr *wr,
					    struct doca_dpa_dev_verbs_sge *sg_list)
{
	bfsim_dpa_check(wr, sizeof(*wr), true);
	wr->sg_list = sg_list;
}

void doca_dpa_dev_verbs_send_wr_set_sg_num_sge(struct doca_dpa_dev_verbs_send_wr *wr, uint32_t num_sge)
{
	bfsim_dpa_check(wr, sizeof(*wr), true);
	wr->num_sge = num_sge;
}
