#include "tools/explain/advice.hpp"

namespace sluice::tools {

std::string advice_for(const analysis::WideningReason& reason, bool writes) {
  using analysis::Widening;
  if (reason.bounds_a_loop) {
    return "The loop's bounds are data. Loop over a range that arguments and indices give and "
           "leave out with an if what is too much, or let each block work on a fixed share.";
  }
  switch (reason.why) {
    case Widening::loaded_value:
      return "The index is data, which nobody knows before the kernel runs. Where it follows a "
             "rule, compute it from blockIdx and threadIdx instead of loading it; where it stays "
             "within a part of the array, say so (index & 255, min(index, 255)). Else keep the "
             "array in an allocation of its own: only that one is claimed whole.";
    case Widening::data_guard:
      return writes ? "Write in every case and choose the value instead, as in "
                      "out[i] = condition ? value : old[i]. Until then the place is known but not "
                      "that it is overwritten, so earlier writers of these bytes stay awaited."
                    : "Nothing needs to change: at most these bytes are read. Reading in every "
                      "case and choosing the value afterwards makes it exact.";
    case Widening::wraps:
      return "With the numbers of this launch the index may pass the end of its integer type and "
             "start again. Compute it in 64 bits (size_t, or int64_t before the multiplication), "
             "or launch with numbers for which it cannot.";
    case Widening::not_affine:
      return "The index is not a sum of block, thread and loop indices times constants: a product "
             "of two of them, a loop that ends at a computed value, bits mixed by xor. Where it "
             "can be written as such a sum (also with / and % by a constant), it becomes exact.";
    case Widening::several_pointers:
      return "The code chooses a pointer and then uses it. Choose the value instead "
             "(condition ? a[i] : b[i]), or write one access for each pointer in an if.";
    case Widening::pointer_value:
      return "The index depends on the address that a pointer holds (its alignment, its distance "
             "to another pointer). Index both from their own beginning.";
    case Widening::exchanged_value:
      return "The index comes from a shuffle, a vote, an atomic or a clock. Compute it from "
             "blockIdx and threadIdx, or from arguments.";
    case Widening::loaded_pointer:
      return "Pass the pointer itself to the kernel as an argument (a structure of pointers by "
             "value will do), or one allocation and offsets into it.";
    case Widening::module_variable:
      return "Pass the variable's address as an argument (cudaGetSymbolAddress), or the values by "
             "value.";
    case Widening::grid_communication:
      return "Blocks wait for each other inside the launch. Where that is a barrier of the whole "
             "grid, end the kernel there and launch the rest as a second one: Sluice lets its "
             "blocks start as soon as those that they need are done.";
    case Widening::plain_number:
    case Widening::no_base:
      return "Take every address from a pointer argument and an index, not from an integer that "
             "was made of one.";
    case Widening::long_relation:
    case Widening::large_kernel:
    case Widening::deep_calls:
      return "Split the kernel, or unroll less.";
    case Widening::unknown_call:
    case Widening::unknown_instruction:
      return "Write that part in CUDA C++ rather than inline assembly, or keep it in a kernel of "
             "its own: only that one's launches then run in stream order.";
    case Widening::none:
    case Widening::constant_write:
    case Widening::missing_values:
    case Widening::lost:
      break;
  }
  return {};
}

}  // namespace sluice::tools
