// Every opcode of PTX has a row in a table of references, a test of its own, or a line in the list
// of what is unsupported; and the tables hold, on edges and random values.
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <regex>

#include <gtest/gtest.h>

#include "ptx/base_opcodes.hpp"
#include "ptx/instruction_table.hpp"
#include "ptx/lift/lift_on_host.hpp"
#include "ptx/opcode_tables.hpp"

namespace sluice::ptx::test {
namespace {

std::vector<uint64_t> random_values(unsigned count) {
  std::mt19937_64 random(20);
  std::vector<uint64_t> values(count);
  for (uint64_t& value : values)
    value = random();
  return values;
}

std::vector<uint64_t> integers() {
  std::vector<uint64_t> values = random_values(8);
  for (size_t i = 0; i < integer_edges().size(); i += 2)
    values.push_back(integer_edges()[i]);
  return values;
}

// Floats in the lower half and doubles as a whole: each is met by both.
std::vector<uint64_t> floats() {
  std::vector<uint64_t> values = random_values(6);
  for (float value : float_edges())
    values.push_back(bits(value));
  for (size_t i = 0; i < double_edges().size(); i += 2)
    values.push_back(bits(double_edges()[i]));
  return values;
}

TEST(LiftTable, IntegerArithmetic) {
  integer_sheet().check(integers());
}

TEST(LiftTable, BitsAndShifts) {
  bit_sheet().check(integers());
}

TEST(LiftTable, ComparisonsOfIntegers) {
  comparison_sheet().check(integers());
}

TEST(LiftTable, ComparisonsOfFloats) {
  comparison_sheet().check(floats());
}

TEST(LiftTable, Conversions) {
  conversion_sheet().check(integers());
  conversion_sheet().check(floats());
}

TEST(LiftTable, FloatArithmetic) {
  float_sheet().check(floats());
}

// TestPlace is a file below tests/ and what it tests an opcode by.
struct TestPlace {
  std::string file;
  std::string text;
};

// The opcodes that tables of arithmetic cannot hold.
const std::map<std::string, TestPlace>& tested_elsewhere() {
  static const std::map<std::string, TestPlace> places = [] {
    std::map<std::string, TestPlace> result;
    const auto put = [&](const char* file, std::initializer_list<const char*> opcodes) {
      for (const char* opcode : opcodes)
        result[opcode] = {file, opcode};
    };
    put("ptx/lift/lift_integer_test.cpp", {"addc", "madc", "subc"});
    put("ptx/lift/lift_bits_test.cpp", {"bmsk", "szext"});
    put("ptx/lift/lift_float_test.cpp", {"cos", "ex2", "lg2", "rsqrt", "sin", "tanh", "testp"});
    put("ptx/lift/lift_flow_test.cpp", {"alloca", "bra", "brx", "call", "exit", "ld", "st",
                                        "stackrestore", "stacksave", "atom", "cvta", "red", "ret"});
    put("ptx/lift/lift_video_test.cpp",
        {"vabsdiff", "vadd", "vavrg", "vmad", "vmax", "vmin", "vset", "vshl", "vshr", "vsub"});
    put("ptx/lift/lift_fns_test.cpp", {"fns"});
    put("hostcuda/jit/jit_matrix_test.cpp", {"mma"});
    put("hostcuda/jit/warps/jit_warp_matrix_test.cpp",
        {"cp", "ldmatrix", "mbarrier", "movmatrix", "stmatrix"});
    put("hostcuda/jit/jit_hints_test.cpp",
        {"activemask", "applypriority", "createpolicy", "discard", "elect", "fence", "getctarank",
         "griddepcontrol", "isspacep", "mapa", "ldu", "membar", "nanosleep", "pmevent", "prefetch",
         "prefetchu", "redux"});
    put("kernels/jit/jit_calls.cu", {"bar", "barrier"});
    put("hostcuda/cudart/programs/textures.cu", {"istypep", "suq", "txq"});
    result["wmma"] = {"kernels/tensor_cores.cu", "wmma"};
    result["match"] = {"kernels/jit/jit_warps.cu", "__match_any_sync"};
    result["shfl"] = {"kernels/jit/jit_warps.cu", "__shfl_down_sync"};
    result["vote"] = {"kernels/jit/jit_warps.cu", "__ballot_sync"};
    result["tex"] = {"hostcuda/cudart/programs/textures.cu", "tex2D"};
    result["tld4"] = {"hostcuda/cudart/programs/textures.cu", "tex2Dgather"};
    result["suld"] = {"hostcuda/cudart/programs/textures.cu", "surf2Dread"};
    result["sust"] = {"hostcuda/cudart/programs/textures.cu", "surf2Dwrite"};
    result["trap"] = {"e2e/faults/trap.cu", "trap"};
    return result;
  }();
  return places;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// In C++ an instruction may follow the two characters of a line's end.
bool stands_in(const std::string& text, const std::string& word) {
  return std::regex_search(text, std::regex(R"((^|\\n|[^a-z0-9.]))" + word + "[^a-z0-9]"));
}

TEST(LiftTable, NoOpcodeIsWithoutATestOrALine) {
  std::set<std::string> in_tables;
  for (const Sheet& sheet :
       {integer_sheet(), bit_sheet(), comparison_sheet(), conversion_sheet(), float_sheet()}) {
    for (const std::string& opcode : sheet.opcodes())
      in_tables.insert(opcode);
  }
  const std::string root = SLUICE_TESTS;
  const std::string document = read_file(root + "/../docs/cpu-device.md");
  ASSERT_FALSE(document.empty());
  for (const std::string& opcode : base_opcodes()) {
    if (find_opcode(opcode) == Opcode::unknown) {
      EXPECT_NE(document.find("`" + opcode + "`"), std::string::npos) << opcode;
      continue;
    }
    if (in_tables.contains(opcode)) continue;
    // vadd2 and vadd4 are tested with vadd.
    const bool is_simd = opcode[0] == 'v' && (opcode.back() == '2' || opcode.back() == '4');
    const std::string name = is_simd ? opcode.substr(0, opcode.size() - 1) : opcode;
    const auto place = tested_elsewhere().find(name);
    ASSERT_NE(place, tested_elsewhere().end()) << opcode << " has no test";
    const auto& [file, text] = place->second;
    EXPECT_TRUE(stands_in(read_file(root + "/" + file), text)) << opcode << " is not in " << file;
  }
}

}  // namespace
}  // namespace sluice::ptx::test
