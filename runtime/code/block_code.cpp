// The code of a launch's blocks.
#include <utility>

#include "runtime/code/code_registry.hpp"

namespace sluice::runtime {

const BlockCode& CodeRegistry::block_code(Function& function, const LaunchCall& call) {
  for (BlockCode& known : function.codes) {
    if (known.block == call.block && known.dynamic_shared_bytes == call.dynamic_shared_bytes) {
      if (known.pending) find_device_code(function, call, known);
      return known;
    }
  }
  BlockCode& fresh = function.codes.emplace_back();
  fresh.block = call.block;
  fresh.dynamic_shared_bytes = call.dynamic_shared_bytes;
  fresh.cost = &function.kernel->costs.emplace_back();
  if (backend_ != nullptr) {
    find_device_code(function, call, fresh);
    return fresh;
  }
  const Result<SluiceBlockCode> code =
      traced_ ? device_.traced_block_code(call.function, call.block, call.dynamic_shared_bytes)
              : device_.block_code(call.function, call.block, call.dynamic_shared_bytes);
  if (code && code->waits_for_blocks != 0) {
    fresh.failure = "its blocks may wait for each other";
  } else if (code) {
    fresh.code = *code;
  } else {
    fresh.failure = code.error().line();
  }
  return fresh;
}

void CodeRegistry::find_device_code(const Function& function, const LaunchCall& call,
                                    BlockCode& code) {
  const Result<const ptx::Module*> module = code_of(function).and_then(
      [&](PtxCode* ptx) { return ptx->module_with(function.kernel->name); });
  code.pending = false;
  if (!module) {
    code.failure = module.error().line();
    return;
  }
  megakernel::WindowBackend::Answer answer =
      backend_->find_code({.function = call.function,
                           .code = function.code,
                           .module = *module,
                           .name = function.kernel->name,
                           .block = call.block,
                           .dynamic_shared_bytes = call.dynamic_shared_bytes},
                          code.body);
  code.device = std::move(answer.code);
  code.failure = std::move(answer.reason);
  code.pending = answer.pending;
}

}  // namespace sluice::runtime
