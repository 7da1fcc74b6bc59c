#include "megakernel/cuda/body.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "megakernel/cuda/flow/flow.hpp"
#include "megakernel/cuda/rewrite/function_rewriter.hpp"
#include "megakernel/cuda/rewrite/places.hpp"
#include "ptx/target.hpp"
#include "ptx/visit.hpp"

namespace sluice::megakernel {
namespace {

constexpr uint64_t most_threads = 1024;

// What every device links by itself.
constexpr std::array<std::string_view, 4> device_functions = {"vprintf", "malloc", "free",
                                                              "__assertfail"};

// Reached is the kernel and the functions that it calls, the kernel first.
struct Reached {
  std::vector<const ptx::Function*> definitions;
  std::vector<const ptx::Function*> prototypes;
};

Status reach(const ptx::Module& module, const ptx::Function& function, Reached& reached) {
  reached.definitions.push_back(&function);
  Status status;
  ptx::for_each_instruction(function.body, [&](const ptx::Instruction& call) {
    if (call.opcode != ptx::Opcode::call || !status) return;
    const ptx::Function* callee = module.find_function(called_function(call));
    if (callee == nullptr) {
      status = unsupported("it calls a function through a pointer", function.name);
      return;
    }
    auto& known = callee->is_definition ? reached.definitions : reached.prototypes;
    if (std::find(known.begin(), known.end(), callee) != known.end()) return;
    if (callee->is_definition) {
      status = reach(module, *callee, reached);
    } else if (std::find(device_functions.begin(), device_functions.end(), callee->name) ==
               device_functions.end()) {
      status = unsupported(fmt::format("it calls {}, which its PTX does not define", callee->name),
                           function.name);
    } else {
      known.push_back(callee);
    }
  });
  return status;
}

Status check_flow(const FlowFacts& flow, const Dim3& block) {
  if (flow.has_matrix_operation && block.count() % 32 != 0) {
    return unsupported("it computes matrices in a warp that its block does not fill");
  }
  return {};
}

// Barriers in memory came with sm_80 and PTX 7.0.
void ask_for_memory_barriers(TaskBody& body) {
  if (ptx::target_age(body.target) < ptx::target_age("sm_80")) body.target = "sm_80";
  if (body.version_major >= 7) return;
  body.version_major = 7;
  body.version_minor = 0;
}

}  // namespace

Result<TaskBody> rewrite_body(const ptx::Module& module, std::string_view kernel, const Dim3& block,
                              std::string_view prefix) {
  const std::string where = fmt::format("kernel {}", kernel);
  const ptx::Function* function = module.find_function(kernel);
  if (function == nullptr || !function->is_entry || !function->is_definition) {
    return invalid_input("the PTX holds no kernel of that name", where);
  }
  if (module.address_size != 64) return unsupported("its addresses have 32 bits", where);
  if (block.count() == 0 || block.count() > most_threads) {
    return invalid_input("a block has 1 to 1024 threads", where);
  }
  Reached reached;
  if (Status status = reach(module, *function, reached); !status) {
    return tl::unexpected<Error>(status.error());
  }
  const FlowFacts flow = examine_flow(module, *function, block);
  if (Status status = check_flow(flow, block); !status) {
    Error error = status.error();
    error.where = where;
    return tl::unexpected<Error>(std::move(error));
  }
  const uint32_t threads = static_cast<uint32_t>((block.count() + 31) / 32 * 32);
  const bool meets_lanes = !flow.exchanges_past_ends.empty();
  Result<Places> places =
      Places::create(module, *function, reached.definitions, meets_lanes ? threads : 0);
  if (!places) {
    Error error = places.error();
    error.where = where;
    return tl::unexpected<Error>(std::move(error));
  }
  TaskBody body;
  body.drops_out = flow.has_barrier && (flow.ends_before_barrier || block.count() % 32 != 0);
  if (body.drops_out && std::any_of(reached.definitions.begin() + 1, reached.definitions.end(),
                                    [&](const ptx::Function* called) {
                                      bool meets = false;
                                      ptx::for_each_instruction(
                                          called->body, [&](const auto& inner) {
                                            meets |= inner.meeting() == ptx::Meeting::block;
                                          });
                                      return meets;
                                    })) {
    return unsupported("threads end before a barrier in a function that it calls", where);
  }
  const RewriteContext context{
      module, *places, block, std::string(prefix), body.drops_out, flow.exchanges_past_ends};
  for (const ptx::Function* prototype : reached.prototypes) {
    body.items.emplace_back(*prototype);
    body.prints |= prototype->name == "vprintf";
  }
  // Callees before callers; each has a prototype first, since they may call each other.
  std::vector<ptx::Function> definitions;
  for (const ptx::Function* definition : reached.definitions) {
    Result<ptx::Function> rewritten = rewrite_function(context, *definition);
    if (!rewritten) return tl::unexpected<Error>(rewritten.error());
    ptx::Function prototype = *rewritten;
    prototype.is_definition = false;
    prototype.body.statements.clear();
    if (!definition->is_entry) body.items.emplace_back(std::move(prototype));
    definitions.push_back(std::move(*rewritten));
  }
  body.function = definitions.front().name;
  for (size_t i = definitions.size(); i-- > 0;)
    body.items.emplace_back(std::move(definitions[i]));
  body.version_major = module.version_major;
  body.version_minor = module.version_minor;
  body.target = module.target.empty() ? "sm_75" : module.target.front();
  if (body.drops_out) ask_for_memory_barriers(body);
  body.block = block;
  body.threads = threads;
  body.parameter_bytes = places->parameter_bytes();
  body.variables = places->variables();
  body.dynamic_offset = places->dynamic_offset();
  body.meets_lanes = meets_lanes;
  body.independent =
      !flow.has_barrier && !places->has_shared() && !meets_lanes && !flow.asks_who_is_active;
  return body;
}

}  // namespace sluice::megakernel
