# shellcheck shell=bash disable=SC2154 # part of ci/vendor-samples, whose variables these are
# SPDX-License-Identifier: BSD-3-Clause
# Samples of release 2.2, of the work-queue generation: those of RDMA, by files. Copies of that release in public repositories have
# no VERSION, which the samples' project files read at a fixed place. So the compiler gets the sources here, as those files say.

# Whether the checkout is of that release.
is_workq_checkout() { grep -qs doca_workq "$checkout/samples/doca_rdma/rdma_common.h"; }

# workq_build SIDE LIBRARY SAMPLE
workq_build() {
	local folder=$scratch/doca/samples/$2 host='' flags
	mkdir -p "$folder/$3/build-$1"
	[ "${arch[$1]}" = "$machine" ] || host=${arch[$1]}-linux-gnu-
	(
		eval "$(bfsim sdk --generation workq --on "$1" --arch "${arch[$1]}" --env)"
		flags=$(pkg-config --cflags --libs doca) || exit 1
		# shellcheck disable=SC2086 # words
		"${host}gcc" -g -DDOCA_ALLOW_EXPERIMENTAL_API -I"$folder" "$folder/$3"/*.c "$folder"/*.c -o "$(program "$1" "$2" "$3")" $flags
	)
}

workq_samples() {
	rdma_pair rdma_send rdma_receive "Got from sender: \"Hi DOCA RDMA!\""
	rdma_pair rdma_send_immediate rdma_receive_immediate "Got from sender: \"Hi DOCA RDMA!\" with immediate: 43981"
	rdma_pair rdma_write_requester rdma_write_responder "Responder has written: \"Hi DOCA RDMA!\"" resource
	rdma_pair rdma_write_immediate_requester rdma_write_immediate_responder \
		"Requester has written: \"Hi DOCA RDMA!\" with immediate data: 43981" resource
	rdma_pair rdma_read_requester rdma_read_responder "Read from responder: \"Hi DOCA RDMA!\"" resource
}
