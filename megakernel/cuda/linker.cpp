#include "megakernel/cuda/linker.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "megakernel/cuda/rewrite/block_group.hpp"
#include "megakernel/cuda/rewrite/block_loop.hpp"
#include "megakernel/cuda/rewrite/statements.hpp"
#include "megakernel/cuda/worker_memory.h"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "ptx/target.hpp"

extern "C" const char sluice_scheduler_ptx[];

namespace sluice::megakernel {
namespace {

constexpr const char* dispatch_name = "sluice_run_block";
constexpr const char* groups_of = "sluice_groups_";
constexpr uint32_t warp = 32;

// meeting_text() is where a group meets before its next block: the one before has left the shared
// memory then.
std::string meeting_text(const SideBySide& beside, uint32_t worker) {
  if (beside.is_one_warp()) return "bar.warp.sync 0xffffffff;";
  std::string text = "mov.u32 %sl_step, %tid.x;\n" + divide("%sl_step", beside.threads);
  for (uint32_t group = 0; group < beside.most(worker); ++group) {
    text += fmt::format("\nsetp.eq.u32 %sl_on, %sl_step, {};\n@%sl_on barrier.sync {}, {};", group,
                        1 + group * beside.barriers, beside.threads);
  }
  return text +
         fmt::format("\nld.shared.u32 %sl_step, [{}+{}];", SLUICE_POOL, +SLUICE_CONTROL_AT_ONCE);
}

// groups_text() is a function that runs the blocks of a task, as many at once as the slot says, by
// calling the body for each.
std::string groups_text(const TaskBody& body, uint32_t worker) {
  return fmt::format(R"(
.func {}{}({})
{{
{}{}
{{
.param .b32 bx;
.param .b32 by;
.param .b32 bz;
st.param.b32 [bx], %sl_ctaid_x;
st.param.b32 [by], %sl_ctaid_y;
st.param.b32 [bz], %sl_ctaid_z;
call {}, (bx, by, bz);
}}
{}}}
)",
                     groups_of, body.function, place_parameters(), read_place(),
                     open_blocks(body.beside.threads), body.function,
                     close_blocks(body.beside.threads, meeting_text(body.beside, worker)));
}

// Bodies that go from block to block by themselves need nobody who calls them for each.
bool needs_groups(const TaskBody& body, uint32_t worker) {
  return body.beside.most(worker) > 1 && !body.beside.is_independent;
}

// dispatch_text() is a module with sluice_run_block(): a jump by the body's number to a direct call
// of the body, which costs no stack where a table of function pointers would.
std::string dispatch_text(std::span<const TaskBody* const> bodies) {
  const uint32_t worker = worker_threads(bodies);
  std::string text = ".version 6.4\n.target sm_75\n.address_size 64\n";
  for (const TaskBody* body : bodies) {
    if (needs_groups(*body, worker)) text += groups_text(*body, worker);
  }
  text += fmt::format(
      ".func {}(.param .b32 body, .param .b32 x, .param .b32 y, .param .b32 z)\n{{\n"
      ".reg .b32 %r<4>;\nld.param.u32 %r0, [body];\nld.param.u32 %r1, [x];\n"
      "ld.param.u32 %r2, [y];\nld.param.u32 %r3, [z];\n",
      dispatch_name);
  if (bodies.size() > 1) {
    text += "$bodies: .branchtargets ";
    for (size_t i = 0; i < bodies.size(); ++i)
      text += fmt::format("{}$body{}", i == 0 ? "" : ", ", i);
    text += ";\nbrx.idx %r0, $bodies;\n";
  }
  for (size_t i = 0; i < bodies.size(); ++i) {
    text += fmt::format(
        "$body{}:\n{{\n.param .b32 px;\n.param .b32 py;\n.param .b32 pz;\n"
        "st.param.b32 [px], %r1;\nst.param.b32 [py], %r2;\nst.param.b32 [pz], %r3;\n"
        "call {}{}, (px, py, pz);\n}}\nret;\n",
        i, needs_groups(*bodies[i], worker) ? groups_of : "", bodies[i]->function);
  }
  return text + "}\n";
}

// Appends the items of a module of ours.
Status append_own(std::string_view text, std::vector<ptx::ModuleItem>& items) {
  Result<ptx::Module> module = ptx::parse(text, "the scheduler");
  if (!module) return tl::unexpected<Error>(module.error());
  for (ptx::ModuleItem& item : module->items) {
    const auto* function = std::get_if<ptx::Function>(&item);
    const bool is_declared_dispatch =
        function != nullptr && !function->is_definition && function->name == dispatch_name;
    if (!is_declared_dispatch) items.push_back(std::move(item));
  }
  return {};
}

}  // namespace

std::string_view scheduler_ptx() {
  return sluice_scheduler_ptx;
}

// A processor of some architectures holds 16 workers, which with one warp each leave half of it
// free.
uint32_t worker_threads(std::span<const TaskBody* const> bodies) {
  uint32_t threads = warp;
  for (const TaskBody* body : bodies) {
    threads = std::max(threads, body->beside.threads);
    if (body->beside.most(2 * warp) > 1) threads = std::max(threads, 2 * warp);
  }
  return threads;
}

Result<std::string> link_megakernel(std::span<const TaskBody* const> bodies,
                                    uint32_t most_registers) {
  SLUICE_ASSERT(!bodies.empty());
  Result<ptx::Module> scheduler = ptx::parse(scheduler_ptx(), "the scheduler");
  if (!scheduler) return tl::unexpected<Error>(scheduler.error());
  ptx::Module linked;
  linked.address_size = 64;
  linked.target = {scheduler->target.front()};
  std::pair version{scheduler->version_major, scheduler->version_minor};

  const uint32_t worker = worker_threads(bodies);
  std::set<std::string> declared;  // device functions, which several bodies may call
  for (const TaskBody* body : bodies) {
    version = std::max(version, {body->version_major, body->version_minor});
    if (ptx::target_age(body->target) > ptx::target_age(linked.target.front())) {
      linked.target.front() = body->target;
    }
    const bool in_groups = body->beside.most(worker) > 1;
    for (ptx::ModuleItem item : in_groups ? body->group_items : body->items) {
      if (auto* own = std::get_if<ptx::Function>(&item); own != nullptr && in_groups)
        BlockGroup::own_barriers(*own, body->beside, body->beside.most(worker));
      const auto* function = std::get_if<ptx::Function>(&item);
      const bool is_device_function = function != nullptr && function->linkage == "extern";
      if (is_device_function && !declared.insert(function->name).second) continue;
      linked.items.push_back(std::move(item));
    }
  }
  std::tie(linked.version_major, linked.version_minor) = version;

  // The pool must stand before the bodies that name it, and the bodies before what calls them.
  std::vector<ptx::ModuleItem> own;
  std::vector<ptx::ModuleItem> dispatch;
  if (Status status = append_own(scheduler_ptx(), own); !status) {
    return tl::unexpected<Error>(status.error());
  }
  if (Status status = append_own(dispatch_text(bodies), dispatch); !status) {
    return tl::unexpected<Error>(status.error());
  }
  for (ptx::ModuleItem& item : own) {
    if (auto* kernel = std::get_if<ptx::Function>(&item); kernel != nullptr && kernel->is_entry) {
      kernel->attributes.push_back({"maxntid", {std::to_string(worker_threads(bodies))}, {}});
      // Without either ptxas aims at a number of workers on a processor by itself, and spills for
      // that.
      if (most_registers == 0) {
        kernel->attributes.push_back({"minnctapersm", {"1"}, {}});
      } else {
        kernel->attributes.push_back({"maxnreg", {std::to_string(most_registers)}, {}});
      }
    }
  }
  const auto first_function = std::find_if(own.begin(), own.end(), [](const ptx::ModuleItem& item) {
    return std::holds_alternative<ptx::Function>(item);
  });
  linked.items.insert(linked.items.begin(), own.begin(), first_function);
  linked.items.insert(linked.items.end(), dispatch.begin(), dispatch.end());
  linked.items.insert(linked.items.end(), first_function, own.end());
  return ptx::print(linked);
}

}  // namespace sluice::megakernel
