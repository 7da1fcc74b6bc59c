// The tasks of a traced run in Chrome's trace event format, for `sluice inspect --trace`.
#pragma once

#include <iosfwd>

#include "base/result.hpp"
#include "tools/view/recorded_run.hpp"

namespace sluice::tools {

// write_trace() writes one JSON object: a thread for each worker, a complete event ("X") for each
// task, named after its kernel, and for each delay a flow from the task that was waited for ("s",
// at its end) to the one that waited ("f", at its beginning). Times are microseconds since the
// start of the run. An error where the run was not traced.
Status write_trace(const RecordedRun& run, std::ostream& out);

}  // namespace sluice::tools
