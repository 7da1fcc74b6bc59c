#include "hostcuda/jit/object/linker.hpp"

#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/ExecutionEngine/JITLink/JITLink.h>

#include "base/demangle.hpp"
#include "hostcuda/jit/block/call_runtime.hpp"
#include "hostcuda/jit/library/device_library.hpp"
#include "hostcuda/jit/library/directed_double.hpp"
#include "hostcuda/jit/library/fault_guard.hpp"
#include "hostcuda/jit/library/quick_form.hpp"
#include "hostcuda/jit/library/wait_turns.hpp"
#include "hostcuda/jit/lines/debug_lines.hpp"
#include "hostcuda/jit/lowering/access_trace.hpp"
#include "hostcuda/jit/lowering/outside_address.hpp"
#include "hostcuda/jit/watch/thread_watch.hpp"

// Conversions to half precision, which LLVM calls on machines without an instruction for them.
extern "C" {
float __extendhfsf2(uint16_t);
uint16_t __truncsfhf2(float);
uint16_t __truncdfhf2(double);
}

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;
using namespace llvm::jitlink;

StringMap<orc::ExecutorAddr> make_runtime_symbols() {
  StringMap<orc::ExecutorAddr> symbols;
  const auto add = [&](StringRef name, auto* function) {
    symbols[name] = orc::ExecutorAddr::fromPtr(function);
  };
  using F = float (*)(float);
  using D = double (*)(double);
  using FF = float (*)(float, float);
  using DD = double (*)(double, double);
  add(exchange_symbol, &sluice_jit_exchange);
  add(advance_symbol, &sluice_jit_advance);
  add(guarded_symbol, &sluice_jit_run_guarded);
  add(run_quick_symbol, &sluice_jit_run_quick);
  add(trace_symbol, &sluice_jit_trace);
  add(thread_accesses_symbol, &sluice_jit_thread_accesses);
  add(thread_meets_symbol, &sluice_jit_thread_meets);
  add(arrive_symbol, &sluice_jit_arrive);
  add(wait_end_symbol, &sluice_jit_wait_end);
  add(wait_turn_symbol, &sluice_jit_wait_turn);
  for (const DeviceFunction& function : device_functions()) {
    add(function.symbol, function.address);
  }
  for (const DirectedFunction& function : directed_functions()) {
    add(function.symbol, function.address);
  }
  add("memcpy", static_cast<void* (*)(void*, const void*, size_t)>(&std::memcpy));
  add("memmove", static_cast<void* (*)(void*, const void*, size_t)>(&std::memmove));
  add("memset", static_cast<void* (*)(void*, int, size_t)>(&std::memset));
  add("sinf", static_cast<F>(&std::sin));
  add("cosf", static_cast<F>(&std::cos));
  add("exp2f", static_cast<F>(&std::exp2));
  add("log2f", static_cast<F>(&std::log2));
  add("tanhf", static_cast<F>(&std::tanh));
  add("floorf", static_cast<F>(&std::floor));
  add("ceilf", static_cast<F>(&std::ceil));
  add("truncf", static_cast<F>(&std::trunc));
  add("rintf", static_cast<F>(&std::rint));
  add("nearbyintf", static_cast<F>(&std::nearbyint));
  add("roundf", static_cast<F>(&std::round));
  add("sqrtf", static_cast<F>(&std::sqrt));
  add("fmodf", static_cast<FF>(&std::fmod));
  add("fminf", static_cast<FF>(&std::fmin));
  add("fmaxf", static_cast<FF>(&std::fmax));
  add("fmaf", static_cast<float (*)(float, float, float)>(&std::fma));
  // LLVM makes one call of a sine and a cosine of the same value.
  add("sincosf", &sincosf);
  add("sincos", &sincos);
  add("sin", static_cast<D>(&std::sin));
  add("cos", static_cast<D>(&std::cos));
  add("exp2", static_cast<D>(&std::exp2));
  add("log2", static_cast<D>(&std::log2));
  add("tanh", static_cast<D>(&std::tanh));
  add("floor", static_cast<D>(&std::floor));
  add("ceil", static_cast<D>(&std::ceil));
  add("trunc", static_cast<D>(&std::trunc));
  add("rint", static_cast<D>(&std::rint));
  add("nearbyint", static_cast<D>(&std::nearbyint));
  add("round", static_cast<D>(&std::round));
  add("sqrt", static_cast<D>(&std::sqrt));
  add("fmod", static_cast<DD>(&std::fmod));
  add("fmin", static_cast<DD>(&std::fmin));
  add("fmax", static_cast<DD>(&std::fmax));
  add("fma", static_cast<double (*)(double, double, double)>(&std::fma));
  add("__extendhfsf2", &__extendhfsf2);
  add("__truncsfhf2", &__truncsfhf2);
  add("__truncdfhf2", &__truncdfhf2);
  return symbols;
}

// runtime_symbols() is what every kernel may call.
const StringMap<orc::ExecutorAddr>& runtime_symbols() {
  // Never destroyed: kernels may still be launched from exit handlers. As in host_target.cpp, no
  // local static's guard.
  static std::once_flag once;
  static const StringMap<orc::ExecutorAddr>* symbols = nullptr;
  std::call_once(once, [] { symbols = new StringMap<orc::ExecutorAddr>(make_runtime_symbols()); });
  return *symbols;
}

orc::ExecutorAddr address_of_symbol(StringRef name, const Linker::AddressOf& address_of) {
  const auto found = runtime_symbols().find(name);
  if (found != runtime_symbols().end()) return found->second;
  if (!name.consume_front(address_prefix)) return {};
  return orc::ExecutorAddr(address_of(std::string_view(name.data(), name.size())));
}

// Linked is what becomes of an object file.
struct Linked {
  std::string complaint;  // empty where all is well
  orc::ExecutorAddr entry;
  orc::ExecutorAddrRange frames;
  std::vector<CodePart> sections, functions;
  JITLinkMemoryManager::FinalizedAlloc code;
};

// Link answers what JITLink asks on its way, all at once: link() returns with the work done.
class Link final : public JITLinkContext {
 public:
  Link(JITLinkMemoryManager& memory, StringRef symbol, const Linker::AddressOf& address_of,
       Linked& linked)
      : JITLinkContext(nullptr),
        memory_(memory),
        symbol_(symbol),
        address_of_(address_of),
        linked_(linked) {}

  JITLinkMemoryManager& getMemoryManager() override { return memory_; }

  void notifyFailed(llvm::Error error) override { linked_.complaint = toString(std::move(error)); }

  void lookup(const LookupMap& wanted,
              std::unique_ptr<JITLinkAsyncLookupContinuation> resume) override {
    AsyncLookupResult found;
    std::string missing;
    for (const auto& [name, flags] : wanted) {
      const orc::ExecutorAddr address = address_of_symbol(name, address_of_);
      found[name] = {address, JITSymbolFlags::Exported};
      if (address || flags == SymbolLookupFlags::WeaklyReferencedSymbol) continue;
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", std::string_view(name));
    }
    if (missing.empty()) return resume->run(std::move(found));
    resume->run(make_error<StringError>(fmt::format("symbols not found: {}", missing),
                                        inconvertibleErrorCode()));
  }

  llvm::Error notifyResolved(LinkGraph& graph) override {
    for (const Symbol* defined : graph.defined_symbols()) {
      if (defined->hasName() && defined->getName() == symbol_)
        linked_.entry = defined->getAddress();
    }
    if (linked_.entry) return llvm::Error::success();
    return make_error<StringError>("it doesn't define " + symbol_, inconvertibleErrorCode());
  }

  void notifyFinalized(JITLinkMemoryManager::FinalizedAlloc code) override {
    linked_.code = std::move(code);
  }

  llvm::Error modifyPassConfig(LinkGraph& graph, PassConfiguration& passes) override {
    passes.PostFixupPasses.push_back(createEHFrameRecorderPass(
        graph.getTargetTriple(), [this](orc::ExecutorAddr address, size_t bytes) {
          if (bytes != 0) linked_.frames = {address, address + bytes};
        }));
    if (!are_lines_wanted()) return llvm::Error::success();
    passes.PostFixupPasses.push_back([this](LinkGraph& linked) {
      note_parts(linked);
      return llvm::Error::success();
    });
    return llvm::Error::success();
  }

 private:
  void note_parts(LinkGraph& graph) {
    for (const Section& section : graph.sections()) {
      const SectionRange range(section);
      if (!range.empty())
        linked_.sections.push_back(
            {section.getName().str(), range.getStart().getValue(), range.getSize()});
    }
    for (const Symbol* symbol : graph.defined_symbols()) {
      if (symbol->isCallable() && symbol->hasName())
        linked_.functions.push_back({label(), symbol->getAddress().getValue(), symbol->getSize()});
    }
  }

  // label() is the kernel's name, and the size of its blocks.
  std::string label() const {
    const auto [kernel, block] = symbol_.split(".block.");
    return fmt::format("{} in blocks of {}", short_name(kernel.str()), block.str());
  }

  JITLinkMemoryManager& memory_;
  const StringRef symbol_;
  const Linker::AddressOf& address_of_;
  Linked& linked_;
};

tl::unexpected<Error> failure(std::string text) {
  for (char& character : text) {
    if (character == '\n') character = ' ';
  }
  return system_error(fmt::format("the code can't be linked: {}", text));
}

}  // namespace

Result<std::unique_ptr<Linker>> Linker::create() {
  Expected<std::unique_ptr<InProcessMemoryManager>> memory = InProcessMemoryManager::Create();
  if (!memory) return failure(toString(memory.takeError()));
  return std::unique_ptr<Linker>(new Linker(std::move(*memory)));
}

Linker::~Linker() {
  told_.clear();
  for (const orc::ExecutorAddrRange& frames : frames_)
    consumeError(frame_registrar_.deregisterEHFrames(frames));
  consumeError(memory_->deallocate(std::move(code_)));
}

Result<SluiceBlockFunction> Linker::link(std::unique_ptr<MemoryBuffer> object,
                                         const std::string& symbol, const AddressOf& address_of) {
  Expected<std::unique_ptr<LinkGraph>> graph = createLinkGraphFromObject(object->getMemBufferRef());
  if (!graph) return failure(toString(graph.takeError()));
  Linked linked;
  jitlink::link(std::move(*graph), std::make_unique<Link>(*memory_, symbol, address_of, linked));
  if (!linked.complaint.empty()) return failure(std::move(linked.complaint));
  const std::lock_guard lock(mutex_);
  code_.push_back(std::move(linked.code));
  if (are_lines_wanted()) {
    told_.push_back(std::make_unique<ToldCode>(object->getBuffer().str(), linked.sections));
    tell_perf(linked.functions);
  }
  // Debuggers and profilers find their way through a kernel's frames.
  if (!linked.frames.empty()) {
    if (llvm::Error error = frame_registrar_.registerEHFrames(linked.frames)) {
      return failure(toString(std::move(error)));
    }
    frames_.push_back(linked.frames);
  }
  return linked.entry.toPtr<SluiceBlockFunction>();
}

}  // namespace sluice::hostcuda::jit
