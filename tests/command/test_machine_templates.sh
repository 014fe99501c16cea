#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# share/machines: the scripts run with stand-ins for launchers, which start processes on this machine; the YAML says what they say.
#
#   test_machine_templates.sh BFSIM RDMA_HELLO_HOST RDMA_HELLO_DPU SOURCES      (TAP)
# shellcheck disable=SC2016

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"
client=$(realpath "$2")
server=$(realpath "$3")
templates=$(realpath "$4/share/machines")
use_bfsim "$1"
export TOPOLOGY
TOPOLOGY=$(realpath "$4/share/topologies/two-nodes.yaml")

# A program for both machines: the server on machine 0, the client on the other one.
write_program() {
	cat >program <<-END
		#!/bin/sh
		[ "\$NODE" -gt 0 ] || exec $server b1:00.0
		for try in \$(seq 100); do $client b1:00.0 192.0.2.11 && exit; sleep 0.1; done
		exit 1
	END
	chmod +x program
	cp "$templates"/*.sh .
	mkdir bin
	ln -s "$bfsim_program" bin/bfsim
	for helper in bfsimd bfsim-gateway; do ln -s "$(dirname "$bfsim_program")/$helper" bin; done
	PATH=$PWD/bin:$PATH
	unset -f bfsim
}

# stand_in NAME: starts its command, which begins at the word "sh", as $MACHINES machines (default: two); a port that is free at home.
stand_in() {
	cat >"bin/$1" <<-'END'
		#!/bin/sh
		while [ "$1" != sh ]; do shift; done
		number=0
		count=${MACHINES:-2}
		for i in $(seq 0 $((count - 1))); do
			export BFSIM_SESSION="$PWD/session$i" SLURM_NODEID=$i SLURM_NNODES=$count OMPI_COMM_WORLD_RANK=$i OMPI_COMM_WORLD_SIZE=$count
			"$@" &
			pids="${pids:-} $!"
		done
		status=0
		for pid in $pids; do wait "$pid" || status=$?; done
		exit $status
	END
	chmod +x "bin/$1"
}

# A port of this machine that is free: in Slurm's way the job's number decides.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

talked() {
	says 'the host says: hello, DPU' out
	says 'the DPU answers: hello, host' out
	absent token* session0/bfsimd.sock session1/bfsimd.sock
}

test_a_job_of_slurm_runs_on_two_machines() {
	write_program
	stand_in srun
	printf '#!/bin/sh\necho 127.0.0.1\necho other\n' >bin/scontrol
	chmod +x bin/scontrol
	# In a namespace of its own, each port is free.
	status 0 unshare --user --map-root-user --net env SLURM_JOB_NODELIST=x SLURM_JOB_ID=4711 \
		sh -c 'ip link set lo up && exec sh slurm.sh ./program'
	talked
}

test_a_launcher_of_mpi_starts_two_machines() {
	write_program
	stand_in mpirun
	status 0 unshare --user --map-root-user --net sh -c 'ip link set lo up && exec sh mpi.sh 127.0.0.1,other ./program'
	talked
}

# Machine 1 serves machine 2: neither is home. It stays until machine 2 has seen the link, which is made beside the first use.
write_program_of_three() {
	write_program
	cat >program <<-END
		#!/bin/sh
		[ "\$NODE" -ne 0 ] || exit 0
		if [ "\$NODE" -eq 1 ]; then
			$server b1:00.0
			for try in \$(seq 200); do [ -e seen ] && exit; sleep 0.1; done
			exit 1
		fi
		for try in \$(seq 100); do $client b1:00.0 192.0.2.12 && break; sleep 0.1; done
		for try in \$(seq 100); do bfsim ps --here | grep '^node1 *joined *direct' && break; sleep 0.1; done
		touch seen
	END
	export MACHINES=3 TOPOLOGY="$here/../multi/three_nodes.yaml"
}

three_talked() {
	says 'the host says: hello, DPU' out
	says 'the DPU answers: hello, host' out
	says '^node1 +joined +direct +tcp ' out
	absent token* session0/bfsimd.sock session1/bfsimd.sock session2/bfsimd.sock
}

test_machines_of_mpi_reach_each_other_directly() {
	write_program_of_three
	stand_in mpirun
	status 0 unshare --user --map-root-user --net sh -c 'ip link set lo up && exec sh mpi.sh 127.0.0.1,other,third ./program'
	three_talked
}

test_machines_of_slurm_reach_each_other_directly() {
	write_program_of_three
	stand_in srun
	printf '#!/bin/sh\nprintf "127.0.0.1\\nother\\nthird\\n"\n' >bin/scontrol
	chmod +x bin/scontrol
	status 0 unshare --user --map-root-user --net env SLURM_JOB_NODELIST=x SLURM_JOB_ID=4711 \
		sh -c 'ip link set lo up && exec sh slurm.sh ./program'
	three_talked
}

test_two_namespaces_are_two_machines() {
	write_program
	status 0 unshare --user --map-root-user --net --mount sh -c 'mount -t tmpfs none /run && exec sh namespaces.sh ./program'
	talked
}

test_three_namespaces_are_three_machines() {
	write_program_of_three
	status 0 unshare --user --map-root-user --net --mount sh -c 'mount -t tmpfs none /run && exec sh namespaces.sh ./program'
	three_talked
}

# The commands of the pods, of which one more than the file has, in one namespace: each has a session of its own.
test_three_pods_are_three_machines() {
	write_program_of_three
	cat >start <<-'END'
		ip link set lo up
		for i in 0 1 2; do
			HOSTNAME=sim-$i BFSIM_SESSION=$PWD/session$i sh -c "$(cat command)" &
			pids="${pids:-} $!"
		done
		for pid in $pids; do wait "$pid" || exit; done
	END
	(umask 077 && "$bfsim_program" token >token)
	sed -n "s/.*command: \[sh, -c, '\(.*\) && exec sleep infinity'\]/\1/p" "$templates/statefulset.yaml" |
		sed 's/}" 2 sim-0.sim /}" 3 127.0.0.1 /; s,/run/token/token,token,' >command
	says '^sh node.sh .* 3 127.0.0.1 token ./program$' command
	status 0 unshare --user --map-root-user --net sh start
	rm token
	three_talked
}

test_a_program_that_fails_is_the_status() {
	write_program
	stand_in mpirun
	printf '#!/bin/sh\nexit 7\n' >program
	status 7 unshare --user --map-root-user --net sh -c 'ip link set lo up && exec sh mpi.sh 127.0.0.1,other ./program'
	absent token* session0/bfsimd.sock
}

test_the_yaml_files_say_what_node_sh_takes() {
	"$python_program" - "$templates" <<-'END'
		import os, sys
		try:
		    import yaml
		except ImportError:
		    sys.exit(0)
		folder = sys.argv[1]
		def documents(name):
		    with open(os.path.join(folder, name), encoding='utf-8') as file:
		        return list(yaml.safe_load_all(file))
		compose = documents('compose.yaml')[0]['services']
		for number, name in enumerate(('node0', 'node1')):
		    assert compose[name]['command'][:6] == ['sh', 'node.sh', str(number), '2', 'node0', '/run/secrets/token'], compose
		    assert compose[name]['secrets'] == ['token']
		service, state = documents('statefulset.yaml')
		pod = state['spec']['template']['spec']
		assert service['spec']['publishNotReadyAddresses'] and state['spec']['podManagementPolicy'] == 'Parallel'
		assert state['spec']['serviceName'] == service['metadata']['name'] == 'sim' and state['spec']['replicas'] == 2
		container = pod['containers'][0]
		assert 'node.sh "${HOSTNAME##*-}" 2 sim-0.sim /run/token/token' in container['command'][2]
		assert container['readinessProbe']['exec']['command'][:2] == ['bfsim', 'wait']
		assert not set(pod) & {'hostPID', 'hostIPC', 'hostNetwork'}
		steps = documents('github.yml')[0]['jobs']['two-machines']['steps']
		assert any(step.get('run', '').startswith('sh namespaces.sh') for step in steps)
	END
}

# The command of the pod's readiness probe, before there is a session.
test_a_pod_is_not_ready_before_it_has_joined() {
	status 1 bfsim wait --timeout 1 node0 node1
	says 'has not joined the session within 1 s' err
}

if ! unshare --user --map-root-user --net --mount true 2>/dev/null; then
	echo '1..0 # SKIP the kernel forbids new namespaces'
	exit 0
fi
run_tests "$0" "$work"
