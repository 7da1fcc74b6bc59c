#include "hostcuda/driver/code/code.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/log.hpp"
#include "hostcuda/driver/code/code_input.hpp"
#include "hostcuda/driver/code/grid_functions.hpp"
#include "ptx/link.hpp"

namespace sluice::hostcuda {

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
  std::shared_ptr<LoadedCode> loaded(new LoadedCode);
  for (const ptx::CodeImage& image : *read) {
    std::vector<std::string> units;
    std::shared_ptr<LoadedCode> one;
    CUresult result = best_ptx(image, &units, message);
    if (result == CUDA_SUCCESS) result = load_units(units, &one, message);
    if (result != CUDA_SUCCESS) return result;
    loaded->units_.push_back(std::move(one->units_[0]));
  }
  *code = std::move(loaded);
  return CUDA_SUCCESS;
}

CUresult LoadedCode::load_units(const std::vector<std::string>& units,
                                std::shared_ptr<LoadedCode>* code, std::string* message) {
  Result<ptx::Module> module = ptx::link_texts(units);
  if (module) module = with_grid_functions(std::move(*module));
  if (!module) return report(module.error(), CUDA_ERROR_INVALID_PTX, message);
  Result<std::unique_ptr<CompiledModule>> compiled =
      CompiledModule::create(std::move(*module), first_code());
  if (!compiled) return report(compiled.error(), CUDA_ERROR_INVALID_PTX, message);
  std::shared_ptr<LoadedCode> loaded(new LoadedCode);
  loaded->units_.push_back(std::move(*compiled));
  *code = std::move(loaded);
  return CUDA_SUCCESS;
}

CUresult LoadedCode::kernel(std::string_view name, Kernel** kernel) {
  const std::lock_guard lock(mutex_);
  if (const auto found = kernels_.find(name); found != kernels_.end()) {
    *kernel = found->second.get();
    return CUDA_SUCCESS;
  }
  for (const std::unique_ptr<CompiledModule>& module : units_) {
    const std::vector<std::string> names = module->kernel_names();
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    const Result<KernelFacts> facts = module->facts(name);
    std::string message;
    if (!facts) return report(facts.error(), CUDA_ERROR_INVALID_PTX, &message);
    auto made = std::make_unique<Kernel>(*this, *module, std::string(name), *facts);
    *kernel = made.get();
    kernels_.emplace(name, std::move(made));
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

std::vector<std::string> LoadedCode::kernel_names() const {
  std::vector<std::string> names;
  for (const std::unique_ptr<CompiledModule>& module : units_) {
    for (std::string& name : module->kernel_names())
      names.push_back(std::move(name));
  }
  return names;
}

CUresult LoadedCode::variable(std::string_view name, ModuleVariable* variable) const {
  for (const std::unique_ptr<CompiledModule>& module : units_) {
    if (const Result<ModuleVariable> found = module->variable(name)) {
      *variable = *found;
      return CUDA_SUCCESS;
    }
  }
  return CUDA_ERROR_NOT_FOUND;
}

}  // namespace sluice::hostcuda
