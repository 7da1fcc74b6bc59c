// A run as one page, for `sluice inspect --html`.
#pragma once

#include <iosfwd>

#include "base/result.hpp"
#include "tools/view/recorded_run.hpp"

namespace sluice::tools {

// write_page() writes one HTML page that needs nothing but a browser: no file beside it and no
// network. It shows the cache figures, work and span, the launch graph, for each edge table a
// picture of which block waits for which, and where the run was traced its tasks in time. Large
// runs are shown in part, and the page says so. An error where Graphviz, which lays out the launch
// graph, is not there.
Status write_page(const RecordedRun& run, std::ostream& out);

}  // namespace sluice::tools
