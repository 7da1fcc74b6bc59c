// The megakernel whose way from a ticket to the body is counted, in machine code and in PTX.
#pragma once

#include <string>
#include <utility>

#include "base/result.hpp"
#include "megakernel/cuda/body.hpp"
#include "megakernel/cuda/linker.hpp"
#include "ptx/parser.hpp"

namespace sluice::megakernel::testing {

struct CountingMegakernel {
  TaskBody body;     // b0_k: each thread of a block adds one to a counter
  std::string text;  // the megakernel with that body alone
};

inline Result<CountingMegakernel> counting_megakernel() {
  constexpr const char* kernel =
      ".version 7.0\n.target sm_75\n.address_size 64\n"
      ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %rd<2>;\n"
      "ld.param.u64 %rd1, [out];\nred.global.add.u32 [%rd1], 1;\nret;\n}\n";
  const auto module = ptx::parse(kernel, "kernel");
  if (!module) return tl::unexpected(module.error());
  // Workers are two warps wide, as its blocks are.
  auto body = rewrite_body(*module, "k", {64, 1, 1}, "b0_");
  if (!body) return tl::unexpected<Error>(body.error());
  const TaskBody* const bodies[] = {&*body};
  auto text = link_megakernel(bodies);
  if (!text) return tl::unexpected(text.error());
  return CountingMegakernel{std::move(*body), std::move(*text)};
}

}  // namespace sluice::megakernel::testing
