// sluice explain: what each kernel of a program, fat binary, PTX file or journal reads and writes.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/demangle.hpp"
#include "base/terminal/fitted_name.hpp"
#include "ptx/fat_binary.hpp"
#include "ptx/link.hpp"
#include "tools/command.hpp"
#include "tools/explain/explainer.hpp"
#include "tools/explain/recorded_launches.hpp"
#include "tools/report.hpp"

namespace sluice::tools {
namespace {

struct ExplainOptions {
  std::string file;
  std::string kernel;
  std::string launches;
  std::optional<uint64_t> launch;
  std::vector<uint32_t> grid;
  std::vector<uint32_t> block;
  uint32_t shared = 0;
  std::vector<std::string> arguments;
  bool isl = false;
  bool full_names = false;

  size_t width() const { return full_names ? any_width : width_of(STDOUT_FILENO); }
};

// A program's images may include ones without PTX (nvcc's linker adds an empty one to each
// program); it is an error only where none has any.
Result<std::vector<ptx::Module>> read_modules(const std::string& file) {
  const Result<std::vector<ptx::CodeImage>> images = ptx::read_file(file);
  if (!images) return tl::unexpected(images.error());
  std::vector<ptx::Module> modules;
  Error refusal{ErrorKind::invalid_input, "holds no device code", file, {}};
  for (const ptx::CodeImage& image : *images) {
    const Result<std::vector<std::string>> texts = image.best_ptx();
    if (!texts) {
      refusal = texts.error();
      refusal.where = file;
      continue;
    }
    Result<ptx::Module> module = ptx::link_texts(*texts, file);
    if (!module) return tl::unexpected(module.error());
    modules.push_back(std::move(*module));
  }
  if (modules.empty()) return tl::unexpected(std::move(refusal));
  return modules;
}

// is_wanted() takes a kernel's name as the driver knows it, as it stands in the source, or with
// its parameters.
bool is_wanted(const std::string& kernel, const std::string& wanted) {
  return wanted.empty() || kernel == wanted || short_name(kernel) == wanted ||
         demangled(kernel) == wanted;
}

Result<ShapeChoice> choice_of(const ExplainOptions& options) {
  ShapeChoice choice;
  const auto extent = [](const std::vector<uint32_t>& values) -> std::optional<Dim3> {
    if (values.empty()) return std::nullopt;
    Dim3 extent{values[0], 1, 1};
    if (values.size() > 1) extent.y = values[1];
    if (values.size() > 2) extent.z = values[2];
    return extent;
  };
  choice.grid = extent(options.grid);
  choice.block = extent(options.block);
  choice.dynamic_shared_bytes = options.shared;
  for (const std::string& text : options.arguments) {
    uint32_t number = 0;
    int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [equals, no_number] = std::from_chars(text.data(), end, number);
    const bool has_number = no_number == std::errc() && equals != end && *equals == '=';
    const auto [rest, no_value] =
        has_number ? std::from_chars(equals + 1, end, value) : std::from_chars_result{end, {}};
    if (!has_number || no_value != std::errc() || rest != end) {
      return invalid_input("--arg takes NUMBER=VALUE", text, "--arg 2=1024 sets argument 2");
    }
    choice.arguments[number] = uint64_t(value);
  }
  if (!choice.grid && !choice.block && choice.arguments.empty()) {
    choice.origin = "an example: --grid, --block and --arg choose another";
  }
  return choice;
}

// Printer separates the kernels' texts by empty lines.
class Printer {
 public:
  void print(const std::string& text) {
    std::printf("%s%s", printed_ ? "\n" : "", text.c_str());
    printed_ = true;
  }
  bool printed() const { return printed_; }

 private:
  bool printed_ = false;
};

int nothing_found(const ExplainOptions& options) {
  return refuse(
      exit_usage,
      {ErrorKind::invalid_input,
       options.kernel.empty() ? "holds no kernel" : "holds no kernel '" + options.kernel + "'",
       options.file, options.kernel.empty() ? "" : "without KERNEL all are explained"});
}

std::string launch_text(const RecordedKernel& recorded) {
  if (recorded.shapes < 2) return fmt::format("launch #{}", recorded.launch);
  return fmt::format("launch #{}, the first of {} different ones", recorded.launch,
                     recorded.shapes);
}

int explain_journal(const ExplainOptions& options) {
  const auto kernels = recorded_launches(options.file, options.launch);
  if (!kernels) return refuse(exit_usage, kernels.error());
  Explainer explainer(options.isl, options.width());
  Printer printer;
  for (const RecordedKernel& recorded : *kernels) {
    if (!is_wanted(recorded.kernel, options.kernel)) continue;
    printer.print(recorded.footprint
                      ? explainer.footprint(*recorded.footprint, launch_text(recorded))
                      : explainer.not_followed(recorded));
  }
  return printer.printed() ? exit_success : nothing_found(options);
}

int explain_code(const ExplainOptions& options) {
  const Result<std::vector<ptx::Module>> modules = read_modules(options.file);
  if (!modules) return refuse(exit_usage, modules.error());
  Result<ShapeChoice> chosen = choice_of(options);
  if (!chosen) return refuse(exit_usage, chosen.error());
  std::vector<RecordedKernel> recorded;
  if (!options.launches.empty()) {
    auto kernels = recorded_launches(options.launches, options.launch);
    if (!kernels) return refuse(exit_usage, kernels.error());
    recorded = std::move(*kernels);
  }
  Explainer explainer(options.isl, options.width());
  Printer printer;
  for (const ptx::Module& module : *modules) {
    for (const ptx::Function* kernel : module.kernels()) {
      if (!is_wanted(kernel->name, options.kernel)) continue;
      ShapeChoice choice = *chosen;
      if (!options.launches.empty()) {
        const auto launch =
            std::find_if(recorded.begin(), recorded.end(),
                         [&](const RecordedKernel& r) { return r.kernel == kernel->name; });
        if (launch == recorded.end()) continue;
        choice.origin = launch_text(*launch);
        if (launch->footprint) {
          choice.grid = launch->footprint->shape.grid;
          choice.block = launch->footprint->shape.block;
          choice.dynamic_shared_bytes = launch->footprint->shape.dynamic_shared_bytes;
          choice.shape_values = launch->footprint->shape.shape_values;
        }
      }
      const Result<std::string> text = explainer.kernel(module, *kernel, choice);
      if (!text) return refuse(exit_usage, text.error());
      printer.print(*text);
    }
  }
  return printer.printed() ? exit_success : nothing_found(options);
}

}  // namespace

void add_explain_command(CLI::App& app, int* status) {
  const auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "Say what kernels read and write, and why");
  command->footer("docs/explain.md shows the texts and what they mean.");
  command
      ->add_option("FILE", options->file,
                   "a program, a fat binary, a .ptx file, or a journal of sluice run --journal")
      ->required();
  command->add_option("KERNEL", options->kernel, "only this one, by its name in the source");
  command->add_option("--grid", options->grid, "explain for this grid: X[,Y[,Z]] blocks")
      ->delimiter(',')
      ->expected(1, 3);
  command->add_option("--block", options->block, "and this block: X[,Y[,Z]] threads")
      ->delimiter(',')
      ->expected(1, 3);
  command->add_option("--shared", options->shared, "and this many bytes of dynamic shared memory");
  command
      ->add_option("--arg", options->arguments,
                   "NUMBER=VALUE of a scalar argument, counted from 0; repeat it for others")
      ->expected(1)
      ->take_all();
  command->add_option("--launches", options->launches,
                      "explain FILE's kernels for the launches that this JOURNAL recorded");
  command->add_option("--launch", options->launch, "of the journal's launches only this number");
  command->add_flag("--isl", options->isl, "print the relations in isl's notation too");
  command->add_flag("--full-names", options->full_names, full_names_help);
  command->callback([options, status] {
    *status = is_journal(options->file) ? explain_journal(*options) : explain_code(*options);
  });
}

}  // namespace sluice::tools
