/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/topology/topology_yaml_priv.h - the topology as written: structure checked, values not.
 *
 * Each value is text, or NULL if the file does not give it. The structure is checked: fields are known, required fields
 * exist, lists and mappings are in their places, no field is given twice. All texts and lists belong to the document.
 */
#ifndef PCIE_TOPOLOGY_YAML_PRIV_H
#define PCIE_TOPOLOGY_YAML_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "pcie_model/pci_addr.h"
#include "pcie_model/profile.h"
#include "pcie_model/yaml_doc.h"

/* The fields of a function with a single value: X(member, key, whether it is required). */
#define PCIE_YAML_FUNCTION_FIELDS(X)         \
	X(side, "side", true)                \
	X(type, "type", true)                \
	X(pci, "pci", true)                  \
	X(parent, "parent", false)           \
	X(ibdev, "ibdev", false)             \
	X(iface, "iface", false)             \
	X(rep_iface, "rep-iface", false)     \
	X(link_layer, "link-layer", false)   \
	X(mac, "mac", false)                 \
	X(ipv4, "ipv4", false)               \
	X(ipv6, "ipv6", false)               \
	X(lid, "lid", false)                 \
	X(vuid, "vuid", false)               \
	X(vhca_id, "vhca-id", false)         \
	X(mtu, "mtu", false)                 \
	X(sf_index, "sf-index", false)       \
	X(aux_index, "aux-index", false)     \
	X(active_rate, "active-rate", false) \
	X(hotplug, "hotplug", false)         \
	X(vfs, "vfs", false)                 \
	X(sfs, "sfs", false)

/* The fields of the engines besides DMA, as those of PCIE_CAPS. */
#define PCIE_YAML_ACCEL(X, accel_, key)                                          \
	X(BOOL, accel[PCIE_ACCEL_##accel_].is_supported, key)                    \
	X(BYTES, accel[PCIE_ACCEL_##accel_].max_buf_bytes, key "-max-buf-bytes") \
	X(COUNT, accel[PCIE_ACCEL_##accel_].max_list_len, key "-max-list-len")   \
	X(COUNT, accel[PCIE_ACCEL_##accel_].max_tasks, key "-max-tasks")         \
	X(RATE, accel[PCIE_ACCEL_##accel_].rate_bps, key "-rate")                \
	X(COUNT, accel[PCIE_ACCEL_##accel_].task_ns, key "-task-ns")

#define PCIE_YAML_ACCEL_CAPS(X) PCIE_ACCELS_BY(PCIE_YAML_ACCEL, X)

/* The fields of struct pcie_link that a description can give: X(member, key). */
#define PCIE_YAML_LINK(X)           \
	X(generation, "generation") \
	X(lanes, "lanes")           \
	X(mps_bytes, "mps")         \
	X(mrrs_bytes, "mrrs")       \
	X(rcb_bytes, "rcb")

struct pcie_yaml_link {
#define MEMBER(member, key) const char *member;
	PCIE_YAML_LINK(MEMBER)
#undef MEMBER
};

/* The fields of struct pcie_timing: X(member, key). */
#define PCIE_YAML_TIMING(X)                    \
	X(producer_msg_ps, "producer-message") \
	X(sync_event_ps, "sync-event")         \
	X(dpa_rpc_ps, "dpa-rpc")               \
	X(dpa_launch_ps, "dpa-launch")         \
	X(dpa_activation_ps, "dpa-activation")

struct pcie_yaml_timing {
#define MEMBER(member, key) const char *member;
	PCIE_YAML_TIMING(MEMBER)
#undef MEMBER
};

/* The key "dpa" of a card. Its keys are those of the capabilities without "dpa-", and "enabled". */
struct pcie_yaml_dpa {
#define MEMBER(kind, member, key) const char *member;
	PCIE_DPA_CAPS(MEMBER)
#undef MEMBER
};

struct pcie_yaml_caps {
#define MEMBER(kind, member, key) const char *member;
	PCIE_CAPS(MEMBER)
#undef MEMBER
	struct {
		const char *is_supported, *max_buf_bytes, *max_list_len, *max_tasks, *rate_bps, *task_ns;
	} accel[PCIE_NUM_ACCELS];
};

struct pcie_yaml_function {
#define MEMBER(member, key, required) const char *member;
	PCIE_YAML_FUNCTION_FIELDS(MEMBER)
#undef MEMBER
	const char **represents; /* NULL = the field is not given; the list may be empty */
	uint32_t num_represents;
	struct pcie_yaml_caps *caps;
	const char *implied_by; /* "vfs" or "sfs": the field of its PF that it comes from; NULL = the file lists it */
	uint32_t pf_index;      /* then: the PF's place in the card's list */
	struct pcie_addr former_addr; /* and a VF's address in earlier versions */
};

struct pcie_yaml_card {
	const char *name;
	const char *profile;
	const char *mode;
	const char *management;
	struct pcie_yaml_link *link;
	struct pcie_yaml_timing *timing;
	struct pcie_yaml_dpa *dpa;
	struct pcie_yaml_function *functions;
	uint32_t num_functions;
	uint32_t capacity; /* of the array, if functions were appended to it; else 0 */
};

struct pcie_yaml_side {
	const char *name;
	const char *page_size;
};

struct pcie_yaml_switch {
	const char *name, *latency, *rate;
};

struct pcie_yaml_net_link {
	const char *from, *to, *latency, *rate, *mtu, *loss;
};

struct pcie_yaml_network {
	struct pcie_yaml_switch *switches;
	uint32_t num_switches;
	struct pcie_yaml_net_link *links;
	uint32_t num_links;
};

struct pcie_yaml {
	struct pcie_yaml_network *network; /* NULL = not given */
	struct pcie_yaml_side *sides;
	uint32_t num_sides;
	struct pcie_yaml_card *cards;
	uint32_t num_cards;
};

/* Read a loaded document. Returns 0, -EINVAL with its error set, or -ENOMEM. */
int pcie_topology_yaml_read(struct pcie_yaml_doc *doc, struct pcie_yaml *ret_yaml);

#endif
