// The steps of one launch: understand it, find its dependences, hold it or pass it through.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/brief_lock.hpp"
#include "base/log.hpp"
#include "runtime/arguments.hpp"
#include "runtime/state.hpp"

namespace sluice::runtime {
namespace {

// CU_STREAM_PER_THREAD names another stream in every thread, so only the launching thread can
// submit to it and nothing may stay behind for the device's thread.
void* const per_thread_stream = reinterpret_cast<void*>(2);

const char* const never_repeats =
    "its dependences are new at nearly every launch, so finding them costs more than it gains";

// How many shapes of a kernel a program may ask about before the analysis counts as following.
constexpr size_t usual_shapes = 4;
constexpr int64_t nanoseconds_for_a_step = 50;

}  // namespace

int Runtime::State::launch(const LaunchCall& call) {
  Lock lock = lock_briefly_held(mutex_);
  if (outstanding_launches_ >= most_outstanding_) room_made_.wait(lock, [&] { return has_room(); });
  handed_over_ = false;
  passes_on_ = false;
  called_ = governor_ && held_.open().empty() ? clock_() : 0;
  try {
    const int result = launch_locked(call);
    if (!passes_on_) return result;
  } catch (...) {
    turn_off_locked();
    if (handed_over_) return 0;
  }
  // Launches that other threads make meanwhile have no order with this one.
  lock.unlock();
  return device_.launch(call);
}

int Runtime::State::pass_on() {
  passes_on_ = true;
  return 0;
}

int Runtime::State::launch_locked(const LaunchCall& call) {
  if (deferred_error_ != 0) return std::exchange(deferred_error_, 0);
  if (passes_all()) return pass_on();
  find_stream(call.stream);

  const dro::LaunchNumber number = ++last_launch_;
  Function* function = code_.find(call.function);
  if (function == nullptr) {
    return pass_opaque(call, number, nullptr,
                       "its code was loaded by a call that Sluice does not follow");
  }
  // In a phase that is left aside nothing is understood; else only what is counts in the phase.
  const bool was_aside = std::exchange(way_, Governor::Way::tasks) == Governor::Way::aside;
  if (was_aside) way_ = governor_->launched(function->kernel->mark, call.grid.count());
  if (way_ != Governor::Way::aside) {
    if (const char* reason = understand(call, *function)) {
      return pass_opaque(call, number, function->kernel.get(), reason);
    }
    if (governor_ && !was_aside)
      way_ = governor_->launched(function->kernel->mark, call.grid.count());
  }
  if (way_ == Governor::Way::aside) {
    return pass_opaque(call, number, function->kernel.get(), aside_reason_);
  }
  if (races_ != nullptr) return launch_for_races(call, number, *function);
  return take(call, number, *function);
}

const char* Runtime::State::understand(const LaunchCall& call, Function& function) {
  Kernel& kernel = *function.kernel;
  KernelModel* model = code_.model(function);
  if (model == nullptr) return kernel.failure.c_str();
  if (races_ == nullptr && !may_follow(kernel, call)) return never_repeats;
  const analysis::KernelSignature& signature = model->signature();
  if (const char* refusal = shape_refusal(call)) return refusal;
  if (const char* refusal = read_parameter_block(call, signature, parameters_)) return refusal;
  if (recall(call, function)) return nullptr;
  read_shape(call, signature);
  const CachedFootprint& footprint = footprint_of(kernel);
  if (!footprint.opaque_reason.empty()) return footprint.opaque_reason.c_str();
  bound_ = &fresh_;
  fresh_.footprint = &footprint;
  const char* refusal = bind_arguments(function, signature, footprint);
  if (refusal == nullptr) remember(call, function);
  return refusal;
}

bool Runtime::State::may_follow(Kernel& kernel, const LaunchCall& call) {
  if (governor_ && !kernel.is_known_to_pay.has_value()) {
    kernel.is_known_to_pay = !kernel.model->has_not_paid();
    if (!*kernel.is_known_to_pay) kernel.budget.spend(2 * following_limits_.to_start);
  }
  if (kernel.budget.allows(following_limits_)) return true;
  if (!governor_) return false;
  if (std::exchange(kernel.is_known_to_pay, false) == true) kernel.model->note_not_paid();
  kernel.budget.earn(following_limits_, call.grid.count() * call.block.count());
  return false;
}

void Runtime::State::read_shape(const LaunchCall& call,
                                const analysis::KernelSignature& signature) {
  shape_.grid = call.grid;
  shape_.block = call.block;
  shape_.dynamic_shared_bytes = call.dynamic_shared_bytes;
  shape_.shape_values.clear();
  for (const analysis::ParameterSlot& slot : signature.shape_scalars) {
    shape_.shape_values.push_back(read_slot(parameters_, slot));
  }
}

const CachedFootprint& Runtime::State::footprint_of(Kernel& kernel) {
  const auto found = kernel.footprints.find(shape_);
  if (found != kernel.footprints.end()) {
    const CachedFootprint& known = found->second;
    if (!known.opaque_reason.empty() || tracker_.has_footprint(known.id)) return known;
    ++memory_changes_;               // what was remembered of its launches names it
    kernel.footprints.erase(found);  // the tracker evicted it
  }
  const bool is_counted = governor_ && kernel.footprints.size() >= usual_shapes;
  const int64_t asked = is_counted ? clock_() : 0;
  const analysis::Footprint footprint = kernel.model->footprint(shape_);
  if (is_counted)
    kernel.budget.spend(static_cast<uint64_t>(clock_() - asked) / nanoseconds_for_a_step);
  CachedFootprint cached;
  cached.opaque_reason = footprint.opaque_reason;
  if (!footprint.opaque()) {
    const Result<dro::FootprintId> id = tracker_.add_footprint(footprint);
    if (id) {
      cached.id = *id;
      if (check_ != nullptr) check_->add_footprint(*id, footprint);
      if (races_ != nullptr) races_->add_footprint(*id, footprint);
    } else {
      cached.opaque_reason = id.error().line();
    }
  }
  for (const analysis::ArgumentFootprint& argument : footprint.arguments) {
    cached.accessed.push_back(argument.reads.present() || argument.may_writes.present() ||
                              argument.must_writes.present());
  }
  return kernel.footprints.emplace(shape_, std::move(cached)).first->second;
}

uint64_t Runtime::State::variable_address(const Function& function,
                                          const analysis::ParameterSlot& slot) {
  // Asked for at each launch: a library's variables lie elsewhere in each context.
  const Result<VariablePlace> place = device_.variable(function.code, slot.name.c_str());
  if (!place || place->bytes == 0) return 0;
  const std::optional<Allocation> known = memory_.find(place->address);
  if (!known || known->address != place->address || known->bytes != place->bytes) {
    add_buffer(place->address, place->bytes);
    variables_.emplace(function.code, place->address);
  }
  return place->address;
}

const char* Runtime::State::bind_arguments(const Function& function,
                                           const analysis::KernelSignature& signature,
                                           const CachedFootprint& footprint) {
  fresh_.arguments.clear();
  fresh_.touched.clear();
  fresh_.known = {};
  pointers_.clear();
  for (size_t i = 0; i < signature.pointers.size(); ++i) {
    if (!footprint.accessed[i]) {
      fresh_.arguments.push_back({});  // wherever it points
      if (check_ != nullptr || races_ != nullptr)
        pointers_.push_back({.name = signature.pointers[i].name});
      continue;
    }
    const analysis::ParameterSlot& slot = signature.pointers[i];
    const uint64_t address =
        slot.is_variable ? variable_address(function, slot) : read_slot(parameters_, slot);
    const std::optional<Allocation> found = memory_.find(address);
    if (found) {
      fresh_.arguments.push_back({found->buffer, address - found->address});
      fresh_.touched.push_back({found->buffer, found->bytes});
      if (check_ != nullptr || races_ != nullptr) {
        pointers_.push_back(
            {signature.pointers[i].name, address, found->address, found->address + found->bytes});
      }
    } else {
      // The address stays out: reasons are counted, and it differs from run to run.
      reason_ = fmt::format("{} {} {} memory that Sluice does not know",
                            slot.is_variable ? "variable" : "argument", slot.name,
                            slot.is_variable ? "lies in" : "points to");
      log::debug("{}: {} (0x{:x})", signature.kernel, reason_, address);
      return reason_.c_str();
    }
  }
  return nullptr;
}

int Runtime::State::pass_opaque(const LaunchCall& call, dro::LaunchNumber number, Kernel* kernel,
                                const std::string& reason) {
  static const std::string unknown = "?";
  close_windows();
  if (kernel != nullptr) tell(*kernel, reason);
  if (check_ != nullptr) check_->count_unchecked(kernel == nullptr ? unknown : kernel->name);
  if (races_ != nullptr) races_->count_unchecked(reason);
  describe(call, kernel == nullptr ? unknown : kernel->name, {});
  tracker_.opaque_launch(number, reason);
  return pass_on();
}

int Runtime::State::take(const LaunchCall& call, dro::LaunchNumber number, Function& function) {
  const BlockCode& code = block_code(function, call);
  if (!code.failure.empty()) tell(*function.kernel, code.failure);
  describe(call, function.kernel->name, code.failure);
  dependences_.clear();
  const uint64_t effort_before = tracker_.effort();
  tracker_.launch({number, bound_->footprint->id, bound_->arguments}, dependences_, bound_->known);
  function.kernel->budget.spend(tracker_.effort() - effort_before);
  function.kernel->budget.earn(following_limits_, call.grid.count() * call.block.count());
  if (!code.failure.empty()) {
    if (check_ != nullptr) check_->count_unchecked(function.kernel->name);
    close_windows();
    return pass_on();
  }

  if (way_ == Governor::Way::plain) return give_plainly(call, *function.kernel, code);
  HeldStream& stream = *stream_;
  if (held_.any_open_but(stream)) close_related(stream, is_default_stream(call.stream));
  hold(stream, call, number, function, code);
  // A new stream's handle may be wrong; submitting at once lets the driver say so to this call.
  // Only what follows work of its own stream is held back: that work must end first in any case,
  // and its end submits the window. Behind another stream's work a launch could wait for ever.
  const bool at_once = stream.outstanding == 0 || stream.window.size() >= window_limit_ ||
                       stream_is_new_ || call.stream == per_thread_stream;
  return at_once ? submit(stream) : 0;
}

void Runtime::State::hold(HeldStream& stream, const LaunchCall& call, dro::LaunchNumber number,
                          const Function& function, const BlockCode& code) {
  LaunchWindow& window = stream.window;
  if (window.empty()) {
    window = LaunchWindow(call.stream, number, stream.room);
    held_.opened(stream);
  }
  window.append(call, code.code, parameters_, bound_->touched);
  window.skip_to(number);
  window.run_on_device(code.device);
  window.measure(code.cost);
  if (governor_) {
    LaunchWindow::Called& called = window.called();
    if (window.size() == 1) called = {time_of_call(), {.round = governor_->round()}};
    ++called.sample.launches;
    called.sample.work += work_of(*function.kernel, code, call);
  }
  if (check_ != nullptr) window.watch(watch(function));
  handed_over_ = true;
  for (const dro::Dependence& dependence : dependences_) {
    // A master outside the window is ordered before all of it: by its stream, or as the program
    // ordered the streams.
    if (window.holds(dependence.master)) {
      window.depend_on(dependence.master, tracker_.edge_table(dependence.dro->edges));
    }
  }
}

// The default stream is 0; the others are counted from 1 in the order of their first launch.
void Runtime::State::find_stream(void* stream) {
  void* const legacy_stream = reinterpret_cast<void*>(1);  // CU_STREAM_LEGACY, the same as null
  const bool is_default = stream == nullptr || stream == legacy_stream;
  bool is_new = false;
  stream_ = &held_.find(stream, is_new);
  if (is_new && !is_default) stream_->number = ++streams_counted_;
  stream_is_new_ = is_new && !is_default;
}

void Runtime::State::describe(const LaunchCall& call, const std::string& kernel,
                              const std::string& reason) {
  if (journal_ == nullptr) return;
  journal_->describe_launch({.kernel = kernel,
                             .grid = call.grid,
                             .block = call.block,
                             .stream = stream_->number,
                             .passed_through = reason});
}

void Runtime::State::tell(Kernel& kernel, const std::string& reason) {
  if (log::level() < log::Level::info || !kernel.told.insert(reason).second) return;
  log::info("{}: launches pass through: {}", kernel.name, reason);
}

}  // namespace sluice::runtime
