#include "hostcuda/driver/code.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/log.hpp"
#include "ptx/fat_binary.hpp"
#include "ptx/parser.hpp"

namespace sluice::hostcuda {
namespace {

CUresult report(const Error& error, CUresult invalid_input_as, std::string* message) {
  *message = error.line();
  log::error("{}", *message);
  switch (error.kind) {
    case ErrorKind::invalid_input:
      return invalid_input_as;
    case ErrorKind::unsupported:
    case ErrorKind::unimplemented:
      return CUDA_ERROR_NOT_SUPPORTED;
    case ErrorKind::system:
      return CUDA_ERROR_OPERATING_SYSTEM;
  }
  return CUDA_ERROR_UNKNOWN;
}

CUresult best_ptx(const ptx::CodeImage& image, std::vector<std::string>* units,
                  std::string* message) {
  Result<std::vector<std::string>> best = image.best_ptx();
  if (!best) {
    report(best.error(), CUDA_ERROR_NO_BINARY_FOR_GPU, message);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  *units = std::move(*best);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult LoadedCode::load(const void* image, std::shared_ptr<LoadedCode>* code,
                          std::string* message) {
  const Result<ptx::CodeImage> read = ptx::read_image(image);
  if (!read) return report(read.error(), CUDA_ERROR_INVALID_IMAGE, message);
  std::vector<std::string> units;
  if (const CUresult result = best_ptx(*read, &units, message); result != CUDA_SUCCESS) {
    return result;
  }
  return load_units(units, code, message);
}

CUresult LoadedCode::load_file(const char* path, std::shared_ptr<LoadedCode>* code,
                               std::string* message) {
  if (access(path, R_OK) != 0) {
    report(Error{ErrorKind::system, "the file can't be read", path, {}}, CUDA_ERROR_FILE_NOT_FOUND,
           message);
    return CUDA_ERROR_FILE_NOT_FOUND;
  }
  const Result<std::vector<ptx::CodeImage>> read = ptx::read_file(path);
  if (!read) return report(read.error(), CUDA_ERROR_INVALID_IMAGE, message);
  std::vector<std::string> units;
  for (const ptx::CodeImage& image : *read) {
    std::vector<std::string> more;
    if (const CUresult result = best_ptx(image, &more, message); result != CUDA_SUCCESS) {
      return result;
    }
    units.insert(units.end(), more.begin(), more.end());
  }
  return load_units(units, code, message);
}

CUresult LoadedCode::load_units(const std::vector<std::string>& units,
                                std::shared_ptr<LoadedCode>* code, std::string* message) {
  std::shared_ptr<LoadedCode> loaded(new LoadedCode);
  for (const std::string& text : units) {
    Result<ptx::Module> module = ptx::parse(text);
    if (!module) return report(module.error(), CUDA_ERROR_INVALID_PTX, message);
    Result<std::unique_ptr<CompiledModule>> unit = CompiledModule::create(std::move(*module));
    if (!unit) return report(unit.error(), CUDA_ERROR_INVALID_PTX, message);
    loaded->units_.push_back(std::move(*unit));
  }
  *code = std::move(loaded);
  return CUDA_SUCCESS;
}

CUresult LoadedCode::kernel(std::string_view name, Kernel** kernel) {
  const std::lock_guard lock(mutex_);
  if (const auto found = kernels_.find(name); found != kernels_.end()) {
    *kernel = found->second.get();
    return CUDA_SUCCESS;
  }
  for (const std::unique_ptr<CompiledModule>& unit : units_) {
    const std::vector<std::string> names = unit->kernel_names();
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    const Result<KernelFacts> facts = unit->facts(name);
    std::string message;
    if (!facts) return report(facts.error(), CUDA_ERROR_INVALID_PTX, &message);
    auto made = std::make_unique<Kernel>(*this, *unit, std::string(name), *facts);
    *kernel = made.get();
    kernels_.emplace(name, std::move(made));
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

std::vector<std::string> LoadedCode::kernel_names() const {
  std::vector<std::string> names;
  for (const std::unique_ptr<CompiledModule>& unit : units_) {
    for (std::string& name : unit->kernel_names())
      names.push_back(std::move(name));
  }
  return names;
}

CUresult LoadedCode::variable(std::string_view name, GlobalVariable* variable) const {
  for (const std::unique_ptr<CompiledModule>& unit : units_) {
    if (const Result<GlobalVariable> found = unit->variable(name)) {
      *variable = *found;
      return CUDA_SUCCESS;
    }
  }
  return CUDA_ERROR_NOT_FOUND;
}

}  // namespace sluice::hostcuda
