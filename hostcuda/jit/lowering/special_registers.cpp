#include "hostcuda/jit/lowering/special_registers.hpp"

#include <llvm/IR/IntrinsicsNVPTX.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

Value* lane(Function& function, const Dim3& block, IRBuilder<>& ir) {
  return ir.CreateAnd(linear_thread(function, block, ir), 31);
}

Value* lane_mask(Intrinsic::ID id, Value* lane, IRBuilder<>& ir) {
  Value* equal = ir.CreateShl(ir.getInt32(1), lane);
  Value* less = ir.CreateSub(equal, ir.getInt32(1));
  switch (id) {
    case Intrinsic::nvvm_read_ptx_sreg_lanemask_eq:
      return equal;
    case Intrinsic::nvvm_read_ptx_sreg_lanemask_lt:
      return less;
    case Intrinsic::nvvm_read_ptx_sreg_lanemask_le:
      return ir.CreateOr(equal, less);
    case Intrinsic::nvvm_read_ptx_sreg_lanemask_gt:
      return ir.CreateNot(ir.CreateOr(equal, less));
    default:
      return ir.CreateNot(less);
  }
}

}  // namespace

Value* linear_thread(Function& function, const Dim3& block, IRBuilder<>& ir) {
  Value* x = function.getArg(ThreadFunction::tid);
  Value* y = function.getArg(ThreadFunction::tid + 1);
  Value* z = function.getArg(ThreadFunction::tid + 2);
  if (block.y == 1 && block.z == 1) return x;
  Value* row = ir.CreateNUWAdd(y, ir.CreateNUWMul(z, ir.getInt32(block.y)));
  return ir.CreateNUWAdd(x, ir.CreateNUWMul(row, ir.getInt32(block.x)));
}

Value* special_register(IntrinsicInst& read, const Dim3& block, uint64_t static_shared_bytes,
                        IRBuilder<>& ir) {
  Function& function = *read.getFunction();
  const auto argument = [&](unsigned index) { return function.getArg(index); };
  switch (read.getIntrinsicID()) {
    case Intrinsic::nvvm_read_ptx_sreg_tid_x:
      return argument(ThreadFunction::tid);
    case Intrinsic::nvvm_read_ptx_sreg_tid_y:
      return argument(ThreadFunction::tid + 1);
    case Intrinsic::nvvm_read_ptx_sreg_tid_z:
      return argument(ThreadFunction::tid + 2);
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
      return argument(ThreadFunction::ctaid);
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
      return argument(ThreadFunction::ctaid + 1);
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
      return argument(ThreadFunction::ctaid + 2);
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
      return argument(ThreadFunction::nctaid);
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_y:
      return argument(ThreadFunction::nctaid + 1);
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_z:
      return argument(ThreadFunction::nctaid + 2);
    case Intrinsic::nvvm_read_ptx_sreg_ntid_x:
      return ir.getInt32(block.x);
    case Intrinsic::nvvm_read_ptx_sreg_ntid_y:
      return ir.getInt32(block.y);
    case Intrinsic::nvvm_read_ptx_sreg_ntid_z:
      return ir.getInt32(block.z);
    case Intrinsic::nvvm_read_ptx_sreg_laneid:
      return lane(function, block, ir);
    case Intrinsic::nvvm_read_ptx_sreg_warpid:
      return ir.CreateLShr(linear_thread(function, block, ir), 5);
    case Intrinsic::nvvm_read_ptx_sreg_nwarpid:
      return ir.getInt32(static_cast<uint32_t>((block.count() + 31) / 32));
    case Intrinsic::nvvm_read_ptx_sreg_warpsize:
      return ir.getInt32(32);
    case Intrinsic::nvvm_read_ptx_sreg_lanemask_eq:
    case Intrinsic::nvvm_read_ptx_sreg_lanemask_lt:
    case Intrinsic::nvvm_read_ptx_sreg_lanemask_le:
    case Intrinsic::nvvm_read_ptx_sreg_lanemask_gt:
    case Intrinsic::nvvm_read_ptx_sreg_lanemask_ge:
      return lane_mask(read.getIntrinsicID(), lane(function, block, ir), ir);
    case Intrinsic::nvvm_read_ptx_sreg_envreg0:
      return ir.getInt32(0);
    case Intrinsic::nvvm_read_ptx_sreg_envreg1:
      return ir.CreateTrunc(ir.CreateLShr(argument(ThreadFunction::grid_workspace), 32),
                            ir.getInt32Ty());
    case Intrinsic::nvvm_read_ptx_sreg_envreg2:
      return ir.CreateTrunc(argument(ThreadFunction::grid_workspace), ir.getInt32Ty());
    case Intrinsic::nvvm_read_ptx_sreg_smid:
      return ir.getInt32(0);
    case Intrinsic::nvvm_read_ptx_sreg_nsmid:
      return ir.getInt32(1);
    case Intrinsic::nvvm_read_ptx_sreg_clock:
    case Intrinsic::nvvm_read_ptx_sreg_clock64: {
      Value* cycles = ir.CreateIntrinsic(Intrinsic::readcyclecounter, {}, {});
      return ir.CreateZExtOrTrunc(cycles, read.getType());
    }
    default:
      break;
  }
  // LLVM 19 has no intrinsics for these; the lifter names them by their register.
  const StringRef name = read.getCalledFunction()->getName();
  if (name.ends_with("dynamic_smem_size")) return argument(ThreadFunction::dynamic_shared_bytes);
  if (name.ends_with("total_smem_size")) {
    return ir.CreateAdd(argument(ThreadFunction::dynamic_shared_bytes),
                        ir.getInt32(static_cast<uint32_t>(static_shared_bytes)));
  }
  return nullptr;
}

}  // namespace sluice::hostcuda::jit
