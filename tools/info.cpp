// sluice info: what is here, and whether a program would run and be followed.
#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "interpose/driver/driver_search.hpp"
#include "tools/command.hpp"
#include "tools/explain/words.hpp"
#include "tools/find_program.hpp"
#include "tools/info/caches.hpp"
#include "tools/info/here.hpp"
#include "tools/info/program.hpp"
#include "tools/info/verdict.hpp"
#include "tools/report.hpp"

namespace sluice::tools {
namespace {

struct InfoOptions {
  std::string device = "auto";
  std::string program;
};

void print_line(const std::string& label, const std::string& text) {
  constexpr size_t indent = 15;
  std::string lines = wrapped(text, indent);
  lines.replace(2, label.size(), label);
  fmt::print("{}", lines);
}

std::string kind_text(const Program& program) {
  switch (program.kind) {
    case Program::Kind::script:
      return "a script for " + program.interpreter;
    case Program::Kind::library:
      return "a library";
    case Program::Kind::device_code:
      return "code for a GPU";
    case Program::Kind::other:
    case Program::Kind::foreign:
      return "a file";
    case Program::Kind::static_program:
    case Program::Kind::program:
      break;
  }
  return program.is_interpreter ? "an interpreter" : "a program";
}

// made_by() is ", of CUDA 13", as far as PTX tells.
std::string made_by(const Program& program) {
  const std::optional<int> cuda = cuda_of(program.ptx_version);
  return cuda ? fmt::format(", of CUDA {}", *cuda) : "";
}

std::string runtime_text(const Program& program) {
  switch (program.runtime) {
    case Program::Runtime::shared:
      return "shared, " + program.cudart;
    case Program::Runtime::fixed:
      return fmt::format("static{}", made_by(program));
    case Program::Runtime::none:
      break;
  }
  return program.uses_driver ? "none; it uses the driver, libcuda.so.1" : "none";
}

std::string code_text(const Program& program) {
  if (!program.damage.empty()) return "cannot be read: " + program.damage;
  if (program.code.empty()) return "none";
  std::string text;
  if (program.images > 1) text = fmt::format("{} images: ", program.images);
  for (const CodePart& part : program.code) {
    text += fmt::format("{}{}_{}", &part == program.code.data() ? "" : ", ",
                        part.is_ptx ? "PTX for compute" : "machine code for sm", part.architecture);
    if (part.is_compressed) text += " (compressed)";
    if (part.images != program.images) text += fmt::format(" in {} of them", part.images);
  }
  if (!program.ptx_version.empty()) {
    text += fmt::format("; PTX {}{}", program.ptx_version, made_by(program));
  }
  return text;
}

void print_program(const Program& program) {
  print_line("runtime", runtime_text(program));
  if (!program.libraries.empty()) {
    print_line("libraries", fmt::format("{}", fmt::join(program.libraries, ", ")));
  }
  print_line("code", code_text(program));
}

int info_of(const std::string& name, const DeviceHere& device) {
  const Result<std::string> path = find_program(name);
  if (!path) return refuse(exit_not_found, path.error());
  const Result<Program> program = read_program(*path);
  if (!program) return refuse(exit_not_executable, program.error());
  fmt::print("{}: {}\n", name, kind_text(*program));
  const Verdict start = may_be_started(*program);
  const bool is_elf =
      program->kind != Program::Kind::script && program->kind != Program::Kind::other;
  if (is_elf && (program->uses_cuda() || program->kind == Program::Kind::program)) {
    print_program(*program);
  }
  if (!start.runs) {
    print_line("verdict", "it " + start.text);
    return exit_not_executable;
  }
  const Verdict gpu = on_gpu(*program, device.architecture);
  const Verdict cpu = on_cpu_device(*program);
  if (gpu.text == cpu.text) {
    print_line("verdict", gpu.text);
  } else {
    print_line("on a GPU", gpu.text);
    print_line("on the CPU", cpu.text);
  }
  print_line("here", device.text);
  return (device.is_cpu_device ? cpu : gpu).runs ? exit_success : exit_difference;
}

int info(const InfoOptions& options) {
  const Result<interpose::DeviceChoice> choice = interpose::device_choice(options.device);
  if (!choice) return refuse(exit_usage, choice.error());
  const Result<DeviceHere> device = find_device(*choice, library_folder());
  if (!device) return refuse(exit_usage, device.error());
  if (!options.program.empty()) return info_of(options.program, *device);
  print_line("sluice", versions_text());
  print_line("device", device->text);
  print_line("processors", processors_text());
  for (const UserCache& cache : user_caches())
    print_line(cache.what, contents_text(cache));
  return exit_success;
}

}  // namespace

void add_info_command(CLI::App& app, int* status) {
  const auto options = std::make_shared<InfoOptions>();
  CLI::App* command =
      app.add_subcommand("info", "Say what is here, and whether a program would run");
  command->footer(
      "The exit status is 0 where the program would run, 1 where it would not on that device, 126 "
      "where it is no program, 127 where there is none. docs/info.md shows what is said.");
  command->add_option("--device", options->device,
                      "auto takes the GPU where there are a driver and a device, else the CPU");
  command->add_option("PROGRAM", options->program,
                      "a program or library; without one: what is here");
  command->callback([options, status] { *status = info(*options); });
}

}  // namespace sluice::tools
