#include "megakernel/cuda/body.hpp"

#include <algorithm>
#include <array>
#include <set>
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

template <class Call>
void for_each_instruction(const Reached& reached, const Call& call) {
  for (const ptx::Function* function : reached.definitions)
    ptx::for_each_instruction(function->body, call);
}

// read_by() is the names that the functions read.
std::set<std::string> read_by(const Reached& reached) {
  std::set<std::string> names;
  for_each_instruction(reached, [&](const ptx::Instruction& here) {
    if (here.guard) names.insert(here.guard->predicate);
    for (size_t i = here.has_result() ? 1 : 0; i < here.operands.size(); ++i)
      ptx::for_each_name(here.operands[i], [&](const std::string& name) { names.insert(name); });
  });
  return names;
}

// may_wait() is whether a thread may wait for what another block does: a look-back scan reads its
// neighbour's word until it is there, and a lock is taken by an atomic operation that says whether.
bool may_wait(const Reached& reached) {
  const std::set<std::string> read = read_by(reached);
  bool waits = false;
  for_each_instruction(reached, [&](const ptx::Instruction& here) {
    if (here.has_modifier("shared") || here.has_modifier("shared::cta")) return;
    waits |= here.opcode == ptx::Opcode::ld &&
             (here.has_modifier("volatile") || here.has_modifier("relaxed") ||
              here.has_modifier("acquire") || here.has_modifier("mmio"));
    if (here.opcode != ptx::Opcode::atom || here.operands.empty()) return;
    ptx::for_each_name(here.operands.front(),
                       [&](const std::string& name) { waits |= read.contains(name); });
  });
  return waits;
}

// barriers_of() is how many of the block's barriers the functions use, as far as their numbers are
// literals: others are refused.
uint32_t barriers_of(const Reached& reached) {
  uint64_t count = 0;
  for_each_instruction(reached, [&](const ptx::Instruction& here) {
    if (here.meeting() != ptx::Meeting::block) return;
    if (const auto* id = barrier_id(here)) count = std::max(count, id->bits + 1);
  });
  return static_cast<uint32_t>(std::min<uint64_t>(count, 16));
}

// meets_whole() is whether all of the block's barriers are such that a block of one warp has no
// need of a processor's barrier for them: they neither reduce nor go on without those that come
// later.
bool meets_whole(const Reached& reached) {
  bool is_whole = true;
  for_each_instruction(reached, [&](const ptx::Instruction& here) {
    if (here.meeting() != ptx::Meeting::block) return;
    is_whole &= !here.has_modifier("red") && !here.has_modifier("arrive");
  });
  return is_whole;
}

// why_one_at_a_time() is why no worker runs several blocks of it at once; empty: some do.
std::string why_one_at_a_time(const TaskBody& body, const Reached& reached) {
  if (uint64_t{2} * body.beside.threads > most_threads)
    return "no worker is twice as wide as its blocks";
  if (body.drops_out)
    return "threads of a block end before its barriers, or it fills no whole warps";
  if (body.beside.barriers > SideBySide::barriers_of_worker(1024) / 2)
    return "two of its blocks need more barriers than there are";
  // On the CPU device a warp that looks for it would not let the worker's other warps go on.
  if (may_wait(reached)) return "its blocks may wait for each other";
  return {};
}

// Callees before callers; each has a prototype first, since they may call each other.
Result<std::vector<ptx::ModuleItem>> rewrite_all(const RewriteContext& context,
                                                 const Reached& reached) {
  std::vector<ptx::ModuleItem> items;
  for (const ptx::Function* prototype : reached.prototypes)
    items.emplace_back(*prototype);
  std::vector<ptx::Function> definitions;
  for (const ptx::Function* definition : reached.definitions) {
    Result<ptx::Function> rewritten = rewrite_function(context, *definition);
    if (!rewritten) return tl::unexpected<Error>(rewritten.error());
    ptx::Function prototype = *rewritten;
    prototype.is_definition = false;
    prototype.body.statements.clear();
    if (!definition->is_entry) items.emplace_back(std::move(prototype));
    definitions.push_back(std::move(*rewritten));
  }
  for (size_t i = definitions.size(); i-- > 0;)
    items.emplace_back(std::move(definitions[i]));
  return items;
}

// write_items() rewrites all for workers that run one block at a time, and for groups of threads.
Status write_items(TaskBody& body, RewriteContext& context, const Reached& reached) {
  auto items = rewrite_all(context, reached);
  if (!items) return tl::unexpected<Error>(items.error());
  body.items = std::move(*items);
  body.one_at_a_time = why_one_at_a_time(body, reached);
  if (!body.one_at_a_time.empty()) return {};
  body.beside.is_possible = true;
  context.group = BlockGroup(body.beside);
  items = rewrite_all(context, reached);
  if (!items) return tl::unexpected<Error>(items.error());
  body.group_items = std::move(*items);
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
  for (const ptx::Function* prototype : reached.prototypes)
    body.prints |= prototype->name == "vprintf";
  body.function = std::string(prefix) + function->name;
  const bool is_warp = threads == 32 && meets_whole(reached);
  const bool is_independent =
      !flow.has_barrier && !places->has_shared() && !meets_lanes && !flow.asks_who_is_active;
  body.beside = {.threads = threads,
                 .barriers = is_independent || is_warp ? 0 : std::max(1U, barriers_of(reached)),
                 .is_independent = is_independent,
                 .has_memory = places->has_shared() || meets_lanes,
                 .offset = places->own_offset(),
                 .bytes = places->dynamic_offset() - places->own_offset()};
  RewriteContext context{module,
                         *places,
                         block,
                         BlockGroup(std::nullopt),
                         std::string(prefix),
                         is_independent,
                         body.drops_out,
                         flow.exchanges_past_ends};
  if (Status status = write_items(body, context, reached); !status) {
    return tl::unexpected<Error>(status.error());
  }
  body.version_major = module.version_major;
  body.version_minor = module.version_minor;
  body.target = module.target.empty() ? "sm_75" : module.target.front();
  if (body.drops_out) ask_for_memory_barriers(body);
  body.block = block;
  body.parameter_bytes = places->parameter_bytes();
  body.variables = places->variables();
  body.dynamic_offset = places->dynamic_offset();
  body.meets_lanes = meets_lanes;
  return body;
}

}  // namespace sluice::megakernel
