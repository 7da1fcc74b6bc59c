// The code of a launch's blocks.
#include <algorithm>
#include <utility>

#include "runtime/code/code_registry.hpp"

namespace sluice::runtime {

namespace {

BlockCode* known_code(Function& function, const LaunchCall& call) {
  const auto found = std::ranges::find_if(function.codes, [&](const BlockCode& known) {
    return known.block == call.block && known.context == call.stream.context &&
           known.dynamic_shared_bytes == call.dynamic_shared_bytes;
  });
  return found == function.codes.end() ? nullptr : &*found;
}

}  // namespace

const BlockCode& CodeRegistry::block_code(Function& function, const LaunchCall& call) {
  if (BlockCode* known = known_code(function, call)) {
    if (known->pending || known->limits != function.kernel->limits) ask(function, call, *known);
    return *known;
  }
  BlockCode& fresh = function.codes.emplace_back();
  fresh.context = call.stream.context;
  fresh.block = call.block;
  fresh.dynamic_shared_bytes = call.dynamic_shared_bytes;
  fresh.cost = &function.kernel->costs.emplace_back();
  ask(function, call, fresh);
  return fresh;
}

void CodeRegistry::ask(const Function& function, const LaunchCall& call, BlockCode& found) {
  if (found.limits != function.kernel->limits) found.is_accepted = false;
  found.limits = function.kernel->limits;
  if (backend_ != nullptr) return find_device_code(function, call, found);
  found.failure.clear();
  if (function.own) {
    found.code = *function.own;
    return;
  }
  const Result<SluiceBlockCode> code =
      traced_ ? device_.traced_block_code(call.function, call.block, call.dynamic_shared_bytes)
              : device_.block_code(call.function, call.block, call.dynamic_shared_bytes);
  if (code && code->waits_for_blocks != 0) {
    found.failure = "its blocks may wait for each other";
  } else if (code) {
    found.code = *code;
  } else {
    found.failure = code.error().line();
  }
}

void CodeRegistry::accepted(const LaunchCall& call, uint64_t limits) {
  Function* function = find(call.function);
  BlockCode* known = function == nullptr ? nullptr : known_code(*function, call);
  if (known != nullptr && known->limits == limits) known->is_accepted = true;
}

void CodeRegistry::prepare_block_code(Function& function, const LaunchCall& call) {
  if (backend_ == nullptr && !traced_) block_code(function, call);
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
      backend_->find_code({.context = call.stream.context,
                           .function = call.function,
                           .code = function.code,
                           .module = *module,
                           .name = function.kernel->name,
                           .block = call.block,
                           .dynamic_shared_bytes = call.dynamic_shared_bytes},
                          code.body);
  code.device = std::move(answer.code);
  code.failure = std::move(answer.reason);
  code.pending = answer.pending;
  // Grids within CUDA's limits fit every device; block and shared memory only the driver can judge,
  // which knows the kernel's registers, bounds and settings.
  if (code.failure.empty() && !code.is_accepted) {
    code.failure = "the driver has not accepted such a launch yet";
    code.pending = true;
  }
}

}  // namespace sluice::runtime
