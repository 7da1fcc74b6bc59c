#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>

#include <fmt/format.h>
#include <llvm/IR/LLVMContext.h>

#include "base/digest.hpp"
#include "base/log.hpp"
#include "base/terminal/slow_work.hpp"
#include "hostcuda/jit/block_compiler.hpp"
#include "hostcuda/jit/kernel_facts.hpp"
#include "hostcuda/jit/library/quick_form.hpp"
#include "hostcuda/jit/library/wait_turns.hpp"
#include "hostcuda/jit/lines/debug_lines.hpp"
#include "hostcuda/jit/lowering/access_trace.hpp"
#include "hostcuda/jit/lowering/outside_address.hpp"
#include "hostcuda/jit/module_storage.hpp"
#include "hostcuda/jit/object/code_cache.hpp"
#include "hostcuda/jit/object/good_code.hpp"
#include "hostcuda/jit/object/host_target.hpp"
#include "hostcuda/jit/object/kernel_code.hpp"
#include "hostcuda/jit/object/linker.hpp"
#include "ptx/lift.hpp"
#include "ptx/printer.hpp"

namespace sluice::hostcuda {

using jit::GoodCode;
using jit::KernelCode;
using jit::KernelContext;

struct CompiledModule::State : std::enable_shared_from_this<State> {
  // Most kernels are compiled in less.
  static constexpr std::chrono::milliseconds patience{1000};
  // Most in less than this too; what goes over from one form to the other costs it some
  // milliseconds.
  static constexpr std::chrono::milliseconds moment{50};

  State(ptx::Module parsed, FirstCode first_code)
      : module(std::move(parsed)), first(first_code), storage(module) {}

  // Slot is the code of one kernel for one block size. The thread that makes the slot compiles;
  // others that want the same code wait for it.
  struct Slot {
    std::once_flag once;
    Result<SluiceBlockCode> code = SluiceBlockCode{};
    jit::QuickForm quick;  // where `code` is that
  };
  using Key = std::tuple<std::string, uint32_t, uint32_t, uint32_t, CodeVariant>;

  Slot& slot(const Key& key) {
    const std::lock_guard lock(mutex);
    return slots[key];
  }

  Status compile(const std::string& kernel, const Dim3& block, CodeVariant variant, Slot& slot);
  // make_code() is the object file, from the cache or newly compiled.
  Result<KernelCode> make_code(const KernelContext& context, Slot& slot);
  Result<KernelCode> compile_anew(const KernelContext& context, const std::string& key, Slot& slot);
  // keep() puts newly compiled code into the cache.
  static Result<KernelCode> keep(Result<KernelCode> code, const std::string& key);
  Result<SluiceBlockFunction> link(KernelCode& code, Slot& slot);
  std::string cache_key(const KernelContext& context);
  uint64_t address_of(std::string_view name) const;

  const ptx::Module module;
  const FirstCode first;
  const jit::ModuleStorage storage;
  std::unique_ptr<jit::Linker> linker;
  uint8_t fault_flag = 0;
  std::once_flag identified;
  std::string identity;  // of the module's text, the compiler and the processor
  std::mutex mutex;
  std::map<Key, Slot> slots;
};

Status CompiledModule::State::compile(const std::string& kernel, const Dim3& block,
                                      CodeVariant variant, Slot& slot) {
  const Result<KernelFacts> facts = jit::kernel_facts(module, kernel);
  if (!facts) return tl::unexpected(facts.error());
  if (block.count() == 0 || block.count() > facts->max_threads) {
    return invalid_input(fmt::format("a block of {} x {} x {} threads; the limit is {}", block.x,
                                     block.y, block.z, facts->max_threads),
                         fmt::format("kernel {}", kernel));
  }
  KernelContext context;
  context.kernel = kernel;
  context.block = block;
  context.traced = variant != CodeVariant::plain;
  context.watched = variant == CodeVariant::watched;
  context.fault_flag = &fault_flag;
  for (const KernelFacts::Parameter& parameter : facts->parameters) {
    context.parameter_offsets.push_back(parameter.offset);
  }
  if (jit::are_lines_wanted()) {
    const ptx::Function* const function = module.find_function(kernel);
    if (function != nullptr) context.lines.emplace(module, *function);
  }
  context.variable_address = [this](std::string_view name) -> Result<uint64_t> {
    if (const uint64_t function = storage.function_address(name); function != 0) return function;
    const Result<ModuleVariable> found = storage.find(name);
    if (!found) return tl::unexpected(found.error());
    return reinterpret_cast<uint64_t>(found->address);
  };
  Result<KernelCode> code = make_code(context, slot);
  if (!code) return tl::unexpected(code.error());
  const Result<SluiceBlockFunction> function = link(*code, slot);
  if (!function) {
    Error error = function.error();
    error.where = fmt::format("kernel {}", kernel);
    return tl::unexpected(std::move(error));
  }
  slot.code = SluiceBlockCode{*function, code->scratch_bytes, code->waits_for_blocks};
  return {};
}

Result<SluiceBlockFunction> CompiledModule::State::link(KernelCode& code, Slot& slot) {
  return linker->link(std::move(code.object), code.symbol, [&](std::string_view name) {
    return name == jit::quick_form_name ? reinterpret_cast<uint64_t>(&slot.quick)
                                        : address_of(name);
  });
}

Result<KernelCode> CompiledModule::State::make_code(const KernelContext& context, Slot& slot) {
  const jit::CodeCache* cache = jit::CodeCache::of_this_process();
  const std::string key = cache != nullptr ? cache_key(context) : "";
  if (cache != nullptr) {
    if (std::optional<KernelCode> known = cache->load(key)) {
      jit::count_loaded();
      return std::move(*known);
    }
  }
  const SlowWork telling("compiling", context.kernel,
                         cache != nullptr ? "which the next start is spared"
                                          : "which a cache would spare the next start",
                         patience);
  Result<KernelCode> code = compile_anew(context, key, slot);
  if (code) jit::count_compiled();
  return code;
}

Result<KernelCode> CompiledModule::State::compile_anew(const KernelContext& context,
                                                       const std::string& key, Slot& slot) {
  const auto began = std::chrono::steady_clock::now();
  jit::LlvmModule llvm;
  Result<std::unique_ptr<llvm::Module>> lifted = ptx::lift(*llvm.context, module, context.kernel);
  if (!lifted) return tl::unexpected(lifted.error());
  llvm.module = std::move(*lifted);
  Result<jit::LoweredKernel> lowered = jit::lower_kernel(std::move(llvm), context);
  if (!lowered) return tl::unexpected(lowered.error());
  if (first == FirstCode::quick && !lowered->code.waits_for_blocks) {
    slot.quick.stay(&fault_flag);
    return jit::finish_kernel(std::move(*lowered), jit::Form::quick);
  }
  std::shared_ptr<GoodCode> good;
  if (first == FirstCode::soon) good = GoodCode::begin(jit::packed(*lowered));
  if (good == nullptr) {
    return keep(jit::finish_kernel(std::move(*lowered), jit::Form::good), key);
  }
  if (auto made = good->wait_until(began + moment)) return keep(std::move(*made), key);
  Result<KernelCode> quick = jit::finish_kernel(std::move(*lowered), jit::Form::quick);
  if (!quick) {
    std::promise<Result<KernelCode>> made;
    good->leave_to([&](Result<KernelCode> code) { made.set_value(std::move(code)); });
    return keep(made.get_future().get(), key);
  }
  good->leave_to([state = shared_from_this(), key, &slot](Result<KernelCode> made) {
    made = keep(std::move(made), key);
    const auto function = made ? state->link(*made, slot) : tl::unexpected(made.error());
    if (function) return slot.quick.go_over(*function);
    log::error("{}", function.error().line());
    slot.quick.stay(&state->fault_flag);
  });
  return quick;
}

Result<KernelCode> CompiledModule::State::keep(Result<KernelCode> code, const std::string& key) {
  const jit::CodeCache* cache = jit::CodeCache::of_this_process();
  if (code && cache != nullptr) cache->store(key, *code);
  return code;
}

std::string CompiledModule::State::cache_key(const KernelContext& context) {
  std::call_once(identified, [this] {
    const std::string text = ptx::print(module);
    std::string compiler = "unknown";
    if (const Result<jit::HostProcessor> processor = jit::host_processor()) {
      compiler = jit::compiler_identity(processor->name, processor->features);
    }
    identity = fmt::format("{}{}.{}", compiler, digest(text), text.size());
  });
  return fmt::format("{}\n{}\n{}x{}x{}\n{}{}", identity, context.kernel, context.block.x,
                     context.block.y, context.block.z,
                     context.watched  ? "watched"
                     : context.traced ? "traced"
                                      : "plain",
                     context.lines ? " with lines" : "");
}

uint64_t CompiledModule::State::address_of(std::string_view name) const {
  if (name == jit::fault_name) return reinterpret_cast<uint64_t>(&fault_flag);
  if (const uint64_t function = storage.function_address(name); function != 0) return function;
  const Result<ModuleVariable> found = storage.find(name);
  return found ? reinterpret_cast<uint64_t>(found->address) : 0;
}

CompiledModule::CompiledModule(std::shared_ptr<State> state) : state_(std::move(state)) {}
CompiledModule::~CompiledModule() = default;

Result<std::unique_ptr<CompiledModule>> CompiledModule::create(ptx::Module module,
                                                               FirstCode first) {
  auto state = std::make_shared<State>(std::move(module), first);
  if (const Result<jit::HostProcessor> processor = jit::host_processor(); !processor) {
    return tl::unexpected(processor.error());
  }
  Result<std::unique_ptr<jit::Linker>> linker = jit::Linker::create();
  if (!linker) return tl::unexpected(linker.error());
  state->linker = std::move(*linker);
  return std::unique_ptr<CompiledModule>(new CompiledModule(std::move(state)));
}

const ptx::Module& CompiledModule::module() const {
  return state_->module;
}

std::vector<std::string> CompiledModule::kernel_names() const {
  std::vector<std::string> names;
  for (const ptx::Function* kernel : state_->module.kernels())
    names.push_back(kernel->name);
  return names;
}

Result<KernelFacts> CompiledModule::facts(std::string_view kernel) const {
  return jit::kernel_facts(state_->module, kernel);
}

Result<ModuleVariable> CompiledModule::variable(std::string_view name) const {
  return state_->storage.find(name);
}

Result<SluiceBlockCode> CompiledModule::block_code(std::string_view kernel, const Dim3& block,
                                                   uint32_t dynamic_shared_bytes,
                                                   CodeVariant variant) {
  State::Slot& slot = state_->slot({std::string(kernel), block.x, block.y, block.z, variant});
  std::call_once(slot.once, [&] {
    const Status status = state_->compile(std::string(kernel), block, variant, slot);
    if (!status) slot.code = tl::unexpected(status.error());
  });
  Result<SluiceBlockCode> code = slot.code;
  if (code) code->scratch_bytes += dynamic_shared_bytes;
  return code;
}

FirstCode first_code() {
  static std::once_flag once;
  static FirstCode first = FirstCode::soon;
  std::call_once(once, [] {
    const char* text = std::getenv("SLUICE_FIRST_CODE");
    const std::string_view wanted = text == nullptr ? "" : text;
    if (wanted == "good") {
      first = FirstCode::good;
    } else if (wanted == "quick") {
      first = FirstCode::quick;
    } else if (!wanted.empty()) {
      log::warning("SLUICE_FIRST_CODE: '{}' is none of good, quick (now: as if it were unset)",
                   text);
    }
  });
  return first;
}

void set_wait_listener(const WaitListener* listener) {
  jit::set_wait_listener_of_thread(listener);
}

void set_access_sink(const SluiceAccessSink* sink) {
  jit::set_access_sink(sink);
}

DeviceFault CompiledModule::take_fault() {
  return static_cast<DeviceFault>(std::atomic_ref(state_->fault_flag).exchange(0));
}

}  // namespace sluice::hostcuda
