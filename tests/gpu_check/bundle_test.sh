#!/usr/bin/env bash
# scripts/bundle: what it packs needs no LLVM, isl or toolkit, is small enough, and runs.
set -euo pipefail
cd "$(dirname "$0")/../.."
fail() { echo "bundle_test: $*" >&2; exit 1; }
scripts/bundle --no-build
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar -C "$folder" -xzf build/sluice-bundle.tar.gz
bundle=$folder/sluice-bundle
for file in "$bundle/lib/sluice-tools" "$bundle"/lib/libsluice*.so; do
  ldd "$file" >"$folder/ldd"
  if grep -i 'not found\|llvm\|polly\|isl\.\|libz3\|cudart\|nvrtc\|nvJitLink' "$folder/ldd"; then
    fail "$file needs more than a bare system has"
  fi
done
"$bundle/bin/sluice" --help | grep -q run || fail "the launcher does not run"
# The scheduler's PTX is in the shim's engine.
grep -q 'visible .entry sluice_megakernel' "$bundle/lib/libsluice-engine.so" || fail "no scheduler inside"
[ "$(stat -c %s build/sluice-bundle.tar.gz)" -lt $((25 * 1024 * 1024)) ] || fail "too large"
"$bundle/scripts/gpu-check" --nonsense >/dev/null 2>&1 && fail "gpu-check takes nonsense"
exit 0
