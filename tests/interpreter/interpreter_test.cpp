// Small kernels with known answers, and what the interpreter refuses.
#include "interpreter/interpreter.hpp"

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "ptx/parser.hpp"

namespace sluice::interpreter {
namespace {

constexpr uint64_t buffer_address = 0x10000;
constexpr size_t words = 64;

std::string kernel(const std::string& body) {
  return ".version 7.5\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
         ".reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<19>; .reg .f32 %f<9>;\n"
         ".shared .align 4 .b8 pool[256];\n"
         "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
         "add.u64 %rd1, %rd1, %rd2;\n" +
         body + "DONE:\nret;\n}\n";
}

// Outcome is what a block left in the buffer's words, or why it did not.
struct Outcome {
  std::vector<uint32_t> words;
  std::string problem;
};

Outcome run_block(const std::string& body, uint32_t threads, bool last_thread_first = false) {
  auto module = ptx::parse(kernel(body));
  if (!module) return {{}, module.error().line()};
  auto code = decode(*module, "k");
  if (!code) return {{}, code.error().line()};
  GlobalMemory memory;
  memory.add(buffer_address, std::vector<std::byte>(4 * words));
  std::vector<std::byte> parameters(8);
  std::memcpy(parameters.data(), &buffer_address, 8);
  Launch launch{{1}, {threads}, parameters, 100'000, last_thread_first};
  const Status status = run(*code, launch, memory);
  if (!status) return {{}, status.error().line()};
  Outcome outcome{std::vector<uint32_t>(words), ""};
  std::memcpy(outcome.words.data(), memory.buffer(0).data(), 4 * words);
  return outcome;
}

// The value that one thread computes in %r2.
uint32_t value(const std::string& body) {
  const Outcome outcome = run_block(body + "st.global.u32 [%rd1], %r2;\n", 1);
  EXPECT_EQ(outcome.problem, "") << body;
  return outcome.words.empty() ? 0 : outcome.words[0];
}

TEST(Interpreter, ComputesIntegers) {
  EXPECT_EQ(value("mov.u32 %r3, 7; mad.lo.s32 %r2, %r3, -3, 1;\n"), uint32_t(-20));
  EXPECT_EQ(value("mov.u32 %r3, -7; div.s32 %r2, %r3, 2;\n"), uint32_t(-3));
  EXPECT_EQ(value("mov.u32 %r3, -7; rem.s32 %r2, %r3, 4;\n"), uint32_t(-3));
  EXPECT_EQ(value("mov.u32 %r3, -8; shr.s32 %r2, %r3, 1;\n"), uint32_t(-4));
  EXPECT_EQ(value("mov.u32 %r3, -8; shr.u32 %r2, %r3, 40;\n"), 0u);
  EXPECT_EQ(value("mov.u32 %r3, 1; shl.b32 %r2, %r3, 32;\n"), 0u);
  EXPECT_EQ(value("mov.u32 %r3, -1; mul.hi.u32 %r2, %r3, %r3;\n"), 0xfffffffeu);
  EXPECT_EQ(value("mov.u32 %r3, -1; mul.wide.s32 %rd3, %r3, 5; cvt.u32.u64 %r2, %rd3;\n"),
            uint32_t(-5));
  EXPECT_EQ(value("mov.u32 %r3, -1; max.u32 %r2, %r3, 5;\n"), 0xffffffffu);
  EXPECT_EQ(value("mov.u32 %r3, -1; max.s32 %r2, %r3, 5;\n"), 5u);
  EXPECT_EQ(value("mov.u32 %r3, 0x1ff; cvt.s32.s8 %r2, %r3;\n"), 0xffffffffu);
}

TEST(Interpreter, ComputesFloatsInTheirOwnWidth) {
  // 1 + 2^-24 is a tie in f32, and rounds to even.
  EXPECT_EQ(value("mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f33800000; add.rn.f32 %f3, %f1, %f2;\n"
                  "mov.b32 %r2, %f3;\n"),
            0x3f800000u);
  EXPECT_EQ(value("mov.u32 %r3, 0x1000001; cvt.rn.f32.s32 %f1, %r3; mov.b32 %r2, %f1;\n"),
            0x4b800000u);
  // (1 + 2^-12)^2 - 1 - 2^-11: the last bit is there only where nothing is rounded in between.
  EXPECT_EQ(value("mov.f32 %f1, 0f3F800800; mov.f32 %f2, 0fBF801000;\n"
                  "fma.rn.f32 %f3, %f1, %f1, %f2; mov.b32 %r2, %f3;\n"),
            0x33800000u);
}

TEST(Interpreter, ComparesAndChooses) {
  EXPECT_EQ(value("mov.u32 %r3, -1; setp.lt.s32 %p1, %r3, 0; selp.u32 %r2, 4, 5, %p1;\n"), 4u);
  EXPECT_EQ(value("mov.u32 %r3, -1; setp.lt.u32 %p1, %r3, 1; selp.u32 %r2, 4, 5, %p1;\n"), 5u);
  EXPECT_EQ(value("mov.f32 %f1, 0f7FC00000; setp.ne.f32 %p1, %f1, %f1; selp.u32 %r2, 4, 5, %p1;\n"),
            5u);
  EXPECT_EQ(value("mov.u32 %r2, 1; setp.eq.u32 %p1, %r2, 1; @!%p1 mov.u32 %r2, 9;\n"), 1u);
  EXPECT_EQ(value("setp.eq.u32 %p1, %r1, 0; not.pred %p2, %p1; mov.u32 %r2, 1;\n"
                  "@%p2 mov.u32 %r2, 9;\n"),
            1u);
}

TEST(Interpreter, GoesRoundLoops) {
  EXPECT_EQ(value("mov.u32 %r2, 0; mov.u32 %r3, 0;\nL:\nadd.u32 %r2, %r2, %r3;\n"
                  "add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 10; @%p1 bra L;\n"),
            45u);
}

// Threads leave their values to each other, in whichever order they run.
TEST(Interpreter, MeetsAtBarriers) {
  const std::string body =
      "mov.u32 %r5, pool; mad.lo.u32 %r6, %r1, 4, %r5; st.shared.u32 [%r6], %r1; bar.sync 0;\n"
      "xor.b32 %r7, %r1, 1; mad.lo.u32 %r6, %r7, 4, %r5; ld.shared.u32 %r2, [%r6];\n"
      "st.global.u32 [%rd1], %r2;\n";
  for (const bool last_first : {false, true}) {
    const Outcome outcome = run_block(body, 40, last_first);
    ASSERT_EQ(outcome.problem, "");
    for (uint32_t t = 0; t < 40; ++t)
      EXPECT_EQ(outcome.words[t], t ^ 1);
  }
}

TEST(Interpreter, CountsThoseThatHaveNotEnded) {
  const Outcome outcome = run_block(
      "setp.ge.u32 %p1, %r1, 30; @%p1 bra DONE; setp.lt.u32 %p2, %r1, 7;\n"
      "bar.red.popc.u32 %r2, 0, %p2; st.global.u32 [%rd1], %r2;\n",
      40);
  ASSERT_EQ(outcome.problem, "");
  EXPECT_EQ(outcome.words[0], 7u);
  EXPECT_EQ(outcome.words[29], 7u);
  EXPECT_EQ(outcome.words[30], 0u);
}

TEST(Interpreter, ExchangesWithinAWarp) {
  const auto words_of = [](const std::string& body) {
    const Outcome outcome = run_block(body + "st.global.u32 [%rd1], %r2;\n", 64);
    EXPECT_EQ(outcome.problem, "") << body;
    return outcome.problem.empty() ? outcome.words : std::vector<uint32_t>(words);
  };
  EXPECT_EQ(words_of("shfl.sync.bfly.b32 %r2, %r1, 3, 31, -1;\n")[37], 38u);
  EXPECT_EQ(words_of("shfl.sync.up.b32 %r2, %r1, 1, 0, -1;\n")[32], 32u);
  EXPECT_EQ(words_of("shfl.sync.up.b32 %r2, %r1, 1, 0, -1;\n")[33], 32u);
  EXPECT_EQ(words_of("shfl.sync.down.b32 %r2|%p1, %r1, 4, 31, -1; @!%p1 mov.u32 %r2, 99;\n")[31],
            99u);
  EXPECT_EQ(words_of("shfl.sync.idx.b32 %r2, %r1, 5, 31, -1;\n")[40], 37u);
  EXPECT_EQ(words_of("setp.lt.u32 %p1, %r1, 34; vote.sync.ballot.b32 %r2, %p1, -1;\n")[40], 3u);
  EXPECT_EQ(words_of("redux.sync.add.u32 %r2, %r1, -1;\n")[2], 31u * 16);
}

TEST(Interpreter, MakesZerosOfSubnormalNumbersWhereAsked) {
  const std::string half = "mov.f32 %f1, 0f80800000; mov.f32 %f2, 0f3F000000;\n";
  EXPECT_EQ(value(half + "mul.rn.f32 %f3, %f1, %f2; mov.b32 %r2, %f3;\n"), 0x80400000u);
  EXPECT_EQ(value(half + "mul.rn.ftz.f32 %f3, %f1, %f2; mov.b32 %r2, %f3;\n"), 0x80000000u);
  EXPECT_EQ(value("mov.f32 %f1, 0f00400000; mov.f32 %f2, 0f7F000000;\n"
                  "mul.rn.ftz.f32 %f3, %f1, %f2; mov.b32 %r2, %f3;\n"),
            0u);
}

TEST(Interpreter, RefusesWhatItDoesNotKnow) {
  EXPECT_NE(run_block("mul24.lo.u32 %r2, %r1, %r1;\n", 1).problem.find("mul24.lo.u32"),
            std::string::npos);
  EXPECT_NE(run_block("div.full.f32 %f1, %f1, %f1;\n", 1).problem.find("div.full.f32"),
            std::string::npos);
  EXPECT_NE(run_block("add.sat.s32 %r2, %r1, %r1;\n", 1).problem.find("add.sat.s32"),
            std::string::npos);
}

TEST(Interpreter, TellsWhatHasNoMeaning) {
  EXPECT_NE(run_block("st.global.u32 [%rd1+4096], %r1;\n", 1).problem.find("no 4 bytes"),
            std::string::npos);
  EXPECT_NE(run_block("st.global.u32 [%rd1+2], %r1;\n", 1).problem.find("no 4 bytes"),
            std::string::npos);
  EXPECT_NE(run_block("bar.warp.sync 3;\n", 1).problem.find("not there"), std::string::npos);
  EXPECT_NE(run_block("setp.eq.u32 %p1, %r1, 0; @%p1 bra A; bar.sync 0; bra DONE;\nA:\n"
                      "shfl.sync.idx.b32 %r2, %r1, 0, 31, 3;\n",
                      2)
                .problem.find("for ever"),
            std::string::npos);
  EXPECT_NE(run_block("L:\nbra L;\n", 1).problem.find("too many steps"), std::string::npos);
}

}  // namespace
}  // namespace sluice::interpreter
