// %tid, %ctaid and the like as NVVM intrinsics.
#include <map>

#include "ptx/lift/families.hpp"

namespace sluice::ptx::lift_detail {

namespace {

// read_half() is half of a register of 64 bits, or a counter of events that are not counted, or
// what a driver may tell a kernel and does not; else null.
llvm::Value* read_half(llvm::IRBuilder<>& ir, std::string_view name) {
  using namespace llvm::Intrinsic;
  const auto half = [&](ID whole, unsigned from) {
    return ir.CreateTrunc(ir.CreateLShr(ir.CreateIntrinsic(whole, {}, {}), from), ir.getInt32Ty());
  };
  if (name == "%clock_hi") return half(nvvm_read_ptx_sreg_clock64, 32);
  if (name == "%globaltimer_lo") return half(nvvm_read_ptx_sreg_globaltimer, 0);
  if (name == "%globaltimer_hi") return half(nvvm_read_ptx_sreg_globaltimer, 32);
  if (name.starts_with("%envreg")) return ir.getInt32(0);
  if (name.starts_with("%pm")) return name.ends_with("_64") ? ir.getInt64(0) : ir.getInt32(0);
  return nullptr;
}

// LLVM 19 has no intrinsic for the bytes of dynamic shared memory; a function of such a name stands
// for it.
llvm::Value* read_dynamic_shared_bytes(llvm::IRBuilder<>& ir) {
  llvm::Module& module = *ir.GetInsertBlock()->getModule();
  llvm::FunctionCallee read = module.getOrInsertFunction(
      "llvm.nvvm.read.ptx.sreg.dynamic_smem_size", llvm::FunctionType::get(ir.getInt32Ty(), false));
  auto& function = *llvm::cast<llvm::Function>(read.getCallee());
  function.setDoesNotAccessMemory();
  function.setDoesNotThrow();
  function.setWillReturn();
  return ir.CreateCall(read);
}

}  // namespace

llvm::Value* read_special_register(InstructionLifter& lifter, std::string_view name,
                                   std::string_view component) {
  using namespace llvm::Intrinsic;
  static const std::map<std::string, llvm::Intrinsic::ID, std::less<>> table = {
      {"%tid.x", nvvm_read_ptx_sreg_tid_x},
      {"%tid.y", nvvm_read_ptx_sreg_tid_y},
      {"%tid.z", nvvm_read_ptx_sreg_tid_z},
      {"%ntid.x", nvvm_read_ptx_sreg_ntid_x},
      {"%ntid.y", nvvm_read_ptx_sreg_ntid_y},
      {"%ntid.z", nvvm_read_ptx_sreg_ntid_z},
      {"%ctaid.x", nvvm_read_ptx_sreg_ctaid_x},
      {"%ctaid.y", nvvm_read_ptx_sreg_ctaid_y},
      {"%ctaid.z", nvvm_read_ptx_sreg_ctaid_z},
      {"%nctaid.x", nvvm_read_ptx_sreg_nctaid_x},
      {"%nctaid.y", nvvm_read_ptx_sreg_nctaid_y},
      {"%nctaid.z", nvvm_read_ptx_sreg_nctaid_z},
      {"%laneid", nvvm_read_ptx_sreg_laneid},
      {"%warpid", nvvm_read_ptx_sreg_warpid},
      {"%nwarpid", nvvm_read_ptx_sreg_nwarpid},
      {"%smid", nvvm_read_ptx_sreg_smid},
      {"%nsmid", nvvm_read_ptx_sreg_nsmid},
      {"%gridid", nvvm_read_ptx_sreg_gridid},
      {"%lanemask_eq", nvvm_read_ptx_sreg_lanemask_eq},
      {"%lanemask_le", nvvm_read_ptx_sreg_lanemask_le},
      {"%lanemask_lt", nvvm_read_ptx_sreg_lanemask_lt},
      {"%lanemask_ge", nvvm_read_ptx_sreg_lanemask_ge},
      {"%lanemask_gt", nvvm_read_ptx_sreg_lanemask_gt},
      {"%clock", nvvm_read_ptx_sreg_clock},
      {"%clock64", nvvm_read_ptx_sreg_clock64},
      {"%globaltimer", nvvm_read_ptx_sreg_globaltimer},
      // What a driver tells a kernel: 1 and 2 are the address of a grid's workspace, see
      // cooperative_groups/details/driver_abi.h of the toolkit.
      {"%envreg0", nvvm_read_ptx_sreg_envreg0},
      {"%envreg1", nvvm_read_ptx_sreg_envreg1},
      {"%envreg2", nvvm_read_ptx_sreg_envreg2}};
  if (name == "WARP_SZ") return lifter.ir().getInt32(32);
  std::string full(name);
  if (!component.empty()) full.append(1, '.').append(component);
  auto found = table.find(full);
  if (found != table.end()) return lifter.ir().CreateIntrinsic(found->second, {}, {});
  if (full == "%dynamic_smem_size") return read_dynamic_shared_bytes(lifter.ir());
  if (llvm::Value* half = read_half(lifter.ir(), full)) return half;
  if (llvm::Value* cluster = read_cluster_register(lifter, name, component)) return cluster;
  if (name.starts_with("%")) {
    lifter.refuse_unsupported(quoted(full) +
                              " is neither a declared register nor a supported special one");
  }
  return nullptr;
}

}  // namespace sluice::ptx::lift_detail
