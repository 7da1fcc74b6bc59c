#include "hostcuda/driver/code/grid_functions.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "ptx/link.hpp"
#include "ptx/parser.hpp"

namespace sluice::hostcuda {
namespace {

constexpr std::array names = {std::string_view("cudaCGGetIntrinsicHandle"),
                              std::string_view("cudaCGSynchronize")};

// The handle of the grid is the address of its workspace (resident_blocks.cpp), 0 where the launch
// isn't cooperative; other scopes have none. In the workspace's second word each block adds one,
// and the first what makes its top bit turn when all have come: then it differs from what each has
// found.
constexpr std::string_view definitions = R"(.version 7.0
.target sm_70
.address_size 64
.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
.reg .pred %grid;
.reg .b32 %scope, %low, %high;
.reg .b64 %workspace;
ld.param.u32 %scope, [scope];
setp.eq.u32 %grid, %scope, 1;
mov.u32 %low, %envreg2;
mov.u32 %high, %envreg1;
mov.b64 %workspace, {%low, %high};
selp.b64 %workspace, %workspace, 0, %grid;
st.param.b64 [handle], %workspace;
ret;
}
.visible .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
.reg .pred %none, %other, %first, %waits;
.reg .b32 %x, %y, %z, %blocks, %step, %found, %now;
.reg .b64 %workspace;
ld.param.u64 %workspace, [handle];
setp.eq.u64 %none, %workspace, 0;
@%none bra refused;
barrier.sync 0;
mov.u32 %x, %tid.x;
mov.u32 %y, %tid.y;
mov.u32 %z, %tid.z;
or.b32 %x, %x, %y;
or.b32 %x, %x, %z;
setp.ne.u32 %other, %x, 0;
@%other bra done;
mov.u32 %blocks, %nctaid.x;
mov.u32 %y, %nctaid.y;
mov.u32 %z, %nctaid.z;
mul.lo.u32 %blocks, %blocks, %y;
mul.lo.u32 %blocks, %blocks, %z;
sub.u32 %step, 0x80000001, %blocks;
mov.u32 %x, %ctaid.x;
mov.u32 %y, %ctaid.y;
mov.u32 %z, %ctaid.z;
or.b32 %x, %x, %y;
or.b32 %x, %x, %z;
setp.eq.u32 %first, %x, 0;
selp.u32 %step, %step, 1, %first;
fence.acq_rel.gpu;
atom.add.release.gpu.u32 %found, [%workspace+4], %step;
again:
ld.acquire.gpu.u32 %now, [%workspace+4];
xor.b32 %now, %now, %found;
setp.ge.s32 %waits, %now, 0;
@%waits bra again;
done:
barrier.sync 0;
st.param.b32 [error], 0;
ret;
refused:
st.param.b32 [error], 1;
ret;
}
)";

}  // namespace

bool is_grid_function(std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

Result<ptx::Module> with_grid_functions(ptx::Module module) {
  const bool needs = std::ranges::any_of(names, [&](std::string_view name) {
    const ptx::Function* function = module.find_function(name);
    return function != nullptr && !function->is_definition;
  });
  if (!needs) return module;
  Result<ptx::Module> ours = ptx::parse(definitions, "<device runtime>");
  if (!ours) return ours;
  std::vector<ptx::LinkUnit> units;
  units.push_back({"the program's", std::move(module)});
  units.push_back({"the device runtime", std::move(*ours)});
  return ptx::link_units(std::move(units), [](std::string_view) { return true; });
}

}  // namespace sluice::hostcuda
