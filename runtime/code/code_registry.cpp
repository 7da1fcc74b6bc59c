#include "runtime/code/code_registry.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/terminal/slow_work.hpp"
#include "ptx/fat_binary.hpp"
#include "runtime/code/kept_figures.hpp"

namespace sluice::runtime {
namespace {

// A kernel's first analyses are the long ones.
constexpr size_t shapes_watched = 4;

// Only those who have to wait for an analysis are told that it takes long.
std::optional<SlowWork> tell_of(const std::string& kernel, const Background& background) {
  if (!background.waits()) return std::nullopt;
  return std::optional<SlowWork>(std::in_place, "analysing", kernel, slow_analysis,
                                 patience_with_analysis);
}

}  // namespace

struct CodeImage {
  std::optional<PtxCode> code;
  std::string failure;  // why there is none
  std::unordered_map<std::string, std::shared_ptr<Kernel>> kernels;

  Memory memory_of_variables() const {
    return code && code->has_managed_variables() ? Memory::host_may_watch : Memory::of_device;
  }
};

CodeRegistry::CodeRegistry(ModelMaker maker, Background& background, int64_t (*clock)(),
                           Device& device, megakernel::WindowBackend* backend, bool traced)
    : maker_(std::move(maker)),
      background_(background),
      clock_(clock),
      device_(device),
      backend_(backend),
      traced_(traced) {}
CodeRegistry::~CodeRegistry() = default;

void CodeRegistry::code_loaded(void* code, const void* bytes) {
  auto image = std::make_shared<CodeImage>();
  const uint32_t architecture = device_.architecture();
  Result<std::vector<std::string>> texts =
      ptx::read_image(bytes).and_then([&](const ptx::CodeImage& read) {
        if (architecture == 0) return read.best_ptx();
        // What is compiled for one architecture alone may touch other memory.
        const std::string other = read.other_code(architecture);
        if (!other.empty()) log::warning("code of the program: {}", other);
        return read.best_ptx(architecture);
      });
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

void CodeRegistry::add_own(void* function, const char* name, std::unique_ptr<KernelModel> model,
                           const SluiceBlockCode& blocks) {
  Function& entry = functions_[function];
  entry.kernel = std::make_shared<Kernel>();
  entry.kernel->name = name;
  entry.kernel->tried = true;
  entry.kernel->model = std::move(model);
  entry.kernel->last_analysis = 0;  // it answers at once
  entry.own = blocks;
}

void CodeRegistry::forget_device_code() {
  for (auto& [handle, function] : functions_)
    function.codes.clear();
}

void CodeRegistry::limits_changed(void* function) {
  if (const Function* known = find(function)) ++known->kernel->limits;
}

uint64_t CodeRegistry::limits_of(void* function) {
  const Function* known = find(function);
  return known == nullptr ? 0 : known->kernel->limits;
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

Result<PtxCode*> code_of(const Function& function) {
  CodeImage& image = *function.image;
  if (!image.code) return unsupported(image.failure);
  return &*image.code;
}

void CodeRegistry::make_model(const Function& function, bool if_kept) {
  Kernel& kernel = *function.kernel;
  if (kernel.tried || kernel.making.valid()) return;
  // What an earlier start has left takes less than to ask another thread for it.
  if (PtxCode* code = function.image->code ? &*function.image->code : nullptr) {
    kernel.model = maker_.kept(*code, kernel.name);
    kernel.tried = kernel.model != nullptr;
    if (kernel.tried) return;
  }
  if (if_kept) return;
  kernel.making = background_.run(
      [this, name = kernel.name, image = function.image]() -> Result<std::unique_ptr<KernelModel>> {
        const std::optional<SlowWork> telling = tell_of(name, background_);
        if (!image->code) return unsupported(image->failure);
        return maker_(*image->code, name);
      });
}

void CodeRegistry::ask_for_footprint(const Function& function, const analysis::LaunchShape& shape,
                                     bool at_once) {
  // To watch each of many shapes would cost more than they do.
  const bool is_watched = function.kernel->footprints.size() < shapes_watched;
  Policy::Account* const pay = &function.kernel->pay.account(shape.grid, shape.block);
  const auto answer = [this, kernel = function.kernel, image = function.image, pay, shape,
                       is_watched] {
    const auto telling = is_watched ? tell_of(kernel->name, background_) : std::nullopt;
    const int64_t began = clock_();
    const bool is_analysed = !kernel->model->is_kept(shape);
    if (is_analysed) kernel->unfinished.from = background_.spent();
    TimedFootprint timed{kernel->model->footprint(shape)};
    if (is_analysed) keep_finished(*kernel);
    timed.nanoseconds = clock_() - began;
    timed.dearest = kernel->model->dearest();
    pay->analysis += timed.nanoseconds;
    --kernel->in_analysis;
    return timed;
  };
  ++function.kernel->in_analysis;
  function.kernel->asked.emplace(shape,
                                 at_once ? Background(true).run(answer) : background_.run(answer));
}

bool may_signal(const Function& function) {
  if (function.own) return false;
  return !function.image->code || function.image->code->may_signal(function.kernel->name);
}

Memory CodeRegistry::memory_of_variables(void* code) const {
  const auto found = images_.find(code);
  return found == images_.end() ? Memory::no_buffer : found->second->memory_of_variables();
}

Memory memory_of_variables(const Function& function) {
  return function.image->memory_of_variables();
}

KernelModel* model_of(const Function& function) {
  Kernel& kernel = *function.kernel;
  if (kernel.tried) return kernel.model.get();
  kernel.tried = true;
  Result<std::unique_ptr<KernelModel>> model = kernel.making.get();
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
