#include "runtime/code/code_registry.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/terminal/slow_work.hpp"
#include "ptx/fat_binary.hpp"

namespace sluice::runtime {

struct CodeImage {
  std::optional<PtxCode> code;
  std::string failure;  // why there is none
  std::unordered_map<std::string, std::shared_ptr<Kernel>> kernels;
};

CodeRegistry::CodeRegistry(ModelMaker maker, Device& device, megakernel::WindowBackend* backend,
                           bool traced)
    : maker_(std::move(maker)), device_(device), backend_(backend), traced_(traced) {}
CodeRegistry::~CodeRegistry() = default;

void CodeRegistry::code_loaded(void* code, const void* bytes) {
  auto image = std::make_shared<CodeImage>();
  Result<std::vector<std::string>> texts =
      ptx::read_image(bytes).and_then([](const ptx::CodeImage& read) { return read.best_ptx(); });
  if (!texts) {
    image->failure = texts.error().line();
  } else {
    image->code.emplace(std::move(*texts));
  }
  images_[code] = std::move(image);
}

void CodeRegistry::code_alias(void* code, void* original) {
  const auto found = images_.find(original);
  if (found != images_.end()) {
    // The copy comes first: making room for the new entry may move the old one.
    std::shared_ptr<CodeImage> image = found->second;
    images_[code] = std::move(image);
  }
}

void CodeRegistry::code_unloaded(void* code) {
  const auto found = images_.find(code);
  if (found == images_.end()) return;
  const std::shared_ptr<CodeImage> image = found->second;
  std::erase_if(images_, [&](const auto& entry) { return entry.second == image; });
  std::erase_if(functions_, [&](const auto& entry) { return entry.second.image == image; });
}

void CodeRegistry::function_found(void* function, void* code, const char* name) {
  const auto found = images_.find(code);
  if (found == images_.end()) {
    functions_.erase(function);  // the handle may have been another function's before
    return;
  }
  std::shared_ptr<Kernel>& kernel = found->second->kernels[name];
  if (kernel == nullptr) {
    kernel = std::make_shared<Kernel>();
    kernel->name = name;
  }
  Function& entry = functions_[function];
  if (entry.kernel != kernel) entry = {kernel, {}, found->second, code};
}

void CodeRegistry::forget_device_code() {
  for (auto& [handle, function] : functions_)
    function.codes.clear();
}

void CodeRegistry::function_alias(void* function, void* original) {
  const auto found = functions_.find(original);
  if (found == functions_.end()) return;
  Function copy{found->second.kernel, {}, found->second.image, found->second.code};
  Function& entry = functions_[function];
  if (entry.kernel != copy.kernel) entry = std::move(copy);
}

Function* CodeRegistry::find(void* function) {
  const auto found = functions_.find(function);
  return found == functions_.end() ? nullptr : &found->second;
}

Result<PtxCode*> CodeRegistry::code_of(const Function& function) {
  CodeImage& image = *function.image;
  if (!image.code) return unsupported(image.failure);
  return &*image.code;
}

KernelModel* CodeRegistry::model(const Function& function) {
  Kernel& kernel = *function.kernel;
  if (kernel.tried) return kernel.model.get();
  kernel.tried = true;
  const SlowWork telling("analysing", kernel.name, slow_analysis, patience_with_analysis);
  Result<std::unique_ptr<KernelModel>> model =
      code_of(function).and_then([&](PtxCode* code) { return maker_(*code, kernel.name); });
  if (model) {
    kernel.model = std::move(*model);
  } else {
    kernel.failure = model.error().line();
    if (function.image->code && model.error().kind == ErrorKind::unsupported)
      kernel.widening = analysis::Widening::unknown_instruction;
  }
  return kernel.model.get();
}

}  // namespace sluice::runtime
