#include "megakernel/body_check.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <regex>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "megakernel/cuda/body.hpp"
#include "megakernel/cuda/linker.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "ptx/target.hpp"

namespace sluice::megakernel::testing {
namespace {

// An entry of the kernel's name that runs one block of the body, as a worker does.
std::string worker_of(const TaskBody& body, const std::string& kernel) {
  return fmt::format(
      ".visible .entry {}()\n{{\n.reg .b32 %c<3>;\n.param .b32 x;\n.param .b32 y;\n.param .b32 z;\n"
      "mov.u32 %c0, %ctaid.x;\nmov.u32 %c1, %ctaid.y;\nmov.u32 %c2, %ctaid.z;\n"
      "st.param.b32 [x], %c0;\nst.param.b32 [y], %c1;\nst.param.b32 [z], %c2;\n"
      "call {}, (x, y, z);\nret;\n}}\n",
      kernel, body.function);
}

Dim3 block_of(const ptx::Function& kernel) {
  Dim3 block{256, 1, 1};
  for (const ptx::Directive& attribute : kernel.attributes) {
    if (attribute.name != "maxntid" && attribute.name != "reqntid") continue;
    std::vector<uint32_t> extents;
    for (const std::string& argument : attribute.arguments) {
      if (argument.find_first_not_of("0123456789") == std::string::npos) {
        extents.push_back(static_cast<uint32_t>(std::strtoul(argument.c_str(), nullptr, 10)));
      }
    }
    extents.resize(3, 1);
    const Dim3 named{extents[0], extents[1], extents[2]};
    if (attribute.name == "reqntid") return named;
    block.x = static_cast<uint32_t>(std::min<uint64_t>(256, named.count()));
  }
  return block;
}

// A body that makes workers as wide as that.
TaskBody wide_body(uint32_t threads) {
  const auto module = ptx::parse(
      ".version 6.4\n.target sm_75\n.address_size 64\n.visible .entry wide()\n{\nret;\n}\n");
  return rewrite_body(*module, "wide", {threads, 1, 1}, "wide_").value();
}

void link(const std::vector<TaskBody>& bodies, RewrittenModule& result) {
  if (bodies.empty()) return;
  std::vector<const TaskBody*> pointers;
  for (const TaskBody& body : bodies) {
    pointers.push_back(&body);
    result.worker_bytes = std::max(result.worker_bytes, static_cast<int>(body.dynamic_offset));
  }
  result.linked = link_megakernel(pointers).value_or("no megakernel");
  uint32_t twice = 0;
  for (const TaskBody& body : bodies) {
    if (body.beside.is_possible) twice = std::max(twice, 2 * body.beside.threads);
  }
  if (twice == 0) return;
  const TaskBody wide = wide_body(twice);
  pointers.push_back(&wide);
  result.linked_beside = link_megakernel(pointers).value_or("no megakernel");
  for (const TaskBody& body : bodies) {
    const bool is_twice = body.beside.most(worker_threads(pointers)) > 1;
    result.worker_bytes_beside =
        std::max(result.worker_bytes_beside,
                 static_cast<int>(body.dynamic_offset + (is_twice ? body.beside.stride(0) : 0)));
  }
}

}  // namespace

Assembled run_ptxas(const std::string& file, unsigned architecture) {
  const std::string command =
      fmt::format("{} -v -arch=sm_{} -o /dev/null '{}' 2>&1", SLUICE_PTXAS, architecture, file);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  Assembled result;
  std::string entry;
  std::smatch match;
  std::array<char, 4096> line{};
  static const std::regex compiling("Compiling entry function '([^']*)'");
  static const std::regex registers("Used ([0-9]+) registers");
  static const std::regex stack("([0-9]+) bytes stack frame, ([0-9]+) bytes spill stores");
  while (fgets(line.data(), line.size(), pipe.get()) != nullptr) {
    const std::string text = line.data();
    result.output += text;
    if (std::regex_search(text, match, compiling)) entry = match[1];
    if (std::regex_search(text, match, stack)) {
      result.costs[entry].stack = std::stoi(match[1]);
      result.costs[entry].spills = std::stoi(match[2]);
    }
    if (std::regex_search(text, match, registers)) {
      result.costs[entry].registers = std::stoi(match[1]);
    }
  }
  result.accepted = result.output.find("error") == std::string::npos &&
                    result.output.find("fatal") == std::string::npos && !result.costs.empty();
  return result;
}

RewrittenModule rewrite_module(const ptx::Module& module, unsigned architecture,
                               const std::string& only) {
  RewrittenModule result;
  ptx::Module bodies = module;
  bodies.items.clear();
  std::string workers;
  std::vector<TaskBody> rewritten;
  std::vector<std::string> prototypes;
  for (const ptx::Function* kernel : module.kernels()) {
    if (!kernel->is_definition || (!only.empty() && kernel->name != only)) continue;
    const Result<TaskBody> body = rewrite_body(module, kernel->name, block_of(*kernel),
                                               fmt::format("b{}_", result.kernels.size()));
    if (!body) {
      result.refusals.push_back({kernel->name, body.error().what});
      continue;
    }
    const ptx::TargetAge age = ptx::target_age(body->target);
    if (age.architecture > architecture) {
      result.refusals.push_back({kernel->name, "it needs " + body->target});
      continue;
    }
    if (age > ptx::target_age(bodies.target.front())) bodies.target.front() = body->target;
    std::tie(bodies.version_major, bodies.version_minor) =
        std::max(std::pair(bodies.version_major, bodies.version_minor),
                 std::pair(body->version_major, body->version_minor));
    for (const ptx::ModuleItem& item : body->items) {
      const auto* function = std::get_if<ptx::Function>(&item);
      if (function != nullptr && function->linkage == "extern") {
        if (std::count(prototypes.begin(), prototypes.end(), function->name) > 0) continue;
        prototypes.push_back(function->name);
      }
      bodies.items.push_back(item);
    }
    workers += worker_of(*body, kernel->name);
    result.kernels.push_back(kernel->name);
    if (body->meets_lanes) result.meeting_lanes.push_back(kernel->name);
    rewritten.push_back(*body);
  }
  link(rewritten, result);
  std::erase(bodies.target, "debug");
  std::string text = ptx::print(bodies);
  const size_t header = text.find("\n\n");
  text.insert(header + 1, ".extern .shared .align 128 .b8 sluice_pool[];\n");
  result.text = text + workers;
  return result;
}

unsigned target_number(const ptx::Module& module) {
  return ptx::target_age(module.target.front()).architecture;
}

}  // namespace sluice::megakernel::testing
