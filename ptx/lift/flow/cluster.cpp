// Clusters of one block, which are all that this device runs: launches and kernels that ask for
// larger ones are refused.
#include "ptx/lift/families.hpp"
#include "ptx/lift/tagged.hpp"

namespace sluice::ptx::lift_detail {

void lift_cluster_barrier(InstructionLifter& lifter) {
  Modifiers& modifiers = lifter.modifiers;
  const bool aligned = modifiers.take("aligned");
  modifiers.take_any({"acquire", "release", "relaxed"});
  if (lifter.operand_count() != 0) lifter.refuse_invalid("an operand is too many");
  // All threads wait where each must come anyway: what they have done before they wait is done.
  if (modifiers.take("arrive")) return;
  if (!modifiers.take("wait")) lifter.refuse_invalid("it needs .arrive or .wait");
  if (aligned) {
    tagged_intrinsic(lifter, llvm::Intrinsic::nvvm_barrier0, {});
  } else {
    tagged_intrinsic(lifter, llvm::Intrinsic::nvvm_barrier_sync, {lifter.ir().getInt32(0)});
  }
}

// mapa d, a, b: where a lies in the block of rank b.
void lift_mapa(InstructionLifter& lifter) {
  lifter.modifiers.take("shared::cluster");
  const ScalarType type = lifter.take_type();
  lifter.read(2, ScalarType::u32);
  lifter.write(0, lifter.read(1, type), type);
}

void lift_getctarank(InstructionLifter& lifter) {
  lifter.modifiers.take("shared::cluster");
  lifter.read(1, lifter.take_type());
  lifter.write(0, lifter.ir().getInt32(0), ScalarType::u32);
}

llvm::Value* read_cluster_register(InstructionLifter& lifter, std::string_view name,
                                   std::string_view component) {
  if (name == "%clusterid") return read_special_register(lifter, "%ctaid", component);
  if (name == "%nclusterid") return read_special_register(lifter, "%nctaid", component);
  const bool is_axis = component == "x" || component == "y" || component == "z";
  if (name == (is_axis ? "%cluster_ctaid" : "%cluster_ctarank")) return lifter.ir().getInt32(0);
  if (name == (is_axis ? "%cluster_nctaid" : "%cluster_nctarank")) return lifter.ir().getInt32(1);
  return nullptr;
}

}  // namespace sluice::ptx::lift_detail
