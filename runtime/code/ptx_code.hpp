// The PTX of a loaded image: its units' texts, and what is made of them only when it is needed.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "ptx/syntax.hpp"

namespace sluice::runtime {

// PtxCode parses and links its units when a kernel is first asked of it: where the cache of
// analyses answers, nobody asks. Thread-safe.
class PtxCode {
 public:
  explicit PtxCode(std::vector<std::string> units) : units_(std::move(units)) {}

  // digest() tells all units from those of another image (base/digest.hpp).
  const std::string& digest();

  // module_with() is the module, which lives as long as this object; an error where the units
  // cannot be parsed or linked, or define no kernel of that name.
  Result<const ptx::Module*> module_with(std::string_view kernel);

 private:
  const std::vector<std::string> units_;
  std::mutex mutex_;                           // guards what follows
  std::string digest_;                         // empty until it is asked for
  std::optional<Result<ptx::Module>> module_;  // nothing until it is asked for
};

}  // namespace sluice::runtime
