# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-3-Clause
# ci/package: what a release has, made from its tag.

# The changes of a version, from a CHANGELOG.md on standard input.
list_changes() { awk -v head="## $1" '/^## / { on = index($0, head) == 1; next } on'; }

# make_release DIR TAG: the directory to unpack, the packages, their checksums and the notes.
make_release() {
	local out=$1 tag=$2 machine source made=() notes
	machine=$(uname -m)
	[ -n "$tag" ] || die "which tag? ci/package release DIR v$(version)"
	git -C "$top" rev-parse -q --verify "refs/tags/$tag" >/dev/null || die "there is no tag $tag"
	source=$(mktemp -d)
	# shellcheck disable=SC2064
	trap "git -C '$top' worktree remove --force '$source/bfsim' 2>/dev/null; rm -rf '$source'" EXIT
	git -C "$top" worktree add --quiet --detach "$source/bfsim" "refs/tags/$tag"
	[ "$tag" = "v$(top=$source/bfsim version)" ] || die "the tag is $tag, and meson.build says version $(top=$source/bfsim version)"
	notes=$(list_changes "${tag#v}" <"$source/bfsim/CHANGELOG.md")
	[ -n "$notes" ] || die "CHANGELOG.md has no section \"${tag#v}\""
	[ -z "$(ls -A "$out" 2>/dev/null)" ] || die "$out is not empty"
	"$source/bfsim/ci/package" tar "$source/made"
	"$source/bfsim/ci/package" deb "$source/made"
	mkdir -p "$out"
	cp "$source"/made/*.tar.gz "$source"/made/*_"$(dpkg --print-architecture)".deb "$out"
	[ "$machine" != x86_64 ] || cp "$source"/made/*_all.deb "$out" # the same for each machine
	rm -f "$out"/*-dbgsym_*
	(cd "$out" && mapfile -t made < <(ls) && sha256sum "${made[@]}" >"SHA256SUMS-$machine")
	echo "$notes" >"$out/NOTES.md"
	ls -sh "$out"
}
