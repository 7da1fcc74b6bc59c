#include "runtime/launch/launch_reader.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "runtime/code/kept_figures.hpp"
#include "runtime/launch/arguments.hpp"

namespace sluice::runtime {

namespace {

constexpr const char* being_analysed = "its kernel was still being analysed";
constexpr const char* being_followed = "what an earlier launch depends on was still being found";
constexpr const char* is_too_long =
    "its analysis did not end in an earlier start, and is tried again when the program has run for "
    "longer";
constexpr const char* is_too_early =
    "the analysis of another kernel did not end in an earlier start, and this one is launched for "
    "the first time";
constexpr const char* being_read = "what its blocks touch was still being read";
// Shapes of a kernel that a program may ask about before the analysis counts as following: that
// many it asks for at nearly every first launch, and the cache of analyses answers next time.
constexpr size_t usual_shapes = 4;

}  // namespace

Understood LaunchReader::understand(const LaunchCall& call, dro::LaunchNumber number,
                                    int64_t called, GraphNode* node) {
  Function* function = code_.find(call.function);
  if (function == nullptr) {
    return Never{{nullptr, "its code was loaded by a call that Sluice does not follow"}};
  }
  Kernel& kernel = *function->kernel;
  if (!exclusion_.is_empty() && exclusion_.holds(kernel.name, number)) {
    return Never{{&kernel, Exclusion::why}};
  }
  if (policy_.habit().is_alone()) return NotYet{{&kernel, Policy::why_alone}};
  if (policy_.is_aside(kernel.pay, call.grid.count(), call.block)) {
    return NotYet{{&kernel, policy_.why_aside()}};
  }
  function->launches = std::min(function->launches + 1, 2U);
  if (!kernel.tried) {
    // The launch needs its blocks' code in any case: that is made meanwhile.
    const bool is_first = !kernel.making.valid();
    const bool waits = !may_be_analysed(*function, 0);
    code_.make_model(*function, waits);
    if (!kernel.tried && waits) return not_yet(call, kernel, is_too_early);
    if (is_first && !waiting_.background.waits() && shape_refusal(call) == nullptr)
      code_.prepare_block_code(*function, call);
    if (!kernel.tried && !waiting_.for_end_of(kernel.making, call.stream))
      return not_yet(call, kernel, being_analysed);
  }
  KernelModel* model = model_of(*function);
  if (model == nullptr) return Never{{&kernel, kernel.failure.c_str(), kernel.widening}};
  refusal_.is_pending = false;
  BoundFootprint* bound = find_bytes(call, *function, *model, node);
  if (bound != nullptr)
    return Known{number, called, bound, {&call, function, parameters_, pointers_}};
  if (refusal_.is_pending) return not_yet(call, kernel, refusal_.reason.c_str());
  return Never{{&kernel, refusal_.reason.c_str(), refusal_.widening}};
}

NotYet LaunchReader::not_yet(const LaunchCall& call, Kernel& kernel, const char* why) {
  meet(policy_, kernel.pay, call.grid.count(), call.block);
  return NotYet{{&kernel, why}};
}

BoundFootprint* LaunchReader::find_bytes(const LaunchCall& call, Function& function,
                                         KernelModel& model, GraphNode* node) {
  const analysis::KernelSignature& signature = model.signature();
  refusal_.widening.reset();
  const char* refusal = shape_refusal(call);
  if (refusal == nullptr) refusal = read_parameter_block(call, signature, parameters_);
  if (refusal != nullptr) {
    refusal_.reason = refusal;
    return nullptr;
  }
  if (tracker_.is_lent()) {
    if (!waiting_.for_end_of(tracker_.away(), call.stream)) return later(being_followed);
    tracker_.wait();
  }
  if (reading_ != nullptr) keep_read();
  if (node != nullptr && std::exchange(node->function, call.function) != call.function)
    node->recent = {};
  BoundFootprint* recent = node != nullptr ? node->recent.find(call, parameters_, moment())
                                           : function.recent.find(call, parameters_, moment());
  if (recent != nullptr && tracker_.has_footprint(recent->footprint->id)) return recent;
  read_shape(call, signature);
  const CachedFootprint* footprint = footprint_of(function, call.stream);
  if (footprint == nullptr) return nullptr;
  if (!footprint->opaque_reason.empty()) {
    refusal_.reason = footprint->opaque_reason;
    refusal_.widening = footprint->widening;
    return nullptr;
  }
  if (!bind(function, signature, *footprint)) return nullptr;
  // Observers need the pointers too, and a variable's place is asked for at each launch.
  const bool is_kept =
      !observers_.wants().pointers &&
      std::ranges::none_of(signature.pointers, &analysis::ParameterSlot::is_variable);
  if (!is_kept) return &fresh_;
  return node != nullptr ? node->recent.keep(call, parameters_, moment(), fresh_)
                         : function.recent.keep(call, parameters_, moment(), fresh_);
}

bool LaunchReader::is_like(const LaunchCall& call, std::span<const std::byte> before) {
  const Function* const function = code_.find(call.function);
  const KernelModel* const model = function == nullptr ? nullptr : function->kernel->model.get();
  if (model == nullptr) return false;
  const analysis::KernelSignature& signature = model->signature();
  if (read_parameter_block(call, signature, parameters_) != nullptr ||
      parameters_.size() != before.size()) {
    return false;
  }
  const auto is_same = [&](const analysis::ParameterSlot& slot) {
    return std::memcmp(parameters_.data() + slot.offset, before.data() + slot.offset, slot.size) ==
           0;
  };
  return std::ranges::all_of(signature.shape_scalars, is_same) &&
         std::ranges::all_of(signature.pointers, [&](const analysis::ParameterSlot& slot) {
           return slot.is_variable || is_same(slot);
         });
}

// Where a start has ended within an analysis, so may the next: a kernel that is launched once, as
// those that prepare something, would gain nothing from its own.
bool LaunchReader::may_be_analysed(const Function& function, int64_t unfinished) const {
  if (!policy_.compares()) return true;
  if (function.launches == 1)
    unfinished = std::max(unfinished, code_.analyses().longest_unfinished);
  return policy_.age() >= Policy::age_for_unfinished * unfinished;
}

std::nullptr_t LaunchReader::later(const std::string& why) {
  refusal_.reason = why;
  refusal_.is_pending = true;
  return nullptr;
}

void LaunchReader::read_shape(const LaunchCall& call, const analysis::KernelSignature& signature) {
  shape_.grid = call.grid;
  shape_.block = call.block;
  shape_.dynamic_shared_bytes = call.dynamic_shared_bytes;
  shape_.shape_values.clear();
  for (const analysis::ParameterSlot& slot : signature.shape_scalars)
    shape_.shape_values.push_back(read_slot(parameters_, slot));
}

const CachedFootprint* LaunchReader::footprint_of(const Function& function,
                                                  const StreamKey& stream) {
  Kernel& kernel = *function.kernel;
  const auto found = kernel.footprints.find(shape_);
  if (found != kernel.footprints.end()) {
    const CachedFootprint& known = found->second;
    if (!known.opaque_reason.empty() || tracker_.has_footprint(known.id)) return &known;
    ++dropped_footprints_;           // what was kept of its launches names it
    kernel.footprints.erase(found);  // the tracker evicted it
  }
  std::optional<analysis::Footprint> footprint = answer_of(function, stream);
  return footprint ? read(function, std::move(*footprint), stream) : nullptr;
}

std::optional<analysis::Footprint> LaunchReader::answer_of(const Function& function,
                                                           const StreamKey& stream) {
  Kernel& kernel = *function.kernel;
  if (!kernel.asked.contains(shape_)) {
    // Charged here: of shapes that are new at each launch nobody asks for the answers.
    Policy::Account& pay = policy_.compares() ? size_of(kernel, shape_.grid, shape_.block).account
                                              : kernel.pay.account(shape_.grid, shape_.block);
    const int64_t taken = pay.analysis.exchange(0);
    if (policy_.compares() && kernel.footprints.size() + kernel.asked.size() > usual_shapes)
      charge(policy_, pay, taken);
    if (!policy_.may_follow(pay)) {
      later(pay.why_not);
      return std::nullopt;
    }
    const int64_t unfinished = unfinished_analysis(kernel);
    int64_t& longest = code_.analyses().longest_unfinished;
    longest = std::max(longest, unfinished);
    if (!may_be_analysed(function, unfinished) &&
        !(kernel.asked.empty() && kernel.model->is_kept(shape_))) {
      later(unfinished > 0 ? is_too_long : is_too_early);
      return std::nullopt;
    }
    // Nor would answers come in time if all of them were asked for.
    if (kernel.asked.size() >= usual_shapes && kernel.in_analysis != 0) {
      waiting_.background.is_long();
      later(being_analysed);
      return std::nullopt;
    }
    // Where the answer is kept, or the last one came at once, to ask another thread takes longer.
    const bool at_once =
        policy_.compares() && kernel.asked.empty() &&
        (kernel.model->is_kept(shape_) ||
         (policy_.is_quick(kernel.last_analysis) && kernel.model->is_like_last(shape_)));
    const int64_t began = at_once ? policy_.now() : 0;
    code_.ask_for_footprint(function, shape_, at_once);
    if (at_once) waiting_.waited(policy_.now() - began, stream);
  }
  const auto asked = kernel.asked.find(shape_);
  if (!waiting_.for_end_of(asked->second, stream)) {
    later(being_analysed);
    return std::nullopt;
  }
  TimedFootprint answer = kernel.asked.extract(asked).mapped().get();
  kernel.last_analysis = answer.nanoseconds;
  code_.analyses().dearest = Budget::larger(code_.analyses().dearest, answer.dearest);
  return std::move(answer.footprint);
}

const CachedFootprint* LaunchReader::read(const Function& function, analysis::Footprint footprint,
                                          const StreamKey& stream) {
  if (footprint.opaque()) return keep(*function.kernel, shape_, footprint, {});
  const int64_t began = policy_.now();
  if (const auto id = tracker_.add_footprint_at_once(footprint)) {
    function.kernel->pay.account(shape_.grid, shape_.block).analysis += policy_.now() - began;
    return keep(*function.kernel, shape_, footprint, *id);
  }
  reading_ = std::make_shared<Reading>();
  reading_->kernel = function.kernel;
  reading_->shape = shape_;
  reading_->footprint = std::move(footprint);
  tracker_.lend([reading = reading_](dro::DependenceTracker& tracker) {
    const int64_t began = Background::clock();
    reading->id = tracker.add_footprint(reading->footprint);
    reading->nanoseconds = Background::clock() - began;
  });
  if (!waiting_.for_end_of(tracker_.away(), stream)) return later(being_read);
  tracker_.wait();
  return keep_read();
}

const CachedFootprint* LaunchReader::keep_read() {
  const std::shared_ptr<Reading> read = std::exchange(reading_, nullptr);
  // As an analysis it is charged where many shapes are asked for.
  Policy::Account& pay = read->kernel->pay.account(read->shape.grid, read->shape.block);
  pay.analysis += read->nanoseconds;
  pay.reading += read->nanoseconds;
  if (!read->id) return nullptr;  // the work has thrown
  return keep(*read->kernel, read->shape, read->footprint, *read->id);
}

const CachedFootprint* LaunchReader::keep(Kernel& kernel, const analysis::LaunchShape& shape,
                                          const analysis::Footprint& footprint,
                                          const Result<dro::FootprintId>& id) {
  CachedFootprint cached;
  if (footprint.opaque()) {
    cached.opaque_reason = dro::sentence_of(footprint.opaque_reason);
    cached.widening = footprint.opaque_reason.why;
  } else if (!id) {
    cached.opaque_reason = id.error().line();
  } else {
    cached.id = *id;
    observers_.tell(&Observer::add_footprint, *id, footprint);
    if (const auto dropped = tracker_.dropped_by(*id))
      observers_.tell(&Observer::footprint_dropped, *dropped);
    for (const analysis::ArgumentFootprint& argument : footprint.arguments) {
      cached.written.push_back(argument.may_writes.present() || argument.must_writes.present());
      cached.accessed.push_back(argument.reads.present() || cached.written.back());
    }
  }
  return &kernel.footprints.emplace(shape, std::move(cached)).first->second;
}

bool LaunchReader::bind(const Function& function, const analysis::KernelSignature& signature,
                        const CachedFootprint& footprint) {
  fresh_.footprint = &footprint;
  fresh_.arguments.clear();
  fresh_.touched.clear();
  fresh_.known = {};
  pointers_.clear();
  for (size_t i = 0; i < signature.pointers.size(); ++i) {
    const analysis::ParameterSlot& slot = signature.pointers[i];
    std::optional<Allocation> found = Allocation{};  // wherever it points
    uint64_t address = 0;
    if (footprint.accessed[i]) {
      address = slot.is_variable
                    ? buffers_.variable(function.code, slot.name, memory_of_variables(function))
                    : read_slot(parameters_, slot);
      found = buffers_.find(address);
      if (found) fresh_.touched.push_back({found->buffer, found->bytes});
    }
    if (!found) {
      // The address stays out: reasons are counted, and it differs from run to run.
      refusal_.reason = fmt::format("{} {} {} memory that Sluice does not know",
                                    slot.is_variable ? "variable" : "argument", slot.name,
                                    slot.is_variable ? "lies in" : "points to");
      log::debug("{}: {} (0x{:x})", signature.kernel, refusal_.reason, address);
      return false;
    }
    const bool may_tell = footprint.written[i] && is_flag(*found);
    if (may_tell || (found->host_may_watch && may_signal(function))) {
      refusal_.reason = fmt::format("{} {} reaches memory that the host may watch",
                                    slot.is_variable ? "variable" : "argument", slot.name);
      return false;
    }
    fresh_.arguments.push_back({found->buffer, address - found->address});
    if (observers_.wants().pointers) {
      pointers_.push_back({slot.name, address, found->address, found->address + found->bytes});
    }
  }
  return true;
}

}  // namespace sluice::runtime
