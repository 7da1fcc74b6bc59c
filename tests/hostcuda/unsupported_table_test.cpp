// docs/cpu-device.md lists what the CPU device lacks: exactly what the code lacks.
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include <gmock/gmock.h>

#include "ptx/instruction_table.hpp"

namespace sluice::hostcuda {
namespace {

using Names = std::set<std::string>;

std::string read_text(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// section() is the text between <!-- name --> and the next <!-- end -->.
std::string section(const std::string& name) {
  const std::string document = read_text(SLUICE_TEST_DOCUMENT);
  const size_t begin = document.find("<!-- " + name + " -->");
  if (begin == std::string::npos) return "";
  return document.substr(begin, document.find("<!-- end -->", begin) - begin);
}

Names matches(const std::string& text, const char* expression) {
  const std::regex wanted(expression);
  Names found;
  for (std::sregex_iterator next(text.begin(), text.end(), wanted), end; next != end; ++next)
    found.insert((*next)[1].str());
  return found;
}

TEST(UnsupportedTable, ListsTheRuntimeFunctionsThatAreMissing) {
  const Names missing = {
#define CUDART_UNSUPPORTED(name) #name,
#include "hostcuda/cudart/unsupported.def"
#undef CUDART_UNSUPPORTED
  };
  EXPECT_EQ(matches(section("functions"), "`((?:__)?cuda\\w+)`"), missing);
}

TEST(UnsupportedTable, ListsTheDriverFunctionsThatAreMissing) {
  const Names known = {
#define SLUICE_EXPORT(name, version, symbol) #name,
#include "hostcuda/driver/exports.def"
#undef SLUICE_EXPORT
  };
  Names missing;
  for (const std::string& name :
       matches(read_text(SLUICE_TEST_CUDA_HEADER), "CUresult CUDAAPI\\s+(cu\\w+)\\(")) {
    const std::string plain = std::regex_replace(name, std::regex("(_v\\d+)?(_pt[sd][sz])?$"), "");
    if (!known.contains(plain)) missing.insert(plain);
  }
  ASSERT_GT(missing.size(), 50u);
  EXPECT_EQ(matches(section("functions"), "`(cu[A-Z]\\w*)`"), missing);
}

TEST(UnsupportedTable, ListsTheInstructionsThatAreMissing) {
  // The base opcodes of PTX ISA 9.0.
  const Names all = matches(
      " abs activemask add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra "
      "brev brkpt brx call clusterlaunchcontrol clz copysign cos cp createpolicy cvt cvta discard "
      "div dp2a dp4a elect ex2 exit fence fma fns getctarank griddepcontrol isspacep istypep ld "
      "ldmatrix ldu lg2 lop3 mad mad24 madc mapa match max mbarrier membar min mma mov movmatrix "
      "mul mul24 multimem nanosleep neg not or pmevent popc prefetch prefetchu prmt rcp red redux "
      "rem ret rsqrt sad selp set setmaxnreg setp shf shfl shl shr sin slct sqrt st stackrestore "
      "stacksave stmatrix sub subc suld suq sured sust szext tanh tcgen05 tensormap testp tex tld4 "
      "trap txq vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 "
      "vmin vmin2 vmin4 vote vset vset2 vset4 vshl vshr vsub vsub2 vsub4 wgmma wmma xor ",
      " (\\w+)(?= )");
  ASSERT_GT(all.size(), 120u);
  Names missing;
  for (const std::string& opcode : all) {
    if (ptx::find_instruction(opcode) == nullptr) missing.insert(opcode);
  }
  EXPECT_EQ(matches(section("instructions"), "`(\\w+)`"), missing);
}

}  // namespace
}  // namespace sluice::hostcuda
