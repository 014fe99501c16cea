/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_dpa_dev_verbs.h - queues of libdoca_verbs in device code (release 3.3). bfsim has no libdoca_verbs: device code that
 * uses it compiles and links, and each call that posts is a fatal error of the context that says so. Sizes and order of the
 * structures are not known from outside and are ours. */
#ifndef DOCA_DPA_DEV_VERBS_H_
#define DOCA_DPA_DEV_VERBS_H_

#include <doca_dpa_dev.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t doca_dpa_dev_verbs_qp_t;
typedef uint64_t doca_dpa_dev_verbs_eth_rq_t;
typedef uint64_t doca_dpa_dev_verbs_eth_sq_t;

enum doca_dpa_dev_verbs_send_wr_opcode {
	DOCA_DPA_DEV_VERBS_SEND_WR_OPCODE_SEND,
	DOCA_DPA_DEV_VERBS_SEND_WR_OPCODE_WRITE,
};

enum doca_dpa_dev_verbs_send_wr_flags {
	DOCA_DPA_DEV_VERBS_SEND_WR_FLAGS_SIGNALED = 1,
};

enum doca_dpa_dev_verbs_send_wr_fm {
	DOCA_DPA_DEV_VERBS_SEND_WR_FM_NO_FENCE,
};

struct doca_dpa_dev_verbs_sge {
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

struct doca_dpa_dev_verbs_send_wr {
	struct doca_dpa_dev_verbs_sge *sg_list;
	uint32_t num_sge;
	enum doca_dpa_dev_verbs_send_wr_opcode opcode;
	enum doca_dpa_dev_verbs_send_wr_flags flags;
	enum doca_dpa_dev_verbs_send_wr_fm fence_mode;
	uint64_t remote_addr;
	uint32_t rkey;
};

struct doca_dpa_dev_verbs_recv_wr {
	struct doca_dpa_dev_verbs_sge *sg_list;
	uint32_t num_sge;
};

/* --- Work requests --- */

DOCA_EXPERIMENTAL
void doca_dpa_dev_verbs_send_wr_set_opcode(struct doca_dpa_dev_verbs_send_wr *wr,
					   enum doca_dpa_dev_verbs_send_wr_opcode opcode);
DOCA_EXPERIMENTAL
void doca_dpa_dev_verbs_send_wr_set_send_flags(struct doca_dpa_dev_verbs_send_wr *wr,
					       enum doca_dpa_dev_verbs_send_wr_flags flags);
DOCA_EXPERIMENTAL
void doca_dpa_dev_verbs_send_wr_set_fence_mode(struct doca_dpa_dev_verbs_send_wr *wr,
					       enum doca_dpa_dev_verbs_send_wr_fm fence_mode);
DOCA_EXPERIMENTAL
void doca_dpa_dev_verbs_send_wr_set_sg_list(struct doca_dpa_dev_verbs_send_wr *wr,
					    struct doca_dpa_dev_verbs_sge *sg_list);
DOCA_EXPERIMENTAL
void doca_dpa_dev_verbs_send_wr_set_sg_num_sge(struct doca_dpa_dev_verbs_send_wr *wr, uint32_t num_sge);
DOCA_EXPERIMENTAL
void doca_dpa_dev_verbs_send_wr_set_rdma_remote_addr(struct doca_dpa_dev_verbs_send_wr *wr, uint64_t remote_addr);
DOCA_EXPERIMENTAL
void doca_dpa_dev_verbs_send_wr_set_rdma_rkey(struct doca_dpa_dev_verbs_send_wr *wr, uint32_t rkey);
DOCA_EXPERIMENTAL
void doca_dpa_dev_verbs_recv_wr_set_sg_list(struct doca_dpa_dev_verbs_recv_wr *wr,
					    struct doca_dpa_dev_verbs_sge *sg_list);
DOCA_EXPERIMENTAL
void doca_dpa_dev_verbs_recv_wr_set_sg_num_sge(struct doca_dpa_dev_verbs_recv_wr *wr, uint32_t num_sge);

/* --- Queues --- */

DOCA_EXPERIMENTAL
void doca_dpa_dev_verbs_qp_post_send_wr(doca_dpa_dev_verbs_qp_t qp, struct doca_dpa_dev_verbs_send_wr *wr);
DOCA_EXPERIMENTAL
void doca_dpa_dev_verbs_qp_commit_send(doca_dpa_dev_verbs_qp_t qp);
DOCA_EXPERIMENTAL
void doca_dpa_dev_verbs_qp_post_recv_wr(doca_dpa_dev_verbs_qp_t qp, struct doca_dpa_dev_verbs_recv_wr *wr);
DOCA_EXPERIMENTAL
void doca_dpa_dev_verbs_qp_commit_recv(doca_dpa_dev_verbs_qp_t qp);
DOCA_EXPERIMENTAL
void doca_dpa_dev_verbs_eth_rq_post_recv_wr(doca_dpa_dev_verbs_eth_rq_t rq, struct doca_dpa_dev_verbs_recv_wr *wr);
DOCA_EXPERIMENTAL
void doca_dpa_dev_verbs_eth_rq_commit_recv(doca_dpa_dev_verbs_eth_rq_t rq);
DOCA_EXPERIMENTAL
void doca_dpa_dev_verbs_eth_sq_post_send_wr(doca_dpa_dev_verbs_eth_sq_t sq, struct doca_dpa_dev_verbs_send_wr *wr);
DOCA_EXPERIMENTAL
void doca_dpa_dev_verbs_eth_sq_commit_send(doca_dpa_dev_verbs_eth_sq_t sq);

#ifdef __cplusplus
}
#endif

#endif
