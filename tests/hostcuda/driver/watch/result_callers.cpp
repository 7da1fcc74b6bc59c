#include "result_callers.hpp"

#include <cstdlib>

namespace RESULT_CALLERS {
namespace {

volatile int sink;
volatile bool is_asked;

// noinline: it is a function of its own, as in another file.
[[gnu::noinline]] void other() {
  sink = sink + 1;
}
[[gnu::noinline]] int passed_on() {
  return call_that_fails();
}
[[gnu::noinline]] int passed_on_twice() {
  return passed_on();
}

void dropped() {
  call_that_fails();
}
void dropped_before_a_loop() {
  call_that_fails();
  for (int i = 0; i < 10; ++i)
    sink = sink + i;
}
void dropped_before_a_call() {
  call_that_fails();
  other();
}
void dropped_in_a_loop() {
  for (int i = 0; i < 2; ++i)
    call_that_fails();
}
void dropped_before_a_question() {
  call_that_fails();
  if (is_asked) other();
  sink = 5;
}
void dropped_by_who_called() {
  passed_on();
}
void dropped_by_who_called_first() {
  passed_on_twice();
  sink = 7;
}

void compared() {
  if (call_that_fails() != 0) sink = 1;
}
void compared_by_who_called() {
  if (passed_on() != 0) sink = 1;
}
void compared_by_who_called_first() {
  if (passed_on_twice() != 0) sink = 1;
}
void stored() {
  sink = call_that_fails();
}
void kept_over_a_call() {
  const int result = call_that_fails();
  other();
  if (result != 0) sink = 3;
}
void compared_on_one_way() {
  const int result = call_that_fails();
  if (!is_asked) return;
  if (result != 0) sink = 4;
}
void told_apart() {
  switch (call_that_fails()) {
    case 0:
      return;
    case 1:
      other();
      break;
    case 2:
      sink = 2;
      break;
    case 3:
      std::abort();
    case 4:
      sink = sink + 9;
      break;
    default:
      sink = 8;
  }
}
void added_up() {
  int failures = 0;
  for (int i = 0; i < 3; ++i)
    failures |= call_that_fails();
  sink = failures;
}

}  // namespace

std::span<const ResultCaller> callers() {
#define DROPS(name) {#name, name, true}
#define READS(name) {#name, name, false}
  static constexpr ResultCaller all[] = {
      DROPS(dropped),
      DROPS(dropped_before_a_loop),
      DROPS(dropped_before_a_call),
      DROPS(dropped_in_a_loop),
      DROPS(dropped_before_a_question),
      DROPS(dropped_by_who_called),
      DROPS(dropped_by_who_called_first),
      READS(compared),
      READS(compared_by_who_called),
      READS(compared_by_who_called_first),
      READS(stored),
      READS(kept_over_a_call),
      READS(compared_on_one_way),
      READS(told_apart),
      READS(added_up),
  };
#undef DROPS
#undef READS
  return all;
}

}  // namespace RESULT_CALLERS
