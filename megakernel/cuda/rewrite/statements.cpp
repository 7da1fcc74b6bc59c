#include "megakernel/cuda/rewrite/statements.hpp"

#include <iterator>

#include "base/assert.hpp"
#include "ptx/parser.hpp"

namespace sluice::megakernel {

void append(ptx::Block& out, const std::string& text) {
  auto module =
      ptx::parse(".version 7.0\n.target sm_75\n.address_size 64\n.func f()\n{\n" + text + "\n}\n");
  SLUICE_ASSERT(module && "the rewriter's own lines parse");
  auto& function = std::get<ptx::Function>(module->items.at(0));
  std::move(function.body.statements.begin(), function.body.statements.end(),
            std::back_inserter(out.statements));
}

}  // namespace sluice::megakernel
