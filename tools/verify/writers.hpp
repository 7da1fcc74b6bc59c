// Which launches wrote the bytes that were copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/number/range.hpp"
#include "tools/verify/recorded_copies.hpp"

namespace sluice::tools {

// Writer is a launch that wrote, or may have written, some of the bytes asked for.
struct Writer {
  const dro::LaunchSummary* launch = nullptr;  // null: the host did
  bool is_known = true;                        // false: which bytes it touches is not known
};

// Writers answers for one process, from footprints and bindings in its journal.
class Writers {
 public:
  explicit Writers(const ProcessRecord& process) : process_(process) {}

  // last_writers() are those of the first `launches` launches that wrote bytes of a buffer last,
  // latest first, at most `most`: what is certain to have written all of them, or of which nothing
  // is known, ends the list.
  std::vector<Writer> last_writers(dro::BufferId buffer, const Range& bytes, uint64_t launches,
                                   size_t most);

 private:
  struct Written {
    ByteRuns may, must;  // bytes from the argument's value; must: always
    bool any = false;    // of the whole buffer, nobody knows which
  };
  const Written& written(dro::FootprintId footprint, size_t argument);
  // meet() says whether a launch writes some of `left`, and takes away what it certainly does.
  bool meet(const dro::LaunchRecord& launch, dro::BufferId buffer, ByteRuns& left);
  bool meet_host(dro::BufferId buffer, uint64_t launches, ByteRuns& left) const;

  const ProcessRecord& process_;
  std::map<std::pair<dro::FootprintId, size_t>, Written> written_;
};

}  // namespace sluice::tools
