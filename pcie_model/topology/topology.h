/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/topology/topology.h - the cards of a session and their PCIe functions.
 *
 *   topology -- card "card0" (profile bluefield-3)
 *                 |-- function, side "dpu",  03:00.0, holds representors of b1:00.0 ...
 *                 |-- function, side "host", b1:00.0 (PF), b1:00.2 (VF of it), SF ...
 *
 * A side is the name of a machine to its processes ("host", "dpu", "node0/host"); the part after the last
 * '/' is "host" or "dpu". A function is visible to processes of its own side. A DPU function also
 * holds representors of functions on the host sides of its card, and of SFs and VFs of the DPU itself.
 *
 * A topology is read-only after loading and may be shared between threads. Its description is in YAML;
 * doc/topology.md explains each field.
 */
#ifndef PCIE_TOPOLOGY_H
#define PCIE_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcie_model/pci_addr.h"
#include "pcie_model/profile.h"

#define PCIE_SIDE_SIZE          64 /* of a side's name with its terminating zero */
#define PCIE_IBDEV_SIZE         64
#define PCIE_IFACE_SIZE         256
#define PCIE_VUID_SIZE          128
#define PCIE_ERROR_SIZE         2048
#define PCIE_FUNCTION_TEXT_SIZE (PCIE_SIDE_SIZE + PCIE_ADDR_TEXT_SIZE + sizeof("/sf4294967295"))

#define PCIE_TRUNK_TEXT_SIZE    (2 * PCIE_SIDE_SIZE)
#define PCIE_MAX_TRUNKS_BETWEEN (2 * PCIE_NET_MAX_HOPS)

#define PCIE_FORMER_SIZE        40
#define PCIE_NOTE_SIZE          256
#define PCIE_MAX_FUNCTIONS      4096 /* of a topology: more than the VFs and SFs of any card, and quick to check */
#define PCIE_DEFAULT_PAGE_BYTES 4096

enum pcie_func_type {
	PCIE_FUNC_PF = 0,
	PCIE_FUNC_VF = 1,
	PCIE_FUNC_SF = 2,
};

enum pcie_link_layer {
	PCIE_LINK_ETHERNET = 0,
	PCIE_LINK_INFINIBAND = 1,
};

/* Defaults of earlier versions, for messages and for files that name them. */
struct pcie_former {
	struct pcie_addr addr;                                     /* the function's address, unless it changed */
	char iface[PCIE_FORMER_SIZE], rep_iface[PCIE_FORMER_SIZE]; /* "" = the file gives the name */
};

struct pcie_function {
	uint32_t id;   /* its index in pcie_topology.functions */
	uint32_t card; /* index in pcie_topology.cards */
	char side[PCIE_SIDE_SIZE];
	enum pcie_func_type type;
	uint32_t parent;                 /* id of the PF it belongs to; a PF's own id */
	struct pcie_addr addr;           /* an SF has its parent PF's address */
	char ibdev[PCIE_IBDEV_SIZE];     /* "mlx5_0" */
	char iface[PCIE_IFACE_SIZE];     /* network interface, "" = none */
	char rep_iface[PCIE_IFACE_SIZE]; /* interface of its representor on the DPU, "" = none */
	enum pcie_link_layer link_layer;
	uint8_t mac[6];
	bool has_ipv4;
	uint8_t ipv4[4];
	uint8_t ipv6[16]; /* link-local from the MAC unless given */
	uint16_t lid;     /* InfiniBand only */
	char vuid[PCIE_VUID_SIZE];
	uint16_t vhca_id;
	uint32_t mtu;             /* bytes */
	uint32_t host_index;      /* 0: the Arm cores, 1, 2, ...: the card's host sides */
	uint32_t pf_index;        /* of the PF it belongs to, among those of its card and side */
	uint32_t vf_index;        /* VFs only: its number of its PF */
	uint32_t sf_index;        /* SFs only: the number it was created with (sfnum) */
	uint32_t aux_index;       /* SFs only: the number of its auxiliary device, mlx5_core.sf.N */
	uint64_t active_rate_bps; /* bits per second */
	uint32_t port;            /* of the network: functions of one port share it; below num_ports */
	uint64_t rdma_rate_bps; /* of that port in model time: the active rate if the file gives it, else as measured */
	uint32_t rdma_mtu_bytes; /* of data in a packet of RDMA */
	bool hotplug;            /* plugged while the machine was running */
	struct pcie_caps caps;   /* the profile's for its side and type and the card's mode, with overrides */
	const uint32_t *reps;    /* ids of the functions whose representors it holds */
	size_t num_reps;
	struct pcie_former former;
};

/* How a card is configured; doc/hardware.md says what each changes. */
enum pcie_mode {
	PCIE_MODE_DPU = 0,        /* the Arm cores manage the card */
	PCIE_MODE_NIC = 1,        /* the Arm cores are inactive */
	PCIE_MODE_SEPARATED = 2,  /* host and Arm cores have functions of their own, and neither manages the other's */
	PCIE_MODE_ZERO_TRUST = 3, /* as DPU, and the host may not configure the card */
};

/* Times for which nothing was published: 0 unless the description gives them. */
struct pcie_timing {
	uint64_t producer_msg_ps; /* of a message from a producer to a consumer, one way */
	uint64_t sync_event_ps;   /* of a change of a sync event, up to the moment at which others see it */
	/* Of a DPA's kernels, from the call or the event to the begin of the kernel. */
	uint64_t dpa_rpc_ps, dpa_launch_ps, dpa_activation_ps;
};

struct pcie_card {
	char name[PCIE_SIDE_SIZE];
	const struct pcie_profile *profile;
	enum pcie_mode mode;
	uint32_t num_hidden;   /* functions of the description that the mode leaves out */
	struct pcie_link link; /* to the host: the profile's, with overrides */
	struct pcie_timing timing;
};

/* The machine of a side. */
struct pcie_side {
	char name[PCIE_SIDE_SIZE];
	uint32_t page_bytes;
};

struct pcie_switch {
	char name[PCIE_SIDE_SIZE];
	uint64_t latency_ps;
	uint64_t rate_bps; /* of each of its links at most; 0 = no limit */
};

struct pcie_link_end {
	bool is_switch;
	uint32_t index; /* of a switch, or of a port */
};

/* A cable of the network. Its direction from ends[0] is station 2 * its index of struct pcie_net_state, the other one the
 * next. */
struct pcie_net_link {
	struct pcie_link_end ends[2];
	uint64_t latency_ps;
	uint64_t rate_bps;  /* 0 = the port's */
	uint32_t mtu_bytes; /* 0 = the port's */
	uint32_t loss_ppb;
};

/* What connects the ports. Not given: all ports of one link layer are on one switch, and port n has link n. */
struct pcie_network {
	bool is_given;
	struct pcie_switch *switches;
	uint32_t num_switches;
	struct pcie_net_link *links;
	uint32_t num_links;
};

struct pcie_topology {
	struct pcie_side *sides; /* those that the file describes */
	size_t num_sides;
	struct pcie_card *cards;
	size_t num_cards;
	struct pcie_function *functions;
	size_t num_functions;
	uint32_t num_ports;
	struct pcie_network network;
	char note[PCIE_NOTE_SIZE]; /* a default that changed and that the file depends on; "" = none */
};

/* The built-in topology as YAML: one BlueField-3 with two PFs, 03:00.0 and 03:00.1 on side "dpu", b1:00.0 and b1:00.1
 * on side "host". */
const char *pcie_topology_default_yaml(void);

/* Parse @len bytes of YAML. @name is the file's name in messages. Returns 0 (the caller destroys *ret_topology), -EINVAL
 * with @error set to "file:line: field: reason", or -ENOMEM. *ret_topology is unchanged on failure. */
int pcie_topology_parse(const char *name, const char *yaml, size_t len, struct pcie_topology **ret_topology,
			char error[PCIE_ERROR_SIZE]);

/* NULL is fine. */
void pcie_topology_destroy(struct pcie_topology *topology);

/* Call @visit once for each side, in the order of the functions. */
void pcie_topology_for_each_side(const struct pcie_topology *topology, void (*visit)(void *arg, const char *side),
				 void *arg);

/* Whether any function belongs to @side. */
bool pcie_topology_has_side(const struct pcie_topology *topology, const char *side);

/* Whether a DPU function holds the representor of the function with the id @rep. */
bool pcie_function_has_representor(const struct pcie_function *function, uint32_t rep);

/* Whether programs can use through one function what was exported through the other: both are on one side, or one
 * holds the other's representor. Functions of two cards are not related. */
bool pcie_functions_are_related(const struct pcie_function *a, const struct pcie_function *b);

/* The DPU function that holds the representor of function @id, or NULL. */
const struct pcie_function *pcie_topology_find_rep_holder(const struct pcie_topology *topology, uint32_t id);

/* Find the path of packets from one function to another, with the constants of their cards. Returns 0 or -ENETUNREACH. */
int pcie_topology_find_path(const struct pcie_topology *topology, const struct pcie_function *from,
			    const struct pcie_function *to, struct pcie_net_path *ret_path);

/* Network links have ids: that of a function has the function's, and the link with the index @link of the network the second
 * one. All are below the first one. */
uint32_t pcie_topology_num_link_ids(const struct pcie_topology *topology);
uint32_t pcie_topology_link_id(const struct pcie_topology *topology, uint32_t link);

/* Whether the link is a trunk, which joins two switches. */
bool pcie_link_is_trunk(const struct pcie_net_link *link);

/* Whether a hop of a path is a trunk, and its id. */
bool pcie_topology_find_trunk(const struct pcie_topology *topology, const struct pcie_net_hop *hop, uint32_t *ret_id);

/* Find the ids of the trunks on the way from one function to the other, and back, which may be another one. Returns their
 * number. */
uint32_t pcie_topology_find_trunks(const struct pcie_topology *topology, const struct pcie_function *a,
				   const struct pcie_function *b, uint32_t ret_ids[PCIE_MAX_TRUNKS_BETWEEN]);

/* Write a trunk's name, "leaf0/spine": in the order of the file, or reversed. */
void pcie_trunk_format(const struct pcie_topology *topology, uint32_t link, bool is_reversed,
		       char text[PCIE_TRUNK_TEXT_SIZE]);

/* Why a topology without @side may lack it: "" or the end of a message, which begins with ';'. */
const char *pcie_topology_describe_no_side(const struct pcie_topology *topology, const char *side);

/* The size of memory pages on @side. */
uint32_t pcie_topology_page_bytes(const struct pcie_topology *topology, const char *side);

/* "dpu", "nic", "separated" or "zero-trust". */
const char *pcie_mode_name(enum pcie_mode mode);

/* Why the mode leaves functions out; "": it leaves out none. */
const char *pcie_mode_hiding_reason(enum pcie_mode mode);

/* Write the function's name in a "represents" list: "host/0000:b1:00.0", "host/0000:b1:00.0/sf4". */
void pcie_function_format(const struct pcie_function *function, char text[PCIE_FUNCTION_TEXT_SIZE]);

/* Look in @text, such as a command, for a name or address that was a function's by default in earlier versions and is no
 * function's now. Returns whether there is one, with a sentence about it in @ret_note. */
bool pcie_topology_find_former(const struct pcie_topology *topology, const char *text, char ret_note[PCIE_NOTE_SIZE]);

/* Whether the name is that of a DPU's side ("dpu", "x/dpu"). */
bool pcie_side_is_dpu(const char *side);

/* Whether the side is one of @machine: of "node0" are "node0/host" and "node0/dpu", of "" are "host" and "dpu". */
bool pcie_side_is_of(const char *side, const char *machine);

/* The machines of a topology have the numbers 0, 1, ... in the order of its functions. The first function writes the name of one,
 * the second finds its number; each returns whether there is such a machine. */
bool pcie_topology_get_machine(const struct pcie_topology *topology, uint32_t number, char ret_name[PCIE_SIDE_SIZE]);
bool pcie_topology_find_machine(const struct pcie_topology *topology, const char *name, uint32_t *ret_number);

#endif
