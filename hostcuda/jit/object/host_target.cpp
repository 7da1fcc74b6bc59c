#include "hostcuda/jit/object/host_target.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/Support/TargetSelect.h>

#include "base/log.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// A level of x86-64, as its ABI numbers them, and one of its features that the level below lacks.
struct Level {
  std::string_view name;
  std::string_view feature;
};
constexpr std::array<Level, 4> levels = {{{"x86-64", "sse2"},
                                          {"x86-64-v2", "sse4.2"},
                                          {"x86-64-v3", "avx2"},
                                          {"x86-64-v4", "avx512vl"}}};

// set_level() has code be of the level that SLUICE_CPU names, so that this processor runs what
// others would.
void set_level(orc::JITTargetMachineBuilder& builder) {
  const char* text = std::getenv("SLUICE_CPU");
  if (text == nullptr || *text == '\0') return;
  const auto* level = std::find_if(levels.begin(), levels.end(),
                                   [&](const Level& each) { return each.name == text; });
  if (level == levels.end() || !builder.getTargetTriple().isX86()) {
    return log::warning(
        "SLUICE_CPU: '{}' is none of x86-64, x86-64-v2, x86-64-v3, x86-64-v4 (now: as if it were "
        "unset)",
        text);
  }
  const std::string wanted = fmt::format("+{}", level->feature);
  if (!is_contained(builder.getFeatures().getFeatures(), wanted)) {
    return log::warning(
        "SLUICE_CPU: this processor has no {}, as {} has (now: as if it were unset)",
        level->feature, text);
  }
  builder.setCPU(text);
  builder.getFeatures() = SubtargetFeatures();
}

Result<orc::JITTargetMachineBuilder> detect_host() {
  Expected<orc::JITTargetMachineBuilder> builder = orc::JITTargetMachineBuilder::detectHost();
  if (!builder) {
    return system_error(
        fmt::format("LLVM does not know this machine: {}", toString(builder.takeError())));
  }
  set_level(*builder);
  // LLVM spares AVX-512 its widest registers for the sake of the first processors that had them,
  // and which went at a lower clock then.
  if (builder->getTargetTriple().isX86()) builder->addFeatures({"-prefer-256-bit"});
  builder->setCodeGenOptLevel(CodeGenOptLevel::Aggressive);
  builder->setRelocationModel(Reloc::PIC_);
  // Code and its constants lie together; what is far is called and read through tables that the
  // linker makes. LLVM's own choice for code that is made to be run at once makes an instruction of
  // ten bytes of each constant's address, in front of the one that reads it.
  builder->setCodeModel(CodeModel::Small);
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
