// Whether a program looks at what a call returned, by its own machine code.
#include "hostcuda/driver/error_watch/result_use.hpp"

#include <algorithm>
#include <span>

#include <gtest/gtest.h>

#include "hostcuda/driver/memory/call_site.hpp"
#include "result_callers.hpp"

namespace {

using namespace sluice::hostcuda;

CallSite site;
size_t first_return = 0;

class ResultUse : public ::testing::TestWithParam<ResultCaller> {};

TEST_P(ResultUse, IsWhatTheProgramDoesWithIt) {
  GetParam().run();
  const std::span<void* const> callers(site.callers.data(), site.depth);
  ASSERT_LT(first_return, site.depth);
  EXPECT_EQ(is_result_dropped(callers.subspan(first_return)), GetParam().drops);
}

TEST(ResultUse, ReadsWhereCodeCannotBeFollowed) {
  EXPECT_FALSE(is_result_dropped({}));
  static int data = 0;
  void* const nowhere[] = {reinterpret_cast<void*>(16)};
  EXPECT_FALSE(is_result_dropped(nowhere));
  // All zeros: an instruction that uses the result as an address.
  void* const no_code[] = {&data};
  EXPECT_FALSE(is_result_dropped(no_code));
}

constexpr auto name_of = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Optimised, ResultUse, ::testing::ValuesIn(optimised::callers()), name_of);
INSTANTIATE_TEST_SUITE_P(Unoptimised, ResultUse, ::testing::ValuesIn(unoptimised::callers()),
                         name_of);

}  // namespace

[[gnu::noinline]] int call_that_fails() {
  site = CallSite::of_this_call();
  const std::span<void* const> callers(site.callers.data(), site.depth);
  first_return = std::ranges::find(callers, __builtin_return_address(0)) - callers.begin();
  return 1;
}
