// What is looked for in each launch by itself.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/value_flow.hpp"
#include "relation/isl_context.hpp"
#include "runtime/check/observer.hpp"
#include "runtime/code/buffers.hpp"
#include "runtime/faults/block_races.hpp"
#include "runtime/faults/buffer_bounds.hpp"
#include "runtime/faults/initialisation.hpp"

namespace sluice::runtime {

// LaunchFaults hears of launches before they run. Not thread-safe.
class LaunchFaults final : public Observer {
 public:
  LaunchFaults(FaultReport& report, const Buffers& buffers)
      : checks_(report.checks()),
        buffers_(buffers),
        races_(report),
        bounds_(report),
        initialisation_(report) {}

  Wants wants() const override { return {.pointers = true}; }
  void add_footprint(dro::FootprintId id, const analysis::Footprint& footprint) override;
  void footprint_dropped(dro::FootprintId id) override {
    footprints_.erase(id);
    races_.replaced(id);
  }
  // bytes() are those of a footprint that was added, whose sets are of this context.
  std::shared_ptr<FootprintBytes> bytes(dro::FootprintId id) { return footprints_.at(id); }
  IslContext& context() { return context_; }
  void buffer_destroyed(dro::BufferId buffer) override { initialisation_.destroyed(buffer); }
  void written(dro::BufferId buffer, const Range& bytes) override {
    initialisation_.written(buffer, bytes);
  }
  // anything_written() comes after what may have written anything.
  void anything_written() { initialisation_.anything_written(buffers_.newest()); }
  void launched(const Known& launch) override;
  void unchecked(const std::string& /*kernel*/, const std::string& /*reason*/) override {
    anything_written();
  }

 private:
  const analysis::ValueFlow* flow_of(const LaunchView& view);

  const Checks checks_;
  const Buffers& buffers_;
  IslContext context_;
  std::map<dro::FootprintId, std::shared_ptr<FootprintBytes>> footprints_;
  // By kernel and scalars.
  std::map<std::shared_ptr<const Kernel>,
           std::map<std::vector<std::byte>, std::optional<analysis::ValueFlow>>>
      flows_;
  BlockRaces races_;
  BufferBounds bounds_;
  Initialisation initialisation_;
};

}  // namespace sluice::runtime
