#include "tools/info/verdict.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "interpose/driver/gpu_libraries.hpp"
#include "interpose/static_runtime/runtime_copy.hpp"

namespace sluice::tools {
namespace {

constexpr const char* add_ptx =
    "compile with -gencode arch=compute_75,code=compute_75 to have it followed";

std::string machine_code_of(const Program& program) {
  std::set<uint32_t> architectures;
  for (const CodePart& part : program.code) {
    if (!part.is_ptx) architectures.insert(part.architecture);
  }
  std::string names;
  for (const uint32_t architecture : architectures)
    names += fmt::format("{}sm_{}", names.empty() ? "" : ", ", architecture);
  return names;
}

bool has_ptx(const Program& program) {
  return std::ranges::any_of(program.code, &CodePart::is_ptx);
}

// PTX is compiled for its own architecture and all later ones; machine code runs on those of its
// generation that are no older.
bool fits(const CodePart& part, uint32_t architecture) {
  if (part.is_ptx) return part.architecture <= architecture;
  return part.architecture / 10 == architecture / 10 && part.architecture <= architecture;
}

std::string without_code(const Program& program) {
  if (program.is_interpreter) {
    return "runs; the libraries that it loads say what they need of CUDA: ask about those "
           "('sluice info LIBRARY.so')";
  }
  if (program.kind == Program::Kind::script) {
    return fmt::format("runs where {} does; the libraries that it loads say what they need of CUDA",
                       program.interpreter);
  }
  return "runs; it uses no CUDA of its own, and launches of libraries that it loads are followed";
}

std::string count_without_ptx(const Program& program) {
  return fmt::format("{} of {} images hold no PTX", program.images_without_ptx, program.images);
}

}  // namespace

Verdict may_be_started(const Program& program) {
  const std::string& path = program.path;
  switch (program.kind) {
    case Program::Kind::other:
      return {false, "is no program: neither an ELF file nor a script that begins with #!"};
    case Program::Kind::foreign:
      return {false, "is for another kind of processor than this one, or damaged"};
    case Program::Kind::static_program:
      return {false,
              "is linked statically, so that nothing can be put before it: link it dynamically"};
    case Program::Kind::device_code:
      return {false, "is code for a GPU and no program: 'sluice explain " + path +
                         "' says what its kernels do"};
    case Program::Kind::library:
      return {true, {}};
    case Program::Kind::script:
      if (program.interpreter.empty()) return {false, "is a script that names no interpreter"};
      [[fallthrough]];
    case Program::Kind::program:
      if (!program.may_be_run) return {false, "may not be run: chmod +x " + path};
      return {true, {}};
  }
  return {};
}

Verdict on_gpu(const Program& program, std::optional<uint32_t> architecture) {
  if (!program.uses_cuda()) return {true, without_code(program)};
  const bool lacks = architecture && !program.code.empty() &&
                     std::ranges::none_of(program.code, [&](const CodePart& part) {
                       return fits(part, *architecture);
                     });
  if (lacks) {
    return {false, fmt::format("does not run on this one (sm_{0}): compile with -gencode "
                               "arch=compute_{0},code=compute_{0}, or for an older architecture",
                               *architecture)};
  }
  if (program.images != 0 && !has_ptx(program)) {
    return {true, fmt::format("runs where it is of {}; launches pass through, as machine code is "
                              "not analysed: {}",
                              machine_code_of(program), add_ptx)};
  }
  std::string text =
      "runs; launches are analysed and journaled and go on in stream order ('sluice run "
      "--megakernel' reorders them)";
  if (program.images == 0) {
    text = "runs; launches of the code that it loads are followed where that has PTX";
  }
  if (program.images_without_ptx > 0) {
    text += fmt::format("; {}: their launches pass through", count_without_ptx(program));
  }
  const bool has_other_launches = std::ranges::any_of(program.libraries, interpose::needs_gpu);
  if (has_other_launches) text += "; what CUDA's own libraries launch passes through";
  return {true, text};
}

Verdict on_cpu_device(const Program& program) {
  if (!program.uses_cuda()) return {true, without_code(program)};
  if (program.obstacle) {
    return {false, fmt::format("does not run: it {}; {}", program.obstacle->what,
                               program.obstacle->remedy)};
  }
  const bool lacks_runtime = std::ranges::find(interpose::own_runtimes, program.cudart) ==
                             std::end(interpose::own_runtimes);
  if (program.runtime == Program::Runtime::shared && lacks_runtime) {
    return {false, fmt::format("does not run: the CPU device has {}, not {}; build it with CUDA 12 "
                               "or 13",
                               fmt::join(interpose::own_runtimes, " and "), program.cudart)};
  }
  const auto library = std::ranges::find_if(program.libraries, interpose::needs_gpu);
  if (library != program.libraries.end()) {
    return {false, fmt::format("does not run: {} needs a GPU; use kernels of your own", *library)};
  }
  if (program.images != 0 && !has_ptx(program)) {
    return {false, fmt::format("does not run: there is machine code for {} only; {}",
                               machine_code_of(program), add_ptx)};
  }
  std::string text =
      "runs; launches run as tasks where what they touch is known ('sluice explain' says of what)";
  if (program.images == 0) text = "runs; the code that it loads must be PTX";
  if (program.runtime == Program::Runtime::fixed) {
    text += "; the CPU device's runtime takes the static one's place";
  }
  if (program.images_without_ptx > 0) {
    text += fmt::format("; {}: their launches fail", count_without_ptx(program));
  }
  return {true, text};
}

}  // namespace sluice::tools
