#!/usr/bin/env bash
# Checks what scripts/gpu-probe and the program say and return: script_test.sh SOURCE BUILD.
# The GPU, if there is one, is hidden from the program, so that all machines see the same.
set -uo pipefail
source=$1
build=$2
program=$build/bench/gpu-probe
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CUDA_VISIBLE_DEVICES=
failures=0

# expect STATUS PATTERN COMMAND...: one line of output that matches, and that exit status.
expect() {
  local status=$1 pattern=$2 output got
  shift 2
  output=$("$@" 2>&1)
  got=$?
  if [ $got != "$status" ] || [ "$(wc -l <<<"$output")" != 1 ] || ! grep -Eq -- "$pattern" <<<"$output"; then
    printf 'FAILED: %s\n  wanted status %s and one line like: %s\n  got status %s and:\n%s\n' \
      "$*" "$status" "$pattern" "$got" "$output"
    failures=$((failures + 1))
  fi
}

# The build has compiled everything for all architectures with warnings as errors; this says that it
# is complete and up to date, and compiles what is not.
expect 0 '^gpu-probe: no GPU here \(.*\); compiled without a warning for sm_75 sm_80 sm_90 sm_100 sm_120$' \
  "$source/scripts/gpu-probe" --compile-only --build-dir "$build"
expect 2 '^gpu-probe: no GPU here \(.*\)$' "$source/scripts/gpu-probe" --build-dir "$build"
expect 2 '^gpu-probe: no GPU here \(.*\)$' "$source/scripts/gpu-probe" --no-build --build-dir "$build"
expect 1 'no program in .*nothing/bench/gpu-probe' "$source/scripts/gpu-probe" --no-build --build-dir "$scratch/nothing"
expect 2 '^gpu-probe: no GPU here \(.*\)$' "$program" --only 1,3 --output "$scratch/results"
expect 2 '^gpu-probe: no GPU here \(.*\)$' "$program" --device
expect 1 "'--fast' is not understood; usage" "$program" --fast
expect 1 '--only takes numbers from 1 to 8' "$program" --only 9
expect 1 '^usage: ' "$source/scripts/gpu-probe" --fast
if [ -e "$scratch/results" ]; then
  echo "FAILED: a run without a GPU left results behind"
  failures=$((failures + 1))
fi

# A machine with a program built before and no nvcc runs that program; one with neither says so.
mkdir -p "$scratch/copy/scripts" "$scratch/copy/build/bench" "$scratch/bin"
cp "$source/scripts/gpu-probe" "$scratch/copy/scripts/"
for tool in bash env cat dirname; do ln -s "$(command -v $tool)" "$scratch/bin/$tool"; done
bare=(env -u CUDA_HOME "PATH=$scratch/bin" GPU_PROBE_TOOLKIT=/nonexistent
  "$scratch/copy/scripts/gpu-probe")
expect 1 'no nvcc .* and no program in build/bench/gpu-probe' "${bare[@]}"
expect 1 'the compile checks need one' "${bare[@]}" --compile-only
printf '#!/bin/sh\nexit 7\n' >"$scratch/copy/build/bench/gpu-probe"
chmod +x "$scratch/copy/build/bench/gpu-probe"
expect 7 'no nvcc here; running build/bench/gpu-probe as it was built before' "${bare[@]}"

# The flags do turn a warning into an error.
printf '__global__ void kernel(int* a) { int unused; *a = 1; }\n' >"$scratch/warns.cu"
grep -v -- -gencode "$source/bench/gpu/nvcc.flags" >"$scratch/flags"
expect_error=$("$CUDA_HOME/bin/nvcc" -optf "$scratch/flags" -arch=sm_75 -c -o "$scratch/warns.o" "$scratch/warns.cu" 2>&1)
if [ -e "$scratch/warns.o" ] || ! grep -q 'unused' <<<"$expect_error"; then
  echo "FAILED: a kernel with an unused variable compiled"
  failures=$((failures + 1))
fi
[ $failures = 0 ] && echo "all as it should be"
exit $((failures > 0))
