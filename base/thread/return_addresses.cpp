#include "base/thread/return_addresses.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <unwind.h>

#include "base/thread/thread_owned.hpp"

namespace sluice {
namespace {

constexpr size_t most_frames = 32;
// A program's loop launches kernels from about as many lines; one more is unwound anew.
constexpr size_t most_stacks = 16;
// Bytes between two return addresses. A signal's handler may run on another stack than what it
// interrupts, which may be gone when the handler's own is used again.
constexpr uintptr_t longest_frame = 1 << 20;

struct Stack {
  struct Return {
    uintptr_t place = 0;
    uintptr_t address = 0;
    // Places lie where a sanitizer may have something else by now.
    [[gnu::no_sanitize_address]] bool is_there() const {
      return *reinterpret_cast<const volatile uintptr_t*>(place) ==
             address;  // NOLINT(performance-no-int-to-ptr)
    }
  };
  std::array<Return, most_frames> returns;
  size_t depth = 0;

  bool is_there(uintptr_t first) const {
    return depth != 0 && returns[0].place == first &&
           std::all_of(returns.begin(), returns.begin() + depth,
                       [](const Return& one) { return one.is_there(); });
  }
  size_t copy_to(std::span<void*> found) const {
    const size_t count = std::min(depth, found.size());
    for (size_t i = 0; i < count; ++i)
      found[i] = reinterpret_cast<void*>(returns[i].address);  // NOLINT(performance-no-int-to-ptr)
    return count;
  }
};

struct Stacks {
  std::array<Stack, most_stacks> all;
  size_t next = 0;
};

struct Unwinding {
  Stack stack;
  bool is_own_frame = true;  // told of first; its address is no return address
  bool is_whole = true;      // each address lies at its place, and the places in order

  _Unwind_Reason_Code add(uintptr_t address, uintptr_t place) {
    if (std::exchange(is_own_frame, false)) return _URC_NO_REASON;
    if (address == 0 || stack.depth == most_frames) return _URC_END_OF_STACK;
    Stack::Return& one = stack.returns[stack.depth++];
    one = {place, address};
    if (stack.depth > 1) is_whole = is_whole && place - (&one - 1)->place < longest_frame;
    is_whole = is_whole && one.is_there();
    return _URC_NO_REASON;
  }
};

// What the unwinder gives as a frame's CFA is where its callee's frame ends: behind the return
// address, as x86-64 calls.
_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* unwinding) {
  return static_cast<Unwinding*>(unwinding)->add(_Unwind_GetIP(context),
                                                 _Unwind_GetCFA(context) - sizeof(void*));
}

}  // namespace

// noinline: it begins by its own frame, which ends with its caller's return address.
[[gnu::noinline]] size_t return_addresses(std::span<void*> found) {
  const auto first = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) + sizeof(void*);
  Stacks& known = ThreadOwned<Stacks>::get();
  for (const Stack& stack : known.all)
    if (stack.is_there(first)) return stack.copy_to(found);
  Unwinding unwinding;
  _Unwind_Backtrace(add_frame, &unwinding);
  if (unwinding.is_whole) known.all[known.next++ % most_stacks] = unwinding.stack;
  return unwinding.stack.copy_to(found);
}

}  // namespace sluice
