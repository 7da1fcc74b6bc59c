// Which kernels go where their arguments send them, whatever the data.
#include <array>
#include <vector>

#include "hostcuda/jit/run_kernel.hpp"
#include "hostcuda/jit/watch/thread_events.hpp"

namespace sluice::hostcuda {
namespace {

// Listener keeps what threads tell at their begin.
class Listener final : public ThreadSink {
 public:
  void accesses(const ThreadAccess& /*access*/) override {}
  void meets(const ThreadMeeting& meeting) override {
    if (meeting.kind == ThreadMeeting::Kind::begin) begins.push_back(meeting.number);
  }
  std::vector<uint32_t> begins;
};

bool is_oblivious(const char* kernel) {
  Kernels kernels("jit_oblivious");
  const Result<SluiceBlockCode> code =
      kernels.module().block_code(kernel, {64, 1, 1}, 0, CodeVariant::watched);
  EXPECT_TRUE(code) << code.error().line();
  if (!code) return false;
  std::vector<float> out(128), in(128);
  std::vector<int> list(128);
  // out, in, then a list, a number, or first and count, which are few.
  std::array<uint64_t, 3> parameters = {reinterpret_cast<uint64_t>(out.data()),
                                        reinterpret_cast<uint64_t>(in.data()),
                                        reinterpret_cast<uint64_t>(list.data())};
  const std::string name = kernel;
  if (name == "by_structure") parameters[2] = uint64_t{60} << 32 | 2;
  if (name == "guarded" || name == "by_tiles" || name == "sums_by_shuffles" ||
      name == "larger_of_two" || name == "asks_lanes" || name == "by_clock" ||
      name == "by_constant") {
    parameters[2] = 64;
  }
  const SluiceBlockLaunch launch = {parameters.data(), {1, 1, 1}, 0, 0};
  std::vector<std::byte> scratch(code->scratch_bytes + 64);
  void* place = scratch.data();
  size_t room = scratch.size();
  Listener listener;
  set_thread_sink(&listener);
  code->function(&launch, 0, 1, std::align(64, code->scratch_bytes, place, room));
  set_thread_sink(nullptr);
  EXPECT_EQ(listener.begins.size(), 64);
  EXPECT_EQ(std::ranges::count(listener.begins, listener.begins.front()), 64);
  return listener.begins.front() != 0;
}

class ObliviousKernels : public ::testing::TestWithParam<const char*> {};
class KernelsLedByData : public ::testing::TestWithParam<const char*> {};

TEST_P(ObliviousKernels, SaySo) {
  EXPECT_TRUE(is_oblivious(GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Kernels, ObliviousKernels,
                         ::testing::Values("guarded", "by_structure", "by_tiles",
                                           "sums_by_shuffles", "larger_of_two"));

TEST_P(KernelsLedByData, AreNotTakenForOblivious) {
  EXPECT_FALSE(is_oblivious(GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Kernels, KernelsLedByData,
                         ::testing::Values("gathers", "branches", "goes_on", "takes_slots",
                                           "asks_lanes", "by_lanes", "by_clock", "by_shared",
                                           "by_constant", "by_array"));

}  // namespace
}  // namespace sluice::hostcuda
