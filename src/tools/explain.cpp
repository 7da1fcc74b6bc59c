// sluice explain: what each kernel of a program, fat binary or PTX file reads and writes.
#include "analysis/explain.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "ptx/fat_binary.hpp"
#include "ptx/parser.hpp"
#include "tools/command.hpp"
#include "tools/report.hpp"

namespace sluice::tools {
namespace {

struct ExplainOptions {
  std::string file;
  std::string kernel;
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
    for (const std::string& text : *texts) {
      Result<ptx::Module> module = ptx::parse(text, file);
      if (!module) return tl::unexpected(module.error());
      modules.push_back(std::move(*module));
    }
  }
  if (modules.empty()) return tl::unexpected(std::move(refusal));
  return modules;
}

int explain(const ExplainOptions& options) {
  const Result<std::vector<ptx::Module>> modules = read_modules(options.file);
  if (!modules) return refuse(exit_usage, modules.error());
  bool explained = false;
  for (const ptx::Module& module : *modules) {
    if (module.kernels().empty()) continue;
    const ptx::Function* wanted = module.find_function(options.kernel);
    if (!options.kernel.empty() && (wanted == nullptr || !wanted->is_entry)) continue;
    const Result<std::string> text = analysis::explain(module, options.kernel);
    if (!text) return refuse(exit_difference, text.error());
    std::fputs(text->c_str(), stdout);
    explained = true;
  }
  if (explained) return exit_success;
  return refuse(
      exit_usage,
      {ErrorKind::invalid_input,
       options.kernel.empty() ? "holds no kernel" : "holds no kernel '" + options.kernel + "'",
       options.file, options.kernel.empty() ? "" : "without KERNEL all are explained"});
}

}  // namespace

void add_explain_command(CLI::App& app, int* status) {
  const auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "Say what kernels read and write, and why");
  command->add_option("FILE", options->file, "a program, a fat binary or a .ptx file")->required();
  command->add_option("KERNEL", options->kernel, "only this one");
  command->callback([options, status] { *status = explain(*options); });
}

}  // namespace sluice::tools
