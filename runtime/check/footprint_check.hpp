// SLUICE_CHECK_FOOTPRINTS: every block's real accesses beside its footprint.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "analysis/footprint.hpp"
#include "dro/records/check.hpp"
#include "dro/types.hpp"
#include "runtime/check/launch_check.hpp"
#include "runtime/check/observer.hpp"
#include "runtime/device.hpp"

namespace sluice::runtime {

// FootprintCheck makes the checks of launches and adds up what they find. Each violation is one
// line in the log, up to a limit. Thread-safe.
class FootprintCheck final : public Observer {
 public:
  // Of a launch of more blocks than `most_blocks` about so many are checked, spread over the grid
  // and others in each launch; the first and the last always. 0: every block of every launch.
  explicit FootprintCheck(Device& device, uint32_t most_blocks = 0)
      : device_(device), most_blocks_(most_blocks) {}

  Wants wants() const override { return {.pointers = true}; }
  void add_footprint(dro::FootprintId id, const analysis::Footprint& footprint) override;
  std::shared_ptr<megakernel::BlockRunner> watch(const Known& launch) override;
  void unchecked(const std::string& kernel, const std::string& reason) override;
  // finished() writes records() to the journal.
  void finished(dro::JournalWriter* journal) override;

  // watch() returns what runs the blocks of one launch. Null where its footprint cannot be
  // evaluated block by block; the launch then counts as unchecked.
  std::shared_ptr<megakernel::BlockRunner> watch(const std::string& kernel, dro::FootprintId id,
                                                 std::vector<BoundPointer> pointers,
                                                 size_t parameter_bytes);

  uint64_t violations() const { return violations_.load(); }
  // records() is what was found so far, one record a kernel.
  std::vector<dro::CheckRecord> records();

 private:
  class KernelFindings;
  std::shared_ptr<KernelFindings> findings_of(const std::string& kernel);

  Device& device_;
  const uint32_t most_blocks_;
  RelationCache relations_;
  std::atomic<uint64_t> violations_{0};
  std::mutex mutex_;
  std::map<dro::FootprintId, std::shared_ptr<FootprintClaims>> claims_;
  std::map<std::string, std::shared_ptr<KernelFindings>> kernels_;
};

// violation_text() is one line: kernel, block, argument, byte and PTX line.
std::string violation_text(const std::string& kernel, const Violation& violation);

}  // namespace sluice::runtime
