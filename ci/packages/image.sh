# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-3-Clause
# ci/package: the steps of ci/Dockerfile in a root file system, for machines without a container engine.

largest_image=200 # MB, of the one for running

# The values of the image's labels, each as --build-arg NAME=VALUE. What git does not know is left out. A URL loses its user
# and password: labels are public.
image_args() {
	local revision source
	echo "--build-arg VERSION=$(version)"
	if revision=$(git -C "$top" rev-parse HEAD 2>/dev/null); then
		echo "--build-arg REVISION=$revision"
	fi
	if source=$(git -C "$top" remote get-url origin 2>/dev/null); then
		echo "--build-arg SOURCE=$source" | sed 's,://[^/@]*@,://,'
	fi
}

# run_stage NAME
run_stage() {
	python3 "$top/ci/packages/image.py" "$top/ci/Dockerfile" "$1" >"$root/step.sh" || die "ci/Dockerfile has what image.py does not know"
	in_root sh /step.sh >"$root/step.log" 2>&1 || {
		tail -n 20 "$root/step.log" >&2
		die "the steps of stage $1 fail"
	}
	rm "$root/step.sh" "$root/step.log"
	size=$(du -sxm --exclude=./packages "$root" | cut -f 1)
	size=$((size - $(du -sm "$root/packages" | cut -f 1)))
	echo "$1: $size MB"
}

# What the image's user does: the working directory is a volume.
as_image_user() { chroot --userspec=bfsim "$root" /usr/bin/env HOME=/home/bfsim sh -ec "$1"; }

# shellcheck disable=SC2016 # the user's shell expands it
build_examples() {
	as_image_user 'cp -r /usr/share/doc/bfsim/examples ~ && cd ~/examples
		for side in host dpu; do
			(cd comch_hello; eval "$(bfsim sdk --on $side --env)"; cc -o $side $side.c $(pkg-config --cflags --libs doca-common doca-comch))
		done
		(cd comch_hello; bfsim run --dpu ./dpu --host ./host)
		for side in host dpu; do
			(eval "$(bfsim sdk --on $side --env)"; make -s -C dma_copy SIDE=$side)
			(eval "$(bfsim sdk --on $side --generation workq --env)"; make -s -C workq/dma_copy SIDE=$side)
		done
		eval "$(bfsim sdk --on dpu --env)"; make -s -C flaky_link all test_flaky_link' || die "the examples can't be built"
}

check_image() {
	local size
	compgen -G "$1/*.deb" >/dev/null || die "no packages in $1; ci/package deb makes them"
	[ "$(id -u)" -eq 0 ] || die "check needs root, for its root file system"
	make_system --variant=minbase
	mkdir "$root/packages"
	cp "$1"/*.deb "$root/packages"
	run_stage run
	[ "$size" -lt $largest_image ] || die "the image for running has $size MB; $largest_image is the limit"
	as_image_user 'bfsim --version && bfsim doctor >/dev/null' || die "bfsim does not run in the image"
	run_stage dev
	build_examples
}
