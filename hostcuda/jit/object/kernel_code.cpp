#include "hostcuda/jit/object/kernel_code.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>

#include "hostcuda/jit/block/block_body.hpp"
#include "hostcuda/jit/block/block_function.hpp"
#include "hostcuda/jit/library/directed_float.hpp"
#include "hostcuda/jit/lines/debug_lines.hpp"
#include "hostcuda/jit/lowering/access_trace.hpp"
#include "hostcuda/jit/object/host_target.hpp"
#include "hostcuda/jit/object/optimiser.hpp"
#include "hostcuda/jit/watch/data_oblivious.hpp"
#include "hostcuda/jit/watch/thread_watch.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// Diagnostics keeps the first error that LLVM reports instead of printing it, which LLVM would do
// in the middle of a user's program.
class Diagnostics : public DiagnosticHandler {
 public:
  explicit Diagnostics(std::string& error) : error_(error) {}
  bool handleDiagnostics(const DiagnosticInfo& info) override {
    if (info.getSeverity() == DS_Error && error_.empty()) {
      raw_string_ostream stream(error_);
      DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return true;
  }

 private:
  std::string& error_;
};

// Only the block's functions are left to compile.
void drop_thread_function(Module& module, Function* thread) {
  thread->eraseFromParent();
  for (Function& function : make_early_inc_range(module)) {
    if (function.isDeclaration() && function.use_empty()) function.eraseFromParent();
  }
  for (GlobalVariable& variable : make_early_inc_range(module.globals())) {
    variable.removeDeadConstantUsers();
    if (variable.use_empty()) variable.eraseFromParent();
  }
  if (NamedMDNode* annotations = module.getNamedMetadata("nvvm.annotations")) {
    annotations->eraseFromParent();
  }
}

}  // namespace

Result<KernelCode> compile_kernel(std::unique_ptr<Module> module, const KernelContext& context) {
  const std::string where = fmt::format("kernel {}", context.kernel);
  const auto at_kernel = [&](Error error) {
    if (error.where.empty()) error.where = where;
    return tl::unexpected(std::move(error));
  };
  std::string complaint;
  module->getContext().setDiagnosticHandler(std::make_unique<Diagnostics>(complaint));
  Result<std::unique_ptr<TargetMachine>> target = make_host_target();
  if (!target) return at_kernel(target.error());

  use_directed_instructions(*module, **target);
  if (context.traced) mark_private_accesses(*module, !context.watched);
  Result<ThreadFunction> thread = make_thread_function(*module, context);
  if (!thread) return at_kernel(thread.error());
  if (context.lines) note_lines(*thread, *context.lines);
  // Before anything is simplified, so that no access is optimised away.
  if (context.watched) {
    insert_watch(*thread, context);
  } else if (context.traced) {
    insert_trace(*thread->function);
  }
  module->setTargetTriple((*target)->getTargetTriple().str());
  module->setDataLayout((*target)->createDataLayout());
  if (Status status = verify(*module, "lowering"); !status) return at_kernel(status.error());
  simplify(*thread->function, **target);
  read_structures_first(*thread);
  bind_origin(*thread->function);
  if (context.watched) tell_data_oblivious(*thread);

  KernelCode code;
  ExchangePlan layout;
  const BlockBody body = emit_block_body(*thread, context, layout);
  const uint64_t shared_offset = body.private_bytes + body.bytes_below_shared;
  code.symbol = fmt::format("{}.block.{}x{}x{}", context.kernel, context.block.x, context.block.y,
                            context.block.z);
  emit_block_function(body, shared_offset, thread->is_flushing, code.symbol);
  code.scratch_bytes = shared_offset + std::max(thread->static_shared_bytes, body.shared_bytes);
  code.waits_for_blocks = body.waits_for_blocks;
  drop_thread_function(*module, thread->function);
  if (context.lines) settle_lines(*module, context.kernel, *context.lines);
  if (Status status = verify(*module, "region splitting"); !status) {
    return at_kernel(status.error());
  }
  define_directed_floats(*module);
  optimise(*module, **target);
  inline_directed_floats(*module);
  Result<std::unique_ptr<MemoryBuffer>> object = compile(*module, **target);
  if (!object) return at_kernel(object.error());
  if (!complaint.empty()) {
    return at_kernel(Error{ErrorKind::system, fmt::format("LLVM: {}", complaint)});
  }
  code.object = std::move(*object);
  return code;
}

}  // namespace sluice::hostcuda::jit
