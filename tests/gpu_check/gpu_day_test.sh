#!/usr/bin/env bash
# scripts/gpu-day on the CPU device: all right on what is built, what it skips is named, and it fails
# where answers differ and where nothing ran in the megakernel. 2 where there is no GPU.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "gpu_day_test: $*" >&2; cat "$folder/log" >&2; exit 1; }

export SLUICE_WINDOW_COSTS="$folder/costs"
scripts/gpu-day --device cpu --quick --minutes 30 --output "$folder/right" >"$folder/log" 2>&1 || fail "it failed"
python3 - "$folder"/right/*.json <<'END'
import glob, json, os, sys
report = json.load(open(sys.argv[1]))
verdicts = {(one["step"], one["check"]): one["verdict"] for one in report["results"]}
assert "FAILED" not in verdicts.values(), report
assert verdicts["seen", "shared runtime"] == "ok", report
assert verdicts["answers", "stencil"] == "same", report
assert verdicts["ends", "blocks side by side"] == "ok", report
assert verdicts["orders", "16 workers, seed 1"] == "same", report
assert verdicts["probes", "probes 1, 3, 4, 5"] == "skipped", report
# Two runs may differ by more than what is measured.
assert verdicts["costs", "windows"] in ("ok", "skipped"), report
if verdicts["costs", "windows"] == "ok":
    kept = open(glob.glob(os.environ["SLUICE_WINDOW_COSTS"] + "/*")[0]).read().split()
    assert kept == ["plain_launch_ns", str(report["costs"]["plain_launch_ns"]),
                    "window_ns", str(report["costs"]["window_ns"])], (kept, report)
assert all(one["detail"] for one in report["results"] if one["verdict"] == "skipped"), report
assert report["times"][0]["plain_s"] > 0, report
END
grep -q '| answers | stencil | same |' "$folder"/right/*.md || fail "no table"

# A bundle whose sample gives the same answers, but of whose launches none is seen or runs in a window.
mkdir -p "$folder/bad/bin" "$folder/bad/samples" "$folder/bad/scripts"
cp scripts/gpu-day "$folder/bad/scripts/"
cat >"$folder/bad/bin/sluice" <<'END'
#!/bin/bash
[ "$1" = inspect ] && { echo "${SEEN:-0} launches: 0 as tasks, ${SEEN:-0} passed through"; exit; }
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
END
printf '#!/bin/bash\necho "PASS stencil checksum=1 seconds=0.1"\n' >"$folder/bad/samples/stencil"
chmod +x "$folder/bad/bin/sluice" "$folder/bad/samples/stencil"
status=0
"$folder/bad/scripts/gpu-day" --device cpu --quick --output "$folder/wrong" >"$folder/log" 2>&1 || status=$?
[ "$status" = 1 ] || fail "status $status where no launch is seen"
grep -q 'not every launch is seen' "$folder/log" || fail "it does not stop there"
status=0
SEEN=20 "$folder/bad/scripts/gpu-day" --device cpu --quick --only seen,answers --output "$folder/wrong" \
  >"$folder/log" 2>&1 || status=$?
[ "$status" = 1 ] || fail "status $status where nothing ran in windows"
grep -q 'FAILED   answers: stencil: 0 launches ran in windows' "$folder/log" || fail "it does not count launches"

if [ ! -e /proc/driver/nvidia/gpus ]; then
  status=0
  scripts/gpu-day --output "$folder/none" >"$folder/log" 2>&1 || status=$?
  [ "$status" = 2 ] || fail "status $status without a GPU"
  [ "$(wc -l <"$folder/log")" = 1 ] || fail "more than one line without a GPU"
fi
