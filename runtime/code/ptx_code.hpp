// The PTX of a loaded image: its units' texts, and what is made of them only when it is needed.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "ptx/syntax.hpp"

namespace sluice::runtime {

// PtxCode parses and links its units when a kernel is first asked of it: where the cache of
// analyses answers, nobody asks. Thread-safe.
class PtxCode {
 public:
  explicit PtxCode(std::vector<std::string> units);

  // digest() tells all units from those of another image (base/digest.hpp).
  const std::string& digest();

  // module_with() is the module, which lives as long as this object; an error where the units
  // cannot be parsed or linked, or define no kernel of that name.
  Result<const ptx::Module*> module_with(std::string_view kernel);

  // may_signal() is whether the kernel may tell the host something while it runs, or be told: it,
  // or a function that it may call, has volatile or atomic accesses or fences that reach beyond a
  // block. It looks at the text alone; in doubt it is true.
  bool may_signal(const std::string& kernel);
  // has_managed_variables() is whether the host may read and write variables of this code.
  bool has_managed_variables() const { return has_managed_; }

 private:
  const std::vector<std::string> units_;
  const bool has_managed_;
  std::mutex mutex_;                           // guards what follows
  std::string digest_;                         // empty until it is asked for
  std::optional<Result<ptx::Module>> module_;  // nothing until it is asked for
  std::unordered_map<std::string, bool> may_signal_;
};

}  // namespace sluice::runtime
