// From a launch call to what is understood of it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/check/observer.hpp"
#include "runtime/code/buffers.hpp"
#include "runtime/code/code_registry.hpp"
#include "runtime/launch/exclusion.hpp"
#include "runtime/launch/understood.hpp"
#include "runtime/launch/waiting.hpp"
#include "runtime/policy/policy.hpp"

namespace sluice::runtime {

// LaunchReader asks a kernel's model for the footprint of a launch and binds it to the buffers that
// the launch points into. It keeps what it read last, so that a repeat launch allocates nothing.
// Not thread-safe.
class LaunchReader {
 public:
  LaunchReader(CodeRegistry& code, Buffers& buffers, LentTracker& tracker, const Waiting& waiting,
               Policy& policy, const Observers& observers, Exclusion exclusion)
      : code_(code),
        buffers_(buffers),
        tracker_(tracker),
        waiting_(waiting),
        policy_(policy),
        observers_(observers),
        exclusion_(std::move(exclusion)) {}

  // understand() reads a launch; what it returns is good until the next call. `number` and `called`
  // are as in Known; `node` has what was found of this launch's node of a graph, if it is one.
  Understood understand(const LaunchCall& call, dro::LaunchNumber number, int64_t called,
                        GraphNode* node);
  // may_repeat() is whether what was understood of a launch holds for all like it, until moment()
  // changes: it counts what voids that.
  bool may_repeat() const { return exclusion_.is_empty() && !observers_.wants().pointers; }
  uint64_t moment() const { return buffers_.changes() + dropped_footprints_; }
  // is_like() is whether a launch touches what the same kernel did with these parameters, in the
  // same grid and blocks, at this moment: all that its footprint depends on is the same.
  // parameters() are then its own.
  bool is_like(const LaunchCall& call, std::span<const std::byte> before);
  std::span<const std::byte> parameters() const { return parameters_; }

 private:
  NotYet not_yet(const LaunchCall& call, Kernel& kernel, const char* why);
  // find_bytes() is what the launch touches; null where refusal_ says why that is not known, and
  // and whether it may be later.
  BoundFootprint* find_bytes(const LaunchCall& call, Function& function, KernelModel& model,
                             GraphNode* node);
  void read_shape(const LaunchCall& call, const analysis::KernelSignature& signature);
  // footprint_of() is null where the analysis has not answered yet.
  const CachedFootprint* footprint_of(const Function& function, const StreamKey& stream);
  std::optional<analysis::Footprint> answer_of(const Function& function, const StreamKey& stream);
  // may_be_analysed() is whether a kernel may, of which earlier starts have left so many
  // nanoseconds of an analysis that did not end.
  bool may_be_analysed(const Function& function, int64_t unfinished) const;
  std::nullptr_t later(const std::string& why);  // what is asked for is not there yet
  // read() has the tracker read a footprint of shape_: what takes longer in the background, and
  // then, as where that has not ended in time, it is null. keep_read() keeps what was read there.
  const CachedFootprint* read(const Function& function, analysis::Footprint footprint,
                              const StreamKey& stream);
  const CachedFootprint* keep_read();
  const CachedFootprint* keep(Kernel& kernel, const analysis::LaunchShape& shape,
                              const analysis::Footprint& footprint,
                              const Result<dro::FootprintId>& id);
  bool bind(const Function& function, const analysis::KernelSignature& signature,
            const CachedFootprint& footprint);

  CodeRegistry& code_;
  Buffers& buffers_;
  LentTracker& tracker_;
  const Waiting waiting_;
  Policy& policy_;
  const Observers& observers_;
  Exclusion exclusion_;
  uint64_t dropped_footprints_ = 0;
  // Reading is a footprint that the tracker, which is lent for that, reads.
  struct Reading {
    std::shared_ptr<Kernel> kernel;
    analysis::LaunchShape shape;
    analysis::Footprint footprint;
    std::optional<Result<dro::FootprintId>> id;  // when it is back
    int64_t nanoseconds = 0;
  };
  std::shared_ptr<Reading> reading_;

  // Of the launch that is being read.
  std::vector<std::byte> parameters_;
  analysis::LaunchShape shape_;
  BoundFootprint fresh_;  // of one that is not among the recent ones
  std::vector<BoundPointer> pointers_;
  struct Refusal {
    std::string reason;
    bool is_pending = false;
    std::optional<analysis::Widening> widening;  // where the analysis is why
  } refusal_;
};

}  // namespace sluice::runtime
