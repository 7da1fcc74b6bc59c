#include "hostcuda/jit/object/host_target.hpp"

#include <mutex>

#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/Support/TargetSelect.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

Result<orc::JITTargetMachineBuilder> detect_host() {
  Expected<orc::JITTargetMachineBuilder> builder = orc::JITTargetMachineBuilder::detectHost();
  if (!builder) {
    return system_error(
        fmt::format("LLVM does not know this machine: {}", toString(builder.takeError())));
  }
  // LLVM spares AVX-512 its widest registers for the sake of the first processors that had them,
  // and which went at a lower clock then.
  if (builder->getTargetTriple().isX86()) builder->addFeatures({"-prefer-256-bit"});
  builder->setCodeGenOptLevel(CodeGenOptLevel::Aggressive);
  builder->setRelocationModel(Reloc::PIC_);
  builder->getOptions().AllowFPOpFusion = FPOpFusion::Strict;
  return std::move(*builder);
}

const Result<orc::JITTargetMachineBuilder>& host() {
  // Never destroyed: kernels may still be launched from exit handlers. ThreadSanitizer, which this
  // module is built without, knows of std::call_once and not of the guard of a local static.
  static std::once_flag once;
  static const Result<orc::JITTargetMachineBuilder>* detected = nullptr;
  std::call_once(once, [] { detected = new Result<orc::JITTargetMachineBuilder>(detect_host()); });
  return *detected;
}

}  // namespace

Result<HostProcessor> host_processor() {
  const Result<orc::JITTargetMachineBuilder>& builder = host();
  if (!builder) return tl::unexpected(builder.error());
  return HostProcessor{builder->getCPU(), builder->getFeatures().getString()};
}

Result<std::unique_ptr<TargetMachine>> make_host_target() {
  Result<orc::JITTargetMachineBuilder> builder = host();
  if (!builder) return tl::unexpected(builder.error());
  static std::once_flag initialised;
  std::call_once(initialised, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
  });
  Expected<std::unique_ptr<TargetMachine>> target = builder->createTargetMachine();
  if (!target) {
    return system_error(fmt::format("LLVM has no code generator for this machine: {}",
                                    toString(target.takeError())));
  }
  return std::move(*target);
}

}  // namespace sluice::hostcuda::jit
