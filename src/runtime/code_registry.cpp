#include "runtime/code_registry.hpp"

#include <algorithm>
#include <utility>

#include "ptx/fat_binary.hpp"
#include "ptx/link.hpp"
#include "ptx/printer.hpp"

namespace sluice::runtime {

// Image is what one load call brought: the PTX of its units, parsed and linked when first asked
// for.
struct CodeRegistry::Image {
  std::string failure;  // why there is no PTX
  std::vector<std::string> units;
  bool is_linked = false;  // then there is one unit, with its module
  ptx::Module module;
  std::unordered_map<std::string, std::shared_ptr<Kernel>> kernels;
};

CodeRegistry::CodeRegistry(ModelMaker maker) : maker_(std::move(maker)) {}
CodeRegistry::~CodeRegistry() = default;

void CodeRegistry::code_loaded(void* code, const void* bytes) {
  auto image = std::make_shared<Image>();
  const Result<std::vector<std::string>> texts =
      ptx::read_image(bytes).and_then([](const ptx::CodeImage& read) { return read.best_ptx(); });
  if (!texts) {
    image->failure = texts.error().line();
  } else {
    image->units = *texts;
  }
  images_[code] = std::move(image);
}

void CodeRegistry::code_alias(void* code, void* original) {
  const auto found = images_.find(original);
  if (found != images_.end()) {
    // The copy comes first: making room for the new entry may move the old one.
    std::shared_ptr<Image> image = found->second;
    images_[code] = std::move(image);
  }
}

void CodeRegistry::code_unloaded(void* code) {
  const auto found = images_.find(code);
  if (found == images_.end()) return;
  const std::shared_ptr<Image> image = found->second;
  std::erase_if(images_, [&](const auto& entry) { return entry.second == image; });
  std::erase_if(functions_, [&](const auto& entry) { return entry.second.image == image.get(); });
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
  if (entry.kernel != kernel) entry = {kernel, {}, found->second.get(), code};
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

Result<CodeRegistry::Source> CodeRegistry::module_of(Image& image, std::string_view kernel) {
  if (!image.failure.empty()) return unsupported(image.failure);
  // A look at the text spares parsing a large image that lacks the name.
  const bool may_hold = std::ranges::any_of(
      image.units, [&](const std::string& text) { return text.find(kernel) != std::string::npos; });
  if (may_hold && !image.is_linked) {
    Result<ptx::Module> module = ptx::link_texts(image.units);
    if (!module) return tl::unexpected<Error>(module.error());
    if (image.units.size() > 1) image.units = {ptx::print(*module)};
    image.module = std::move(*module);
    image.is_linked = true;
  }
  const ptx::Function* function = may_hold ? image.module.find_function(kernel) : nullptr;
  if (function != nullptr && function->is_entry && function->is_definition) {
    return Source{&image.module, image.units[0]};
  }
  return unsupported("its PTX holds no kernel of that name");
}

Result<const ptx::Module*> CodeRegistry::module(const Function& function) {
  for (const auto& [code, image] : images_) {
    if (image.get() != function.image) continue;
    return module_of(*image, function.kernel->name).map([](const Source& source) {
      return source.module;
    });
  }
  return unsupported("its code has been unloaded");
}

KernelModel* CodeRegistry::model(const Function& function) {
  Kernel& kernel = *function.kernel;
  if (kernel.tried) return kernel.model.get();
  kernel.tried = true;
  for (const auto& [code, image] : images_) {
    if (image.get() != function.image) continue;
    Result<std::unique_ptr<KernelModel>> model =
        module_of(*image, kernel.name).and_then([&](const Source& source) {
          return maker_(*source.module, kernel.name, source.text);
        });
    if (model) {
      kernel.model = std::move(*model);
    } else {
      kernel.failure = model.error().line();
    }
    return kernel.model.get();
  }
  kernel.failure = "its code has been unloaded";
  return nullptr;
}

}  // namespace sluice::runtime
