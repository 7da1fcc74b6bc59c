// Regions of control flow as Polly can read them. Internal to the analysis.
#pragma once

namespace llvm {
class Function;
}

namespace sluice::analysis {

// separate_region_exits() lets every region of `function` that ends where other ways end too have
// an exit of its own, an empty block before the common one. Where Polly 19 comes upon the entry of
// a region, it puts down who arrives at the exit and regards that as final: who reaches the exit
// from elsewhere, and is met later, would be missing from all that follows.
void separate_region_exits(llvm::Function& function);

}  // namespace sluice::analysis
