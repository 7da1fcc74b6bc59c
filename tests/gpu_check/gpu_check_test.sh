#!/usr/bin/env bash
# scripts/gpu-check on the CPU device: all right on what is built, 1 where an answer differs, 2 where
# there is no GPU; its JSON is JSON.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "gpu_check_test: $*" >&2; exit 1; }

scripts/gpu-check --device cpu --quick --output "$folder/right" >"$folder/log" || { cat "$folder/log"; fail "it failed"; }
cat "$folder/log"
grep -q ', 0 failed' "$folder/log" || fail "no summary"
python3 - "$folder"/right/*.json <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
assert len(report["checks"]) >= 12, report
assert all(check["verdict"] == "same" for check in report["checks"]), report
assert report["times"][0]["plain_us"] > 0 and report["times"][0]["megakernel_us"] > 0, report
assert any("sanitizer" in skipped["check"] for skipped in report["skipped"]), report
END

# A bundle whose one sample gives another answer each time.
mkdir -p "$folder/bad/bin" "$folder/bad/samples" "$folder/bad/scripts"
cp scripts/gpu-check "$folder/bad/scripts/"
printf '#!/bin/bash\nwhile [ $# -gt 0 ] && [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n' >"$folder/bad/bin/sluice"
printf '#!/bin/bash\necho "PASS stencil checksum=$(date +%%N | md5sum | cut -c1-16) seconds=0.1"\n' >"$folder/bad/samples/stencil"
chmod +x "$folder/bad/bin/sluice" "$folder/bad/samples/stencil"
status=0
"$folder/bad/scripts/gpu-check" --device cpu --quick --output "$folder/wrong" >"$folder/log" 2>&1 || status=$?
[ "$status" = 1 ] || { cat "$folder/log"; fail "status $status where the answers differ"; }
grep -q 'FAILED' "$folder/log" || fail "it does not say what failed"

# With no time at all everything is skipped, and said so; nothing checked is not all right.
status=0
scripts/gpu-check --device cpu --quick --minutes 0 --output "$folder/none" >"$folder/log" 2>&1 || status=$?
[ "$status" = 2 ] || { cat "$folder/log"; fail "status $status with no time"; }
grep -q 'no time left' "$folder/log" || fail "it does not say what it skipped"

if ! command -v nvidia-smi >/dev/null; then
  status=0
  scripts/gpu-check --output "$folder/gpu" >"$folder/log" 2>&1 || status=$?
  [ "$status" = 2 ] || fail "status $status without a GPU"
fi
