#include "hostcuda/jit/object/linker.hpp"

#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>

#include "hostcuda/jit/block/call_runtime.hpp"
#include "hostcuda/jit/library/device_library.hpp"
#include "hostcuda/jit/library/directed_double.hpp"
#include "hostcuda/jit/library/fault_guard.hpp"
#include "hostcuda/jit/lowering/access_trace.hpp"
#include "hostcuda/jit/lowering/outside_address.hpp"

// Conversions to half precision, which LLVM calls on machines without an instruction for them.
extern "C" {
float __extendhfsf2(uint16_t);
uint16_t __truncsfhf2(float);
uint16_t __truncdfhf2(double);
}

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

orc::SymbolMap runtime_symbols(orc::LLJIT& jit) {
  orc::SymbolMap symbols;
  const auto add = [&](const char* name, auto* function) {
    symbols[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                          JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  };
  using F = float (*)(float);
  using D = double (*)(double);
  using FF = float (*)(float, float);
  using DD = double (*)(double, double);
  add(exchange_symbol, &sluice_jit_exchange);
  add(advance_symbol, &sluice_jit_advance);
  add(guarded_symbol, &sluice_jit_run_guarded);
  add(trace_symbol, &sluice_jit_trace);
  add(arrive_symbol, &sluice_jit_arrive);
  for (const DeviceFunction& function : device_functions()) {
    symbols[jit.mangleAndIntern(function.symbol)] = {
        orc::ExecutorAddr::fromPtr(function.address),
        JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  }
  for (const DirectedFunction& function : directed_functions()) {
    symbols[jit.mangleAndIntern(function.symbol)] = {
        orc::ExecutorAddr::fromPtr(function.address),
        JITSymbolFlags::Exported | JITSymbolFlags::Callable};
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

// Addresses defines the symbols that stand for addresses of the process, when they are asked for.
class Addresses final : public orc::DefinitionGenerator {
 public:
  explicit Addresses(Linker::AddressOf address) : address_(std::move(address)) {}

  llvm::Error tryToGenerate(orc::LookupState&, orc::LookupKind, orc::JITDylib& library,
                            orc::JITDylibLookupFlags, const orc::SymbolLookupSet& wanted) override {
    orc::SymbolMap found;
    for (const auto& entry : wanted) {
      StringRef name = *entry.first;
      if (!name.consume_front(address_prefix)) continue;
      const uint64_t address = address_(std::string_view(name.data(), name.size()));
      if (address == 0) continue;
      found[entry.first] = {orc::ExecutorAddr(address), JITSymbolFlags::Exported};
    }
    return found.empty() ? llvm::Error::success()
                         : library.define(orc::absoluteSymbols(std::move(found)));
  }

 private:
  const Linker::AddressOf address_;
};

tl::unexpected<Error> failure(llvm::Error error) {
  std::string text = toString(std::move(error));
  for (char& character : text) {
    if (character == '\n') character = ' ';
  }
  return system_error(fmt::format("the code can't be linked: {}", text));
}

}  // namespace

Result<std::unique_ptr<Linker>> Linker::create() {
  Expected<std::unique_ptr<orc::LLJIT>> jit = orc::LLJITBuilder()
                                                  .setLinkProcessSymbolsByDefault(false)
                                                  .setPlatformSetUp(orc::setUpInactivePlatform)
                                                  .create();
  if (!jit) return failure(jit.takeError());
  // Errors come back from the look-up; ORC would print them as well.
  (*jit)->getExecutionSession().setErrorReporter(
      [](llvm::Error error) { consumeError(std::move(error)); });
  orc::JITDylib& main = (*jit)->getMainJITDylib();
  if (llvm::Error error = main.define(orc::absoluteSymbols(runtime_symbols(**jit)))) {
    return failure(std::move(error));
  }
  return std::unique_ptr<Linker>(new Linker(std::move(*jit)));
}

Result<SluiceBlockFunction> Linker::link(std::unique_ptr<MemoryBuffer> object,
                                         const std::string& symbol, AddressOf address_of) {
  Expected<orc::JITDylib&> library = jit_->createJITDylib(fmt::format("kernel.{}", count_++));
  if (!library) return failure(library.takeError());
  library->addToLinkOrder(jit_->getMainJITDylib());
  library->addGenerator(std::make_unique<Addresses>(std::move(address_of)));
  if (llvm::Error error = jit_->addObjectFile(*library, std::move(object))) {
    return failure(std::move(error));
  }
  Expected<orc::ExecutorAddr> address = jit_->lookup(*library, symbol);
  if (!address) return failure(address.takeError());
  return address->toPtr<SluiceBlockFunction>();
}

}  // namespace sluice::hostcuda::jit
